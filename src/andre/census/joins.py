"""The join of triangles as relational algebra, for graphs whose paths outgrow a list.

Written once as an Ibis expression over a table of pairs; DuckDB runs it on all
cores, within a memory limit, and moves to disk what does not fit.

The joins of the census: wedges and triangles of a graph, by their labels and patterns.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from andre.arrays import (
    Counts,
    Ints,
    blocks_of,
    csr_entries,
    csr_starts,
    number_keys,
    number_rows,
    number_sets,
)
from andre.census.graph import FactGraph

if TYPE_CHECKING:
    from ibis.expr.types import Table as Expression

__all__ = [
    "Table",
    "in_all_orders",
    "join_triangles",
    "path_blocks",
    "total",
    "triangles",
    "triangles_expression",
    "wedges",
]


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


#: So many joined rows are held at a time; a block takes some hundred megabytes.
BLOCK = 4_000_000
#: Loading Ibis and DuckDB takes two seconds: up to this many paths NumPy is done before.
LONGEST = 20_000_000


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of numbers, by columns, and how often each occurs."""

    columns: list[Ints]
    counts: Counts

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, rows: Ints) -> Table:
        """Some of the rows."""
        return Table([column[rows] for column in self.columns], self.counts[rows])

    @classmethod
    def concat(cls, tables: list[Table]) -> Table:
        """The rows of all tables."""
        columns = [np.concatenate(parts) for parts in zip(*(t.columns for t in tables), strict=True)]
        return cls(columns, np.concatenate([table.counts for table in tables]))


def total(table: Table) -> Table:
    """Equal rows made one, their counts added up.

    Examples
    --------
    >>> added = total(Table([np.array([4, 2, 4])], np.array([1, 1, 5])))
    >>> added.columns[0].tolist(), added.counts.tolist()
    ([2, 4], [1, 6])
    """
    first, group = number_rows(table.columns)
    counts = np.zeros(len(first), dtype=table.counts.dtype)
    np.add.at(counts, group, table.counts)
    return Table([column[first] for column in table.columns], counts)


def path_blocks(graph: FactGraph, starts: Ints, limit: int, *, inner: bool) -> list[Ints]:
    """Constants in runs from which only so many paths begin.

    Parameters
    ----------
    inner
        Whether paths have two steps, or one.
    """
    degree = np.diff(graph.starts)
    paths = degree
    if inner:
        paths = degree + np.bincount(graph.firsts, degree[graph.others], graph.n).astype(np.int64)
    return [starts[begin:end] for begin, end in blocks_of(paths[starts], limit)]


def wedges(graph: FactGraph, dtype: type) -> Table:
    """Ordered wedges: labels of centre and ends, patterns from the centre, and how many.

    Pairs of neighbours are never listed. What a centre sees is how many of
    its neighbours are of which type; the wedges of a centre are the products
    of these numbers, less the pairs of a neighbour with itself, and centres
    that see the same are taken together.
    """
    n = graph.n
    shapes, types = number_rows([graph.labels[graph.others], graph.patterns])  # types of neighbours
    seen, entry = number_keys(graph.firsts * len(shapes) + types, max(1, n * len(shapes)))
    owner, kind = np.divmod(seen, max(1, len(shapes)))
    times = np.bincount(entry, minlength=len(seen)).astype(np.int64)
    first, item = number_rows([kind, times])
    order = np.lexsort((item, owner))
    starts = csr_starts(owner, n)
    views, shown = number_sets(starts, item[order], max(1, len(first)))
    where, group = number_rows([graph.labels, views])
    members: Counts = np.bincount(group, minlength=len(where)).astype(dtype)
    kinds = kind[first]
    amounts: Counts = np.asarray(times[first], dtype=dtype)
    label, example = graph.labels[where], shown[views[where]]
    sizes = (starts[example + 1] - starts[example]) * (views[where] > 0)
    parts = []
    for begin, end in blocks_of(sizes**2, BLOCK):
        chosen = np.arange(begin, end)[sizes[begin:end] > 0]
        which, one = csr_entries(starts, example[chosen])  # the first end
        again, two = csr_entries(starts, example[chosen][which])  # the second, for each first
        which, one = which[again], one[again]
        left, right = item[order[one]], item[order[two]]
        counts = members[chosen][which] * amounts[left] * (amounts[right] - (left == right))
        key = total(Table([label[chosen][which], kinds[left], kinds[right]], counts))
        parts.append(key.take(np.flatnonzero(key.counts != 0)))
    if not parts:
        return Table([np.zeros(0, dtype=np.int64)] * 5, np.zeros(0, dtype=dtype))
    centre, left, right = (joined := total(Table.concat(parts))).columns
    other, pattern = graph.labels[graph.others[shapes]], graph.patterns[shapes]
    return Table([centre, other[left], other[right], pattern[left], pattern[right]], joined.counts)


def triangles(graph: FactGraph, *, memory: int, longest: int = LONGEST) -> Table:
    """Triples that have facts between all their pairs, each triple once in some order.

    Columns are the labels of its corners a, b, c and the patterns ab, ac, bc.

    Parameters
    ----------
    memory
        How many bytes the join may take.
    longest
        Up to how many paths are listed here; a longer join goes to DuckDB.
    """
    degree = np.diff(graph.starts)
    # Renumbered by degree, pairs are kept at their lower end: a hub then has few, and no list of
    # pairs of them is long.
    rank = np.empty(graph.n, dtype=np.int64)
    rank[np.argsort(degree, kind="stable")] = np.arange(graph.n)
    upward = np.flatnonzero(rank[graph.firsts] < rank[graph.others])
    first, second, pattern = graph.firsts[upward], graph.others[upward], graph.patterns[upward]
    starts = csr_starts(first, graph.n)
    later = starts[first + 1] - np.arange(len(first)) - 1  # pairs that come after one at the same constant
    if later.sum() > longest:
        columns = {"a": rank[first], "b": rank[second], "p": pattern}
        columns |= {"la": graph.labels[first], "lb": graph.labels[second]}
        return join_triangles(columns, memory)
    parts = []
    for begin, end in blocks_of(later, BLOCK):
        chosen = np.arange(begin, end)
        one = np.repeat(chosen, later[chosen])
        before = np.cumsum(later[chosen]) - later[chosen]
        two = one + 1 + np.arange(len(one)) - np.repeat(before, later[chosen])
        between = graph.pattern_of(second[one], second[two])
        closed = between > 0
        one, two, between = one[closed], two[closed], between[closed]
        labels = [graph.labels[first[one]], graph.labels[second[one]], graph.labels[second[two]]]
        found = [*labels, pattern[one], pattern[two], between]
        parts.append(total(Table(found, np.ones(len(one), dtype=np.int64))))
    if not parts:
        return Table([np.zeros(0, dtype=np.int64)] * 6, np.zeros(0, dtype=np.int64))
    return total(Table.concat(parts))


def in_all_orders(graph: FactGraph, closed: Table) -> Table:
    """Triangles with their corners in each of the six orders."""
    return total(Table.concat([_turned(graph, closed, order) for order in permutations(range(3))]))


def _turned(graph: FactGraph, closed: Table, order: tuple[int, ...]) -> Table:
    """Triangles whose corner `order[i]` stands in block i."""
    pairs = [(0, 1), (0, 2), (1, 2)]
    columns = [closed.columns[corner] for corner in order]
    for a, b in pairs:
        one, two = order[a], order[b]
        pattern = closed.columns[3 + pairs.index((min(one, two), max(one, two)))]
        columns.append(pattern if one < two else graph.reversed_pattern[pattern])
    return Table(columns, closed.counts)
