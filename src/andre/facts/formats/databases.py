"""Parquet files, DuckDB and SQLite databases: one file or table per predicate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from andre.errors import DataError
from andre.facts.base import FactBase
from andre.facts.build import Builder, Place, as_names
from andre.facts.formats.columns import add_table, check_cells, is_triples, table_columns
from andre.facts.formats.csv_files import file_name, files_in, relation_name
from andre.facts.formats.format import Format, check_arities, check_names_apart, check_same_kinds, refusal
from andre.facts.relation import COLUMNS, Relation

if TYPE_CHECKING:
    import sqlite3

    import duckdb

_BATCH = 1 << 16


@contextmanager
def duckdb_connection(
    complain: Callable[[str], str], database: str = ":memory:", **options: Any
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a DuckDB database; `complain` makes a sentence of DuckDB's reason where something fails."""
    import duckdb  # noqa: PLC0415  (a quarter of a second that most commands need not pay)

    try:
        with duckdb.connect(database, **options) as connection:
            yield connection
    except duckdb.Error as error:
        raise DataError(complain(str(error).partition("\n")[0])) from None


@contextmanager
def _duckdb(source: Path, database: str = ":memory:", **options: Any) -> Iterator[duckdb.DuckDBPyConnection]:
    config = {"memory_limit": "4GB"}  # a damaged file may claim to be larger than it is
    with duckdb_connection(
        lambda reason: f"{source} cannot be read or written: {reason}", database, config=config, **options
    ) as connection:
        yield connection


@contextmanager
def _sqlite(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    import sqlite3  # noqa: PLC0415  (few commands need it)

    try:
        address = f"file:{quote(str(path.absolute()))}?mode={mode}"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise DataError(f"{path} cannot be read or written: {error}") from None


def identifier(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _add_rows(builder: Builder, name: str, cursor: Any, source: str) -> None:
    """Add the rows of an open query of any database, in batches."""
    header = [str(column[0]) for column in cursor.description]
    row = 1
    while batch := cursor.fetchmany(_BATCH):
        columns = dict(zip(header, zip(*batch, strict=True), strict=True))
        place = Place(source, range(row, row + len(batch)), "row")
        add_table(builder, None if is_triples(header) else name, columns, place)
        row += len(batch)
    if row == 1:
        raise DataError(f"{source} has no facts: remove it, or fill it")


def _read_tables(path: Path, connection: Any, tables: str) -> FactBase:
    """Read the tables of a database whose names a query gives."""
    builder = Builder()
    names = connection.execute(tables).fetchall()
    if not names:
        raise DataError(f"{path} has no tables: each predicate is a table")
    for (name,) in names:
        cursor = connection.execute(f"SELECT * FROM main.{identifier(name)}")
        _add_rows(builder, name, cursor, f"{path}, table {name}")
    return builder.finish(as_names)


def read_parquet(path: Path) -> FactBase:
    """Read one Parquet file, or all of a folder."""
    builder = Builder()
    for file in files_in(path, ".parquet") if path.is_dir() else [path]:
        with _duckdb(file) as connection:
            cursor = connection.execute("SELECT * FROM read_parquet(?)", [str(file)])
            _add_rows(builder, relation_name(file), cursor, str(file))
    return builder.finish(as_names)


def write_parquet(base: FactBase, folder: Path) -> None:
    """Write a file for each relation."""
    folder.mkdir()
    with _duckdb(folder) as connection:
        for relation in base.relations.values():
            facts = _arrays(base, relation)  # found by DuckDB under its name
            target = str(folder / file_name(relation.name, ".parquet")).replace("'", "''")
            connection.execute(f"COPY (SELECT * FROM facts) TO '{target}' (FORMAT parquet)")
            del facts


def read_duckdb(path: Path) -> FactBase:
    """Read the tables of a DuckDB database."""
    with _duckdb(path, str(path), read_only=True) as connection:
        return _read_tables(
            path,
            connection,
            "SELECT table_name FROM information_schema.tables "
            "WHERE table_type = 'BASE TABLE' AND table_schema = 'main' ORDER BY table_name",
        )


def write_duckdb(base: FactBase, path: Path) -> None:
    """Write a table for each relation."""
    with _duckdb(path, str(path)) as connection:
        for relation in base.relations.values():
            facts = _arrays(base, relation)  # found by DuckDB under its name
            connection.execute(f"CREATE TABLE {identifier(relation.name)} AS SELECT * FROM facts")
            del facts


def _arrays(base: FactBase, relation: Relation) -> dict[str, np.ndarray[Any, Any]]:
    return {
        name: np.array(cells, dtype=object if isinstance(cells[0], str) else None)
        for name, cells in table_columns(base, relation).items()
    }


def read_sqlite(path: Path) -> FactBase:
    """Read the tables of a SQLite database."""
    with _sqlite(path, "ro") as connection:
        return _read_tables(
            path,
            connection,
            "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) != 'sqlite_' "
            "ORDER BY name",
        )


def write_sqlite(base: FactBase, path: Path) -> None:
    """Write a table for each relation; its columns have no types, so each cell keeps its own."""
    with _sqlite(path, "rwc") as connection, connection:
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


_CHECKS = (check_arities(1), check_names_apart(fold=True), check_same_kinds, check_cells)

PARQUET = Format(
    name="parquet",
    title="Parquet",
    read=read_parquet,
    write=write_parquet,
    suffixes=(".parquet",),
    folder=True,
    holds=frozenset(COLUMNS),
    checks=_CHECKS,
)
DUCKDB = Format(
    name="duckdb",
    title="a DuckDB database",
    read=read_duckdb,
    write=write_duckdb,
    suffixes=(".duckdb", ".db"),
    holds=frozenset(COLUMNS),
    checks=_CHECKS,
)
SQLITE = Format(
    name="sqlite",
    title="a SQLite database",
    read=read_sqlite,
    write=write_sqlite,
    suffixes=(".sqlite", ".sqlite3"),
    holds=frozenset(COLUMNS),
    checks=(check_arities(1, 1000), check_names_apart(fold=True), check_cells, _check_names),
)
