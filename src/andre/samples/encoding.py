"""Columns of any kind as candidate atoms: cuts of numbers and dates, values of categories, Booleans."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats, number_between
from andre.errors import DataError
from andre.facts import ColumnSchema, RawTable, Schema, TypedColumn, TypedTable, column_atom, level_constant
from andre.limits import check
from andre.logic import Atom, Constant, counted, spell_date
from andre.progress import advance
from andre.samples.binned import BinnedColumn, BinnedTable
from andre.samples.sample import sums_of
from andre.samples.space import Codes, RuleSpace

_UNITS = (86_400, 3_600, 60, 1)  # seconds of a day, an hour, a minute: cuts of dates fall on whole ones
_MOST_ROWS = 250_000  # by which quantiles are known well enough
_LOOKED_AT = 50  # columns between two looks at the clock
_SHOWN = 3  # cuts or levels that the description of a column lists


@dataclass(frozen=True)
class EncodingLimits:
    """How many atoms a column may become."""

    cuts: int = 255  #: of a number or date, at most; fewer where there are very many columns
    all_cuts: int = 100_000  #: of all columns together, about; each may have `coarse` in any case
    coarse: int = 8  #: of these, at most so many that runs of gradient descent are shown
    levels: int = 60  #: of a category, at most
    level_share: float = 0.005  #: of the rows that a level needs for an atom of its own, up to `level_rows`
    level_rows: float = 50.0  #: with so many a level has one, however long the table

    def shared_by(self, columns: int) -> EncodingLimits:
        """The limits of each of so many columns.

        Examples
        --------
        >>> EncodingLimits().shared_by(5000).cuts, EncodingLimits().shared_by(100).cuts
        (20, 255)
        """
        share = max(self.coarse, self.all_cuts // max(1, columns))
        return replace(self, cuts=min(self.cuts, share))


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
    cuts: tuple[float, ...] = ()  #: of a number or a date, ascending
    coarse: tuple[int, ...] = ()  #: the places of those cuts that runs of gradient descent are shown
    levels: tuple[str, ...] = ()  #: of a category, the most frequent first
    pooled: int = 0  #: values of the category that have no atom

    @classmethod
    def learn(cls, column: TypedColumn, weights: Floats, limits: EncodingLimits) -> ColumnEncoding:
        """Choose the cuts of a column at quantiles, or its frequent levels."""
        if column.kind in ("number", "date"):
            values, rows = _weighed(column.values, weights)
            fine = _quantile_gaps(rows, limits.cuts)
            cut = _date_between if column.kind == "date" else number_between
            slack = _slack(fine, rows)
            cuts = tuple(map(cut, values[fine - slack].tolist(), values[fine + 1 + slack].tolist()))
            coarse = _nearest(fine, _quantile_gaps(rows, limits.coarse))
            return cls(column.name, column.kind, cuts, coarse)
        if column.kind == "category":
            known = column.values >= 0
            totals = sums_of(column.values[known], weights[known], len(column.levels)).tolist()
            share = min(limits.level_share * weights.sum(), limits.level_rows)
            least = max(2.0, min(5.0, weights.sum() / 10), share)
            ranked = sorted(zip((-total for total in totals), column.levels, strict=True))
            levels = tuple(level for total, level in ranked[: limits.levels] if -total >= least)
            return cls(column.name, column.kind, levels=levels, pooled=len(column.levels) - len(levels))
        return cls(column.name, column.kind)

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        """The candidate atoms of the column."""
        name = Constant(self.name)
        if self.kind in ("boolean", "truth"):
            return (column_atom(self.name),)
        if self.kind == "category":
            return tuple(Atom("=", (name, level_constant(level))) for level in self.levels)
        spell = spell_date if self.kind == "date" else _plain
        return tuple(Atom(">", (name, Constant(spell(cut)))) for cut in self.cuts)

    @property
    def shown(self) -> tuple[int, ...]:
        """The places of the atoms that runs of gradient descent are shown."""
        return self.coarse if self.kind in ("number", "date") else tuple(range(len(self.atoms)))

    def binned(self, column: TypedColumn) -> BinnedColumn:
        """The column of any rows as bins."""
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
        """The literals of one body about this column without those that follow from others, [atoms]."""
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
        if self.kind in ("boolean", "truth"):
            return "an atom" if self.kind == "boolean" else "an atom with truth values"
        if self.kind == "category":
            pooled = f"; {self.pooled} rare" if self.pooled else ""
            names = [str(level_constant(level)) for level in self.levels]
            return f"{counted(len(names), 'value')}: {_some(names)}{pooled}"
        spell = spell_date if self.kind == "date" else _plain
        chosen = [str(spell(self.cuts[place])) for place in self.coarse]
        return f"{counted(len(self.cuts), 'cut')}: {_some(chosen)}"


@dataclass(frozen=True)
class Encoding:
    """How the columns of a table become candidate atoms: learned on training rows, applied to any others.

    Examples
    --------
    >>> raw = RawTable.read({"age": [31, 44, None, 58], "color": ["red", "red", "blue", "red"]})
    >>> encoding = Encoding.learn(raw)
    >>> print(*encoding.space("rich").atoms, sep=", ")
    age > 40, age > 50, color = red
    >>> encoding.binned(raw).columns[0].bins
    array([ 0,  1, -1,  2], dtype=int16)
    >>> print(encoding)
    column  kind      missing  values  becomes
    age     number        25%       3  2 cuts: 40, 50
    color   category       0%       2  1 value: red; 1 rare
    """

    schema: Schema
    columns: tuple[ColumnEncoding, ...]

    @classmethod
    def learn(
        cls,
        table: RawTable,
        weights: Floats | None = None,
        *,
        schema: Schema | None = None,
        limits: EncodingLimits | None = None,
    ) -> Encoding:
        """Choose the atoms that the columns of a table become.

        Parameters
        ----------
        table
            The training rows, without label and weights.
        weights
            A weight per row; a row of weight 2 counts as two, one of 0 not at all.
        schema
            What each column is; by default decided by `Schema.learn`.
        limits
            How many atoms a column may become.

        Raises
        ------
        DataError
            Where no column is of use.
        """
        schema, chosen = schema or Schema.learn(table), limits or EncodingLimits()
        weights = np.ones(table.n_rows) if weights is None else weights
        typed = schema.read(table)
        chosen = chosen.shared_by(sum(column.kind in ("number", "date") for column in typed.columns))
        columns: dict[str, ColumnEncoding] = {}
        for place, column in enumerate(typed.columns):
            if place % _LOOKED_AT == _LOOKED_AT - 1:
                advance(place, len(typed.columns))
                check()
            columns[column.name] = ColumnEncoding.learn(column, weights, chosen)
        idle = {name: _why_idle(encoding) for name, encoding in columns.items() if not encoding.atoms}
        left_out = {one.name: idle.get(one.name, one.left_out) for one in schema.columns}
        schema = Schema(tuple(replace(one, left_out=left_out[one.name]) for one in schema.columns))
        if not schema.columns:
            raise DataError(f"{table.source} has no column beside the label: give at least one")
        if not schema.used:
            reasons = "; ".join(f"{name}: {why}" for name, why in list(left_out.items())[:_SHOWN])
            raise DataError(
                f"{table.source} has no column from which rules can be made ({reasons}): give other columns, "
                "or say of what kind they are"
            )
        return cls(schema, tuple(columns[one.name] for one in schema.used))

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        """The candidate atoms of all columns, [m]."""
        return tuple(atom for column in self.columns for atom in column.atoms)

    @cached_property
    def coarse(self) -> NDArray[np.intp]:
        """The places among the m atoms of those that runs of gradient descent are shown."""
        places, start = [], 0
        for column in self.columns:
            places += [start + place for place in column.shown]
            start += len(column.atoms)
        return np.array(places, dtype=np.intp)

    def space(self, head: Atom | str = "h") -> RuleSpace:
        """The rule space of all atoms."""
        return RuleSpace(Atom.from_column(head) if isinstance(head, str) else head, self.atoms)

    def coarse_space(self, head: Atom | str = "h") -> RuleSpace:
        """The rule space of the atoms that runs of gradient descent are shown."""
        space = self.space(head)
        return RuleSpace(space.head, tuple(space.atoms[place] for place in self.coarse))

    def lifted(self, codes: Codes) -> Codes:
        """Bodies over the coarse atoms as bodies over all of them, [rules, m].

        Examples
        --------
        >>> encoding = Encoding.learn(RawTable.read({"age": [*range(12)]}), limits=EncodingLimits(coarse=2))
        >>> encoding.coarse
        array([3, 7])
        >>> encoding.lifted(np.array([[-1, 1]], dtype=np.int8))
        array([[ 0,  0,  0, -1,  0,  0,  0,  1,  0,  0,  0]], dtype=int8)
        """
        found = np.zeros((len(codes), len(self.atoms)), dtype=np.int8)
        found[:, self.coarse] = codes
        return found

    def tidied(self, codes: Codes) -> Codes:
        """The same bodies without literals that follow from others, [rules, m].

        Of several cuts of a column the tightest stay, and what is none of the values but one is
        that one. On rows with values that were seen in training the bodies hold as before.

        Examples
        --------
        >>> encoding = Encoding.learn(RawTable.read({"n": [1, 2, 3] * 4, "c": ["x", "y", "z"] * 4}))
        >>> space, codes = encoding.space(), np.array([[1, 1, -1, 0, -1]], dtype=np.int8)
        >>> print(space.program(codes), space.program(encoding.tidied(codes)))
        h :- n > 1.5, n > 2.5, c \\= x, c \\= z. h :- n > 2.5, c = y.
        """
        found, start = codes.copy(), 0
        for column in self.columns:
            end = start + len(column.atoms)
            for place in np.flatnonzero((found[:, start:end] != 0).sum(axis=1) > 1):
                found[place, start:end] = column.tidied(found[place, start:end])
            start = end
        return found

    def columns_of(self, codes: Codes) -> frozenset[str]:
        """The columns that bodies, [rules, m], say something about.

        Examples
        --------
        >>> encoding = Encoding.learn(RawTable.read({"n": [1, 2, 3] * 4, "c": ["x", "y", "z"] * 4}))
        >>> encoding.columns_of(np.array([[0, 0, 1, 0, 0]], dtype=np.int8))
        frozenset({'c'})
        """
        owners = np.repeat(np.arange(len(self.columns)), [len(column.atoms) for column in self.columns])
        return frozenset(self.columns[place].name for place in owners[(codes != 0).any(axis=0)])

    def read(self, table: RawTable, needed: Collection[str] | None = None) -> TypedTable:
        """The columns of any rows that the atoms are made from, each as its kind; see `Schema.read`."""
        return self.schema.read(table, needed)

    def binned(self, table: RawTable | TypedTable) -> BinnedTable:
        """Any rows as bins, from which it follows which of the m atoms hold on them."""
        typed = table if isinstance(table, TypedTable) else self.read(table)
        columns = zip(self.columns, typed.columns, strict=True)
        return BinnedTable(tuple(encoding.binned(column) for encoding, column in columns))

    def valuations(self, table: RawTable | TypedTable) -> Floats:
        """Truth values of the coarse atoms on any rows, [rows, coarse]; NaN is unknown.

        All of them are held at once: of a long table give a part of the rows.
        """
        typed = table if isinstance(table, TypedTable) else self.read(table)
        found = np.empty((typed.n_rows, len(self.coarse)))
        start = 0
        for encoding, column in zip(self.columns, typed.columns, strict=True):
            part = found[:, start : start + len(encoding.shown)]
            start += len(encoding.shown)
            if encoding.kind == "truth":
                part[:, 0] = column.values
                continue
            bins = encoding.binned(column)
            for place, atom in enumerate(encoding.shown):
                part[:, place] = bins.holds(atom)
            part[bins.bins < 0] = np.nan
        return found

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know about how columns were read."""
        return tuple(f"{one.name}: {note}" for one in self.schema.used for note in one.notes)

    def summary(self) -> tuple[ColumnSummary, ...]:
        """What each column of the table becomes, those that are left out too."""
        encodings = {column.name: column for column in self.columns}
        return tuple(ColumnSummary.of(one, encodings.get(one.name)) for one in self.schema.columns)

    def __str__(self) -> str:
        rows = [("column", "kind", "missing", "values", "becomes"), *(one.cells() for one in self.summary())]
        widths = [max(len(row[place]) for row in rows) for place in range(4)]
        lines = []
        for row in rows:
            name, kind = (f"{row[place]:<{widths[place]}}" for place in (0, 1))
            missing, distinct = (f"{row[place]:>{widths[place]}}" for place in (2, 3))
            lines.append("  ".join((name, kind, missing, distinct, row[4])))
        return "\n".join(lines)


