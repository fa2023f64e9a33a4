"""Facts as a labelled graph, from which every row of a census can be read off.

A constant has a label: its unary and reflexive facts, its atoms with a given
constant, and the places of the head it may stand in. A pair of distinct
constants has a pattern: the facts between them, in both directions. Rows whose
constants have equal labels and whose pairs have equal patterns are equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from andre.arrays import Bools, Floats, Ints, blocks_of, csr_entries, csr_starts, number_keys, number_rows
from andre.census.cells import Cells
from andre.facts import Key
from andre.logic import Constant, Variable
from andre.samples import RuleSpace


@dataclass(frozen=True, eq=False)
class WideFacts:
    """The facts of a relation of three or more arguments, sorted for look-up."""

    keys: Ints  #: one for each fact: its constants as digits to the base n, ascending
    levels: Ints
    truths: Floats  #: stated truth of the target's facts; NaN for other relations

    def find(self, keys: Ints) -> tuple[Ints, Bools]:
        """The index of each key, and whether it is there."""
        place = np.searchsorted(self.keys, keys).clip(max=max(len(self.keys) - 1, 0))
        return place, (self.keys[place] == keys) if len(self.keys) else np.zeros(len(keys), dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class FactGraph:
    """Constants with labels, and pairs of distinct constants with patterns, as CSR rows of neighbours."""

    space: RuleSpace
    n: int  #: number of constants
    labels: Ints  #: [n]
    label_cells: Cells  #: [L, columns]
    #: Columns ("unary", key), ("reflexive", key), `constant_column`, ("is", constant), ("domain", place).
    label_columns: Mapping[Hashable, int]
    label_truth: Floats  #: [L], stated truth of target(x) or target(x, x); NaN where it is not stated
    domains: Bools  #: [L, head places], which places of the head a constant may stand in
    starts: Ints  #: [n + 1], where the neighbours of each constant begin
    others: Ints  #: [E], neighbours, ascending for each constant
    patterns: Ints  #: [E], from 1; pattern 0 is a pair without facts
    pattern_cells: Cells  #: [P, columns], two columns for each relation: forwards and backwards
    pattern_columns: Mapping[Key, int]  #: the column of a relation forwards; backwards is the next
    pattern_truth: Floats  #: [P], stated truth of target(first, second); NaN where it is not stated
    absent: int  #: the cell of an atom that is neither stated nor denied
    codes: Ints  #: [n], the constants' codes among the facts
    wide: Mapping[Key, WideFacts]  #: relations of three or more arguments
    constant_codes: Mapping[Constant, int]  #: the numbers of constants that candidates hold

    @property
    def n_labels(self) -> int:
        """How many labels there are, L."""
        return len(self.label_cells)

    @property
    def n_patterns(self) -> int:
        """How many patterns there are, P, the empty one among them."""
        return len(self.pattern_cells)

    @cached_property
    def place_of(self) -> dict[Variable, int]:
        """The position of each variable in a grounding, the head's first."""
        return {variable: place for place, variable in enumerate(self.space.variables)}

    @cached_property
    def label_counts(self) -> Ints:
        """How many constants have each label, [L]."""
        return np.bincount(self.labels, minlength=self.n_labels).astype(np.int64)

    @cached_property
    def degree(self) -> Ints:
        """How many neighbours each constant has, [n]."""
        return np.diff(self.starts)

    @cached_property
    def firsts(self) -> Ints:
        """The first constant of each pair, [E]; `others` is the second."""
        return np.repeat(np.arange(self.n), self.degree)

    @cached_property
    def pair_keys(self) -> Ints:
        """One ascending key for each pair, [E]."""
        return self.firsts * self.n + self.others

    @cached_property
    def reversed_pattern(self) -> Ints:
        """For each pattern, the pattern of the same facts seen from the second constant, [P]."""
        place = np.zeros(self.n_patterns, dtype=np.int64)
        place[self.patterns] = np.arange(len(self.patterns))
        back = self.pattern_of(self.others[place[1:]], self.firsts[place[1:]])
        return np.concatenate([[0], back]).astype(np.int64)

    def pairs_of(self, first: Ints, second: Ints) -> tuple[Ints, Bools]:
        """The indices of any pairs of distinct constants, and whether they have facts."""
        keys = first * self.n + second
        if not len(self.patterns):
            return np.zeros_like(keys), np.zeros(len(keys), dtype=np.bool_)
        place = np.searchsorted(self.pair_keys, keys).clip(max=len(self.patterns) - 1)
        return place, self.pair_keys[place] == keys

    def pattern_of(self, first: Ints, second: Ints) -> Ints:
        """The patterns of any pairs of distinct constants."""
        place, there = self.pairs_of(first, second)
        return np.where(there, self.patterns[place], 0) if len(self.patterns) else place

    def upward(self) -> tuple[Ints, Ints]:
        """Constants ranked by degree, [n], and the pairs that go up in rank: hubs begin few of these."""
        rank = np.empty(self.n, dtype=np.int64)
        rank[np.argsort(self.degree, kind="stable")] = np.arange(self.n)
        return rank, np.flatnonzero(rank[self.firsts] < rank[self.others])

    def path_blocks(self, starts: Ints, limit: int, *, inner: bool) -> Iterator[Ints]:
        """Cut constants into runs that begin at most `limit` paths: of one step, and if `inner` of two."""
        paths = self.path_counts(starts, inner=inner)
        yield from (starts[begin:end] for begin, end in blocks_of(paths, limit))

    def path_counts(self, starts: Ints, *, inner: bool) -> Ints:
        """How many paths begin with each of these constants: of one step, and if `inner` of two."""
        paths = self.degree
        if inner:
            paths = paths + np.bincount(self.firsts, paths[self.others], self.n).astype(np.int64)
        return paths[starts]

    def connections(self, block: Ints, *, inner: bool) -> tuple[Ints, tuple[Ints, Ints]]:
        """How facts lead from these constants to constants that may stand second in the head.

        Returns
        -------
        tuple
            The pairs that do so in one step, and, if `inner`, the first and the
            second pairs of the paths that do so in two.
        """
        is_end = self.domains[self.labels, 1]
        _, step = csr_entries(self.starts, block)
        direct = step[is_end[self.others[step]]]
        if not inner:
            return direct, (direct[:0], direct[:0])
        again, last = csr_entries(self.starts, self.others[step])
        step = step[again]
        kept = (self.firsts[step] != self.others[last]) & is_end[self.others[last]]
        return direct, (step[kept], last[kept])

    def connected_keys(self, direct: Ints, path: tuple[Ints, Ints]) -> Ints:
        """The key of the head atom, first * n + second, at the ends of each of these `connections`."""
        step, last = path
        return np.concatenate([self.pair_keys[direct], self.firsts[step] * self.n + self.others[last]])

    def domain(self, *places: int) -> Ints:
        """The constants that may stand in each of these places of the head."""
        allowed = np.logical_and.reduce([self.domains[:, place] for place in places])
        return np.flatnonzero(allowed[self.labels])


