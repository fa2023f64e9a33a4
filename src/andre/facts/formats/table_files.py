"""CSV and Parquet files, and tables of databases, as arrays of numbers or of cells.

Files are read in bulk by DuckDB.

A file is read a second time only where something is wrong with it: the bulk
read shows that there is a fault, and a walk through the rows shows which one,
on which line and in which column.
"""

from __future__ import annotations

import codecs
import csv
import os
import re
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from andre.errors import DataError
from andre.facts.formats.csv_files import csv_records
from andre.facts.formats.databases.duckdb import check_parquet, duckdb_connection, plain_name
from andre.facts.formats.databases.schema import identifier
from andre.facts.formats.databases.tables import DatabaseTable, open_database_table
from andre.facts.formats.plain_cells import plain_columns
from andre.facts.formats.text import GZIP
from andre.facts.tables.cells import MISSING, NO_NUMBER
from andre.limits import check

if TYPE_CHECKING:
    import duckdb

_DELIMITERS = ",;\t|"
_NUMBERS = re.compile("BOOLEAN|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL")
#: A number, or nothing, that needs no further look.
_PLAINEST = "(-?(0|[1-9][0-9]*)([.][0-9]+)?)?"
_WIDE = 50  # columns from which on numbers are read without DuckDB, where they can be
_ASKED = 200  # columns that one query asks for: it is planned in the square of their number
_TEXTS = 8  # columns of text that are held at a time as Python's strings
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LETTERS = 0xC0  # from here on bytes of Windows-1252 are letters
_HELD = 1 << 22  # bytes of a file that is read without a folder for what memory does not hold


