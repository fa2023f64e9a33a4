"""The figure of the paper's appendix B: how closely operators follow the minimum and the maximum."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from andre.learning import save_figure
from andre.model import Operator, aggregate, conjunctions, disjunctions
from benchmarks.output import Figure, Report, Table, figure_folder
from benchmarks.plots import Curves, plot_operators

__all__ = ["MEMBERSHIPS", "bench_operators", "memberships", "operator_curves"]


_BETA = 20.0
_POINTS = 1001
_NAMES = {"attention": "attention", "product": "product", "geometric": "regularised geometric mean"}

#: The four membership functions, two lines and two bells, as they are written in the report.
MEMBERSHIPS = ("x", "1 - 0.8 x", "exp(-(x - 0.3)² / 0.045)", "0.9 exp(-(x - 0.7)² / 0.08)")


def memberships(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The four membership functions at some places, [4, places].

    Examples
    --------
    >>> memberships(np.array([0.0, 0.3])).round(2)[:2]
    array([[0.  , 0.3 ],
           [1.  , 0.76]])
    """
    return np.stack(
        (x, 1 - 0.8 * x, np.exp(-((x - 0.3) ** 2) / 0.045), 0.9 * np.exp(-((x - 0.7) ** 2) / 0.08))
    )


def operator_curves(x: NDArray[np.float64], beta: float = _BETA) -> tuple[Curves, Curves]:
    """The true minimum and maximum at some places with the operators' values, conjunctions first."""
    values = memberships(x)  # [4, places]

    def curves(operators: dict[str, Operator], exact: NDArray[np.float64], title: str) -> Curves:
        b = torch.as_tensor(values)
        found = {_NAMES[name]: aggregate(op, b, dim=0).numpy() for name, op in operators.items()}
        return Curves(title, x, values, exact, found)

    return (
        curves(conjunctions(beta), values.min(axis=0), "minimum"),
        curves(disjunctions(beta), values.max(axis=0), "maximum"),
    )


def bench_operators(out: Path | None = None) -> Report:
    """Measure the operators' errors; with a folder, draw the figure too."""
    began = time.perf_counter()
    x = np.linspace(0, 1, _POINTS)
    both = operator_curves(x)
    lines, data = [], {}
    for name in _NAMES.values():
        line = [name]
        for curves in both:
            error = np.abs(curves.found[name] - curves.exact)
            line += [f"{error.mean():.4f}", f"{error.max():.4f}"]
            data[f"{curves.title}, {name}"] = {"mean": float(error.mean()), "max": float(error.max())}
        lines.append(tuple(line))
    closest = [min(_NAMES.values(), key=lambda name: data[f"{c.title}, {name}"]["mean"]) for c in both]
    figures: tuple[Figure, ...] = ()
    if out is not None:
        figure = Figure("operators.svg", "Operators against the true minimum and maximum")
        save_figure(plot_operators(both), figure_folder(out) / figure.file)
        figures = (figure,)
    columns = ("operator", "min: mean error", "min: largest", "max: mean error", "max: largest")
    return Report(
        name="operators",
        title="Operators against minimum and maximum",
        protocol=_PROTOCOL,
        settings={"beta": _BETA, "points": _POINTS, "seed": "none needed"},
        seconds=time.perf_counter() - began,
        tables=(Table("Absolute error", columns, tuple(lines)),),
        figures=figures,
        notes=(
            "The paper's figure is a picture without numbers: attention is closest in both. "
            f"Measured closest: {closest[0]} to the minimum, {closest[1]} to the maximum.",
        ),
        data=data,
    )


_PROTOCOL = (
    "Four membership functions of x in [0, 1], two lines and two bells as in appendix B; the paper does "
    f"not print its functions, these are {', '.join(MEMBERSHIPS)}. Every operator joins all four at "
    f"{_POINTS:,} even places, and its error is the distance to the true minimum or maximum."
)
