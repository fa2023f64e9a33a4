"""Tables as people have them: columns of numbers, text or dates, from files, DataFrames and arrays."""

from __future__ import annotations

import datetime
import difflib
import numbers
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats, Ints
from andre.errors import DataError
from andre.facts.formats.table_files import CsvFile, TableFile, open_table
from andre.facts.frames import is_frame
from andre.facts.tables.cells import is_code, is_missing, is_no_number, level_of, plain_number
from andre.limits import check
from andre.logic import Atom
from andre.progress import advance, doing

_MOST_NAMES = 12  # of columns that an error lists; of more it says how many


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column as it was found: numbers, dates as numbers, or text as codes of distinct cells.

    Examples
    --------
    >>> column = RawColumn.from_cells("color", ["red", None, "blue", " red", "?"])
    >>> column.values, column.levels
    (array([ 0, -1,  1,  0, -1], dtype=int32), ('red', 'blue'))
    >>> RawColumn.from_cells("age", ["42", "", 17]).values
    array([42., nan, 17.])
    """

    name: str
    values: NDArray[Any]  #: [rows] float64, NaN is unknown; of text int32, the place among the levels or -1
    levels: tuple[str, ...] | None = None  #: the distinct cells of text
    is_date: bool = False  #: whether the numbers are seconds since 1970

    @classmethod
    def from_cells(cls, name: str, cells: Iterable[object], *, as_text: bool = False) -> RawColumn:
        """A column of cells of any kind; where all that say something are plain numbers, of numbers.

        Parameters
        ----------
        as_text
            Whether numbers stay text, too.
        """
        levels: dict[str, int] = {}
        known: dict[str, int] = {}  # the code of every text, so that each is looked at once
        codes = []
        for cell in cells:
            text = _text(cell)
            code = known.get(text)
            if code is None:
                code = -1 if is_missing(text) else levels.setdefault(text.strip(), len(levels))
                known[text] = code
            codes.append(code)
        column = cls(name, np.array(codes, dtype=np.int32), tuple(levels))
        return column if as_text else column._as_numbers()

    @classmethod
    def from_array(cls, name: str, values: Any, *, as_text: bool = False) -> RawColumn:
        """A column of a DataFrame, an array or a sequence."""
        kind = getattr(values, "dtype", None)
        if getattr(kind, "kind", "O") in "iuf" and hasattr(kind, "na_value"):  # pandas' own numbers
            values = values.to_numpy(dtype=np.float64, na_value=np.nan)
        array = np.asarray(values if hasattr(values, "__array__") else _objects(values))
        if array.ndim != 1:
            raise DataError(f"the column {name!r} has {array.ndim} dimensions: give one value a row")
        match array.dtype.kind:
            case "b":
                return cls(name, array.astype(np.int32), ("False", "True"))
            case "i" | "u" | "f":
                return cls(name, array.astype(np.float64, copy=False))
            case "M" | "m":
                missing = np.isnat(array)
                seconds = array.astype(f"{array.dtype.kind}8[us]").astype(np.int64) / 1e6
                is_date = array.dtype.kind == "M"
                return cls(name, np.where(missing, np.nan, seconds), is_date=is_date)
            case _:
                return cls.from_cells(name, array.tolist(), as_text=as_text)

    def _as_numbers(self) -> RawColumn:
        """The same column as numbers, where all its cells are plain ones and no codes such as 007."""
        levels = self.levels or ()
        said = [level for level in levels if not is_no_number(level)]
        if not said or any(is_code(level) or plain_number(level) is None for level in said):
            return self
        found = [np.nan if (number := plain_number(level)) is None else number for level in levels]
        return RawColumn(self.name, self.spread(np.array(found, dtype=np.float64)))

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which rows have a value, [rows]."""
        return ~np.isnan(self.values) if self.levels is None else self.values >= 0

    def spread(self, of_levels: Floats) -> Floats:
        """A number for every row, given one for each level, [rows]; NaN where nothing is known."""
        values: Floats = np.append(of_levels, np.nan)[self.values]
        return values

    def distinct(self) -> tuple[tuple[str, ...], NDArray[np.int32], Ints]:
        """The distinct cells as text, the place of each row's among them or -1, and the rows of each."""
        if self.levels is None:
            found, inverse = np.unique(self.values[self.known], return_inverse=True)
            levels = tuple(map(level_of, found.tolist()))
            codes = np.full(len(self.values), -1, dtype=np.int32)
            codes[self.known] = inverse.ravel()
        else:
            levels, codes = self.levels, self.values
        counts = np.bincount(codes[codes >= 0], minlength=len(levels))
        if counts.all():
            return levels, codes, counts
        seen = counts > 0  # some rows of a table need not have all values of a column
        place = np.append(np.cumsum(seen) - 1, -1).astype(np.int32)
        return tuple(compress(levels, seen)), place[codes], counts[seen]

    def take(self, rows: NDArray[Any]) -> RawColumn:
        """Some of the rows, by numbers or as a mask."""
        return replace(self, values=self.values[rows])

    def with_sorted_levels(self) -> RawColumn:
        """The same column; of text, its levels by the alphabet.

        Examples
        --------
        >>> RawColumn.from_cells("color", ["red", None, "blue"]).with_sorted_levels().values
        array([ 1, -1,  0], dtype=int32)
        """
        if self.levels is None:
            return self
        order = sorted(range(len(self.levels)), key=self.levels.__getitem__)
        place = np.full(len(order) + 1, -1, dtype=np.int32)  # the last for a cell that is missing
        place[order] = np.arange(len(order))
        return replace(self, values=place[self.values], levels=tuple(self.levels[one] for one in order))


