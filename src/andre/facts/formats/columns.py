"""Facts in tables, one per predicate, whether in CSV, Parquet, databases or DataFrames.

A column called probability, mark or negative gives just that of each fact; all
other columns are arguments, in their order. A table with the columns head,
relation, tail (or subject, predicate, object, or h, r, t) holds triples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from andre.errors import DataError
from andre.facts.base import FactBase
from andre.facts.build import Builder, Place
from andre.facts.formats.format import refusal
from andre.facts.relation import COLUMNS, MARKS, Codes, Dictionary, Relation, check_value

_TRIPLE_COLUMNS = (("head", "relation", "tail"), ("subject", "predicate", "object"), ("h", "r", "t"))
_TRUTH = {True: True, False: False, "true": True, "false": False, "1": True, "0": False}


def is_triples(columns: Sequence[str]) -> bool:
    """Whether columns with these names are those of triples."""
    return tuple(name.lower() for name in columns if name not in COLUMNS) in _TRIPLE_COLUMNS


def add_table(builder: Builder, name: str | None, columns: Mapping[str, Sequence[Any]], place: Place) -> None:
    """Add the rows of a table to a builder: facts of one relation, or triples where it has no name.

    What strings mean is left to the builder; other cells are values.
    """
    given = {field: _reserved(field, columns[field], place) for field in COLUMNS if field in columns}
    if {"probability", "negative"} <= given.keys():
        both = np.flatnonzero(given["negative"] & (given["probability"] != 1))
        if both.size:
            raise DataError(f"{place.of(int(both[0]))}: a denied fact has no probability: state or deny it")
    arguments = [columns[column] for column in columns if column not in COLUMNS]
    if not arguments:
        raise DataError(f"{place.source}: there is no column of arguments: a fact needs at least one")
    if name is not None:
        codes = np.stack([_code_cells(builder, column, place) for column in arguments], axis=1)
        builder.add(name, codes, place, **given)
        return
    head, relation, tail = arguments
    names = Dictionary[str]()
    kinds = np.fromiter(map(names.__getitem__, _names(relation, place)), np.int32, len(relation))
    ends = np.stack([_code_cells(builder, column, place) for column in (head, tail)], axis=1)
    builder.add_triples(list(names), kinds, ends, **given)


def _names(cells: Sequence[Any], place: Place) -> Iterator[str]:
    for row, cell in enumerate(cells):
        if not isinstance(cell, str) or not cell:
            raise DataError(f"{place.of(row)}: {cell!r} cannot name a relation")
        yield cell


def _code_cells(builder: Builder, cells: Sequence[Any], place: Place) -> Codes:
    """The codes of a column of constants."""
    kinds = set(map(type, cells))
    if kinds == {int} or (kinds == {str} and "" not in cells):  # which are their own keys
        return np.fromiter(map(builder.texts.__getitem__, cells), np.int32, len(cells))
    codes = np.empty(len(cells), dtype=np.int32)
    for row, cell in enumerate(cells):
        try:
            value = _value(cell)
        except DataError as error:
            raise DataError(f"{place.of(row)}: {error}") from None
        codes[row] = builder.texts[value] if isinstance(value, str) else builder.code(value)
    return codes


def _value(cell: Any) -> str | int | float:
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, bool):
        return str(cell).lower()
    if not isinstance(cell, str | int | float):
        cell = _plain(cell)
    if cell is None or cell == "" or cell != cell:  # noqa: PLR0124  (NaN differs from itself)
        raise DataError(
            "a cell is empty: an argument needs a name or a number (andre fit reads tables with gaps)"
        )
    return check_value(cell)


def _plain(cell: Any) -> Any:
    """A plain value for a cell of a rare type: dates, durations and UUIDs as names, decimals as numbers."""
    if str(cell) in {"<NA>", "NaT"}:  # as pandas writes what is missing
        return None
    if isinstance(cell, Decimal):
        return _exact_number(cell)
    return str(cell) if isinstance(cell, date | time | timedelta | UUID) else cell


def _exact_number(cell: Decimal) -> int | float | str:
    """A decimal as an integer or a float, or as a name if a float would lose digits.

    Examples
    --------
    >>> [_exact_number(Decimal(text)) for text in ("12345678901234567891", "1.10", "1.2345678901234567891")]
    [12345678901234567891, 1.1, '1.2345678901234567891']
    """
    if cell.as_tuple().exponent == 0:
        return int(cell)
    near = float(cell)
    return near if Decimal(repr(near)) == cell or not cell.is_finite() else str(cell)


def _reserved(field: str, cells: Sequence[Any], place: Place) -> NDArray[Any]:
    """The values of a reserved column, checked."""
    read, rule = _RESERVED_CELLS[field]
    values = []
    for row, cell in enumerate(cells):
        plain = cell.item() if isinstance(cell, np.generic) else cell
        try:
            values.append(read(plain.lower() if isinstance(plain, str) else plain))
        except (KeyError, ValueError, TypeError):
            raise DataError(f"{place.of(row)}: {cell!r} in the column {field}: {rule}") from None
    return np.array(values)


def _probability(cell: Any) -> float:
    value = float(cell)
    if not 0 <= value <= 1:
        raise ValueError
    return value


#: How a cell of a reserved column is read, and what may stand there.
_RESERVED_CELLS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "probability": (_probability, "a probability is a number from 0 to 1"),
    "mark": (MARKS.index, "a mark is train, valid or test"),
    "negative": (_TRUTH.__getitem__, "negative is true or false"),
}


def table_columns(base: FactBase, relation: Relation) -> dict[str, list[Any]]:
    """The facts of a relation as columns by name: arguments, and those reserved ones that it has."""
    columns: dict[str, list[Any]] = {}
    for position, codes in enumerate(relation.codes.T, start=1):
        columns[f"arg{position}"] = [base.constants[code] for code in codes.tolist()]
    if relation.probability is not None:
        columns["probability"] = relation.probability.tolist()
    if relation.mark is not None:
        columns["mark"] = [MARKS[mark] for mark in relation.mark.tolist()]
    if relation.negative is not None:
        columns["negative"] = relation.negative.tolist()
    return columns


def check_cells(base: FactBase, title: str) -> None:
    """Check that a cell of a database can hold every constant: 64-bit numbers, and no empty name."""
    for value in base.constants:
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise refusal(title, f"the number {value}", "it needs more than 64 bits; write prolog or jsonl")
        if value == "":
            raise refusal(title, "an empty name", "an empty cell says nothing; write prolog or jsonl")
