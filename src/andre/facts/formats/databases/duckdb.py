"""DuckDB databases, and connections of DuckDB that read other files."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfileobj
from typing import TYPE_CHECKING, Any

from andre.errors import DataError
from andre.facts.formats.databases.schema import Column, ForeignKey, Table, identifier, kind_of
from andre.limits import interrupting
from andre.memory import memory_share

if TYPE_CHECKING:
    import duckdb

_BATCH = 1 << 16
#: Bytes that a file may unpack to in any case, and times its size to which it may.
_SMALL, _PACKED = 1 << 27, 500


#: DuckDB's database in memory: setting up another takes longer than reading a small file.
_in_memory: list[duckdb.DuckDBPyConnection] = []


@contextmanager
def duckdb_connection(
    complain: Callable[[str], str],
    database: Path | None = None,
    scratch: Path | None = None,
    read_only: bool = False,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a DuckDB database with bounded memory.

    Parameters
    ----------
    complain
        Makes a sentence of DuckDB's reason where something fails.
    database
        Its file; in memory unless given.
    scratch
        A folder for what memory does not hold.
    read_only
        Whether nothing is written to the file.
    """
    import duckdb  # noqa: PLC0415  (a quarter of a second that most commands need not pay)

    memory = f"{memory_share(4 << 30) >> 20}MiB"  # a damaged file may claim to be larger than it is
    try:
        if database is None and scratch is None:
            opened = _cursor(memory)
        else:
            config: dict[str, Any] = {"memory_limit": memory}
            if scratch is not None:
                config["temp_directory"] = str(scratch)
            opened = duckdb.connect(":memory:" if database is None else database, read_only, config)
        with opened as connection, interrupting(connection.interrupt):
            yield connection
    except (duckdb.FatalException, duckdb.InternalException) as error:
        _in_memory.clear()
        raise DataError(complain(str(error).partition("\n")[0])) from None
    except duckdb.Error as error:
        raise DataError(complain(str(error).partition("\n")[0])) from None
    except BaseException:
        _in_memory.clear()
        raise


def _cursor(memory: str) -> duckdb.DuckDBPyConnection:
    """Another connection to the database in memory, whose tables are dropped when it is closed."""
    import duckdb  # noqa: PLC0415

    if not _in_memory:
        config: dict[str, Any] = {"temp_directory": "", "enable_external_file_cache": "false"}
        _in_memory.append(duckdb.connect(":memory:", config=config))
        atexit.register(_in_memory.clear)  # DuckDB complains of connections that outlive Python
    cursor = _in_memory[0].cursor()
    cursor.execute(f"SET memory_limit = '{memory}'")
    return cursor


