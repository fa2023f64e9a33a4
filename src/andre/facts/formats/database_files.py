"""Parquet files, one for each predicate; DuckDB and SQLite databases, of facts or of anything else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from andre.errors import DataError
from andre.facts.base import FactBase
from andre.facts.build import Builder, Place, as_names
from andre.facts.formats.columns import add_table, check_cells, is_triples, table_columns
from andre.facts.formats.csv_files import file_name, files_in, relation_name
from andre.facts.formats.databases.duckdb import (
    check_parquet,
    duckdb_file,
    open_duckdb,
    open_rows,
    plain_name,
)
from andre.facts.formats.databases.reading import read_database
from andre.facts.formats.databases.schema import identifier
from andre.facts.formats.databases.selection import Selection
from andre.facts.formats.databases.sqlite import open_sqlite, sqlite_connection
from andre.facts.formats.format import Format, check_arities, check_names_apart, check_same_kinds, refusal
from andre.facts.relation import COLUMNS, Relation

_BATCH = 1 << 16


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


def read_parquet(path: Path) -> FactBase:
    """Read a Parquet file, or all of those in a folder."""
    builder = Builder()
    for file in files_in(path, ".parquet") if path.is_dir() else [path]:
        with duckdb_file(file) as connection, plain_name(file) as plain:
            check_parquet(connection, plain, file)
            rows = open_rows(connection, "read_parquet(?, hive_partitioning = false)", [str(plain)])
            _add_rows(builder, relation_name(file), rows, str(file))
    return builder.finish(as_names)


def write_parquet(base: FactBase, folder: Path) -> None:
    """Write a file for each relation."""
    folder.mkdir()
    with duckdb_file(folder) as connection:
        for relation in base.relations.values():
            facts = _arrays(base, relation)  # found by DuckDB under its name
            target = str(folder / file_name(relation.name, ".parquet")).replace("'", "''")
            connection.execute(f"COPY (SELECT * FROM facts) TO '{target}' (FORMAT parquet)")
            del facts


def read_duckdb(path: Path, selection: Selection | None = None) -> FactBase:
    """Read the tables and views of a DuckDB database."""
    with open_duckdb(path) as database:
        return read_database(database, selection)


def write_duckdb(base: FactBase, path: Path) -> None:
    """Write a table for each relation."""
    with duckdb_file(path, path) as connection:
        for relation in base.relations.values():
            facts = _arrays(base, relation)  # found by DuckDB under its name
            connection.execute(f"CREATE TABLE {identifier(relation.name)} AS SELECT * FROM facts")
            del facts


def _arrays(base: FactBase, relation: Relation) -> dict[str, np.ndarray[Any, Any]]:
    return {
        name: np.array(cells, dtype=object if isinstance(cells[0], str) else None)
        for name, cells in table_columns(base, relation).items()
    }


def read_sqlite(path: Path, selection: Selection | None = None) -> FactBase:
    """Read the tables and views of a SQLite database."""
    with open_sqlite(path) as database:
        return read_database(database, selection)


def write_sqlite(base: FactBase, path: Path) -> None:
    """Write a table for each relation, with untyped columns, so that each cell keeps its type."""
    with sqlite_connection(path, "rwc") as connection, connection:
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
    read_selected=read_duckdb,
    suffixes=(".duckdb", ".db"),
    holds=frozenset(COLUMNS),
    checks=_CHECKS,
)
SQLITE = Format(
    name="sqlite",
    title="a SQLite database",
    read=read_sqlite,
    write=write_sqlite,
    read_selected=read_sqlite,
    suffixes=(".sqlite", ".sqlite3"),
    holds=frozenset(COLUMNS),
    checks=(check_arities(1, 1000), check_names_apart(fold=True), check_cells, _check_names),
)
