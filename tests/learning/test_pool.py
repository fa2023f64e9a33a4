"""The pool of a target: what one rule more covers, its counts against joins, and what is saved of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learning.small_facts import QUICK

from andre.evaluation import CrispSample, union
from andre.facts import FactBase
from andre.inference import covered_heads
from andre.learning import learn
from andre.learning.choose.pool import KEPT, RuleCoverage
from andre.logic import Atom, Constant
from andre.runs import load
from andre.samples import Sample


@settings(max_examples=60)
@given(st.integers(0, 2**16), st.integers(0, 12), st.integers(1, 30))
def test_beside_counts_the_union(seed: int, rules: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    labels, weights = rng.integers(0, 2, rows), rng.integers(1, 4, rows)
    crisp = CrispSample.of(Sample.from_arrays(rng.integers(0, 2, (rows, 4)), labels, weights))
    pool = RuleCoverage(crisp, rng.integers(-1, 2, (rules, 4)).astype(np.int8))
    rests = np.stack([union(crisp.extents(rng.integers(-1, 2, (2, 4)).astype(np.int8))) for _ in range(3)])
    wanted = [crisp.counts(pool.covers | rest) for rest in rests]
    assert np.array_equal(pool.beside(rests), wanted)
    assert np.array_equal(pool.own, crisp.body_counts(pool.bodies))
    assert np.array_equal(pool.sizes, (pool.bodies != 0).sum(axis=1))


@pytest.fixture(scope="module")
def theory():
    """Likes follows knows, but for two pairs."""
    pairs = [(f"x{i}", f"y{i % 5}") for i in range(15)]
    rows = [Atom("knows", (Constant(x), Constant(y))) for x, y in pairs]
    rows += [Atom("likes", (Constant(x), Constant(y))) for x, y in pairs[2:]]
    facts = FactBase.from_facts(rows)
    return facts, learn(facts, "likes/2", mode="complete", **QUICK)


def test_what_is_chosen_is_in_the_pool(theory):
    _, found = theory
    (definition,) = found
    assert 1 <= len(definition.pool.rules) <= len(definition.pool) <= KEPT
    assert set(definition.program) <= set(definition.pool.rules)


def test_the_right_ones_are_counted_as_joins_count_them(theory):
    facts, found = theory
    relation = facts.relations["likes", 2]
    stated = {tuple(row) for row in relation.codes.tolist()}
    for rule in found["likes/2"].pool.rules:
        covered = {tuple(row) for row in covered_heads(rule, facts).tolist()}
        assert rule.evidence[0].n_r == len(covered & stated), str(rule)


def test_it_is_saved(theory, tmp_path):
    _, found = theory
    found.save(tmp_path)
    kept = load(tmp_path)["likes/2"].pool.rules
    assert list(kept) == list(found["likes/2"].pool.rules)
    assert [rule.evidence for rule in kept] == [rule.evidence for rule in found["likes/2"].pool.rules]
