"""The figure of operators against the true minimum and maximum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Curves", "plot_operators"]

Floats = NDArray[np.float64]

_STYLES = ("-", "--", "-.", ":")


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
    # Here, because matplotlib is an extra; its Figure needs no display.
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(5 * len(panels), 3.6), layout="constrained")
    for place, panel in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), place + 1)
        for line in panel.inputs:
            axes.plot(panel.x, line, color="0.85", linewidth=1)
        axes.plot(panel.x, panel.exact, color="black", linewidth=2.5, alpha=0.5, label=f"true {panel.title}")
        for number, (name, line) in enumerate(panel.found.items()):
            axes.plot(panel.x, line, f"C{number}", linestyle=_STYLES[number % len(_STYLES)], label=name)
        axes.set(title=panel.title, xlabel="x", ylim=(-0.02, 1.02), xlim=(0, 1))
        axes.legend(fontsize="small")
    return figure
