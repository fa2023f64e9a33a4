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

    def of_atoms(self, atoms: NDArray[np.intp]) -> BinnedColumn:
        """The same column with some of its atoms, given in ascending order."""
        bin_of = np.searchsorted(atoms, np.arange(self.n_atoms + 1))  # how many of the atoms are below
        if not self.ordered:
            bin_of = np.where(np.isin(np.arange(self.n_atoms + 1), atoms), bin_of, len(atoms))
        bins = np.append(bin_of, -1).astype(np.int16)[self.bins]
        return replace(self, n_atoms=len(atoms), bins=bins)


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

    def of_atoms(self, atoms: NDArray[np.intp]) -> BinnedTable:
        """The same rows with some of the atoms, given in ascending order.

        Examples
        --------
        >>> age = BinnedColumn("age", ordered=True, n_atoms=3, bins=np.array([0, 2, 3, -1], dtype=np.int16))
        >>> BinnedTable((age,)).of_atoms(np.array([1])).columns[0].bins
        array([ 0,  1,  1, -1], dtype=int16)
        """
        parts = np.split(atoms, np.searchsorted(atoms, self.starts[1:-1]))
        kept = (part - start for part, start in zip(parts, self.starts.tolist(), strict=False))
        return BinnedTable(tuple(one.of_atoms(own) for one, own in zip(self.columns, kept, strict=True)))

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
