"""Crisp truth and coverage against the plainest reading of a rule."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from andre.evaluation import CrispSample, covers, literal_truth
from andre.logic import Evidence
from andre.samples import Membership, RuleSpace, Sample

M = 4
cells = st.sampled_from([0.0, 0.2, 0.5, 0.7, 1.0, np.nan])
tables = hnp.arrays(np.float64, st.tuples(st.integers(1, 10), st.just(M)), elements=cells)
programs = hnp.arrays(np.int8, st.tuples(st.integers(0, 5), st.just(M)), elements=st.integers(-1, 1))


def fires(row: np.ndarray, code: np.ndarray) -> bool:
    """Every literal holds: an atom above one half, a negation below it."""
    for value, sign in zip(row, code, strict=True):
        if sign > 0 and not value > 0.5:
            return False
        if sign < 0 and not value < 0.5:
            return False
    return True


@st.composite
def samples(draw) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table = draw(tables)
    labels = draw(hnp.arrays(np.int64, len(table), elements=st.integers(0, 1)))
    weights = draw(hnp.arrays(np.float64, len(table), elements=st.sampled_from([0.25, 1.0, 2.5])))
    return table, labels, weights


@given(tables, st.sampled_from([np.float16, np.float32]))
def test_the_width_of_a_number_says_nothing(table: np.ndarray, kind: type) -> None:
    narrow = table.astype(kind)
    assert np.array_equal(literal_truth(narrow), literal_truth(narrow.astype(np.float64)))


def test_one_half_and_unknown_satisfy_neither_reading() -> None:
    truth = literal_truth(np.array([[0.5, np.nan, np.nextafter(0.5, 1), np.nextafter(0.5, 0)]]))
    assert truth.tolist() == [[False, False, True, False, False, False, False, True]]


@given(tables, programs)
def test_coverage_is_what_the_bodies_say(table: np.ndarray, codes: np.ndarray) -> None:
    found = covers(literal_truth(table), codes)
    assert found.shape == (len(codes), len(table))
    assert found.tolist() == [[fires(row, code) for row in table] for code in codes]


def test_blocks_make_no_difference() -> None:
    rng = np.random.default_rng(0)
    truth = literal_truth(rng.random((50, 6)))
    codes = rng.integers(-1, 2, (31, 6)).astype(np.int8)
    assert np.array_equal(covers(truth, codes, block=120), covers(truth, codes))


@settings(max_examples=60)
@given(samples(), programs)
def test_counts_evidence_and_accuracy_over_the_rows_as_they_came(drawn, codes: np.ndarray) -> None:
    table, labels, weights = drawn
    sample = CrispSample.of(Sample.from_arrays(table, labels, weights))
    truth = np.array([[fires(row, code) for row in table] for code in codes], dtype=bool)
    truth = truth.reshape(len(codes), len(table))
    n_b, n_r = truth @ weights, truth @ (weights * labels)
    assert sample.evidence(codes, "train") == [Evidence("train", b, r) for b, r in zip(n_b, n_r, strict=True)]
    assert np.array_equal(sample.counts(sample.covers(codes)), np.stack((n_r, n_b - n_r), axis=1))
    assert np.array_equal(sample.body_counts(codes), np.stack((n_r, n_b - n_r), axis=1))
    right = weights[truth.any(axis=0) == (labels == 1)].sum() / weights.sum()
    assert sample.accuracy(codes) == pytest.approx(right, abs=1e-15)
    assert sample.accuracy(sample.space.program(codes)) == sample.accuracy(codes)
    assert sample.totals.tolist() == [weights @ labels, weights @ (1 - labels)]


@given(samples())
def test_rows_that_read_the_same_are_merged(drawn) -> None:
    sample = CrispSample.of(Sample.from_arrays(*drawn))
    assert len({row.tobytes() for row in sample.literals}) == len(sample.literals)
    assert len(sample.positives) == len(sample.negatives) == len(sample.literals)


def test_the_program_without_rules_covers_nothing_and_the_empty_body_everything() -> None:
    sample = CrispSample.of(Sample.from_arrays([[0.0, np.nan], [1.0, 0.5]], [0, 1]))
    none, always = np.zeros((0, 2), dtype=np.int8), np.zeros((1, 2), dtype=np.int8)
    assert not sample.predicts(none).any()
    assert sample.predicts(always).all()
    assert sample.accuracy(none) == sample.accuracy(always) == 0.5


@st.composite
def bagged(draw) -> tuple[Sample, list[tuple[np.ndarray, float, float]]]:
    """A sample of sets of rows, and the same examples written out: rows, positives, negatives."""
    table = np.unique(draw(tables), axis=0)
    sets = draw(st.lists(st.sets(st.integers(0, len(table) - 1), min_size=1), min_size=1, max_size=6))
    weights = draw(hnp.arrays(np.float64, (2, len(sets)), elements=st.sampled_from([0.0, 0.25, 1.0, 3.0])))
    starts = np.concatenate([[0], np.cumsum([len(rows) for rows in sets])]).astype(np.int64)
    members = Membership(starts, np.array([row for rows in sets for row in sorted(rows)], dtype=np.int64))
    space = RuleSpace.from_names([f"b{column}" for column in range(M)])
    examples = [(table[sorted(rows)], *weights[:, place]) for place, rows in enumerate(sets)]
    return Sample(space, table, weights[0], weights[1], members), examples


@settings(max_examples=80)
@given(bagged(), programs, st.sampled_from([1, 1 << 24]))
def test_bags_are_covered_where_one_of_their_rows_is(drawn, codes: np.ndarray, block: int) -> None:
    sample, examples = drawn
    crisp = CrispSample.of(sample)
    truth = np.array(
        [[any(fires(row, code) for row in rows) for rows, _, _ in examples] for code in codes], dtype=bool
    ).reshape(len(codes), len(examples))
    positives, negatives = np.array([weights for _, *weights in examples]).T
    wanted = np.stack((truth @ positives, truth @ negatives), axis=1)
    assert np.array_equal(crisp.body_counts(codes, block), wanted)
    assert np.array_equal(crisp.counts(crisp.covers(codes, block)), wanted)
    assert crisp.totals.tolist() == [positives.sum(), negatives.sum()]
    fired = truth.any(axis=0)
    assert crisp.labels @ crisp.predicts(codes) == pytest.approx([positives @ fired, negatives @ fired])
    if crisp.totals.any():
        right = (positives @ fired + negatives @ ~fired) / crisp.totals.sum()
        assert crisp.accuracy(codes) == pytest.approx(right, abs=1e-15)


@given(bagged())
def test_bags_that_read_the_same_are_merged(drawn) -> None:
    crisp = CrispSample.of(drawn[0])
    bags = [
        frozenset(crisp.literals[row].tobytes() for row in part)
        for part in np.split(crisp.members.rows, crisp.members.starts[1:-1])
    ]
    assert len(set(bags)) == len(bags) == len(crisp.positives)


@settings(max_examples=60)
@given(bagged(), hnp.arrays(np.int8, M, elements=st.integers(-1, 1)))
def test_what_single_literals_cover_among_the_rows_of_a_body(drawn, body: np.ndarray) -> None:
    crisp = CrispSample.of(drawn[0])
    held = crisp.row_covers(body[None])[0]
    found = crisp.with_literals(held, np.arange(2 * M))  # [2M, B]
    for example, rows in enumerate(np.split(crisp.members.rows, crisp.members.starts[1:-1])):
        own = [row for row in rows if held[row]]
        assert found[:, example].tolist() == [crisp.literals[own, one].any() for one in range(2 * M)]


def test_an_atom_counts_once_however_much_its_negatives_weigh_in_training() -> None:
    space = RuleSpace.from_names(["b1"])
    members = Membership(np.array([0, 1, 3]), np.array([0, 0, 1]))
    heads = np.array([4.0, 5.0])
    sample = Sample(
        space, np.array([[1.0], [0.0]]), np.array([1.0, 2.0]), np.array([30.0, 70.0]), members, heads
    )
    assert CrispSample.of(sample).totals.tolist() == [3, 6]


@settings(max_examples=60)
@given(bagged(), programs, st.integers(0, 2**16))
def test_a_part_covers_what_the_whole_does(drawn, codes: np.ndarray, seed: int) -> None:
    crisp = CrispSample.of(drawn[0])
    some = np.flatnonzero(np.random.default_rng(seed).random(len(crisp.positives)) < 0.5)
    some = np.union1d(some, [0])  # an example at least
    part = crisp.part(some)
    assert np.array_equal(part.covers(codes), crisp.covers(codes)[:, some])
    assert np.array_equal(part.labels, crisp.labels[:, some])
