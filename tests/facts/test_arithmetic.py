"""Sums of numbers as facts, against all sums of all numbers; and rules that are learned with them."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from andre.facts import FactBase, with_sums
from andre.inference import infer
from andre.learning import learn
from andre.logic import Atom, Constant, parse_atom, parse_program

VALUES = st.lists(st.integers(-20, 20).map(lambda value: value / 4), min_size=1, max_size=8, unique=True)


def base(values: list[float]) -> FactBase:
    whole = (int(value) if value.is_integer() else value for value in values)
    return FactBase.from_facts(Atom("n", (Constant(value), Constant("name"))) for value in whole)


def sums(facts: FactBase) -> set[tuple[Fraction, ...]]:
    found = (atom.args for atom in facts.atoms("plus", 3))
    return {tuple(Fraction(arg.value) for arg in args if isinstance(arg, Constant)) for args in found}


@given(VALUES, st.lists(st.integers(0, 12).map(lambda value: value / 4), max_size=3))
def test_sums_are_those_of_all_pairs(values: list[float], added: list[float]) -> None:
    exact = [Fraction(value) for value in values]
    every = {(one, two - one, two) for one in exact for two in exact if two >= one}
    facts = base(values)
    assert sums(with_sums(facts)) == every
    assert sums(with_sums(facts, added)) == {row for row in every if row[1] in map(Fraction, added)}
    assert sums(with_sums(facts, known=True)) == {row for row in every if row[1] in exact}
    assert with_sums(facts, known=True).constants == facts.constants


def test_a_program_that_adds_numbers_runs_on_new_facts() -> None:
    facts = base([1.0, 2.5, 4.0, 5.5])
    later = infer(parse_program("later(X, Y) :- n(X, Z), n(Y, Z), plus(X, 1.5, Y)."), facts)
    assert sorted(map(str, later)) == ["later(1, 2.5)", "later(2.5, 4)", "later(4, 5.5)"]
    apart = infer(parse_program("apart(X, Y) :- n(X, Z), n(Y, Z), plus(X, D, Y), D > 2."), facts)
    assert sorted(map(str, apart)) == ["apart(1, 4)", "apart(1, 5.5)", "apart(2.5, 5.5)"]


def test_a_difference_is_learned() -> None:
    ages = dict(zip("abcdefghij", (10, 6, 8, 12, 1, 4, 11, 3, 9, 2), strict=True))
    lines = [f"age({name}, {age})" for name, age in ages.items()]
    lines += [f"two_older({x}, {y})" for x in ages for y in ages if ages[x] == ages[y] + 2]
    facts = FactBase.from_facts(map(parse_atom, lines))
    theory = learn(facts, "two_older/2", variables=6, invent=0)
    wanted = "two_older(X1, X2) :- age(X1, X3), age(X2, X4), plus(X4, 2, X3)."
    assert theory.program == parse_program(wanted)
    assert theory.evaluate(facts).overall.accuracy == 1.0


def test_a_sum_is_learned() -> None:
    right = [(3, 14, 17), (5, 31, 36), (2, 58, 60), (19, 24, 43), (26, 16, 42)]
    rows = [*right, (7, 14, 22), (25, 15, 39), (21, 8, 30), (1, 44, 40), (33, 6, 38)]
    lines = [
        f"{name}(t{place}, {value})"
        for place, row in enumerate(rows)
        for name, value in zip(("debit", "credit", "total"), row, strict=True)
    ]
    lines += [f"balanced(t{place})" for place in range(len(right))]
    facts = FactBase.from_facts(map(parse_atom, lines))
    theory = learn(facts, "balanced/1", variables=4, invent=0)
    assert theory.evaluate(facts).overall.accuracy == 1.0
    assert any(literal.atom.key == ("plus", 3) for rule in theory.program for literal in rule.body)
