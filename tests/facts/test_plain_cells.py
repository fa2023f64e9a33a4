"""Numbers read from the bytes of a CSV file, against Python's own reading and against DuckDB's."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from andre.errors import OutOfTimeError
from andre.facts import RawTable
from andre.facts.formats import table_files
from andre.facts.formats.plain_cells import plain_columns
from andre.limits import Deadline, limited

NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.floats(allow_nan=False).map(repr),
    st.decimals(-1000, 1000, places=3).map(str),
    st.sampled_from(["0", "-0", "", "NA", "-", "none", "1.", ".5", "+3", " 7 ", "1e3", "inf", "-0.0"]),
)
TEXTS = st.sampled_from(["007", "1_000", "red", "0-1", "--1", "1.2.3", "1-2", "é", "5 kg", "0x10", "1,2"])
CELLS = st.one_of(NUMBERS, NUMBERS, NUMBERS, TEXTS)


def written(rows: list[list[str]], newline: str = "\n") -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator=newline).writerows([[f"c{n}" for n in range(len(rows[0]))], *rows])
    return file.getvalue()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(
    st.integers(2, 4).flatmap(
        lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=6)
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_a_table_is_the_same_however_it_is_read(
    tmp_path: Path, rows: list[list[str]], newline: str, is_closed: bool
) -> None:
    text = written(rows, newline)
    path = tmp_path / "table.csv"
    path.write_bytes((text if is_closed else text.rstrip("\r\n")).encode())
    tables = []
    for wide in (2, 100):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(table_files, "_WIDE", wide)
            tables.append(RawTable.read(path))
    for by_bytes, by_query in zip(*(table.columns for table in tables), strict=True):
        assert by_bytes.levels == by_query.levels
        np.testing.assert_array_equal(by_bytes.values, by_query.values)
        np.testing.assert_array_equal(np.signbit(by_bytes.values), np.signbit(by_query.values))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_numbers_are_those_that_python_reads(tmp_path: Path, numbers: list[float]) -> None:
    path = tmp_path / "table.csv"
    short = [f"{number:.6g}" for number in numbers]
    path.write_text(written([[repr(a), b] for a, b in zip(numbers, short, strict=True)]))
    found = plain_columns(path, 2, ",", ())
    np.testing.assert_array_equal(found[0], numbers)
    np.testing.assert_array_equal(found[1], list(map(float, short)))


@pytest.mark.parametrize("block", [1, 7, 30])
def test_blocks_may_end_anywhere(block: int, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a;b\n" + "".join(f"{n};{n / 8}\n" for n in range(20)))
    found = plain_columns(path, 2, ";", (), block=block)
    np.testing.assert_array_equal(found[0], np.arange(20))
    np.testing.assert_array_equal(found[1], np.arange(20) / 8)


@pytest.mark.parametrize(
    "text", ['a,b\n1,"2"\n', "a,b\n1,2\n3\n", "a,b\n1,2,3\n", "a,b\n\n1,2\n", "a,b\n", '"a\n",b\n1,2\n']
)
def test_what_needs_a_closer_look_is_left(text: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    assert plain_columns(path, 2, ",", ()) == {}


def test_columns_of_text_are_left(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b,c\n1,x,3\n2,5,6\n")
    assert set(plain_columns(path, 3, ",", {2})) == {0}


def test_reading_ends_with_its_time(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(OutOfTimeError), limited(Deadline.after(0)):
        plain_columns(path, 2, ",", ())
