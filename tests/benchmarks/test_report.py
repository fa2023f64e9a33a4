"""Reports survive JSON, and the page is made of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.errors import DataError
from benchmarks import BENCHMARKS
from benchmarks.report import PAPER_TABLES, Figure, Report, Table, rich_tables, write_page

_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp")), max_size=8)


def _report(name="demo", rows=(("R1", "0.2"),)):
    return Report(
        name=name,
        title=f"About {name}",
        protocol="As it was done.",
        settings={"seed": 7},
        seconds=2.5,
        tables=(Table("Times", ("task", "s"), rows),),
        figures=(Figure("demo.svg", "A picture"),),
        notes=("A note.",),
        data={"raw": [1, 2.5]},
    )


@settings(max_examples=50)
@given(rows=st.lists(st.tuples(_TEXT, _TEXT), max_size=4).map(tuple))
def test_json_round_trip(rows):
    report = _report(rows=rows)
    assert Report.read(json.loads(report.json())) == report


@settings(max_examples=50)
@given(rows=st.lists(st.tuples(_TEXT, _TEXT), min_size=1, max_size=4).map(tuple))
def test_every_line_of_a_markdown_table_has_all_columns(rows):
    lines = Table("Times", ("task", "s"), rows).markdown().split("\n")[2:]
    assert len(lines) == 2 + len(rows)
    assert {line.replace("\\|", "").count("|") for line in lines} == {3}


def test_a_report_names_seed_time_and_versions():
    text = _report().markdown()
    assert all(
        part in text for part in ("As it was done.", "seed 7", "2.5 s", "torch", "A note.", "demo.svg")
    )


def test_the_page_holds_all_reports_in_order(tmp_path):
    for name in ("speed", "zebra", "synthetic"):
        _report(name).write(tmp_path)
    page = (tmp_path / "benchmarks.md").read_text()
    places = [page.index(f"About {name}") for name in ("synthetic", "speed", "zebra")]
    assert places == sorted(places)
    _report("synthetic", rows=(("R6", "9.9"),)).write(tmp_path)
    assert page.replace("| R1 | 0.2 |", "| R6 | 9.9 |", 1) == (tmp_path / "benchmarks.md").read_text()


def test_long_tables_but_the_first_and_many_figures_are_folded():
    long = Table("Long", ("task",), (("R1",),) * 13)
    report = replace(_report(), tables=(long, long, Table("Short", ("task",), (("R1",),))))
    text = report.markdown()
    assert text.count("<details") == text.count("</details>") == 1
    assert text.index("**Long**") < text.index("<summary>Long</summary>") < text.index("**Short**")
    many = replace(_report(), figures=tuple(Figure(f"{n}.svg", "A picture") for n in range(3)))
    assert "<summary>3 figures</summary>" in many.markdown()
    assert "<details" not in _report().markdown()


def test_the_page_says_where_the_tables_of_the_paper_are(tmp_path):
    assert {name for names in PAPER_TABLES.values() for name in names} <= set(BENCHMARKS)
    for name in ("ablation", "speed"):
        _report(name).write(tmp_path)
    page = (tmp_path / "benchmarks.md").read_text()
    assert "| ablation | [About ablation](#about-ablation) |" in page
    assert "| – | [About speed](#about-speed) |" in page
    assert "classical tasks |" not in page  # it was not measured


def test_the_page_refuses_what_is_no_report(tmp_path):
    with pytest.raises(DataError, match="no reports"):
        write_page(tmp_path)
    _report().write(tmp_path)
    for text in ("{", "{}", "[]", '{"tables": 3}'):
        (tmp_path / "benchmarks" / "other.json").write_text(text)
        with pytest.raises(DataError, match=r"other\.json is no benchmark's report"):
            write_page(tmp_path)


def test_a_terminal_gets_every_row():
    (table,) = rich_tables(_report(rows=(("R1", "1"), ("R2", "2"))))
    assert table.row_count == 2
    assert [column.header for column in table.columns] == ["task", "s"]
