"""Databases by an address such as postgresql://user@host/shop, if SQLAlchemy has a driver for them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from andre.errors import DataError
from andre.facts.formats.databases.schema import Column, ForeignKey, Table, kind_of

if TYPE_CHECKING:
    import sqlalchemy as sa

_BATCH = 1 << 14
_ADDRESS = re.compile(r"(?P<dialect>[A-Za-z][\w]*)(?P<driver>\+\w+)?://")
_PASSWORD = re.compile(r"(?<=://)(?P<user>[^/@?#]*?):[^/?#]*@")
#: Other names of dialects, and the driver that the extra installs.
_DIALECTS = {"postgres": "postgresql", "mariadb": "mysql"}
_DRIVERS = {"postgresql": "psycopg", "mysql": "pymysql"}
#: What no one but the server itself fills.
_SYSTEM = re.compile(r"information_schema|pg_.*|sys|mysql|performance_schema|INFORMATION_SCHEMA")


def is_address(source: str) -> bool:
    """Whether a source is the address of a database, not a path.

    Examples
    --------
    >>> is_address("postgresql://localhost/shop"), is_address("shop.sqlite"), is_address("C:/shop.sqlite")
    (True, False, False)
    """
    return _ADDRESS.match(source) is not None


def without_password(text: str) -> str:
    """The text with the password of an address hidden, for saved runs and messages.

    Examples
    --------
    >>> without_password("postgresql://ann:secret@host/shop"), without_password("a/b:c@d")
    ('postgresql://ann:***@host/shop', 'a/b:c@d')
    """
    return _PASSWORD.sub(r"\g<user>:***@", text)


def file_of_address(address: str) -> Path | None:
    """The file in an address of SQLite or DuckDB; None for a server.

    Examples
    --------
    >>> print(file_of_address("sqlite:///shop.sqlite"), file_of_address("postgresql://localhost/shop"))
    shop.sqlite None
    """
    found = _ADDRESS.match(address)
    if found is None or found["dialect"] not in {"sqlite", "duckdb"}:
        return None
    return Path(address[found.end() :].removeprefix("/").partition("?")[0])


@contextmanager
def open_address(address: str) -> Iterator[SQLAlchemyDatabase]:
    """Connect to the database at an address, in a read-only transaction."""
    source = without_password(address)
    try:
        import sqlalchemy as sa  # noqa: PLC0415  (an extra)
    except ImportError:
        raise DataError(f"{source} needs SQLAlchemy: pip install 'andre[databases]'") from None
    try:
        engine = sa.create_engine(_with_driver(address))
    except ModuleNotFoundError as error:
        raise DataError(f"{source} needs the driver {error.name}: pip install {error.name}") from None
    except sa.exc.NoSuchModuleError:
        raise DataError(
            f"{source} is no database that SQLAlchemy knows: give an address such as "
            "postgresql://user@host/shop, or the path of a file, which is downloaded first"
        ) from None
    except (sa.exc.SQLAlchemyError, ValueError) as error:  # a port that is no number is a ValueError
        raise DataError(f"{source} cannot be read: {_reason(error)}") from None
    try:
        with engine.connect() as connection:
            if (first := _READ_ONLY.get(engine.dialect.name)) is not None:
                connection.exec_driver_sql(first)
            yield SQLAlchemyDatabase(source, connection)
            connection.rollback()
    except sa.exc.SQLAlchemyError as error:
        raise DataError(f"{source} cannot be read: {_reason(error)}") from None
    finally:
        engine.dispose()


#: What makes the transaction that follows read one state of all tables, and write nothing.
_READ_ONLY = {
    "postgresql": "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    "mysql": "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
    "mariadb": "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
}


def _with_driver(address: str) -> str:
    """The address with the driver of the extra, if it names none and that driver is installed."""
    found = _ADDRESS.match(address)
    if found is None:
        raise ValueError("this is no address")
    dialect = _DIALECTS.get(found["dialect"], found["dialect"])
    driver = found["driver"] or ""
    if not driver and (usual := _DRIVERS.get(dialect)) and find_spec(usual):
        driver = f"+{usual}"
    return f"{dialect}{driver}://{address[found.end() :]}"


def _reason(error: Exception) -> str:
    """The first line of a driver's error, without the statement and the password."""
    told = str(getattr(error, "orig", None) or error)
    return without_password(next(iter(told.strip().splitlines()), type(error).__name__))


