"""Triples of head, relation and tail, separated by tabs: one file, or train, valid and test.

Files in the order head, tail, relation are told by their first line, or by what stands where.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from andre.errors import DataError
from andre.facts.base import FactBase
from andre.facts.build import Builder
from andre.facts.formats.format import (
    Check,
    Format,
    check_arities,
    check_names_apart,
    check_plain_texts,
    refusal,
    text_of,
)
from andre.facts.formats.text import Block, blocks, fail_at
from andre.facts.relation import MARKS, Codes, Dictionary

_GOOD_LINES = re.compile(r"(?:[^\t\n]++\t[^\t\n]++\t[^\t\n]++\n)*+")
_ENDINGS = (".txt", ".tsv")
#: What columns of triples are called, where a first line says so.
_STARTS = frozenset({"head", "subject", "source", "from", "h", "s"})
_KINDS = frozenset({"relation", "predicate", "property", "edge", "label", "type", "r", "p"})
_ENDS = frozenset({"tail", "object", "target", "to", "t", "o"})
#: Triples from which on what stands in which column tells their order.
_TELLING = 100


def read_tsv(path: Path) -> FactBase:
    """Read one file of triples."""
    builder = Builder()
    _add_file(builder, path, "train", kind=_column_of_relations(path))
    return builder.finish()


def read_tsv_splits(folder: Path) -> FactBase:
    """Read those of the files train, valid and test that a folder has; one may be empty."""
    builder, files = Builder(), split_files(folder)
    kind = max(map(_column_of_relations, files.values()), default=1)  # too few lines do not show it
    for mark, path in files.items():
        _add_file(builder, path, mark, kind)
    return builder.finish()


def split_files(folder: Path) -> dict[str, Path]:
    """The files of triples in a folder, by mark."""
    found: dict[str, Path] = {}
    for mark in MARKS:
        paths = [path for ending in _ENDINGS if (path := folder / f"{mark}{ending}").is_file()]
        if len(paths) > 1:
            raise DataError(f"{folder} has both {paths[0].name} and {paths[1].name}: keep one of them")
        if paths:
            found[mark] = paths[0]
    return found


def _add_file(builder: Builder, path: Path, mark: str, kind: int) -> None:
    """Add the triples of a file, whose column `kind` names the relations."""
    names = Dictionary[str]()
    if kind == 2:
        builder.remarks.append(f"{path} is read as head, tail and relation, in this order")
    ends: list[Codes] = []
    relations: list[Codes] = []
    for block in blocks(path):
        cells = _cells(path, block)
        if block.first_line == 1 and _is_header(cells):
            builder.remarks.append(f"{path}, line 1 names columns ({', '.join(cells[:3])}), and is no fact")
            del cells[:3]
        relations.append(np.fromiter(map(names.__getitem__, cells[kind::3]), np.int32, len(cells) // 3))
        del cells[kind::3]
        ends.append(np.fromiter(map(builder.texts.__getitem__, cells), np.int32, len(cells)))
    if not names:
        return
    kinds = np.concatenate(relations)
    marks = np.full(len(kinds), MARKS.index(mark), dtype=np.uint8)
    builder.add_triples(list(names), kinds, np.concatenate(ends).reshape(-1, 2), mark=marks)


def _is_header(cells: list[str]) -> bool:
    """Whether the first of several lines names the columns.

    Examples
    --------
    >>> _is_header(["Head", "relation", "tail", "ann", "knows", "bob"])
    True
    >>> _is_header(["head", "part_of", "body", "ann", "knows", "bob"])
    False
    """
    return len(cells) > 3 and _kind_by_header(cells) is not None


def _kind_by_header(cells: list[str]) -> int | None:
    """Which column names the relations, as a first line says; None where that names no columns."""
    start, *others = (cell.strip().lower() for cell in cells[:3])
    for kind, end in ((0, 1), (1, 0)):
        if start in _STARTS and others[kind] in _KINDS and others[end] in _ENDS:
            return 1 + kind
    return None


def _column_of_relations(path: Path) -> int:
    """Which column of a file names the relations: the second, numbered 1, or the third.

    It is the third where few names stand there, and in no other column, while many of the
    second column are heads of other triples, as no names of relations are.
    """
    cells = next((_cells(path, block) for block in blocks(path)), [])
    if len(cells) > 3 and (said := _kind_by_header(cells)) is not None:
        return said
    heads, seconds, thirds = (set(cells[column::3]) for column in range(3))
    is_last = (
        len(cells) >= 3 * _TELLING
        and 5 * len(thirds) <= len(seconds) <= 10 * len(seconds & heads)
        and not thirds & (heads | seconds)
    )
    return 2 if is_last else 1


def _cells(path: Path, block: Block) -> list[str]:
    """The cells of all lines in one list, without blank lines."""
    text = block.text
    good = _GOOD_LINES.match(text)
    if good is None or good.end() < len(text):
        text = "".join(_checked_lines(path, block))
    cells = text.replace("\n", "\t").split("\t")
    cells.pop()
    return cells


def _checked_lines(path: Path, block: Block) -> Iterator[str]:
    for line, text in enumerate(block.text.split("\n"), start=block.first_line):
        if not text.strip(" "):
            continue
        cells = text.split("\t")
        if len(cells) != 3:
            hint = "separate head, relation and tail by tabs"
            raise fail_at(path, line, f"there are {len(cells)} cells where a triple has 3: {hint}")
        if "" in cells:
            raise fail_at(path, line, "a cell is empty: a triple has a head, a relation and a tail")
        yield text + "\n"


def write_tsv(base: FactBase, path: Path) -> None:
    """Write all facts into one file."""
    texts = list(map(text_of, base.constants))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for relation in base.relations.values():
            for head, tail in relation.codes.tolist():
                file.write(f"{texts[head]}\t{relation.name}\t{texts[tail]}\n")


def write_tsv_splits(base: FactBase, folder: Path) -> None:
    """Write the facts of each mark into a file of its own."""
    folder.mkdir()
    for mark in MARKS:
        part = base.select(mark)
        if len(part):
            write_tsv(part, folder / f"{mark}.txt")


def _check_cells(base: FactBase, title: str) -> None:
    names = (relation.name for relation in base.relations.values())
    for name in (*names, *(value for value in base.constants if isinstance(value, str))):
        if not name.strip(" ") or re.search(r"[\t\n\r]|\A\ufeff", name):
            raise refusal(title, f"the name {name!r}", "a cell has letters and neither tabs nor line ends")


_CHECKS: tuple[Check, ...] = (
    check_arities(2, 2),
    check_names_apart(),
    check_plain_texts,
    _check_cells,
)

TSV = Format(
    name="tsv",
    title="a file of triples",
    read=read_tsv,
    write=write_tsv,
    suffixes=(".tsv",),
    checks=_CHECKS,
)
TSV_SPLITS = Format(
    name="tsv-splits",
    title="a folder of triples",
    read=read_tsv_splits,
    write=write_tsv_splits,
    folder=True,
    holds=frozenset({"mark"}),
    checks=_CHECKS,
)
