"""Parquet and DuckDB hold what their cells say, whatever their files are called."""

import os
import tempfile
import threading
from decimal import Decimal
from pathlib import Path

import duckdb
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andre
from andre.errors import DataError
from andre.facts import FactBase, read_facts
from andre.facts.formats.databases.duckdb import duckdb_connection
from andre.logic import Atom, Constant

NAMES = ["m*", "m?", "[mn]", "a=1", "part", "mine"]


def write(path: Path, select: str) -> Path:
    """A Parquet file of what a query gives, under any name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain"
        duckdb.execute(f"COPY ({select}) TO '{plain}' (FORMAT parquet)")
        path.write_bytes(plain.read_bytes())
    return path


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_file_or_folder_is_no_pattern_and_no_column(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "key=value" / name
    for other in NAMES:
        write(folder / f"{other}.parquet", f"SELECT '{NAMES.index(other)}' AS arg1")
    (fact,) = read_facts(folder / f"{name}.parquet").relations.values()
    assert (fact.arity, len(fact)) == (1, 1)
    whole = read_facts(folder)
    assert {key[1] for key in whole.relations} == {1}
    assert sorted(whole.constants) == sorted(map(str, range(len(NAMES))))


def test_a_parquet_file_may_come_through_a_pipe(tmp_path: Path) -> None:
    data = write(tmp_path / "p.parquet", "SELECT 'a' AS arg1").read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[data])
    writer.start()
    assert read_facts(pipe, format="parquet") == FactBase.from_facts([Atom("pipe", (Constant("a"),))])
    writer.join()


@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False), min_size=1, unique=True))
def test_decimals_that_differ_stay_apart(cells: list[Decimal]) -> None:
    facts = read_facts({"cost": pandas.DataFrame({"amount": cells})})
    assert len(facts) == len(cells)
    numbers = [value for value in facts.constants if not isinstance(value, str)]
    assert set(map(Decimal, map(repr, numbers))) <= set(cells)


def test_whole_decimals_are_whole_numbers(tmp_path: Path) -> None:
    ids = [12345678901234567890 + n for n in range(3)]
    rows = ", ".join(f"({one}::DECIMAL(38, 0), {one}::DECIMAL(38, 10) / 3)" for one in ids)
    path = write(tmp_path / "p.parquet", f"SELECT * FROM (VALUES {rows}) AS t(id, share)")
    facts = read_facts(path)
    assert len(facts) == 3
    assert [constant for constant in facts.constants if isinstance(constant, int)] == ids


def test_nanoseconds_stay_apart(tmp_path: Path) -> None:
    times = ", ".join(f"('2020-01-01 00:00:00.00000000{n}'::TIMESTAMP_NS)" for n in range(3))
    path = write(tmp_path / "p.parquet", f"SELECT * FROM (VALUES {times}) AS t(moment)")
    assert len(read_facts(path)) == 3
    database = tmp_path / "p.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"CREATE TABLE p AS SELECT * FROM '{path}'")
    assert read_facts(database) == read_facts(path)


def test_numbers_of_single_precision_are_as_they_are_written(tmp_path: Path) -> None:
    cells = "(79.62::FLOAT), (1e10::FLOAT), (-0.1::FLOAT)"
    path = write(
        tmp_path / "p.parquet", f"SELECT * FROM (VALUES {cells}) AS t(price) WHERE price IS NOT NULL"
    )
    assert set(read_facts(path).constants) == {79.62, 1e10, -0.1}
    database = tmp_path / "p.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"CREATE TABLE p AS SELECT * FROM (VALUES {cells}) AS t(price)")
    assert set(read_facts(database).constants) == {79.62, 1e10, -0.1}


def test_a_damaged_file_is_called_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "bad.parquet"
    path.write_bytes(b"PAR1garbagePAR1")
    for read in (lambda: read_facts(path), lambda: andre.fit(path, label="h")):
        with pytest.raises(DataError, match=r"bad\.parquet") as refused:
            read()
        assert "andre-" not in str(refused.value).replace(str(tmp_path), "")


def test_connections_share_a_database_but_nothing_in_it() -> None:
    with duckdb_connection(str) as first, duckdb_connection(str) as second:
        first.execute("CREATE TEMP TABLE t AS SELECT 1")
        with pytest.raises(duckdb.CatalogException):
            second.execute("SELECT * FROM t")
    with pytest.raises(DataError, match="t does not exist"), duckdb_connection(str) as third:
        third.execute("SELECT * FROM t")


def fail_with(fault: type[Exception]) -> None:
    with duckdb_connection(str) as connection:
        connection.execute("CREATE TABLE left_over AS SELECT 1")
        raise fault("over")


@pytest.mark.parametrize("fault", [duckdb.FatalException, MemoryError])
def test_a_database_that_may_be_broken_is_not_used_again(fault: type[Exception]) -> None:
    with pytest.raises((DataError, MemoryError)):
        fail_with(fault)
    with duckdb_connection(str) as connection:
        assert connection.execute("SHOW TABLES").fetchall() == []


def test_a_file_that_memory_does_not_hold_has_a_folder(tmp_path: Path) -> None:
    with duckdb_connection(str, scratch=tmp_path) as connection:
        (folder,) = connection.execute("SELECT current_setting('temp_directory')").fetchone() or ("",)
    assert folder == str(tmp_path)
