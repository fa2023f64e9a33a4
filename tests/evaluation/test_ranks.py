"""Ranks against a plain count, and against PyKEEN's evaluator."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from andre.errors import DataError
from andre.evaluation import (
    POLICIES,
    Interval,
    RankReport,
    Ranks,
    filtered_ranks,
    lexicographic_keys,
    mean_reciprocal,
)


@st.composite
def queries(draw):
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 8)))
    scores = draw(arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])))
    known = draw(arrays(np.bool_, shape))
    true = draw(arrays(np.int64, shape[0], elements=st.integers(0, shape[1] - 1)))
    return scores, true, known


@given(queries())
def test_counted_one_by_one(case):
    scores, true, known = case
    ranks = filtered_ranks(scores, true, known)
    for row, at in enumerate(true):
        others = [scores[row, c] for c in range(scores.shape[1]) if c != at and not known[row, c]]
        better = [score for score in others if score > scores[row, at]]
        ties = sum(score == scores[row, at] for score in others)
        assert ranks.of("optimistic")[row] == len(better) + 1
        assert ranks.of("pessimistic")[row] == len(better) + ties + 1
        assert ranks.of("realistic")[row] == len(better) + ties / 2 + 1
        assert ranks.of("dense")[row] == len(set(better)) + 1


@given(queries())
def test_only_the_order_of_scores_counts(case):
    scores, true, known = case
    keys = np.stack([lexicographic_keys(row[:, None]) for row in scores])
    for policy in POLICIES:
        assert (
            filtered_ranks(keys, true, known).of(policy) == filtered_ranks(scores, true, known).of(policy)
        ).all()


@given(arrays(np.int8, st.tuples(st.integers(0, 9), st.integers(1, 3)), elements=st.integers(0, 2)))
def test_lexicographic_keys_order_as_tuples_do(rows):
    keys, tuples = lexicographic_keys(rows), [tuple(row) for row in rows.tolist()]
    for one in range(len(rows)):
        for two in range(len(rows)):
            assert (keys[one] < keys[two]) == (tuples[one] < tuples[two])
            assert (keys[one] == keys[two]) == (tuples[one] == tuples[two])


@settings(max_examples=30, deadline=None)
@given(queries())
def test_equal_to_pykeen(case):
    evaluation = pytest.importorskip("pykeen.evaluation", reason="pykeen is not installed")
    import torch

    scores, true, known = case
    filtered = np.where(known, -np.inf, scores)
    rows = np.arange(len(true))
    filtered[rows, true] = scores[rows, true]
    evaluator = evaluation.RankBasedEvaluator()
    evaluator.process_scores_(
        hrt_batch=torch.zeros(len(true), 3, dtype=torch.long),
        target="tail",
        scores=torch.as_tensor(filtered),
        true_scores=torch.as_tensor(scores[rows, true][:, None]),
    )
    result = evaluator.finalize()
    report = RankReport.from_ranks(filtered_ranks(scores, true, known))
    for policy in ("realistic", "optimistic", "pessimistic"):
        assert report.mrr[policy] == pytest.approx(
            result.get_metric(f"tail.{policy}.inverse_harmonic_mean_rank"), abs=1e-6
        )
        for k in (1, 3, 10):
            assert report.hits[policy][k] == pytest.approx(result.get_metric(f"tail.{policy}.hits_at_{k}"))


def test_no_queries():
    report = RankReport.from_ranks(Ranks.concat([]))
    assert report.queries == 0
    assert set(report.mrr.values()) == {0.0}


def test_what_cannot_be_ranked():
    with pytest.raises(DataError, match="not a finite number"):
        filtered_ranks(np.array([[np.nan, 1.0]]), np.array([0]))
    ranks = filtered_ranks(np.ones((1, 2)), np.array([0]), levels=False)
    with pytest.raises(DataError, match="levels=True"):
        ranks.of("dense")
    with pytest.raises(DataError, match="no tie policy"):
        ranks.of("best")


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(30, 300))
def test_an_interval_is_as_wide_as_the_error_of_the_mean_says(seed, n):
    """Many values of a normal distribution: about two standard errors to either side."""
    values = np.random.default_rng(seed).normal(0.5, 0.1, n)
    found = Interval.of(values)
    error = values.std() / np.sqrt(n)
    assert found.mean == pytest.approx(values.mean())
    assert found.low == pytest.approx(values.mean() - 1.96 * error, abs=0.4 * error)
    assert found.high == pytest.approx(values.mean() + 1.96 * error, abs=0.4 * error)
    narrow = Interval.of(values, level=0.5)
    assert found.low < narrow.low <= narrow.mean <= narrow.high < found.high


def test_an_interval_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(0)
    inside = [Interval.of(rng.random(60), draws=400, seed=at).contains(0.5) for at in range(400)]
    assert 0.91 < np.mean(inside) < 0.98


def test_what_is_drawn_together_tells_more_than_what_is_drawn_apart():
    """Two learners that differ by little on the same facts, which differ by much."""
    rng = np.random.default_rng(0)
    hard = rng.random(500)
    one, two = hard + 0.01 + rng.normal(0, 0.02, 500), hard
    assert Interval.of(one).contains(float(two.mean()))
    assert not Interval.of(one - two).contains(0)


def test_the_interval_of_nothing_is_refused():
    with pytest.raises(DataError, match="no values to resample"):
        Interval.of(np.zeros(0))


@given(queries(), queries())
def test_the_mean_over_facts_is_that_over_queries(one, two):
    sides = [filtered_ranks(*case).take(np.zeros(3, dtype=int)) for case in (one, two)]
    for policy in POLICIES:
        whole = RankReport.from_ranks(Ranks.concat(sides)).mrr[policy]
        assert mean_reciprocal(sides, policy).mean() == pytest.approx(whole)
