"""Cells: truth values as a row keeps them, on even levels."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from andre.grounding.sets import Ints

__all__ = ["LEVELS", "TRUE", "UNKNOWN", "Cells", "Floats", "levels_of", "value_of"]

Cells: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float64]

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
