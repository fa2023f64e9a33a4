"""The selection of tables and columns of a database, and keys that its schema does not declare."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from andre.errors import DataError
from andre.facts.formats.databases.schema import ForeignKey, Table


@dataclass(frozen=True)
class Selection:
    """The tables and columns of a database that are read, and additional keys.

    Names are taken in upper or lower case, and may be patterns such as `Invoice*`.

    Examples
    --------
    >>> from andre.facts.formats.databases.schema import Column
    >>> track = Table("Track", (Column("TrackId"), Column("Name"), Column("GenreId")), key=("TrackId",))
    >>> chosen = Selection(columns=("track.g*",))
    >>> chosen.columns_of(track)
    ('GenreId',)
    """

    tables: tuple[str, ...] = ()  #: none: all of them
    columns: tuple[str, ...] = ()  #: `column` or `table.column`; none: all of them
    keys: tuple[str, ...] = ()  #: `table.column`, for tables and views that state no key
    joins: tuple[str, ...] = ()  #: `table.column=table.column`, foreign keys that are not stated

    def __bool__(self) -> bool:
        return bool(self.tables or self.columns or self.keys or self.joins)

    def declared(self, tables: Sequence[Table]) -> list[Table]:
        """The tables with the keys and foreign keys of the selection."""
        found = {table.title: table for table in tables}
        keys: dict[str, tuple[str, ...]] = {}
        for text in self.keys:
            title, column = _place(text, tables, "--key")
            keys[title] = (*keys.get(title, ()), column)
        for title, key in keys.items():
            found[title] = replace(found[title], key=key)
        for text in self.joins:
            left, equals, right = text.partition("=")
            if not equals:
                raise DataError(
                    f"--join {text} joins nothing: write it as in --join order.customer=customer.id"
                )
            (title, column), (other, target) = (_place(side, tables, "--join") for side in (left, right))
            link = ForeignKey((column,), other, (target,))
            found[title] = replace(found[title], foreign_keys=(*found[title].foreign_keys, link))
        return list(found.values())

    def chosen(self, tables: Sequence[Table]) -> list[Table]:
        """The tables that are read."""
        for wanted in self.tables:
            if not any(_is_table(wanted, table) for table in tables):
                raise DataError(
                    f"there is no table {wanted}: {_hint(wanted, [table.title for table in tables])}"
                )
        for wanted in self.columns:
            if not any(_is_column(wanted, table, column) for table in tables for column in table.names):
                names = [f"{table.title}.{column}" for table in tables for column in table.names]
                raise DataError(f"there is no column {wanted}: {_hint(wanted, names)}")
        return [
            table
            for table in tables
            if (not self.tables or any(_is_table(wanted, table) for wanted in self.tables))
            and (not self.columns or self.columns_of(table))
        ]

    def columns_of(self, table: Table) -> tuple[str, ...]:
        """The columns of a table that are read, besides its key."""
        return tuple(
            column
            for column in table.names
            if not self.columns or any(_is_column(wanted, table, column) for wanted in self.columns)
        )


def _place(text: str, tables: Sequence[Table], option: str) -> tuple[str, str]:
    """The title of a table and the name of a column, from a text such as table.column."""
    for table in tables:
        for column in table.names:
            if _is_same(text.strip(), (f"{table.name}.{column}", f"{table.title}.{column}")):
                return table.title, column
    names = [f"{table.title}.{column}" for table in tables for column in table.names]
    raise DataError(f"{option} {text} names no column: {_hint(text, names)}")


def _is_table(wanted: str, table: Table) -> bool:
    return _fits(wanted, (table.name, table.title))


def _is_column(wanted: str, table: Table, column: str) -> bool:
    return _fits(wanted, (column, f"{table.name}.{column}", f"{table.title}.{column}"))


def _fits(wanted: str, names: Iterable[str]) -> bool:
    pattern = wanted.strip().casefold()
    return any(fnmatchcase(name.casefold(), pattern) for name in names) or _is_same(wanted.strip(), names)


def _is_same(wanted: str, names: Iterable[str]) -> bool:
    return any(name.casefold() == wanted.casefold() for name in names)


def _hint(wanted: str, names: list[str]) -> str:
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)
    few = [*names[:12], "..."] if len(names) > 12 else names
    return f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(few)}"
