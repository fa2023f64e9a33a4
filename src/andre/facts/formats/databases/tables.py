"""One table of a database as columns, for learning from its rows: `shop.sqlite#customer`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.errors import DataError
from andre.facts.formats.databases.addresses import file_of_address, is_address, open_address
from andre.facts.formats.databases.duckdb import open_duckdb
from andre.facts.formats.databases.relations import plan_relations
from andre.facts.formats.databases.schema import Database, Table
from andre.facts.formats.databases.selection import Selection
from andre.facts.formats.databases.sqlite import open_sqlite
from andre.facts.formats.text import opening
from andre.limits import check

#: How files of databases begin: where, with what, and who opens them.
_MAGIC = ((0, b"SQLite format 3\0", open_sqlite), (8, b"DUCK", open_duckdb))


def table_parts(source: str) -> tuple[str, str | None]:
    """The database and the table in a source with a #, unless a file has that name.

    Examples
    --------
    >>> table_parts("shop.sqlite#customer"), table_parts("people.csv")
    (('shop.sqlite', 'customer'), ('people.csv', None))
    """
    place, sign, table = source.rpartition("#")
    return (place, table) if sign and not _is_file(Path(source)) else (source, None)


def _is_file(path: Path) -> bool:
    with suppress(OSError):  # a name that is too long for any file
        return path.is_file()
    return False


@dataclass(frozen=True, eq=False)
class DatabaseTable:
    """A table or view of an open database."""

    path: str  #: as the user wrote it
    database: Database
    table: Table
    links: Mapping[str, str] = field(default_factory=dict)  #: what ids of other tables begin with, by column

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that can be read; binary data cannot."""
        return tuple(column.name for column in self.table.columns if column.kind != "binary")

    def values(self, as_text: Collection[int] = ()) -> Iterator[tuple[NDArray[Any], bool]]:
        """Every column with its values: numbers, truth values, or text, and None for NULL.

        Ids of other tables are names, as `employee_3`: their order says nothing.

        Parameters
        ----------
        as_text
            Places of columns of text, which are text anyway.

        Yields
        ------
        tuple
            The values, [rows], and whether they are seconds since 1970.
        """
        rows: list[tuple[Any, ...]] = []
        for batch in self.database.rows(self.table, self.names):
            check()
            rows += batch
        columns = zip(*rows, strict=True) if rows else ((),) * len(self.names)
        for name, cells in zip(self.names, columns, strict=True):
            yield _array([self._cell(name, cell) for cell in cells])

    def _cell(self, name: str, cell: Any) -> Any:
        if (start := self.links.get(name)) is not None and isinstance(cell, int | Decimal):
            return f"{start}_{cell}"
        return bool(cell) if self.table.kind(name) == "boolean" and cell in (0, 1) else cell


def _array(cells: Sequence[Any]) -> tuple[NDArray[Any], bool]:
    """The cells of a column, and whether they are seconds since 1970."""
    kinds = set(map(type, cells)) - {type(None)}
    if kinds and kinds <= {int, float, Decimal}:
        return np.array([np.nan if cell is None else float(cell) for cell in cells]), False
    if kinds and kinds <= {date, datetime}:
        return np.array([np.nan if cell is None else _seconds(cell) for cell in cells]), True
    plain = np.empty(len(cells), dtype=object)
    plain[:] = [None if isinstance(cell, bytes) else cell for cell in cells]
    return plain, False


def _seconds(day: date) -> float:
    moment = day if isinstance(day, datetime) else datetime.combine(day, time())
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


@contextmanager
def open_database_table(source: str | Path) -> Iterator[DatabaseTable | None]:
    """Open the table that a source names, or the only one of its database; None for other sources."""
    place, wanted = table_parts(str(source))
    opened = _opened(place)
    if opened is None:
        yield None
        return
    with opened as database:
        every = [table for table in database.tables() if table.columns]
        tables = every if wanted is None else Selection(tables=(wanted,)).chosen(every)
        if len(tables) != 1:
            names = [table.title for table in tables]
            listed = ", ".join([*names[:12], "..."] if len(names) > 12 else names)
            first = names[0] if names else "TABLE"
            raise DataError(
                f"{database.source} has {len(names)} tables ({listed}): name the one to learn from, as in "
                f"{database.source}#{first} or --tables {first}"
            )
        (chosen,) = tables
        planned = (one for one in plan_relations(every).tables if one.table.title == chosen.title)
        ids = {name: one.prefix for table in planned for (name, *more), one in table.ids.items() if not more}
        links = {name: prefix for name, prefix in ids.items() if chosen.key != (name,)}
        yield DatabaseTable(str(source), database, chosen, links)


def _opened(place: str) -> AbstractContextManager[Database] | None:
    """The database at an address or in a file; None for anything else."""
    path = file_of_address(place) if is_address(place) else Path(place)
    if path is None:
        return open_address(place)
    if not _is_file(path):
        return None
    with opening(path), path.open("rb") as file:
        start = file.read(64)
    return next((opened(path) for at, magic, opened in _MAGIC if start[at:].startswith(magic)), None)
