"""Rules of one graph on another: the table of the benchmark, on a split that is made here."""

import pytest

from andre.errors import DataError
from benchmarks import BENCHMARKS


def write(folder, names, answers):
    """A graph in which likes is the inverse of knows, with some facts of likes to be ranked."""
    folder.mkdir()
    pairs = [(f"{names}x{at}", f"{names}y{at}") for at in range(12)]
    knows = [f"{y}\tknows\t{x}\n" for x, y in pairs]
    likes = [f"{x}\tlikes\t{y}\n" for x, y in pairs]
    (folder / "train.txt").write_text("".join(knows + likes[answers:]))
    (folder / "valid.txt").write_text("".join(likes[: answers // 2]))
    (folder / "test.txt").write_text("".join(likes[answers // 2 : answers]))


def test_facts_about_other_things_are_ranked(tmp_path, monkeypatch):
    write(tmp_path / "nell_v2", "", 4)
    write(tmp_path / "nell_v2_ind", "other_", 6)
    monkeypatch.setenv("ANDRE_DATA", str(tmp_path))
    report = BENCHMARKS["inductive"].measure(datasets="nell_v2", workers=1)
    (row,) = report.tables[0].rows
    assert row[0] == "nell_v2"
    assert row[1] == "20, 18, 3"
    assert row[3:5] == ("100.0", "93.3")


def test_what_is_not_there_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("ANDRE_DATA", str(tmp_path))
    with pytest.raises(DataError, match="set ANDRE_DATA to the folder data"):
        BENCHMARKS["inductive"].measure(datasets="nell_v1", workers=1)
