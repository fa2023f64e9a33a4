"""Every edit counts exactly what a fresh look at the edited program counts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from andre.evaluation import CrispSample, program_length
from andre.learning import Floor, neighbours
from andre.learning.choose.pool import RuleCoverage
from andre.learning.choose.refinement import Refiner
from andre.limits import Deadline, limited
from andre.samples import SYNTHETIC_TASKS, Membership, RuleSpace, Sample

M = 3
cells = st.sampled_from([0.0, 0.5, 1.0, np.nan])
floors = st.builds(Floor, st.sampled_from([0.0, 1.0, 2.0, 2.5]), st.sampled_from([0.0, 0.5, 0.6, 0.8]))
programs = hnp.arrays(np.int8, st.tuples(st.integers(0, 3), st.just(M)), elements=st.integers(-1, 1))


@st.composite
def samples(draw) -> CrispSample:
    table = draw(hnp.arrays(np.float64, st.tuples(st.integers(2, 12), st.just(M)), elements=cells))
    labels = draw(hnp.arrays(np.int64, len(table), elements=st.integers(0, 1)))
    weights = draw(hnp.arrays(np.float64, len(table), elements=st.sampled_from([1.0, 0.5, 3.0])))
    return CrispSample.of(Sample.from_arrays(table, labels, weights))


@st.composite
def bagged(draw) -> CrispSample:
    """Examples that are sets of rows."""
    table = np.unique(
        draw(hnp.arrays(np.float64, st.tuples(st.integers(2, 8), st.just(M)), elements=cells)), axis=0
    )
    sets = draw(st.lists(st.sets(st.integers(0, len(table) - 1), min_size=1), min_size=2, max_size=8))
    labels = draw(hnp.arrays(np.float64, (2, len(sets)), elements=st.sampled_from([0.0, 1.0, 2.5])))
    starts = np.concatenate([[0], np.cumsum([len(rows) for rows in sets])]).astype(np.int64)
    members = Membership(starts, np.array([row for rows in sets for row in sorted(rows)], dtype=np.int64))
    space = RuleSpace.from_names([f"b{column}" for column in range(M)])
    return CrispSample.of(Sample(space, table, labels[0], labels[1], members))


@settings(max_examples=60)
@given(st.one_of(samples(), bagged()), programs)
def test_every_edit_is_judged_as_by_brute_force(sample: CrispSample, program: np.ndarray) -> None:
    for edits in neighbours(sample, program, split=True):
        for place, length in enumerate(edits.lengths):
            edited = edits.program(place)
            assert length == pytest.approx(program_length(sample, edited), abs=1e-9)
            counted = sample.counts(sample.predicts(edited)[None])[0]
            assert edits.covered[place].tolist() == pytest.approx(counted.tolist(), abs=1e-9)
            changed = edited[len(edits.kept) :]
            assert edits.own[place] == pytest.approx(sample.body_counts(changed), abs=1e-9)


@settings(max_examples=60)
@given(st.one_of(samples(), bagged()), programs, floors, st.floats(-3.0, 3.0))
def test_splits_that_are_left_out_are_longer_than_asked_for(
    sample: CrispSample, program: np.ndarray, floor: Floor, beyond: float
) -> None:
    below = program_length(sample, program) + beyond

    def short(limit: float) -> list[tuple]:
        return [
            (*edits.program(place).ravel().tolist(), round(float(edits.lengths[place]), 6))
            for edits in neighbours(sample, program, split=True, floor=floor, below=limit)
            for place in np.flatnonzero(edits.lengths <= below)
        ]

    assert short(below) == short(np.inf)


def test_of_long_rules_splits_are_not_counted_in_vain(monkeypatch) -> None:
    """A rule that names most levels of a category would be said twice."""
    levels = np.arange(20).repeat(9)
    sample = CrispSample.of(Sample.from_arrays(levels[:, None] == np.arange(20), levels > 9))
    program = np.where(np.arange(20) > 9, 0, -1)[None].astype(np.int8)
    counted: list[int] = []
    monkeypatch.setattr(CrispSample, "common_counts", lambda self, sets: counted.append(len(sets)))
    list(neighbours(sample, program, split=True, below=program_length(sample, program)))
    assert not counted


def every_edit(program: np.ndarray) -> set[tuple]:
    """Drop, add, flip or replace a literal, drop a rule: written out."""
    found = set()
    for place in range(len(program)):
        rest = [tuple(rule) for i, rule in enumerate(program) if i != place]
        found.add(tuple(sorted(rest)))
        rule = program[place]
        dropped = [np.where(np.arange(M) == j, 0, rule) for j in np.flatnonzero(rule)]
        found |= {tuple(sorted([*rest, tuple(body)])) for body in dropped}
        for body in [rule, *dropped]:
            for j in np.flatnonzero(body == 0):
                for sign in (1, -1):
                    longer = tuple(np.where(np.arange(M) == j, sign, body))
                    if longer != tuple(rule):
                        found.add(tuple(sorted([*rest, longer])))
    return found


@settings(max_examples=40)
@given(samples(), programs)
def test_the_neighbours_are_all_single_edits_and_nothing_else(
    sample: CrispSample, program: np.ndarray
) -> None:
    found = [
        tuple(sorted(map(tuple, edits.program(place))))
        for edits in neighbours(sample, program)
        for place in range(len(edits.lengths))
    ]
    assert set(found) == every_edit(program)


@settings(max_examples=40)
@given(samples(), programs)
def test_no_neighbour_is_the_program_itself(sample: CrispSample, program: np.ndarray) -> None:
    itself = sorted(map(tuple, program))
    for edits in neighbours(sample, program, split=True):
        for place in range(len(edits.lengths)):
            assert sorted(map(tuple, edits.program(place))) != itself


@settings(max_examples=60)
@given(st.one_of(samples(), bagged()), st.lists(programs, min_size=1, max_size=4), programs)
def test_what_others_came_to_changes_nothing(sample: CrispSample, starts: list, bodies: np.ndarray) -> None:
    pool = RuleCoverage(sample, bodies)
    remembering = Refiner(sample, pool)
    for start in [*starts, *starts]:
        plain, length = Refiner(sample, pool).refine(start)
        again, same = remembering.refine(start)
        assert np.array_equal(again, plain)
        assert same == pytest.approx(length, abs=1e-9)


@settings(max_examples=60)
@given(st.one_of(samples(), bagged()), programs, programs, floors)
def test_refinement_never_lengthens(
    sample: CrispSample, program: np.ndarray, pool: np.ndarray, floor: Floor
) -> None:
    refined, length = Refiner(sample, RuleCoverage(sample, pool), floor).refine(program)
    assert length <= program_length(sample, program) + 1e-9
    assert length == pytest.approx(program_length(sample, refined), abs=1e-9)
    again, same = Refiner(sample, RuleCoverage(sample, pool), floor).refine(refined)
    assert same == length
    assert np.array_equal(again, refined)


@settings(max_examples=40)
@given(samples(), programs, programs, floors)
def test_new_rules_reach_the_floor(
    sample: CrispSample, program: np.ndarray, pool: np.ndarray, floor: Floor
) -> None:
    refined, _ = Refiner(sample, RuleCoverage(sample, pool), floor).refine(program)
    before = {tuple(rule) for rule in program}
    for body, reached in zip(refined, floor.passes(sample.body_counts(refined)), strict=True):
        assert tuple(body) in before or reached


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["R1", "R2", "R3"])
def test_a_program_two_edits_off_comes_right(name: str, seed: int) -> None:
    task = SYNTHETIC_TASKS[name]
    sample = CrispSample.of(task.sample(600, seed))
    codes = task.space.encode(task.program)
    codes[0, 3] = 1  # a literal too many
    codes[-1, np.flatnonzero(codes[-1])[0]] = 0  # and one too few
    refined, _ = Refiner(sample).refine(codes)
    assert task.space.program(refined) == task.program


def test_a_relational_head_never_gets_an_empty_body() -> None:
    """`h(X).` would hold of everything: no variable of the head is bound."""
    space = RuleSpace.from_names(["p(X)"], "h(X)")
    sample = CrispSample.of(Sample.from_arrays([[1.0], [0.0], [0.0], [0.0]], [1, 1, 1, 0], space=space))
    for edits in neighbours(sample, np.array([[1]], dtype=np.int8), split=True):
        for place in range(len(edits.lengths)):
            assert edits.program(place).any(axis=1).all()


def test_a_deadline_that_has_passed_ends_it_after_one_look() -> None:
    task = SYNTHETIC_TASKS["R3"]
    sample = CrispSample.of(task.sample(300, 0))
    start = np.zeros((1, 10), dtype=np.int8)
    start[0, 0] = 1
    with limited(Deadline.after(0)):
        refined, length = Refiner(sample).refine(start)
    assert np.array_equal(refined, start)
    assert length == program_length(sample, start)


@settings(max_examples=60)
@given(st.one_of(samples(), bagged()), programs, programs)
def test_no_rule_is_said_twice(sample: CrispSample, start: np.ndarray, bodies: np.ndarray) -> None:
    start = np.unique(start, axis=0)
    refined, _ = Refiner(sample, RuleCoverage(sample, bodies)).refine(start)
    assert len(np.unique(refined, axis=0)) == len(refined)


def test_missing_rules_are_grown_and_negations_are_shed() -> None:
    """Tic-tac-toe: who has won is told by the eight lines of x, however else it could be said."""
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]

    def won(board: tuple[str, ...], player: str) -> bool:
        return any(all(board[square] == player for square in line) for line in lines)

    boards: set[tuple[str, ...]] = set()
    reached = {("b",) * 9}
    for move in range(9):
        after = {
            (*board[:square], "xo"[move % 2], *board[square + 1 :])
            for board in reached
            for square in range(9)
            if board[square] == "b"
        }
        over = {board for board in after if won(board, "xo"[move % 2]) or move == 8}
        boards, reached = boards | over, after - over
    ended = sorted(boards)
    assert len(ended) == 958
    table = np.array([[cell == value for cell in board for value in "box"] for board in ended])
    sample = CrispSample.of(Sample.from_arrays(table, [won(board, "x") for board in ended]))
    rules = np.zeros((8, 27), dtype=np.int8)
    for rule, line in zip(rules, lines, strict=True):
        rule[[3 * square + 2 for square in line]] = 1
    # Not o on the squares of a diagonal, or neither b nor o on one square, says the same as x on them.
    start = rules[:6].copy()
    start[1] = 0
    start[1, [10, 13, 16]] = -1
    start[0, 8], start[0, [6, 7]] = 0, -1
    for program in (rules[:6], start):
        refined, _ = Refiner(sample).refine(program)
        assert sorted(map(tuple, refined)) == sorted(map(tuple, rules))
