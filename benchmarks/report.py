"""What a benchmark hands back: tables, figures and notes, kept as JSON in `DIR/benchmarks/`.

`pages.py` makes the published pages of all reports that a folder keeps, so that one table can be measured
again without the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from andre.errors import DataError
from andre.files import write_whole
from andre.learning import save_figure
from andre.runs import versions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from rich.table import Table as RichTable

RESULTS = "benchmarks"  #: the folder of results and pages, in that of the documentation
#: The first table of a section is open. Of the others those with more lines than this are folded, and so
#: are more figures than this.
_OPEN_LINES, _OPEN_FIGURES = 12, 2


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

    def column(self, name: str) -> list[str]:
        """The cells below a heading.

        Examples
        --------
        >>> Table("Times", ("task", "s"), (("R1", "0.2"), ("R2", "0.3"))).column("s")
        ['0.2', '0.3']
        """
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def markdown(self, *, titled: bool = True, folded: bool = False) -> str:
        """The table as Markdown: with its title, without it, or behind it."""
        lines = [self.columns, ("---",) * len(self.columns), *self.rows]
        drawn = [
            "|" + "|".join(cell if cell == "---" else f" {_escape(cell)} " for cell in row) + "|"
            for row in lines
        ]
        if folded:
            return _folded(self.title, "\n".join(drawn))
        return "\n".join((f"**{self.title}**", "", *drawn) if titled else drawn)


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
        """A section of a page: how to measure it again, what is measured, and what came out."""
        parts = [f"## {self.title}", f"    ./dev bench {self.name}", self.protocol]
        for place, table in enumerate(self.tables):
            parts.append(table.markdown(folded=place > 0 and len(table.rows) > _OPEN_LINES))
        if self.notes:
            parts.append("\n".join(f"- {note}" for note in self.notes))
        figures = [f"![{figure.caption}]({figure.file})" for figure in self.figures]
        if len(figures) > _OPEN_FIGURES:
            figures = [_folded(f"{len(figures)} figures", "\n\n".join(figures))]
        return "\n\n".join((*parts, *figures, f"*{self.provenance()}*"))

    def provenance(self) -> str:
        """Settings, time and versions in one line."""
        chosen = ", ".join(f"{key} {value}" for key, value in self.settings.items())
        made = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return f"{chosen}; {self.seconds:.1f} s in all; {made}"

    def write(self, folder: Path) -> None:
        """Keep the report among the results of a folder, its pictures beside it."""
        home = folder / RESULTS
        home.mkdir(parents=True, exist_ok=True)
        for figure in self.figures:
            if figure.draw is not None:
                save_figure(figure.draw(), home / figure.file)
        write_whole(home / f"{self.name}.json", self.json())


def reports_in(folder: Path) -> list[Report]:
    """The reports that a folder keeps, in order of their names.

    Raises
    ------
    DataError
        Where one cannot be read.
    """
    reports = []
    for path in sorted((folder / RESULTS).glob("*.json")):
        try:
            reports.append(Report.read(json.loads(path.read_text())))
        except (ValueError, KeyError, TypeError):
            raise DataError(f"{path} is no benchmark's report: delete it, or measure it anew") from None
    return reports


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
