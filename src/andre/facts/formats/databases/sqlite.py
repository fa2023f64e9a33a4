"""SQLite databases, read by the standard library."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from andre.errors import DataError
from andre.facts.formats.databases.schema import Column, ForeignKey, Table, identifier, kind_of
from andre.limits import check

if TYPE_CHECKING:
    import sqlite3

_BATCH = 1 << 16
#: Bytes of text that what is computed may hold in any case, and times the size of the file that it may.
_SMALL, _SWELLING = 1 << 27, 50
_LONGEST = 1 << 24  # bytes of a cell: a small file may state one of gigabytes


@contextmanager
def sqlite_connection(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """Open a SQLite file, in mode `ro` to read it or `rwc` to create it, with errors for users."""
    import sqlite3  # noqa: PLC0415  (few commands need it)

    try:
        address = f"file:{quote(str(path.absolute()))}?mode={mode}"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            connection.execute("PRAGMA trusted_schema = OFF")  # views of a stranger call nothing unsafe
            connection.text_factory = _text
            yield connection
    except sqlite3.Error as error:
        raise DataError(f"{path} cannot be read or written: {error}") from None
    except UnicodeDecodeError:  # SQLite quotes what it cannot read, and Python decodes its message
        raise DataError(f"{path} is damaged: its schema is not UTF-8; restore it from a copy") from None


def _text(data: bytes) -> str | bytes:
    """The text of bytes, or the bytes themselves if they are not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


@dataclass(frozen=True)
class SQLiteDatabase:
    """A SQLite file."""

    source: str
    connection: sqlite3.Connection

    def tables(self) -> list[Table]:
        """All tables and views, by name."""
        names = self.connection.execute(
            "SELECT name, type = 'view' FROM sqlite_master WHERE type IN ('table', 'view') "
            "AND substr(name, 1, 7) != 'sqlite_' ORDER BY name"
        ).fetchall()
        return [self._table(self._named(name, "a table"), bool(is_view)) for name, is_view in names]

    def _named(self, name: Any, what: str) -> str:
        """The name itself, refused if it is not UTF-8: SQLite would take an unknown name for a string."""
        if not isinstance(name, str):
            raise DataError(f"{self.source} has {what} whose name is not UTF-8: rename it")
        return name

    def _table(self, name: str, is_view: bool) -> Table:
        import sqlite3  # noqa: PLC0415

        found: list[tuple[Any, ...]] = []
        try:
            found = self.connection.execute(
                "SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden != 1 ORDER BY cid", [name]
            ).fetchall()
        except sqlite3.Error:
            if not is_view:  # a view may read what is there no more
                raise
        of_table = f"a column of table {name!r}"
        columns = tuple(
            Column(self._named(column, of_table), kind_of(str(kind))) for column, kind, _ in found
        )
        key = tuple(column for column, _, place in sorted(found, key=lambda row: row[2]) if place)
        links: dict[int, list[tuple[Any, ...]]] = {}
        for number, *link in self.connection.execute(
            'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq', [name]
        ):
            links.setdefault(number, []).append(tuple(link))
        return Table(name, columns, key, tuple(map(self._foreign_key, links.values())), is_view=is_view)

    def _foreign_key(self, parts: list[tuple[Any, ...]]) -> ForeignKey:
        """A foreign key from its parts; names in SQLite ignore case."""
        table = self._named(parts[0][0], "a foreign key to a table")
        for _, *ends in parts:
            for end in ends:
                self._named("" if end is None else end, "a foreign key of a column")
        same = self.connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND lower(name) = lower(?)", [table]
        ).fetchone()
        names = [row[0] for row in self.connection.execute("SELECT name FROM pragma_table_xinfo(?)", [table])]
        spelled = {name.lower(): name for name in names}
        others = tuple(spelled.get(other.lower(), other) for _, _, other in parts if other is not None)
        return ForeignKey(tuple(column for _, column, _ in parts), same[0] if same else table, others)

    def rows(self, table: Table, columns: tuple[str, ...]) -> Iterator[list[tuple[Any, ...]]]:
        """The cells of these columns, some rows at a time."""
        import sqlite3  # noqa: PLC0415

        chosen = ", ".join(map(identifier, columns))
        try:
            cursor = self.connection.execute(f"SELECT {chosen} FROM main.{identifier(table.name)}")
            yield from self._bounded(table, cursor) if self._may_swell(table) else _batches(cursor)
        except sqlite3.Error as error:
            raise DataError(f"{self.source}, table {table.title} cannot be read: {error}") from None

    def _may_swell(self, table: Table) -> bool:
        """Whether rows may be larger than the file, as in views and computed columns."""
        computed = "SELECT count(*) FROM pragma_table_xinfo(?) WHERE hidden > 1"
        return table.is_view or self.connection.execute(computed, [table.name]).fetchone()[0] > 0

    def _bounded(self, table: Table, cursor: sqlite3.Cursor) -> Iterator[list[tuple[Any, ...]]]:
        """Batches of rows, refused if their text becomes far larger than the file."""
        left = max(_SMALL, _SWELLING * Path(self.source).stat().st_size)
        batch: list[tuple[Any, ...]] = []
        held = 0
        for row in cursor:
            held += sum(len(cell) for cell in row if isinstance(cell, str | bytes))
            if held > left:
                raise DataError(
                    f"{self.source}, table {table.title} is computed, and holds far more text than the file: "
                    "choose columns by --columns"
                )
            batch.append(row)
            if len(batch) == _BATCH:
                check()
                yield batch
                batch = []
        if batch:
            yield batch


def _batches(cursor: sqlite3.Cursor) -> Iterator[list[tuple[Any, ...]]]:
    while batch := cursor.fetchmany(_BATCH):
        check()
        yield batch


@contextmanager
def open_sqlite(path: Path) -> Iterator[SQLiteDatabase]:
    """Open a SQLite file to read it."""
    with sqlite_connection(path, "ro") as connection:
        yield SQLiteDatabase(str(path), connection)
