"""Ranks against a plain count, and against PyKEEN's evaluator."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from andre.errors import DataError
from andre.evaluation import POLICIES, RankReport, Ranks, filtered_ranks, lexicographic_keys


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
