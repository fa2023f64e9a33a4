"""Bodies that say the same more plainly: that a column has a level, not that it lacks the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools
from andre.samples import BinnedTable, Codes


def plainer(codes: Codes, table: BinnedTable) -> Codes:
    """A program that covers the same rows, with levels in place of negated levels where that is possible.

    In one body after another, what it denies of a column becomes what it says
    of it, `color = red` for `color \\= green, color \\= blue`, as long as the program
    as a whole covers the rows that it covered. No body gets longer.

    Parameters
    ----------
    codes
        A program, [rules, m].
    table
        The rows that it is to cover as before.

    Examples
    --------
    >>> from andre.samples import BinnedColumn
    >>> color = BinnedColumn("color", False, 3, np.array([0, 1, 2, 0], dtype=np.int16))
    >>> plainer(np.array([[0, -1, -1]], dtype=np.int8), BinnedTable((color,)))
    array([[1, 0, 0]], dtype=int8)
    """
    codes = codes.copy()
    covers = table.covers(codes)  # [rules, rows]
    known: Bools = np.asarray(covers.any(axis=0))
    for rule, code in enumerate(codes):
        others = np.delete(covers, rule, axis=0).any(axis=0)
        for place, column in enumerate(table.columns):
            atoms = slice(table.starts[place], table.starts[place + 1])
            if column.ordered or not (code[atoms] < 0).any():
                continue
            for tried in _with_level(code, atoms):
                cover = table.covers(tried[None])[0]
                if np.array_equal(cover | others, known):
                    code[:], covers[rule] = tried, cover  # a view of the program
                    break
    return codes


def _with_level(code: NDArray[np.int8], atoms: slice) -> list[NDArray[np.int8]]:
    """The body with each level in turn for all that it says of a column."""
    found = []
    for atom in range(atoms.start, atoms.stop):
        tried = code.copy()
        tried[atoms] = 0
        tried[atom] = 1
        found.append(tried)
    return found
