"""Figures over head atoms agree with counting them one by one."""

import shutil
from dataclasses import replace
from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.census import head_domains
from andre.errors import DataError
from andre.evaluation import Confusion, entailment
from andre.facts import Background, Bias, FactBase
from andre.inference import infer
from andre.logic import Atom, Constant, Program, parse_atom, parse_program
from andre.samples import Language

Pair = tuple[Constant, ...]
CONSTANTS = [Constant(name) for name in "abcd"]
pairs = st.tuples(st.sampled_from(CONSTANTS), st.sampled_from(CONSTANTS))
RULES = parse_program("h(X, Y) :- e(X, Y). h(X, Y) :- e(X, Z), h(Z, Y).")


@settings(max_examples=50, deadline=None)
@given(st.sets(pairs, min_size=1), st.sets(pairs, min_size=1), st.sets(pairs))
def test_explicit_examples_are_judged_one_by_one(
    edges: set[Pair],
    positives: set[Pair],
    negatives: set[Pair],
) -> None:
    negatives = negatives - positives or {(Constant("x"), Constant("y"))}
    stated = [Atom("e", pair) for pair in edges] + [Atom("h", pair) for pair in positives]
    facts = FactBase.from_facts(stated, negatives=[Atom("h", pair) for pair in negatives])
    derived = {atom.args for atom in infer(RULES, FactBase.from_facts(Atom("e", pair) for pair in edges))}
    result = entailment(RULES, facts)
    assert result.overall == Confusion(
        len(positives & derived), len(negatives & derived), len(positives - derived), len(negatives - derived)
    )
    found = result.misjudged["h", 2]
    assert {atom.args for atom in found.missed} == positives - derived
    assert {atom.args for atom in found.wrong} == negatives & derived
    figures = result.as_dict()["heads"]["h/2"]
    assert figures["missed"] == list(map(str, found.missed))
    assert figures["recall"] == result.overall.recall


@settings(max_examples=50, deadline=None)
@given(st.sets(pairs, min_size=1), st.dictionaries(pairs, st.sampled_from(["train", "test"]), min_size=1))
def test_marked_examples_are_judged_in_a_closed_world(edges: set[Pair], heads: dict[Pair, str]) -> None:
    atoms = [Atom("e", pair) for pair in edges] + [Atom("h", pair) for pair in heads]
    facts = FactBase.from_facts(atoms, marks=["train"] * len(edges) + list(heads.values()))
    test = {pair for pair, mark in heads.items() if mark == "test"}
    judged, read = (test, set(heads) - test) if test else (set(heads), set())
    evidence = [Atom("e", pair) for pair in edges] + [Atom("h", pair) for pair in read]
    derived = {atom.args for atom in infer(RULES, FactBase.from_facts(evidence))}
    others = derived - set(heads)
    columns = {
        ("e", 0): {x for x, _ in edges},
        ("e", 1): {y for _, y in edges},
        ("h", 0): {x for x, _ in heads},
        ("h", 1): {y for _, y in heads},
    }
    places = [_of_one_type(columns, ("h", place)) | {pair[place] for pair in others} for place in (0, 1)]
    negatives = set(product(*places)) - set(heads)
    result = entailment(RULES, facts)
    assert result.overall == Confusion(
        len(judged & derived), len(others), len(judged - derived), len(negatives - derived)
    )
    assert ("marked test" in result.protocol) == bool(test)
    found = result.misjudged["h", 2]
    assert {atom.args for atom in found.missed} == judged - derived
    assert {atom.args for atom in found.wrong} == others


def _of_one_type(columns: dict[tuple[str, int], set[Constant]], place: tuple[str, int]) -> set[Constant]:
    """The constants of all arguments that share one with this argument, directly or through others."""
    reached = set(columns[place])
    for _ in columns:
        for column in columns.values():
            if column & reached:
                reached |= column
    return reached


