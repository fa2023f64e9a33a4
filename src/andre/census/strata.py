"""Strata of groundings (which variables are equal), and the rows that groundings of a stratum have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from andre.arrays import Bools, Counts, Floats, Ints, number_rows
from andre.census.cells import TRUE, UNKNOWN, Cells
from andre.census.graph import FactGraph
from andre.census.labelling import constant_column
from andre.logic import Atom, Constant, Variable


@dataclass(frozen=True)
class Stratum:
    """A partition of a rule's variables: those of one block stand for the same constant, others differ.

    Examples
    --------
    >>> stratum = Stratum((0, 1, 0))
    >>> str(stratum), stratum.n_blocks, Stratum((0, 1, 2)).pairs
    ('X1=X3, X2', 2, ((0, 1), (0, 2), (1, 2)))
    """

    block: tuple[int, ...]  #: the block of each variable, numbered in order of first occurrence

    def __str__(self) -> str:
        blocks: dict[int, list[str]] = {}
        for place, block in enumerate(self.block, start=1):
            blocks.setdefault(block, []).append(f"X{place}")
        return ", ".join("=".join(names) for names in blocks.values())

    @property
    def n_blocks(self) -> int:
        """How many distinct constants a grounding has."""
        return max(self.block) + 1

    @property
    def is_distinct(self) -> bool:
        """Whether all variables differ."""
        return self.n_blocks == len(self.block)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs of blocks, in the order in which their patterns are kept."""
        return tuple(combinations(range(self.n_blocks), 2))

    def domains(self, graph: FactGraph) -> Bools:
        """Which labels may stand in which block, [blocks, L]."""
        allowed = np.ones((self.n_blocks, graph.n_labels), dtype=np.bool_)
        for place in range(graph.domains.shape[1]):
            allowed[self.block[place]] &= graph.domains[:, place]
        return allowed


def strata(variables: int) -> Iterator[Stratum]:
    """All partitions of the variables, from all equal to all distinct.

    Examples
    --------
    >>> [str(stratum) for stratum in strata(2)], len(list(strata(4)))
    (['X1=X2', 'X1, X2'], 15)
    """

    def grow(block: tuple[int, ...]) -> Iterator[Stratum]:
        if len(block) == variables:
            yield Stratum(block)
            return
        for number in range(max(block) + 2):
            yield from grow((*block, number))

    yield from grow((0,))


@dataclass(frozen=True, eq=False)
class Counted:
    """Rows of integers, by columns, and how often each occurs."""

    columns: list[Ints]
    counts: Counts

    def __len__(self) -> int:
        return len(self.counts)

    @classmethod
    def once(cls, columns: list[Ints]) -> Counted:
        """Every row counted once."""
        return cls(columns, np.ones(len(columns[0]), dtype=np.int64))

    @classmethod
    def concat(cls, tables: Sequence[Counted], width: int, dtype: type = np.int64) -> Counted:
        """The rows of all tables of `width` columns, of which there may be none."""
        if not tables:
            return cls([np.zeros(0, dtype=np.int64)] * width, np.zeros(0, dtype=dtype))
        columns = [np.concatenate(parts) for parts in zip(*(t.columns for t in tables), strict=True)]
        return cls(columns, np.concatenate([table.counts for table in tables]))

    def take(self, rows: Ints) -> Counted:
        """Only these rows."""
        return Counted([column[rows] for column in self.columns], self.counts[rows])

    def grouped(self) -> Counted:
        """Group-by with sum: equal rows become one, with their counts added.

        Examples
        --------
        >>> added = Counted([np.array([4, 2, 4])], np.array([1, 1, 5])).grouped()
        >>> added.columns[0].tolist(), added.counts.tolist()
        ([2, 4], [1, 6])
        """
        first, group = number_rows(self.columns)
        counts = np.zeros(len(first), dtype=self.counts.dtype)
        np.add.at(counts, group, self.counts)
        return Counted([column[first] for column in self.columns], counts)


