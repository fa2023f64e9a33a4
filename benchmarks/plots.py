"""The figure of operators against the true minimum and maximum.

The figure of how often tasks are recovered, by how much noise there is.

The figure of how often candidates of a confidence turn out to be facts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from andre.completion import ReliabilityBin
from andre.errors import AndreError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Curves", "plot_operators", "plot_recovery", "plot_reliability"]


Floats = NDArray[np.float64]

# Colours that all eyes can tell apart (after Okabe and Ito); dashes say the same in print.
_STYLES = (("#0072B2", "-"), ("#D55E00", "--"), ("#009E73", "-."), ("#CC79A7", ":"))


@dataclass(frozen=True, eq=False)
class Curves:
    """What one panel shows."""

    title: str
    x: Floats  #: [places]
    inputs: Floats  #: what the operators join, [functions, places]
    exact: Floats  #: the true value, [places]
    found: Mapping[str, Floats]  #: the operators' values by name, [places] each


def plot_operators(panels: Sequence[Curves]) -> Figure:
    """Draw one panel for every set of curves, side by side.

    Examples
    --------
    >>> x = np.linspace(0, 1, 3)
    >>> both = np.stack((x, 1 - x))
    >>> panel = Curves("minimum", x, both, both.min(axis=0), {"product": both.prod(axis=0)})
    >>> figure = plot_operators([panel])
    >>> [axes.get_title() for axes in figure.axes]
    ['minimum']
    """
    try:
        from matplotlib.figure import Figure  # an extra
    except ModuleNotFoundError:
        raise AndreError(
            "figures need matplotlib, which is not installed: pip install 'andre[plots]'"
        ) from None
    figure = Figure(figsize=(5 * len(panels), 3.6), layout="constrained")
    for place, panel in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), place + 1)
        for line in panel.inputs:
            axes.plot(panel.x, line, color="0.85", linewidth=1)
        axes.plot(panel.x, panel.exact, color="black", linewidth=2.5, alpha=0.5, label="true value")
        for (name, line), (colour, dashes) in zip(panel.found.items(), cycle(_STYLES)):
            axes.plot(panel.x, line, color=colour, linestyle=dashes, label=name)
        axes.set(title=panel.title, xlabel="x", ylim=(-0.02, 1.02), xlim=(0, 1))
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return figure


# Colours that all eyes can tell apart (after Okabe and Ito); dashes and shapes say the same in print.
_RECOVERY_PLOT_STYLES = (
    ("#0072B2", "-", "o"),
    ("#D55E00", "--", "s"),
    ("#009E73", "-.", "^"),
    ("#CC79A7", ":", "D"),
)


def plot_recovery(shares: Mapping[str, Mapping[str, float]]) -> Figure:
    """Draw a line for every task over the conditions that are percentages, and bars over the others.

    Parameters
    ----------
    shares
        From 0 to 1, by task and condition; all tasks have the same conditions.

    Examples
    --------
    >>> figure = plot_recovery({"odd": {"0%": 1.0, "20%": 0.9, "uncertain target": 1.0}})
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['labels turned over', '']
    """
    try:
        from matplotlib.figure import Figure  # an extra
    except ModuleNotFoundError:
        raise AndreError(
            "figures need matplotlib, which is not installed: pip install 'andre[plots]'"
        ) from None
    conditions = list(next(iter(shares.values())))
    flipped = [name for name in conditions if name.endswith("%")]
    others = [name for name in conditions if name not in flipped]
    figure = Figure(figsize=(8.4, 3.4), layout="constrained")
    lines, bars = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    width = 0.8 / len(shares)
    for place, ((task, found), (colour, dashes, shape)) in enumerate(
        zip(shares.items(), cycle(_RECOVERY_PLOT_STYLES))
    ):
        x = [float(name.rstrip("%")) for name in flipped]
        y = [100 * found[name] for name in flipped]
        lines.plot(x, y, color=colour, linestyle=dashes, marker=shape, label=task, clip_on=False, zorder=3)
        where = [at + (place - (len(shares) - 1) / 2) * width for at in range(len(others))]
        bars.bar(where, [100 * found[name] for name in others], 0.9 * width, color=colour)
    lines.set(xlabel="labels turned over", ylabel="seeds recovered", ylim=(0, 103))
    lines.set_xticks(x, flipped)
    lines.set_yticks(range(0, 101, 25), [f"{share}%" for share in range(0, 101, 25)])
    bars.set_xticks(range(len(others)), others)
    for axes in (lines, bars):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="0.9", linewidth=0.8)
        axes.set_axisbelow(True)
    figure.legend(*lines.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return figure


# Colours that all eyes can tell apart (after Okabe and Ito); dashes and shapes say the same in print.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES = (("-", "o"), ("--", "s"), ("-.", "^"), (":", "D"))


def plot_reliability(curves: Mapping[str, Sequence[ReliabilityBin]]) -> Figure:
    """Draw the share of facts over the mean confidence of every bin, one line for each name.

    Parameters
    ----------
    curves
        The bins of a `Reliability` by name.

    Examples
    --------
    >>> figure = plot_reliability({"nations": [ReliabilityBin(0.2, 0.1, 40), ReliabilityBin(0.8, 0.7, 9)]})
    >>> figure.axes[0].get_xlabel()
    'confidence of the best rule'
    """
    try:
        from matplotlib.figure import Figure  # an extra
    except ModuleNotFoundError:
        raise AndreError(
            "figures need matplotlib, which is not installed: pip install 'andre[plots]'"
        ) from None
    figure = Figure(figsize=(5.6, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.plot((0, 1), (0, 1), color="0.8", linewidth=0.8, zorder=1)
    styles = zip(cycle(_COLOURS), cycle(_DASHES), strict=False)
    for (name, bins), (colour, (dashes, shape)) in zip(curves.items(), styles, strict=False):
        x, y = [part.confidence for part in bins], [part.share for part in bins]
        axes.plot(x, y, color=colour, linestyle=dashes, marker=shape, label=name, clip_on=False, zorder=3)
    axes.set(
        xlabel="confidence of the best rule", ylabel="share of validation facts", xlim=(0, 1), ylim=(0, 1)
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    if curves:
        figure.legend(loc="outside right upper", frameon=False)
    return figure
