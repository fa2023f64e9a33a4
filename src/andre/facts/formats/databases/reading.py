"""The facts of a database: cells become constants by the kinds and keys of its schema."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from andre.errors import DataError
from andre.facts.base import FactBase
from andre.facts.build import Builder, Place, as_names
from andre.facts.formats.columns import add_table
from andre.facts.formats.databases.relations import (
    Argument,
    Ids,
    Plan,
    PlannedRelation,
    PlannedTable,
    check_some,
    plan_relations,
)
from andre.facts.formats.databases.schema import ColumnKind, Database
from andre.facts.formats.databases.selection import Selection
from andre.facts.relation import Value, check_name
from andre.limits import check
from andre.logic import spell_number

_TRUTH = {"true": True, "t": True, "yes": True, "y": True, "1": True}
_TRUTH |= {"false": False, "f": False, "no": False, "n": False, "0": False}
_MOST_NAMES = 5  # of columns that a remark lists; of more it says how many


def read_database(database: Database, selection: Selection | None = None) -> FactBase:
    """The facts of all tables of a database, or of the selected ones.

    NULL and empty text are unknown: a fact that would need them is not stated. Notes say where.
    """
    selection = selection or Selection()
    plan = plan_relations(database.tables(), selection)
    check_some(plan, database.source)
    reader = _Reader(database, plan)
    empty = [
        planned.table.title for planned in plan.tables if not reader.add(planned, bool(selection.tables))
    ]
    if len(empty) == len(plan.tables):
        raise DataError(f"{database.source} has no facts: {_listed(empty)} {_has(empty)} no rows")
    reader.builder.remarks += [*plan.remarks, *reader.remarks(empty)]
    return reader.builder.finish(as_names)


@dataclass
class _Reader:
    """Adds the rows of planned tables to a builder, and counts unknown cells."""

    database: Database
    plan: Plan
    builder: Builder = field(default_factory=Builder)
    unknown: Counter[str] = field(default_factory=Counter)  #: facts that are not stated, by column
    incomplete: Counter[str] = field(default_factory=Counter)  #: rows without a fact or key, by table
    odd: dict[str, str] = field(default_factory=dict)  #: what cells hold that can be no constant, by column
    broken: list[str] = field(default_factory=list)  #: views that the database cannot run

    def __post_init__(self) -> None:
        prefix, joined = (
            "|".join(map(re.escape, some)) or "(?!)" for some in (self.plan.prefixes, self.plan.joined)
        )
        #: Text that looks like an id of a table, and is none.
        self.like_id = re.compile(
            rf"(?:(?:{prefix})_-?[0-9][0-9.e+-]*(?: \(text\))*|(?:{joined})_.*)\Z", re.DOTALL
        )

    def add(self, planned: PlannedTable, is_named: bool) -> int:
        """Add the rows of a table, and return how many it has."""
        table, columns = planned.table, planned.columns
        cells = {name: self._cells(planned, name) for name in columns}
        arguments = {argument for relation in planned.relations for argument in relation.arguments}
        first = planned.relations[0].arguments
        listable = {one for one in arguments.difference(first) if len(one) == 1}
        rows = 0
        try:
            for batch in self.database.rows(table, columns):
                check()
                raw = dict(zip(columns, zip(*batch, strict=True), strict=True))
                lines = range(rows + 1, rows + len(batch) + 1)
                lists = {one for one in listable if list in map(type, raw[one[0]])}
                values = {one: self._values(planned, one, cells, raw) for one in arguments - lists}
                for relation in planned.relations:
                    if relation.arguments[-1] in lists:
                        self._add_elements(planned, relation, cells, raw, lines)
                    else:
                        self._add(planned, relation, raw, values, lines)
                rows += len(batch)
        except DataError as error:
            # A view may have been broken for years without anyone asking for it.
            if not table.is_view or is_named or rows:
                raise
            self.broken.append(f"the view {table.title} is left out: {error}")
        for name in columns:
            if cells[name].odd:
                self.odd[f"{table.title}.{name}"] = cells[name].odd
        return rows

    def _add_elements(
        self,
        planned: PlannedTable,
        relation: PlannedRelation,
        cells: Mapping[str, _Cells],
        raw: Mapping[str, Sequence[Any]],
        lines: Sequence[int],
    ) -> None:
        """Add the facts of a relation whose last column has lists: one for each of their elements."""
        (name,) = relation.arguments[-1]
        elements = [cell if isinstance(cell, list) else [cell] for cell in raw[name]]
        rows = [row for row, found in enumerate(elements) for _ in found]
        flat: dict[str, Sequence[Any]] = {
            other: [raw[other][row] for row in rows]
            for argument in relation.arguments[:-1]
            for other in argument
        }
        flat[name] = [element for found in elements for element in found]
        values = {argument: self._values(planned, argument, cells, flat) for argument in relation.arguments}
        self._add(planned, relation, flat, values, [lines[row] for row in rows])

    def _add(
        self,
        planned: PlannedTable,
        relation: PlannedRelation,
        raw: Mapping[str, Sequence[Any]],
        values: Mapping[Argument, list[Value | None]],
        lines: Sequence[int],
    ) -> None:
        """Add the facts of one relation, without those that have an unknown argument."""
        arguments = [values[argument] for argument in relation.arguments]
        given = {name: raw[name] for name in relation.reserved}
        if relation.truth is not None:
            given["negative"] = [_denied(cell) for cell in raw[relation.truth]]
        known = [
            row
            for row, fact in enumerate(
                zip(*arguments, *given.values() if relation.truth else (), strict=True)
            )
            if None not in fact
        ]
        last = (relation.truth,) if relation.truth else relation.arguments[-1]
        if len(known) < len(lines):
            key = planned.relations[0].arguments
            if relation is planned.relations[0]:
                self.incomplete[planned.table.title] += len(lines) - len(known)
            else:
                keys = zip(*(values[one] for one in key), strict=True)
                cells = zip(*(raw[name] for name in last), strict=True)
                self.unknown[f"{planned.table.title}.{', '.join(last)}"] += sum(
                    None not in fact and (None in cell or "" in cell)
                    for fact, cell in zip(keys, cells, strict=True)
                )
        if not known:
            return
        whole = len(known) == len(lines)

        def kept(column: Sequence[Any]) -> Sequence[Any]:
            return column if whole else [column[row] for row in known]

        titles = (
            [", ".join(argument) for argument in relation.arguments]
            if relation.name is None
            else [f"arg{place + 1}" for place in range(len(arguments))]
        )
        columns = dict(zip(titles, map(kept, arguments), strict=True))
        place = Place(f"{self.database.source}, table {planned.table.title}", kept(lines), "row")
        add_table(
            self.builder, relation.name, columns | {name: kept(cells) for name, cells in given.items()}, place
        )

    def _cells(self, planned: PlannedTable, name: str) -> _Cells:
        return _Cells(planned.table.kind(name), planned.ids.get((name,)), self.like_id)

    def _values(
        self,
        planned: PlannedTable,
        argument: Argument,
        cells: Mapping[str, _Cells],
        raw: Mapping[str, Sequence[Any]],
    ) -> list[Value | None]:
        """The constants of an argument, None for unknown ones."""
        if len(argument) == 1:
            (name,) = argument
            return cells[name].values(raw[name])
        ids = planned.ids[argument]
        parts = [
            _Cells(planned.table.kind(name), Ids("", (whole,)), self.like_id).values(raw[name])
            for name, whole in zip(argument, ids.whole, strict=True)
        ]
        rows = zip(*parts, strict=True)
        return [None if None in row else ids.joined([str(part) for part in row]) for row in rows]

    def remarks(self, empty: list[str]) -> Iterable[str]:
        """Remarks on the tables, a sentence each."""
        broken = {text.split()[2] for text in self.broken}
        if empty := [title for title in empty if title not in broken]:
            yield f"{_listed(empty)} {_has(empty)} no rows"
        if self.unknown:
            told = [f"{count:,} of {name}" for name, count in self.unknown.most_common() if count]
            if told:
                yield f"NULL and empty text are unknown, and nothing is stated of them: {_listed(told)}"
        if self.incomplete:
            told = [f"{count:,} of {name}" for name, count in self.incomplete.most_common()]
            yield f"rows with NULL where a fact needs a constant are left out: {_listed(told)}"
        for name, what in self.odd.items():
            yield f"{name}: some cells hold {what}, which can be no constant, and are left out"
        yield from self.broken


class _Memo(dict[Any, Any]):
    """A function of cells that is called once for each distinct cell."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__({None: None})
        self.function = function

    def __missing__(self, cell: Any) -> Any:
        value = self[cell] = self.function(cell)
        return value


