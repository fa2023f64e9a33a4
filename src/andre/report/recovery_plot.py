"""The figure of how often tasks are recovered, by how much noise there is."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING

from andre.errors import AndreError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_recovery"]

# Colours that all eyes can tell apart (after Okabe and Ito); dashes and shapes say the same in print.
_STYLES = (("#0072B2", "-", "o"), ("#D55E00", "--", "s"), ("#009E73", "-.", "^"), ("#CC79A7", ":", "D"))


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
        from matplotlib.figure import Figure  # noqa: PLC0415  # an extra
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
    for place, ((task, found), (colour, dashes, shape)) in enumerate(zip(shares.items(), cycle(_STYLES))):
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