@dataclass(frozen=True)
class CsvFile:
    """A text file with cells separated by commas, semicolons, tabs or bars, below a line of column names."""

    path: Path  #: as the user wrote it
    plain: Path  #: the same file under a name that DuckDB takes literally
    names: tuple[str, ...]
    delimiter: str
    encoding: str = "UTF-8"  #: in which the user wrote it; the plain file is UTF-8 in any case

    @classmethod
    def open(cls, path: Path, plain: Path, encoding: str = "UTF-8") -> CsvFile:
        """The file with its column names and the delimiter that its first two lines suggest."""
        with _text(path, plain) as file:
            head = [line for line in (file.readline(1 << 20), file.readline(1 << 20)) if line.strip()]
        if not head:
            raise DataError(f"{path} is empty: its first line must name the columns")
        if head[0].startswith("sep="):  # spreadsheets write it, and it fits lines of two cells
            raise DataError(f"{path}, line 1: {_not_names(head[0].strip())}")
        delimiter = max(_DELIMITERS, key=lambda sign: _fit(head, sign))
        with _text(path, plain) as file:
            names = next(_records(path, file, delimiter))[1]
        return cls(path, plain, tuple(name.strip() for name in names), delimiter, encoding)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know about how the file was read."""
        return () if self.encoding == "UTF-8" else (f"{self.path} is no UTF-8, and read as {self.encoding}",)

    @property
    def _source(self) -> str:
        """SQL for the rows, every cell as text."""
        types = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(self.names)))
        return (
            f"read_csv(?, auto_detect = false, header = true, delim = '{self.delimiter}', "
            f"quote = '\"', escape = '\"', columns = {{{types}}})"
        )

    def values(self, as_text: Collection[int] = ()) -> Iterator[tuple[NDArray[Any], bool]]:
        """Every column as it is: numbers where all its cells are plain ones, else text, None where empty.

        Parameters
        ----------
        as_text
            Places of columns that are text in any case.

        Yields
        ------
        tuple
            The values, [rows], and whether they are seconds since 1970, which a CSV file never has.
        """
        known: dict[int, NDArray[Any]] = {}
        if len(self.names) >= _WIDE:
            known = dict(plain_columns(self.plain, len(self.names), self.delimiter, as_text))
            if len(known) == len(self.names):
                yield from ((known.pop(place), False) for place in range(len(self.names)))
                return
        if len(self.names) > 1:
            scratch = self.plain.parent if self.plain.stat().st_size > _HELD else None
            with _connection(self.path, self.plain, scratch) as database:
                plain = None
                with suppress(DataError), self._sentence():
                    cells = self._cells(database, len(self.names) - len(known))
                    plain = cells.plain([place for place in range(len(self.names)) if place not in known])
                if plain is not None:
                    numbers = {place for place in plain if place not in as_text}
                    yield from ((column, False) for column in cells.values(numbers, known))
                    return
        rows = [cells for _, cells in self.rows()]
        for column in zip(*rows, strict=True) if rows else ((),) * len(self.names):
            array = np.empty(len(column), dtype=object)
            array[:] = column
            yield array, False

    def _cells(self, database: duckdb.DuckDBPyConnection, asked: int) -> _Cells:
        """All cells for DuckDB; for many columns, which are read in groups, the file is loaded once."""
        file = [str(self.plain)]
        if asked <= _ASKED:
            return _Cells(database, self._source, file, len(self.names))
        database.execute(f"CREATE TEMP TABLE cells AS SELECT * FROM {self._source}", file)
        return _Cells(database, "cells", [], len(self.names))

    @contextmanager
    def _sentence(self) -> Iterator[None]:
        """Turn an error of DuckDB about a file that is no table into one of ours."""
        import duckdb  # noqa: PLC0415

        try:
            yield
        except duckdb.Error as error:
            raise DataError(str(error)) from None

    def rows(self) -> Iterator[tuple[str, Sequence[object]]]:
        """The cells of every row, and the line on which it begins."""
        with _text(self.path, self.plain) as file:
            records = _records(self.path, file, self.delimiter)
            next(records)
            for line, cells in records:
                while len(cells) > len(self.names) and not cells[-1]:
                    cells.pop()  # delimiters that end a line hold nothing, and DuckDB lets them pass too
                if len(cells) != len(self.names):
                    raise DataError(
                        f"{self.path}, line {line}: {_count(len(cells), 'cell')} for "
                        f"{_count(len(self.names), 'column name')}: {self._advice()}"
                    )
                yield f"line {line}", cells

    def _advice(self) -> str:
        if any(name.count("(") != name.count(")") for name in self.names):
            return 'put names that hold a comma in double quotes, as in "mother(X1,X2)"'
        if self.names[0].startswith("#"):
            return _not_names(self.names[0])
        if len(self.names) == 1:
            return f"the first line must name all columns, and has only {self.names[0]!r}: delete a title"
        return "give every line one cell per column"


def _not_names(line: str) -> str:
    return f"the first line must name the columns, and {line!r} does not: delete it"


@dataclass(frozen=True)
class _Cells:
    """The cells of a CSV file as text, in columns c0, c1, ... of DuckDB."""

    database: duckdb.DuckDBPyConnection
    source: str  #: SQL for the rows
    values_of_source: Sequence[str]
    width: int

    def plain(self, places: Sequence[int]) -> set[int]:
        """Those of the given columns that have only plain numbers and missing cells."""
        found = set(self._where(places, lambda cell: f"regexp_full_match({cell}, '{_PLAINEST}')"))
        return found | set(self._where([place for place in places if place not in found], _is_plain))

    def _where(self, places: Sequence[int], test: Callable[[str], str]) -> Iterator[int]:
        """The indices of columns all of whose cells pass a test or are empty."""
        for group in _groups(places, _ASKED):
            check()
            wanted = ", ".join(f"coalesce(bool_and({test(f'c{place}')}), true)" for place in group)
            (passed,) = self._ask(wanted).fetchall()
            yield from compress(group, passed)

    def values(self, numbers: Collection[int], known: dict[int, NDArray[Any]]) -> Iterator[NDArray[Any]]:
        """All columns one by one, including those already read; text is read a few columns at a time."""
        held = dict(known)
        for group in _groups(sorted(numbers), _ASKED):
            check()
            held |= self._fetch({place: _double(f"c{place}") for place in group})
        texts = [place for place in range(self.width) if place not in held]
        for place in range(self.width):
            if place not in held:
                group, texts = texts[:_TEXTS], texts[_TEXTS:]
                held |= self._fetch({other: f"c{other}" for other in group})
            yield held.pop(place)

    def _fetch(self, cells: dict[int, str]) -> dict[int, NDArray[Any]]:
        found = self._ask(", ".join(f"{cell} AS v{place}" for place, cell in cells.items())).fetchnumpy()
        return {place: _unmasked(found[f"v{place}"]) for place in cells}

    def _ask(self, wanted: str) -> duckdb.DuckDBPyConnection:
        return self.database.execute(f"SELECT {wanted} FROM {self.source}", self.values_of_source)


def _groups(places: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for first in range(0, len(places), size):
        yield places[first : first + size]


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file."""

    path: Path  #: as the user wrote it
    plain: Path  #: the same file under a name that DuckDB takes literally
    names: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]  #: DuckDB's name and type of every column

    @classmethod
    def open(cls, path: Path, plain: Path) -> ParquetFile:
        """The file with the names and types of its columns."""
        with _connection(path, plain) as database:
            check_parquet(database, plain, path)
            described = database.execute(
                "DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning = false)", [str(plain)]
            ).fetchall()
            schema = database.execute("SELECT name, type FROM parquet_schema(?)", [str(plain)]).fetchall()
        fields = tuple((name, kind.partition("(")[0]) for name, kind, *_ in described)
        # DuckDB renames columns of one name; the schema still tells them, as long as nothing is nested.
        stored = tuple(name for name, _ in schema[1:])
        names = stored if len(stored) == len(fields) else tuple(name for name, _ in fields)
        return cls(path, plain, tuple(name.strip() for name in names), fields)

    def values(self, as_text: Collection[int] = ()) -> Iterator[tuple[NDArray[Any], bool]]:
        """Every column as it is: numbers, truth values, or text, None where empty.

        Parameters
        ----------
        as_text
            Places of columns of text, which are text anyway.

        Yields
        ------
        tuple
            The values, [rows], and whether they are seconds since 1970.
        """
        with _connection(self.path, self.plain) as database:
            for name, kind in self.fields:
                quoted, is_date = identifier(name), kind == "DATE" or kind.startswith("TIMESTAMP")
                if is_date:
                    cell = f"coalesce(epoch({quoted}), 'nan'::DOUBLE)"
                elif kind != "BOOLEAN" and _NUMBERS.fullmatch(kind):
                    cell = _double(quoted)
                else:
                    cell = f"CAST({quoted} AS VARCHAR)"
                column = database.execute(
                    f"SELECT {cell} AS c FROM read_parquet(?, hive_partitioning = false)", [str(self.plain)]
                )
                yield _unmasked(column.fetchnumpy()["c"]), is_date


