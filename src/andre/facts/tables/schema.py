"""What each column of a table is taken for: learned from some rows, and applied to others."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools, Floats, Ints
from andre.errors import ConfigError, DataError, shorten
from andre.facts.tables.cells import (
    DateStyle,
    NumberStyle,
    are_booleans,
    canonical_level,
    date_remark,
    is_code,
    is_no_number,
    level_of,
    read_booleans,
    read_dates,
    read_numbers,
)
from andre.facts.tables.raw import RawColumn, RawTable
from andre.logic import Atom

#: What a column can be: true or false, a measurement, one of some values, a moment, a truth value from 0
#: to 1, or text and keys that no rule can use.
Kind = Literal["boolean", "number", "category", "date", "truth", "text"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_MOSTLY = 0.95  # of the known cells of a column that are numbers or dates are such, unless told otherwise
_LARGELY, _MANY = 0.8, 20  # the same of numbers that are so many that a category of them would say little
_SOME = 0.2  # of numbers among other text is worth a remark
_LONG = 40  # letters, above which text is rather a sentence than the name of a category
_KEY_ROWS = 20  # fewer whole numbers without gaps may well be measured
_KEY_NAME = re.compile(
    r"(?:.*[^A-Za-z])?(?:id|ID|Id|(?i:uuid|guid|key|index|rownames?))|Unnamed: [0-9]+|.*[a-z]I[Dd]"
)
_LOOK = 500  # of very many texts that are read to see whether the others are worth it
_FIRST, _LAST = -62_135_596_800, 253_402_300_799  # seconds since 1970 of the years 1 and 9999
_SHOWN = 3  # cells that a remark quotes


@dataclass(frozen=True, eq=False)
class TypedColumn:
    """A column read as one kind."""

    name: str
    kind: Kind
    values: NDArray[Any]  #: [rows] float64, NaN is unknown; of a category int32, the place of its level or -1
    levels: tuple[str, ...] = ()  #: the distinct values of a category, in any order
    bands: bool = (
        False  #: whether numbers are where ranges such as 18-24 end, so that cuts must be there, too
    )

    @property
    def missing(self) -> Bools:
        """The rows whose cell is empty or cannot be read, [rows]."""
        return np.asarray(self.values < 0 if self.kind == "category" else np.isnan(self.values))

    def take(self, rows: NDArray[np.intp] | Bools) -> TypedColumn:
        """Some of the rows, by numbers or as a mask."""
        return replace(self, values=self.values[rows])


@dataclass(frozen=True, eq=False)
class TypedTable:
    """The columns that rules may use, each read as its kind.

    Examples
    --------
    >>> raw = RawTable.read({"age": ["42", "17", "?"], "member": ["yes", "no", "no"]})
    >>> table = Schema.learn(raw).read(raw)
    >>> [(column.kind, column.values.tolist()) for column in table.columns]
    [('number', [42.0, 17.0, nan]), ('boolean', [1.0, 0.0, 0.0])]
    """

    columns: tuple[TypedColumn, ...]
    n_rows: int
    notes: tuple[str, ...] = ()  #: what was not read as it stands

    def take(self, rows: NDArray[np.intp] | Bools) -> TypedTable:
        """Some of the rows, by numbers or as a mask."""
        columns = tuple(column.take(rows) for column in self.columns)
        return replace(self, columns=columns, n_rows=len(np.arange(self.n_rows)[rows]))


@dataclass(frozen=True)
class ColumnSchema:
    """What one column is taken for, and what was seen of it when that was decided.

    Examples
    --------
    >>> column = RawColumn.from_cells("price", ["$5", "$1,250", "free", *["$7"] * 30])
    >>> schema = ColumnSchema.learn(column)
    >>> schema.kind, schema.notes
    ('number', ('in $', "1 cell is no number and unknown: 'free'"))
    """

    name: str
    kind: Kind
    left_out: str = ""  #: why no rule may use the column; empty for those in use
    notes: tuple[str, ...] = ()  #: how its cells were read
    rows: int = 0
    missing: int = 0  #: rows without a value
    distinct: int = 0  #: different values
    numbers: NumberStyle = field(default_factory=NumberStyle)
    dates: DateStyle = field(default_factory=DateStyle)

    @classmethod
    def learn(
        cls, column: RawColumn, kind: Kind | None = None, *, truth_values: bool = False
    ) -> ColumnSchema:
        """Decide what a column is, or see to it that it can be read as the kind that is wanted.

        Parameters
        ----------
        column
            The column.
        kind
            What it shall be; None to decide by its cells.
        truth_values
            Whether numbers from 0 to 1 are truth values; those of a column that is named like an atom
            with variables always are.
        """
        seen = _Seen(column)
        missing = seen.rows - seen.known
        base = cls(column.name, kind or "text", rows=seen.rows, missing=missing, distinct=seen.distinct)
        if not seen.distinct:
            return replace(base, left_out="no value is known")
        if seen.distinct == 1:
            return replace(base, left_out="the same value on every row")
        if kind is not None:
            return _as_wanted(base, seen, kind)
        return _decided(
            base, seen, truth_values=truth_values or bool(Atom.from_column(column.name).variables)
        )

    def read(self, column: RawColumn) -> tuple[TypedColumn, tuple[str, ...]]:
        """The column of a table as this kind, and remarks about cells that are unknown because of it."""
        if self.kind == "category":
            return _category(column), ()
        seen = _Seen(column)
        if column.levels is None and (self.kind == "date") == column.is_date:
            values = column.values
        else:
            values = np.append(self._values(seen.levels), np.nan)[seen.codes]
        if self.kind == "boolean":
            values = np.where(np.isin(values, (0.0, 1.0)), values, np.nan)
        if self.kind == "date":
            values = np.where((values >= _FIRST) & (values <= _LAST), values, np.nan)
        if self.kind == "truth":
            _check_truth(self.name, values)
        typed = TypedColumn(self.name, self.kind, values, bands=self.numbers.bands)
        return typed, seen.unread(np.isnan(values), self.kind)

    def unknown(self, rows: int) -> TypedColumn:
        """A column of this kind without any value."""
        category = self.kind == "category"
        values = np.full(rows, -1, dtype=np.int32) if category else np.full(rows, np.nan)
        return TypedColumn(self.name, self.kind, values)

    def _values(self, levels: Sequence[str]) -> Floats:
        """The numbers of distinct cells, NaN where one cannot be read."""
        if self.kind == "boolean":
            return read_booleans(levels)
        read = self.dates.read if self.kind == "date" else self.numbers.read
        values = np.array([read(level) for level in levels], dtype=np.float64)
        return np.where(np.isnan(values), read_booleans(levels), values) if self.kind == "truth" else values


@dataclass(frozen=True)
class Schema:
    """What the columns of a table are taken for: learned on training rows, applied to any others.

    Examples
    --------
    >>> raw = RawTable.read({"id": [*range(40)], "age": [*range(20, 40)] * 2, "color": ["red", "blue"] * 20})
    >>> schema = Schema.learn(raw)
    >>> [(column.name, column.kind, column.left_out) for column in schema.columns]
    [('id', 'text', 'whole numbers that count the rows: a key'), ('age', 'number', ''),
     ('color', 'category', '')]
    >>> schema.read(RawTable.read({"color": ["red"], "age": [3.5], "more": [1]})).columns[0].values
    array([3.5])
    """

    columns: tuple[ColumnSchema, ...]

    @classmethod
    def learn(
        cls,
        table: RawTable,
        *,
        kinds: Mapping[str, str] | None = None,
        ignore: Iterable[str] = (),
        truth_values: bool = False,
    ) -> Schema:
        """Decide what each column of a table is.

        Parameters
        ----------
        table
            The training rows, without label and weights.
        kinds
            What some columns shall be, by name: one of `KINDS`.
        ignore
            Columns that no rule may use.
        truth_values
            Whether numbers from 0 to 1 are truth values, not measurements.

        Raises
        ------
        DataError
            Where a column that is named is not there, or cannot be read as it shall be.
        """
        wanted = {table.column(name).name: _kind(name, kind) for name, kind in (kinds or {}).items()}
        ignored = {table.column(name).name for name in ignore}
        columns = []
        for column in table.columns:
            schema = ColumnSchema.learn(column, wanted.get(column.name), truth_values=truth_values)
            columns.append(replace(schema, left_out="ignored") if column.name in ignored else schema)
        return cls(tuple(columns))

    @property
    def used(self) -> tuple[ColumnSchema, ...]:
        """The columns that rules may use."""
        return tuple(column for column in self.columns if not column.left_out)

    @property
    def as_text(self) -> frozenset[str]:
        """Columns whose cells new rows must give as text, since `1.234` is not there what it is elsewhere."""
        return frozenset(column.name for column in self.used if column.numbers != NumberStyle())

    def read(self, table: RawTable, needed: Collection[str] | None = None) -> TypedTable:
        """The columns in use of a table, each read as its kind; other columns are not looked at.

        Parameters
        ----------
        table
            Any rows.
        needed
            The columns in use that are looked at, all by default. The table may lack the others, which
            are unknown on every row.

        Raises
        ------
        DataError
            Where a column that is needed is missing, or holds truth values outside [0, 1].
        """
        columns, notes = [], []
        for schema in self.used:
            if needed is not None and schema.name not in needed:
                columns.append(schema.unknown(table.n_rows))
                continue
            column, remarks = schema.read(table.column(schema.name))
            columns.append(column)
            notes += [f"{schema.name}: {remark}" for remark in remarks]
        return TypedTable(tuple(columns), table.n_rows, tuple(notes))


@dataclass(frozen=True, eq=False)
class _Seen:
    """A column with what its kind is decided by; its cells become text only where that is needed."""

    column: RawColumn

    @property
    def rows(self) -> int:
        return len(self.column.values)

    @cached_property
    def _text(self) -> tuple[tuple[str, ...], NDArray[np.int32], Ints]:
        return self.column.distinct()

    @cached_property
    def _sizes(self) -> tuple[Floats, Ints]:
        return np.unique(self.column.values[self.column.known], return_counts=True)

    @property
    def levels(self) -> tuple[str, ...]:
        return self._text[0]

    @property
    def codes(self) -> NDArray[np.int32]:
        return self._text[1]

    @property
    def counts(self) -> Ints:
        return self._sizes[1] if self.column.levels is None else self._text[2]

    @property
    def distinct(self) -> int:
        return len(self.counts)

    @property
    def known(self) -> int:
        return int(self.counts.sum())

    @cached_property
    def as_numbers(self) -> tuple[Floats, NumberStyle]:
        """The distinct values as numbers, NaN where one is none, and the style they are written in."""
        if self.column.levels is None:
            return self._sizes[0], NumberStyle()
        if any(is_code(level) for level in self.levels) or self._hardly(read_numbers):
            return np.full(len(self.levels), np.nan), NumberStyle()
        return read_numbers(self.levels, self.counts)

    @cached_property
    def as_dates(self) -> tuple[Floats, DateStyle]:
        """The distinct values as dates, NaN where one is none, and the style they are written in."""
        if self.column.levels is None:
            return (self._sizes[0] if self.column.is_date else np.full(self.distinct, np.nan)), DateStyle()
        if self._hardly(read_dates):
            return np.full(self.distinct, np.nan), DateStyle()
        return read_dates(self.levels, self.counts)

    def _hardly(self, read: Callable[[Sequence[str], Ints], tuple[Floats, Any]]) -> bool:
        """Whether few of very many texts can be read, by a look at some: free text would take long."""
        if self.distinct <= 2 * _LOOK:
            return False
        some = np.random.default_rng(0).choice(self.distinct, _LOOK, replace=False)
        values, _ = read([self.levels[place] for place in some], np.ones(_LOOK, dtype=np.int64))
        return bool(np.isnan(values).mean() > 0.5)

    @property
    def is_boolean(self) -> bool:
        if self.column.levels is None:
            return not self.column.is_date and self._sizes[0].tolist() == [0.0, 1.0]
        return are_booleans(self.levels)

    def share(self, values: Floats) -> float:
        """The share of known rows whose value can be read, given what the distinct values become.

        Rows that say there is none count neither as read nor as unread.
        """
        none = 0
        if self.column.levels is not None:
            none = int(self.counts[[is_no_number(level) for level in self.levels]].sum())
        return float(self.counts[~np.isnan(values)].sum() / max(1, self.known - none))

    def unread(self, unknown: Bools, kind: Kind) -> tuple[str, ...]:
        """A remark on rows whose cells say something and are unknown all the same, [rows]."""
        lost = unknown & self.column.known
        count = int(lost.sum())
        if not count:
            return ()
        is_lost = np.zeros(self.distinct, dtype=np.bool_)
        is_lost[self.codes[lost]] = True
        cells = "1 cell is" if count == 1 else f"{count} cells are"
        return (f"{cells} {_NO[kind]} and unknown: {self.quoted(is_lost)}",)

    def quoted(self, chosen: Bools) -> str:
        """Some of the chosen distinct values, the most frequent first."""
        places = np.flatnonzero(chosen)
        places = places[np.argsort(-self.counts[places], kind="stable")]
        shown = [repr(shorten(self.levels[place], 20)) for place in places[:_SHOWN]]
        return ", ".join(shown) + (", ..." if len(places) > _SHOWN else "")


def _decided(base: ColumnSchema, seen: _Seen, *, truth_values: bool) -> ColumnSchema:
    """The kind that fits a column best."""
    if seen.is_boolean:
        return replace(base, kind="boolean")
    if not seen.column.is_date and _are_numbers(seen):
        return _number(base, seen, truth_values=truth_values)
    dates, order = seen.as_dates
    if seen.share(dates) >= _MOSTLY:
        return _with_notes(replace(base, kind="date", dates=order), seen, dates)
    return _name(base, seen)


def _are_numbers(seen: _Seen) -> bool:
    """Whether the cells are numbers but for a few."""
    numbers, _ = seen.as_numbers
    many = np.count_nonzero(~np.isnan(numbers)) > _MANY
    return seen.share(numbers) >= (_LARGELY if many else _MOSTLY)


def _name(base: ColumnSchema, seen: _Seen) -> ColumnSchema:
    """A column of names: a category, or text that is left out."""
    if why := _why_text(base.name, seen):
        return replace(base, left_out=why)
    base = replace(base, kind="category", distinct=len(_category(seen.column).levels))
    numbers, _ = seen.as_numbers
    if seen.share(numbers) < _SOME:
        return base
    remark = (
        f"{seen.share(numbers):.0%} of the cells are numbers, and others are not, such as "
        f"{seen.quoted(np.isnan(numbers))}: as a number, these would be unknown"
    )
    return replace(base, notes=(remark,))


def _number(base: ColumnSchema, seen: _Seen, *, truth_values: bool) -> ColumnSchema:
    """A column of numbers: measurements, truth values, or a key that is left out."""
    numbers, style = seen.as_numbers
    found = numbers[~np.isnan(numbers)]
    why = _why_key(base.name, seen, found)
    if len(found) == 1:
        why = "the same value on every row that can be read"
    if why:
        return replace(base, left_out=why)
    is_truth = truth_values and bool(((found >= 0) & (found <= 1)).all())
    return _with_notes(replace(base, kind="truth" if is_truth else "number", numbers=style), seen, numbers)


def _as_wanted(base: ColumnSchema, seen: _Seen, kind: Kind) -> ColumnSchema:
    """The kind that the user names, where the cells can be read as such."""
    if kind == "text":
        return replace(base, left_out="ignored")
    if kind == "category":
        return replace(base, distinct=len(_category(seen.column).levels))
    if kind == "boolean":
        values = read_booleans(seen.levels)
    elif kind == "date":
        values, order = seen.as_dates
        base = replace(base, dates=order)
    else:
        values, style = seen.as_numbers
        if seen.column.levels is not None and np.isnan(values).all():  # codes such as 007, if so wished
            values, style = read_numbers(seen.levels, seen.counts)
        base = replace(base, numbers=style)
    if np.isnan(values).all():
        raise DataError(
            f"the column {base.name!r} cannot be read as {kind}: its cells are such as "
            f"{seen.quoted(np.isnan(values))}; choose another kind of {', '.join(KINDS)}"
        )
    if kind == "truth":
        _check_truth(base.name, values)
    return _with_notes(base, seen, values)


_NO = {"boolean": "neither true nor false", "number": "no number", "date": "no date", "truth": "no number"}


def _with_notes(base: ColumnSchema, seen: _Seen, values: Floats) -> ColumnSchema:
    """The schema of a column with how its distinct values were read, and which could not be."""
    if base.kind != "date":
        remark = str(base.numbers)
    else:
        remark = "" if seen.column.levels is None else date_remark(seen.levels, base.dates)
    notes: tuple[str, ...] = (remark,) if remark else ()
    if np.isnan(values).any():
        notes += seen.unread(np.append(np.isnan(values), False)[seen.codes], base.kind)
    return replace(base, notes=notes)


def _why_key(name: str, seen: _Seen, numbers: Floats) -> str:
    """Why numbers are a key of the rows; empty where they are none."""
    n, is_named = seen.known, _KEY_NAME.fullmatch(name) is not None
    if n < _KEY_ROWS or not np.equal(numbers, np.rint(numbers)).all():
        return ""
    low, high = float(numbers.min()), float(numbers.max())
    # Measured numbers of so narrow a range would meet; these begin near 0 and hardly leave a gap.
    if seen.distinct == n and 0 <= low <= 0.1 * high and high - low < 2 * n:
        return "whole numbers that count the rows: a key"
    if is_named and 2 * seen.distinct >= n:  # of rows that are there twice, too
        return "whole numbers that differ from row to row, named like a key"
    return ""


def _why_text(name: str, seen: _Seen) -> str:
    """Why text is no category; empty where it is one."""
    share = seen.distinct / seen.known
    if share > 0.5 and seen.known >= _KEY_ROWS:
        return f"{seen.distinct} different texts on {seen.known} rows: names, keys or free text"
    lengths = np.array([len(level) for level in seen.levels])
    if share > 0.1 and float(np.average(lengths, weights=seen.counts)) > _LONG:
        return "long texts, few of which occur often: free text"
    if _KEY_NAME.fullmatch(name) and share > 0.2 and seen.known >= _KEY_ROWS:
        return f"{seen.distinct} different texts on {seen.known} rows, named like a key"
    return ""


def _category(column: RawColumn) -> TypedColumn:
    """A column as a category: one level for each number, however it is written."""
    levels, codes, _ = column.distinct()
    places: dict[str, int] = {}
    merged = [places.setdefault(canonical_level(level), len(places)) for level in levels]
    values = np.array([*merged, -1], dtype=np.int32)[codes]
    return TypedColumn(column.name, "category", values, tuple(places))


def _kind(name: str, kind: str) -> Kind:
    for known in KINDS:
        if kind == known:
            return known
    raise ConfigError(f"the column {name!r} cannot be of the kind {kind!r}: choose {', '.join(KINDS)}")


def _check_truth(name: str, values: Floats) -> None:
    wrong = np.flatnonzero((values < 0) | (values > 1))
    if len(wrong):
        raise DataError(
            f"the value {level_of(float(values[wrong[0]]))} in column {name!r} is outside [0, 1]: a truth "
            "value lies between; for measurements make the column a number"
        )