@dataclass(frozen=True, eq=False)
class NeighbourTypes:
    """The types of every constant's neighbours, as CSR rows; a type is a label and the pattern towards it."""

    label: Ints  #: [T]
    pattern: Ints  #: [T], from the constant to its neighbour
    of_pair: Ints  #: [E], the type of each pair's second constant, as the first sees it
    starts: Ints  #: [n + 1], where the types of each constant begin
    types: Ints  #: the types of each constant, ascending
    counts: Ints  #: how many neighbours of each of these types it has

    @classmethod
    def of(cls, graph: FactGraph) -> NeighbourTypes:
        """Factorize and count the neighbours of all constants."""
        label = graph.labels[graph.others]
        first, of_pair = number_rows([label, graph.patterns])
        width = max(1, len(first))
        seen, entry = number_keys(graph.firsts * width + of_pair, max(1, graph.n * width))
        owner, types = np.divmod(seen, width)
        counts = np.bincount(entry, minlength=len(seen)).astype(np.int64)
        starts = csr_starts(owner, graph.n)
        return cls(label[first], graph.patterns[first], of_pair, starts, types, counts)

    def at(self, constants: Ints) -> tuple[Ints, Ints]:
        """All types at some constants: which of `constants` it is at, and the type."""
        which, entry = csr_entries(self.starts, constants)
        return which, self.types[entry]