TableFile: TypeAlias = CsvFile | ParquetFile | DatabaseTable


@contextmanager
def open_table(source: str | Path) -> Iterator[TableFile]:
    """Open a CSV or Parquet file, or a table of a database, told apart by their content.

    A pipe is copied to a file first.

    Raises
    ------
    DataError
        Where the source leads to no file, or to one that is no table.
    """
    with open_database_table(source) as found:
        if found is not None:
            yield found
            return
    path = Path(source)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        raise DataError(f"there is no file {path}: check the path") from None
    if stat.S_ISDIR(mode):
        raise DataError(f"{path} is a folder: name a CSV or Parquet file in it")
    if not os.access(path, os.R_OK):
        raise DataError(f"{path} may not be read: check its permissions")
    with plain_name(path) as plain:
        with plain.open("rb") as file:
            start = file.read(4096)
        if start.startswith(b"PAR1"):
            yield ParquetFile.open(path, plain)
            return
        if path.suffix.lower() in {".parquet", ".pq"}:
            raise DataError(f"{path} is named like a Parquet file but is none: write it again, or rename it")
        _refuse_binary(path, start)
        encoding = _encoding(plain, start)
        if encoding != "UTF-8":
            _recode(path, plain, encoding)
        yield CsvFile.open(path, plain, encoding)


def _encoding(plain: Path, start: bytes) -> str:
    """UTF-16 where the file says so, as spreadsheets write it; Windows-1252 where it can be nothing else.

    Where most letters are beyond ASCII, it is another script, whose encoding cannot be told.
    """
    if start.startswith(_UTF_16):
        return "UTF-16"
    foreign = sum(byte >= _LETTERS for byte in start)
    is_western = foreign <= sum(chr(byte).isalpha() for byte in start if byte < _LETTERS)
    if _is_in(plain, "UTF-8") or not (is_western and _is_in(plain, "Windows-1252")):
        return "UTF-8"
    return "Windows-1252"


