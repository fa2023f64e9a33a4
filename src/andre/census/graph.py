"""Cells: truth values as a row keeps them, on even levels.

Facts as a labelled graph: what a row can see of each constant and of each pair.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats, Ints
from andre.logic import Constant
from andre.samples import Key, RuleSpace

__all__ = ["LEVELS", "TRUE", "UNKNOWN", "Cells", "FactGraph", "Floats", "WideFacts", "levels_of", "value_of"]


Cells: TypeAlias = NDArray[np.uint8]

#: Probabilities are put on this many even levels, as the network does; a cell is the number of its level.
LEVELS = 64
#: The cell that is neither true nor false.
UNKNOWN = 255
#: What each cell means: one look-up is far faster than arithmetic on millions of cells.
_VALUES: Floats = np.append(np.arange(UNKNOWN) / (LEVELS - 1), np.nan)
#: The cell that is certain.
TRUE = LEVELS - 1


def levels_of(probability: Floats) -> Ints:
    """The nearest level of each probability; halves go down, so that > 0.5 means the same before and after.

    Examples
    --------
    >>> levels_of(np.array([0.0, 0.5, 0.51, 1.0])).tolist()
    [0, 31, 32, 63]
    """
    return np.ceil(probability * (LEVELS - 1) - 0.5).clip(0).astype(np.int64)


def value_of(cells: Cells) -> Floats:
    """The truth values that cells stand for; NaN is unknown.

    Examples
    --------
    >>> value_of(np.array([0, TRUE, UNKNOWN], dtype=np.uint8))
    array([ 0.,  1., nan])
    """
    certain = cells == TRUE
    is_crisp = np.count_nonzero(certain) == np.count_nonzero(cells)  # then it takes half the time
    values: Floats = certain.astype(np.float64) if is_crisp else _VALUES[cells]
    return values


@dataclass(frozen=True, eq=False)
class WideFacts:
    """The facts of a relation of three or more arguments, to be looked up."""

    keys: Ints  #: sorted, one for each fact
    levels: Ints
    truths: Floats  #: of the target; NaN elsewhere

    def find(self, keys: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """The place of each key, and whether it is there."""
        place = np.searchsorted(self.keys, keys).clip(max=max(len(self.keys) - 1, 0))
        return place, (self.keys[place] == keys) if len(self.keys) else np.zeros(len(keys), dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class FactGraph:
    """Constants with labels, and pairs of distinct constants with patterns.

    A label is the set of a constant's unary and reflexive facts, of its atoms
    with a given constant, and of the head's places it may stand in. A pattern
    is the set of facts between two constants, in both directions. The cells
    of a row are read off labels and patterns, so rows with equal ones are equal.
    """

    space: RuleSpace
    n: int  #: constants
    labels: Ints  #: [n]
    label_cells: Cells  #: [L, columns]
    label_columns: Mapping[Hashable, int]  #: ("unary", key), ("reflexive", key), atom or ("is", constant)
    label_truth: Floats  #: [L], of target(x) or target(x, x); NaN where it is not stated
    domains: NDArray[np.bool_]  #: [L, head places], where a constant may stand
    starts: Ints  #: [n + 1], the first of each constant's neighbours
    others: Ints  #: [E], the neighbours, in order
    patterns: Ints  #: [E], from 1; 0 is no fact
    pattern_cells: Cells  #: [P, 2 relations], forwards and backwards
    pattern_columns: Mapping[Key, int]  #: of the relation forwards; backwards is the next
    pattern_truth: Floats  #: [P], of target(first, second); NaN where it is not stated
    absent: int  #: the cell of an atom that is neither stated nor denied
    codes: Ints  #: [n], of the constants among the facts
    wide: Mapping[Key, WideFacts] = field(default_factory=dict)
    constant_codes: Mapping[Constant, int] = field(default_factory=dict)  #: of the candidates' constants

    @property
    def target(self) -> Key:
        """Name and arity of the head."""
        return self.space.head.predicate, self.space.head.arity

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return len(self.label_cells)

    @property
    def n_patterns(self) -> int:
        """How many patterns there are, the empty one among them."""
        return len(self.pattern_cells)

    @cached_property
    def label_counts(self) -> Ints:
        """How many constants have each label, [L]."""
        return np.bincount(self.labels, minlength=self.n_labels).astype(np.int64)

    @cached_property
    def firsts(self) -> Ints:
        """The constant at which each pair begins, [E]."""
        return np.repeat(np.arange(self.n), np.diff(self.starts))

    @cached_property
    def pair_keys(self) -> Ints:
        """One sorted number for each pair, [E]."""
        return self.firsts * self.n + self.others

    @cached_property
    def reversed_pattern(self) -> Ints:
        """The same pattern seen from the other side, [P]."""
        place = np.zeros(self.n_patterns, dtype=np.int64)
        place[self.patterns] = np.arange(len(self.patterns))
        back = self.pattern_of(self.others[place[1:]], self.firsts[place[1:]])
        return np.concatenate([[0], back]).astype(np.int64)

    def pattern_of(self, first: Ints, second: Ints) -> Ints:
        """The patterns of any pairs of distinct constants."""
        if not len(self.patterns):
            return np.zeros(len(first), dtype=np.int64)
        keys = first * self.n + second
        place = np.searchsorted(self.pair_keys, keys).clip(max=len(self.patterns) - 1)
        return np.where(self.pair_keys[place] == keys, self.patterns[place], 0)

    def domain(self, place: int) -> Ints:
        """The constants that may stand in a place of the head."""
        return np.flatnonzero(self.domains[self.labels, place])
