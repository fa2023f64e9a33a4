"""One column as candidate atoms: thresholds of a number or date, values of a category, missing cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats, number_between
from andre.facts import TypedColumn, column_atom, level_constant
from andre.logic import MISSING, Atom, Constant, counted, spell_date
from andre.samples.binned import BinnedColumn
from andre.samples.sample import sums_of
from andre.samples.space import Codes

_UNITS = (86_400, 3_600, 60, 1)  # seconds of a day, an hour, a minute: cuts of dates fall on whole ones
_MOST_ROWS = 250_000  # from which quantiles are estimated
_COARSE_LEVELS = 60  # values of a category, the most frequent ones, for runs of gradient descent
_SHOWN = 3  # cuts or levels that the description of a column lists


@dataclass(frozen=True)
class EncodingLimits:
    """Bounds on the number of atoms of a column."""

    cuts: int = 255  #: of a number or date, at most; fewer if there are very many columns
    all_cuts: int = 100_000  #: of all columns together, about; each may have at least `coarse`
    coarse: int = 8  #: of these, at most, for runs of gradient descent
    levels: int = 255  #: of a category, at most
    level_share: float = 0.005  #: the share of rows that a level needs for an atom, up to `level_rows`
    level_rows: float = 50.0  #: rows that are enough for an atom, however long the table

    def shared_by(self, columns: int) -> EncodingLimits:
        """The limits for each of several columns.

        Examples
        --------
        >>> EncodingLimits().shared_by(5000).cuts, EncodingLimits().shared_by(100).cuts
        (20, 255)
        """
        share = max(self.coarse, self.all_cuts // max(1, columns))
        return replace(self, cuts=min(self.cuts, share))

    def least_rows(self, weights: Floats) -> float:
        """The weight of rows that a level, or missing cells, need for an atom."""
        total = float(weights.sum())
        return max(2.0, min(5.0, total / 10), min(self.level_share * total, self.level_rows))


@dataclass(frozen=True)
class ColumnEncoding:
    """The atoms of one column, and how its values fall into bins.

    Examples
    --------
    >>> age = ColumnEncoding("age", "number", cuts=(17.5, 42.0))
    >>> print(*age.atoms, sep=", ")
    age > 17.5, age > 42
    >>> color = ColumnEncoding("color", "category", levels=("red", "dark red"))
    >>> print(*color.atoms, sep=", ")
    color = red, color = 'dark red'
    """

    name: str
    kind: str  #: as in `andre.facts.KINDS`
    cuts: tuple[float, ...] = ()  #: thresholds of a number or a date, ascending
    coarse: tuple[int, ...] = ()  #: the indices of the cuts for runs of gradient descent
    levels: tuple[str, ...] = ()  #: of a category, the most frequent first
    pooled: int = 0  #: the number of values of the category without an atom
    gaps: bool = False  #: whether the last atom says that the cell is missing

    @classmethod
    def learn(cls, column: TypedColumn, weights: Floats, limits: EncodingLimits) -> ColumnEncoding:
        """Choose the cuts of a column at quantiles, or its frequent levels, and an atom for missing cells."""
        least, total = limits.least_rows(weights), weights.sum()
        empty = weights[column.missing].sum()
        return replace(cls._of_values(column, weights, limits), gaps=bool(least <= empty <= total - least))

    @classmethod
    def _of_values(cls, column: TypedColumn, weights: Floats, limits: EncodingLimits) -> ColumnEncoding:
        if column.kind in ("number", "date"):
            values, rows = _weighed(column.values, weights)
            fine = quantile_gaps(rows, limits.cuts)
            cut = _date_between if column.kind == "date" else number_between
            slack = _slack(fine, rows)
            if column.bands:
                cut, slack = _lower, np.zeros_like(slack)
            cuts = tuple(map(cut, values[fine - slack].tolist(), values[fine + 1 + slack].tolist()))
            coarse = _nearest(fine, quantile_gaps(rows, limits.coarse))
            return cls(column.name, column.kind, cuts, coarse)
        if column.kind == "category":
            known = column.values >= 0
            totals = sums_of(column.values[known], weights[known], len(column.levels)).tolist()
            least = limits.least_rows(weights)
            ranked = sorted(zip((-total for total in totals), column.levels, strict=True))
            levels = tuple(level for total, level in ranked[: limits.levels] if -total >= least)
            return cls(column.name, column.kind, levels=levels, pooled=len(column.levels) - len(levels))
        return cls(column.name, column.kind)

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        """The candidate atoms of the column."""
        return (*self.value_atoms, Atom(MISSING, (Constant(self.name),))) if self.gaps else self.value_atoms

    @cached_property
    def value_atoms(self) -> tuple[Atom, ...]:
        """The candidate atoms about values of the column."""
        name = Constant(self.name)
        if self.kind in ("boolean", "truth"):
            return (column_atom(self.name),)
        if self.kind == "category":
            return tuple(Atom("=", (name, level_constant(level))) for level in self.levels)
        spell = spell_date if self.kind == "date" else _plain
        return tuple(Atom(">", (name, Constant(spell(cut)))) for cut in self.cuts)

    @property
    def shown(self) -> tuple[int, ...]:
        """The indices of the atoms for runs of gradient descent."""
        n = len(self.value_atoms)
        values = self.coarse if self.kind in ("number", "date") else tuple(range(min(n, _COARSE_LEVELS)))
        return (*values, n) if self.gaps else values

    def binned(self, column: TypedColumn) -> tuple[BinnedColumn, ...]:
        """The column for any rows as bins: of its values, and of whether there is a value."""
        values = (self._binned_values(column),) if self.value_atoms else ()
        if not self.gaps:
            return values
        return *values, BinnedColumn(self.name, ordered=True, n_atoms=1, bins=column.missing.astype(np.int16))

    def _binned_values(self, column: TypedColumn) -> BinnedColumn:
        if self.kind == "category":
            place = {level: number for number, level in enumerate(self.levels)}
            other = len(self.levels)  # pooled, or never seen
            of_levels = [*(place.get(level, other) for level in column.levels), -1]
            bins = np.array(of_levels, dtype=np.int16)[column.values]
            return BinnedColumn(self.name, ordered=False, n_atoms=other, bins=bins)
        values = column.values
        if self.kind in ("boolean", "truth"):
            bins = np.where(values > 0.5, 1, np.where(values < 0.5, 0, -1)).astype(np.int16)
            return BinnedColumn(self.name, ordered=True, n_atoms=1, bins=bins)
        bins = np.searchsorted(np.array(self.cuts), values, side="left").astype(np.int16)
        bins[np.isnan(values)] = -1
        return BinnedColumn(self.name, ordered=True, n_atoms=len(self.cuts), bins=bins)

    def tidied(self, code: Codes) -> Codes:
        """The literals of a body about this column, [atoms], without those that follow from others."""
        if self.gaps:
            values = self._tidied_values(code[:-1])
            known = code[-1] < 0 and values.any()  # a condition on the value implies that there is one
            return np.append(values, 0 if known else code[-1]).astype(code.dtype)
        return self._tidied_values(code)

    def _tidied_values(self, code: Codes) -> Codes:
        holds, fails = np.flatnonzero(code > 0), np.flatnonzero(code < 0)
        tidy = np.zeros_like(code)
        if self.kind == "category":
            if not len(holds) and not self.pooled and len(fails) == len(code) - 1:
                holds = np.flatnonzero(code == 0)
            tidy[holds] = 1
            tidy[fails] = 0 if len(holds) else -1
            return tidy
        tidy[holds[-1:]] = 1
        tidy[fails[:1]] = -1
        return tidy

    def __str__(self) -> str:
        parts = [self._named_values()] if self.value_atoms else []
        return "; ".join([*parts, str(self.atoms[-1])] if self.gaps else parts)

    def _named_values(self) -> str:
        if self.kind in ("boolean", "truth"):
            return "an atom" if self.kind == "boolean" else "an atom with truth values"
        if self.kind == "category":
            pooled = f"; {self.pooled} rare" if self.pooled else ""
            names = [str(level_constant(level)) for level in self.levels]
            return f"{counted(len(names), 'value')}: {_some(names)}{pooled}"
        spell = spell_date if self.kind == "date" else _plain
        chosen = [str(spell(self.cuts[place])) for place in self.coarse]
        return f"{counted(len(self.cuts), 'cut')}: {_some(chosen)}"


def _weighed(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The distinct finite values in order, with their weights; of a sample if there are very many rows."""
    known = np.flatnonzero(np.isfinite(values) & (weights > 0))
    if len(known) > _MOST_ROWS:
        known = np.random.default_rng(0).choice(known, _MOST_ROWS, replace=False)
    distinct, group = np.unique(values[known], return_inverse=True)
    return distinct, sums_of(group.ravel(), weights[known], len(distinct))


