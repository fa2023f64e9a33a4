"""What connects the two constants of a head atom, and what is thereby left for a third one.

A third constant is attached (by a fact) to both of them, to one, or to neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from andre.arrays import Bools, Ints, csr_entries, number_keys
from andre.census.graph import FactGraph
from andre.census.profiles import Profiles, Sets


@dataclass(frozen=True, eq=False)
class PairHeads:
    """Head atoms of two distinct constants x and y, H of them."""

    first: Ints  #: [H], x
    second: Ints  #: [H], y
    pattern: Ints  #: [H], from x to y

    def take(self, rows: Ints) -> PairHeads:
        """Only these head atoms."""
        return PairHeads(self.first[rows], self.second[rows], self.pattern[rows])


@dataclass(frozen=True, eq=False)
class Paths:
    """Third constants that are attached to both arguments of a head atom, one entry for each."""

    head: Ints  #: which head atom
    of_first: Ints  #: the type of the third constant as x sees it
    of_second: Ints  #: its type as y sees it


@dataclass(frozen=True, eq=False)
class Exhausted:
    """What third constants that are attached to at most one of x and y cannot be, for each head atom."""

    of_first: Sets  #: types of x's neighbours all of which are y or attached to y too
    of_second: Sets  #: types of y's neighbours all of which are x or attached to x too
    labels: Sets  #: labels of which every constant is x or y or attached to one of them

    def numbers(self) -> list[Ints]:
        """Three numbers for each head atom, equal where the sets are."""
        return [self.of_first.numbers(), self.of_second.numbers(), self.labels.numbers()]


@dataclass(frozen=True, eq=False)
class Connections:
    """Head atoms and what connects their arguments, by the facts of a graph."""

    graph: FactGraph
    profiles: Profiles
    inner: bool  #: whether rules have one variable more than the head

    def from_starts(self, block: Ints) -> tuple[PairHeads, Paths]:
        """The head atoms that begin with these constants and that a fact or a third constant connects."""
        graph = self.graph
        direct, path = graph.connections(block, inner=self.inner)
        heads, number = number_keys(graph.connected_keys(direct, path), graph.n**2)
        pattern = np.zeros(len(heads), dtype=np.int64)
        pattern[number[: len(direct)]] = graph.patterns[direct]
        first, second = np.divmod(heads, graph.n)
        return PairHeads(first, second, pattern), self._paths(number[len(direct) :], *path)

    def between(self, heads: PairHeads) -> Paths:
        """The third constants attached to both arguments of any head atoms."""
        graph = self.graph
        which, step = csr_entries(graph.starts, heads.first if self.inner else heads.first[:0])
        last, met = graph.pairs_of(graph.others[step], heads.second[which])
        return self._paths(which[met], step[met], last[met])

    def exhausted(self, heads: PairHeads, paths: Paths) -> Exhausted:
        """Compare what x and y see with what they share."""
        direct = np.flatnonzero(heads.pattern)
        pair, _ = self.graph.pairs_of(heads.first[direct], heads.second[direct])
        of_pair = self.profiles.neighbours.of_pair[pair]
        used = self._used(heads, paths)
        return Exhausted(
            of_first=self._exhausted_types(heads.first, heads, paths.head, paths.of_first, of_pair),
            of_second=self._exhausted_types(
                heads.second, heads, paths.head, paths.of_second, self._reverse_types[pair]
            ),
            labels=self.exhausted_labels(used >= self.graph.label_counts[self.profiles.scarce]),
        )

    def _exhausted_types(
        self, constants: Ints, heads: PairHeads, head: Ints, shared: Ints, direct: Ints
    ) -> Sets:
        """The types of neighbours that one argument of each head atom has only among what both arguments see.

        Parameters
        ----------
        constants
            [H], the argument.
        head, shared
            The types of third constants attached to both, as the argument sees them, each with its head atom.
        direct
            The type of the other argument as this one sees it, of each head atom that a fact connects.
        """
        n_types = max(1, self.profiles.n_types)
        owners, types = (
            np.concatenate([head, np.flatnonzero(heads.pattern)]),
            np.concatenate([shared, direct]),
        )
        keys, times = np.unique(owners * n_types + types, return_counts=True)
        head, kind = np.divmod(keys, n_types)
        gone = times == self.profiles.count(constants[head], kind)
        return Sets.of(head[gone], kind[gone], len(heads.first), self.profiles.n_types)

    def _used(self, heads: PairHeads, paths: Paths) -> Ints:
        """How many constants of each scarce label are x, y or attached to one of them: [H, S]."""
        graph, profiles, direct = self.graph, self.profiles, np.flatnonzero(heads.pattern)
        used = profiles.used[heads.first] + profiles.used[heads.second]
        column = np.full(graph.n_labels, -1)
        column[profiles.scarce] = np.arange(len(profiles.scarce))
        # Those attached to both were counted twice, and so were x and y where a fact is between them.
        for head, label in (
            (paths.head, profiles.neighbours.label[paths.of_first]),
            (direct, graph.labels[heads.first[direct]]),
            (direct, graph.labels[heads.second[direct]]),
        ):
            kept = column[label] >= 0
            np.subtract.at(used, (head[kept], column[label[kept]]), 1)
        return used

    def exhausted_labels(self, gone: Bools) -> Sets:
        """The labels of which nothing is left, from the scarce ones of each head atom, [H, S]."""
        head, scarce = np.nonzero(gone)
        return Sets.of(head, self.profiles.scarce[scarce], len(gone), self.graph.n_labels)

    def _paths(self, head: Ints, step: Ints, last: Ints) -> Paths:
        """Paths of two steps, given as pairs: from x to the third constant, and from it to y."""
        return Paths(head, self.profiles.neighbours.of_pair[step], self._reverse_types[last])

    @cached_property
    def _reverse_types(self) -> Ints:
        """The type of each pair's first constant as the second sees it, [E]."""
        graph = self.graph
        return self.profiles.neighbours.of_pair[
            np.searchsorted(graph.pair_keys, graph.others * graph.n + graph.firsts)
        ]
