"""Drawing examples at random from counts, however large."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["draw_cells", "draw_marked"]

#: NumPy's own draw takes no larger numbers.
_NUMPY_LIMIT = 10**9
#: From this spread on the law is as good as normal: its skewness is below one in this number.
_NORMAL = 1e5


def draw_cells(cells: NDArray[Any], share: float, rng: np.random.Generator) -> NDArray[Any]:
    """Draw a share of all examples without putting any back: how many come from each cell.

    The law is multivariate hypergeometric; cells are drawn one after another.

    Examples
    --------
    >>> cells = np.array([4, 0, 6])
    >>> drawn = draw_cells(cells, 0.5, np.random.default_rng(0))
    >>> int(drawn.sum()), bool((drawn <= cells).all())
    (5, True)
    """
    left = int(cells.sum())
    wanted = round(share * left)
    drawn = np.zeros_like(cells)
    for place, size in enumerate(map(int, cells)):
        drawn[place] = draw_marked(size, left - size, wanted, rng)
        wanted -= int(drawn[place])
        left -= size
    return drawn


def draw_marked(marked: int, others: int, wanted: int, rng: np.random.Generator) -> int:
    """How many marked ones are among those drawn without putting any back (hypergeometric).

    Examples
    --------
    >>> draw_marked(10**13, 0, 7, np.random.default_rng(0))
    7
    """
    total = marked + others
    low, high = max(0, wanted - others), min(marked, wanted)
    if low == high:
        return low
    if total < _NUMPY_LIMIT:
        return int(rng.hypergeometric(marked, others, wanted))
    mean = wanted * (marked / total)
    spread = math.sqrt(mean * (others / total) * ((total - wanted) / (total - 1)))
    if spread > _NORMAL:
        return min(high, max(low, round(rng.normal(mean, spread))))
    # Weights relative to the mode, by the ratio of neighbours: no factorial is ever computed.
    begin, end = max(low, math.floor(mean - 12 * spread) - 12), min(high, math.ceil(mean + 12 * spread) + 12)
    values = np.arange(begin, end, dtype=np.float64)
    with np.errstate(divide="ignore"):
        steps = (
            np.log(marked - values)
            + np.log(wanted - values)
            - np.log(values + 1)
            - np.log(float(others - wanted + 1) + values)
        )
    heights = np.concatenate([[0.0], np.cumsum(steps)])
    chances = np.exp(heights - heights.max())
    place = np.searchsorted(np.cumsum(chances), rng.random() * chances.sum())
    return begin + int(min(place, len(chances) - 1))
