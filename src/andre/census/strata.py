"""Strata: which variables of a rule are equal, and what cells their rows have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Counts, Floats, Ints
from andre.census.graph import TRUE, UNKNOWN, Cells, FactGraph
from andre.census.labelling import constant_column
from andre.logic import Atom, Constant, Variable

__all__ = ["Classes", "Stratum", "strata"]


@dataclass(frozen=True)
class Stratum:
    """A partition of the variables: those of one block stand for the same constant.

    Examples
    --------
    >>> Stratum((0, 1, 0)).n_blocks, Stratum((0, 1, 2)).pairs
    (2, ((0, 1), (0, 2), (1, 2)))
    """

    block: tuple[int, ...]  #: of each variable, numbered in order of first occurrence

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
        """The pairs of blocks, in the order in which patterns are kept."""
        return tuple(combinations(range(self.n_blocks), 2))

    def domains(self, graph: FactGraph) -> NDArray[np.bool_]:
        """Which labels may stand in which block, [blocks, L]."""
        allowed = np.ones((self.n_blocks, graph.n_labels), dtype=np.bool_)
        for place in range(graph.domains.shape[1]):
            allowed[self.block[place]] &= graph.domains[:, place]
        return allowed


def strata(variables: int) -> Iterator[Stratum]:
    """All partitions of the variables, the one where all are equal first.

    Examples
    --------
    >>> [stratum.block for stratum in strata(2)], len(list(strata(4)))
    ([(0, 0), (0, 1)], 15)
    """

    def grow(block: tuple[int, ...]) -> Iterator[Stratum]:
        if len(block) == variables:
            yield Stratum(block)
            return
        for number in range(max(block) + 2):
            yield from grow((*block, number))

    yield from grow((0,))


@dataclass(frozen=True, eq=False)
class Classes:
    """Groundings of one stratum that look alike, described and counted."""

    stratum: Stratum
    labels: Ints  #: [U, blocks]
    patterns: Ints  #: [U, pairs of blocks]
    counts: Counts  #: [U]
    wide: Ints | None = None  #: [U, w], cells of candidates of three or more arguments
    wide_truth: Floats | None = None  #: [U], of a head of three or more arguments

    def __len__(self) -> int:
        return len(self.labels)

    def truth(self, graph: FactGraph) -> Floats:
        """How true the head atom of each class is stated to be, [U]; NaN where it is not."""
        if self.wide_truth is not None:
            return self.wide_truth
        first, *rest = self.stratum.block[: graph.space.head.arity]
        if not rest or rest[0] == first:
            return graph.label_truth[self.labels[:, first]]
        return graph.pattern_truth[self._pattern(first, rest[0], graph)]

    def cells(self, graph: FactGraph, self_support: bool) -> Cells:
        """The row of each class, [U, m].

        Parameters
        ----------
        self_support
            Whether an atom that is the head atom itself counts as evidence;
            its cell is unknown otherwise.
        """
        rows = np.empty((len(self), graph.space.m), dtype=np.uint8)
        place_of = {variable: place for place, variable in enumerate(_variables(self.stratum))}
        n_wide = 0
        for column, atom in enumerate(graph.space.atoms):
            block = {v: self.stratum.block[place_of[v]] for v in atom.variables}
            if atom.arity > 2 and self.wide is not None:
                rows[:, column] = self.wide[:, n_wide]
                n_wide += 1
            else:
                rows[:, column] = self._column(graph, atom, block)
            if not self_support and (atom.predicate, atom.arity) == graph.target:
                rows[self._is_head(graph, atom, block), column] = UNKNOWN
        return rows

    def _pattern(self, first: int, second: int, graph: FactGraph) -> Ints:
        place = self.stratum.pairs.index((min(first, second), max(first, second)))
        pattern: Ints = self.patterns[:, place]
        return pattern if first < second else graph.reversed_pattern[pattern]

    def _column(self, graph: FactGraph, atom: Atom, block: dict[Variable, int]) -> Cells | int:
        key = atom.predicate, atom.arity
        first, second = atom.args[0], atom.args[-1]
        if atom.arity == 1:
            return self._labelled(graph, ("unary", key), block[_variable(first)])
        for place, constant, other in ((1, second, first), (0, first, second)):
            if isinstance(constant, Constant):
                name = constant_column(key[0], place, constant)
                return self._labelled(graph, name, block[_variable(other)])
        one, two = block[_variable(first)], block[_variable(second)]
        if atom.predicate == "\\=":
            return TRUE if one != two else 0
        if one == two:
            return 0 if atom.is_builtin else self._labelled(graph, ("reflexive", key), one)
        if key not in graph.pattern_columns:
            return 0 if atom.is_builtin else graph.absent
        # Patterns are kept from the lower block to the higher one; the next column is the way back.
        column = graph.pattern_columns[key] + (one > two)
        cells: Cells = graph.pattern_cells[
            self.patterns[:, self.stratum.pairs.index(_ordered(one, two))], column
        ]
        return np.where(cells == UNKNOWN, 0, cells) if atom.is_builtin else cells

    def _labelled(self, graph: FactGraph, name: object, block: int) -> Cells | int:
        column = graph.label_columns.get(name)
        return graph.absent if column is None else graph.label_cells[self.labels[:, block], column]

    def _is_head(self, graph: FactGraph, atom: Atom, block: dict[Variable, int]) -> NDArray[np.bool_]:
        """In which classes an atom of the target is the head atom."""
        same = np.ones(len(self), dtype=np.bool_)
        for place, arg in enumerate(atom.args):
            head = self.stratum.block[place]
            if isinstance(arg, Constant):
                column = graph.label_columns.get(("is", arg))
                same &= column is not None and graph.label_cells[self.labels[:, head], column] == TRUE
            else:
                same &= block[arg] == head
        return same


def _variables(stratum: Stratum) -> list[Variable]:
    """The variables by place: X1, X2, ... as a language names them."""
    return [Variable(f"X{number}") for number in range(1, len(stratum.block) + 1)]


def _variable(term: Variable | Constant) -> Variable:
    assert isinstance(term, Variable)
    return term


def _ordered(one: int, two: int) -> tuple[int, int]:
    return (one, two) if one < two else (two, one)
