"""Groundings listed one by one, in blocks: for many variables and relations of any arity."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from andre.arrays import Floats, Ints
from andre.census.graph import FactGraph, WideFacts
from andre.census.joins import Table, total
from andre.census.strata import Classes, Stratum
from andre.errors import DataError, MemoryLimitError
from andre.logic import Atom, Constant, Variable

__all__ = ["Listed", "check_memory", "list_classes"]


#: Groundings looked at together.
_BLOCK = 1_000_000
#: More than this would take days.
_MOST = 10**11
#: A matrix of all pairs is quicker to look up than a sorted list; this many entries take 128 MB.
_DENSE = 1 << 25


@dataclass(frozen=True, eq=False)
class Listed:
    """The classes of a stratum, by head atom where asked for."""

    classes: Classes
    heads: Ints | None  #: [U], the number of the head atom: its constants as digits to the base n


def list_classes(graph: FactGraph, stratum: Stratum, *, heads: bool, memory: int) -> Listed:
    """Describe and count the groundings of a stratum by visiting each.

    Parameters
    ----------
    heads
        Whether groundings of different head atoms are kept apart.
    memory
        How many bytes the result may take.
    """
    blocks, pairs = stratum.n_blocks, len(stratum.pairs)
    allowed = stratum.domains(graph)
    members = [np.flatnonzero(allowed[block][graph.labels]) for block in range(blocks)]
    size = int(np.prod([len(one) for one in members], dtype=object))
    if size > _MOST:
        raise DataError(
            f"{size:.3g} groundings of {len(stratum.block)} variables are too many to list: "
            "use fewer variables, or relations of at most two arguments"
        )
    wide = _wide_columns(graph, stratum)
    pattern = _pattern_reader(graph)
    held: list[Table] = []
    for begin in range(0, size, _BLOCK):
        places = np.unravel_index(np.arange(begin, min(begin + _BLOCK, size)), [len(one) for one in members])
        codes = [one[place] for one, place in zip(members, places, strict=True)]
        apart = np.ones(len(codes[0]), dtype=np.bool_)
        for a, b in stratum.pairs:
            apart &= codes[a] != codes[b]
        codes = [one[apart] for one in codes]
        head = [_head(graph, stratum, codes)] if heads else []
        columns = head + [graph.labels[one] for one in codes]
        columns += [pattern(codes[a], codes[b]) for a, b in stratum.pairs]
        columns += [read(codes) for read in wide]
        held.append(total(Table(columns, np.ones(len(codes[0]), dtype=np.int64))))
        if sum(map(len, held)) > 4 * _BLOCK:
            held = [total(Table.concat(held))]
        check_memory(held, memory, size, len(stratum.block))
    first = 1 if heads else 0
    if not held:
        held = [Table([np.zeros(0, np.int64)] * (first + blocks + pairs + len(wide)), np.zeros(0, np.int64))]
    table = total(Table.concat(held))
    described = [
        np.stack(c, axis=1) if c else np.zeros((len(table), 0), np.int64)
        for c in _cut(table, first, blocks, pairs)
    ]
    labels, patterns, extra = described
    truth = _wide_truth(graph, extra[:, -1]) if graph.space.head.arity > 2 else None
    return Listed(
        Classes(stratum, labels, patterns, table.counts, extra, truth), table.columns[0] if heads else None
    )


def _cut(table: Table, first: int, blocks: int, pairs: int) -> Iterator[list[Ints]]:
    yield table.columns[first : first + blocks]
    yield table.columns[first + blocks : first + blocks + pairs]
    yield table.columns[first + blocks + pairs :]


def _head(graph: FactGraph, stratum: Stratum, codes: list[Ints]) -> Ints:
    number = np.zeros(len(codes[0]), dtype=np.int64)
    for place in range(graph.space.head.arity):
        number = number * graph.n + codes[stratum.block[place]]
    return number


def _pattern_reader(graph: FactGraph) -> Callable[[Ints, Ints], Ints]:
    if graph.n**2 > _DENSE:
        return graph.pattern_of
    matrix = np.zeros((graph.n, graph.n), dtype=np.int32)
    matrix[graph.firsts, graph.others] = graph.patterns
    return lambda first, second: matrix[first, second].astype(np.int64)


def _wide_columns(graph: FactGraph, stratum: Stratum) -> list[Callable[[list[Ints]], Ints]]:
    """Readers of the candidates, and last of the head, that have three or more arguments."""
    readers = [_reader(graph, stratum, atom, truth=False) for atom in graph.space.atoms if atom.arity > 2]
    if graph.space.head.arity > 2:
        readers.append(_reader(graph, stratum, graph.space.head, truth=True))
    return readers


def _reader(graph: FactGraph, stratum: Stratum, atom: Atom, *, truth: bool) -> Callable[[list[Ints]], Ints]:
    facts = graph.wide[atom.predicate, atom.arity]

    def read(codes: list[Ints]) -> Ints:
        keys = np.zeros(len(codes[0]), dtype=np.int64)
        for arg in atom.args:
            keys = keys * graph.n + _codes_of(graph, stratum, arg, codes)
        place, there = facts.find(keys)
        if truth:
            return np.where(there, place + 1, 0)
        return np.where(there, facts.levels[place] if len(facts.levels) else 0, graph.absent)

    return read


def _codes_of(graph: FactGraph, stratum: Stratum, arg: Variable | Constant, codes: list[Ints]) -> Ints | int:
    if isinstance(arg, Constant):
        return graph.constant_codes[arg]
    return codes[stratum.block[int(arg.name[1:]) - 1]]


def _wide_truth(graph: FactGraph, places: Ints) -> Floats:
    facts: WideFacts = graph.wide[graph.target]
    truth = np.full(len(places), np.nan)
    stated = places > 0
    truth[stated] = facts.truths[places[stated] - 1]
    return truth


def check_memory(held: list[Table], memory: int, size: int, variables: int) -> None:
    """Refuse tables that outgrow the memory allowed."""
    rows = sum(map(len, held))
    taken = rows * 8 * (len(held[0].columns) + 1) if held else 0
    if taken > memory:
        raise MemoryLimitError(
            f"the {size:.3g} groundings of {variables} variables have over {rows:,} distinct rows so far, "
            f"which take {taken / 2**20:,.0f} MB of the {memory / 2**20:,.0f} MB allowed: "
            "use fewer variables or relations, or raise the memory limit"
        )
