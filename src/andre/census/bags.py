"""Bags: the set of rows that a head atom's groundings have, with equal bags merged and weighed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import NoReturn

import numpy as np

from andre.arrays import Bools, Floats, Ints, distinct_rows, number_rows
from andre.census.cells import UNKNOWN, Cells
from andre.census.graph import FactGraph
from andre.census.strata import Classes
from andre.errors import MemoryLimitError
from andre.facts import FactBase
from andre.limits import check
from andre.samples import Membership, sums_of

#: Cells that are looked at together.
_AT_ONCE = 1 << 24


@dataclass(frozen=True, eq=False)
class Weigher:
    """How much a head atom weighs as a positive and as a negative example.

    A stated fact of probability p weighs p as a positive and 1 - p as a
    negative. An atom that is not stated is a negative: of weight 1 in a closed
    world, of the number of known facts it corrupts where `out` and `into` are
    given, and of weight 0 where negative examples are stated. Where nothing is denied,
    a stated fact of probability 0 says no more than silence, and weighs the same.
    """

    stated_only: bool = False  #: whether only stated atoms weigh
    out: Ints | None = None  #: [n], how many facts begin with each constant
    into: Ints | None = None  #: [n], how many facts end with each constant

    @classmethod
    def of(cls, facts: FactBase, graph: FactGraph, *, corrupting: bool = False) -> Weigher:
        """The weights for the graph's target; `corrupting` weighs binary atoms by the facts they corrupt."""
        relation = facts.relations[graph.space.head.key]
        if relation.negative is not None or facts.world == "open":
            return cls(stated_only=True)
        if not corrupting or relation.arity != 2:
            return cls()
        places = np.searchsorted(graph.codes, relation.codes[~relation.impossible])
        out, into = (np.bincount(column, minlength=graph.n).astype(np.int64) for column in places.T)
        return cls(out=out, into=into)

    def weight_unstated(self, first: Ints, second: Ints) -> Ints:
        """The weight of head atoms, given their arguments, where they are not stated."""
        if self.out is None or self.into is None:
            return np.ones(len(first), dtype=np.int64)
        return self.out[first] + self.into[second]

    def negatives(self, truth: Floats, weight: Ints | Floats) -> Floats:
        """The negative weight of head atoms of this stated truth: `weight` where it is NaN."""
        if self.stated_only:
            return np.where(np.isnan(truth), 0.0, 1 - truth)
        return np.where(np.isnan(truth) | (truth == 0), weight, 1 - truth)


@dataclass(frozen=True, eq=False)
class Bags:
    """Distinct bags over distinct rows."""

    cells: Cells  #: [U, m]
    columns: Bools  #: [candidates], which of them `cells` has
    members: Membership  #: the rows of each bag, as indices into `cells`
    positives: Floats  #: [B]
    negatives: Floats  #: [B]
    heads: Ints  #: [B], how many head atoms have the bag


@dataclass
class BagCollector:
    """Takes bags as they are found, class by class, and merges equal ones at the end."""

    graph: FactGraph
    memory: int  #: bytes
    n_bags: int = 0
    _weights: list[tuple[Floats, Floats, Ints]] = field(default_factory=list)
    _cells: list[Cells] = field(default_factory=list)
    _members: list[tuple[Ints, Ints]] = field(default_factory=list)  #: bags, and rows among `_cells`
    _n_rows: int = 0
    _n_entries: int = 0

    def open(self, positives: Floats, negatives: Floats, heads: Ints) -> Ints:
        """Begin a bag for each weight, and return their numbers; `heads` head atoms have each."""
        self._weights.append((positives, negatives, heads))
        numbers = np.arange(self.n_bags, self.n_bags + len(heads))
        self.n_bags += len(heads)
        return numbers

    def put(self, bags: Ints, classes: Classes) -> None:
        """Put the row of each class into the bag beside it.

        Raises
        ------
        MemoryLimitError
            Where the bags outgrow the memory allowed.
        """
        check()
        if not len(bags):
            return
        first, number = number_rows([*classes.labels, *classes.patterns, *classes.wide])
        self._cells.append(classes.take(first).cells(self.graph, self_support=False))
        self._members.append((bags, (number + self._n_rows).astype(np.int32)))
        self._n_rows += len(first)
        self._n_entries += len(bags)
        if self.taken > self.memory:
            self.refuse(f"the {self.n_bags:,} bags of rows found so far take", self.taken)

    @property
    def taken(self) -> int:
        """The bytes that all bags so far take."""
        return self._n_entries * 24 + self._n_rows * self.graph.space.m

    def refuse(self, what: str, size: float) -> NoReturn:
        """Raise an error because something is larger than the memory allowed."""
        raise MemoryLimitError(
            f"{what} {size / 2**20:,.0f} MB of the {self.memory / 2**20:,.0f} MB allowed: "
            "use fewer variables or relations, or raise the memory limit"
        )

    def finish(self) -> Bags:
        """The distinct bags: equal rows merged, uninformative columns left out, then equal bags merged."""
        columns = informative_columns(self._cells, self.graph)
        cells = np.empty((self._n_rows, int(columns.sum())), dtype=self._cells[0].dtype)
        begin = 0
        while self._cells:  # what is copied is given back at once: where there is little room, none for two
            for part in _some_rows(self._cells.pop(0)):
                check()
                cells[begin : begin + len(part)] = part[:, columns]
                begin += len(part)
        check()
        first, number = distinct_rows(cells)
        check()
        bag = np.concatenate([bags for bags, _ in self._members])
        row = number[np.concatenate([rows for _, rows in self._members])]
        members, group = Membership.distinct(bag, row, self.n_bags, len(first))
        positives, negatives, heads = (np.concatenate(part) for part in zip(*self._weights, strict=True))
        count = np.zeros(len(members), dtype=np.int64)
        np.add.at(count, group, heads)
        n = len(members)
        weights = sums_of(group, positives, n), sums_of(group, negatives, n)
        return Bags(cells[first], columns, members, *weights, count)


def informative_columns(parts: Iterable[Cells], graph: FactGraph) -> Bools:
    """Which candidates can tell rows apart: those somewhere true, and comparisons that vary."""
    comparisons = np.array([atom.is_builtin for atom in graph.space.atoms], dtype=np.bool_)
    some, vary = np.zeros_like(comparisons), np.zeros_like(comparisons)
    first: Cells | None = None
    for rows in chain.from_iterable(map(_some_rows, parts)):
        check()
        first = rows[0] if first is None else first
        some |= ((rows > 0) & (rows != UNKNOWN)).any(axis=0)
        vary[comparisons] |= (rows[:, comparisons] != first[comparisons]).any(axis=0)
    return some & (vary | ~comparisons)


def _some_rows(cells: Cells) -> Iterator[Cells]:
    """The rows, so many at a time as are quickly looked at."""
    step = max(1, _AT_ONCE // max(1, cells.shape[1]))
    return (cells[begin : begin + step] for begin in range(0, len(cells), step))
