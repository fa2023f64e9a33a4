"""Predicates that are invented hold of what they should, and are kept where they are worth their rules."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.errors import ConfigError
from andre.evaluation import rescore
from andre.facts import TASKS, Bias, FactBase
from andre.inference import infer
from andre.learning import Plan, Theory, learn
from andre.learning.relational.inventions import (
    Invention,
    Inventor,
    Word,
    chain,
    closure,
    either_way,
    meeting,
    restricted,
    some,
    union,
)
from andre.logic import parse_atom, parse_program
from andre.runs import load, save
from andre.samples import Language

Pairs = frozenset[tuple[int, ...]]

PAIRS = st.frozensets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=7)
SINGLES = st.frozensets(st.tuples(st.integers(0, 3)), max_size=3)
P, Q, U = Word("p", ("t", "t")), Word("q", ("t", "t")), Word("u", ("t",))
FAST = {"restarts": 1, "rounds": 1, "steps": 60}


def facts_of(**relations: Iterable[tuple[int, ...]]) -> FactBase:
    atoms = [
        f"{name}({', '.join(map(str, row))})" for name, rows in relations.items() for row in sorted(rows)
    ]
    return FactBase.from_facts(map(parse_atom, atoms))


def holds_of(one: Invention, facts: FactBase) -> Pairs:
    """The rows of a new predicate, as numbers."""
    derived = infer(one.rules, facts).derived.relations.get(one.word.key)
    rows = [] if derived is None else derived.codes.tolist()
    return frozenset(tuple(int(facts.constants[code]) for code in row) for row in rows)


def closed(pairs: Pairs) -> Pairs:
    """The transitive closure, by adding what two pairs make until nothing is new."""
    while (more := pairs | {(x, z) for x, y in pairs for w, z in pairs if y == w}) != pairs:
        pairs = more
    return pairs


@given(PAIRS, PAIRS, SINGLES)
def test_each_kind_holds_of_what_it_says(p: Pairs, q: Pairs, u: Pairs) -> None:
    facts = facts_of(p=p, q=q, u=u)
    inverse = {(y, x) for x, y in p}
    expected = {
        union(P, Q): p | q,
        either_way(P): p | inverse,
        closure(P): closed(p),
        chain(P, Q): {(x, z) for x, y in p for w, z in q if y == w},
        meeting(P, Q, 0): {(x, y) for z, x in p for w, y in q if z == w},
        meeting(P, Q, 1): {(x, y) for x, z in p for y, w in q if z == w},
        restricted(P, U, 0): {(x, y) for x, y in p if (x,) in u},
        restricted(P, U, 1): {(x, y) for x, y in p if (y,) in u},
    }
    for one, rows in expected.items():
        assert holds_of(one, facts) == rows, one.word.name


@settings(max_examples=25)
@given(PAIRS, PAIRS, SINGLES, st.booleans())
def test_candidates_all_say_something_new(p: Pairs, q: Pairs, u: Pairs, recursion: bool) -> None:
    facts = facts_of(h=[(0,), (1,)], p=p, q=q, u=u)
    language = Language("h/1", recursion=recursion)
    seen: list[Pairs] = [
        frozenset(tuple(int(facts.constants[code]) for code in row) for row in relation.codes.tolist())
        for key, relation in facts.relations.items()
        if key != ("h", 1)
    ]
    names = {name for name, _ in facts.relations}
    for batch in Inventor(facts, language, batch=5).batches():
        assert 0 < len(batch) <= 5
        for one in batch:
            rows = holds_of(one, facts)
            assert rows
            assert rows not in seen
            assert frozenset(row[::-1] for row in rows) not in seen
            assert one.word.name not in names
            assert recursion or not any(rule.is_recursive for rule in one.rules)
            seen.append(rows)
            names.add(one.word.name)


def test_nothing_is_made_from_the_target_and_a_name_that_is_taken_is_left_to_its_relation() -> None:
    facts = facts_of(p=[(0, 1), (1, 2)], h=[(0, 2)], p_closure=[(2, 0)])
    first = next(Inventor(facts, Language("h/2")).batches())
    read = {lit.atom.predicate for one in first for rule in one.rules for lit in rule.body}
    assert "h" not in read
    renamed = next(one for one in first if one.word.name == "h_inv_1")
    assert holds_of(renamed, facts) == {(0, 1), (1, 2), (0, 2)}


def test_types_keep_apart_what_does_not_go_together() -> None:
    facts = FactBase.from_facts(map(parse_atom, ["h(a)", "age(a, 7)", "age(b, 9)", "knows(a, b)"]))
    made = [one.word.name for batch in Inventor(facts, Language("h/1")).batches() for one in batch]
    assert "knows_then_age" in made
    assert not {"age_closure", "age_or_knows", "knows_or_age", "age_then_knows"} & set(made)


#: Mothers, and fathers, each with one of their children.
MOTHERS = "ann amy, ann andy, amy amelia, linda gavin, eve linda"
FATHERS = "steve amy, steve andy, gavin amelia, andy bob, bob tim"


@pytest.fixture(scope="module")
def grandparents() -> FactBase:
    mothers, fathers = ([tuple(pair.split()) for pair in text.split(", ")] for text in (MOTHERS, FATHERS))
    parents = [*mothers, *fathers]
    grandparents = {(one, three) for one, two in parents for other, three in parents if two == other}
    stated = {"mother": mothers, "father": fathers, "grandparent": sorted(grandparents)}
    atoms = [f"{name}({one}, {two})" for name, rows in stated.items() for one, two in rows]
    return FactBase.from_facts(map(parse_atom, atoms))


@pytest.fixture(scope="module")
def folded(grandparents: FactBase) -> Theory:
    return learn(grandparents, "grandparent/2", invent=2, **FAST)


def test_rules_that_differ_in_one_relation_are_folded(folded: Theory) -> None:
    assert folded.program == parse_program(
        "grandparent(X, Z) :- father_or_mother(X, Y), father_or_mother(Y, Z). "
        "father_or_mother(X, Y) :- father(X, Y). father_or_mother(X, Y) :- mother(X, Y)."
    )
    (made,) = folded
    assert made.flawless
    assert made.notes == ("father_or_mother/2 was invented, by 2 rules",)


def test_an_invention_makes_the_description_shorter(folded: Theory, grandparents: FactBase) -> None:
    (without,) = learn(grandparents, "grandparent/2", invent=0, **FAST)
    assert {rule.head.predicate for rule in without.program} == {"grandparent"}
    assert folded["grandparent"].length < without.length


def test_what_is_invented_is_saved_run_counted_and_explained(
    folded: Theory, grandparents: FactBase, tmp_path: Path
) -> None:
    save(folded, tmp_path)
    opened = load(tmp_path)
    assert isinstance(opened, Theory)
    assert opened.program == folded.program
    assert opened.evaluate(grandparents).overall.accuracy == 1
    why = opened.explain(parse_atom("grandparent(ann, amelia)"), grandparents)
    assert why.firings
    counted = rescore(opened.program, grandparents)
    first, *others = [rule.on("train") for rule in counted]
    assert first == folded.program.rules[0].on("train")
    assert others == [None, None]


def test_a_short_rule_is_left_as_it_is() -> None:
    task = TASKS["predecessor"]
    assert len(learn(task.train(), task.target, variables=2, invent=2, **FAST).program) == 1


@pytest.mark.parametrize("seed", range(2))
def test_nodes_on_a_cycle_take_a_closure(seed: int) -> None:
    task = TASKS["dilp_cyclic"]
    theory = learn(task.train(), task.target, seed=seed, **FAST)
    assert theory.program == parse_program(
        "cyclic(X) :- edge_closure(X, X). "
        "edge_closure(X, Y) :- edge(X, Y). edge_closure(X, Y) :- edge(X, Z), edge_closure(Z, Y)."
    )
    assert theory.evaluate(task.test()).overall.accuracy == 1


def test_a_bias_switches_it_on(grandparents: FactBase) -> None:
    bias = Bias(head=(("grandparent", 2),), body=(("mother", 2), ("father", 2)), max_vars=3, enable_pi=True)
    theory = learn(replace(grandparents, bias=bias), **FAST)
    assert {rule.head.predicate for rule in theory.program} == {"grandparent", "father_or_mother"}


def test_fewer_than_none_are_refused(grandparents: FactBase) -> None:
    with pytest.raises(ConfigError, match="set invent to 0 or more"):
        Plan.of(grandparents, "grandparent/2", invent=-1)


def test_a_chain_after_itself_is_offered_with_the_chain() -> None:
    atoms = [parse_atom(f"a(n{i}, m{i})") for i in range(9)] + [
        parse_atom(f"b(m{i}, n{i + 1})") for i in range(9)
    ]
    facts = FactBase.from_facts([*atoms, parse_atom("t(n0, n6)")])
    last = list(Inventor(facts, Language("t/2", recursion=False)).batches())[-1]
    assert last[0].word.name == "a_then_b_then_a_then_b"
    assert {key[0] for key in last[0].keys} == {"a_then_b", "a_then_b_then_a_then_b"}


def test_what_has_none_is_told_by_denying_that_it_has_some() -> None:
    edges = ["ab", "ac", "bd", "be", "cf", "fg", "fh"]
    lines = [f"node({name})" for name in "abcdefgh"] + [f"edge({one}, {two})" for one, two in edges]
    facts = FactBase.from_facts(map(parse_atom, [*lines, *(f"leaf({name})" for name in "degh")]))
    (made,) = learn(facts, "leaf/1", seed=0, **FAST)
    assert made.flawless
    assert some(Word("edge", ("t", "t")), 0).rules.rules[0].head.key in {
        literal.atom.key for rule in made.program for literal in rule.body if literal.negated
    }
