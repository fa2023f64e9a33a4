"""Wide spaces: runs see a part, the choice is made on the whole."""

from __future__ import annotations

import numpy as np

from andre.evaluation import CrispSample
from andre.learning import Config, Guide, best_short_bodies
from andre.learning.modes import fit_screened, is_wide
from andre.learning.proposing import promising_columns
from andre.samples import Form, RuleSpace, Sample


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
    for guide in (Guide(form, extra), Guide(form)):
        result = fit_screened(sample, crisp, config, guide)
        assert [str(rule) for rule in result.program] == ["h :- b4, b41, \\+ b71."]
        assert result.space == sample.space
        assert result.proposed.shape[1] == result.weights.shape[1] == sample.space.m
        assert result.scores[0].accuracy == 1


def test_promising_columns_are_few_and_hold_what_is_required():
    space = RuleSpace.from_names([f"b{i}" for i in range(200)])
    bodies = np.eye(200, dtype=np.int8)
    kept = promising_columns(bodies, Form(space, require=((150, 199),)))
    assert kept[[150, 199]].all()
    assert kept[:50].all()
    assert kept.sum() == 64


def test_small_samples_are_not_screened():
    assert not is_wide(Sample.from_arrays([[1, 0], [0, 1]], [1, 0]))
