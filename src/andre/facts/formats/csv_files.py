"""Facts in CSV: one file, or a folder with one file per predicate; the first line names the columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from andre.errors import DataError
from andre.facts.base import FactBase
from andre.facts.build import Builder, Place
from andre.facts.formats.columns import add_table, is_triples, table_columns
from andre.facts.formats.format import (
    Format,
    check_arities,
    check_names_apart,
    check_plain_texts,
    refusal,
    text_of,
)
from andre.facts.formats.text import blocks, fail_at
from andre.facts.relation import COLUMNS

_BATCH = 1 << 16


def read_csv(path: Path) -> FactBase:
    """Read a CSV file, or all of those in a folder."""
    builder = Builder()
    paths = files_in(path, ".csv") if path.is_dir() else [path]
    remarks = [remark for file in paths if (remark := _add_file(builder, file))]
    facts = builder.finish()
    return replace(facts, notes=replace(facts.notes, remarks=(*facts.notes.remarks, *remarks)))


def files_in(folder: Path, suffix: str) -> list[Path]:
    """The files of a folder with this suffix, ordered by name."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() == suffix and path.is_file())


def relation_name(path: Path) -> str:
    """The predicate after which a file is named."""
    return unquote(path.stem)


def file_name(name: str, suffix: str) -> str:
    """The file name for a predicate, whatever its characters.

    Examples
    --------
    >>> file_name("part/of", ".csv"), relation_name(Path("part%2Fof.csv"))
    ('part%2Fof.csv', 'part/of')
    """
    return quote(name, safe=" ").replace(".", "%2E") + suffix


def _add_file(builder: Builder, path: Path) -> str | None:
    """Add the facts of a file, and return a remark if its header looks like a fact."""
    rows = _rows(path)
    header = next(rows, (1, []))[1]
    if not header:
        raise fail_at(path, 1, "there is no header: the first line names the columns")
    if len(set(header)) < len(header) or "" in header:
        raise fail_at(path, 1, "the columns need distinct names: the first line gives them")
    name = None if is_triples(header) else relation_name(path)
    found, remark = False, None
    while batch := list(islice(rows, _BATCH)):
        found = True
        lines, cells = zip(*batch, strict=True)
        for line, row in batch:
            if len(row) != len(header):
                raise fail_at(path, line, f"there are {len(row)} cells where the header has {len(header)}")
        columns = dict(zip(header, zip(*cells, strict=True), strict=True))
        for column, below in columns.items():
            if remark is None and column in below:
                remark = (
                    f"{path}: the first line names the columns, but {column} stands below it too: if it is a "
                    "fact, put a line of names above it, such as head,relation,tail"
                )
        add_table(builder, name, columns, Place(path, lines))
    if not found:
        raise DataError(f"{path} has a header and no facts: remove it, or fill it")
    return remark


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a file, each with the number of its last line."""
    lines = (line for block in blocks(path) for line in io.StringIO(block.text, newline="\n"))

    def complain(_: int, last: int, error: csv.Error) -> DataError:
        return fail_at(path, max(last, 1), f"this is no CSV: {error}")

    return ((last, row) for _, last, row in csv_records(lines, complain))


def csv_records(
    lines: Iterable[str], complain: Callable[[int, int, csv.Error], DataError], **dialect: Any
) -> Iterator[tuple[int, int, list[str]]]:
    """The records of CSV text that are not blank, each with the numbers of its first and last line.

    `complain` makes an error of the lines of a record that cannot be read, and why.
    """
    reader = csv.reader(lines, strict=True, **dialect)
    while True:
        first = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise complain(first, reader.line_num, error) from None
        if cells is None:
            return
        if cells:
            yield first, reader.line_num, cells


def write_csv(base: FactBase, folder: Path) -> None:
    """Write a file for each relation."""
    folder.mkdir()
    for relation in base.relations.values():
        columns = table_columns(base, relation)
        for column, cells in columns.items():
            if column.startswith("arg"):
                columns[column] = list(map(text_of, cells))
        with (folder / file_name(relation.name, ".csv")).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))


def _check_cells(base: FactBase, title: str) -> None:
    for value in base.constants:
        if isinstance(value, str) and (not value or "\r" in value or len(value) >= csv.field_size_limit()):
            raise refusal(title, f"the name {value[:40]!r}", "a cell is not empty, short, and has no \\r")


CSV = Format(
    name="csv",
    title="CSV",
    read=read_csv,
    write=write_csv,
    suffixes=(".csv",),
    folder=True,
    holds=frozenset(COLUMNS),
    checks=(check_arities(1), check_names_apart(fold=True), check_plain_texts, _check_cells),
)