@contextmanager
def duckdb_file(
    source: Path, database: Path | None = None, read_only: bool = False
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database to read or write a file, which errors name."""
    with duckdb_connection(
        lambda reason: f"{source} cannot be read or written: {reason}", database, read_only=read_only
    ) as connection:
        yield connection


@contextmanager
def plain_name(path: Path) -> Iterator[Path]:
    """The same file under a name without patterns; a pipe, which can be read only once, is copied.

    DuckDB takes stars and brackets for patterns, and an equals sign in a folder for a column.
    """
    import duckdb  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="andre-") as folder:
        plain = Path(folder) / "table"
        if path.is_file():
            plain.symlink_to(path.resolve())
        else:
            with path.open("rb") as source, plain.open("wb") as copy:
                copyfileobj(source, copy)
        try:
            yield plain
        except duckdb.Error as error:  # which is told of the file that was named
            raise type(error)(str(error).replace(str(plain), str(path))) from None


def check_parquet(connection: Any, plain: Path, path: Path) -> None:
    """Refuse a Parquet file that unpacks to far more than its size, before memory is allocated.

    Parameters
    ----------
    connection
        By which it is read.
    plain, path
        The file, and what the user calls it.

    Raises
    ------
    DataError
        Where it states numbers of values or lengths of text that no table has.
    """
    size = path.stat().st_size if path.is_file() else plain.stat().st_size
    (values,) = connection.execute(
        "SELECT coalesce(sum(num_values), 0) FROM parquet_metadata(?)", [str(plain)]
    ).fetchone()
    read = "read_parquet(?, hive_partitioning = false)"
    described = connection.execute(f"DESCRIBE SELECT * FROM {read}", [str(plain)]).fetchall()
    # The functions that count bytes, by the types of columns that have any number of them.
    counting = {"VARCHAR": "strlen", "BLOB": "octet_length"}
    texts = [f"{counting[kind]}({identifier(name)})" for name, kind, *_ in described if kind in counting]
    letters = 0
    if 8 * values <= max(_SMALL, _PACKED * size):
        for text in texts:
            (found,) = connection.execute(
                f"SELECT coalesce(sum({text}), 0) FROM {read}", [str(plain)]
            ).fetchone()
            letters = max(letters, int(found))
    if max(8 * values, letters) > max(_SMALL, _PACKED * size):
        raise DataError(
            f"{path} has {size:,} bytes that unpack to {int(values):,} values and {letters:,} bytes of text: "
            "no table packs so well, so check where it comes from"
        )


def open_rows(connection: Any, table: str, values: Sequence[str] = ()) -> Any:
    """An open query for all rows of a table.

    Times by the nanosecond, which Python's lack, come as text, and so do those of a time zone, in UTC, for
    which DuckDB needs a package more. Numbers of single precision come as they are written: 79.62, not the
    double 79.62000274658203 that is next to it.
    """
    cursor = connection.execute(f"SELECT * FROM {table}", values)
    others = []
    for column, kind, *_ in cursor.description:
        name, text = identifier(column), f"CAST({identifier(column)} AS VARCHAR)"
        if str(kind).endswith("_NS"):
            others.append(f"{text} AS {name}")
        elif str(kind) == "TIMESTAMP WITH TIME ZONE":
            moment = f"CAST(make_timestamp(epoch_us({name})) AS VARCHAR) || '+00:00'"
            others.append(f"CASE WHEN isfinite({name}) THEN {moment} ELSE {text} END AS {name}")
        elif str(kind) == "FLOAT":
            others.append(f"CAST({text} AS DOUBLE) AS {name}")
    if not others:
        return cursor
    return connection.execute(f"SELECT * REPLACE ({', '.join(others)}) FROM {table}", values)


@dataclass(frozen=True)
class DuckDBDatabase:
    """A DuckDB file."""

    source: str
    connection: duckdb.DuckDBPyConnection

    def tables(self) -> list[Table]:
        """All tables and views, by name."""
        columns: dict[tuple[str, str], list[Column]] = {}
        for schema, table, column, kind in self.connection.execute(
            "SELECT schema_name, table_name, column_name, data_type FROM duckdb_columns() "
            "WHERE database_name = current_database() AND NOT internal "
            "ORDER BY schema_name, table_name, column_index"
        ).fetchall():
            columns.setdefault((schema, table), []).append(Column(column, kind_of(kind)))
        views = {
            (schema, name)
            for schema, name in self.connection.execute(
                "SELECT schema_name, view_name FROM duckdb_views() "
                "WHERE database_name = current_database() AND NOT internal"
            ).fetchall()
        }
        keys: dict[tuple[str, str], tuple[str, ...]] = {}
        links: dict[tuple[str, str], list[ForeignKey]] = {}
        for schema, table, kind, own, other, others in self.connection.execute(
            "SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table, "
            "referenced_column_names FROM duckdb_constraints() WHERE database_name = current_database() "
            "ORDER BY constraint_index"
        ).fetchall():
            if kind == "PRIMARY KEY":
                keys[schema, table] = tuple(own)
            elif kind == "FOREIGN KEY":
                # DuckDB lets a table refer to those of its own schema.
                link = ForeignKey(tuple(own), Table(other, (), schema=_schema(schema)).title, tuple(others))
                links.setdefault((schema, table), []).append(link)
        return [
            Table(
                name,
                tuple(found),
                keys.get((schema, name), ()),
                tuple(links.get((schema, name), ())),
                _schema(schema),
                (schema, name) in views,
            )
            for (schema, name), found in columns.items()
        ]

    def rows(self, table: Table, columns: tuple[str, ...]) -> Iterator[list[tuple[Any, ...]]]:
        """The cells of these columns, some rows at a time."""
        import duckdb  # noqa: PLC0415

        chosen = ", ".join(map(identifier, columns))
        where = f"{identifier(table.schema or 'main')}.{identifier(table.name)}"
        try:
            cursor = open_rows(self.connection, f"(SELECT {chosen} FROM {where})")
            while batch := cursor.fetchmany(_BATCH):
                yield batch
        except duckdb.Error as error:
            reason = str(error).partition("\n")[0]
            raise DataError(f"{self.source}, table {table.title} cannot be read: {reason}") from None


def _schema(name: str) -> str | None:
    return None if name == "main" else name


@contextmanager
def open_duckdb(path: Path) -> Iterator[DuckDBDatabase]:
    """Open a DuckDB file to read it."""
    with duckdb_file(path, path, read_only=True) as connection:
        # Views may read other files: those of a stranger shall not read this machine's.
        connection.execute("SET enable_external_access = false")
        yield DuckDBDatabase(str(path), connection)
