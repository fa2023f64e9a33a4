"""Weights of rules, learned by a softmax over the candidates of each query."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, hstack

from andre.learning.completion.scores import noisy_or
from andre.learning.completion.tables import Table

__all__ = ["Inputs", "RankingLoss", "fit_weights", "inputs_of"]

#: What is known of every cell, [P, K], as whole numbers or sparse.
Inputs: TypeAlias = NDArray[np.float32] | csr_matrix


def inputs_of(
    table: Table, best: NDArray[np.float64], popularity: NDArray[np.float64], *, dense: bool = True
) -> Inputs:
    """[P, K + 3]: log(1 + groundings) of every body, noisy-or, the best rules, how common the answer is.

    In a large base few bodies cover a cell, so its inputs are better kept sparse.
    """
    matrix = table.groundings.copy()
    matrix.data = np.log1p(matrix.data)
    last = np.empty((matrix.shape[0], 3), dtype=np.float32)
    # In large bases, where few rules fire, validation facts ranked a little worse with it.
    last[:, 0] = noisy_or(best) if dense else 0
    # The best rule decides, the next ones break ties: the start that weights improve on.
    scale = 1e-3 ** np.arange(best.shape[1])
    last[:, 1] = np.log(best @ scale + 0.01) - np.log(0.01)
    last[:, 2] = np.log1p(popularity)
    if not dense:
        return hstack([matrix, csr_matrix(last)], format="csr", dtype=np.float32)
    wide = np.empty((matrix.shape[0], matrix.shape[1] + 3), dtype=np.float32)
    wide[:, :-3] = matrix.toarray()
    wide[:, -3:] = last
    return wide


@dataclass(frozen=True, eq=False)
class RankingLoss:
    """How badly true candidates rank: for each, minus its log share among itself and the false ones."""

    inputs: Inputs  #: [P, K]
    query: NDArray[np.int64]  #: [P], ascending
    true: NDArray[np.bool_]  #: [P]
    others: NDArray[np.float64]  #: [Q], candidates without a cell; their score is 0

    @cached_property
    def _firsts(self) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Where the cells of each query begin, and which query it is; queries without a cell have none."""
        first = np.flatnonzero(np.diff(self.query, prepend=-1))
        return first, self.query[first]

    @cached_property
    def _at(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.true)

    def __call__(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The loss and its gradient."""
        score = (self.inputs @ weights.astype(np.float32)).astype(np.float64)  # [P]
        n_queries, at = len(self.others), self._at
        first, asked = self._firsts
        top = np.zeros(n_queries)
        top[asked] = np.maximum.reduceat(score, first).clip(0)
        power = np.exp(score - top[self.query])  # [P]
        power[at] = 0
        total = self.others * np.exp(-top)  # [Q]
        total[asked] += np.add.reduceat(power, first)
        with np.errstate(divide="ignore"):
            against = np.log(total) + top  # [Q], log of the summed scores of false candidates
        gap = against[self.query[at]] - score[at]  # [T]
        loss = float(np.logaddexp(0, gap).sum())
        pull = 1 / (1 + np.exp(-np.clip(gap, -500, 500)))  # [T]
        per_query = np.bincount(self.query[at], pull, n_queries)  # [Q]
        slope = power * (per_query / np.maximum(total, 1e-300))[self.query]  # [P]
        slope[at] -= pull
        return loss, (self.inputs.T @ slope.astype(np.float32)).astype(np.float64)


def fit_weights(
    loss: RankingLoss,
    penalties: NDArray[np.float64],
    start: NDArray[np.float64],
    non_negative: bool = False,
    steps: int = 40,
) -> NDArray[np.float64]:
    """Descend the loss plus `penalties * weights ** 2`, which is convex.

    Examples
    --------
    >>> loss = RankingLoss(np.eye(2, dtype=np.float32), np.zeros(2, dtype=np.int64),
    ...                    np.array([True, False]), np.zeros(1))
    >>> fit_weights(loss, np.full(2, 0.1), np.zeros(2)).round(2)
    array([ 0.82, -0.82])
    """

    def objective(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slope = loss(weights)
        return value + float(penalties @ weights**2), slope + 2 * penalties * weights

    bounds = [(0, None)] * len(start) if non_negative else None
    found = minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": steps, "maxcor": 8}
    )
    return np.asarray(found.x)
