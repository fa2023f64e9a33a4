"""`andre tasks`: the built-in tasks, and their facts as files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from andre.cli.app import app

if TYPE_CHECKING:
    from andre.facts import FactBase, Task

__all__ = ["tasks"]


@app.command()
def tasks(
    name: Annotated[
        str | None, typer.Argument(help="One of the tasks; all of them if none is named.")
    ] = None,
    *,
    out: Annotated[Path | None, typer.Option(help="Write the facts of the task here.")] = None,
    split: Annotated[
        str, typer.Option(help="What to write: train, or test for the larger domain.")
    ] = "train",
    to: Annotated[str | None, typer.Option(help="The format to write, where OUT does not end in it.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides families and graphs.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the built-in tasks, or write the facts of one."""
    from andre.errors import ConfigError, DataError
    from andre.facts import TASKS

    if name is not None and name not in TASKS:
        raise DataError(f"there is no task {name}: choose from {', '.join(TASKS)}")
    if out is not None:
        if name is None:
            raise ConfigError("there is no task to write: name one before --out")
        _write(TASKS[name], out, split, to, seed)
        return
    shown = [_summary(task, seed) for task in TASKS.values() if name in {None, task.name}]
    if as_json:
        import json

        typer.echo(json.dumps(shown if name is None else shown[0], indent=2))
    elif sys.stdout.isatty():
        _print_table(shown)
    else:
        _print_plain(shown)


def _write(task: Task, out: Path, split: str, to: str | None, seed: int) -> None:
    from andre.errors import ConfigError
    from andre.facts import write_facts

    if split not in {"train", "test"}:
        raise ConfigError(f"a task has no split {split!r}: choose train or test")
    facts = task.train(seed) if split == "train" else task.test(seed)
    write_facts(facts, out, to)
    typer.echo(f"{len(facts):,} facts of {len(facts.relations)} relations written to {out}", err=True)


def _summary(task: Task, seed: int) -> dict[str, Any]:
    return {
        "name": task.name,
        "target": task.target,
        "variables": task.variables,
        "background": list(task.background),
        "train": _counts(task.train(seed)),
        "test": _counts(task.test(seed)),
        "summary": task.summary,
    }


def _counts(facts: FactBase) -> dict[str, int]:
    return {"constants": len(facts.constants), "facts": len(facts)}


_COLUMNS = ("name", "target", "variables", "constants", "facts", "summary")


def _cells(task: dict[str, Any]) -> list[str]:
    """The cells of a task: counts as train/test."""
    counts = {key: f"{task['train'][key]}/{task['test'][key]}" for key in ("constants", "facts")}
    return [str(counts.get(column) or task[column]) for column in _COLUMNS]


def _print_plain(shown: list[dict[str, Any]]) -> None:
    typer.echo("\t".join(_COLUMNS))
    for task in shown:
        typer.echo("\t".join(_cells(task)))


def _print_table(shown: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(caption="Constants and facts: to learn from / to judge by.")
    for column in _COLUMNS:
        right = column in {"variables", "constants", "facts"}
        table.add_column(column, justify="right" if right else "left", overflow="fold")
    for task in shown:
        table.add_row(*map(Text, _cells(task)))
    Console().print(table)
