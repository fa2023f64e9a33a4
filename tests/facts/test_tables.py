"""Tables are read as they stand, by both paths alike; a fault is named by file, line and column."""

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
from andre.facts import ExampleTable, read_table
from andre.facts.formats.table_files import CsvFile, open_table, read_cell
from andre.samples import Sample

cells = st.one_of(
    st.floats(0, 1).map(repr),
    st.sampled_from(["0", "1", "true", "False", "", "nan", "NA", " 0.5", "1e-3", ".5", '"0.25"', '""']),
)
reading = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def write(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refusal(path: Path, **kwargs) -> str:
    with pytest.raises(DataError) as caught:
        read_table(path, **kwargs)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


@reading
@given(
    rows=st.lists(st.tuples(cells, cells, st.sampled_from(["0", "1"])), min_size=1, max_size=12),
    delimiter=st.sampled_from(",;\t"),
    newline=st.sampled_from(["\n", "\r\n"]),
    bom=st.booleans(),
)
def test_a_csv_is_read_cell_by_cell_as_written(tmp_path, rows, delimiter, newline, bom):
    lines = [("b1", '"mother(X1,X2)"', "h"), *rows]
    text = newline.join(delimiter.join(line) for line in lines) + newline
    table = read_table(write(tmp_path, ("\ufeff" if bom else "") + text))
    wanted = [[read_cell(cell.strip('"')) for cell in row[:2]] for row in rows]
    np.testing.assert_array_equal(table.valuations, np.array(wanted))
    np.testing.assert_array_equal(table.labels, [row[2] == "1" for row in rows])
    assert table.names == ("b1", "mother(X1,X2)")


@reading
@given(
    st.lists(
        st.lists(
            st.one_of(cells, st.text("01.,;\"' \n\rxeE+-_\tü٣", max_size=6)), min_size=1, max_size=4
        ).map(",".join),
        max_size=8,
    )
)
def test_the_bulk_path_never_reads_what_the_careful_walk_would_not(tmp_path, lines):
    path = write(tmp_path, "b1,b2,h\n" + "\n".join(lines))
    with open_table(path) as file:
        bulk = file.columns([0, 1, 2])
        try:
            walked = [[read_cell(cell) for cell in row] for _, row in file.rows()]
        except DataError:
            walked = None
    if bulk is None:
        return
    if not (bulk == -1).any():
        assert walked is not None
        np.testing.assert_array_equal(bulk, np.array(walked, dtype=float).reshape(-1, 3))


@reading
@given(st.binary(max_size=300), st.sampled_from(["table.csv", "table.parquet"]))
def test_junk_raises_nothing_but_the_librarys_own_error(tmp_path, data, name):
    for start in (b"", b"b1,h\n", b"PAR1"):
        with suppress(AndreError):
            read_table(write(tmp_path, start + data, name))


@reading
@given(
    labels=st.lists(st.booleans(), min_size=4, max_size=60).filter(
        lambda labels: 0 < sum(labels) < len(labels)
    ),
    share=st.floats(0.05, 0.95),
    seed=st.integers(0, 9),
)
def test_a_split_shares_out_all_rows_and_both_classes(labels, share, seed):
    count = len(labels)
    table = ExampleTable(("b1",), np.arange(count)[:, None] / count, "h", np.array(labels))
    wanted = [min(round(share * n), n - 1) for n in (sum(labels), count - sum(labels))]
    if not any(wanted):
        with pytest.raises(DataError, match="holds out none"):
            table.split(share, seed)
        return
    train, held = table.split(share, seed)
    sample = Sample.from_table(held)
    assert [sample.positives.sum(), sample.negatives.sum()] == wanted
    assert sorted([*train.valuations[:, 0], *held.valuations[:, 0]]) == sorted(table.valuations[:, 0])
    again = table.split(share, seed)[1]
    np.testing.assert_array_equal(again.valuations, held.valuations)


def test_parquet_gives_the_same_table_as_csv(tmp_path):
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
    one, other = read_table(tmp_path / "t.csv"), read_table(tmp_path / "t.parquet")
    assert one.names == other.names == ("b1", "Sepal Length (cm)", "small", "text")
    np.testing.assert_array_equal(one.valuations, other.valuations)
    np.testing.assert_array_equal(one.labels, other.labels)
    assert str(Sample.from_table(one).space.atoms[1]) == "'Sepal Length (cm)'"


def test_label_weight_and_ignored_columns_are_no_candidates(tmp_path):
    path = write(
        tmp_path, 'name,w,"grandparent(X1, X3)","mother(X1,X2)"\nann,2,1,0.5\nbob,0,0,0.1\neve,1.5,0,0.2\n'
    )
    table = read_table(path, "grandparent(X1,X3)", "w", ignore=["name"])
    sample = Sample.from_table(table)
    assert table.names == ("mother(X1,X2)",)
    assert str(sample.space.head) == "grandparent(X1, X3)"
    assert sample.total == 3.5


def test_chosen_columns_come_in_their_own_order_and_the_rest_is_not_read(tmp_path):
    path = write(tmp_path, "id,b2,b1\nx,0.2,0.1\ny,0.4,0.3\n")
    table = read_table(path, label=None, columns=["b1", "b2"])
    np.testing.assert_array_equal(table.valuations, [[0.1, 0.2], [0.3, 0.4]])
    with pytest.raises(DataError, match="name the label column"):
        Sample.from_table(table)


def test_a_single_column_is_read_without_its_blank_lines(tmp_path):
    path = write(tmp_path, 'b1\n0.5\n\n""\n1\n')
    values = read_table(path, label=None).valuations[:, 0]
    np.testing.assert_array_equal(values, [0.5, math.nan, 1])


def test_delimiters_that_end_a_line_hold_no_cell(tmp_path):
    for cell in ("1", "true", '" 1"'):  # the last is read by the careful walk
        table = read_table(write(tmp_path, f"b1,h\n{cell},1,\n0,0,,\n"))
        np.testing.assert_array_equal(table.valuations, [[1], [0]])
    assert "line 3: 3 cells for 2" in refusal(write(tmp_path, "b1,h\n1,1,\n0,0,1\n"))


def test_constant_columns_are_named_and_dropped(tmp_path):
    table = read_table(write(tmp_path, "b1,b2,b3,h\n0,1,,1\n1,1,,0\n"))
    assert table.constant == ("b2", "b3")
    assert table.without_constant().names == ("b1",)
    with pytest.raises(DataError, match="same value on every row"):
        table.select(["b2", "b3"]).without_constant()


def test_names_with_glob_signs_and_pipes_are_read(tmp_path):
    text = "b1,h\n0,1\n1,0\n"
    assert len(read_table(write(tmp_path, text, "a[1]*?.csv"))) == 2
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(text,))
    writer.start()
    assert len(read_table(pipe)) == 2
    writer.join()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("b1,b2,h\n0,1,1\n0.3,high,0\n", ["line 3", "'b2'", "'high' is not a number"]),
        ("b1;h\n0,5;1\n", ["line 2", "'b1'", "decimal point"]),
        ("b1,h\n0,1\n\n1.5,0\n", ["line 4", "'b1'", "1.5 is outside [0, 1]"]),
        ('b1,h\n0,1\n"x\ny",0\n', ["line 3", "'b1'", "is not a number"]),
        ("b1,h\n-0.1,1\n", ["line 2", "-0.1 is outside"]),
        ("b1,h\n0,1\ninf,0\n", ["line 3", "infinite"]),
        ("b1,h\n0,1\n0.5,\n", ["line 3", "'h'", "label is missing"]),
        ("b1,h\n0,nan\n", ["line 2", "'h'", "label is missing"]),
        ("b1,h\n0,1\n0,0.5\n", ["line 3", "'h'", "'0.5'", "0 or 1"]),
        ("b1,h\n0,yes\n", ["line 2", "'yes'", "0 or 1"]),
        ("b1,h\n0,1\n0,1,1\n", ["line 3", "3 cells for 2 column names"]),
        ("b1,h\n0,1\n0\n", ["line 3", "1 cell for 2 column names"]),
        ("mother(X1,X2),h\n0,1\n", ["line 2", "double quotes"]),
        ('b1,h\n"0\n",1\n"0,0\n', ["line 4", "quotes"]),
        ("b1,b1,h\n0,1,1\n", ["columns 1 and 2", "'b1'", "its own name"]),
        ('"m(X1,X2)","m(X1, X2)",h\n0,1,1\n', ["columns 1 and 2", "its own name"]),
        ("b1,,h\n0,1,1\n", ["column 2 of 3 has no name"]),
        ("b1,h\n", ["no rows"]),
        ("h\n1\n0\n", ["no column beside the label"]),
        ("", ["is empty"]),
        ("\n\n", ["is empty"]),
        ("b1,target\n0,1\n", ["no label column 'h'", "'b1', 'target'"]),
        ("0.1,0.2,1\n0,1,1\n", ["no label column 'h'", "first line must name"]),
        ("b1,H\n0,1\n", ["no label column 'h'"]),
        (b"b1,h\n0,1\n0.\xe9,0\n", ["line 3", "0xe9", "not UTF-8", "Latin-1"]),
        ("b1,h\n0,1\n".encode("utf-16"), ["UTF-16"]),
        (b"\x7fELF\0\0\1\2", ["binary file"]),
        (b"\x1f\x8b\x08\x00", ["gzip"]),
        (b"PK\x03\x04\x14", ["spreadsheet"]),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path, text, parts):
    message = refusal(write(tmp_path, text))
    assert all(part in message for part in parts), message


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("b1,w,h\n0,-2,1\n", ["line 2", "'w'", "'-2'", "at least 0"]),
        ("b1,w,h\n0,,1\n", ["line 2", "'w'"]),
        ("b1,w,h\n0,inf,1\n", ["line 2", "'inf'"]),
        ("b1,w,h\n0,0,1\n1,0,0\n", ["'w'", "every weight is 0"]),
        ("b1,h\n0,1\n", ["no weight column 'w'"]),
    ],
)
def test_a_bad_weight_is_named_with_its_place(tmp_path, text, parts):
    message = refusal(write(tmp_path, text), weight="w")
    assert all(part in message for part in parts), message


