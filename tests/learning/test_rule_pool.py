"""The pool of a target: its counts against coverage by joins, and what is saved of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.learning.small_facts import QUICK

from andre.facts import FactBase
from andre.inference import covered_heads
from andre.learning import RulePool, learn
from andre.learning.choose.rejection import KEPT
from andre.logic import Atom, Constant
from andre.runs import load
from andre.samples import RuleSpace


@given(st.integers(1, 9), st.data())
def test_numbers_are_read_back(m, data):
    codes = data.draw(st.lists(st.lists(st.sampled_from((-1, 0, 1)), min_size=m, max_size=m), max_size=5))
    bodies = np.array(codes, dtype=np.int8).reshape(-1, m)
    counts = np.arange(2.0 * len(bodies)).reshape(-1, 2)
    space = RuleSpace.from_names([f"p{place}" for place in range(m)])
    pool = RulePool(space, bodies, counts)
    again = RulePool.from_numbers(space, pool.numbers(), counts.tolist(), identity=False)
    assert (again.bodies == bodies).all()
    assert (again.counts == counts).all()


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
