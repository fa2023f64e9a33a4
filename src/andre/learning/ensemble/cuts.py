"""Cuts that move: of a number's many cuts each rule gets the one that describes the labels shortest."""

from __future__ import annotations

import numpy as np

from andre.arrays import Bools, Floats
from andre.evaluation import description_length
from andre.limits import check
from andre.samples import BinnedTable, Codes

#: Gains of less than this are rounding.
_LITTLE = 1e-9


def with_moved_cuts(codes: Codes, table: BinnedTable, labels: Floats) -> Codes:
    """The program with the cuts of its comparisons moved, as long as that shortens its description.

    Gradient descent sees few cuts of a number. Here every comparison of every rule
    is tried with all of them, one comparison after another, by histograms: what a
    rule covers in each bin of the column tells what it covers with each cut.

    Parameters
    ----------
    codes
        A program, [rules, m].
    table
        The rows.
    labels
        The weights of the positives and negatives among them, [2, rows].

    Examples
    --------
    >>> from andre.samples import BinnedColumn
    >>> age = BinnedColumn("age", True, 5, np.arange(6).repeat(9).astype(np.int16))
    >>> labels = np.stack((age.bins > 3, age.bins <= 3)).astype(float)
    >>> with_moved_cuts(np.array([[0, 1, 0, 0, 0]], dtype=np.int8), BinnedTable((age,)), labels)
    array([[0, 0, 0, 1, 0]], dtype=int8)
    """
    codes, moving = codes.copy(), True
    covers = table.covers(codes)  # [rules, rows]
    while moving:
        moving = False
        for rule in range(len(codes)):
            others: Bools = np.asarray(np.delete(covers, rule, axis=0).any(axis=0))
            for atom in np.flatnonzero(codes[rule]).tolist():
                check()
                moved = _moved(codes, rule, atom, table, labels, others)
                if moved != atom:
                    sign = codes[rule, atom]
                    codes[rule, atom], codes[rule, moved] = 0, sign
                    covers[rule], moving = table.covers(codes[rule : rule + 1])[0], True
    return codes


def _moved(codes: Codes, rule: int, atom: int, table: BinnedTable, labels: Floats, others: Bools) -> int:
    """The atom of the same column that is best in place of one, given what all other rules cover."""
    place = int(table.column_of[atom])
    column, start = table.columns[place], int(table.starts[place])
    if not column.ordered or column.n_atoms < 2:
        return atom
    rest = codes[rule].copy()
    negated, rest[atom] = rest[atom] < 0, 0
    free = table.covers(rest[None])[0] & (column.bins >= 0)
    fresh = np.flatnonzero(free & ~others)
    counts = np.stack(
        [np.bincount(column.bins[fresh], weight[fresh], column.n_atoms + 1) for weight in labels]
    )  # [2, bins]
    below = np.cumsum(counts, axis=1)[:, :-1]  # what lies at or below each cut, [2, n_atoms]
    gained = below if negated else counts.sum(axis=1, keepdims=True) - below
    covered = (labels @ others)[:, None] + gained
    size = int(np.count_nonzero(codes))
    lengths = description_length(covered.T, labels.sum(axis=1), size, len(codes), m=table.m)  # [n_atoms]
    own = atom - start
    said = np.flatnonzero(rest[start : start + column.n_atoms])
    lengths[said] = np.inf  # another comparison of this column stands there
    best = int(lengths.argmin())
    return start + best if lengths[best] < lengths[own] - _LITTLE else atom
