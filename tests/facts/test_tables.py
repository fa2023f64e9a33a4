"""Tables of files are read as they stand, and a fault of the file is named by file and line; truth values."""

import math
import os
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from andre.errors import AndreError, DataError
from andre.facts import RawTable, TruthRows
from andre.facts.formats.table_files import CsvFile, open_table

TRUTH = {
    **{"0": 0.0, "1": 1.0, "true": 1.0, "False": 0.0, " 0.5": 0.5, "1e-3": 0.001, ".5": 0.5},
    **{"": math.nan, "nan": math.nan, "NA": math.nan, '"0.25"': 0.25, '""': math.nan},
}
cells = st.one_of(st.floats(0, 1).map(repr), st.sampled_from(sorted(TRUTH)))
reading = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def write(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def truth(path: Path, names=("b1", "b2"), label="h", **kwargs) -> TruthRows:
    return TruthRows.read(RawTable.read(path), names, label, **kwargs)


def refusal(path: Path, names=("b1",), **kwargs) -> str:
    with pytest.raises(DataError) as caught:
        truth(path, names, **kwargs)
    message = str(caught.value)
    assert "\n" not in message
    return message


@reading
@given(
    rows=st.lists(st.tuples(cells, cells, st.sampled_from(["0", "1"])), min_size=1, max_size=12),
    delimiter=st.sampled_from(",;\t|"),
    newline=st.sampled_from(["\n", "\r\n"]),
    bom=st.booleans(),
)
def test_truth_values_are_read_cell_by_cell_as_written(tmp_path, rows, delimiter, newline, bom):
    lines = [("b1", '"mother(X1,X2)"', "h"), *rows]
    text = newline.join(delimiter.join(line) for line in lines) + newline
    table = truth(write(tmp_path, ("\ufeff" if bom else "") + text), ("b1", "mother(X1, X2)"))
    wanted = [[TRUTH[cell] if cell in TRUTH else float(cell) for cell in row[:2]] for row in rows]
    np.testing.assert_array_equal(table.valuations, np.array(wanted))
    np.testing.assert_array_equal(table.labels, [row[2] == "1" for row in rows])


@reading
@given(st.binary(max_size=300), st.sampled_from(["table.csv", "table.parquet"]))
def test_junk_raises_nothing_but_the_librarys_own_error(tmp_path, data, name):
    for start in (b"", b"b1,h\n", b"PAR1"):
        with suppress(AndreError):
            RawTable.read(write(tmp_path, start + data, name))


def test_parquet_gives_the_same_rows_as_csv(tmp_path):
    frame = pd.DataFrame(
        {
            "b1": [0.25, None, 1.0],
            "Sepal Length (cm)": [True, False, True],
            "small": np.array([0, 1, 1], dtype=np.uint8),
            "text": ["0.5", "true", None],
            "h": [1, 0, 1],
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    names = list(frame.columns[:4])
    one, other = (truth(tmp_path / name, names) for name in ("t.csv", "t.parquet"))
    np.testing.assert_array_equal(one.valuations, other.valuations)
    np.testing.assert_array_equal(one.labels, other.labels)


def test_labels_and_weights_of_truth_values(tmp_path):
    path = write(tmp_path, "w,h,b1\n2,true,0.5\n0,false,0.1\n1.5,,0.2\n1,false,\n")
    rows = truth(path, ["b1"], weight="w")
    assert rows.labels.tolist() == [True, False, False], "a row without a label is left out"
    assert rows.weights.tolist() == [2.0, 0.0, 1.0]
    np.testing.assert_array_equal(rows.valuations[:, 0], [0.5, 0.1, math.nan])
    assert "label of row 1 is 0.5" in refusal(write(tmp_path, "b1,h\n0,0.5\n"))
    assert "outside [0, 1]" in refusal(write(tmp_path, "b1,h\n1.5,1\n"))
    assert "no column 'b2'" in refusal(path, ("b2",))


def test_a_single_column_is_read_without_its_blank_lines(tmp_path):
    path = write(tmp_path, 'b1\n0.5\n\n""\n1\n')
    np.testing.assert_array_equal(RawTable.read(path).columns[0].values, [0.5, math.nan, 1])


def test_delimiters_that_end_a_line_hold_no_cell(tmp_path):
    for cell in ("1", "true", '" 1"'):  # the last is read by the careful walk
        table = truth(write(tmp_path, f"b1,h\n{cell},1,\n0,0,,\n"), ["b1"])
        np.testing.assert_array_equal(table.valuations, [[1], [0]])
    assert "line 3: 3 cells for 2" in refusal(write(tmp_path, "b1,h\n1,1,\n0,0,1\n"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-16-be"])
def test_files_that_spreadsheets_save_are_read_in_their_encoding(tmp_path, encoding):
    text = "Größe;Straße;h\r\n1,5 €;Île;1\r\n;Œuvre;0\r\n"
    mark = "\ufeff" if encoding in ("utf-16-le", "utf-16-be") else ""
    path = write(tmp_path, (mark + text).encode(encoding))
    before = path.read_bytes()
    table = RawTable.read(path)
    assert table.names == ("Größe", "Straße", "h")
    assert [column.levels for column in table.columns[:2]] == [("1,5 €",), ("Île", "Œuvre")]
    assert bool(table.notes) == ("utf-8" not in encoding)
    assert path.read_bytes() == before


def test_names_with_glob_signs_and_pipes_are_read(tmp_path):
    text = "b1,h\n0,1\n1,0\n"
    assert RawTable.read(write(tmp_path, text, "a[1]*?.csv")).n_rows == 2
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(text,))
    writer.start()
    assert RawTable.read(pipe).n_rows == 2
    writer.join()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("b1,h\n0,1\n0,1,1\n", ["line 3", "3 cells for 2 column names"]),
        ("b1,h\n0,1\n0\n", ["line 3", "1 cell for 2 column names"]),
        ("mother(X1,X2),h\n0,1\n", ["line 2", "double quotes"]),
        ('b1,h\n"0\n",1\n"0,0\n', ["line 4", "quotes"]),
        ("b1,b1,h\n0,1,1\n", ["columns 1 and 2", "'b1'", "its own name"]),
        ('"m(X1,X2)","m(X1, X2)",h\n0,1,1\n', ["columns 1 and 2", "its own name"]),
        ("1,1,yes\n2,0,no\n", ["columns 1 and 2", "first line, which must name the columns"]),
        ("# a note\nb1,h\n0,1\n", ["line 2", "first line must name the columns", "'# a note'"]),
        ("sep=;\nb1;h\n0;1\n", ["line 1", "first line must name the columns", "'sep=;'"]),
        ("sep=,\nb1,b2,h\n0,1,1\n", ["line 1", "first line must name the columns", "'sep=,'"]),
        ("b1 h\n0 1\n1 0\n", ["cells must stand between commas, semicolons, tabs or bars"]),
        ("", ["is empty"]),
        ("\n\n", ["is empty"]),
        ("b1,target\n0,1\n", ["no label column 'h'", "'b1', 'target'"]),
        ("0.1,0.2,1\n0,1,1\n", ["no column 'b1'", "first line must name"]),
        ("b1,H\n0,1\n", ["no label column 'h'"]),
        (b"b1,h\n0,1\n0.\x81,0\n", ["line 3", "0x81", "not UTF-8", "not look like Windows-1252"]),
        ("город,h\nОмск,0\n".encode("cp1251"), ["line 1", "not UTF-8", "not look like Windows-1252"]),
        ("b1,h\n0,1\n".encode("utf-16")[:-1], ["UTF-16", "damaged"]),
        (b"\x7fELF\0\0\1\2", ["binary file"]),
        (b"\x1f\x8b\x08\x00", ["gzip"]),
        (b"PK\x03\x04\x14", ["spreadsheet"]),
        ("A title\n\nb1,h\n0,1\n", ["line 3", "must name all columns", "'A title'", "delete"]),
        ("\n<!DOCTYPE html>\n<p>404</p>\n", ["web page"]),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path, text, parts):
    message = refusal(write(tmp_path, text))
    assert all(part in message for part in parts), message


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("b1,w,h\n0,-2,1\n", ["row 1", "'w'", "-2", "at least 0"]),
        ("b1,w,h\n0,1,1\n0,,1\n", ["row 2", "'w'"]),
        ("b1,w,h\n0,inf,1\n", ["row 1", "inf"]),
        ("b1,w,h\n0,0,1\n1,0,0\n", ["'w'", "every weight is 0"]),
        ("b1,h\n0,1\n", ["no weight column 'w'"]),
    ],
)
def test_a_bad_weight_is_named_with_its_place(tmp_path, text, parts):
    message = refusal(write(tmp_path, text), weight="w")
    assert all(part in message for part in parts), message


def test_what_is_no_file_is_refused(tmp_path):
    assert "there is no file" in refusal(tmp_path / "none.csv")
    assert "is a folder" in refusal(tmp_path)
    assert "is JSON" in refusal(write(tmp_path, '[{"b1": 0, "h": 1}]', "t.json"))
    assert "named like a Parquet" in refusal(write(tmp_path, "b1,h\n0,1\n", "t.parquet"))
    assert "cannot be read as Parquet" in refusal(write(tmp_path, b"PAR1 cut short", "t.parquet"))


def test_faults_of_parquet_are_named(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table([pa.array([0.5]), pa.array([0.1]), pa.array([1])], names=["b1", "b1", "h"]), path)
    assert "columns 1 and 2 are both named 'b1'" in refusal(path)


def test_the_delimiter_is_told_from_the_first_two_lines(tmp_path):
    with open_table(write(tmp_path, "mother(X1,X2);h\n0.5;1\n")) as file:
        assert isinstance(file, CsvFile)
        assert file.names == ("mother(X1,X2)", "h")
