"""What a benchmark hands back, and the page that all of them make.

A report is kept as JSON in `DIR/benchmarks/`; the page `DIR/benchmarks.md` is
made of all reports found there, so that one table can be measured again
without the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from andre.errors import DataError
from andre.files import write_whole
from andre.learning import save_figure
from andre.runs import versions
from benchmarks import BENCHMARKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from rich.table import Table as RichTable

_FOLDER = "benchmarks"
_OWN_PAGES = {"splits"}  #: reports that have a page of their own beside the common one
#: The first table of a section is open. Of the others those with more lines than this are folded, and so
#: are more figures than this.
_OPEN_LINES, _OPEN_FIGURES = 12, 2

_PREFACE = """\
# Benchmarks

This page is written by the commands it describes; nothing on it is typed by hand.

    ./dev bench all --out docs

measures everything and writes it anew. `./dev bench NAME --out docs` measures one section with the settings
below it, and `./dev bench page docs` puts the page together from the results in `docs/benchmarks/` without
measuring. `./dev bench --help` lists the names. What every seed gave is in the results.
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


@dataclass(frozen=True)
class Table:
    """Lines of text under headings.

    Examples
    --------
    >>> print(Table("Times", ("task", "s"), (("R1", "0.2"),)).markdown())
    **Times**
    <BLANKLINE>
    | task | s |
    |---|---|
    | R1 | 0.2 |
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"a row of {self.title!r} has not {len(self.columns)} cells")

    def markdown(self, *, folded: bool = False) -> str:
        """The table as Markdown, open or behind its title."""
        lines = [self.columns, ("---",) * len(self.columns), *self.rows]
        drawn = [
            "|" + "|".join(cell if cell == "---" else f" {_escape(cell)} " for cell in row) + "|"
            for row in lines
        ]
        if folded:
            return _folded(self.title, "\n".join(drawn))
        return "\n".join((f"**{self.title}**", "", *drawn))


@dataclass(frozen=True)
class Figure:
    """A picture that is drawn when its report is written, into a file beside the report's JSON."""

    file: str
    caption: str
    draw: Callable[[], Drawing | Axes] | None = field(default=None, compare=False, repr=False)
    #: ^ None for a report that was read: its picture is there already


@dataclass(frozen=True)
class Report:
    """One benchmark's outcome, with all that is needed to judge it.

    Examples
    --------
    >>> report = Report("demo", "A demonstration", "Nothing is measured.", {"seed": 0}, 1.5)
    >>> print(report.markdown().splitlines()[0])
    ## A demonstration
    >>> Report.read(json.loads(report.json())) == report
    True
    """

    name: str  #: of its files
    title: str
    protocol: str  #: what was done, in sentences
    settings: Mapping[str, Any]  #: seeds and what else was chosen
    seconds: float  #: wall time of the whole benchmark
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)  #: the raw measurements
    versions: Mapping[str, str] = field(default_factory=versions)

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `json`."""
        tables = (
            Table(table["title"], tuple(table["columns"]), tuple(map(tuple, table["rows"])))
            for table in values["tables"]
        )
        figures = (Figure(**figure) for figure in values["figures"])
        parts = {"tables": tuple(tables), "figures": tuple(figures), "notes": tuple(values["notes"])}
        return cls(**{**values, **parts})

    def json(self) -> str:
        """All of it, for machines."""
        values = asdict(self)
        values["figures"] = [{"file": figure.file, "caption": figure.caption} for figure in self.figures]
        return json.dumps(values, indent=1, ensure_ascii=False) + "\n"

    def markdown(self) -> str:
        """A section of the page."""
        parts = [f"## {self.title}", self.protocol]
        for place, table in enumerate(self.tables):
            parts.append(table.markdown(folded=place > 0 and len(table.rows) > _OPEN_LINES))
        if self.notes:
            parts.append("\n".join(f"- {note}" for note in self.notes))
        figures = [f"![{figure.caption}]({_FOLDER}/{figure.file})" for figure in self.figures]
        if len(figures) > _OPEN_FIGURES:
            figures = [_folded(f"{len(figures)} figures", "\n\n".join(figures))]
        return "\n\n".join((*parts, *figures, f"*{self.provenance()}*"))

    def provenance(self) -> str:
        """Settings, time and versions in one line."""
        chosen = ", ".join(f"{key} {value}" for key, value in self.settings.items())
        made = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return f"{chosen}; {self.seconds:.1f} s in all; {made}"

    def write(self, folder: Path) -> None:
        """Keep the report in a folder, its pictures beside it, and make the folder's page anew."""
        home = folder / _FOLDER
        home.mkdir(parents=True, exist_ok=True)
        for figure in self.figures:
            if figure.draw is not None:
                save_figure(figure.draw(), home / figure.file)
        write_whole(home / f"{self.name}.json", self.json())
        write_page(folder)


