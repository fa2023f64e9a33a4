"""Bags: the set of rows a head atom has, equal bags merged and weighed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats, Ints, csr_entries, csr_starts, distinct_keys, number_rows, number_sets
from andre.census.graph import UNKNOWN, Cells, FactGraph
from andre.census.strata import Classes, Stratum
from andre.errors import MemoryLimitError
from andre.facts import FactBase

__all__ = ["BagCollector", "Bags", "Weigher"]


@dataclass(frozen=True, eq=False)
class Weigher:
    """How much a head atom counts as an example, for and against.

    A stated fact of probability p counts p for and 1 - p against. An atom that
    is not stated counts against: by 1 in a closed world, by the number of
    known facts it corrupts where these are given, and not at all where the
    negative examples are stated.
    """

    stated_only: bool = False
    out: Ints | None = None  #: [n], facts that begin with each constant
    into: Ints | None = None  #: [n], facts that end with each constant

    @classmethod
    def of(cls, facts: FactBase, graph: FactGraph, *, corrupting: bool = False) -> Weigher:
        """What the facts of the target say; `corrupting` counts what facts of two arguments are corrupted."""
        relation = facts.relations[graph.target]
        train = relation.take(relation.marked("train"))
        if train.negative is not None or facts.world == "open":
            return cls(stated_only=True)
        if not corrupting or relation.arity != 2:
            return cls()
        places = np.searchsorted(graph.codes, train.codes)
        out, into = (np.bincount(column, minlength=graph.n).astype(np.int64) for column in places.T)
        return cls(out=out, into=into)

    def corrupted(self, first: Ints, second: Ints) -> Ints:
        """The weight of atoms that are not stated."""
        if self.out is None or self.into is None:
            return np.ones(len(first), dtype=np.int64)
        return self.out[first] + self.into[second]

    def negatives(self, truth: Floats, weight: Ints | Floats) -> Floats:
        """What head atoms count against: `weight` where they are not stated."""
        absent = 0.0 if self.stated_only else weight
        return np.where(np.isnan(truth), absent, 1 - truth)


@dataclass(frozen=True, eq=False)
class Bags:
    """Distinct bags over distinct rows."""

    cells: Cells  #: [U, m]
    columns: NDArray[np.bool_]  #: [candidates], which of them `cells` has
    starts: Ints  #: [B + 1]
    rows: Ints  #: places in `cells`, in order within a bag
    positives: Floats  #: [B]
    negatives: Floats  #: [B]
    heads: Ints  #: [B], how many head atoms have the bag


@dataclass
class BagCollector:
    """Takes bags as they are found, class by class, and merges equal ones at the end."""

    graph: FactGraph
    self_support: bool = False
    memory: int = 4 << 30  #: bytes
    n_bags: int = 0
    _weights: list[tuple[Floats, Floats, Ints]] = field(default_factory=list)
    _cells: list[Cells] = field(default_factory=list)
    _members: list[tuple[Ints, Ints]] = field(default_factory=list)  #: bags, rows among `_cells`
    _n_rows: int = 0
    _n_entries: int = 0

    def open(self, positives: Floats, negatives: Floats, heads: Ints) -> Ints:
        """Begin so many bags, and give their numbers."""
        self._weights.append((positives, negatives, heads))
        numbers = np.arange(self.n_bags, self.n_bags + len(heads))
        self.n_bags += len(heads)
        return numbers

    def put(self, bags: Ints, classes: Classes) -> None:
        """Put the row of each class into the bag beside it."""
        if not len(bags):
            return
        wide = [] if classes.wide is None else list(classes.wide.T)
        first, number = number_rows([*classes.labels.T, *classes.patterns.T, *wide])
        distinct = Classes(
            classes.stratum,
            classes.labels[first],
            classes.patterns[first],
            classes.counts[first],
            None if classes.wide is None else classes.wide[first],
        )
        self._cells.append(distinct.cells(self.graph, self.self_support))
        self._members.append((bags, (number + self._n_rows).astype(np.int32)))
        self._n_rows += len(first)
        self._n_entries += len(bags)
        taken = self._n_entries * 24 + self._n_rows * self.graph.space.m
        if taken > self.memory:
            raise MemoryLimitError(
                f"the {self.n_bags:,} bags of rows found so far take {taken / 2**20:,.0f} MB of the "
                f"{self.memory / 2**20:,.0f} MB allowed: use fewer variables or relations, "
                "or raise the memory limit"
            )

    def put_rows(self, bags: Ints, stratum: Stratum, labels: list[Ints], patterns: list[Ints]) -> None:
        """The same for classes given by columns."""
        shape = np.stack(patterns, axis=1) if patterns else np.zeros((len(bags), 0), dtype=np.int64)
        self.put(bags, Classes(stratum, np.stack(labels, axis=1), shape, np.ones(len(bags), dtype=np.int64)))

    def finish(self) -> Bags:
        """Merge equal rows, leave out empty columns, and merge equal bags."""
        cells = np.concatenate(self._cells)
        columns = informative(cells, self.graph)
        if not columns.all():  # tables of bytes are slow to copy by columns: once at the most
            cells = np.ascontiguousarray(cells[:, columns])
        first, row = merge_cells(cells)
        bag = np.concatenate([bags for bags, _ in self._members])
        row = row[np.concatenate([rows for _, rows in self._members])]
        keys = distinct_keys(bag * len(first) + row)
        bag, row = np.divmod(keys, len(first))
        starts = csr_starts(bag, self.n_bags)
        numbers, shown = number_sets(starts, row, len(first))
        # Number 0 is the bag without rows, which no head atom has.
        _, places = csr_entries(starts, shown[1:])
        sizes = (starts[1:] - starts[:-1])[shown[1:]]
        parts = [np.concatenate(part) for part in zip(*self._weights, strict=True)]
        positives, negatives = (
            np.bincount(numbers - 1, part, len(shown) - 1).astype(np.float64) for part in parts[:2]
        )
        heads = np.zeros(len(shown) - 1, dtype=np.int64)
        np.add.at(heads, numbers - 1, parts[2])
        begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Bags(cells[first], columns, begin, row[places], positives, negatives, heads)


def informative(cells: Cells, graph: FactGraph) -> NDArray[np.bool_]:
    """The columns that say something: candidates that are somewhere true, comparisons that vary."""
    some: NDArray[np.bool_] = ((cells > 0) & (cells != UNKNOWN)).any(axis=0)
    for column, atom in enumerate(graph.space.atoms):
        if atom.is_builtin:
            some[column] &= bool((cells[:, column] != cells[0, column]).any())
    return some


def merge_cells(cells: Cells) -> tuple[Ints, Ints]:
    """Distinct rows, in order: where each stands first, and the number of every row."""
    rows = np.ascontiguousarray(cells)
    if not rows.shape[1]:
        return np.zeros(min(1, len(rows)), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    keys = rows.view(np.dtype((np.void, rows.shape[1]))).ravel()
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return first, number.ravel()
