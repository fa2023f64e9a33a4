"""The figure of operators against the true minimum and maximum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from andre.errors import AndreError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Curves", "plot_operators"]

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
        from matplotlib.figure import Figure  # noqa: PLC0415  # an extra
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
