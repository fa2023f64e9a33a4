"""Numeric columns as valuations: each is cut at quantiles into predicates such as `'age > 42'`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from andre.arrays import Floats
from andre.errors import DataError


@dataclass(frozen=True)
class Thresholds:
    """The cut points of numeric columns, and which columns are valuations already.

    A column whose known values all lie in [0, 1] holds valuations and is used
    as it is. Any other holds measurements: every cut point gives a predicate
    that is true above it, false at or below it, and unknown for NaN.

    Examples
    --------
    >>> table = np.array([[0.9, 31.0], [0.2, 44.0], [0.7, np.nan], [0.4, 58.0]])
    >>> thresholds = Thresholds.learn(table, np.ones(4), ["member", "age"], most=2)
    >>> thresholds.atoms
    ('member', 'age > 40', 'age > 50')
    >>> thresholds.valuate(table)
    array([[0.9, 0. , 0. ],
           [0.2, 1. , 0. ],
           [0.7, nan, nan],
           [0.4, 1. , 1. ]])
    """

    columns: tuple[str, ...]  #: names of the columns
    cuts: tuple[tuple[float, ...] | None, ...]  #: ascending, a tuple per column; None for valuations

    @classmethod
    def learn(
        cls, table: Floats, weights: Floats, columns: Sequence[str], most: int, *, every: bool = False
    ) -> Thresholds:
        """Choose cut points at quantiles of every column of measurements.

        Parameters
        ----------
        table
            Finite numbers, [rows, columns]; NaN is unknown.
        weights
            A positive weight per row: a row of weight 2 counts as two rows.
        columns
            A name per column.
        most
            How many cut points a column has at most.
        every
            Cut every column with values other than 0 and 1, even where all lie
            in [0, 1]: lengths in metres may.
        """
        whole = is_boolean if every else is_valuation
        cuts = tuple(None if whole(column) else quantile_cuts(column, weights, most) for column in table.T)
        return cls(tuple(columns), cuts)

    @property
    def atoms(self) -> tuple[str, ...]:
        """The candidate atoms of all columns, in order."""
        names: list[str] = []
        for column, cuts in zip(self.columns, self.cuts, strict=True):
            names += (
                [column] if cuts is None else [f"{column} > {repr(cut).removesuffix('.0')}" for cut in cuts]
            )
        return tuple(names)

    def valuate(self, table: Floats) -> Floats:
        """Valuations of the candidates on new rows, [rows, atoms]."""
        pieces = []
        for name, cuts, column in zip(self.columns, self.cuts, table.T, strict=True):
            if cuts is None:
                _require_valuation(name, column)
                pieces.append(column[:, None])
            else:
                above = column[:, None] > np.array(cuts)  # [rows, cuts]
                pieces.append(np.where(np.isnan(column)[:, None], np.nan, above))
        return np.hstack(pieces)


def is_valuation(column: Floats) -> bool:
    """Whether all known values lie in [0, 1]."""
    known = column[~np.isnan(column)]
    return bool(((known >= 0) & (known <= 1)).all())


def is_boolean(column: Floats) -> bool:
    """Whether all known values are 0 or 1."""
    return bool(np.isin(column[~np.isnan(column)], (0.0, 1.0)).all())


def quantile_cuts(column: Floats, weights: Floats, most: int) -> tuple[float, ...]:
    """At most `most` cut points between neighbouring values, at equal quantiles of the weight.

    Examples
    --------
    >>> quantile_cuts(np.arange(10.0), np.ones(10), most=4)
    (1.5, 3.5, 5.5, 7.5)
    >>> quantile_cuts(np.array([3.0, 5.0, 5.0]), np.ones(3), most=4)
    (4.0,)
    """
    known = ~np.isnan(column)
    values, group = np.unique(column[known], return_inverse=True)
    below = np.cumsum(np.bincount(group, weights=weights[known]))  # weight up to each value
    share = below[:-1] / below[-1] if len(values) > 1 else np.zeros(0)
    if len(share) > most:
        wanted = np.arange(1, most + 1) / (most + 1)
        places = np.unique(np.abs(share - wanted[:, None]).argmin(axis=1))
    else:
        places = np.arange(len(share))
    return tuple(between(float(values[place]), float(values[place + 1])) for place in places)


def between(low: float, high: float) -> float:
    """The number with the fewest digits in the middle half of the gap between two values."""
    gap = high - low
    for digits in range(1, 18):
        short = float(f"{low + gap / 2:.{digits}g}")
        if low < short < high and low + gap / 4 <= short <= high - gap / 4:
            return short
    return low  # neighbours in floating point: above the lower one is the upper one


def _require_valuation(name: str, column: Floats) -> None:
    wrong = np.flatnonzero(~(np.isnan(column) | ((column >= 0) & (column <= 1))))
    if len(wrong):
        raise DataError(
            f"the value {column[wrong[0]]:g} in row {wrong[0]}, column {name!r} is outside [0, 1], "
            "where all values lay that the rules were learned from: scale it to a probability, "
            "or cut the column into predicates when learning"
        )