def _nothing() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Classes:
    """Classes of a stratum's groundings with equal labels and equal patterns, and so equal rows."""

    stratum: Stratum
    labels: Sequence[Ints]  #: [U] for each block
    patterns: Sequence[Ints]  #: [U] for each pair of blocks
    #: [U] cells of candidates of three or more arguments; last, of such a head, 1 + its fact's index, or 0.
    wide: Sequence[Ints] = ()
    counts: Counts = field(default_factory=_nothing)  #: [U], how many groundings; empty where none is counted
    heads: Ints = field(default_factory=_nothing)  #: [U], keys of head atoms, where these are kept apart

    @classmethod
    def of(cls, stratum: Stratum, table: Counted, *, heads: bool = False) -> Classes:
        """Read columns as the key of the head atom (if `heads`), labels, patterns, and wide cells."""
        columns = table.columns[1:] if heads else table.columns
        end = stratum.n_blocks + len(stratum.pairs)
        parts = columns[: stratum.n_blocks], columns[stratum.n_blocks : end], columns[end:]
        return cls(stratum, *parts, table.counts, table.columns[0] if heads else _nothing())

    def __len__(self) -> int:
        return len(self.labels[0])

    def take(self, rows: Ints) -> Classes:
        """Only these classes, without counts and head atoms."""
        kept = [[column[rows] for column in part] for part in (self.labels, self.patterns, self.wide)]
        return Classes(self.stratum, kept[0], kept[1], kept[2])

    def truth(self, graph: FactGraph) -> Floats:
        """The stated truth of the head atom of each class, [U]; NaN where it is not stated."""
        if graph.space.head.arity > 2:
            truths = np.append(np.nan, graph.wide[graph.space.head.key].truths)
            return truths[self.wide[-1]]
        first, *rest = self.stratum.block[: graph.space.head.arity]
        if not rest or rest[0] == first:
            return graph.label_truth[self.labels[first]]
        return graph.pattern_truth[self._pattern(first, rest[0])]

    def cells(self, graph: FactGraph, self_support: bool) -> Cells:
        """The row of each class, [U, m].

        Parameters
        ----------
        self_support
            Whether a candidate that is the head atom itself counts as evidence;
            its cell is unknown otherwise.
        """
        rows = np.empty((len(self), graph.space.m), dtype=np.uint8)
        wide = iter(self.wide)
        for column, atom in enumerate(graph.space.atoms):
            block = {v: self.stratum.block[graph.place_of[v]] for v in atom.variables}
            rows[:, column] = next(wide) if atom.arity > 2 else self._column(graph, atom, block)
            if not self_support and graph.space.recursive[column]:
                rows[self._is_head(graph, atom, block), column] = UNKNOWN
        return rows

    def _pattern(self, one: int, two: int) -> Ints:
        """The pattern between two blocks, from the lower to the higher."""
        return self.patterns[self.stratum.pairs.index((min(one, two), max(one, two)))]

    def _column(self, graph: FactGraph, atom: Atom, block: dict[Variable, int]) -> Cells | int:
        """The cells of a candidate of one or two arguments."""
        key = atom.key
        blocks = [block[arg] for arg in atom.args if isinstance(arg, Variable)]
        if atom.arity == 1:
            return self._labelled(graph, ("unary", key), blocks[0])
        for place, arg in enumerate(atom.args):
            if isinstance(arg, Constant):
                return self._labelled(graph, constant_column(key[0], place, arg), blocks[0])
        one, two = blocks
        if atom.predicate == "\\=":
            return TRUE if one != two else 0
        if one == two:
            return 0 if atom.is_builtin else self._labelled(graph, ("reflexive", key), one)
        if key not in graph.pattern_columns:
            return 0 if atom.is_builtin else graph.absent
        # Patterns are kept from the lower block to the higher one; the next column is the way back.
        cells = graph.pattern_cells[self._pattern(one, two), graph.pattern_columns[key] + (one > two)]
        return np.where(cells == UNKNOWN, 0, cells) if atom.is_builtin else cells

    def _labelled(self, graph: FactGraph, name: object, block: int) -> Cells | int:
        """The cells of a label column for the constants of a block."""
        column = graph.label_columns.get(name)
        return graph.absent if column is None else graph.label_cells[self.labels[block], column]

    def _is_head(self, graph: FactGraph, atom: Atom, block: dict[Variable, int]) -> Bools:
        """In which classes a candidate of the target is the head atom itself, [U]."""
        same = np.ones(len(self), dtype=np.bool_)
        for place, arg in enumerate(atom.args):
            head = self.stratum.block[place]
            if isinstance(arg, Constant):
                column = graph.label_columns.get(("is", arg))
                same &= column is not None and graph.label_cells[self.labels[head], column] == TRUE
            else:
                same &= block[arg] == head
        return same
