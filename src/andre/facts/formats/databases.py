"""Parquet files and DuckDB databases, one file or table per predicate.

SQLite databases, one table per predicate.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from andre.errors import DataError
from andre.facts.base import FactBase
from andre.facts.build import Builder, Place, as_names
from andre.facts.formats.columns import add_table, check_int64, is_triples, table_columns
from andre.facts.formats.csv_files import file_name, files_in, relation_name
from andre.facts.formats.format import Format, check_arities, check_names_apart, check_same_kinds, refusal
from andre.facts.relation import Relation

if TYPE_CHECKING:
    import sqlite3

    import duckdb

__all__ = ["DUCKDB", "PARQUET", "SQLITE", "add_rows", "identifier"]


_BATCH = 1 << 16
_MEMORY = "4GB"  # a damaged file may claim to be larger than it is


@contextmanager
def _connected(
    source: Path, database: str = ":memory:", **options: Any
) -> Iterator[duckdb.DuckDBPyConnection]:
    import duckdb  # noqa: PLC0415  (a quarter of a second that most commands need not pay)

    try:
        with duckdb.connect(database, config={"memory_limit": _MEMORY}, **options) as connection:
            yield connection
    except duckdb.Error as error:
        reason = str(error).split("\n", maxsplit=1)[0]
        raise DataError(f"{source} cannot be read or written: {reason}") from None


def identifier(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def add_rows(builder: Builder, name: str, cursor: Any, source: str) -> None:
    """Add the rows of an open query, as any database hands them out, in batches."""
    header = [str(column[0]) for column in cursor.description]
    row = 1
    while batch := cursor.fetchmany(_BATCH):
        columns = dict(zip(header, zip(*batch, strict=True), strict=True))
        place = Place(source, range(row, row + len(batch)), "row")
        add_table(builder, None if is_triples(header) else name, columns, place)
        row += len(batch)
    if row == 1:
        raise DataError(f"{source} has no facts: remove it, or fill it")


def read_parquet(path: Path) -> FactBase:
    """Read one Parquet file, or all of a folder."""
    builder = Builder()
    for file in files_in(path, ".parquet") if path.is_dir() else [path]:
        with _connected(file) as connection:
            cursor = connection.execute("SELECT * FROM read_parquet(?)", [str(file)])
            add_rows(builder, relation_name(file), cursor, str(file))
    return builder.finish(as_names, unary=not builder.n_tables)


def read_duckdb(path: Path) -> FactBase:
    """Read the tables of a DuckDB database."""
    builder = Builder()
    with _connected(path, str(path), read_only=True) as connection:
        tables = connection.execute(
            "SELECT table_name FROM information_schema.tables "
            "WHERE table_type = 'BASE TABLE' AND table_schema = 'main' ORDER BY table_name"
        ).fetchall()
        if not tables:
            raise DataError(f"{path} has no tables: each predicate is a table")
        for (name,) in tables:
            cursor = connection.execute(f"SELECT * FROM main.{identifier(name)}")
            add_rows(builder, name, cursor, f"{path}, table {name}")
    return builder.finish(as_names, unary=not builder.n_tables)


def write_parquet(base: FactBase, folder: Path) -> None:
    """Write a file for each relation."""
    folder.mkdir()
    for relation in base.relations.values():
        facts = _arrays(base, relation)  # found by DuckDB under its name
        target = str(folder / file_name(relation.name, ".parquet")).replace("'", "''")
        with _connected(folder) as connection:
            connection.execute(f"COPY (SELECT * FROM facts) TO '{target}' (FORMAT parquet)")
        del facts


def write_duckdb(base: FactBase, path: Path) -> None:
    """Write a table for each relation."""
    with _connected(path, str(path)) as connection:
        for relation in base.relations.values():
            facts = _arrays(base, relation)  # found by DuckDB under its name
            connection.execute(f"CREATE TABLE {identifier(relation.name)} AS SELECT * FROM facts")
            del facts


def _arrays(base: FactBase, relation: Relation) -> dict[str, np.ndarray[Any, Any]]:
    return {
        name: np.array(cells, dtype=object if isinstance(cells[0], str) else None)
        for name, cells in table_columns(base, relation).items()
    }


_CHECKS = (check_arities(1), check_names_apart(fold=True), check_same_kinds, check_int64)

PARQUET = Format(
    name="parquet",
    title="Parquet",
    read=read_parquet,
    write=write_parquet,
    suffixes=(".parquet",),
    folder=True,
    holds=frozenset({"probability", "mark", "negative"}),
    checks=_CHECKS,
)
DUCKDB = Format(
    name="duckdb",
    title="a DuckDB database",
    read=read_duckdb,
    write=write_duckdb,
    suffixes=(".duckdb", ".db"),
    holds=frozenset({"probability", "mark", "negative"}),
    checks=_CHECKS,
)


@contextmanager
def _sqlite_connected(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
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
    with _sqlite_connected(path, "ro") as connection:
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
    with _sqlite_connected(path, "rwc") as connection, connection:
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
