"""The rows of a table as facts, for the relational form of rules about its columns."""

from __future__ import annotations

import numpy as np

from andre.arrays import Bools
from andre.facts.base import FactBase
from andre.facts.relation import Relation, Value
from andre.facts.tables.labels import level_constant
from andre.facts.tables.schema import TypedColumn, TypedTable
from andre.logic import MISSING


def row_facts(table: TypedTable) -> FactBase:
    """A fact `column(row, value)` for every value that is known, and `row(row)` for every row.

    Where a cell is empty or cannot be read, that is `missing(row, column)`.

    Rows are numbered from 1. The values of Boolean columns are true and false, as those of
    truth values above and below one half; dates are in seconds since 1970. Over these facts the rules of
    `andre.logic.by_row` derive the rows on which the rules about columns hold.

    Examples
    --------
    >>> from andre.facts.tables.raw import RawTable
    >>> from andre.facts.tables.schema import Schema
    >>> raw = RawTable.read({"age": [42, 17], "member": ["yes", "no"]})
    >>> print(*row_facts(Schema.learn(raw).read(raw)).atoms("member", 2))
    member(1, true) member(2, false)
    """
    values: dict[tuple[type, Value], int] = {}
    rows = np.array([_number(values, row) for row in range(1, table.n_rows + 1)], dtype=np.int32)
    relations, gaps = [Relation("row", rows[:, None])], []
    for column in table.columns:
        known, found = _values(column)
        codes = np.array([_number(values, value) for value in found], dtype=np.int32)
        relations.append(Relation(column.name, np.column_stack((rows[known], codes)).reshape(-1, 2)))
        if len(empty := rows[column.missing]):
            gaps.append(np.column_stack((empty, np.full_like(empty, _number(values, column.name)))))
    if gaps:
        relations.append(Relation(MISSING, np.concatenate(gaps)))
    constants = [value for _, value in values]
    return FactBase.from_relations(constants, [relation for relation in relations if len(relation)])


def _values(column: TypedColumn) -> tuple[Bools, list[Value]]:
    """Which rows have a value, and the values of these."""
    if column.kind == "category":
        known = column.values >= 0
        constants = [level_constant(level).value for level in column.levels]
        return known, [constants[code] for code in column.values[known].tolist()]
    if column.kind in ("boolean", "truth"):
        known = ~np.isnan(column.values) & (column.values != 0.5)
        return known, ["true" if value > 0.5 else "false" for value in column.values[known].tolist()]
    known = np.isfinite(column.values)
    return known, [int(value) if value.is_integer() else value for value in column.values[known].tolist()]


def _number(values: dict[tuple[type, Value], int], value: Value) -> int:
    """The code of a value; 1 and '1' are two."""
    return values.setdefault((type(value), value), len(values))
