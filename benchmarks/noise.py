"""Four classical tasks from facts made worse: labels turned over, and certainty lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

from andre.learning import save_figure
from benchmarks.induction import Condition, Lesson, Outcome, attempt
from benchmarks.output import Figure, Report, Table, figure_folder, seed_range, share
from benchmarks.parallel import Tick, run_all
from benchmarks.plots import plot_recovery

__all__ = ["CONDITIONS", "NOISY_TASKS", "bench_noise"]


#: Outcomes by task and condition.
Cells: TypeAlias = dict[str, dict[str, list[Outcome]]]

NOISY_TASKS = ("lessThan", "grandparent", "relatedness", "connectedness")

CONDITIONS = (
    *(Condition(flipped) for flipped in (0.0, 0.05, 0.1, 0.2, 0.3)),
    Condition(uncertain="target"),
    Condition(uncertain="everything"),
)


def bench_noise(
    tasks: Sequence[str] = NOISY_TASKS,
    seeds: int = 2,
    workers: int = 1,
    tick: Tick | None = None,
    *,
    conditions: Sequence[Condition] = CONDITIONS,
    out: Path | None = None,
) -> Report:
    """Learn every task under every condition from every seed; with a folder, draw the figure too.

    Parameters
    ----------
    tasks
        Which.
    seeds
        How many fact bases a task: seeds 0, 1, ...
    workers
        Processes to share the work.
    tick
        Called whenever a trial is done.
    conditions
        How facts are made worse.
    out
        Where the figure goes.
    """
    began = time.perf_counter()
    # The slow ones first: uncertain facts have as many distinct rows as there are groundings.
    lessons = [Lesson(task, seed, c) for c in reversed(conditions) for task in tasks for seed in range(seeds)]
    outcomes = run_all(attempt, lessons, workers, tick)
    cells: Cells = {task: {str(condition): [] for condition in conditions} for task in tasks}
    for outcome in outcomes:
        cells[outcome.task][outcome.condition].append(outcome)
    figures: tuple[Figure, ...] = ()
    if out is not None:
        figure = Figure("noise.svg", "Seeds recovered under noise, by task")
        shares = {
            task: {name: fmean(o.recovered for o in cell) for name, cell in line.items()}
            for task, line in cells.items()
        }
        save_figure(plot_recovery(shares), figure_folder(out) / figure.file)
        figures = (figure,)
    return Report(
        name="noise",
        title="Classical tasks under noise",
        protocol=_PROTOCOL,
        settings={"seeds": seed_range(seeds), "tasks": len(tasks), "workers": workers},
        seconds=time.perf_counter() - began,
        tables=(
            _table("Seeds recovered", cells, lambda cell: share(sum(o.recovered for o in cell), len(cell))),
            _table(
                "Mean accuracy on the clean held-out domain",
                cells,
                lambda cell: f"{fmean(o.accuracy for o in cell):.4f}",
            ),
            _table(
                "Mean seconds of learning, on one thread",
                cells,
                lambda cell: f"{fmean(o.seconds for o in cell):.1f}",
            ),
        ),
        figures=figures,
        notes=_notes(outcomes),
        data={"trials": [asdict(outcome) for outcome in outcomes]},
    )


def _table(title: str, cells: Cells, say: Callable[[Sequence[Outcome]], str]) -> Table:
    """What there is to say of every task under every condition."""
    names = next(iter(cells.values()))
    return Table(
        title, ("task", *names), tuple((task, *map(say, line.values())) for task, line in cells.items())
    )


def _notes(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    missed = [outcome for outcome in outcomes if not outcome.recovered]
    overlooked = sum(outcome.excess > 1e-6 for outcome in missed)
    return (
        f"Not recovered: {share(len(missed), len(outcomes))}. In {overlooked} of these a correct program "
        "describes the labels shorter than the one found, so the search overlooked it; in the others the "
        "labels themselves speak against it.",
    )


_PROTOCOL = (
    "As for the ten tasks, but the facts to learn from are made worse; the held-out domain stays clean. "
    "*Per cent* is the share of the target's labels, true and false alike, that are turned over; rules that "
    "read the target read it as it is then. *Uncertain target* gives every atom of the target a "
    "probability, drawn from N(0.75, 0.15) where it is true and from N(0.25, 0.15) where it is false and "
    "clipped to [0, 1], so that one in twenty lies on the wrong side of one half; *uncertain everything* "
    "does so to the background as well. The paper has no figures for these tasks under noise."
)
