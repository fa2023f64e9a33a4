"""The figure of how often candidates of a confidence turn out to be facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from andre.errors import AndreError
from andre.learning.completion.calibration import ReliabilityBin

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_reliability"]

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
        from matplotlib.figure import Figure  # noqa: PLC0415  # an extra
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
