"""The rule space: names, incidence, and rules as numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from andre.errors import DataError, LogicError
from andre.logic import Atom, Literal, Program, Rule, Variable
from andre.samples import RuleSpace

FAMILY = RuleSpace.from_names(["mother(X1,X2)", "father(X2,X3)", "rich", "self(X2,X2)"], "h(X1,X3)")
PLAIN = RuleSpace.from_names([f"b{i}" for i in range(1, 7)])


def test_variables_stand_in_order_the_heads_first() -> None:
    assert list(map(str, FAMILY.head_variables)) == ["X1", "X3"]
    assert list(map(str, FAMILY.auxiliary_variables)) == ["X2"]
    assert FAMILY.variables == FAMILY.head_variables + FAMILY.auxiliary_variables


def test_incidence_says_which_variable_stands_in_which_atom() -> None:
    assert FAMILY.incidence.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 1]]
    assert PLAIN.incidence.shape == (0, 6)


def test_plain_names_are_propositions() -> None:
    assert PLAIN.m == 6
    assert PLAIN.names == ("b1", "b2", "b3", "b4", "b5", "b6")
    assert PLAIN.head == Atom("h")
    assert PLAIN.variables == ()


codes = st.lists(st.lists(st.sampled_from([-1, 0, 1]), min_size=6, max_size=6), max_size=5)


@given(codes)
def test_encoding_is_the_inverse_of_making_a_program(rows: list) -> None:
    program = PLAIN.program(rows)
    assert len(program) == len(rows)
    assert PLAIN.encode(program).tolist() == rows
    assert PLAIN.program(PLAIN.encode(program)) == program


@given(codes)
def test_a_rule_has_the_literals_of_its_numbers(rows: list) -> None:
    for row, rule in zip(rows, PLAIN.program(rows), strict=True):
        wanted = {Literal(Atom(f"b{j + 1}"), sign < 0) for j, sign in enumerate(row) if sign}
        assert set(rule.body) == wanted


@pytest.mark.parametrize(
    ("names", "head", "word"),
    [
        (["b1", "b2", "b1"], "h", "twice"),
        (["p(X,Y)", "p(X, Y)"], "h(X)", "twice"),
        ([], "h", "no candidate"),
        (["b1", "h"], "h", "head"),
    ],
)
def test_spaces_without_sense_are_refused(names: list, head: str, word: str) -> None:
    with pytest.raises(DataError, match=word):
        RuleSpace.from_names(names, head)


def test_a_missing_column_name_is_refused() -> None:
    with pytest.raises(LogicError, match="empty"):
        RuleSpace.from_names(["b1", ""])


@pytest.mark.parametrize(
    ("rule", "word"),
    [
        (Rule(Atom("g"), (Literal(Atom("b1")),)), "head"),
        (Rule(Atom("h"), (Literal(Atom("b7")),)), "candidates"),
        (Rule(Atom("h"), (Literal(Atom("b1")), ~Literal(Atom("b1")))), "both"),
    ],
)
def test_rules_of_another_space_have_no_numbers(rule: Rule, word: str) -> None:
    with pytest.raises(LogicError, match=word):
        PLAIN.encode(Program((rule,)))


def test_a_code_of_another_length_is_refused() -> None:
    with pytest.raises(LogicError, match="6 candidate"):
        PLAIN.rule([1, 0])


def test_spaces_are_equal_by_value() -> None:
    assert RuleSpace.from_names(["p(X,Y)"], "h(X)") == RuleSpace(
        Atom("h", (Variable("X"),)), (Atom("p", (Variable("X"), Variable("Y"))),)
    )
    assert RuleSpace.from_names(["b1", "b2"]) != RuleSpace.from_names(["b2", "b1"])


def test_a_narrowed_space_keeps_its_free_head() -> None:
    atoms = tuple(map(Atom.parse, ("p(X)", "q(X)")))
    space = RuleSpace(Atom.parse("h(X, Y)"), atoms, free_head=True)
    narrow = space.narrowed(np.array([True, False]))
    assert narrow.safe(np.array([[1]], dtype=np.int8)).tolist() == [True]
