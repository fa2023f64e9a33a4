"""`andre report`: a saved model as one HTML page."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from andre.cli.app import app
from andre.cli.tables import AsJson, Run, read_rows
from andre.errors import AndreError

if TYPE_CHECKING:
    from andre.report import ReportData, Rows
    from andre.runs import Origin, TableSource

__all__ = ["report"]


@app.command(
    epilog="\n\n".join(
        (
            "andre report family.run --open",
            "andre report birds.run --data birds.csv --out birds.html --open",
        )
    )
)
def report(
    run: Run,
    *,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE|FACTS",
            help="What it was learned from, where that is not where it was.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write; RUN/report.html if not given.")
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a report of a saved model: one HTML file that needs no network.

    It shows the program with its evidence, what each rule derives and why,
    what the network holds, how training went, what the runs found, what was
    rejected and why, and how it was made.
    """
    from andre.report import as_values, write_report
    from andre.runs import load_origin

    path = out or run / "report.html"
    if not path.parent.is_dir() and path.parent != run:
        raise AndreError(f"there is no folder {path.parent} to write {path.name} to: make it first")
    if (run / "targets").is_dir() and not (run / "theory.json").is_file():
        raise AndreError(
            f"learning into {run} has not ended: give the same `andre learn` again, and it goes on"
        )
    of = _of_theory if (run / "theory.json").is_file() else _of_result
    made = of(run, load_origin(run), data)
    if as_json:
        typer.echo(json.dumps(as_values(made), indent=2))
        return
    write_report(made, path)
    typer.echo(path)
    if show:
        webbrowser.open(path.resolve().as_uri())


def _of_result(run: Path, origin: Origin | None, data: Path | None) -> ReportData:
    from andre.report import gather
    from andre.runs import load_result

    result = load_result(run)
    source = None if origin is None else origin.table
    return gather(result, origin, _rows(data, source, str(result.space.head)))


def _of_theory(run: Path, origin: Origin | None, data: Path | None) -> ReportData:
    from andre.facts import read_source
    from andre.report import gather_theory
    from andre.runs import FactSource, load_theory

    theory = load_theory(run)
    source = None if origin is None else origin.facts
    if data is not None:
        source = FactSource(str(data), None if source is None else source.format)
    elif source is not None and not source.is_there:
        source = None
    facts = None if source is None else read_source(source.name, source.format)
    return gather_theory(theory, origin, facts)


def _rows(data: Path | None, source: TableSource | None, head: str) -> Rows | None:
    """The rows that were learned from: of the table named, or of the one kept in mind if it is there."""
    from dataclasses import replace

    from andre.runs import TableSource

    if data is not None:
        known = source or TableSource("", "", label=head)
        return read_rows(replace(known, path=str(data)))
    return read_rows(source) if source is not None and source.is_there else None
