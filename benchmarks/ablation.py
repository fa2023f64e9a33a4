"""The paper's ablation: attention against product operators, all else equal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from statistics import fmean

from benchmarks.output import Report, Table, seed_range, share
from benchmarks.paper import ABLATION, SYNTHETIC, Cell
from benchmarks.parallel import Tick
from benchmarks.synthetic import job
from benchmarks.trial import TEST_ROWS, Trial, run_jobs

__all__ = ["CELLS", "OPERATORS", "bench_ablation"]


OPERATORS = ("attention", "product", "geometric")

#: Whether the symbolic half of learning is on, by name.
_PIPELINES = {"gradient only": False, "full": True}

#: The noise-free cells, on which the paper's ablation was made.
CELLS = tuple(cell for cell in SYNTHETIC if not cell.noise)


def bench_ablation(
    cells: Sequence[Cell] = CELLS,
    seeds: int = 2,
    preset: str = "default",
    workers: int = 1,
    tick: Tick | None = None,
) -> Report:
    """Learn every cell with every operator, by gradient alone and with the full pipeline.

    Parameters
    ----------
    cells
        Cells of the synthetic tables.
    seeds
        How many samples a cell: seeds 0, 1, ...
    preset
        The settings that all share.
    workers
        Processes to share the work.
    tick
        Called whenever a trial is done.
    """
    began = time.perf_counter()
    keys = [(pipeline, operator) for pipeline in _PIPELINES for operator in OPERATORS]
    jobs = [
        job(cell, seed, preset, operators=operator, combine=_PIPELINES[pipeline], refine=_PIPELINES[pipeline])
        for pipeline, operator in keys
        for cell in cells
        for seed in range(seeds)
    ]
    trials = run_jobs(jobs, workers, tick)
    size = len(cells) * seeds
    groups = {key: trials[place * size : (place + 1) * size] for place, key in enumerate(keys)}
    return Report(
        name="ablation" if preset == "default" else f"ablation-{preset}",
        title="Ablation: attention against product operators"
        + ("" if preset == "default" else f", preset {preset}"),
        protocol=_PROTOCOL,
        settings={
            "preset": preset,
            "seeds": seed_range(seeds),
            "cells": len(cells),
            "workers": workers,
        },
        seconds=time.perf_counter() - began,
        tables=(_overall(groups), *(_by_cell(pipeline, groups, cells, seeds) for pipeline in _PIPELINES)),
        data={
            "trials": [
                {"pipeline": pipeline, "operators": operator, **asdict(trial)}
                for (pipeline, operator), group in groups.items()
                for trial in group
            ]
        },
    )


def _overall(groups: dict[tuple[str, str], list[Trial]]) -> Table:
    rows = []
    for (pipeline, operator), trials in groups.items():
        paper = ABLATION.get(operator)
        rows.append(
            (
                operator,
                pipeline,
                "–" if paper is None else f"{paper:.2f}",
                f"{fmean(trial.test for trial in trials):.3f}",
                share(sum(trial.recovered for trial in trials), len(trials)),
                f"{fmean(trial.alone for trial in trials):.0%}",
                f"{fmean(trial.seconds for trial in trials):.2f}",
            )
        )
    columns = ("operators", "pipeline", "paper test", "test", "recovered", "runs at the target", "s")
    return Table("All cells", columns, tuple(rows))


def _by_cell(
    pipeline: str, groups: dict[tuple[str, str], list[Trial]], cells: Sequence[Cell], seeds: int
) -> Table:
    rows = []
    for place, cell in enumerate(cells):
        row = [cell.task, str(cell.rows)]
        for operator in OPERATORS:
            trials = groups[pipeline, operator][place * seeds : (place + 1) * seeds]
            found = share(sum(trial.recovered for trial in trials), seeds)
            row.append(f"{fmean(trial.test for trial in trials):.3f} ({found})")
        rows.append(tuple(row))
    return Table(f"Test accuracy (recovered), {pipeline}", ("task", "rows", *OPERATORS), tuple(rows))


_PROTOCOL = (
    "Noise-free cells of the synthetic table, the same settings for all operators. *Gradient only* takes "
    "the best single run by description length, without combining rules across runs and without "
    "refinement; *full* is the whole pipeline. *Test* is the mean accuracy of the crisp program on "
    f"{TEST_ROWS:,} clean rows. *Runs at the target* is the share of single runs with enough subrules "
    "that end at the target program by themselves. The paper compares its network with and without "
    "attention; its product variant is not specified further."
)