@dataclass(frozen=True)
class ColumnSummary:
    """What one column of a table is taken for, and what it becomes."""

    name: str
    kind: str  #: empty for a column that is left out
    missing: float  #: the share of rows without a value
    distinct: int  #: the number of different values
    becomes: str  #: cuts or values, or why it is left out, and remarks on how its cells were read

    @classmethod
    def of(cls, schema: ColumnSchema, encoding: ColumnEncoding | None) -> ColumnSummary:
        """The summary of a column that was learned; without an encoding, of one that is left out."""
        becomes = f"left out: {schema.left_out}" if encoding is None else str(encoding)
        notes = "".join(f" ({note})" for note in schema.notes)
        kind = "" if encoding is None else schema.kind
        return cls(schema.name, kind, schema.missing / max(1, schema.rows), schema.distinct, becomes + notes)

    def cells(self) -> tuple[str, str, str, str, str]:
        """The summary as a line of a table."""
        return self.name, self.kind, f"{self.missing:.0%}", str(self.distinct), self.becomes


def _why_idle(encoding: ColumnEncoding) -> str:
    if encoding.kind == "category":
        return f"none of its {encoding.pooled} values occurs on enough rows"
    return "the same value on every row that can be read"


def _weighed(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The distinct finite values in order, and the weight of each; of very many rows, of a sample."""
    known = np.flatnonzero(np.isfinite(values) & (weights > 0))
    if len(known) > _MOST_ROWS:
        known = np.random.default_rng(0).choice(known, _MOST_ROWS, replace=False)
    distinct, group = np.unique(values[known], return_inverse=True)
    return distinct, sums_of(group.ravel(), weights[known], len(distinct))


def _quantile_gaps(rows: Floats, most: int) -> NDArray[np.intp]:
    """At most `most` gaps between neighbouring values, given their weights, at equal quantiles of the weight.

    A value that weighs more than its share counts only for that, so that the others get the rest of
    the gaps: of a column that is mostly 0 all other values would else fall into one bin.

    Examples
    --------
    >>> _quantile_gaps(np.ones(10), 4)
    array([1, 3, 5, 7])
    >>> _quantile_gaps(np.array([1000.0, 1, 1, 1, 1, 1, 1, 1]), 3)
    array([0, 2, 5])
    """
    if len(rows) - 1 <= most:
        return np.arange(max(0, len(rows) - 1))
    capped = rows
    for _ in range(20):  # the cap falls with what it cuts off, and soon no further
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
    """By how many values each cut may lie aside of its gap, for the sake of a rounder number, [gaps].

    It stays within a third of the way to the next cut, and crosses no value of weight.

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
    """The places among ascending gaps of those that are nearest to the wanted ones."""
    if not len(fine):
        return ()
    above = (
        np.clip(np.searchsorted(fine, wanted), 1, len(fine) - 1) if len(fine) > 1 else np.zeros_like(wanted)
    )
    below = np.maximum(above - 1, 0)
    nearer = wanted - fine[below] <= fine[above] - wanted
    return tuple(np.unique(np.where(nearer, below, above)).tolist())


def _date_between(low: float, high: float) -> float:
    """A moment from which on dates are after the lower of two, and not after the upper: the roundest."""
    for unit in _UNITS:
        middle = np.floor((low + high) / 2 / unit) * unit
        for moment in (middle, middle + unit):
            if low <= moment < high:
                return float(moment)
    return low


def _plain(number: float) -> int | float:
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _some(items: Sequence[str]) -> str:
    return ", ".join(items[:_SHOWN]) + (", ..." if len(items) > _SHOWN else "")
