"""What every command prints alike: JSON, tables, sentences on standard error; and where it may write."""

from __future__ import annotations

import math
import os
import sys
from typing import TYPE_CHECKING, Any

import typer

from andre.errors import AndreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path


#: Characters that a terminal would obey, as they are shown instead.
_SHOWN = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


#: Characters that a column of words has at the least, if it has as many.
_LEAST = 12


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
    """Print a value for machines; a number that is not finite, which JSON lacks, is null."""
    import json

    try:
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), indent=2, ensure_ascii=False)
    typer.echo(text)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(
    columns: Sequence[str],
    rows: Iterable[Mapping[str, object]],
    *,
    words: Sequence[str] = (),
    title: str | None = None,
    caption: str | None = None,
) -> None:
    """Print a table as wide as the terminal, or cells between tabs elsewhere.

    Where the terminal is too narrow to show every column, each row is a paragraph.

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
    lines = [[f"{cell:,}" if type(cell) is int else str(cell) for cell in line] for line in found]
    lefts = [not place or column in words for place, column in enumerate(columns)]
    widths = [max(map(len, cells)) for cells in zip(columns, *lines, strict=True)]
    # A name is cut in two only where it would leave no room for anything else.
    whole = [not left for left in lefts]
    whole[0] = widths[0] <= console.width // 2
    least = [width if kept else min(width, _LEAST) for kept, width in zip(whole, widths, strict=True)]
    if sum(least) + 3 * len(least) > console.width + 1:
        for line in lines:
            console.print(Text(line[0], style="bold"))
            for column, cell in zip(columns[1:], line[1:], strict=True):
                console.print(Text(f"  {column}: {cell}"))
        if caption is not None:
            console.print(Text(caption))
        return
    table = Table(
        title=title and Text(title), caption=caption and Text(caption), box=SIMPLE_HEAD, pad_edge=False
    )
    for column, left, kept in zip(columns, lefts, whole, strict=True):
        table.add_column(column, justify="left" if left else "right", overflow="fold", no_wrap=kept)
    for line in lines:
        table.add_row(*map(Text, line))
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