def _is_in(plain: Path, encoding: str) -> bool:
    """Whether all of a file can be read in an encoding."""
    try:
        with plain.open(encoding=encoding, newline="") as file:
            while file.read(_HELD):
                check()
    except UnicodeDecodeError:
        return False
    return True


def _recode(path: Path, plain: Path, encoding: str) -> None:
    """Write a file once more, as UTF-8, in place of the link to the one that was named."""
    whole = plain.with_name("recoded")
    try:
        with plain.open(encoding=encoding, newline="") as source, whole.open("wb") as copy:
            while part := source.read(_HELD):
                check()
                copy.write(part.encode())
    except UnicodeError as error:
        raise DataError(f"{path} is encoded as {encoding}, and damaged ({error}): save it as UTF-8") from None
    whole.replace(plain)


def _refuse_binary(path: Path, start: bytes) -> None:
    if start.startswith(GZIP):
        raise DataError(f"{path} is compressed by gzip: unpack it first, or pipe it in through gunzip -c")
    if start.startswith(b"PK\x03\x04"):
        raise DataError(f"{path} is a zip archive or a spreadsheet: save the table as CSV")
    begin = start.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if begin.startswith((b"<!doctype", b"<html")):
        raise DataError(f"{path} is a web page, as a download that failed leaves it: save the table as CSV")
    if path.suffix.lower() in {".json", ".jsonl", ".ndjson"} and begin.startswith((b"{", b"[")):
        raise DataError(f"{path} is JSON: save the table as CSV")
    if b"\0" in start and not start.startswith(_UTF_16):
        raise DataError(f"{path} is a binary file, not a table: give CSV or Parquet")


@contextmanager
def _text(path: Path, plain: Path) -> Iterator[IO[str]]:
    """Open a file as UTF-8, with an error for users if it is not."""
    try:
        with plain.open(encoding="utf-8-sig", newline="") as file:
            yield file
    except UnicodeDecodeError:
        data = plain.read_bytes()
        try:
            data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            byte = data[error.start]
            raise DataError(
                f"{path}, line {line}: byte 0x{byte:02x} is not UTF-8, and the file does not look like "
                "Windows-1252: save it as UTF-8"
            ) from None
        raise


def _records(path: Path, file: IO[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The records that are not blank, each with the line on which it begins."""

    def complain(first: int, _: int, error: csv.Error) -> DataError:
        return DataError(f"{path}, line {first}: {error}: check the quotes and the cells there")

    records = csv_records(file, complain, delimiter=delimiter, skipinitialspace=True)
    return ((first, cells) for first, _, cells in records)


def _fit(head: Sequence[str], delimiter: str) -> tuple[bool, int]:
    """How well a delimiter fits the first lines: whether all have as many cells, and how many."""
    try:
        counts = [len(next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))) for line in head]
    except (csv.Error, StopIteration):
        return False, 0
    return len(set(counts)) == 1 and counts[0] > 1, counts[0]


def _double(column: str) -> str:
    """SQL for a cell as a number, NaN if it is none."""
    return f"coalesce(TRY_CAST({column} AS DOUBLE), 'nan'::DOUBLE)"


def _is_plain(column: str) -> str:
    """SQL for whether a cell of text is missing or a plain number, and no code such as 007."""
    cell = f"trim(coalesce({column}, ''))"
    words = ", ".join(f"'{word}'" for word in sorted(MISSING | NO_NUMBER))
    return (
        f"(lower({cell}) IN ({words}) OR (TRY_CAST({column} AS DOUBLE) IS NOT NULL "
        f"AND NOT contains({cell}, '_') AND NOT regexp_matches({cell}, '^-?0[0-9]+$')))"
    )


def _unmasked(column: NDArray[Any]) -> NDArray[Any]:
    """A column of DuckDB with None for masked values, of which numbers have none."""
    if not isinstance(column, np.ma.MaskedArray):
        return column
    plain = column.data.copy()
    if column.mask is not np.ma.nomask:
        plain[np.ma.getmaskarray(column)] = None
    return plain


def _connection(
    path: Path, plain: Path, scratch: Path | None = None
) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
    """A connection that reads a file under a name without patterns, with a folder for spilled data."""
    return duckdb_connection(
        lambda why: (
            f"{path} cannot be read as Parquet ({why.replace(str(plain), path.name)}): write it again"
        ),
        scratch=scratch,
    )


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
