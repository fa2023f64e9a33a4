"""The join of triangles as relational algebra, for graphs whose paths outgrow a list.

Written once as an Ibis expression over a table of pairs; DuckDB runs it on all
cores, within a memory limit, and moves to disk what does not fit.
"""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

import numpy as np

from andre.grounding.joins import Table
from andre.grounding.sets import Ints

if TYPE_CHECKING:
    from ibis.expr.types import Table as Expression

__all__ = ["join_triangles", "triangles_expression"]

_PAIRS = {"a": "int64", "b": "int64", "la": "int32", "lb": "int32", "p": "int32"}
_KEYS = ("la", "lb", "lc", "ab", "ac", "bc")


def triangles_expression() -> Expression:
    """Triples with facts between all their pairs, by labels and patterns, counted.

    The table `pairs` holds each pair once, from its lower to its higher end,
    with the labels of both and their pattern.
    """
    import ibis  # noqa: PLC0415  (takes a second to load: only where a graph is large)

    ab = ibis.table(_PAIRS, name="pairs")
    ac, bc = ab.view(), ab.view()
    paths = ab.join(ac, [ab.a == ac.a, ab.b < ac.b]).select(
        b=ab.b, c=ac.b, la=ab.la, lb=ab.lb, lc=ac.lb, ab=ab.p, ac=ac.p
    )
    closed = paths.join(bc, [paths.b == bc.a, paths.c == bc.b])
    keys = closed.select(*(paths[name] for name in _KEYS[:-1]), bc=bc.p)
    return keys.group_by(*_KEYS).agg(n=keys.count())


def join_triangles(columns: dict[str, Ints], memory: int, threads: int | None = None) -> Table:
    """Run the join of triangles in DuckDB.

    Parameters
    ----------
    columns
        Of the table `pairs`.
    memory
        How many bytes DuckDB may take.
    threads
        How many cores; all by default.
    """
    import duckdb  # noqa: PLC0415
    import ibis  # noqa: PLC0415

    query = ibis.to_sql(triangles_expression(), dialect="duckdb")
    with tempfile.TemporaryDirectory(prefix="andre-") as folder, duckdb.connect(":memory:") as connection:
        connection.execute(f"SET memory_limit = '{memory // 2**20} MiB'")
        connection.execute("SET temp_directory = ?", [folder])
        if threads is not None:
            connection.execute(f"SET threads = {threads}")
        connection.register("given", columns)
        connection.execute("CREATE TABLE pairs AS SELECT * FROM given")
        found = connection.execute(str(query)).fetchnumpy()
    return Table(
        [np.asarray(found[name], dtype=np.int64) for name in _KEYS], np.asarray(found["n"], np.int64)
    )
