"""Short bodies counted by kinds of literals equal those written out one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.evaluation import CrispSample
from andre.learning import Screening, SelectionConfig, best_short_bodies
from andre.learning.choose.selection import pool_rules
from andre.samples import Form, Membership, RuleSpace, Sample

_ATOMS = ("p(X,Y)", "p(Y,X)", "p(X,Z)", "q(Z,Y)", "q(Y,Z)", "r(X)", "X \\= Z")


@st.composite
def _samples(draw):
    m = draw(st.integers(2, len(_ATOMS)))
    space = RuleSpace.from_names(_ATOMS[:m], "h(X,Y)")
    seed, bags = draw(st.integers(0, 2**16)), draw(st.booleans())
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (12, m)).astype(float)
    weights = rng.integers(0, 5, (2, 4 if bags else 12)).astype(float)
    members = Membership(np.array([0, 3, 6, 9, 12]), np.arange(12)) if bags else None
    return CrispSample.of(Sample(space, rows, weights[0], weights[1], members))


@settings(max_examples=60)
@given(
    _samples(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 1, 2]),
    st.booleans(),
    st.sampled_from([None, 0.0, 3.0, 7.5]),
)
def test_all_short_bodies_are_found(sample, safe, singletons, negation, max_body, require, support):
    needed = ((0, 1),) if require else ()
    form = Form(
        sample.space, safe=safe, singletons=singletons, negation=negation, max_body=max_body, require=needed
    )
    config = SelectionConfig(pool=1000, min_confidence=0.4, min_support=support)
    found = best_short_bodies(sample, form, config)
    # `pool_rules` also makes shorter bodies, which are among the short ones already.
    wanted = pool_rules(sample, form.short_bodies(), config, form)
    if safe:
        assert set(map(bytes, found)) == set(map(bytes, wanted))
    else:  # two negations are bodies too
        assert set(map(bytes, found)) >= set(map(bytes, wanted))
    counts = sample.body_counts(found)
    assert (counts[:, 0] > 0.4 * counts.sum(axis=1)).all()
    assert (counts[:, 0] >= (support or 0)).all()


@settings(max_examples=60)
@given(
    _samples(),
    st.sampled_from([0.0, 0.4, 0.5, 0.8]),
    st.sampled_from([0.0, 2.0, 5.0]),
    st.sampled_from([1, 2, 16]),
)
def test_what_a_part_rules_out_is_no_loss(sample, confidence, support, share):
    form = Form(sample.space)
    config = SelectionConfig(pool=1000, min_confidence=confidence, min_support=support)
    plain = best_short_bodies(sample, form, config)
    screened = best_short_bodies(sample, form, config, Screening(rows=0, every=share))
    assert np.array_equal(screened, plain)