@dataclass(frozen=True, eq=False)
class RawTable:
    """A table as it was found, before anything is decided about its columns.

    Examples
    --------
    >>> table = RawTable.read({"age": [42, None], "color": ["red", "blue"]})
    >>> table.names, table.n_rows
    (('age', 'color'), 2)
    """

    columns: tuple[RawColumn, ...]
    n_rows: int
    source: str = "the table"  #: what messages call it
    notes: tuple[str, ...] = ()  #: what a user should know about how it was read

    def __post_init__(self) -> None:
        for column in self.columns:
            if len(column.values) != self.n_rows:
                raise DataError(
                    f"{self.source}: column {column.name!r} has {len(column.values)} rows where others have "
                    f"{self.n_rows}: give all columns as many"
                )

    @classmethod
    def read(
        cls, source: Any, *, names: Sequence[str] | None = None, as_text: Collection[str] = ()
    ) -> RawTable:
        """A table from whatever holds one.

        Parameters
        ----------
        source
            The path of a CSV or Parquet file, a table of a database, as shop.sqlite#customer, a DataFrame
            (pandas, Polars), a mapping of columns by name, a list of rows that are mappings, or an array of
            rows and columns.
        names
            Names for the columns of an array; x0, x1, ... by default.
        as_text
            Columns whose cells stay text even if all look like plain numbers, as `Schema.as_text` has them.

        Raises
        ------
        DataError
            Where there is no table, or two columns have one name.
        """
        if isinstance(source, RawTable):
            return source
        if isinstance(source, str | Path):
            with doing(f"reading {source}"), open_table(source) as file:
                return cls._from_file(file, frozenset(as_text))
        if isinstance(source, list | tuple) and source and all(isinstance(row, Mapping) for row in source):
            found = list(dict.fromkeys(name for row in source for name in row))
            values = [[row.get(name) for row in source] for name in found]
        elif isinstance(source, Mapping):
            found, values = list(source), list(source.values())
        elif is_frame(source):
            found = list(source.columns)
            _check_names("the table", list(map(str, found)))
            values = [source[name] for name in found]
        else:
            array = np.asarray(source)
            if array.ndim != 2:
                raise DataError(_no_table(source, array.shape))
            found = [f"x{place}" for place in range(array.shape[1])] if names is None else list(names)
            if len(found) != array.shape[1]:
                raise DataError(
                    f"there are {len(found)} names for {array.shape[1]} columns: give one for each"
                )
            values = list(array.T)
        titles = _check_names("the table", list(map(str, found)))
        for name, column in zip(titles, values, strict=True):
            if isinstance(column, str) or not (hasattr(column, "__iter__") or hasattr(column, "__array__")):
                raise DataError(
                    f"the column {name!r} is the single value {column!r}: give one a row, as in [{column!r}]"
                )
        columns = tuple(
            RawColumn.from_array(name, column, as_text=name in as_text)
            for name, column in zip(titles, values, strict=True)
        )
        return cls(columns, len(columns[0].values) if columns else 0)._with_columns()

    @classmethod
    def _from_file(cls, file: TableFile, as_text: frozenset[str]) -> RawTable:
        names = _check_names(str(file.path), file.names)
        stay = {place for place, name in enumerate(names) if name in as_text}
        columns: list[RawColumn] = []
        for name, (values, is_date) in zip(names, file.values(stay), strict=True):
            check()
            advance(len(columns), len(names))
            column = RawColumn.from_array(name, values, as_text=True)
            columns.append(replace(column, is_date=is_date) if is_date else column)
        for place, column in enumerate(columns):
            if place not in stay:
                columns[place] = column._as_numbers()
        rows = len(columns[0].values) if columns else 0
        notes = file.notes if isinstance(file, CsvFile) else ()
        return cls(tuple(columns), rows, str(file.path), notes)._with_columns()

    def _with_columns(self) -> RawTable:
        if not self.columns:
            raise DataError(f"{self.source} has no columns: give at least one and the label")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def _by_name(self) -> dict[str, RawColumn]:
        return {column.name: column for column in reversed(self.columns)}

    def column(self, name: str, what: str = "column") -> RawColumn:
        """The column of a name; refused where there is none, with the names that there are."""
        if (found := self._by_name.get(name.strip())) is not None:
            return found
        if "(" in name:  # an atom, whose blanks mean nothing
            atom = Atom.from_column(name.strip())
            for column in self.columns:
                if Atom.from_column(column.name) == atom:
                    return column
        close = difflib.get_close_matches(name, self.names, n=1)
        guess = f"; did you mean {close[0]!r}?" if close else ""
        if any(plain_number(other) is not None for other in self.names):
            guess = "; the first line must name the columns"
        elif len(self.names) == 1 and name.strip() in self.names[0]:
            guess = "; cells must stand between commas, semicolons, tabs or bars"
        more = f" and {len(self.names) - _MOST_NAMES} more" if len(self.names) > _MOST_NAMES else ""
        listed = ", ".join(map(repr, self.names[:_MOST_NAMES]))
        raise DataError(f"{self.source} has no {what} {name!r}: its columns are {listed}{more}{guess}")

    def without(self, names: Iterable[str]) -> RawTable:
        """The table without some columns, all of which it must have."""
        gone = {self.column(name).name for name in names}
        return replace(self, columns=tuple(column for column in self.columns if column.name not in gone))

    def take(self, rows: NDArray[Any]) -> RawTable:
        """Some of the rows, by numbers or as a mask."""
        columns = tuple(column.take(rows) for column in self.columns)
        return replace(self, columns=columns, n_rows=len(np.arange(self.n_rows)[rows]))

    def holds_truth_values(self) -> bool:
        """Whether every column has numbers from 0 to 1 only, as tables of truth values do."""
        return all(
            column.levels is None
            and not column.is_date
            and bool(((column.values >= 0) & (column.values <= 1) | np.isnan(column.values)).all())
            for column in self.columns
        )


