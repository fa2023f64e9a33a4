"""Counting by bits against sums over the rows that the bits stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from andre.evaluation import CrispSample, union
from andre.samples import RuleSpace, Sample


def _sample(seed: int, *, whole: bool) -> CrispSample:
    """Rows of some unknown values, and weights that are whole or not, 0 and large ones among them."""
    rng = np.random.default_rng(seed)
    rows, m = int(rng.integers(1, 300)), int(rng.integers(1, 9))
    table = rng.choice([0.0, 1.0, np.nan], (rows, m), p=rng.dirichlet([3, 3, rng.choice([1e-6, 1])]))
    weights = rng.choice([0, 1, 1, 2, 7, 100_003], (2, rows)) * (1.0 if whole else 0.3)
    weights *= rng.random((2, 1)) < 0.9  # sometimes there is no positive, or no negative
    space = RuleSpace.from_names([f"b{column}" for column in range(m)])
    return CrispSample.of(Sample(space, table, *weights))


def _codes(sample: CrispSample, seed: int, n: int) -> np.ndarray:
    return np.random.default_rng(seed).choice([0, 0, 1, -1], (n, sample.space.m)).astype(np.int8)


@given(st.integers(0, 2**16), st.integers(0, 5), st.booleans())
def test_sets_of_examples_weigh_what_their_rows_do(seed: int, n: int, whole: bool) -> None:
    sample = _sample(seed, whole=whole)
    codes, other = _codes(sample, seed, n), _codes(sample, seed + 1, 2)
    truth, settled = sample.covers(codes), sample.predicts(other)  # [n, B], [B]
    found = sample.counts(sample.extents(codes), union(sample.extents(other)))
    assert found == pytest.approx((truth & ~settled) @ sample.labels.T)
    assert sample.body_counts(codes) == pytest.approx(truth @ sample.labels.T)
    if whole:
        assert sample.planes is not None
        assert np.array_equal(found, (truth & ~settled) @ sample.labels.T)


@given(st.integers(0, 2**16), st.integers(0, 5), st.booleans())
def test_every_literal_is_counted_beside_every_body(seed: int, n: int, whole: bool) -> None:
    sample = _sample(seed, whole=whole)
    codes, other = _codes(sample, seed, n), _codes(sample, seed + 1, 2)
    truth, settled = sample.covers(codes), sample.predicts(other)
    held = sample.row_extents(codes)
    weights = np.vstack((sample.labels, sample.labels * ~settled))
    wanted = [[(weight * rows) @ sample.literals for weight in weights] for rows in truth]
    wanted = np.array(wanted).reshape(n, 4, 2 * sample.space.m)
    assert sample.label_counts(held) == pytest.approx(wanted[:, :2], abs=1e-6)
    assert sample.label_counts(held, union(sample.extents(other))) == pytest.approx(wanted, abs=1e-6)


@given(st.integers(0, 2**16), st.booleans())
def test_two_literals_beside_a_body_are_counted_where_both_hold(seed: int, whole: bool) -> None:
    sample = _sample(seed, whole=whole)
    body, literals = _codes(sample, seed, 1), np.arange(2 * sample.space.m)[::-2]
    found = sample.common_counts(sample.with_literals(sample.row_extents(body)[0], literals))
    truth = (sample.literals[:, literals] & sample.covers(body)[0][:, None]).T  # [l, B]
    for label, weight in enumerate(sample.labels):
        assert found[..., label] == pytest.approx((truth * weight) @ truth.T, rel=1e-6)
