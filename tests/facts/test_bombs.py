"""Small files that state far more than they hold are refused before memory is taken for it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from andre.errors import DataError
from andre.facts import RawTable, read_facts


def write_parquet(path: Path, query: str) -> Path:
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
    assert path.stat().st_size < 200_000
    return path


BOMBS = {
    "rows": "SELECT 1 AS a, 'x' AS b FROM range(30000000)",
    "text": "SELECT repeat('x', 100000) AS a, 1 AS b FROM range(5000)",
}


@pytest.mark.parametrize("kind", ["rows", "text"])
@pytest.mark.parametrize("read", [read_facts, RawTable.read], ids=["facts", "table"])
def test_a_parquet_file_that_unpacks_to_far_more_is_refused(kind: str, read, tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "bomb.parquet", BOMBS[kind])
    with pytest.raises(DataError, match=r"bomb.parquet has [\d,]+ bytes that unpack to [\d,]+ values"):
        read(path)


def test_a_parquet_file_of_one_value_is_read(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "same.parquet", "SELECT 'x' AS a, 1 AS b FROM range(200000)")
    assert len(read_facts(path)) == 1
    assert RawTable.read(path).n_rows == 200_000


@pytest.mark.parametrize("view", [False, True])
def test_a_sqlite_file_that_computes_its_text_is_not_read(view: bool, tmp_path: Path) -> None:
    path = tmp_path / "bomb.sqlite"
    long = "replace(hex(zeroblob(2000000)), '00', 'xy' || id)"
    with closing(sqlite3.connect(path)) as database, database:
        if view:
            database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
            database.execute(f"CREATE VIEW v AS SELECT id, {long} AS name FROM t")
        else:
            database.execute(f"CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT AS ({long}))")
        database.executemany("INSERT INTO t (id) VALUES (?)", [(n,) for n in range(100)])
    assert path.stat().st_size < 20_000
    says = "is computed, and holds far more text than the file"
    if view:  # the rest of the database is
        assert any(says in note for note in read_facts(path).notes)
    else:
        with pytest.raises(DataError, match=says):
            read_facts(path)


def test_a_sqlite_view_may_repeat_what_the_file_has(tmp_path: Path) -> None:
    path = tmp_path / "view.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, twice TEXT AS (name || name))")
        database.executemany("INSERT INTO t (id, name) VALUES (?, ?)", [(n, f"n{n}") for n in range(300)])
        database.execute("CREATE VIEW pairs AS SELECT a.id AS one, b.id AS other FROM t a, t b")
    facts = read_facts(path)
    assert len(facts.relations["t_twice", 2]) == 300
    assert len(facts.relations["pairs", 2]) == 90_000


@pytest.mark.parametrize("weight", ["1e308", "1e15"])
def test_weights_whose_sum_is_no_number_of_rows_are_refused(weight: str) -> None:
    from andre.facts import LabelledRows

    table = RawTable.read({"a": [0, 1] * 9, "h": ["no", "yes"] * 9, "w": [float(weight)] * 18})
    with pytest.raises(DataError, match=r"the weights add up to more than 1e\+15"):
        LabelledRows.read(table, "h", weight="w")
