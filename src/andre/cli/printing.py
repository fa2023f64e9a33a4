"""What every command prints alike: JSON, tables, sentences on standard error; and where it may write."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import typer

from andre.errors import AndreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path


#: Characters that a terminal would obey, as they are shown instead.
_SHOWN = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


#: Called before a line is written to standard error, where another line may stand.
before_saying: list[Callable[[], object]] = []


def say(message: object) -> None:
    """Say something on standard error."""
    _make_way()
    typer.echo(printable(f"andre: {message}"), err=True)


def note(messages: Iterable[object], quiet: bool = False) -> None:
    """Say what was noticed, on standard error, unless asked to be quiet."""
    for message in () if quiet else messages:
        _make_way()
        typer.echo(printable(f"note: {message}"), err=True)


def _make_way() -> None:
    for call in before_saying:
        call()


def printable(text: str) -> str:
    """A text without what a terminal would obey, or no encoding has."""
    return text.encode("utf-8", "backslashreplace").decode().translate(_SHOWN)


def print_json(value: object) -> None:
    """Print a value for machines."""
    import json

    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_table(
    columns: Sequence[str],
    rows: Iterable[Mapping[str, object]],
    *,
    words: Sequence[str] = (),
    title: str | None = None,
    caption: str | None = None,
) -> None:
    """Print a table as wide as the terminal, or cells between tabs elsewhere.

    Parameters
    ----------
    columns
        Names of the columns, and what they show of each row.
    rows
        The rows, which may hold more.
    words
        Columns that are set to the left, as the first one is; others hold numbers.
    title, caption
        What stands above and below, on a terminal.
    """
    found = [[row[column] for column in columns] for row in rows]
    if not sys.stdout.isatty():
        for line in (columns, *found):
            typer.echo("\t".join(map(str, line)))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    table = Table(
        title=title and Text(title), caption=caption and Text(caption), box=SIMPLE_HEAD, pad_edge=False
    )
    for place, column in enumerate(columns):
        left = not place or column in words
        # A name is cut in two only where it would leave no room for anything else.
        widest = max((len(str(line[place])) for line in found), default=0)
        whole = widest <= console.width // 2 if not place else not left
        table.add_column(column, justify="left" if left else "right", overflow="fold", no_wrap=whole)
    for line in found:
        table.add_row(*(Text(f"{cell:,}" if type(cell) is int else str(cell)) for cell in line))
    console.print(table)


def check_folder(path: Path | None) -> None:
    """Refuse a folder that cannot be written to, before work is done that would be lost."""
    if path is None:
        return
    if path.exists() and not path.is_dir():
        raise AndreError(f"{path} is a file: name a folder, or a new one")
    nearest = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not nearest.is_dir():
        raise AndreError(f"{path} cannot be made, because {nearest} is a file: name another folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise AndreError(f"{path} cannot be written to: name another folder, or allow writing to {nearest}")


def check_file(path: Path | None) -> None:
    """Refuse a file that cannot be written, before work is done that would be lost."""
    if path is None:
        return
    if not path.parent.is_dir():
        raise AndreError(f"there is no folder {path.parent} to write {path.name} to: make it first")
    if path.is_dir():
        raise AndreError(f"{path} is a folder: name a file")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise AndreError(f"{path} cannot be written: name another folder, or allow writing to {path.parent}")
