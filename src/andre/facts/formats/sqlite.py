"""SQLite databases, one table per predicate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from andre.errors import DataError
from andre.facts.base import FactBase
from andre.facts.build import Builder, as_names
from andre.facts.formats.duck import add_rows, identifier
from andre.facts.formats.format import Format, check_arities, check_names_apart, refusal
from andre.facts.formats.tables import check_int64, table_columns

if TYPE_CHECKING:
    import sqlite3

__all__ = ["SQLITE"]


@contextmanager
def _connected(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    import sqlite3  # noqa: PLC0415  (few commands need it)

    try:
        address = f"file:{quote(str(path.absolute()))}?mode={mode}"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise DataError(f"{path} cannot be read or written: {error}") from None


def read_sqlite(path: Path) -> FactBase:
    """Read the tables of a SQLite database."""
    builder = Builder()
    with _connected(path, "ro") as connection:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) != 'sqlite_' "
            "ORDER BY name"
        ).fetchall()
        if not tables:
            raise DataError(f"{path} has no tables: each predicate is a table")
        for (name,) in tables:
            cursor = connection.execute(f"SELECT * FROM {identifier(name)}")
            add_rows(builder, name, cursor, f"{path}, table {name}")
    return builder.finish(as_names, unary=not builder.n_tables)


def write_sqlite(base: FactBase, path: Path) -> None:
    """Write a table for each relation; its columns have no types, so each cell keeps its own."""
    with _connected(path, "rwc") as connection, connection:
        for relation in base.relations.values():
            columns = table_columns(base, relation)
            table = identifier(relation.name)
            connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
            marks = ", ".join("?" * len(columns))
            rows = zip(*columns.values(), strict=True)
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


def _check_names(base: FactBase, title: str) -> None:
    for relation in base.relations.values():
        if relation.name.lower().startswith("sqlite_"):
            raise refusal(title, f"{relation}", "it keeps names that begin so for itself")


SQLITE = Format(
    name="sqlite",
    title="a SQLite database",
    read=read_sqlite,
    write=write_sqlite,
    suffixes=(".sqlite", ".sqlite3"),
    holds=frozenset({"probability", "mark", "negative"}),
    checks=(check_arities(1, 1000), check_names_apart(fold=True), check_int64, _check_names),
)
