"""The published pages: a chapter for every benchmark, and a line for every goal."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest

from andre.errors import DataError
from benchmarks import BENCHMARKS, CHAPTERS
from benchmarks.pages import PAPER_TABLES, write_pages
from benchmarks.report import Report, Table, reports_in
from benchmarks.summary import goals_of

#: Benchmarks that answer a question and have no goal.
WITHOUT_GOALS = {
    "classical-paper",
    "synthetic-paper",
    "ablation-paper",
    "noise",
    "proposals",
    "times",
    "kb-paper",
    "kb-listings",
}
DOCS = Path(__file__).parents[2] / "docs"


def _report(name, *tables):
    return Report(name, f"About {name}", "As it was done.", {"seed": 7}, 2.5, tables)


def _pages(folder, *names):
    for name in names:
        _report(name, Table("Times", ("task", "s"), (("R1", "0.2"),))).write(folder)
    home = write_pages(folder).parent
    return {path.name: path.read_text() for path in home.glob("*.md")}


def test_every_benchmark_is_a_section_of_one_chapter():
    assert Counter(chain.from_iterable(chapter.benchmarks for chapter in CHAPTERS)) == Counter(
        list(BENCHMARKS)
    )


def test_a_chapter_holds_its_reports_in_order_and_nothing_else(tmp_path):
    pages = _pages(tmp_path, "synthetic-paper", "speed", "zebra", "synthetic")
    assert pages.keys() == {"index.md", "paper.md", "synthetic.md", "speed.md", "others.md"}
    sections = [line for line in pages["synthetic.md"].splitlines() if line.startswith("## ")]
    assert sections == ["## About synthetic", "## About synthetic-paper"]
    assert "About zebra" in pages["others.md"]
    Report("speed", "Faster", "", {}, 0.0).write(tmp_path)
    again = _pages(tmp_path)
    assert [name for name in pages if pages[name] != again[name]] == ["speed.md"]


def test_the_paper_is_mapped_as_far_as_it_was_measured(tmp_path):
    assert {name for names in PAPER_TABLES.values() for name in names} <= set(BENCHMARKS)
    page = _pages(tmp_path, "ablation", "speed")["paper.md"]
    assert "| ablation | [ablation](synthetic.md#about-ablation) |" in page
    assert "classical tasks" not in page


@pytest.mark.parametrize(("taken", "outcome"), [("10.9", "met"), ("11.1", "**missed**")])
def test_a_goal_is_a_line_of_the_overview(tmp_path, taken, outcome):
    table = Table("Taken of what is allowed", ("command", "limit, s", "taken, s"), (("fit", "10", taken),))
    _report("commands", table).write(tmp_path)
    line = next(line for line in write_pages(tmp_path).read_text().splitlines() if "a tenth over" in line)
    assert line.endswith(f"| {outcome} | [commands](limits.md#about-commands) |")


def test_the_goals_of_every_published_report_are_read():
    """The functions of `summary.py` find their tables in what is published, and all outcomes are known."""
    for report in reports_in(DOCS):
        goals = goals_of(report)
        assert bool(goals) != (report.name in WITHOUT_GOALS), report.name
        assert all(goal.met is not None and goal.ours for goal in goals)


def test_the_goals_of_a_part_of_what_is_published_are_read():
    for report in reports_in(DOCS):
        if report.name not in {"ablation", "operators"}:  # which compare all operators
            for rows in (0, 1):
                tables = tuple(replace(table, rows=table.rows[:rows]) for table in report.tables)
                assert all(goal.ours or not rows for goal in goals_of(replace(report, tables=tables)))


def test_what_is_no_report_is_refused(tmp_path):
    with pytest.raises(DataError, match="no reports"):
        write_pages(tmp_path)
    _report("demo").write(tmp_path)
    for text in ("{", "{}", "[]", '{"tables": 3}'):
        (tmp_path / "benchmarks" / "other.json").write_text(text)
        with pytest.raises(DataError, match=r"other\.json is no benchmark's report"):
            write_pages(tmp_path)