def test_columns_cannot_be_two_things(tmp_path):
    path = write(tmp_path, "b1,h\n0,1\n")
    assert "two things" in refusal(path, weight="h")
    assert "no column 'id'" in refusal(path, ignore=["id"])
    assert "no column 'b2'" in refusal(path, columns=["b1", "b2"])
    assert "did you mean 'b1'" in refusal(path, columns=["b11"])


def test_one_class_is_refused_with_the_file(tmp_path):
    path = write(tmp_path, "b1,w,h\n0,1,1\n1,0,0\n0.5,1,1\n")
    assert read_table(path, ignore=["w"]).require_both_classes()
    with pytest.raises(DataError, match=r"table.csv, column 'h': every label is 1"):
        read_table(path, weight="w").require_both_classes()


def test_what_is_no_file_is_refused(tmp_path):
    assert "there is no file" in refusal(tmp_path / "none.csv")
    assert "is a folder" in refusal(tmp_path)
    assert "named like a Parquet" in refusal(write(tmp_path, "b1,h\n0,1\n", "t.parquet"))
    assert "cannot be read as Parquet" in refusal(write(tmp_path, b"PAR1 cut short", "t.parquet"))


def test_faults_of_parquet_are_named_by_row(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"b1": [0.5, 1.5], "h": [0, 1]}).to_parquet(path)
    assert "row 2, column 'b1': 1.5 is outside" in refusal(path)
    pd.DataFrame({"b1": [0.5, 1.0], "h": [0, None]}).to_parquet(path)
    assert "row 2, column 'h': the label is missing" in refusal(path)
    pd.DataFrame({"b1": pd.to_datetime(["2020-01-01"]), "h": [0]}).to_parquet(path)
    assert "type TIMESTAMP" in refusal(path)
    pq.write_table(pa.table([pa.array([0.5]), pa.array([0.1]), pa.array([1])], names=["b1", "b1", "h"]), path)
    assert "columns 1 and 2 are both named 'b1'" in refusal(path)


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, math.nan])
def test_a_share_is_between_0_and_1(share):
    table = ExampleTable(("b1",), np.array([[0.0], [1.0]]), "h", np.array([True, False]))
    with pytest.raises(DataError, match="between 0 and 1"):
        table.split(share)


def test_the_delimiter_is_told_from_the_first_two_lines(tmp_path):
    with open_table(write(tmp_path, "mother(X1,X2);h\n0.5;1\n")) as file:
        assert isinstance(file, CsvFile)
        assert file.names == ("mother(X1,X2)", "h")
