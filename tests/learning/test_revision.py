"""Programs over uncertain facts against all states of the background, one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.evaluation import description_length
from andre.evaluation.fixpoint import Labels, RuleBase
from andre.facts import TASKS, Calibration, FactBase, probabilistic
from andre.inference import infer
from andre.inference.truth_tables import TruthTables
from andre.learning import Beliefs, Reviser, learn
from andre.logic import Program, parse_atom, parse_program

PROGRAMS = (
    "h(X, Y) :- e(X, Y).",
    "h(X, Y) :- e(X, Y). h(X, Y) :- e(X, Z), h(Z, Y).",
    "h(X, Y) :- e(Y, X), \\+ f(X).",
    "h(X, Y) :- e(X, Y), \\+ h(Y, X).",
)
CHANCES = st.sampled_from([0.1, 0.3, 0.45, 0.55, 0.7, 0.9, 1.0])


@st.composite
def cases(draw: st.DrawFn) -> tuple[FactBase, np.ndarray]:
    """A few uncertain facts over three constants, and labels."""
    names = [f"e({x}, {y})" for x, y in product("abc", repeat=2)] + [f"f({x})" for x in "abc"]
    atoms = draw(st.lists(st.sampled_from(names), min_size=3, max_size=7, unique=True))
    chances = [draw(CHANCES) for _ in atoms]
    named = ["k(a, b)", "k(b, c)", "k(c, a)"]  # so that there are always all constants
    facts = FactBase.from_facts(map(parse_atom, [*named, *atoms]), probabilities=[1.0] * 3 + chances)
    labels = draw(st.lists(st.sampled_from([0.0, 0.2, 0.9, 1.0]), min_size=9, max_size=9))
    return facts, np.array(labels).reshape(3, 3)


def length_by_engine(program: Program, facts: FactBase, positive: np.ndarray, m: int) -> float:
    """The description length of labels under what an engine derives."""
    derived = np.zeros((3, 3), dtype=bool)
    for atom in infer(program, facts, engine="clingo"):
        if atom.predicate == "h":
            derived[tuple(facts.code(arg.value) for arg in atom.args)] = True
    covered = np.array([positive[derived].sum(), (1 - positive)[derived].sum()])
    totals = np.array([positive.sum(), 9 - positive.sum()])
    return float(description_length(covered, totals, program.n_literals, len(program), m=m))


@settings(max_examples=30, deadline=None)
@given(cases(), st.sampled_from(PROGRAMS[:3]))
def test_lengths_are_those_of_certain_backgrounds(case: tuple[FactBase, np.ndarray], text: str) -> None:
    facts, positive = case
    beliefs = Beliefs.of(facts)
    if beliefs is None:
        return
    program = parse_program(text)
    reviser = Reviser(beliefs, ("h", 2), Labels(positive, 1 - positive), m=5)
    doubtful = np.flatnonzero(np.isfinite(beliefs.flat))
    states = np.repeat(beliefs.likely[None], 2 ** len(doubtful), axis=0)
    states[:, doubtful] = list(product([False, True], repeat=len(doubtful)))
    lengths = reviser.lengths(program, states)
    for state, length in list(zip(states, lengths, strict=True))[:: max(1, len(states) // 6)]:
        wanted = length_by_engine(program, beliefs.background(state), positive, 5)
        taken = sum(
            abs(np.log(item.calibrated) - np.log1p(-item.calibrated)) for item in beliefs.revised(state)
        )
        assert length == pytest.approx(wanted + taken)
    # What single revisions lead to is one of these states, and no single revision of it is better.
    state, length = reviser.revise(program, beliefs.likely)
    place = np.flatnonzero((states == state).all(axis=1))
    assert length == pytest.approx(lengths[place[0]])
    assert length <= lengths[np.flatnonzero((states == beliefs.likely).all(axis=1))[0]] + 1e-9
    near = (states != state).sum(axis=1) == 1
    assert (lengths[near] >= length - 1e-6).all()


def test_backgrounds_are_evaluated_apart() -> None:
    """Several programs, each with its own background, at once and one by one; also with negation."""
    rng = np.random.default_rng(0)
    facts = FactBase.from_facts(map(parse_atom, ["e(a, b)", "e(b, c)", "f(a)", "k(c, d)"]))
    keys = (("e", 2), ("f", 1))
    rules = RuleBase(TruthTables.of(facts), ("h", 2), keys)
    programs = [tuple(map(rules.add, parse_program(text))) for text in PROGRAMS for _ in range(5)]
    edges, marks = rng.random((20, 4, 4)) < 0.3, rng.random((20, 4)) < 0.5
    together, total = rules.models(programs, {keys[0]: edges, keys[1]: marks})
    for place, program in enumerate(programs):
        stated = [f"e({'abcd'[x]}, {'abcd'[y]})" for x, y in np.argwhere(edges[place])]
        stated += [f"f({'abcd'[x]})" for (x,) in np.argwhere(marks[place])]
        alone = FactBase.from_facts(map(parse_atom, ["k(a, b)", "k(c, d)", *stated]))
        base = RuleBase(TruthTables.of(alone), ("h", 2))
        wanted, whole = base.models([tuple(base.add(rules.rules[rule]) for rule in program)])
        order = [alone.code(value) for value in "abcd"]
        assert (together[place] == wanted[0][np.ix_(order, order)]).all()
        assert total[place] == whole[0]


def test_certain_facts_leave_nothing_to_revise() -> None:
    assert Beliefs.of(TASKS["lessThan"].train()) is None


@pytest.mark.parametrize("seed", [0, 1])
def test_a_definition_from_uncertain_facts(seed: int) -> None:
    task = TASKS["lessThan"]
    facts = probabilistic(task.train(), seed)
    theory = learn(facts, task.target, seed=seed, restarts=1, rounds=1, steps=15)
    (made,) = theory
    assert made.revised
    assert made.length < made.empty_length
    true = {str(atom) for key in task.train().relations for atom in task.train().atoms(*key)}
    assert all((str(item.atom) in true) == item.holds for item in made.revised)
    assert theory.evaluate(task.test()).overall.accuracy == 1
    # Facts are shown as they were stated, and cost what calibration makes of that.
    calibration = Calibration.of(facts)
    assert calibration is not None
    (note,) = (note for note in made.notes if "speaks against" in note)
    for item in made.revised:
        relation = facts.relations[item.atom.key]
        place = [str(atom) for atom in facts.atoms(*item.atom.key)].index(str(item.atom))
        assert item.probability == relation.probability[place]
        read = calibration.probability(item.atom.key, relation.probability[place : place + 1])
        assert item.calibrated == pytest.approx(float(read[0]))
        assert item.holds == (item.calibrated <= 0.5)
    assert any(f"({item.probability:.2f}, which calibration reads as" in note for item in made.revised)


def test_a_fact_at_one_half_is_never_spoken_against() -> None:
    """Whatever is taken of it, nothing that is likely is denied."""
    atoms = [parse_atom(text) for text in ("edge(a, b)", "edge(b, c)", "edge(c, d)")]
    beliefs = Beliefs.of(FactBase.from_facts(atoms, probabilities=[0.5, 0.4, 0.9]))
    assert beliefs is not None
    revised = beliefs.revised(beliefs.likely ^ np.isfinite(beliefs.flat))
    doubted = {str(item.atom): (round(item.probability, 9), item.holds) for item in revised}
    assert "edge(a, b)" not in doubted
    assert (doubted["edge(b, c)"], doubted["edge(c, d)"]) == ((0.4, True), (0.9, False))
    assert beliefs.revised(beliefs.likely) == ()
