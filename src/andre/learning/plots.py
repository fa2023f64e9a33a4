"""Curves of training and what the weights came to, as numbers and as figures; figures need matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from andre.arrays import Floats
from andre.errors import AndreError, DataError
from andre.files import write_whole
from andre.learning.callbacks import Floats32, Look
from andre.learning.results import Result
from andre.samples import RuleSpace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The run whose own program is the best, or the mean of all runs.
Which: TypeAlias = Literal["best", "mean"]


@dataclass(frozen=True, eq=False)
class Curves:
    """Losses and accuracies over the steps of training."""

    steps: tuple[int, ...]
    losses: Mapping[str, Floats32]  #: each weighted as it was in training, [looks]
    accuracy: Mapping[str, Floats32]  #: soft accuracy by split, [looks]

    @property
    def total(self) -> Floats32:
        """The sum of the losses, [looks]."""
        return np.asarray(np.sum(list(self.losses.values()), axis=0))


def read_curves(result: Result, runs: Which = "best") -> Curves:
    """The curves of the best run, or the mean over all runs that still moved.

    Raises
    ------
    DataError
        Where learning ended before anything was noted.

    Examples
    --------
    >>> from andre.learning import Config, fit
    >>> from andre.samples import SYNTHETIC_TASKS
    >>> config = Config.preset(restarts=1, rounds=1, steps=30)
    >>> curves = read_curves(fit(SYNTHETIC_TASKS["four"].sample(100, seed=0), config))
    >>> curves.steps, list(curves.accuracy)
    ((15, 30), ['train'])
    """
    if not (result.history or result.runs):
        raise DataError(
            "there are no runs to plot: search found a program without mistakes; always_run=true makes some"
        )
    if not result.history:
        raise DataError("the result has no history to plot: it ended before the first look at its runs")
    if runs == "best":
        round_, place = best_run(result)
        picked = [(look.step, _figures(look)[:, place]) for look in result.history if look.round == round_]
        picked = [(step, figures) for step, figures in picked if not np.isnan(figures[0])]
    else:
        together: dict[int, list[Floats32]] = {}
        for look in result.history:
            together.setdefault(look.step, []).append(_figures(look))
        picked = [(step, _mean(np.concatenate(together[step], axis=1))) for step in sorted(together)]
    if not picked:
        raise DataError("the best run ended before the first look at it, so there is nothing to plot")
    from andre.model import LOSSES  # noqa: PLC0415  (few results are drawn)

    *lines, train, validation = np.stack([figures for _, figures in picked], axis=1)  # [looks] each
    losses = {loss.name: line for loss, line in zip(LOSSES, lines, strict=True)}
    accuracy = {"train": train}
    if not np.isnan(validation).all():
        accuracy["validation"] = validation
    return Curves(tuple(step for step, _ in picked), losses, accuracy)


def best_run(result: Result) -> tuple[int, int]:
    """The round of the run whose program is the best, and its place in the round."""
    best = min(result.runs, key=lambda run: (round(run.length, 9), run.program.n_literals))
    return best.round, [run for run in result.runs if run.round == best.round].index(best)


def readings(weights: NDArray[np.floating], most: int) -> tuple[Floats, NDArray[np.intp]]:
    """How likely every subrule includes, negates or leaves out every atom, and which atoms to show.

    Of many atoms, those are worth showing that some subrule is least sure to leave out.

    Parameters
    ----------
    weights
        The network's weights, [n, m, 3].
    most
        How many atoms to show at the most.

    Returns
    -------
    The probabilities, [n, m, 3], and the atoms' places in column order.

    Examples
    --------
    >>> p, shown = readings(np.array([[[0.0, 0, 9], [9, 0, 0], [0, 0, 9]]]), most=1)
    >>> p.shape, shown
    ((1, 3, 3), array([1]))
    """
    p: Floats = scipy.special.softmax(np.asarray(weights, dtype=np.float64), axis=2)
    return p, np.sort(np.argsort(p[:, :, 2].min(axis=0), kind="stable")[:most])


def _figures(look: Look) -> Floats32:
    """All that was noted at a look, [losses + 2, K]."""
    return np.concatenate((look.losses, look.train[None], look.validation[None]))


def _mean(figures: Floats32) -> Floats32:
    """The mean over the runs that were still moving, [losses + 2]; NaN where nothing was noted."""
    mean = np.ma.masked_invalid(figures).mean(axis=1).filled(np.nan)
    return np.asarray(mean, dtype=np.float32)


# Colours that all eyes can tell apart (after Okabe and Ito); shapes and hatches say the same in print.
_INK = "#222222"
_LINES = (
    ("#0072B2", "-"),
    ("#E69F00", "--"),
    ("#009E73", "-."),
    ("#CC79A7", ":"),
    ("#56B4E9", (0, (5, 1, 1, 1))),
    ("#D55E00", (0, (1, 1))),
)
_READINGS = (("included", "#009E73", ""), ("negated", "#D55E00", "////"), ("excluded", "#D9D9D9", ""))
#: Most atoms of a picture of probabilities.
_MOST_ATOMS = 30


def plot_losses(result: Result, *, runs: Which = "best", ax: Axes | None = None) -> Axes:
    """The weighted losses over training, each that is not always 0, and their sum.

    Parameters
    ----------
    result
        What was learned, with its history.
    runs
        `best` shows the run whose own program is the best, `mean` the mean of all.
    ax
        Where to draw; a new figure by default.
    """
    from andre.model import LOSSES  # noqa: PLC0415  (few results are drawn)

    curves = read_curves(result, runs)
    ax = ax or _axes()
    ax.plot(curves.steps, curves.total, color=_INK, linewidth=2.2, label="total")
    for loss, (colour, dashes) in zip(LOSSES, cycle(_LINES), strict=False):
        line = curves.losses[loss.name]
        if np.any(line != 0):
            ax.plot(curves.steps, line, color=colour, linestyle=dashes, linewidth=1.6, label=loss.title)
    ax.set(xlabel="step", ylabel="weighted loss", xlim=(0, curves.steps[-1]))
    if min(line.min() for line in curves.losses.values()) < 0:
        ax.axhline(0, color=_INK, linewidth=0.8)
    else:
        ax.set_ylim(bottom=0)
    _dress(ax)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, fontsize="small")
    return ax


def plot_accuracy(result: Result, *, runs: Which = "best", ax: Axes | None = None) -> Axes:
    """The soft accuracy on training and validation rows over training; arguments as in `plot_losses`."""
    curves = read_curves(result, runs)
    ax = ax or _axes()
    for place, (name, line) in enumerate(curves.accuracy.items()):
        colour, dashes = _LINES[place]
        ax.plot(curves.steps, line, color=colour, linestyle=dashes, linewidth=2, label=name)
    lowest = min(0.5, *(float(np.nanmin(line)) for line in curves.accuracy.values()))
    ax.set(xlabel="step", ylabel="accuracy", xlim=(0, curves.steps[-1]), ylim=(lowest - 0.02, 1.02))
    _dress(ax)
    ax.legend(loc="lower right", frameon=False, fontsize="small")
    return ax


def plot_probabilities(
    source: Result | NDArray[np.floating], space: RuleSpace | None = None, *, ax: Axes | None = None
) -> Axes:
    """How likely every subrule includes, negates or leaves out every atom, a panel per subrule.

    Parameters
    ----------
    source
        A result, of which the best run is shown, or weights [n, m, 3].
    space
        The rule space of the weights.
    ax
        Where to draw; a new figure of fitting size by default.

    Examples
    --------
    >>> weights = np.zeros((1, 2, 3))
    >>> axes = plot_probabilities(weights, RuleSpace.from_names(["b1", "b2"]))
    >>> [panel.get_title() for panel in axes.child_axes]
    ['R1']
    """
    if isinstance(source, Result):
        return plot_probabilities(source.weights, source.space, ax=ax)
    if space is None:
        raise DataError("weights alone do not say which atoms they belong to: give their rule space")
    weights = np.asarray(source, dtype=np.float64)  # [n, m, 3]
    if weights.ndim != 3 or weights.shape[1:] != (space.m, 3) or not len(weights):
        raise DataError(
            f"weights of shape {weights.shape} do not fit subrules over {space.m} atoms: [n, m, 3]"
        )
    p, shown = readings(weights, _MOST_ATOMS)
    names = [space.names[column] for column in shown]
    ax = ax or _axes((1.9 + 1.9 * len(p), 1.3 + 0.27 * len(names)))
    ax.set_axis_off()
    _panels(ax, p[:, shown], names)
    if len(shown) < space.m:
        note = f"{len(shown)} of {space.m} atoms, those that some subrule is least sure to leave out"
        ax.annotate(note, (0, -0.02), (0, -20), "axes fraction", "offset points", fontsize=8, va="top")
    return ax


def _panels(ax: Axes, p: Floats, names: list[str]) -> None:
    """Draw stacked bars for every subrule, side by side within an axes."""
    n, gap = len(p), 0.06
    width = (1 - gap * (n - 1)) / n
    for subrule, shares in enumerate(p):
        panel = ax.inset_axes((subrule * (width + gap), 0, width, 1))
        left = np.zeros(len(names))
        for share, (label, colour, hatch) in zip(shares.T, _READINGS, strict=True):
            panel.barh(
                range(len(names)),
                share,
                0.78,
                left,
                color=colour,
                hatch=hatch,
                edgecolor="white",
                label=label,
                linewidth=0.4,
            )
            left = left + share
        panel.set(xlim=(0, 1), ylim=(len(names) - 0.5, -0.5), xticks=(0, 0.5, 1), title=f"R{subrule + 1}")
        panel.set_yticks(range(len(names)), names if subrule == 0 else [""] * len(names), parse_math=False)
        panel.tick_params(length=0)
        panel.set_xticklabels(("0", "½", "1"))
        panel.spines[:].set_visible(False)
    ax.legend(
        *panel.get_legend_handles_labels(),
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=3,
        frameon=False,
        borderaxespad=2.2,
    )


def save_figure(figure: Figure | Axes, path: Path | str) -> Path:
    """Write a figure, or the one that axes stand in, whole or not at all.

    The ending chooses the format: `.svg`, `.png` or `.pdf`. The same figure
    gives the same file.
    """
    path = Path(path)
    kind = path.suffix.lower().lstrip(".")
    if kind not in {"svg", "png", "pdf"}:
        raise AndreError(f"a figure cannot be saved as {path.name!r}: end the name in .svg, .png or .pdf")
    from matplotlib import rc_context  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    whole = figure if isinstance(figure, Figure) else figure.get_figure(root=True)
    if whole is None:
        raise AndreError("these axes stand in no figure, so there is nothing to save")
    buffer = BytesIO()
    stamp = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
    with rc_context({"svg.hashsalt": "andre", "svg.fonttype": "none", "hatch.linewidth": 0.8}):
        whole.savefig(buffer, format=kind, dpi=200, metadata=stamp[kind])
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, buffer.getvalue())
    return path


def _axes(size: tuple[float, float] = (5.6, 3.4)) -> Axes:
    """Axes in a new figure, which needs no display and is not kept by pyplot."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ModuleNotFoundError:
        raise AndreError(
            "figures need matplotlib, which is not installed: pip install 'andre[plots]'"
        ) from None
    return Figure(figsize=size, layout="constrained").add_subplot(axes_class=_shown_axes())


@cache
def _shown_axes() -> type[Axes]:
    """Axes that notebooks show as their figure, which pyplot does not know."""
    from matplotlib.axes import Axes  # noqa: PLC0415

    class ShownAxes(Axes):
        def _repr_png_(self) -> bytes:
            buffer, figure = BytesIO(), self.get_figure(root=True)
            assert figure is not None, "these axes are made with their figure"
            figure.savefig(buffer, format="png")
            return buffer.getvalue()

    return ShownAxes


def _dress(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)
