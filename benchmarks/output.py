"""What a benchmark hands back, and the page that all of them make.

A report is kept as JSON in `DIR/benchmarks/`; the page `DIR/benchmarks.md` is
made of all reports found there, so that one table can be measured again
without the others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from andre.errors import DataError
from andre.files import write_whole
from andre.runs import versions

if TYPE_CHECKING:
    from rich.table import Table as RichTable

__all__ = [
    "Figure",
    "Report",
    "Table",
    "figure_folder",
    "mark",
    "rich_tables",
    "seed_range",
    "share",
    "versions",
    "write_page",
]


_FOLDER = "benchmarks"
#: The order of the page; reports of other names follow.
_ORDER = (
    "classical",
    "noise",
    "census",
    "ranking",
    "synthetic",
    "synthetic-paper",
    "ablation",
    "ablation-paper",
    "operators",
    "visual",
    "wide",
    "kb-accuracy",
    "kb-countries",
    "kb-times",
    "speed",
)

_PREFACE = """\
# Benchmarks

This page is written by the commands it describes; nothing on it is typed by hand.

    ./dev run andre bench all --seeds 20 --speed benchmarks --out docs

measures everything and writes it anew. `andre bench NAME --out docs` measures one section,
`./dev bench --out docs` the speed ratios, and `andre bench page docs` puts the page together
from the results in `docs/benchmarks/` without measuring.
"""


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

    def markdown(self) -> str:
        """The table as Markdown."""
        lines = [self.columns, ("---",) * len(self.columns), *self.rows]
        drawn = [
            "|" + "|".join(cell if cell == "---" else f" {_escape(cell)} " for cell in row) + "|"
            for row in lines
        ]
        return "\n".join((f"**{self.title}**", "", *drawn))


@dataclass(frozen=True)
class Figure:
    """A picture beside a report's JSON."""

    file: str
    caption: str


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
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"

    def markdown(self) -> str:
        """A section of the page."""
        parts = [f"## {self.title}", self.protocol, *(table.markdown() for table in self.tables)]
        if self.notes:
            parts.append("\n".join(f"- {note}" for note in self.notes))
        parts += [f"![{figure.caption}]({_FOLDER}/{figure.file})" for figure in self.figures]
        return "\n\n".join((*parts, f"*{self.provenance()}*"))

    def provenance(self) -> str:
        """Settings, time and versions in one line."""
        chosen = ", ".join(f"{key} {value}" for key, value in self.settings.items())
        made = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return f"{chosen}; {self.seconds:.1f} s in all; {made}"

    def write(self, folder: Path) -> None:
        """Keep the report in a folder, and make its page anew."""
        home = folder / _FOLDER
        home.mkdir(parents=True, exist_ok=True)
        write_whole(home / f"{self.name}.json", self.json())
        write_page(folder)


def write_page(folder: Path) -> Path:
    """Put the page together from the reports in a folder.

    Raises
    ------
    DataError
        Where there is none, or one cannot be read.
    """
    reports = []
    for path in sorted((folder / _FOLDER).glob("*.json")):
        try:
            reports.append(Report.read(json.loads(path.read_text())))
        except (ValueError, KeyError, TypeError):
            raise DataError(f"{path} is no benchmark's report: delete it, or measure it anew") from None
    if not reports:
        raise DataError(f"there are no reports in {folder / _FOLDER}: run `andre bench all --out {folder}`")
    reports.sort(key=lambda report: (*(report.name == name for name in _ORDER), False), reverse=True)
    page = folder / f"{_FOLDER}.md"
    write_whole(page, "\n".join((_PREFACE, *(report.markdown() + "\n" for report in reports))))
    return page


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


def figure_folder(out: Path) -> Path:
    """Where a report in this folder keeps its pictures; made if need be."""
    home = out / _FOLDER
    home.mkdir(parents=True, exist_ok=True)
    return home


def share(part: int, whole: int) -> str:
    """A count of so many.

    Examples
    --------
    >>> share(19, 20)
    '19/20'
    """
    return f"{part}/{whole}"


def seed_range(seeds: int) -> str:
    """The seeds that were used.

    Examples
    --------
    >>> seed_range(20), seed_range(1)
    ('0-19', '0')
    """
    return "0" if seeds == 1 else f"0-{seeds - 1}"


def mark(met: bool | None) -> str:
    """Yes, no, or nothing to say.

    Examples
    --------
    >>> mark(True), mark(False), mark(None)
    ('yes', 'no', '–')
    """
    return "–" if met is None else "yes" if met else "no"


def _escape(cell: str) -> str:
    return cell.replace("|", "\\|")
