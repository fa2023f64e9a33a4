"""Profiles: what every constant sees of its neighbours, and which constants are alike by it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from andre.arrays import Bools, Ints, csr_entries, csr_starts, distinct_keys, number_rows, number_sets
from andre.census.graph import FactGraph, NeighbourTypes


@dataclass(frozen=True, eq=False)
class Sets:
    """A set of integers below `top` for each of some head atoms, as CSR rows."""

    starts: Ints
    items: Ints
    top: int

    @classmethod
    def of(cls, owners: Ints, items: Ints, count: int, top: int) -> Sets:
        """From one owner per item, the sets of the owners 0 to count - 1."""
        keys = distinct_keys(owners * max(1, top) + items)
        return cls(csr_starts(keys // max(1, top), count), keys % max(1, top), max(1, top))

    def numbers(self) -> Ints:
        """One number for each set, equal for equal sets."""
        return number_sets(self.starts, self.items, self.top)[0]

    def table(self, rows: Ints) -> Bools:
        """Which items some of the sets have, [rows, top]."""
        table = np.zeros((len(rows), self.top), dtype=np.bool_)
        which, entry = csr_entries(self.starts, rows)
        table[which, self.items[entry]] = True
        return table


@dataclass(frozen=True, eq=False)
class Profiles:
    """What every constant sees of its neighbours.

    A type is a neighbour's label and the pattern towards it; the profile of a
    constant is the set of types it sees. A label is scarce where two constants
    and their neighbours may be all constants that have it, so that none is left
    that is attached to neither.
    """

    neighbours: NeighbourTypes
    number: Ints  #: [n], equal for equal profiles
    scarce: Ints  #: [S], labels
    used: Ints  #: [n, S], how many of each scarce label are the constant or its neighbours
    #: [n, S], whether the constant and some other may be and see all constants of a scarce label.
    exhaustible: Bools

    @classmethod
    def of(cls, graph: FactGraph) -> Profiles:
        """The profiles of all constants of a graph."""
        neighbours = NeighbourTypes.of(graph)
        own = np.arange(graph.n) * graph.n_labels + graph.labels
        near = graph.firsts * graph.n_labels + graph.labels[graph.others]
        keys, times = np.unique(np.concatenate([near, own]), return_counts=True)
        constant, label_used = np.divmod(keys, graph.n_labels)
        most = np.zeros(graph.n_labels, dtype=np.int64)
        np.maximum.at(most, label_used, times)
        scarce = np.flatnonzero((2 * most >= graph.label_counts) & (graph.label_counts > 0))
        kept = np.isin(label_used, scarce)
        used = np.zeros((graph.n, len(scarce)), dtype=np.int64)
        used[constant[kept], np.searchsorted(scarce, label_used[kept])] = times[kept]
        return cls(
            neighbours=neighbours,
            number=Sets(neighbours.starts, neighbours.types, max(1, len(neighbours.label))).numbers(),
            scarce=scarce,
            used=used,
            exhaustible=used + used.max(axis=0, initial=0) >= graph.label_counts[scarce],
        )

    @property
    def n_types(self) -> int:
        """How many types of neighbours there are, T."""
        return len(self.neighbours.label)

    def count(self, constants: Ints, types: Ints) -> Ints:
        """How many neighbours of a type each constant has."""
        return self.neighbours.counts[np.searchsorted(self._keys, constants * self.n_types + types)]

    @cached_property
    def _keys(self) -> Ints:
        """One ascending key for each constant and type."""
        owner = np.repeat(np.arange(len(self.number)), np.diff(self.neighbours.starts))
        return owner * self.n_types + self.neighbours.types

    def classes(self, graph: FactGraph) -> tuple[Ints, Ints]:
        """Classes of constants that are alike to any constant they are not connected with.

        Constants of a class have equal labels and profiles, and use equally many
        of the scarce labels that they may help to exhaust.

        Returns
        -------
        tuple
            One constant of each class, and the class of each constant, [n].
        """
        rows = [graph.labels, self.number]
        if self.scarce.size:
            rows.append(number_rows(list((self.used * self.exhaustible).T))[1])
        return number_rows(rows)