def quantile_gaps(rows: Floats, most: int) -> NDArray[np.intp]:
    """At most `most` gaps between neighbouring values with these weights, at equal quantiles of the weight.

    A value that weighs more than its share counts only for the share, so that others get the rest of
    the gaps: if a column is mostly 0, all other values would otherwise fall into one bin.

    Examples
    --------
    >>> quantile_gaps(np.ones(10), 4)
    array([1, 3, 5, 7])
    >>> quantile_gaps(np.array([1000.0, 1, 1, 1, 1, 1, 1, 1]), 3)
    array([0, 2, 5])
    """
    if len(rows) - 1 <= most:
        return np.arange(max(0, len(rows) - 1))
    capped = rows
    for _ in range(20):  # capping lowers the total and with it the cap, which soon converges
        lower = np.minimum(rows, capped.sum() / (most + 1))
        if (lower == capped).all():
            break
        capped = lower
    share = np.cumsum(capped)[:-1] / capped.sum()
    wanted = np.arange(1, most + 1) / (most + 1)
    above = np.clip(np.searchsorted(share, wanted), 1, len(share) - 1)
    below_is_nearer = wanted - share[above - 1] <= share[above] - wanted
    return np.unique(above - below_is_nearer)


def _slack(gaps: NDArray[np.intp], rows: Floats) -> NDArray[np.intp]:
    """By how many values each cut may be moved from its gap to a rounder number, [gaps].

    It stays within a third of the distance to the next cut, and crosses no value of large weight.

    Examples
    --------
    >>> _slack(np.array([9, 19, 29]), np.ones(40))
    array([3, 3, 3])
    >>> _slack(np.array([9, 19, 29]), np.array([*[1.0] * 18, 50, *[1.0] * 21]))
    array([3, 0, 3])
    """
    if not len(gaps):
        return gaps
    edges = np.concatenate(([-1], gaps, [len(rows) - 1]))
    steps = np.diff(edges)  # values from one cut to the next
    slack = (np.minimum(steps[:-1], steps[1:]) - 1) // 3
    heavy = np.concatenate(([0], np.cumsum(rows > rows.sum() / (4 * len(gaps) + 4))))
    crossed = heavy[gaps + 2 + slack] > heavy[gaps - slack]
    return np.where(crossed, 0, slack)


def _nearest(fine: NDArray[np.intp], wanted: NDArray[np.intp]) -> tuple[int, ...]:
    """The indices, among ascending gaps, of those nearest to the wanted ones."""
    if not len(fine):
        return ()
    above = (
        np.clip(np.searchsorted(fine, wanted), 1, len(fine) - 1) if len(fine) > 1 else np.zeros_like(wanted)
    )
    below = np.maximum(above - 1, 0)
    nearer = wanted - fine[below] <= fine[above] - wanted
    return tuple(np.unique(np.where(nearer, below, above)).tolist())


def _date_between(low: float, high: float) -> float:
    """The roundest moment that is not before the lower of two dates, and before the upper one."""
    for unit in _UNITS:
        middle = np.floor((low + high) / 2 / unit) * unit
        for moment in (middle, middle + unit):
            if low <= moment < high:
                return float(moment)
    return low


def _lower(low: float, high: float) -> float:
    """Where a range ends, whatever the next one has."""
    return low


def _plain(number: float) -> int | float:
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _some(items: Sequence[str]) -> str:
    return ", ".join(items[:_SHOWN]) + (", ..." if len(items) > _SHOWN else "")
