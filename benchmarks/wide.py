"""Beyond the paper: random programs hidden among many candidates, from noisy labels."""

from __future__ import annotations

import time
from dataclasses import asdict
from statistics import fmean

from andre.learning import Config
from andre.samples import random_task
from benchmarks.output import Report, Table, mark, seed_range, share
from benchmarks.parallel import Tick
from benchmarks.trial import TEST_ROWS, Job, run_jobs

__all__ = ["bench_wide"]


def bench_wide(
    m: int = 50,
    rows: int = 5000,
    noise: float = 0.1,
    seeds: int = 5,
    workers: int = 1,
    tick: Tick | None = None,
) -> Report:
    """Recover a random program of three rules, another for every seed.

    Parameters
    ----------
    m
        Candidate predicates.
    rows
        Training rows.
    noise
        The share of flipped labels.
    seeds
        How many programs and samples: seeds 0, 1, ...
    workers
        Processes to share the work.
    tick
        Called whenever a trial is done.
    """
    began = time.perf_counter()
    tasks = [random_task(m, 3, seed) for seed in range(seeds)]
    jobs = [Job(task, rows, noise, Config.preset("default", seed=seed)) for seed, task in enumerate(tasks)]
    trials = run_jobs(jobs, workers, tick)
    lines = tuple(
        (
            str(trial.seed),
            "`" + " ".join(str(task.program).split("\n")) + "`",
            mark(trial.recovered),
            mark(trial.identifiable),
            mark(trial.alone > 0),
            f"{trial.excess:.1f}",
            f"{trial.train:.3f} / {trial.test:.3f}",
            f"{trial.seconds:.1f}",
        )
        for task, trial in zip(tasks, trials, strict=True)
    )
    columns = (
        "seed",
        "target",
        "recovered",
        "identifiable",
        "by one run",
        "excess nats",
        "train / test",
        "s",
    )
    return Report(
        name="wide",
        title="Wide rule spaces",
        protocol=_PROTOCOL,
        settings={"m": m, "rows": rows, "noise": noise, "seeds": seed_range(seeds), "workers": workers},
        seconds=time.perf_counter() - began,
        tables=(Table(f"Three rules among {m} predicates", columns, lines),),
        notes=(
            f"Recovered {share(sum(t.recovered for t in trials), len(trials))}, "
            f"in {fmean(t.seconds for t in trials):.1f} s each on average.",
        ),
        data={"trials": [asdict(trial) for trial in trials]},
    )


_PROTOCOL = (
    "The paper stops at 10 candidates. Every seed draws a program of three rules of two or three "
    "literals, no atom twice, and uniform valuations whose labels are flipped at the given rate. *Excess "
    "nats* is how much longer the found program's description is than the target's: positive where the "
    f"search missed a better program. *Test* is accuracy on {TEST_ROWS:,} clean rows; *s* is time on one "
    "thread. There is no figure of the paper to compare with."
)
