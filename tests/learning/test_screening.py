"""Wide spaces: runs see a part, the choice is made on the whole."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from andre.evaluation import CrispSample
from andre.learning import Config, Guide, best_short_bodies
from andre.learning.proposing import Effort, promising_columns, propose_bodies
from andre.learning.relational.from_examples import fit_screened, is_wide
from andre.samples import Form, Membership, RuleSpace, Sample


def _wide(seed, m=90, rows=3000):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 2, (rows, m))
    return Sample.from_arrays(table, table[:, 3] & table[:, 40] & (1 - table[:, 70]))


def test_a_rule_of_three_literals_is_found_among_many_candidates():
    sample = _wide(0)
    assert is_wide(sample)
    crisp, form = CrispSample.of(sample), Form(sample.space)
    config = Config.preset("default", steps=60)
    extra = best_short_bodies(crisp, form, config.selection)
    for bodies in (extra, extra[:0]):
        result = fit_screened(sample, crisp, config, form, bodies)
        assert [str(rule) for rule in result.program] == ["h :- b4, b41, \\+ b71."]
        assert result.space == sample.space
        assert result.proposed.shape[1] == result.weights.shape[1] == sample.space.m
        assert result.scores[0].accuracy == 1


def test_runs_propose_nothing_of_what_they_do_not_see():
    table = np.random.default_rng(1).integers(0, 2, (400, 12))
    sample = Sample.from_arrays(table, table[:, 3] | (table[:, 4] & table[:, 6]))
    shown = np.arange(12) % 4 != 1
    known = np.zeros((2, 12), dtype=np.int8)
    known[0, 3], known[1, 5] = 1, 1  # the second cannot be said with what is shown
    config, effort = Config.preset("default", steps=20, time_limit=600), Effort(200, rounds=1)
    result = propose_bodies(sample, config, effort, Guide(fixed=known), columns=shown)
    assert result.space == sample.space
    assert len(result.proposed)
    assert not result.proposed[:, ~shown].any()
    assert result.program.rules[0] == sample.space.rule(known[0])
    assert sample.space.rule(known[1]) not in result.program
    assert result.score().rows < sample.total
    assert result.config.training.rounds == 1
    assert not result.config.selection.combine


@pytest.mark.parametrize("seed", range(3))
def test_runs_see_both_classes_where_every_bag_is_larger_than_they_may_see(seed):
    """They did not see any example then, and proposed nothing."""
    rng = np.random.default_rng(seed)
    table = np.indices((2,) * 7).reshape(7, -1).T.astype(float)  # [128, 7]
    good = np.flatnonzero((table[:, 0] == 1) & (table[:, 4] == 0))
    bags = [
        np.sort(rng.permutation(good if label else np.setdiff1d(np.arange(128), good))[:30])
        for label in (True, False) * 40
    ]
    labels = np.arange(80) % 2 == 0
    members = Membership(np.arange(0, 80 * 30 + 1, 30), np.concatenate(bags))
    space = RuleSpace.from_names([f"b{place}" for place in range(7)])
    sample = Sample(space, table, labels.astype(float), (~labels).astype(float), members)
    config = Config.preset("default", steps=80, seed=seed)
    result = propose_bodies(sample, config, Effort(rows=50, rounds=1))
    body = np.array([1, 0, 0, 0, -1, 0, 0], dtype=np.int8)
    assert (result.proposed == body).all(axis=1).any()
    assert 0 < result.score().rows < 80


def test_an_effort_is_a_share_of_the_usual_settings():
    usual = Config.preset("default", restarts=5, steps=20, rounds=3, time_limit=60)
    half = Effort(100, 2, restarts=Fraction(1, 2), steps=Fraction(2, 3), time=Fraction(1, 3)).of(usual)
    assert (half.training.restarts, half.training.steps, half.training.rounds) == (2, 13, 2)
    assert half.time_limit == pytest.approx(20)
    least = Effort(100, 9, restarts=Fraction(1, 9), steps=Fraction(1, 99)).of(usual)
    assert (least.training.restarts, least.training.steps, least.training.rounds) == (1, 1, 3)


def test_promising_columns_are_few_and_hold_what_is_required():
    space = RuleSpace.from_names([f"b{i}" for i in range(200)])
    bodies = np.eye(200, dtype=np.int8)
    kept = promising_columns(bodies, Form(space, require=((150, 199),)))
    assert kept[[150, 199]].all()
    assert kept[:50].all()
    assert kept.sum() == 64


def test_small_samples_are_not_screened():
    assert not is_wide(Sample.from_arrays([[1, 0], [0, 1]], [1, 0]))
