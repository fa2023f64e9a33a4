"""`andre datasets`: the public knowledge bases, and getting them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from andre.cli.app import app

if TYPE_CHECKING:
    from pathlib import Path

    from andre.facts.datasets import Dataset

__all__ = ["datasets"]


@app.command()
def datasets(
    name: Annotated[str | None, typer.Argument(help="One to download if need be; none: list all.")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the public knowledge bases, or get one."""
    from andre.facts.datasets import DATASETS, fetch, find

    if name is None:
        shown = [_summary(dataset, find(dataset.name)) for dataset in DATASETS.values()]
    else:
        path = fetch(name)
        shown = [_summary(DATASETS[name], path)]
    if as_json:
        import json

        typer.echo(json.dumps(shown if name is None else shown[0], indent=2))
    elif name is not None:
        _print_one(shown[0])
    elif sys.stdout.isatty():
        _print_table(shown)
    else:
        _print_plain(shown)


def _summary(dataset: Dataset, path: Path | None) -> dict[str, Any]:
    """What is known of a dataset; its counts only where its file is on this machine."""
    from andre.facts import MARKS
    from andre.facts.datasets import load

    counts: dict[str, Any] = dict.fromkeys(("relations", *MARKS, "constants"))
    notes = [f"{dataset.name}: {dataset.note}"] if dataset.note else []
    if path is not None:
        facts = load(dataset.name)
        by_mark = {mark: sum(r.count(mark) for r in facts.relations.values()) for mark in MARKS}
        counts = {"relations": len(facts.relations), **by_mark, "constants": len(facts.constants)}
        notes = list(facts.notes)
    return {
        "name": dataset.name,
        **counts,
        "path": None if path is None else str(path),
        "summary": dataset.summary,
        "notes": notes,
    }


_COLUMNS = ("name", "relations", "train", "test", "constants", "summary")


def _cells(dataset: dict[str, Any]) -> list[str]:
    """The cells of a dataset; no knowledge base here has facts marked valid."""
    if dataset["path"] is None:
        return [dataset["name"], "not downloaded", "", "", "", dataset["summary"]]
    return [str(dataset[column]) for column in _COLUMNS]


def _print_one(dataset: dict[str, Any]) -> None:
    for key, value in dataset.items():
        if key != "notes":
            typer.echo(f"{key:<10} {value:,}" if isinstance(value, int) else f"{key:<10} {value}")
    for note in dataset["notes"]:
        typer.echo(f"note: {note}", err=True)


def _print_plain(shown: list[dict[str, Any]]) -> None:
    typer.echo("\t".join(_COLUMNS))
    for dataset in shown:
        typer.echo("\t".join(_cells(dataset)))


def _print_table(shown: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for column in _COLUMNS:
        right = column in {"relations", "train", "test", "constants"}
        table.add_column(column, justify="right" if right else "left", overflow="fold")
    for dataset in shown:
        table.add_row(*map(Text, _cells(dataset)))
    Console().print(table)
