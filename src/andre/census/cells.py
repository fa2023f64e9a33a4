"""Cells: the truth values of atoms as the rows of a census keep them, one byte each."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats, Ints
from andre.samples import LARGE, Valuations

#: Truth values as a row keeps them: the number of a level, HALF or UNKNOWN.
Cells: TypeAlias = NDArray[np.uint8]
#: How many evenly spaced levels probabilities are rounded to, as the network does.
LEVELS = 64
#: The cell of an atom that is certain.
TRUE = LEVELS - 1
#: The cell of an atom at exactly one half, between two levels: neither it nor its negation holds.
HALF = LEVELS
#: Cells from 0 to HALF.
STATED = HALF + 1
#: The cell of an atom that is neither true nor false.
UNKNOWN = 255
#: The truth value of each cell: one look-up is far faster than arithmetic on millions of cells.
_VALUES: Floats = np.append(np.arange(UNKNOWN) / (LEVELS - 1), np.nan)
_VALUES[HALF] = 0.5
_HALF_PRECISION = _VALUES.astype(np.float16)


def levels_of(probability: Floats) -> Ints:
    """The nearest level of each probability on its side of one half; HALF for one half itself.

    Examples
    --------
    >>> levels_of(np.array([0.0, 0.49, 0.5, 0.51, 1.0])).tolist()
    [0, 31, 64, 32, 63]
    """
    nearest = np.ceil(probability * (LEVELS - 1) - 0.5).clip(0).astype(np.int64)
    return np.where(probability == 0.5, HALF, nearest)


def value_of(cells: Cells) -> Valuations:
    """The truth values that cells stand for; NaN is unknown.

    In a large table without fractions each takes two bytes.

    Examples
    --------
    >>> value_of(np.array([0, TRUE, UNKNOWN], dtype=np.uint8))
    array([ 0.,  1., nan])
    """
    certain = cells == TRUE
    stated = np.count_nonzero(certain)
    if cells.size >= LARGE and stated + np.count_nonzero(cells == UNKNOWN) == np.count_nonzero(cells):
        return _HALF_PRECISION[cells]
    is_crisp = stated == np.count_nonzero(cells)  # then it takes half the time
    values: Floats = certain.astype(np.float64) if is_crisp else _VALUES[cells]
    return values
