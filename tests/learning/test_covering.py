"""The program with the fewest errors is right wherever a program can be."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.evaluation import CrispSample
from andre.learning import fewest_errors
from andre.limits import Deadline, limited
from andre.samples import Form, Sample


@st.composite
def _samples(draw):
    m, seed = draw(st.integers(1, 5)), draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (draw(st.integers(2, 40)), m)).astype(float)
    return CrispSample.of(Sample.from_arrays(rows, rng.integers(0, 2, len(rows))))


def _pool(sample, seed):
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 2, (6, sample.space.m)).astype(np.int8)


@settings(max_examples=60)
@given(_samples(), st.integers(0, 99))
def test_it_reaches_the_ceiling_of_the_rows(sample, seed):
    form = Form(sample.space, safe=False, singletons=True)
    program = fewest_errors(sample, _pool(sample, seed), form)
    ceiling = np.maximum(sample.positives, sample.negatives).sum() / sample.totals.sum()
    always = sample.positives > sample.negatives
    if always.all():  # no literal tells apart what all rows share: the empty body is no rule
        return
    assert sample.accuracy(program) == np.float64(ceiling)


@settings(max_examples=20)
@given(_samples(), st.integers(0, 99))
def test_bounds_are_kept(sample, seed):
    form = Form(sample.space, negation=False, safe=False, singletons=True)
    pool = np.abs(_pool(sample, seed))
    assert len(fewest_errors(sample, pool, form, max_rules=1)) <= 1
    assert form.admits(fewest_errors(sample, pool, form)).all()
    taken = fewest_errors(sample, pool, form, grow=False)
    assert set(map(bytes, taken)) <= set(map(bytes, pool))
    with limited(Deadline.after(0)) as watch:
        found = fewest_errors(sample, pool, form)
    assert np.array_equal(found, taken[: len(found)])
    assert watch.cut


@settings(max_examples=60)
@given(_samples(), st.integers(0, 99))
def test_of_the_pool_all_is_taken_that_covers_no_example_that_is_mostly_false(sample, seed):
    pool, surplus = _pool(sample, seed), sample.positives - sample.negatives
    form = Form(sample.space, safe=False, singletons=True)
    pure = pool[~sample.covers(pool)[:, surplus < 0].any(axis=1)]
    taken = fewest_errors(sample, pool, form, grow=False)
    assert not sample.predicts(taken)[surplus < 0].any()
    assert np.array_equal(sample.predicts(taken)[surplus > 0], sample.predicts(pure)[surplus > 0])