@dataclass(frozen=True)
class SQLAlchemyDatabase:
    """A database connected by SQLAlchemy; names are quoted by the rules of its dialect."""

    source: str
    connection: sa.Connection

    def tables(self) -> list[Table]:
        """All tables and views, by name."""
        import sqlalchemy as sa  # noqa: PLC0415

        seen = sa.inspect(self.connection)
        usual = seen.default_schema_name
        found, parts = [], self._partitions()
        for schema in sorted(seen.get_schema_names(), key=lambda name: (name != usual, name)):
            # MySQL's schemas are other databases, which the address does not name.
            if _SYSTEM.fullmatch(schema) or (
                self.connection.dialect.name in {"mysql", "mariadb"} and schema != usual
            ):
                continue
            where = None if schema == usual else schema
            views = [*seen.get_view_names(where), *self._materialized(seen, where)]
            for name in sorted({*seen.get_table_names(where), *views} - parts.get(schema, set())):
                found.append(self._table(seen, name, where, name in views))
        return found

    def _materialized(self, seen: Any, schema: str | None) -> list[str]:
        try:
            return list(seen.get_materialized_view_names(schema))
        except NotImplementedError:
            return []

    def _partitions(self) -> dict[str, set[str]]:
        """By schema, tables that are parts of others, whose rows are read with these."""
        if self.connection.dialect.name != "postgresql":
            return {}
        query = (
            "SELECT nspname, relname FROM pg_catalog.pg_class "
            "JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace WHERE relispartition"
        )
        found: dict[str, set[str]] = {}
        for schema, name in self.connection.exec_driver_sql(query):
            found.setdefault(schema, set()).add(name)
        return found

    def _table(self, seen: Any, name: str, schema: str | None, is_view: bool) -> Table:
        with warnings.catch_warnings():  # of a type that SQLAlchemy does not know, as point: it is text
            warnings.simplefilter("ignore")
            described = seen.get_columns(name, schema)
        declared = [(str(column["name"]), self._declared(column["type"])) for column in described]
        columns = tuple(Column(name, kind_of(kind), kind == "MONEY") for name, kind in declared)
        key = () if is_view else tuple(seen.get_pk_constraint(name, schema)["constrained_columns"])
        links = tuple(
            ForeignKey(
                tuple(link["constrained_columns"]),
                Table(link["referred_table"], (), schema=link["referred_schema"]).title,
                tuple(link["referred_columns"]),
            )
            for link in (() if is_view else seen.get_foreign_keys(name, schema))
        )
        return Table(name, columns, key, links, schema, is_view)

    def _declared(self, kind: Any) -> str:
        """The type of a column as declared in its database."""
        import sqlalchemy as sa  # noqa: PLC0415

        try:
            return str(kind.compile(self.connection.dialect))
        except sa.exc.SQLAlchemyError:  # a type that SQLAlchemy does not know
            return str(kind)

    def rows(self, table: Table, columns: tuple[str, ...]) -> Iterator[list[tuple[Any, ...]]]:
        """The cells of these columns, some rows at a time."""
        import sqlalchemy as sa  # noqa: PLC0415

        def quoted(name: str) -> sa.quoted_name:
            return sa.quoted_name(name, quote=True)

        # Cells come as the driver gives them, and under no name, which a driver may cut or bend.
        numbers = {column.name for column in table.columns if column.as_number}
        chosen: list[sa.Label[Any]] = []
        for place, name in enumerate(columns):
            cell: sa.ColumnElement[Any] = sa.column(quoted(name))
            cell = sa.cast(cell, sa.Numeric) if name in numbers else cell
            chosen.append(cell.label(f"c{place}"))
        where = sa.table(
            quoted(table.name),
            *(sa.column(quoted(name)) for name in columns),
            schema=None if table.schema is None else quoted(table.schema),
        )
        try:
            # A view that fails must not end the transaction for all that follow.
            with self.connection.begin_nested():
                query = sa.select(*chosen).select_from(where)
                result = self.connection.execute(query, execution_options={"stream_results": True})
                for batch in result.partitions(_BATCH):
                    yield [tuple(row) for row in batch]
        except sa.exc.SQLAlchemyError as error:
            raise DataError(f"{self.source}, table {table.title} cannot be read: {_reason(error)}") from None
