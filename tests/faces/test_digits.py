"""The digits example does what it says, on images it never saw and over several seeds."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from andre.learning import Config, fit

SCRIPT = Path(__file__).parents[2] / "examples" / "digits" / "digits.py"


@pytest.fixture(scope="module")
def digits():
    spec = importlib.util.spec_from_file_location("digits_example", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_nothing_held_out_is_learned_from(digits):
    task = digits.Task.draw(0)
    learned = set(task.anchors.tolist()) | set(task.pairs.flatten().tolist())
    assert not learned & set(task.held_out.tolist())
    assert len(task.anchors) == 10 * digits.ANCHORS
    assert not set(task.anchors.tolist()) & set(task.pairs.flatten().tolist())
    truth = task.concepts.bool().numpy()[task.pairs.numpy()].reshape(len(task.pairs), -1)  # [P, 6]
    holds = [
        np.all(np.where(code == 0, True, truth == (code > 0)), axis=1)
        for code in digits.SPACE.encode(digits.HIDDEN)
    ]
    assert (np.any(holds, axis=0) == task.labels.bool().numpy()).all()


def rises(outcomes, concept):
    return [outcome.after[concept] - outcome.before[concept] for outcome in outcomes]


def test_perception_rises_and_the_rule_is_recovered(digits):
    # Half the layers of the example and fewer steps, for speed; the sweep takes all.
    outcomes = [digits.train(seed, n_layers=3, steps=120) for seed in range(3)]
    for concept in ("even", "large"):
        assert min(rises(outcomes, concept)) > 0
        assert np.mean(rises(outcomes, concept)) > 0.05
        assert np.mean([outcome.after[concept] for outcome in outcomes]) > 0.9
    assert sum(outcome.program == digits.HIDDEN for outcome in outcomes) >= 2
    assert any(digits.HIDDEN in outcome.layers for outcome in outcomes)


@pytest.mark.sweep
def test_over_many_seeds(digits):
    outcomes = [digits.train(seed) for seed in range(100, 112)]
    for concept in ("even", "large"):
        assert min(rises(outcomes, concept)) > 0
        assert np.mean(rises(outcomes, concept)) > 0.08
    assert sum(outcome.program == digits.HIDDEN for outcome in outcomes) >= 11
    assert sum(digits.HIDDEN in outcome.layers for outcome in outcomes) >= 8
    again, unaided = (
        sum(fit(rows, Config.preset(seed=0, safe=False)).program == digits.HIDDEN for rows in samples)
        for samples in zip(*((o.perceived, o.perceived_before) for o in outcomes), strict=True)
    )
    assert again >= 11
    assert again >= unaided


def test_prints_what_it_found(digits, capsys):
    digits.main(0, n_pairs=200, n_layers=2, steps=3)
    printed = capsys.readouterr().out
    for words in (
        "anchors alone",
        "even",
        "large",
        "triple",
        str(digits.HIDDEN),
        "of 2 layers",
        "200 labelled",
        "seed 0",
    ):
        assert words in printed
