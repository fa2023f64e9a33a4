"""Groundings of one, two or three distinct constants counted without listing them.

How many groundings have exactly some facts, and none elsewhere, follows by
inclusion and exclusion from how many have at least these facts. Those numbers
are products of label counts, sums over pairs, wedges (two pairs that share a
constant) and triangles.

All of it is NumPy over the graph's CSR rows, with one exception: where the
paths that may close to triangles outgrow memory, their join is one SQL
statement that DuckDB runs, on all cores, within a memory limit, spilling to disk.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Protocol

import numpy as np

from andre.arrays import (
    Counts,
    Ints,
    blocks_of,
    csr_entries,
    csr_starts,
    number_rows,
    number_sets,
    ranges,
)
from andre.census.graph import FactGraph, NeighbourTypes
from andre.census.strata import Classes, Counted, Stratum
from andre.limits import check, interrupting

#: How many joined rows are held at a time; a block takes some hundred megabytes.
_BLOCK = 4_000_000
#: Pairs of three blocks, in the order of their patterns.
_PAIRS = ((0, 1), (0, 2), (1, 2))
#: Triples with facts between all their pairs, by labels and patterns. `pairs` has each pair once, from the
#: lower to the higher rank: its ends a and b, their labels la and lb, and its pattern p.
TRIANGLES = """
SELECT ab.la, ab.lb, ac.lb AS lc, ab.p AS p_ab, ac.p AS p_ac, bc.p AS p_bc, count(*) AS n
FROM pairs AS ab
JOIN pairs AS ac ON ab.a = ac.a AND ab.b < ac.b
JOIN pairs AS bc ON bc.a = ab.b AND bc.b = ac.b
GROUP BY ALL
"""


class Joins(Protocol):
    """What is joined of a graph, grouped and counted; whoever joins it."""

    def pairs(self) -> Counted:
        """Ordered pairs that have facts: labels of both constants, their pattern, and how many."""

    def wedges(self, dtype: type) -> Counted:
        """Ordered wedges; see `wedges`."""

    def triangles(self) -> Counted:
        """Triples with facts between all their pairs; see `triangles`."""


@dataclass(frozen=True, eq=False)
class GraphJoins:
    """The joins of a graph that is in memory."""

    graph: FactGraph
    memory: int = 4 << 30  #: how many bytes DuckDB may take
    duckdb: bool = False  #: whether DuckDB joins triangles

    def pairs(self) -> Counted:
        """Group the pairs."""
        graph = self.graph
        return Counted.once(
            [graph.labels[graph.firsts], graph.labels[graph.others], graph.patterns]
        ).grouped()

    def wedges(self, dtype: type) -> Counted:
        """Multiply the neighbours of every constant."""
        return wedges(self.graph, dtype)

    def triangles(self) -> Counted:
        """Close the paths."""
        return triangles(self.graph, memory=self.memory, duckdb=self.duckdb)


def count_classes(graph: FactGraph, stratum: Stratum, joins: Joins, *, big_integers: bool = False) -> Classes:
    """The classes of a stratum of at most three blocks, with exact counts.

    Parameters
    ----------
    joins
        Who joins the pairs of the graph.
    big_integers
        Whether counts are Python's integers, as products may outgrow 64 bits.
    """
    blocks = stratum.n_blocks
    allowed = stratum.domains(graph)
    parts: list[Counted] = []
    for present, table in _at_least(graph, stratum, joins, np.object_ if big_integers else np.int64):
        check()
        parts += _exactly(present, _allowed(table, allowed), blocks)
    if blocks == 3:
        closed = joins.triangles()
        closed = Counted(closed.columns, closed.counts.astype(parts[0].counts.dtype))
        parts += _exactly((0, 1, 2), _allowed(all_orders(graph, closed), allowed), blocks)
    table = Counted.concat(parts, blocks + len(stratum.pairs)).grouped()
    return Classes.of(stratum, table.take(np.flatnonzero(table.counts != 0)))


def _allowed(table: Counted, allowed: np.ndarray) -> Counted:
    """The rows whose labels may stand in their blocks."""
    keep = np.logical_and.reduce([one[column] for one, column in zip(allowed, table.columns, strict=False)])
    return table.take(np.flatnonzero(keep))


def _exactly(present: tuple[int, ...], table: Counted, blocks: int) -> Iterator[Counted]:
    """What groundings with at least facts between the pairs `present` add to each count of exact facts."""
    for size in range(len(present) + 1):
        for subset in combinations(present, size):
            patterns = [
                column if pair in subset else np.zeros_like(column)
                for pair, column in enumerate(table.columns[blocks:])
            ]
            counts = table.counts if (len(present) - size) % 2 == 0 else -table.counts
            yield Counted(table.columns[:blocks] + patterns, counts)


def _at_least(
    graph: FactGraph, stratum: Stratum, joins: Joins, dtype: type
) -> Iterator[tuple[tuple[int, ...], Counted]]:
    """Groundings with facts at least between some pairs, by labels and patterns; triangles are left out."""
    number: Counts = graph.label_counts.astype(dtype)
    every = [np.flatnonzero(one) for one in stratum.domains(graph)]
    if stratum.n_blocks == 1:
        yield (), Counted([every[0]], number[every[0]])
        return
    pair = joins.pairs()
    pair = Counted(pair.columns, pair.counts.astype(dtype))
    one, two = _cross(every[0], every[1])
    free = Counted([one, two, np.zeros_like(one)], number[one] * (number[two] - (one == two)))
    if stratum.n_blocks == 2:
        yield (), free
        yield (0,), pair
        return
    yield (), _with_third(free, (0, 1), every[2], number)
    for place, ends in enumerate(_PAIRS):
        yield (place,), _with_third(pair, ends, every[3 - sum(ends)], number)
    wedge = joins.wedges(dtype)
    for centre in range(3):
        yield _centred(graph, wedge, centre)


def _cross(one: Ints, two: Ints) -> tuple[Ints, Ints]:
    return np.repeat(one, len(two)), np.tile(two, len(one))


def _with_third(pair: Counted, ends: tuple[int, int], third: Ints, number: Counts) -> Counted:
    """Pairs (label, label, pattern) in the blocks `ends`, with any other constant in the third block."""
    row, label = _cross(np.arange(len(pair)), third)
    first, second, pattern = (column[row] for column in pair.columns)
    left = number[label] - (label == first).astype(np.int64) - (label == second).astype(np.int64)
    columns = [np.zeros_like(row) for _ in range(6)]
    columns[ends[0]], columns[ends[1]], columns[3 - sum(ends)] = first, second, label
    columns[3 + _PAIRS.index(ends)] = pattern
    return Counted(columns, pair.counts[row] * left)


def wedges(graph: FactGraph, dtype: type) -> Counted:
    """Ordered wedges: labels of the centre and both ends, patterns from the centre to them, and how many.

    Pairs of neighbours are never listed. The neighbours of a centre are counted
    by type (label and pattern); its wedges are the products of these counts,
    less the pairs of a neighbour with itself, and centres with equal counts are
    taken together.
    """
    neighbours = NeighbourTypes.of(graph)
    starts = neighbours.starts
    first, item = number_rows([neighbours.types, neighbours.counts])  # ascending for each constant
    views, shown = number_sets(starts, item, max(1, len(first)))
    where, group = number_rows([graph.labels, views])
    members: Counts = np.bincount(group, minlength=len(where)).astype(dtype)
    kinds = neighbours.types[first]
    amounts: Counts = np.asarray(neighbours.counts[first], dtype=dtype)
    label, example = graph.labels[where], shown[views[where]]
    sizes = (starts[example + 1] - starts[example]) * (views[where] > 0)
    parts = []
    for begin, end in blocks_of(sizes**2, _BLOCK):
        check()
        chosen = np.arange(begin, end)[sizes[begin:end] > 0]
        which, one = csr_entries(starts, example[chosen])  # the first end
        again, two = csr_entries(starts, example[chosen][which])  # the second, for each first
        which, one = which[again], one[again]
        left, right = item[one], item[two]
        counts = members[chosen][which] * amounts[left] * (amounts[right] - (left == right))
        found = Counted([label[chosen][which], kinds[left], kinds[right]], counts).grouped()
        parts.append(found.take(np.flatnonzero(found.counts != 0)))
    joined = Counted.concat(parts, 3, dtype).grouped()
    centre, left, right = joined.columns
    label, pattern = neighbours.label, neighbours.pattern
    return Counted([centre, label[left], label[right], pattern[left], pattern[right]], joined.counts)


def _centred(graph: FactGraph, wedge: Counted, centre: int) -> tuple[tuple[int, ...], Counted]:
    """Wedges with a given block in the centre: which pairs have facts, and labels and patterns."""
    one, two = (block for block in range(3) if block != centre)
    columns = [np.zeros_like(wedge.columns[0]) for _ in range(6)]
    columns[centre], columns[one], columns[two] = wedge.columns[:3]
    present = []
    for end, pattern in ((one, wedge.columns[3]), (two, wedge.columns[4])):
        place = _PAIRS.index((min(centre, end), max(centre, end)))
        columns[3 + place] = pattern if centre < end else graph.reversed_pattern[pattern]
        present.append(place)
    return tuple(sorted(present)), Counted(columns, wedge.counts)


def triangles(graph: FactGraph, *, memory: int, duckdb: bool) -> Counted:
    """Triples with facts between all their pairs, each once in some order.

    Columns are the labels of the corners a, b, c and the patterns ab, ac, bc.

    Parameters
    ----------
    memory
        How many bytes DuckDB may take.
    duckdb
        Whether the join runs in DuckDB; else NumPy lists all paths, in blocks.
    """
    # Pairs are kept at the end of lower degree: a hub then begins few, and no list of paths is long.
    rank, pairs = graph.upward()
    first, second, pattern = graph.firsts[pairs], graph.others[pairs], graph.patterns[pairs]
    if duckdb:
        ends = {"a": rank[first], "b": rank[second], "la": graph.labels[first], "lb": graph.labels[second]}
        return _join_in_duckdb({**ends, "p": pattern}, memory)
    starts = csr_starts(first, graph.n)
    later = starts[first + 1] - np.arange(len(first)) - 1  # pairs that come after one at the same constant
    parts = []
    for begin, end in blocks_of(later, _BLOCK):
        check()
        pair = np.arange(begin, end)
        which, two = ranges(pair + 1, pair + 1 + later[begin:end])
        one = pair[which]
        between = graph.pattern_of(second[one], second[two])
        closed = between > 0
        one, two, between = one[closed], two[closed], between[closed]
        labels = [graph.labels[first[one]], graph.labels[second[one]], graph.labels[second[two]]]
        parts.append(Counted.once([*labels, pattern[one], pattern[two], between]).grouped())
    return Counted.concat(parts, 6).grouped()


def _join_in_duckdb(pairs: dict[str, Ints], memory: int) -> Counted:
    import duckdb  # noqa: PLC0415  (takes a second to load: only where a graph is large)

    with tempfile.TemporaryDirectory(prefix="andre-") as folder, duckdb.connect(":memory:") as connection:
        connection.execute(f"SET memory_limit = '{memory // 2**20} MiB'")
        connection.execute("SET temp_directory = ?", [folder])
        connection.execute("SET enable_progress_bar = false")  # it would go to standard output
        connection.register("given", pairs)
        connection.execute("CREATE TABLE pairs AS SELECT * FROM given")
        with interrupting(connection.interrupt):
            found = connection.execute(TRIANGLES).fetchnumpy()
    *columns, counts = (np.asarray(column, dtype=np.int64) for column in found.values())
    return Counted(columns, counts)


def all_orders(graph: FactGraph, closed: Counted) -> Counted:
    """Triangles with their corners in each of the six orders."""
    parts = []
    for order in permutations(range(3)):
        columns = [closed.columns[corner] for corner in order]
        for a, b in _PAIRS:
            one, two = order[a], order[b]
            pattern = closed.columns[3 + _PAIRS.index((min(one, two), max(one, two)))]
            columns.append(pattern if one < two else graph.reversed_pattern[pattern])
        parts.append(Counted(columns, closed.counts))
    return Counted.concat(parts, 6).grouped()
