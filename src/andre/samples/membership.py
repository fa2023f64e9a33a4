"""Which rows each example has, in CSR form, with examples as rows and valuation rows as entries."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from andre.arrays import Bools, Ints, csr_entries, csr_starts, distinct_keys, number_sets
from andre.errors import DataError

#: If fewer than one row in eight holds, visiting only those is faster than visiting all.
_SPARSE = 8


@dataclass(frozen=True, eq=False)
class Membership:
    """The set of rows of each example, for a head atom the distinct rows of its groundings.

    A body covers an example if it covers at least one of its rows.

    Examples
    --------
    >>> members = Membership(np.array([0, 2, 3]), np.array([0, 2, 1]))
    >>> members.lift(np.array([[False, False, True], [False, True, False]]))
    array([[ True, False],
           [False,  True]])
    """

    starts: Ints  #: [B + 1], where the rows of each example begin
    rows: Ints  #: [E], indices of rows

    def __post_init__(self) -> None:
        if (np.diff(self.starts) < 1).any():
            raise DataError("an example without rows can be neither true nor false: leave it out")

    @classmethod
    def distinct(cls, owners: Ints, rows: Ints, n_examples: int, n_rows: int) -> tuple[Membership, Ints]:
        """The distinct sets of rows, given one owner (example) per row in any order.

        Returns
        -------
        tuple
            The distinct sets, and for each example the number of its set.
        """
        owners, rows = np.divmod(distinct_keys(owners * n_rows + rows), n_rows)
        starts = csr_starts(owners, n_examples)
        numbers, shown = number_sets(starts, rows, n_rows)
        return cls(starts, rows).take(shown[1:]), numbers - 1  # number 0 is the empty set

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def owners(self) -> Ints:
        """The example of every entry, [E]."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def _by_row(self) -> tuple[Ints, Ints]:
        """The transpose: where the entries of each row begin, and the entries ordered by row."""
        return csr_starts(self.rows, 1), np.argsort(self.rows, kind="stable")

    def _entries(self, held: Ints) -> tuple[Ints, Ints]:
        """All entries with one of these rows: the index into `held` of the row, and that of the entry."""
        starts, order = self._by_row
        held = held[held < len(starts) - 1]  # no example has a later row
        which, place = csr_entries(starts, held)
        return which, order[place]

    def lift(self, held: Bools, block: int = 1 << 25) -> Bools:
        """Which examples are covered, [..., B], given which rows are, [..., U]; `block` entries at a time."""
        flat = held.reshape(-1, held.shape[-1])
        sparse = np.count_nonzero(flat) * _SPARSE < flat.size
        found = np.zeros((len(flat), len(self)), dtype=np.bool_)
        step = max(1, block // max(1, len(self.rows)))
        for at in range(0, len(flat), step):
            part = flat[at : at + step]
            if sparse:
                # Flat indices are found ten times as fast as those of a table.
                which, row = np.divmod(np.flatnonzero(part), max(1, flat.shape[1]))
                again, entry = self._entries(row)
                found[at + which[again], self.owners[entry]] = True
            else:
                np.logical_or.reduceat(
                    part[:, self.rows], self.starts[:-1], axis=1, out=found[at : at + step]
                )
        return found.reshape(*held.shape[:-1], len(self))

    def runs(self, most: int) -> list[slice]:
        """All examples in order, divided into slices with at most so many rows, or a single example.

        Examples
        --------
        >>> Membership(np.array([0, 2, 3, 8]), np.arange(8)).runs(3)
        [slice(0, 2, None), slice(2, 3, None)]
        """
        found, first = [], 0
        while first < len(self):
            fits = int(np.searchsorted(self.starts, self.starts[first] + most, side="right")) - 1
            found.append(slice(first, max(fits, first + 1)))
            first = found[-1].stop
        return found

    def within(self, held: Bools) -> tuple[Ints, Membership]:
        """The examples that have at least one of the rows `held`, [U], with only those of their rows."""
        if np.count_nonzero(held) * _SPARSE < len(held):
            kept = np.sort(self._entries(np.flatnonzero(held))[1])
        else:
            kept = np.flatnonzero(held[self.rows])
        owner = self.owners[kept]
        begins = np.flatnonzero(np.diff(owner, prepend=-1))
        return owner[begins], Membership(np.append(begins, len(kept)), self.rows[kept])

    def take(self, examples: Ints) -> Membership:
        """These examples, in this order, with their rows."""
        which, entries = csr_entries(self.starts, examples)
        return Membership(csr_starts(which, len(examples)), self.rows[entries])

    def merged(self, group: Ints, n_rows: int) -> tuple[Membership, Ints]:
        """Merge the examples whose sets become equal when equal rows are merged.

        Parameters
        ----------
        group
            The new index of every row, [U].
        n_rows
            How many rows there are after merging.

        Returns
        -------
        tuple
            As of `distinct`.
        """
        if np.array_equal(group, np.arange(n_rows)) and self._all_differ(n_rows):
            return self, np.arange(len(self))
        return self.distinct(self.owners, group[self.rows], len(self), n_rows)

    def _all_differ(self, n_rows: int) -> bool:
        """Whether all sets certainly differ: equal sets have equal sums of random numbers given to rows.

        False where two sums are equal, by chance or not, or where rows are not in order.
        """
        inside = np.ones(len(self.rows), dtype=np.bool_)
        inside[self.starts[:-1]] = False  # the first row of a set may be below the last of the one before
        if (inside[1:] & (np.diff(self.rows) <= 0)).any():
            return False
        draws = np.random.default_rng(0).integers(0, 2**64, n_rows, dtype=np.uint64)
        sums = np.add.reduceat(draws[self.rows], self.starts[:-1])
        return len(distinct_keys(sums.view(np.int64))) == len(self)