@settings(max_examples=50, deadline=None)
@given(st.sets(pairs, min_size=1), st.sets(st.sampled_from(CONSTANTS), min_size=1), st.booleans())
def test_the_examples_judged_are_those_that_learning_counts(
    edges: set[Pair], members: set[Constant], is_unary: bool
) -> None:
    arity = 2 - is_unary
    heads = [Atom("h", (one,) * arity) for one in members]
    facts = FactBase.from_facts([*(Atom("e", pair) for pair in edges), *heads])
    counts = entailment(Program(), facts, heads=[("h", arity)]).overall
    domains = head_domains(facts, Language(f"h/{arity}", variables=2))
    assert counts.total == prod(map(len, domains))


@settings(max_examples=30, deadline=None)
@given(st.sets(pairs, min_size=1), st.sets(pairs, min_size=1), st.sets(pairs))
def test_in_an_open_world_only_stated_and_denied_atoms_are_judged(
    edges: set[Pair], positives: set[Pair], denied: set[Pair]
) -> None:
    denied = denied - edges
    facts = FactBase.from_facts(
        [Atom("e", pair) for pair in edges] + [Atom("h", pair) for pair in positives],
        negatives=[Atom("e", pair) for pair in denied],
        world="open",
    )
    derived = {(x, y) for x, y in edges if (y, x) in denied}
    counts = entailment(parse_program("h(X, Y) :- e(X, Y), \\+ e(Y, X)."), facts).overall
    assert counts == Confusion(len(positives & derived), 0, len(positives - derived), 0)


def test_at_one_half_an_atom_is_no_example() -> None:
    atoms = map(parse_atom, ["e(a, b)", "e(b, c)", "e(c, d)", "h(a, b)", "h(b, c)", "h(c, d)"])
    facts = FactBase.from_facts(atoms, probabilities=[1, 1, 1, 1, 0.5, 0.4], world="open")
    counts = entailment(parse_program("h(X, Y) :- e(X, Y)."), facts).overall
    assert counts == Confusion(true_positives=1, false_positives=1)


def test_probabilities_are_cut_at_one_half() -> None:
    facts = FactBase.from_facts(
        map(parse_atom, ["e(a, b)", "e(b, c)", "h(a, b)", "h(b, c)"]), probabilities=[0.9, 0.4, 0.8, 0.7]
    )
    counts = entailment(parse_program("h(X, Y) :- e(X, Y)."), facts).overall
    assert (counts.true_positives, counts.false_negatives) == (1, 1)


def test_figures_of_nothing_are_none() -> None:
    assert Confusion().accuracy is None
    assert Confusion(false_negatives=1).precision is None
    assert Confusion(true_negatives=1).recall is None


@pytest.mark.parametrize("mark", [None, "valid"])
def test_a_program_without_examples_is_refused(mark: str | None) -> None:
    facts = FactBase.from_facts([parse_atom("e(a, b)")])
    with pytest.raises(DataError, match="nothing to judge: the program defines h/2"):
        entailment(RULES, facts, mark=mark)


@pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed")
def test_what_prolog_says_of_the_terms_of_examples_is_read() -> None:
    """The program reads no example, and their lists stand nowhere else."""
    stated, denied = parse_atom("f([2,4])"), parse_atom("f([2,3])")
    bias = Bias(
        head=(("f", 1),),
        body=(("last", 2), ("even", 1)),
        types=(("f", ("list",)), ("last", ("list", "element")), ("even", ("element",))),
        directions=(("last", ("in", "out")), ("even", ("in",))),
    )
    prolog = Background(("even(A) :- 0 is A mod 2.",), (("last", 2),))
    facts = replace(FactBase.from_facts([stated], negatives=[denied]), bias=bias, prolog=prolog)
    program = parse_program("f(X) :- last(X, Y), even(Y).")
    assert entailment(program, facts).overall == Confusion(true_positives=1, true_negatives=1)
