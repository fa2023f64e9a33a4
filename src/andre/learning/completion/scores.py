"""Scores of candidates from the confidences of the rules that fire for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from andre.evaluation.ranks import lexicographic_keys
from andre.learning.completion.tables import Table

__all__ = ["best_confidences", "maximum_keys", "noisy_or"]


def best_confidences(
    table: Table,
    confidence: NDArray[np.float64],
    depth: int,
    own: tuple[NDArray[np.bool_], NDArray[np.float64]] | None = None,
) -> NDArray[np.float64]:
    """[P, depth], the best confidences of each cell, the best first; 0 where fewer rules fire.

    Columns of a table stand in the order of confidence at one smoothing; at
    another the order differs a little, so twice as many are read and sorted.

    Parameters
    ----------
    table
        The cells, and the rules that fire for each.
    confidence
        [K], of every rule.
    depth
        How many confidences are wanted.
    own
        Some cells, [P], and the confidences that rules have for those, [K].
    """
    matrix = table.groundings
    fires = np.diff(matrix.indptr)  # [P]
    best = np.zeros((len(fires), depth))
    # Few rules fire for most cells of a large base: sorting more than there are would take most of the time.
    reaches = (1, depth, 4 * depth)
    for least, reach in zip((0, *reaches), reaches, strict=False):
        cells = np.flatnonzero((fires > least) & ((fires <= reach) | (reach == reaches[-1])))
        at = matrix.indptr[cells, None] + np.arange(reach)  # [some P, reach]
        inside = at < matrix.indptr[cells + 1, None]
        rule = matrix.indices[np.minimum(at, matrix.nnz - 1)]  # [some P, reach]
        values = confidence[rule]
        if own is not None:
            is_own = own[0][cells]
            values[is_own] = own[1][rule[is_own]]
        values[~inside] = 0
        best[cells, :reach] = -np.sort(-values, axis=1)[:, :depth]
    return best


def maximum_keys(best: NDArray[np.float64], popularity: NDArray[np.float64]) -> NDArray[np.float64]:
    """[P], numbers in the order of the best rule, then the next best, and last how common the answer is."""
    return lexicographic_keys(np.column_stack([best, popularity])).astype(np.float64)


def noisy_or(best: NDArray[np.float64]) -> NDArray[np.float64]:
    """[P], minus the log of the chance that all of the best rules fail.

    In logs, and over few rules: a product over all of them rounds to one for
    every candidate.

    Examples
    --------
    >>> noisy_or(np.array([[0.5, 0.5], [0.5, 0.0]])).round(3)
    array([1.386, 0.693])
    """
    return np.asarray(-np.log1p(-np.minimum(best, 1 - 1e-9)).sum(axis=1))
