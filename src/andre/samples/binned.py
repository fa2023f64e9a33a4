"""Columns as bins: many candidate atoms of one column, held as one small number per row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools
from andre.errors import DataError
from andre.samples.space import Codes


@dataclass(frozen=True, eq=False)
class BinnedColumn:
    """One column as bins, and the consecutive candidate atoms made from it.

    Examples
    --------
    >>> age = BinnedColumn("age", ordered=True, n_atoms=2, bins=np.array([0, 2, -1], dtype=np.int16))
    >>> age.holds(0), age.holds(0, negated=True)
    (array([False,  True, False]), array([ True, False, False]))
    """

    name: str
    ordered: bool  #: atom j holds if bin > j (a threshold), else if bin == j (a level)
    n_atoms: int  #: bins are 0..n_atoms; unordered, the last one is any level without an atom
    bins: NDArray[np.int16]  #: [rows]; -1 is unknown: neither an atom nor its negation holds

    def holds(self, atom: int, *, negated: bool = False) -> Bools:
        """On which rows an atom of this column, counted from 0, or its negation holds, [rows]."""
        own = self.bins > atom if self.ordered else self.bins == atom
        return np.asarray(~own & (self.bins >= 0) if negated else own)

    def only(self, cuts: NDArray[np.intp]) -> BinnedColumn:
        """An ordered column with some of its atoms, in ascending order."""
        bins = np.append(np.searchsorted(cuts, np.arange(self.n_atoms + 1)), -1).astype(np.int16)
        return replace(self, n_atoms=len(cuts), bins=bins[self.bins])


@dataclass(frozen=True, eq=False)
class BinnedTable:
    """Columns as bins; their atoms, column by column, are those of a rule space.

    Examples
    --------
    >>> age = BinnedColumn("age", ordered=True, n_atoms=2, bins=np.array([0, 2, -1], dtype=np.int16))
    >>> color = BinnedColumn("color", ordered=False, n_atoms=1, bins=np.array([0, 1, 0], dtype=np.int16))
    >>> table = BinnedTable((age, color))
    >>> table.literals().astype(int)
    array([[0, 0, 1, 1, 1, 0],
           [1, 1, 0, 0, 0, 1],
           [0, 0, 1, 0, 0, 0]])
    >>> table.covers(np.array([[-1, 0, 1]], dtype=np.int8))
    array([[ True, False, False]])
    """

    columns: tuple[BinnedColumn, ...]

    def __post_init__(self) -> None:
        if len({len(column.bins) for column in self.columns}) > 1:
            raise DataError("the columns have different numbers of rows")

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0].bins) if self.columns else 0

    @property
    def m(self) -> int:
        """The number of atoms."""
        return int(self.starts[-1])

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Where the atoms of each column begin, and where the last ones end, [columns + 1]."""
        return np.cumsum([0, *(column.n_atoms for column in self.columns)]).astype(np.intp)

    @cached_property
    def column_of(self) -> NDArray[np.intp]:
        """The column of every atom, [m]."""
        return np.repeat(np.arange(len(self.columns)), np.diff(self.starts))

    def literals(self) -> Bools:
        """Which literals hold on which rows, [rows, 2m]: atoms first, then their negations."""
        both = [
            [column.holds(atom, negated=negated) for column in self.columns for atom in range(column.n_atoms)]
            for negated in (False, True)
        ]
        return np.array(both, dtype=np.bool_).reshape(2 * self.m, self.n_rows).T

    def take(self, rows: NDArray[Any]) -> BinnedTable:
        """Some of the rows, by index or as a mask."""
        return BinnedTable(tuple(replace(column, bins=column.bins[rows]) for column in self.columns))

    def only(self, atoms: NDArray[np.intp]) -> BinnedTable:
        """The table with some of the atoms of its ordered columns, and all of the others.

        Parameters
        ----------
        atoms
            Which ones, in ascending order.

        Examples
        --------
        >>> bins = np.array([0, 1, 2, 3, -1], dtype=np.int16)
        >>> BinnedTable((BinnedColumn("age", True, 3, bins),)).only(np.array([1])).columns[0].bins
        array([ 0,  0,  1,  1, -1], dtype=int16)
        """
        places = np.searchsorted(atoms, self.starts).tolist()
        return BinnedTable(
            tuple(
                column.only(atoms[first:last] - start) if column.ordered else column
                for column, start, first, last in zip(
                    self.columns, self.starts.tolist(), places, places[1:], strict=False
                )
            )
        )

    def telling(self, classes: NDArray[np.intp]) -> NDArray[np.intp]:
        """The atoms that may tell classes apart: all but cuts with rows of one and the same class around.

        Where a run of rows, in the order of a column, is of one class, a cut at an end of it tells at
        least as much as one within (Fayyad and Irani, 1993). Of cuts between which there is no row,
        the one in the middle is taken.

        Parameters
        ----------
        classes
            Of every row, from 0.

        Examples
        --------
        >>> age = BinnedColumn("age", True, 3, np.array([0, 1, 2, 3], dtype=np.int16))
        >>> BinnedTable((age,)).telling(np.array([0, 0, 1, 1]))
        array([1])
        """
        n = int(classes.max(initial=0)) + 1
        found = [np.zeros(0, dtype=np.intp)]
        for column, start in zip(self.columns, self.starts.tolist(), strict=False):
            if not column.ordered:
                found.append(np.arange(start, start + column.n_atoms))
                continue
            known = column.bins >= 0
            counts = np.bincount(column.bins[known] * n + classes[known], minlength=n * (column.n_atoms + 1))
            counts = counts.reshape(-1, n)  # [bins, classes]
            full = np.flatnonzero(counts.any(axis=1))
            of_one = np.where((counts[full] > 0).sum(axis=1) == 1, counts[full].argmax(axis=1), -1)
            ends = (of_one[1:] != of_one[:-1]) | (of_one[1:] < 0)
            found.append(start + (full[:-1][ends] + full[1:][ends] - 1) // 2)
        return np.concatenate(found)

    def cover(self, literals: Iterable[tuple[int, int]]) -> Bools:
        """On which rows a body holds, [rows], given as pairs of an atom and its sign."""
        held = np.ones(self.n_rows, dtype=np.bool_)
        for atom, sign in literals:
            place = int(self.column_of[atom])
            held &= self.columns[place].holds(int(atom - self.starts[place]), negated=sign < 0)
        return held

    def covers(self, codes: Codes) -> Bools:
        """Which rows satisfy which bodies, [rules, rows]."""
        found = np.empty((len(codes), self.n_rows), dtype=np.bool_)
        for place, code in enumerate(codes):
            found[place] = self.cover((int(atom), int(code[atom])) for atom in np.flatnonzero(code))
        return found
