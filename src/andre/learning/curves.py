"""What a result's history and weights say, as curves and shares that can be drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from andre.errors import DataError
from andre.learning.state import LOSSES, Look

if TYPE_CHECKING:
    from andre.learning.result import Result

__all__ = ["Curves", "Which", "best_run", "read_curves", "readings"]

Floats = NDArray[np.float32]

#: The run whose own program is the best, or the mean of all runs.
Which: TypeAlias = Literal["best", "mean"]


@dataclass(frozen=True, eq=False)
class Curves:
    """Losses and accuracies over the steps of training."""

    steps: tuple[int, ...]
    losses: Mapping[str, Floats]  #: each weighted as it was in training, [looks]
    accuracy: Mapping[str, Floats]  #: soft accuracy by split, [looks]

    @property
    def total(self) -> Floats:
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
    >>> from andre.grounding.synthetic import TASKS
    >>> from andre.learning import fit
    >>> curves = read_curves(fit(TASKS["four"].sample(100, seed=0)))
    >>> curves.steps[:3], list(curves.accuracy)
    ((15, 30, 45), ['train'])
    """
    if not result.history:
        raise DataError("the result has no history to plot: it ended before the first look at its runs")
    if runs == "best":
        round_, place = best_run(result)
        picked = [(look.step, _figures(look)[:, place]) for look in result.history if look.round == round_]
        picked = [(step, figures) for step, figures in picked if not np.isnan(figures[0])]
    else:
        together: dict[int, list[Floats]] = {}
        for look in result.history:
            together.setdefault(look.step, []).append(_figures(look))
        picked = [(step, _mean(np.concatenate(together[step], axis=1))) for step in sorted(together)]
    if not picked:
        raise DataError("the best run ended before the first look at it, so there is nothing to plot")
    table = np.stack([figures for _, figures in picked], axis=1)  # [8, looks]
    accuracy = {"train": table[6]}
    if not np.isnan(table[7]).all():
        accuracy["validation"] = table[7]
    steps = tuple(step for step, _ in picked)
    return Curves(steps, dict(zip(LOSSES, table[:6], strict=True)), accuracy)


def best_run(result: Result) -> tuple[int, int]:
    """The round of the run whose program is the best, and its place in the round."""
    best = min(result.runs, key=lambda run: (round(run.length, 9), run.program.n_literals))
    return best.round, [run for run in result.runs if run.round == best.round].index(best)


def readings(weights: NDArray[np.floating], most: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
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
    scale = np.asarray(weights, dtype=np.float64)
    p = np.exp(scale - scale.max(axis=2, keepdims=True))
    p /= p.sum(axis=2, keepdims=True)
    return p, np.sort(np.argsort(p[:, :, 2].min(axis=0), kind="stable")[:most])


def _figures(look: Look) -> Floats:
    """All that was noted at a look, [8, K]."""
    return np.concatenate((look.losses, look.train[None], look.validation[None]))


def _mean(figures: Floats) -> Floats:
    """The mean over the runs that were still moving, [8]; NaN where nothing was noted."""
    known = ~np.isnan(figures)
    count = known.sum(axis=1)
    total = np.where(known, figures, 0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan).astype(np.float32)