@dataclass
class _Cells:
    """The conversion of the cells of one column."""

    kind: ColumnKind
    ids: Ids | None
    like_id: re.Pattern[str]
    odd: str = ""  #: what some cell holds that can be no constant
    memos: dict[type, _Memo] = field(default_factory=dict)  # 1, 1.0 and true are equal, and differ in type

    def values(self, cells: Sequence[Any]) -> list[Value | None]:
        """The constants of cells, None for unknown ones."""
        kinds = set(map(type, cells)) - {type(None)}
        for kind in kinds - self.memos.keys():
            self.memos[kind] = _Memo(self._value)
        if not kinds:
            return [None] * len(cells)
        if kinds & {list, dict, set, bytearray}:  # of which no dictionary has a memory
            return [None if cell is None else self._value(cell) for cell in cells]
        if len(kinds) == 1:
            return list(map(self.memos[kinds.pop()].__getitem__, cells))
        return [None if cell is None else self.memos[type(cell)][cell] for cell in cells]

    def _value(self, cell: Any) -> Value | None:
        if isinstance(cell, memoryview | bytearray):
            cell = bytes(cell)
        if isinstance(cell, bytes):
            return cell.hex() if self.ids is not None else self._refused("binary data")
        if isinstance(cell, list | tuple | set | dict):
            return self._refused("lists or structures")
        if isinstance(cell, bool) or (self.kind == "boolean" and cell in (0, 1)):
            return "true" if cell else "false"
        if (
            self.ids is not None
            and self.ids.whole[0]
            and isinstance(cell, str)
            and re.fullmatch(r"-?\d+", cell)
        ):
            cell = int(cell)
        if isinstance(cell, int | float | Decimal):
            return self._number(cell)
        return self._text(str(cell))  # dates, times, UUIDs and the like

    def _number(self, cell: float | Decimal) -> Value | None:
        if not math.isfinite(cell):
            return None if math.isnan(cell) else self._refused("numbers without end")
        number: Value
        if cell == int(cell) and (self.ids is not None or self.kind == "integer" or isinstance(cell, int)):
            number = int(cell)
            if self.ids is None and self.kind == "number" and int(float(number)) == number:
                number = float(number)
        else:
            number = float(cell)
            if isinstance(cell, Decimal) and Decimal(repr(number)) != cell:
                number = str(cell)  # no float is this number, and two numbers shall not be one constant
        if self.ids is None:
            return number
        return f"{self.ids.prefix}_{_spelled(number)}" if self.ids.prefix else _spelled(number)

    def _text(self, text: str) -> Value | None:
        if not text:
            return None
        try:
            check_name(text)
        except DataError:
            return self._refused("text with NUL or half a character")
        return f"{text} (text)" if self.like_id.match(text) else text

    def _refused(self, what: str) -> Value | None:
        self.odd = what
        return None


def _spelled(number: Value) -> str:
    return number if isinstance(number, str) else spell_number(number)


def _denied(cell: Any) -> bool | None:
    """Whether a Boolean cell is false; None if it is neither true nor false."""
    truth = None if cell is None else _TRUTH.get(str(cell).strip().lower())
    return None if truth is None else not truth


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(name or '""' for name in names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _has(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"
