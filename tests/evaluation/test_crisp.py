"""Crisp truth and coverage against the plainest reading of a rule."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from andre.evaluation import crisp as module
from andre.evaluation.crisp import CrispSample, covers, literal_truth
from andre.grounding import Sample
from andre.logic import Evidence

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


def test_one_half_and_unknown_satisfy_neither_reading() -> None:
    truth = literal_truth(np.array([[0.5, np.nan, np.nextafter(0.5, 1), np.nextafter(0.5, 0)]]))
    assert truth.tolist() == [[False, False, True, False, False, False, False, True]]


@given(tables, programs)
def test_coverage_is_what_the_bodies_say(table: np.ndarray, codes: np.ndarray) -> None:
    found = covers(literal_truth(table), codes)
    assert found.shape == (len(codes), len(table))
    assert found.tolist() == [[fires(row, code) for row in table] for code in codes]


def test_blocks_make_no_difference(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    truth = literal_truth(rng.random((50, 6)))
    codes = rng.integers(-1, 2, (31, 6)).astype(np.int8)
    whole = covers(truth, codes)
    monkeypatch.setattr(module, "_BLOCK", 120)
    assert np.array_equal(covers(truth, codes), whole)


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
