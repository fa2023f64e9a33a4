"""Equal facts made one, and what they disagree in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.errors import DataError
from andre.facts.relation import Relation

__all__ = ["Merged", "by_kind", "merge_equal", "row_keys"]


def row_keys(codes: NDArray[Any], n_values: int) -> NDArray[np.int64]:
    """One integer per row, equal exactly where rows are equal.

    Digits to the base `n_values`; where they would not fit into 64 bits, what
    is there so far is renumbered first.

    Examples
    --------
    >>> row_keys(np.array([[0, 1], [1, 0], [0, 1]]), 2).tolist()
    [1, 2, 1]
    """
    keys = np.zeros(len(codes), dtype=np.int64)
    top = 1  # keys are below it
    for column in codes.T:
        if top * n_values >= 2**63:
            unique, keys = np.unique(keys, return_inverse=True)
            top = len(unique)
        keys = keys * n_values + column
        top *= n_values
    return keys


def by_kind(kinds: NDArray[Any], n_kinds: int) -> list[NDArray[np.int64]]:
    """For each kind, the rows that are of it, in their order.

    Examples
    --------
    >>> [rows.tolist() for rows in by_kind(np.array([1, 0, 1]), 3)]
    [[1], [0, 2], []]
    """
    order = np.argsort(kinds, kind="stable")
    stops = np.cumsum(np.bincount(kinds, minlength=n_kinds))
    return np.split(order, stops[:-1]) if n_kinds else []


@dataclass(frozen=True)
class Merged:
    """A relation of distinct facts, and how many rows it lost on the way."""

    relation: Relation
    duplicates: int = 0  #: rows that said the same as another one
    overlaps: int = 0  #: facts that carried several marks


def merge_equal(relation: Relation, n_values: int, where: Callable[[int], str]) -> Merged:
    """Keep each fact once, where it stood first.

    A fact that carries several marks keeps the last of train, valid, test, so
    that what is held out anywhere never reaches training. A fact with two
    probabilities, or one that is both stated and denied, is refused;
    `where(row)` writes such a fact and its place.

    Examples
    --------
    >>> twice = Relation("p", np.array([[0], [1], [0]]), mark=np.array([0, 0, 2]))
    >>> merged = merge_equal(twice, 2, str)
    >>> merged.relation.codes.tolist(), merged.relation.mark.tolist(), merged.overlaps
    ([[0], [1]], [2, 0], 1)
    """
    keys = row_keys(relation.codes, n_values)
    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():
        return Merged(relation)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    for column, quarrel in (
        (relation.negative, "is both stated and denied"),
        (relation.probability, "has two probabilities"),
    ):
        if column is not None:
            other = np.flatnonzero(column != column[first[group]])
            if other.size:
                row = int(other[0])
                raise DataError(
                    f"{where(int(first[group[row]]))} {quarrel}, see {where(row)}: keep one of them"
                )
    overlaps = 0
    last = relation.mark
    if relation.mark is not None:
        last = np.zeros(len(first), dtype=np.uint8)
        np.maximum.at(last, group, relation.mark)
        pairs = len(np.unique(group * 4 + relation.mark))
        overlaps = pairs - len(first)
    order = np.argsort(first)
    kept = Relation(
        relation.name,
        relation.codes[first[order]],
        None if relation.probability is None else relation.probability[first[order]],
        None if last is None else last[order],
        None if relation.negative is None else relation.negative[first[order]],
    )
    return Merged(kept, duplicates=len(keys) - len(first) - overlaps, overlaps=overlaps)