def _check_names(source: str, names: Sequence[str]) -> list[str]:
    """The names of columns without blanks around them; one that has none is called by its place."""
    found = [name.strip() or f"column {place}" for place, name in enumerate(names, start=1)]
    seen: dict[str | Atom, int] = {}
    for place, name in enumerate(found, start=1):
        key = Atom.from_column(name) if "(" in name else name  # blanks in atoms say nothing
        first = seen.setdefault(key, place)
        if first != place:
            where = "" if plain_number(name) is None else " in the first line, which must name the columns"
            raise DataError(
                f"{source}: columns {first} and {place} are both named {name!r}: give each its own "
                f"name{where}"
            )
    return found


def _no_table(source: Any, shape: tuple[int, ...]) -> str:
    """Why something of this shape is no table, and what would be one."""
    if hasattr(source, "collect"):
        return f"a {type(source).__name__} has no rows yet: give what its collect() makes"
    if hasattr(source, "to_frame"):
        kind = type(source).__name__
        return f"a {kind} is one column, or one row, and no table: give a DataFrame, as its to_frame() makes"
    return f"a table has rows and columns, not the shape {shape}"


def _objects(values: Any) -> NDArray[Any]:
    """A sequence as an array: numbers and Booleans as such, anything else as objects."""
    cells = list(values)
    if all(type(cell) is bool for cell in cells):
        return np.array(cells, dtype=np.bool_)
    if all(isinstance(cell, numbers.Real) and not isinstance(cell, bool) for cell in cells):
        return np.array(cells, dtype=np.float64)
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def _text(cell: object) -> str:
    """A cell as it would stand in a file; "" where it says nothing."""
    if isinstance(cell, str):
        return cell
    if cell is None or type(cell).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return ""
    if isinstance(cell, bool | np.bool_):
        return str(bool(cell))
    if isinstance(cell, numbers.Real):
        value = float(cell)
        return "" if np.isnan(value) else level_of(value)
    if isinstance(cell, datetime.date | datetime.datetime):
        return cell.isoformat()
    return str(cell)
