"""What each constant sees: the types of its neighbours, and which labels they use up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from andre.grounding.graph import FactGraph
from andre.grounding.sets import Ints, number_keys, number_rows, number_sets, run_starts

__all__ = ["Profiles"]


@dataclass(frozen=True, eq=False)
class Profiles:
    """The types of the neighbours of every constant.

    A type is a neighbour's label and the pattern towards it. The profile of a
    constant is the set of its types. A label is scarce where two constants
    together may use up all that have it, so that no unattached one is left.
    """

    type_label: Ints  #: [T]
    type_pattern: Ints  #: [T], from the constant to its neighbour
    of_pair: Ints  #: [E], the type of each of the graph's pairs
    starts: Ints  #: [n + 1], into the two below
    types: Ints  #: the types of each constant, in order
    counts: Ints  #: how many neighbours of each type
    number: Ints  #: [n], of the profile
    scarce: Ints  #: labels
    used: Ints  #: [n, scarce], constants of each scarce label that are this one or its neighbours

    @classmethod
    def of(cls, graph: FactGraph) -> Profiles:
        """Look at every constant's neighbours."""
        shapes, of_pair = number_rows([graph.labels[graph.others], graph.patterns])
        n_types = max(1, len(shapes))
        seen, entry = number_keys(graph.firsts * n_types + of_pair, max(1, graph.n * n_types))
        owner, types = np.divmod(seen, n_types)
        starts = run_starts(owner, graph.n)
        number, _ = number_sets(starts, types, n_types)
        label = graph.labels[graph.others]
        uses = graph.firsts * graph.n_labels + label
        keys, times = np.unique(
            np.concatenate([uses, np.arange(graph.n) * graph.n_labels + graph.labels]), return_counts=True
        )
        most = np.zeros(graph.n_labels, dtype=np.int64)
        np.maximum.at(most, keys % graph.n_labels, times)
        scarce = np.flatnonzero((2 * most >= graph.label_counts) & (graph.label_counts > 0))
        column = np.full(graph.n_labels, -1)
        column[scarce] = np.arange(len(scarce))
        used = np.zeros((graph.n, len(scarce)), dtype=np.int64)
        kept = column[keys % graph.n_labels] >= 0
        used[keys[kept] // graph.n_labels, column[keys[kept] % graph.n_labels]] = times[kept]
        return cls(
            type_label=label[shapes],
            type_pattern=graph.patterns[shapes],
            of_pair=of_pair,
            starts=starts,
            types=types,
            counts=np.bincount(entry, minlength=len(seen)).astype(np.int64),
            number=number,
            scarce=scarce,
            used=used,
        )

    @property
    def n_types(self) -> int:
        """How many types of neighbours there are."""
        return len(self.type_label)

    def count(self, constants: Ints, types: Ints) -> Ints:
        """How many neighbours of a type each constant has."""
        return self.counts[np.searchsorted(self._keys, constants * self.n_types + types)]

    @cached_property
    def _keys(self) -> Ints:
        owner = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return owner * self.n_types + self.types

    def apart(self, graph: FactGraph) -> tuple[Ints, Ints]:
        """Number constants that look alike to any constant they are not connected with.

        Two constants look alike when label and profile are equal, and so are
        the numbers of scarce constants they use, where these can matter.

        Returns
        -------
        tuple
            For each number one constant that has it, and the number of each constant.
        """
        matters = self.used * self.exhaustible(graph)
        rows = [graph.labels, self.number]
        if self.scarce.size:
            rows.append(number_rows(list(matters.T))[1])
        return number_rows(rows)

    def exhaustible(self, graph: FactGraph) -> NDArray[np.bool_]:
        """Whether a constant and some other one may use up a scarce label, [n, scarce]."""
        most = self.used.max(axis=0, initial=0)
        may: NDArray[np.bool_] = self.used + most >= graph.label_counts[self.scarce]
        return may
