"""Programs judged by joins against truth tables and the engines, which know nothing of joins."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evaluation.test_fixpoint import by_engine, cases

from andre.arrays import Ints
from andre.errors import MemoryLimitError
from andre.evaluation import AtomKeys, JoinedRules, JoinJudge, JoinLimits, ListedLabels
from andre.evaluation.fixpoint import Labels, RuleBase, TableJudge
from andre.facts import FactBase
from andre.inference.truth_tables import TruthTables
from andre.logic import Atom, Program, Rule, parse_atom, parse_rule

LIMITS = JoinLimits(block=3)


def chain(n: int) -> FactBase:
    return FactBase.from_facts(parse_atom(f"edge(c{k}, c{k + 1})") for k in range(n - 1))


@st.composite
def labels_for(draw: st.DrawFn, facts: FactBase, arity: int) -> ListedLabels:
    """Some atoms are listed, with any chances; whatever else a domain has is false, or no example."""
    n = len(facts.constants)
    places = list(product(range(n), repeat=arity))
    listed = draw(st.lists(st.sampled_from(places), unique=True, max_size=8))
    chances = np.array([draw(st.sampled_from([0.0, 0.25, 1.0])) for _ in listed])
    codes = np.array(listed, dtype=np.int64).reshape(-1, arity)
    domain = st.lists(st.integers(0, n - 1), unique=True, min_size=1).map(lambda d: np.array(sorted(d)))
    domains = tuple(draw(domain) for _ in range(arity)) if draw(st.booleans()) else None
    return ListedLabels(AtomKeys(arity, n), codes, chances, 1 - chances, domains)


@settings(max_examples=150)
@given(cases(), st.data())
def test_both_judges_agree(case: tuple[FactBase, Atom, list[Rule]], data: st.DataObject) -> None:
    facts, head, found = case
    key = "h", head.arity
    labels = data.draw(labels_for(facts, head.arity))
    judges = (
        TableJudge(RuleBase(TruthTables.of(facts), key), Labels.of(labels)),
        JoinJudge(JoinedRules.of(facts, key, LIMITS), labels),
    )
    numbers = [tuple(map(judge.add, found)) for judge in judges]
    assert numbers[0] == numbers[1]
    program = numbers[0]
    programs = [program, program[:1], tuple(sorted(set(program[1:]))), ()]
    assert judges[1].totals.tolist() == pytest.approx(judges[0].totals.tolist())
    verdicts = [judge.judge(programs) for judge in judges]
    np.testing.assert_allclose(verdicts[1].counts, verdicts[0].counts)
    for place in np.flatnonzero(~np.isnan(verdicts[0].counts[:, 0])).tolist():
        for beyond in (False, True):
            steps = [verdict.steps(place, program, beyond=beyond) for verdict in verdicts]
            np.testing.assert_allclose(steps[1], steps[0])
    same = [[verdict.fingerprint(place) == verdict.fingerprint(3) for place in (3,)] for verdict in verdicts]
    assert same[0] == same[1]
    if not np.isnan(verdicts[0].counts[1]).any():
        rest = [judge.without(programs[1]) for judge in judges]
        assert rest[1].totals.tolist() == pytest.approx(rest[0].totals.tolist())
        np.testing.assert_allclose(rest[1].judge(programs).counts, rest[0].judge(programs).counts)


@settings(max_examples=80)
@given(cases())
def test_models_are_those_of_the_engine(case: tuple[FactBase, Atom, list[Rule]]) -> None:
    """Every atom the engine derives is listed as true, and all others are false."""
    facts, head, found = case
    wanted = by_engine(Program(tuple(dict.fromkeys(found))), facts)
    atoms = [[facts.code(arg.value) for arg in atom.args] for atom in wanted or ()]
    every = (np.arange(len(facts.constants)),) * head.arity
    labels = listed(atoms, head.arity, len(facts.constants), every)
    judge = JoinJudge(JoinedRules.of(facts, ("h", head.arity), LIMITS), labels)
    counts = judge.judge([tuple(dict.fromkeys(map(judge.add, found)))]).counts[0]
    if wanted is None:
        assert np.isnan(counts).all()
    else:
        assert counts.tolist() == [len(wanted), 0]


def listed(atoms: object, arity: int, n: int, domains: tuple[Ints, ...] | None) -> ListedLabels:
    codes = np.array(atoms, dtype=np.int64).reshape(-1, arity)
    return ListedLabels(AtomKeys(arity, n), codes, np.ones(len(codes)), np.zeros(len(codes)), domains)


PATHS = (
    "path(X,Y) :- edge(X,Y).",
    "path(X,Y) :- edge(X,Z), path(Z,Y).",
    "path(X,Y) :- path(X,Z), path(Z,Y).",
)


@pytest.mark.parametrize("step", PATHS[1:])
def test_far_more_constants_than_tables_hold(step: str) -> None:
    n = 700
    facts = chain(n)
    pairs = [(one, two) for one in range(n) for two in range(one + 1, min(n, one + 40))]
    labels = listed(pairs, 2, n, (np.arange(n),) * 2)
    judge = JoinJudge(JoinedRules.of(facts, ("path", 2), JoinLimits(rows=1 << 28)), labels)
    program = tuple(judge.add(parse_rule(text)) for text in (PATHS[0], step))
    assert judge.judge([program]).counts[0].tolist() == [len(pairs), n * (n - 1) // 2 - len(pairs)]


def test_a_program_that_derives_too_much_has_no_verdict() -> None:
    n = 100
    labels = listed([(0, 1)], 2, n, (np.arange(n),) * 2)
    judge = JoinJudge(JoinedRules.of(chain(n), ("path", 2), JoinLimits(rows=500, block=50)), labels)
    base, step, _ = (judge.add(parse_rule(text)) for text in PATHS)
    counts = judge.judge([(base,), (base, step)]).counts
    assert counts[0].tolist() == [1, n - 2]
    assert np.isnan(counts[1]).all()
    assert judge.given_up == 1
    with pytest.raises(MemoryLimitError, match="leave some of them out"):
        judge.without((base, step))
    bounded = judge.within(most_wrong=20)
    assert np.isnan(bounded.judge([(base,)]).counts).all()
    assert bounded.given_up == 1, "one with too many false examples is judged"


def test_heads_whose_keys_outgrow_64_bits() -> None:
    names = ["a", "b", "c"]
    facts = FactBase.from_facts([parse_atom(f"p({one}, {two})") for one, two in pairwise(names)])
    rules = JoinedRules.of(facts, ("h", 6))
    wide = AtomKeys(6, 1 << 20)
    rules.keys = wide
    base = rules.add(parse_rule("h(A,B,C,D,E,F) :- p(A,B), p(C,D), p(E,F)."))
    step = rules.add(parse_rule("h(B,A,C,D,E,F) :- h(A,B,C,D,E,F)."))
    ones = np.ones(1)
    labels = ListedLabels(wide, np.array([[1, 0, 0, 1, 1, 2]]), ones, 1 - ones, (np.arange(3),) * 6)
    judge = JoinJudge(rules, labels)
    assert judge.judge([(base,), (base, step)]).counts.tolist() == [[0, 8], [1, 15]]
