"""Groundings listed one by one, in blocks: for many variables, and for relations of any arity."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from andre.arrays import Ints
from andre.census.graph import FactGraph
from andre.census.strata import Classes, Counted, Stratum
from andre.errors import MemoryLimitError
from andre.limits import check, time_left
from andre.logic import Atom, Constant

#: A matrix of all pairs is quicker to look up than a sorted list; this many entries take 128 MB.
_DENSE = 1 << 25
#: From the constants of groundings, [G] for each block of a stratum, to a column, [G].
_Reader: TypeAlias = Callable[[list[Ints]], Ints]


def list_classes(
    graph: FactGraph, stratum: Stratum, *, heads: bool, memory: int, block: int = 1_000_000
) -> Classes:
    """The classes of a stratum, counted by visiting every grounding.

    Parameters
    ----------
    heads
        Whether groundings of different head atoms are kept apart.
    memory
        How many bytes the result may take.
    block
        How many groundings are looked at together.
    """
    members = [np.flatnonzero(allowed[graph.labels]) for allowed in stratum.domains(graph)]
    shape = [len(one) for one in members]
    size = int(np.prod(shape, dtype=object))
    pattern, wide = _pattern_reader(graph), _wide_readers(graph, stratum)
    held: list[Counted] = []
    if time_left().left < math.inf:  # the limit is kept to a block
        block //= 8
    for begin in range(0, size, block):
        check()
        places = np.unravel_index(np.arange(begin, min(begin + block, size)), shape)
        codes = [one[place] for one, place in zip(members, places, strict=True)]
        apart = np.ones(len(codes[0]), dtype=np.bool_)
        for a, b in stratum.pairs:
            apart &= codes[a] != codes[b]
        codes = [one[apart] for one in codes]
        columns = [head_keys(graph, stratum.block, codes)] if heads else []
        columns += [graph.labels[one] for one in codes]
        columns += [pattern(codes[a], codes[b]) for a, b in stratum.pairs]
        columns += [read(codes) for read in wide]
        held.append(Counted.once(columns).grouped())
        if sum(map(len, held)) > 4 * block:
            held = [Counted.concat(held, len(columns)).grouped()]
        check_memory(held, memory, size, len(stratum.block))
    width = int(heads) + stratum.n_blocks + len(stratum.pairs) + len(wide)
    return Classes.of(stratum, Counted.concat(held, width).grouped(), heads=heads)


def head_keys(graph: FactGraph, block: tuple[int, ...], codes: list[Ints]) -> Ints:
    """One key for each head atom: its constants as digits to the base n.

    Parameters
    ----------
    block
        Of each variable, the head's first, which of `codes` it stands for.
    """
    keys = np.zeros(len(codes[0]), dtype=np.int64)
    for place in range(graph.space.head.arity):
        keys = keys * graph.n + codes[block[place]]
    return keys


def _pattern_reader(graph: FactGraph) -> Callable[[Ints, Ints], Ints]:
    if graph.n**2 > _DENSE:
        return graph.pattern_of
    matrix = np.zeros((graph.n, graph.n), dtype=np.int32)
    matrix[graph.firsts, graph.others] = graph.patterns
    return lambda first, second: matrix[first, second].astype(np.int64)


def _wide_readers(graph: FactGraph, stratum: Stratum) -> list[_Reader]:
    """Readers of the candidates of three or more arguments, and last of such a head."""
    atoms = [atom for atom in (*graph.space.atoms, graph.space.head) if atom.arity > 2]
    return [_reader(graph, stratum, atom) for atom in atoms]


def _reader(graph: FactGraph, stratum: Stratum, atom: Atom) -> _Reader:
    """Reads the cells of a candidate; of the head, 1 + the index of the fact that states it, or 0."""
    facts = graph.wide[atom.key]

    def read(codes: list[Ints]) -> Ints:
        keys = np.zeros(len(codes[0]), dtype=np.int64)
        for arg in atom.args:
            if isinstance(arg, Constant):
                keys = keys * graph.n + graph.constant_codes[arg]
            else:
                keys = keys * graph.n + codes[stratum.block[graph.place_of[arg]]]
        place, there = facts.find(keys)
        if atom == graph.space.head:
            return np.where(there, place + 1, 0)
        return np.where(there, facts.levels[place] if len(facts.levels) else 0, graph.absent)

    return read


def check_memory(held: list[Counted], memory: int, size: int, variables: int) -> None:
    """Raise MemoryLimitError where tables outgrow the memory allowed."""
    rows = sum(map(len, held))
    taken = rows * 8 * (len(held[0].columns) + 1) if held else 0
    if taken > memory:
        raise MemoryLimitError(
            f"the {size:.3g} groundings of {variables} variables have over {rows:,} distinct rows so far, "
            f"which take {taken / 2**20:,.0f} MB of the {memory / 2**20:,.0f} MB allowed: "
            "use fewer variables or relations, or raise the memory limit"
        )
