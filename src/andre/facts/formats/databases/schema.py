"""The schema of a database: tables and views, the kinds of their columns, keys and foreign keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

#: What the cells of a column are, as far as that changes how they are read.
ColumnKind: TypeAlias = Literal["integer", "number", "boolean", "binary", "other"]

_KINDS: tuple[tuple[re.Pattern[str], ColumnKind], ...] = (
    (re.compile(r".*\]|STRUCT|MAP|JSON|INTERVAL|.*POINT"), "other"),
    (re.compile(r"BOOL|TINYINT ?\(1\)|BIT ?\(1\)"), "boolean"),
    (re.compile(r"(DEC(IMAL)?|NUMERIC|NUMBER|FIXED) ?\( ?\d+ ?(, ?0 ?)?\)"), "integer"),
    (re.compile(r"U?(TINY|SMALL|MEDIUM|BIG|HUGE|LONG)?INT|(BIG|SMALL)?SERIAL"), "integer"),
    (re.compile(r"REAL|FLOAT|DOUBLE|DEC|NUMERIC|NUMBER|FIXED|MONEY"), "number"),
    (re.compile(r"(TINY|MEDIUM|LONG)?BLOB|BYTEA|(VAR)?BINARY|BIT|IMAGE"), "binary"),
)


def kind_of(declared: str) -> ColumnKind:
    """The kind of a column of a declared SQL type.

    Examples
    --------
    >>> [kind_of(name) for name in ("INTEGER", "NUMERIC(10,2)", "decimal(9)", "BOOLEAN", "bytea", "DATE")]
    ['integer', 'number', 'integer', 'boolean', 'binary', 'other']
    """
    name = " ".join(declared.upper().split())
    return next((kind for pattern, kind in _KINDS if pattern.match(name)), "other")


def identifier(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class Column:
    """A column of a table or view."""

    name: str
    kind: ColumnKind = "other"
    as_number: bool = False  #: whether only the database can tell what number a cell is, as of money


@dataclass(frozen=True)
class ForeignKey:
    """Columns that refer to other columns, mostly to the key of another table."""

    columns: tuple[str, ...]
    table: str  #: the title of the other table
    others: tuple[str, ...] = ()  #: the other columns; the key of the table where none are named


@dataclass(frozen=True)
class Table:
    """A table or view of a database.

    Examples
    --------
    >>> Table("order", (Column("id", "integer"),), key=("id",), schema="shop").title
    'shop.order'
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()  #: the columns of the primary key
    foreign_keys: tuple[ForeignKey, ...] = ()
    schema: str | None = None  #: None for the one that the database takes by itself
    is_view: bool = False

    @property
    def title(self) -> str:
        """The name, with that of its schema if needed."""
        return self.name if self.schema is None else f"{self.schema}.{self.name}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def kind(self, column: str) -> ColumnKind:
        """The kind of a column."""
        return next(one.kind for one in self.columns if one.name == column)


class Database(Protocol):
    """An open database, for reading only."""

    @property
    def source(self) -> str:
        """Its name in messages."""
        ...

    def tables(self) -> list[Table]:
        """All tables and views, by name."""
        ...

    def rows(self, table: Table, columns: tuple[str, ...]) -> Iterator[list[tuple[Any, ...]]]:
        """The cells of these columns, in batches of rows."""
        ...
