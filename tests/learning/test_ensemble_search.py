"""The search for bodies, against all bodies listed."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.test_binned import binned_tables

from andre.learning.ensemble.search import BodySearch, Pull, SearchConfig, bodies_of, codes_of
from andre.samples import BinnedColumn, BinnedTable


def gain(held, pull, owner, penalty):
    """Nats gained by a weight for some rows, when the base follows."""
    slope, bend = pull.slope[held, owner].sum(), pull.bend[held, owner].sum()
    return slope**2 / (2 * (max(bend * (1 - bend / pull.bend[:, owner].sum()), 0) + penalty))


def listed(table, pull, length, config):
    """The best score of all bodies of up to so many literals."""
    literals, best = table.literals(), 0.0
    for size in range(1, length + 1):
        for body in combinations(range(2 * table.m), size):
            held = literals[:, list(body)].all(axis=1)
            if held.any():
                for owner in range(pull.slope.shape[1]):
                    best = max(best, gain(held, pull, owner, config.penalty) - config.price * size)
    return best


@st.composite
def pulls(draw, n_rows: int) -> Pull:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (n_rows, draw(st.integers(1, 2)))
    slope = rng.normal(size=shape)
    return Pull(slope - slope.mean(axis=0), rng.random(shape) * 0.25)  # the base is where it should be


@settings(max_examples=60)
@given(st.data())
def test_best_literal_is_found_with_any_beam(data):
    table = data.draw(binned_tables())
    pull = data.draw(pulls(table.n_rows))
    config = SearchConfig(max_literals=1, beam=data.draw(st.integers(1, 4)), price=0.01)
    found = BodySearch(table, config).best(pull)
    best = listed(table, pull, 1, config)
    assert max([0.0, *(one.score for one in found)]) == pytest.approx(best, rel=1e-4, abs=1e-3)


@settings(max_examples=40)
@given(st.data())
def test_best_pair_is_found_with_a_full_beam(data):
    table = data.draw(binned_tables(most_columns=3, most_atoms=3))
    pull = data.draw(pulls(table.n_rows))
    config = SearchConfig(max_literals=2, beam=None, price=0.01)
    found = BodySearch(table, config).best(pull)
    best = listed(table, pull, 2, config)
    assert max([0.0, *(one.score for one in found)]) == pytest.approx(best, rel=1e-4, abs=1e-3)


@settings(max_examples=40)
@given(st.data())
def test_scores_are_what_bodies_gain_and_known_bodies_compete(data):
    table = data.draw(binned_tables())
    pull = data.draw(pulls(table.n_rows))
    config = SearchConfig(max_literals=2, beam=2, price=0.01)
    search = BodySearch(table, config)
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    known = bodies_of(rng.choice([-1, 0, 1], (1, table.m)).astype(np.int8))
    found = search.best(pull, known=known, count=50)
    for one in found:
        held = table.covers(codes_of([one.body], table.m))[0]
        assert (held == search.cover(one.body)).all()
        expected = gain(held, pull, one.owner, config.penalty) - config.price * len(one.body)
        assert one.score == pytest.approx(expected, rel=1e-3, abs=1e-3)
    if known[0]:
        assert found[0].score >= search.scores([(0, known[0])], pull)[0, known[0]] - 1e-6
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def neighbours(table, body):
    """All bodies that one literal more, less or another makes of a body, and all of one literal."""
    found = {tuple(body), *((literal,) for literal in range(2 * table.m))}
    for kept in combinations(body, len(body) - 1):
        found |= {kept, *(tuple(sorted({*kept, literal})) for literal in range(2 * table.m))}
    return found - {()}


@settings(max_examples=40)
@given(st.data())
def test_best_neighbour_of_a_body_is_found(data):
    table = data.draw(binned_tables(most_columns=3, most_atoms=4))
    pull = data.draw(pulls(table.n_rows))
    config = SearchConfig(max_literals=2, price=0.01)
    body = tuple(sorted(data.draw(st.sets(st.integers(0, 2 * table.m - 1), min_size=1, max_size=2))))
    owner = data.draw(st.integers(0, pull.slope.shape[1] - 1))
    literals, best = table.literals(), -np.inf
    for near in neighbours(table, body):
        held = literals[:, list(near)].all(axis=1)
        if held.any():
            for k in range(pull.slope.shape[1]) if len(near) == 1 else [owner]:
                best = max(best, gain(held, pull, k, config.penalty) - config.price * len(near))
    found = BodySearch(table, config).near(body, owner, pull)
    assert found[0].score >= best - 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_cuts_of_a_longer_body_are_found_among_many(seed):
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, 251, (3, 600)).astype(np.int16)
    low, high = rng.integers(20, 120), rng.integers(130, 230)
    wanted = (bins[0] > low) & (bins[1] <= high)
    table = BinnedTable(
        tuple(BinnedColumn(name, True, 250, own) for name, own in zip("abc", bins, strict=True))
    )
    slope = wanted - wanted.mean()
    found = BodySearch(table, SearchConfig()).best(Pull(slope[:, None], np.full((600, 1), 0.25)))
    assert (table.covers(codes_of([found[0].body], table.m))[0] == wanted).all()


@given(st.integers(0, 1000), st.integers(1, 6))
def test_bodies_and_codes_are_inverse(seed, m):
    codes = np.random.default_rng(seed).integers(-1, 2, (4, m)).astype(np.int8)
    assert (codes_of(bodies_of(codes), m) == codes).all()
