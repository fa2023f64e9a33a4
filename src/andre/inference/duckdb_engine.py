"""An engine for programs of any size: semi-naive evaluation in DuckDB over tables of codes.

Each round joins only the rows found by the previous round (the delta) with the rest,
and keeps the rows that are new. DuckDB moves tables to disk
if they exceed the memory limit.

A table has the columns a0, a1, ... (a proposition has a0, always 0) and, if
probabilities are computed, the column v.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from andre.errors import ConfigError
from andre.files import scratch_folder
from andre.inference.coded import CodedAtom, CodedComparison, CodedProgram, CodedRule, Rows, is_variable
from andre.inference.engine import ROUNDING, Component, well_founded

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: How many times the memory limit may be used on disk.
_SPILLED = 8
_SIGNS = {"=": "=", "\\=": "<>", "<": "<", "=<": "<=", ">": ">", ">=": ">="}


def columns(arity: int) -> list[str]:
    """The columns of a table of this arity."""
    return [f"a{place}" for place in range(max(arity, 1))]


def same_row(arity: int, one: str, other: str) -> str:
    """The condition that two tables agree in all arguments."""
    return " AND ".join(f"{one}.{column} = {other}.{column}" for column in columns(arity))


def rule_query(
    rule: CodedRule, tables: Sequence[str], blocking: Callable[[int], str], ranks: Sequence[int], crisp: bool
) -> str:
    """The SQL query for the rows of a rule's head.

    Parameters
    ----------
    rule
        The rule; it is safe.
    tables
        The table that each positive literal reads.
    blocking
        The table that a negated relation is read from.
    ranks
        The order of the constants, for comparisons with a number in the rule.
    crisp
        Whether there are no probabilities.

    Examples
    --------
    >>> from andre.inference.coded import CodedAtom
    >>> rule = CodedRule(CodedAtom(0, (-1,)), (CodedAtom(1, (-1, 7)),), (CodedAtom(2, (-1,)),), (), 1.0)
    >>> print(rule_query(rule, ["r1"], "r{}".format, [], crisp=True))
    SELECT t0.a0 AS a0 FROM r1 t0 WHERE t0.a1 = 7
    AND NOT EXISTS (SELECT 1 FROM r2 n WHERE n.a0 = t0.a0)
    """
    places: dict[int, str] = {}
    conditions: list[str] = []
    for number, atom in enumerate(rule.positive):
        for place, term in enumerate(atom.terms):
            column = f"t{number}.a{place}"
            if term in places or not is_variable(term):
                conditions.append(f"{column} = {places.get(term, term)}")
            else:
                places[term] = column
    source = " CROSS JOIN ".join(f"{table} t{number}" for number, table in enumerate(tables))
    parts = [source or "(SELECT 1) t"]
    values = [f"t{number}.v" for number in range(len(tables))]
    for number, atom in enumerate(rule.negative):
        table = blocking(atom.relation)
        if crisp:
            conditions.append(f"NOT EXISTS (SELECT 1 FROM {table} n WHERE {_matches(atom, 'n', places)})")
        else:
            parts.append(f"LEFT JOIN {table} n{number} ON {_matches(atom, f'n{number}', places)}")
            values.append(f"1 - coalesce(n{number}.v, 0)")
    for comparison in rule.comparisons:
        conditions.append(_condition(comparison, places, ranks, parts))
    head = [f"{places.get(term, term)} AS a{place}" for place, term in enumerate(rule.head.terms)] or [
        "0 AS a0"
    ]
    if not crisp:
        value = f"least({', '.join([*values, f'{rule.probability!r}::DOUBLE'])})"
        head.append(f"{value} AS v")
        conditions.append(f"{value} > 0")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT {', '.join(head)} FROM {' '.join(parts)}{where}"


def _matches(atom: CodedAtom, alias: str, places: dict[int, str]) -> str:
    conditions = [f"{alias}.a{place} = {places.get(term, term)}" for place, term in enumerate(atom.terms)]
    return " AND ".join(conditions) or f"{alias}.a0 = 0"


def _condition(item: CodedComparison, places: dict[int, str], ranks: Sequence[int], parts: list[str]) -> str:
    sign = _SIGNS[item.sign]
    if item.sign in ("=", "\\="):
        left, right = (places.get(term, str(term)) for term in item.terms)
        test = f"{left} {sign} {right}"
    else:
        left, right = (_rank(term, places, ranks, parts) for term in item.terms)
        # Only numbers are ordered: for names no order holds, and its negation does.
        test = f"coalesce({left} {sign} {right}, false)"
    return f"NOT ({test})" if item.negated else test


def _rank(term: int, places: dict[int, str], ranks: Sequence[int], parts: list[str]) -> str:
    if not is_variable(term):
        return str(ranks[term]) if ranks[term] >= 0 else "NULL::BIGINT"
    alias = f"k{places[term].replace('.', '_')}"
    join = f"LEFT JOIN numbers {alias} ON {alias}.code = {places[term]}"
    if join not in parts:
        parts.append(join)
    return f"{alias}.rank"


_Estimate: TypeAlias = dict[int, str]  #: relation -> its table


class DuckDBEngine:
    """Runs programs by DuckDB, within a memory limit.

    Parameters
    ----------
    memory_limit
        How much memory DuckDB may take, such as "4GB".
    temp_directory
        Where it puts what does not fit into memory; a temporary folder by default.
    """

    name = "duckdb"

    def __init__(self, memory_limit: str = "4GB", temp_directory: str | Path | None = None) -> None:
        self.memory_limit, self.temp_directory = memory_limit, temp_directory

    def run(self, program: CodedProgram) -> Mapping[int, Rows]:
        """What the well-founded model adds to the facts."""
        import duckdb  # noqa: PLC0415  (loaded when a program is run)

        with scratch_folder() as folder:
            connection = self._connect(self.temp_directory or folder)
            try:
                return well_founded(program, _DuckDBSession(program, connection))
            except duckdb.OutOfMemoryException:
                raise ConfigError(
                    f"the program needs more than {self.memory_limit} of memory: raise the memory limit"
                ) from None
            finally:
                connection.close()

    def _connect(self, folder: str | Path) -> DuckDBPyConnection:
        import duckdb  # noqa: PLC0415

        connection = duckdb.connect(":memory:")
        try:
            connection.execute("SET memory_limit = ?", [self.memory_limit])
        except duckdb.Error:
            connection.close()
            raise ConfigError(f"{self.memory_limit!r} is no memory limit: write it like 4GB") from None
        connection.execute("SET temp_directory = ?", [str(folder)])
        connection.execute("SET max_temp_directory_size = ?", [_on_disk(self.memory_limit)])
        connection.execute("SET preserve_insertion_order = false")
        return connection


def _on_disk(memory_limit: str) -> str:
    """The limit on disk that belongs to a memory limit."""
    found = re.fullmatch(r"\s*([\d.]+)\s*([A-Za-z]+)\s*", memory_limit)
    return "32GB" if found is None else f"{_SPILLED * float(found[1]):g}{found[2]}"


class _DuckDBSession:
    def __init__(self, program: CodedProgram, connection: DuckDBPyConnection) -> None:
        self.program, self.connection = program, connection
        self.crisp = program.is_crisp
        self.arity = [arity for _, arity in program.keys]
        self.n_tables = 0
        self.stated = {
            number: self._load(program.facts.get(number), number) for number in range(len(self.arity))
        }
        self.held = dict(self.stated)
        self.ranks = program.ranks.tolist() if program.orders else []
        if program.orders:
            self._create_numbers()

    def least(self, part: Component, against: _Estimate | None) -> _Estimate:
        estimate = {number: self._create(f"SELECT * FROM {self.held[number]}") for number in part.relations}
        held = {**self.held, **estimate}
        blocking = {**self.held, **(against or {})}

        def query(rule: CodedRule, delta: Mapping[int, str], place: int | None) -> str:
            tables = [held[atom.relation] for atom in rule.positive]
            if place is not None:
                tables[place] = delta[rule.positive[place].relation]
            return rule_query(rule, tables, blocking.__getitem__, self.ranks, self.crisp)

        delta: _Estimate = {}
        queries: dict[int, list[str]] = {}
        for rule in part.rules:
            queries.setdefault(rule.head.relation, []).append(query(rule, delta, None))
        while queries:
            found = {number: self._new_rows(number, queries[number], estimate[number]) for number in queries}
            self._drop(delta.values())
            delta = {number: table for number, table in found.items() if self._count(table)}
            self._drop(found[number] for number in found.keys() - delta.keys())
            for number, table in delta.items():
                self._absorb(number, estimate[number], table)
            queries = {}
            for rule in part.rules:
                for place, atom in enumerate(rule.positive):
                    if atom.relation in delta:
                        queries.setdefault(rule.head.relation, []).append(query(rule, delta, place))
        return estimate

    def _new_rows(self, number: int, queries: list[str], known: str) -> str:
        """Make a table of the rows of some queries that are new or more probable than before."""
        keys = ", ".join(columns(self.arity[number]))
        union = " UNION ALL ".join(queries)
        same = same_row(self.arity[number], "u", "k")
        if self.crisp:
            # Most rows of a late round are known; excluding them first makes the DISTINCT cheaper.
            is_known = f"EXISTS (SELECT 1 FROM {known} k WHERE {same})"
            return self._create(f"SELECT DISTINCT {keys} FROM ({union}) u WHERE NOT {is_known}")
        found = f"SELECT {keys}, max(v) AS v FROM ({union}) GROUP BY {keys}"
        return self._create(
            f"SELECT u.* FROM ({found}) u LEFT JOIN {known} k ON {same} WHERE u.v > coalesce(k.v, 0)"
        )

    def _absorb(self, number: int, known: str, delta: str) -> None:
        same = same_row(self.arity[number], "k", "u")
        if not self.crisp:
            self.connection.execute(f"DELETE FROM {known} k USING {delta} u WHERE {same}")
        self.connection.execute(f"INSERT INTO {known} SELECT * FROM {delta}")

    def difference(self, more: _Estimate, less: _Estimate) -> tuple[int, tuple[int, ...]] | None:
        for number, table in more.items():
            keys = ", ".join(f"m.{column}" for column in columns(self.arity[number]))
            same = same_row(self.arity[number], "m", "k")
            apart = "k.a0 IS NULL" if self.crisp else f"abs(m.v - coalesce(k.v, 0)) > {ROUNDING}"
            row = self.connection.execute(
                f"SELECT {keys} FROM {table} m LEFT JOIN {less[number]} k ON {same} WHERE {apart} LIMIT 1"
            ).fetchone()
            if row is not None:
                return number, row[: self.arity[number]]
        return None

    def add(self, part: Component, model: _Estimate) -> None:
        self.held.update(model)

    def forget(self, estimate: _Estimate) -> None:
        self._drop(estimate.values())

    def derived(self) -> Mapping[int, Rows]:
        return {number: self._fetch(number) for number in sorted(self.program.heads)}

    def close(self) -> None:
        self.connection.close()

    def _fetch(self, number: int) -> Rows:
        keys = columns(self.arity[number])
        same = same_row(self.arity[number], "h", "s")
        shown = ", ".join(f"h.{column}" for column in (keys if self.crisp else [*keys, "v"]))
        raised = "" if self.crisp else " AND s.v >= h.v"
        found = self.connection.execute(
            f"SELECT {shown} FROM {self.held[number]} h "
            f"WHERE NOT EXISTS (SELECT 1 FROM {self.stated[number]} s WHERE {same}{raised})"
        ).fetchnumpy()
        codes = np.empty((len(found["a0"]), self.arity[number]), dtype=np.int32)
        for place in range(self.arity[number]):
            codes[:, place] = found.pop(f"a{place}")
        return Rows(codes, None if self.crisp else np.asarray(found["v"]))

    def _load(self, rows: Rows | None, number: int) -> str:
        names = columns(self.arity[number])
        if rows is None or not len(rows):
            kinds = [f"NULL::INTEGER AS {name}" for name in names]
            kinds += [] if self.crisp else ["NULL::DOUBLE AS v"]
            return self._create(f"SELECT {', '.join(kinds)} WHERE false")
        codes = rows.codes if self.arity[number] else np.zeros((len(rows), 1), dtype=np.int32)
        arrays: dict[str, NDArray[Any]]
        arrays = {name: np.ascontiguousarray(codes[:, place]) for place, name in enumerate(names)}
        if not self.crisp:
            arrays["v"] = np.ones(len(rows)) if rows.values is None else rows.values
        self.connection.register("given", arrays)
        table = self._create("SELECT * FROM given")
        self.connection.unregister("given")
        return table

    def _create_numbers(self) -> None:
        codes = np.flatnonzero(self.program.ranks >= 0)
        self.connection.register("given", {"code": codes.astype(np.int32), "rank": self.program.ranks[codes]})
        self.connection.execute("CREATE TABLE numbers AS SELECT * FROM given")
        self.connection.unregister("given")

    def _create(self, query: str) -> str:
        self.n_tables += 1
        self.connection.execute(f"CREATE TABLE x{self.n_tables} AS {query}")
        return f"x{self.n_tables}"

    def _count(self, table: str) -> int:
        row = self.connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        return 0 if row is None else int(row[0])

    def _drop(self, tables: Iterable[str]) -> None:
        for table in tables:
            self.connection.execute(f"DROP TABLE {table}")
