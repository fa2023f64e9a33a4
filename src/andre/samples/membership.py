"""Membership: which rows each example has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Ints, distinct_keys, number_sets, run_starts, spread
from andre.errors import DataError

__all__ = ["Membership"]


#: Entries that one block of a lifted table may hold.
_BLOCK = 1 << 25
#: Where fewer than one row in so many holds, visiting these is faster than visiting all.
_SPARSE = 8


@dataclass(frozen=True, eq=False)
class Membership:
    """Sets of rows, one after another in a single list: the groundings of each example.

    An example is true where one of its rows is, so what holds of rows is
    lifted to examples by *any*.

    Examples
    --------
    >>> members = Membership(np.array([0, 2, 3]), np.array([0, 2, 1]))
    >>> members.lift(np.array([[False, False, True], [False, True, False]]))
    array([[ True, False],
           [False,  True]])
    """

    starts: Ints  #: [B + 1], where the rows of each example begin
    rows: Ints  #: [E], places of rows

    def __post_init__(self) -> None:
        if (np.diff(self.starts) < 1).any():
            raise DataError("an example without rows can be neither true nor false: leave it out")

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def owners(self) -> Ints:
        """The example of every entry, [E]."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def _by_row(self) -> tuple[Ints, Ints]:
        """Entries row by row: where those of a row begin, and the entries in order."""
        return run_starts(self.rows, 1), np.argsort(self.rows, kind="stable")

    def _entries(self, held: Ints) -> tuple[Ints, Ints]:
        """The entries of these rows: for each its position among the rows, and its place."""
        starts, order = self._by_row
        held = held[held < len(starts) - 1]  # rows after the last that an example has
        which, place = spread(starts, held)
        return which, order[place]

    def lift(self, held: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """From what holds on rows, [..., U], to what holds on examples, [..., B]."""
        flat = held.reshape(-1, held.shape[-1])
        if np.count_nonzero(flat) * _SPARSE < flat.size:
            return self._lift_few(flat).reshape(*held.shape[:-1], len(self))
        step = max(1, _BLOCK // max(1, len(self.rows)))
        found = np.empty((len(flat), len(self)), dtype=np.bool_)
        for at in range(0, len(flat), step):
            np.logical_or.reduceat(
                flat[at : at + step, self.rows], self.starts[:-1], axis=1, out=found[at : at + step]
            )
        return found.reshape(*held.shape[:-1], len(self))

    def _lift_few(self, held: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The same by the rows that hold, [n, U] to [n, B]."""
        found = np.zeros((len(held), len(self)), dtype=np.bool_)
        step = max(1, _BLOCK // max(1, len(self.rows)))
        for at in range(0, len(held), step):
            # Places in one line are found ten times as fast as places in a table.
            which, row = np.divmod(np.flatnonzero(held[at : at + step]), max(1, held.shape[1]))
            again, entry = self._entries(row)
            found[at + which[again], self.owners[entry]] = True
        return found

    def within(self, held: NDArray[np.bool_]) -> tuple[Ints, Membership]:
        """The examples that keep a row where only these rows stand, [U], and the rows they keep."""
        if np.count_nonzero(held) * _SPARSE < len(held):
            kept = np.sort(self._entries(np.flatnonzero(held))[1])
        else:
            kept = np.flatnonzero(held[self.rows])
        owner = self.owners[kept]
        begins = np.flatnonzero(np.diff(owner, prepend=-1))
        return owner[begins], Membership(np.append(begins, len(kept)), self.rows[kept])

    def take(self, examples: Ints) -> Membership:
        """The same rows for some of the examples."""
        _, places = spread(self.starts, examples)
        sizes = np.diff(self.starts)[examples]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Membership(starts, self.rows[places])

    def merged(self, group: Ints, n_rows: int) -> tuple[Membership, Ints]:
        """After rows became equal: distinct sets, and the number of each example's.

        Parameters
        ----------
        group
            The new place of every row, [U].
        n_rows
            How many rows there are now.
        """
        if np.array_equal(group, np.arange(n_rows)) and self._all_differ(n_rows):
            return self, np.arange(len(self))
        owner, rows = np.divmod(distinct_keys(self.owners * n_rows + group[self.rows]), n_rows)
        starts = run_starts(owner, len(self))
        numbers, shown = number_sets(starts, rows, n_rows)
        return Membership(starts, rows).take(shown[1:]), numbers - 1  # number 0 is the empty set

    def _all_differ(self, n_rows: int) -> bool:
        """Whether all sets surely differ: equal ones would have equal sums, whatever number a row has.

        Where two sums are equal by chance, or rows are not in order, nothing is sure.
        """
        inside = np.ones(len(self.rows), dtype=np.bool_)
        inside[self.starts[:-1]] = False  # the first row of a set may be below the last of another
        if (inside[1:] & (np.diff(self.rows) <= 0)).any():
            return False
        draws = np.random.default_rng(0).integers(0, 2**64, n_rows, dtype=np.uint64)
        sums = np.add.reduceat(draws[self.rows], self.starts[:-1])
        return len(distinct_keys(sums.view(np.int64))) == len(self)
