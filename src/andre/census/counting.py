"""Counting groundings of one, two or three distinct constants without listing them.

The count of a class with empty pairs follows from counts of fewer facts: how
many groundings have at least these facts, whatever else they have. Those
counts are products, sums over a constant's neighbours, and joins; inclusion
and exclusion over the pairs turns "at least" into "exactly".
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from andre.arrays import Counts, Ints
from andre.census.graph import FactGraph
from andre.census.joins import Table, in_all_orders, total, triangles, wedges
from andre.census.strata import Classes, Stratum

__all__ = ["class_bound", "count_classes"]


#: Sums below this stay exact in 64 bits, whatever their signs.
_SAFE = 2**60


def class_bound(graph: FactGraph, stratum: Stratum) -> int:
    """At most how many entries counting goes through, joins apart."""
    labels = [int(allowed.sum()) for allowed in stratum.domains(graph)]
    pairs = graph.n_patterns * graph.n_labels**2
    bound = int(np.prod(labels, dtype=object))
    if stratum.n_blocks > 1:
        bound += min(pairs, len(graph.patterns)) * (graph.n_labels if stratum.n_blocks > 2 else 1)
    return bound


def count_classes(graph: FactGraph, stratum: Stratum, memory: int) -> Classes:
    """The classes of a stratum of at most three blocks, with exact counts; joins may take `memory` bytes."""
    blocks, pairs = stratum.n_blocks, len(stratum.pairs)
    allowed = stratum.domains(graph)
    # Products of three counts outgrow 64 bits from some millions of constants on: then Python's integers.
    dtype = np.int64 if graph.n**blocks < _SAFE else np.object_
    columns: list[list[Ints]] = [[] for _ in range(blocks + pairs)]
    counts: list[Counts] = []
    for present, table in _at_least(graph, stratum, dtype, memory):
        keep = np.ones(len(table), dtype=np.bool_)
        for block in range(blocks):
            keep &= allowed[block][table.columns[block]]
        kept = table.take(np.flatnonzero(keep))
        for size in range(len(present) + 1):
            for subset in combinations(present, size):
                for block in range(blocks):
                    columns[block].append(kept.columns[block])
                for pair in range(pairs):
                    pattern = kept.columns[blocks + pair]
                    columns[blocks + pair].append(pattern if pair in subset else np.zeros_like(pattern))
                counts.append(kept.counts if (len(present) - size) % 2 == 0 else -kept.counts)
    table = total(Table([np.concatenate(parts) for parts in columns], np.concatenate(counts)))
    table = table.take(np.flatnonzero(table.counts != 0))
    labels = np.stack(table.columns[:blocks], axis=1)
    patterns = np.stack(table.columns[blocks:], axis=1) if pairs else np.zeros((len(table), 0), np.int64)
    return Classes(stratum, labels, patterns, table.counts)


def _at_least(
    graph: FactGraph, stratum: Stratum, dtype: type, memory: int
) -> Iterator[tuple[tuple[int, ...], Table]]:
    """For each choice of pairs, the groundings that have facts there: columns are labels, then patterns."""
    number: Counts = graph.label_counts.astype(dtype)
    allowed = stratum.domains(graph)
    every = [np.flatnonzero(one) for one in allowed]
    if stratum.n_blocks == 1:
        yield (), Table([every[0]], number[every[0]])
        return
    pair = total(
        Table(
            [graph.labels[graph.firsts], graph.labels[graph.others], graph.patterns],
            np.ones(len(graph.patterns), dtype=np.int64),
        )
    )
    pair = Table(pair.columns, pair.counts.astype(dtype))
    if stratum.n_blocks == 2:
        one, two = _cross(every[0], every[1])
        yield (), Table([one, two, np.zeros_like(one)], number[one] * (number[two] - (one == two)))
        yield (0,), pair
        return
    one, two = _cross(every[0], every[1])
    row, three = _cross(np.arange(len(one)), every[2])
    one, two = one[row], two[row]
    left = number[three] - (three == one).astype(np.int64) - (three == two).astype(np.int64)
    nothing = np.zeros_like(one)
    yield (
        (),
        Table(
            [one, two, three, nothing, nothing, nothing], number[one] * (number[two] - (one == two)) * left
        ),
    )
    for place, (a, b) in enumerate(stratum.pairs):
        yield (place,), _pair_and_one(pair, (a, b), every[3 - a - b], number, place)
    wedge = wedges(graph, dtype)
    for centre in range(3):
        yield from _wedge_as(graph, wedge, centre)
    closed = triangles(graph, memory=memory)
    closed = Table(closed.columns, closed.counts.astype(dtype))
    yield (0, 1, 2), in_all_orders(graph, closed)


def _cross(one: Ints, two: Ints) -> tuple[Ints, Ints]:
    return np.repeat(one, len(two)), np.tile(two, len(one))


def _pair_and_one(pair: Table, ends: tuple[int, int], third: Ints, number: Counts, place: int) -> Table:
    """A pair that has facts, and any third constant."""
    row, label = _cross(np.arange(len(pair)), third)
    first, second = pair.columns[0][row], pair.columns[1][row]
    left = number[label] - (label == first).astype(np.int64) - (label == second).astype(np.int64)
    columns = [np.zeros_like(row) for _ in range(6)]
    columns[ends[0]], columns[ends[1]], columns[3 - sum(ends)] = first, second, label
    columns[3 + place] = pair.columns[2][row]
    return Table(columns, pair.counts[row] * left)


def _wedge_as(graph: FactGraph, wedge: Table, centre: int) -> Iterator[tuple[tuple[int, ...], Table]]:
    """Wedges with a given block in the middle; their columns are labels, then patterns from the centre."""
    one, two = (block for block in range(3) if block != centre)
    pairs = [(0, 1), (0, 2), (1, 2)]
    columns = [np.zeros_like(wedge.columns[0]) for _ in range(6)]
    columns[centre], columns[one], columns[two] = wedge.columns[:3]
    present = []
    for end, pattern in ((one, wedge.columns[3]), (two, wedge.columns[4])):
        place = pairs.index((min(centre, end), max(centre, end)))
        columns[3 + place] = pattern if centre < end else graph.reversed_pattern[pattern]
        present.append(place)
    yield tuple(sorted(present)), Table(columns, wedge.counts)
