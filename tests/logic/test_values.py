"""Atoms, literals, rules and programs: what they print, read and refuse."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andre.errors import LogicError
from andre.logic import BUILTINS, Atom, Constant, Evidence, Literal, Program, Rule, Variable, quote

X, Y, Z = map(Variable, "XYZ")


def read_quoted(text: str) -> str:
    """Read a Prolog atom back: plain, or in quotes with escapes."""
    if not text.startswith("'"):
        assert text[0] in string.ascii_lowercase
        assert set(text) <= set(string.ascii_letters + string.digits + "_")
        return text
    escapes = {"\\": "\\", "'": "'", "n": "\n", "t": "\t", "r": "\r"}
    letters, inside = [], iter(text[1:-1])
    for letter in inside:
        assert letter != "'", "a bare quote would end the atom"
        if letter != "\\":
            letters.append(letter)
        elif (escape := next(inside)) == "x":  # a hexadecimal number, up to the next backslash
            letters.append(chr(int("".join(iter(inside.__next__, "\\")), 16)))
        else:
            letters.append(escapes[escape])
    assert text.endswith("'")
    return "".join(letters)


@given(st.text(min_size=1))
def test_quoting_loses_nothing(name: str) -> None:
    assert read_quoted(quote(name)) == name


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("b1", "b1"),
        ("isA", "isA"),
        ("B1", "'B1'"),
        ("_b", "'_b'"),
        ("1b", "'1b'"),
        ("a-b", "'a-b'"),
        ("", "''"),
    ],
)
def test_names_are_quoted_only_where_prolog_needs_it(name: str, written: str) -> None:
    assert quote(name) == written


@given(st.text(min_size=1).filter(lambda name: name not in BUILTINS))
def test_any_column_name_becomes_an_atom(name: str) -> None:
    """A table may call its columns what it likes, and two names never become one by quoting."""
    atom = Atom.from_column(name)
    if not atom.args:
        assert atom.predicate == name
        assert read_quoted(str(atom)) == name


names = st.from_regex(r"[a-z][A-Za-z0-9_]{0,5}", fullmatch=True)
arguments = st.one_of(
    st.from_regex(r"[A-Z][A-Za-z0-9_]{0,3}|_[A-Za-z0-9_]{1,3}", fullmatch=True).map(Variable),
    names.map(Constant),
    st.integers(-999, 999).map(Constant),
    st.integers(-99, 99).map(lambda n: Constant(n / 4)),
)


@given(names, st.lists(arguments, min_size=1, max_size=3).map(tuple))
def test_reading_is_the_inverse_of_writing(predicate: str, args: tuple) -> None:
    atom = Atom(predicate, args)
    assert Atom.from_column(str(atom)) == atom


@pytest.mark.parametrize("name", ["nan", "inf", "infinity", "1_000", "x1"])
def test_names_that_python_takes_for_numbers_stay_names(name: str) -> None:
    assert Atom.from_column(f"p({name})").args == (Constant(name),)


@pytest.mark.parametrize("text", ["p()", "p(a", "p(a,)", "p(,a)", "p(a))", "p q(a)", "Sepal Length (cm)"])
def test_what_is_no_atom_is_a_proposition(text: str) -> None:
    assert Atom.from_column(text) == Atom(text)


def test_positive_literals_first_then_negated_then_comparisons_and_a_dot() -> None:
    body = (
        Literal(Atom("\\=", (X, Y))),
        ~Literal(Atom("q", (Y,))),
        Literal(Atom("p", (X, Y))),
        Literal(Atom("Big", (X, Constant("New York")))),
    )
    rule = Rule(Atom("h", (X,)), body)
    assert str(rule) == "h(X) :- p(X, Y), 'Big'(X, 'New York'), \\+ q(Y), X \\= Y."
    assert str(Rule(Atom("h"))) == "h."


def test_a_program_is_its_rules_line_by_line() -> None:
    b1, b2 = Literal(Atom("b1")), Literal(Atom("b2"))
    program = Program((Rule(Atom("h"), (b1,)), Rule(Atom("h"), (~b2, b1))))
    assert str(program) == "h :- b1.\nh :- b1, \\+ b2."
    assert (len(program), program.n_literals) == (2, 3)
    assert str(Program()) == ""


def test_programs_are_equal_as_sets_of_rules() -> None:
    one = Rule(Atom("h", (X,)), (Literal(Atom("p", (X, Y))),))
    same = Rule(Atom("h", (Z,)), (Literal(Atom("p", (Z, X))),))
    other = Rule(Atom("h", (X,)), (Literal(Atom("p", (Y, X))),))
    assert Program((one, other)) == Program((other, same, one))
    assert hash(Program((one, other))) == hash(Program((other, same, one)))
    assert Program((one,)) != Program((other,))
    assert Program((one,)) != "h(X) :- p(X, Y)."


def test_evidence_does_not_count_for_equality() -> None:
    rule = Rule(Atom("h"), (Literal(Atom("b1")),))
    judged = rule.with_evidence(Evidence("train", 10, 9), Evidence("validation", 0, 0))
    assert judged == rule
    assert judged.on("train").confidence == 0.9
    assert judged.on("validation").confidence == 0.0
    assert judged.on("test") is None


def test_variables_and_recursion() -> None:
    rule = Rule(Atom("p", (X, Y)), (Literal(Atom("q", (Z, X))), ~Literal(Atom("p", (Z, Y)))))
    assert rule.variables == (X, Y, Z)
    assert rule.auxiliary_variables == (Z,)
    assert rule.is_recursive
    assert not Rule(Atom("p", (X, Y)), (Literal(Atom("p", (X,))),)).is_recursive  # p/1 is another relation
    assert Literal(Atom("p")).binds
    assert not (~Literal(Atom("p"))).binds
    assert not Literal(Atom("<", (X, Y))).binds


def test_substitution_replaces_all_at_once() -> None:
    rule = Rule(Atom("p", (X, Y)), (Literal(Atom("q", (Y, X))),))
    assert str(rule.substitute({X: Y, Y: X})) == "p(Y, X) :- q(X, Y)."


@pytest.mark.parametrize(
    "make",
    [
        lambda: Variable("x"),
        lambda: Variable(""),
        lambda: Variable("X Y"),
        lambda: Atom(""),
        lambda: Atom("<", (X,)),
        lambda: Atom("\\="),
    ],
)
def test_what_has_no_meaning_is_refused_in_a_sentence(make) -> None:
    with pytest.raises(LogicError, match=r"\w+ \w+ \w+"):
        make()
