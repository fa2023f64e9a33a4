"""A pool counts what programs with one rule more cover."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.evaluation import CrispSample
from andre.learning.choose.pool import RuleCoverage
from andre.samples import Sample


@settings(max_examples=60)
@given(st.integers(0, 2**16), st.integers(0, 12), st.integers(1, 30))
def test_beside_counts_the_union(seed: int, rules: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    labels, weights = rng.integers(0, 2, rows), rng.integers(1, 4, rows)
    crisp = CrispSample.of(Sample.from_arrays(rng.integers(0, 2, (rows, 4)), labels, weights))
    pool = RuleCoverage(crisp, rng.integers(-1, 2, (rules, 4)).astype(np.int8))
    rest = rng.random(len(crisp.positives)) < 0.4
    assert np.array_equal(pool.beside(rest), crisp.counts(pool.covers | rest))
    assert np.array_equal(pool.own, crisp.body_counts(pool.bodies))
    assert np.array_equal(pool.sizes, (pool.bodies != 0).sum(axis=1))