def write_page(folder: Path) -> Path:
    """Put the page together from the reports in a folder, and those that have a page of their own.

    Raises
    ------
    DataError
        Where there is none, or one cannot be read.
    """
    reports = reports_in(folder)
    if not reports:
        raise DataError(f"there are no reports in {folder / _FOLDER}: run `./dev bench all --out {folder}`")
    for own in [report for report in reports if report.name in _OWN_PAGES]:
        write_whole(folder / f"{own.name}.md", own.markdown().removeprefix("#") + "\n")
        reports.remove(own)
    order = [*BENCHMARKS, *sorted({report.name for report in reports} - set(BENCHMARKS))]
    reports.sort(key=lambda report: order.index(report.name))
    page = folder / f"{_FOLDER}.md"
    sections = (report.markdown() + "\n" for report in reports)
    write_whole(page, "\n".join((_PREFACE, _contents(reports), *sections)))
    return page


def reports_in(folder: Path) -> list[Report]:
    """The reports that a folder keeps, in order of their names.

    Raises
    ------
    DataError
        Where one cannot be read.
    """
    reports = []
    for path in sorted((folder / _FOLDER).glob("*.json")):
        try:
            reports.append(Report.read(json.loads(path.read_text())))
        except (ValueError, KeyError, TypeError):
            raise DataError(f"{path} is no benchmark's report: delete it, or measure it anew") from None
    return reports


def _contents(reports: Sequence[Report]) -> str:
    """Where the tables of the paper are, as far as they were measured, and what is beyond them."""
    titles = {report.name: report.title for report in reports}
    lines, seen = ["| in the paper | here |", "|---|---|"], set()
    for what, names in PAPER_TABLES.items():
        here = [each for name in names for each in (name, f"{name}-paper") if each in titles]
        if here:
            lines.append(f"| {what} | {', '.join(_link(titles[name]) for name in here)} |")
        seen.update(here)
    lines.append('| settings | `andre.Config.preset("paper")` |')
    others = [_link(title) for name, title in titles.items() if name not in seen]
    if others:
        lines.append(f"| – | {', '.join(others)} |")
    return "\n".join((*lines, ""))


def _link(title: str) -> str:
    """A link to the section of a title, by the name that both GitHub and MkDocs give it.

    Examples
    --------
    >>> _link("Synthetic programs R1-R6, preset paper")
    '[Synthetic programs R1-R6, preset paper](#synthetic-programs-r1-r6-preset-paper)'
    """
    plain = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -")
    return f"[{title}](#{plain.replace(' ', '-')})"


def _folded(title: str, text: str) -> str:
    """Text that a click on its title shows."""
    return f'<details markdown="1">\n<summary>{title}</summary>\n\n{text}\n\n</details>'


def rich_tables(report: Report) -> list[RichTable]:
    """A report's tables for a terminal.

    Examples
    --------
    >>> report = Report("demo", "Demo", "", {}, 0.0, (Table("Times", ("task",), (("R1",),)),))
    >>> [table.row_count for table in rich_tables(report)]
    [1]
    """
    from rich.table import Table as RichTable  # only a terminal needs it

    drawn = []
    for table in report.tables:
        rich = RichTable(*table.columns, title=table.title, title_justify="left")
        for row in table.rows:
            rich.add_row(*(cell.strip("`") for cell in row))
        drawn.append(rich)
    return drawn


def share(part: int, whole: int) -> str:
    """A count out of a total.

    Examples
    --------
    >>> share(19, 20)
    '19/20'
    """
    return f"{part}/{whole}"


def seed_range(seeds: int, first: int = 0) -> str:
    """The seeds that were used.

    Examples
    --------
    >>> seed_range(20), seed_range(1), seed_range(10, first=10)
    ('0-19', '0', '10-19')
    """
    return f"{first}" if seeds == 1 else f"{first}-{first + seeds - 1}"


def mark(met: bool | None) -> str:
    """A table's mark for a condition that is met, not met, or does not apply.

    Examples
    --------
    >>> mark(True), mark(False), mark(None)
    ('yes', 'no', '–')
    """
    return "–" if met is None else "yes" if met else "no"


def _escape(cell: str) -> str:
    return cell.replace("|", "\\|")
