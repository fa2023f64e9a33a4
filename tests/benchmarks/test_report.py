"""Reports survive JSON, and say all that is needed to judge them."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.report import Figure, Report, Table, rich_tables

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
        part in text
        for part in ("./dev bench demo", "As it was done.", "seed 7", "2.5 s", "torch", "A note.", "demo.svg")
    )


def test_long_tables_but_the_first_and_many_figures_are_folded():
    long = Table("Long", ("task",), (("R1",),) * 13)
    report = replace(_report(), tables=(long, long, Table("Short", ("task",), (("R1",),))))
    text = report.markdown()
    assert text.count("<details") == text.count("</details>") == 1
    assert text.index("**Long**") < text.index("<summary>Long</summary>") < text.index("**Short**")
    many = replace(_report(), figures=tuple(Figure(f"{n}.svg", "A picture") for n in range(3)))
    assert "<summary>3 figures</summary>" in many.markdown()
    assert "<details" not in _report().markdown()


def test_a_terminal_gets_every_row():
    (table,) = rich_tables(_report(rows=(("R1", "1"), ("R2", "2"))))
    assert table.row_count == 2
    assert [column.header for column in table.columns] == ["task", "s"]
