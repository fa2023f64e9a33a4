"""The paper's operators: how closely they follow minimum and maximum, and what attention is worth."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from statistics import fmean

import numpy as np
import torch

from andre.arrays import Floats
from andre.errors import ConfigError
from andre.model import Operator, aggregate, conjunctions, disjunctions
from benchmarks import BENCHMARKS, Tick, silent
from benchmarks.figures import Curves, plot_operators
from benchmarks.paper import ABLATION, SYNTHETIC, Cell
from benchmarks.processes import run_all
from benchmarks.report import Figure, Report, Table, seed_range, share
from benchmarks.synthetic import TEST_ROWS, Outcome, attempt, parse_cells, trial_of

_BETA = 20.0
_POINTS = 1001
#: What operators are called here, where that is not the name of the setting.
_NAMES = {"geometric": "regularised geometric mean"}

#: The four membership functions, two lines and two bells, as they are written in the report.
MEMBERSHIPS = ("x", "1 - 0.8 x", "exp(-(x - 0.3)² / 0.045)", "0.9 exp(-(x - 0.7)² / 0.08)")


def memberships(x: Floats) -> Floats:
    """The four membership functions at the given x, [4, places].

    Examples
    --------
    >>> memberships(np.array([0.0, 0.3])).round(2)[:2]
    array([[0.  , 0.3 ],
           [1.  , 0.76]])
    """
    return np.stack(
        (x, 1 - 0.8 * x, np.exp(-((x - 0.3) ** 2) / 0.045), 0.9 * np.exp(-((x - 0.7) ** 2) / 0.08))
    )


def operator_curves(x: Floats, beta: float = _BETA) -> tuple[Curves, Curves]:
    """The minimum with all conjunctions, and the maximum with all disjunctions, at the given x."""
    values = memberships(x)  # [4, places]

    def curves(operators: dict[str, Operator], exact: Floats, title: str) -> Curves:
        b = torch.as_tensor(values)
        found = {_NAMES.get(name, name): aggregate(op, b, dim=0).numpy() for name, op in operators.items()}
        return Curves(title, x, values, exact, found)

    return (
        curves(conjunctions(beta), values.min(axis=0), "minimum"),
        curves(disjunctions(beta), values.max(axis=0), "maximum"),
    )


def bench_operators(tick: Tick = silent) -> Report:
    """Measure how far operators are from the true minimum and maximum."""
    began = time.perf_counter()
    x = np.linspace(0, 1, _POINTS)
    both = operator_curves(x)
    lines, data = [], {}
    for name in both[0].found:
        line = [name]
        for curves in both:
            error = np.abs(curves.found[name] - curves.exact)
            line += [f"{error.mean():.4f}", f"{error.max():.4f}"]
            data[f"{curves.title}, {name}"] = {"mean": float(error.mean()), "max": float(error.max())}
        lines.append(tuple(line))
    closest = [min(c.found, key=lambda name: data[f"{c.title}, {name}"]["mean"]) for c in both]
    tick(1, 1)
    columns = ("operator", "min: mean error", "min: largest", "max: mean error", "max: largest")
    return Report(
        name="operators",
        title=BENCHMARKS["operators"].title,
        protocol=_OPERATORS_PROTOCOL,
        settings={"beta": _BETA, "points": _POINTS, "seed": "none needed"},
        seconds=time.perf_counter() - began,
        tables=(Table("Absolute error", columns, tuple(lines)),),
        figures=(
            Figure(
                "operators.svg",
                "Operators against the true minimum and maximum",
                partial(plot_operators, both),
            ),
        ),
        notes=(
            "The paper's figure is a picture without numbers: attention is closest in both. "
            f"Measured closest: {closest[0]} to the minimum, {closest[1]} to the maximum.",
        ),
        data=data,
    )


_OPERATORS_PROTOCOL = (
    "Four membership functions of x in [0, 1], two lines and two bells as in appendix B; the paper does "
    f"not print its functions, these are {', '.join(MEMBERSHIPS)}. Every operator joins all four at "
    f"{_POINTS:,} even places, and its error is the distance to the true minimum or maximum."
)


OPERATORS = tuple(conjunctions(_BETA))

#: The settings of each pipeline, by preset: whether the symbolic half of learning is on. The paper has none.
_PIPELINES: dict[str, dict[str, dict[str, bool]]] = {
    "default": {
        "gradient only": {"combine": False, "refine": False},
        "full": {"combine": True, "refine": True},
    },
    "paper": {"preset paper": {}},
}

#: The operators that are compared, by preset: the paper has no others than these two.
_COMPARED = {"default": OPERATORS, "paper": tuple(ABLATION)}

#: The noise-free cells, on which the paper's ablation was made.
CELLS = tuple(cell for cell in SYNTHETIC if not cell.noise)


def bench_ablation(
    cells: str | None = None,
    seeds: int = 2,
    preset: str = "default",
    device: str = "cpu",
    workers: int = 1,
    tick: Tick = silent,
) -> Report:
    """Learn every cell with every operator, by gradient alone and with the full pipeline."""
    if preset not in _PIPELINES:
        raise ConfigError(f"there is no preset {preset!r}: choose one of {', '.join(_PIPELINES)}")
    pipelines, chosen = _PIPELINES[preset], CELLS if cells is None else parse_cells(cells)
    began = time.perf_counter()
    keys = [(pipeline, operator) for pipeline in pipelines for operator in _COMPARED[preset]]
    trials = [
        trial_of(cell, seed, preset, operators=operator, device=device, **pipelines[pipeline])
        for pipeline, operator in keys
        for cell in chosen
        for seed in range(seeds)
    ]
    outcomes = run_all(attempt, trials, workers, tick)
    size = len(chosen) * seeds
    groups = {key: outcomes[place * size : (place + 1) * size] for place, key in enumerate(keys)}
    name = "ablation" if preset == "default" else f"ablation-{preset}"
    return Report(
        name=name,
        title=BENCHMARKS[name].title,
        protocol=_ABLATION_PROTOCOL[preset],
        settings={
            "preset": preset,
            "seeds": seed_range(seeds),
            "cells": len(chosen),
            "device": device,
            "workers": workers,
        },
        seconds=time.perf_counter() - began,
        tables=(_overall(groups), *(_by_cell(pipeline, groups, chosen, seeds) for pipeline in pipelines)),
        data={
            "trials": [
                {"pipeline": pipeline, "operators": operator, **asdict(outcome)}
                for (pipeline, operator), group in groups.items()
                for outcome in group
            ]
        },
    )


def _overall(groups: dict[tuple[str, str], list[Outcome]]) -> Table:
    rows = []
    for (pipeline, operator), outcomes in groups.items():
        paper = ABLATION.get(operator)
        rows.append(
            (
                operator,
                pipeline,
                "–" if paper is None else f"{paper:.2f}",
                f"{fmean(outcome.test for outcome in outcomes):.3f}",
                share(sum(outcome.recovered for outcome in outcomes), len(outcomes)),
                f"{fmean(outcome.alone for outcome in outcomes):.0%}",
                f"{fmean(outcome.seconds for outcome in outcomes):.2f}",
            )
        )
    columns = ("operators", "pipeline", "paper test", "test", "recovered", "runs at the target", "s")
    return Table("All cells", columns, tuple(rows))


def _by_cell(
    pipeline: str, groups: dict[tuple[str, str], list[Outcome]], cells: Sequence[Cell], seeds: int
) -> Table:
    rows, operators = [], [operator for own, operator in groups if own == pipeline]
    for place, cell in enumerate(cells):
        row = [cell.task, str(cell.rows)]
        for operator in operators:
            outcomes = groups[pipeline, operator][place * seeds : (place + 1) * seeds]
            found = share(sum(outcome.recovered for outcome in outcomes), seeds)
            row.append(f"{fmean(outcome.test for outcome in outcomes):.3f} ({found})")
        rows.append(tuple(row))
    return Table(f"Test accuracy (recovered), {pipeline}", ("task", "rows", *operators), tuple(rows))


_JUDGED = (
    f"*Test* is the mean accuracy of the crisp program on {TEST_ROWS:,} clean rows. *Runs at the target* is "
    "the share of single runs with enough subrules that end at the target program by themselves. The paper "
    "compares its network with and without attention; its product variant is not specified further."
)
_ABLATION_PROTOCOL = {
    "default": (
        "Noise-free cells of the synthetic table, the same settings for all operators. *Gradient only* takes "
        "the best single run by description length, without combining rules across runs and without "
        f"refinement; *full* is the whole pipeline. {_JUDGED}"
    ),
    "paper": (
        "The same cells by preset `paper`, with other operators and nothing else changed: of the fewest "
        "subrules whose program is accurate enough, the most accurate run's. Fewer seeds than above, as each "
        f"cell takes a hundred times as long. {_JUDGED}"
    ),
}
