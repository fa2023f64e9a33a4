"""Counting by bits against sums over the rows that the bits stand for."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from andre.evaluation import CrispSample, union
from andre.evaluation.card import Card
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


@given(st.integers(0, 2**16), st.integers(0, 5))
def test_dense_products_count_as_bits_do(seed: int, n: int) -> None:
    """What a card computes, here on the processor."""
    sample = _sample(seed, whole=True)
    planes, sets = sample.planes, sample.extents(_codes(sample, seed, n))
    card = Card(torch.device("cpu"), planes.begins, planes.worth, len(planes.every))
    found = card.shared(card.put(sets), card.put(planes.columns))
    assert np.array_equal(found, planes.shared(sets, planes.columns))
    truth = sample.covers(_codes(sample, seed, n))
    for body, row in zip(truth, found, strict=True):
        for literal, shared in zip(sample.literals.T, row, strict=True):
            assert np.array_equal(shared, (sample.labels * (body & literal)).sum(axis=1))


@pytest.mark.parametrize("device", [None, "cpu"])
def test_what_a_device_is_sent_changes_no_count(device: str | None) -> None:
    rng = np.random.default_rng(0)
    table, labels = rng.random((40_000, 30)) < 0.5, rng.random(40_000) < 0.4
    sample = CrispSample.of(Sample.from_arrays(table, labels), device)
    codes = np.eye(30, dtype=np.int8)
    counts = sample.label_counts(sample.row_extents(codes))  # as many words as are worth sending
    for body in (0, 29):
        held = sample.covers(codes[body : body + 1])[0]
        assert np.array_equal(counts[body], (sample.labels * held) @ sample.literals)
