"""One trial: learn a synthetic task from one sample, and judge what came out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from andre.evaluation import CrispSample, program_length
from andre.learning import Config, fit, neighbours
from andre.logic import Program
from andre.samples import Codes, SyntheticTask
from benchmarks.parallel import Tick, run_all

__all__ = ["TEST_ROWS", "Job", "Tick", "Trial", "attempt", "identifiable", "run_jobs"]


#: Clean rows, drawn apart from the training rows, that judge a program.
TEST_ROWS = 10_000


@dataclass(frozen=True)
class Job:
    """What to learn, from how much, and how; the seed draws the rows and the first weights."""

    task: SyntheticTask
    rows: int
    noise: float
    config: Config


@dataclass(frozen=True)
class Trial:
    """What came out of a job."""

    task: str
    rows: int
    noise: float
    seed: int
    identifiable: bool  #: see `identifiable`
    recovered: bool  #: the program equals the target
    alone: float  #: share of the runs with enough subrules that end at the target by themselves
    excess: float  #: nats by which the description is longer than the target's
    train: float  #: accuracy on the training rows, as labelled
    test: float  #: accuracy on clean rows
    n_runs: int
    seconds: float


def attempt(job: Job) -> Trial:
    """Learn once.

    Examples
    --------
    >>> from andre.samples import SYNTHETIC_TASKS
    >>> trial = attempt(Job(TASKS["four"], 100, 0.0, Config(seed=1)))
    >>> trial.identifiable, trial.recovered, trial.test
    (True, True, 1.0)
    """
    task, seed = job.task, job.config.seed
    sample = task.sample(job.rows, seed, job.noise)
    crisp, truth = CrispSample.of(sample), task.space.encode(task.program)
    began = time.perf_counter()
    # A small sample may have drawn one class only: there is nothing to learn, and no rule is found.
    result = fit(sample, job.config) if crisp.totals.all() else None
    seconds = time.perf_counter() - began
    program, runs = (result.program, result.runs) if result else (Program(), ())
    able = [run for run in runs if run.n_rules >= len(truth)]
    return Trial(
        task=task.name,
        rows=job.rows,
        noise=job.noise,
        seed=seed,
        identifiable=identifiable(crisp, truth),
        recovered=program == task.program,
        alone=sum(run.program == task.program for run in able) / max(1, len(able)),
        excess=program_length(crisp, task.space.encode(program)) - program_length(crisp, truth),
        train=crisp.accuracy(program),
        test=CrispSample.of(task.sample(TEST_ROWS, seed)).accuracy(program),
        n_runs=len(runs),
        seconds=seconds,
    )


def identifiable(sample: CrispSample, truth: Codes) -> bool:
    """Whether the sample tells the true program from all its neighbours.

    It does when no single edit (a literal dropped, added, flipped or replaced,
    a rule dropped) gives an equal or shorter description.
    """
    length = program_length(sample, truth)
    return all(bool((edits.lengths > length + 1e-9).all()) for edits in neighbours(sample, truth))


def run_jobs(jobs: Sequence[Job], workers: int, tick: Tick | None = None) -> list[Trial]:
    """Do all jobs, in so many processes of one thread each; the trials come back in this order."""
    return run_all(attempt, jobs, workers, tick)
