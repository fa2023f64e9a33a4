"""The published pages: an overview of goals, a page for each chapter, and where the paper's tables are.

All of them are made of the reports that a folder keeps (`report.py`), without measuring.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from andre.errors import DataError
from andre.files import write_whole
from benchmarks import BENCHMARKS, CHAPTERS, Chapter
from benchmarks.report import RESULTS, Report, Table, reports_in
from benchmarks.summary import goals_of

_OVERVIEW = """\
# Benchmarks

What ANDRE was measured against: one line for every goal, also for those that it misses. Each link leads to
the section with the command, the protocol, the seeds and all figures. These pages are written by the commands
that they describe, and nothing on them is typed by hand.

    ./dev bench NAME              # measures one section and prints it
    ./dev bench NAME --out docs   # keeps what was measured, and writes these pages anew
    ./dev bench all --out docs    # measures everything: hours
    ./dev bench page docs         # writes the pages from docs/benchmarks/*.json without measuring

`./dev bench --help` lists the names, and `./dev bench NAME --help` the settings, whose defaults are those of
the published pages. What every seed gave is in the JSON files.
"""
_PAPER = """\
# The paper's tables and figures

Where each of them is measured. The settings of the paper are `andre.Config.preset("paper")`.
"""
#: The tables and figures of the paper, and the benchmarks that have them; NAME-paper stands beside NAME.
PAPER_TABLES: dict[str, tuple[str, ...]] = {
    "ten classical tasks": ("classical",),
    "knowledge bases: Countries": ("kb-countries", "kb-accuracy"),
    "knowledge bases: MRR and Hits of Nations and UMLS": ("kb-paper", "ranking"),
    "knowledge bases: ACC@h of Nations and UMLS": ("kb-accuracy",),
    "averages of R1-R6": ("synthetic",),
    "ablation": ("ablation",),
    "operators against minimum and maximum (figure)": ("operators",),
    "both visual examples (figures and a listing)": ("visual",),
    "statistics of the datasets; printed rules of knowledge bases": ("kb-listings", "census"),
    "run times": ("kb-paper", "kb-times"),
    "UW-CSE and Alzheimers-amine": ("kb-accuracy",),
    "R1-R3, and R4-R6 under noise": ("synthetic",),
}
_OUTCOMES = {True: "met", False: "**missed**", None: "not measured"}


@dataclass(frozen=True)
class _Page:
    """A chapter and those of its reports that a folder has."""

    chapter: Chapter
    reports: tuple[Report, ...]

    @property
    def file(self) -> str:
        return f"{self.chapter.name}.md"

    def link(self, report: Report) -> str:
        """A link to the section of a report, by its name and the anchor that both GitHub and MkDocs give it.

        Examples
        --------
        >>> report = Report("synthetic-paper", "Synthetic programs R1-R6, preset paper", "", {}, 0.0)
        >>> _Page(Chapter("synthetic", "Synthetic programs", "", ()), (report,)).link(report)
        '[synthetic-paper](synthetic.md#synthetic-programs-r1-r6-preset-paper)'
        """
        plain = "".join(letter for letter in report.title.lower() if letter.isalnum() or letter in " -")
        return f"[{report.name}]({self.file}#{plain.replace(' ', '-')})"

    def markdown(self) -> str:
        sections = (report.markdown() for report in self.reports)
        return "\n\n".join((f"# {self.chapter.title}", self.chapter.about, *sections)) + "\n"


def write_pages(folder: Path) -> Path:
    """Write all pages from the reports that a folder keeps; the overview is returned.

    Raises
    ------
    DataError
        Where there is no report, or one cannot be read.
    """
    reports = reports_in(folder)
    home = folder / RESULTS
    if not reports:
        raise DataError(f"there are no reports in {home}: run `./dev bench all --out {folder}`")
    pages = _pages(reports)
    for page in pages:
        write_whole(home / page.file, page.markdown())
    write_whole(home / "paper.md", f"{_PAPER}\n{_paper_tables(pages).markdown(titled=False)}\n")
    overview = home / "index.md"
    contents = "\n".join(
        (
            *(f"- [{page.chapter.title}]({page.file}): {page.chapter.about}" for page in pages),
            "- [The paper's tables and figures](paper.md): where each of them is measured.",
        )
    )
    goals = _goals(pages).markdown(titled=False)
    write_whole(overview, f"{_OVERVIEW}\n## Goals\n\n{goals}\n\n## Chapters\n\n{contents}\n")
    return overview


def _pages(reports: Sequence[Report]) -> list[_Page]:
    """The chapters that anything was measured of; what no chapter names comes last, in one of its own."""
    by_name = {report.name: report for report in reports}
    unknown = tuple(sorted(by_name.keys() - BENCHMARKS.keys()))
    others = Chapter("others", "Further reports", "What is kept here and is none of the benchmarks.", unknown)
    pages = (
        _Page(chapter, tuple(by_name[name] for name in chapter.benchmarks if name in by_name))
        for chapter in (*CHAPTERS, others)
    )
    return [page for page in pages if page.reports]


def _goals(pages: Sequence[_Page]) -> Table:
    """Every goal, with a link to the section that has its figures."""
    rows = (
        (goal.goal, goal.ours, goal.peer, _OUTCOMES[goal.met], page.link(report))
        for page in pages
        for report in page.reports
        for goal in goals_of(report)
    )
    return Table("Goals", ("goal", "ANDRE", "best peer", "outcome", "section"), tuple(rows))


def _paper_tables(pages: Sequence[_Page]) -> Table:
    """Where the tables of the paper are, as far as they were measured."""
    links = {report.name: page.link(report) for page in pages for report in page.reports}
    rows = []
    for what, names in PAPER_TABLES.items():
        here = [links[each] for name in names for each in (name, f"{name}-paper") if each in links]
        if here:
            rows.append((what, ", ".join(here)))
    return Table("The paper's tables", ("in the paper", "here"), tuple(rows))
