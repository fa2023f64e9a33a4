"""Trials: identifiability against brute force, and jobs in processes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from benchmarks.paper import Cell
from benchmarks.synthetic import job
from benchmarks.trial import Job, Trial, attempt, identifiable, run_jobs
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.evaluation import CrispSample, program_length
from andre.learning import Config
from andre.samples import SYNTHETIC_TASKS, random_task

_QUICK = {"restarts": 1, "rounds": 1, "steps": 30}


def _edits(codes):
    """Every single edit of a program, written out."""
    for rule in range(len(codes)):
        yield np.delete(codes, rule, axis=0)
        held, free = np.flatnonzero(codes[rule]), np.flatnonzero(codes[rule] == 0)
        for place, value in itertools.product(free, (-1, 1)):  # added
            yield _with(codes, rule, {place: value})
        for old in held:
            yield _with(codes, rule, {old: 0})  # dropped
            yield _with(codes, rule, {old: -codes[rule, old]})  # flipped
            for new, value in itertools.product(free, (-1, 1)):  # replaced
                yield _with(codes, rule, {old: 0, new: value})


def _with(codes, rule, changes):
    changed = codes.copy()
    for place, value in changes.items():
        changed[rule, place] = value
    return changed


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), rows=st.integers(4, 60), noise=st.sampled_from((0.0, 0.1, 0.3)))
def test_identifiable_means_shorter_than_every_single_edit(seed, rows, noise):
    task = random_task(6, 2, seed)
    crisp, truth = CrispSample.of(task.sample(rows, seed, noise)), task.space.encode(task.program)
    length = program_length(crisp, truth)
    expected = all(program_length(crisp, edit) > length + 1e-9 for edit in _edits(truth))
    assert identifiable(crisp, truth) == expected


def test_a_clear_task_is_identifiable_and_an_empty_hint_is_not():
    task = SYNTHETIC_TASKS["R1"]
    truth = task.space.encode(task.program)
    assert identifiable(CrispSample.of(task.sample(500, 0)), truth)
    assert not identifiable(CrispSample.of(task.sample(4, 0)), truth)


def test_a_trial_judges_by_clean_rows():
    trial = attempt(Job(SYNTHETIC_TASKS["R4"], 200, 0.1, Config(seed=3)))
    assert trial.recovered
    assert trial.test == 1.0
    assert trial.train == pytest.approx(0.9, abs=0.01)
    assert trial.excess == pytest.approx(0, abs=1e-6)


def test_processes_give_what_one_gives():
    jobs = [job(Cell("R1", rows), seed, **_QUICK) for rows in (50, 100) for seed in (0, 1)]
    ticks = []

    def outcome(trial: Trial) -> tuple:
        return tuple(value for name, value in vars(trial).items() if name != "seconds")

    alone = run_jobs(jobs, workers=1)
    shared = run_jobs(jobs, workers=2, tick=lambda done, total: ticks.append((done, total)))
    assert list(map(outcome, alone)) == list(map(outcome, shared))
    assert [(trial.rows, trial.seed) for trial in shared] == [(50, 0), (50, 1), (100, 0), (100, 1)]
    assert ticks[-1] == (4, 4)
