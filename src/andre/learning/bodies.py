"""Bodies as codes, [bodies, m], and those that are near them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from andre.arrays import distinct_rows
from andre.limits import check
from andre.samples import Codes

#: Codes of shorter bodies, as many as are held: over thousands of atoms runs come to bodies of hundreds.
_HELD = 1 << 27


def distinct_bodies(subrules: Codes) -> Codes:
    """The bodies that are not empty, each once and in a fixed order, [bodies, m].

    Examples
    --------
    >>> distinct_bodies(np.array([[1, 0], [0, 0], [1, 0]], dtype=np.int8))
    array([[1, 0]], dtype=int8)
    """
    flat = subrules.reshape(-1, subrules.shape[-1])
    flat = flat[flat.any(axis=1)]
    return flat[distinct_rows(flat + 1)[0]]  # bytes from 0 sort as numbers do


def most_general(bodies: Codes) -> Codes:
    """The bodies that no other is a part of, [bodies, m]: a longer one says nothing that its part does not.

    Examples
    --------
    >>> most_general(np.array([[1, 0], [1, -1], [0, 1]], dtype=np.int8))
    array([[1, 0],
           [0, 1]], dtype=int8)
    """
    bodies = bodies[np.argsort(np.count_nonzero(bodies, axis=1), kind="stable")]
    kept = bodies[:0]
    for body in bodies:
        if not ((kept == 0) | (kept == body)).all(axis=1).any():
            kept = np.concatenate([kept, body[None]])
    return kept


def shorter_bodies(bodies: Codes) -> Codes:
    """All bodies that one literal less makes of these, [literals, m].

    Examples
    --------
    >>> shorter_bodies(np.array([[1, -1, 0]], dtype=np.int8))
    array([[ 0, -1,  0],
           [ 1,  0,  0]], dtype=int8)
    """
    body, column = np.nonzero(bodies)
    shorter = bodies[body]
    shorter[np.arange(len(body)), column] = 0
    return shorter


def with_shorter(bodies: Codes, held: int = _HELD) -> Codes:
    """Distinct bodies, and all that have one literal less; of those of the shortest, as many as may be held.

    Thousands of bodies have the same shorter ones. So these are told apart by keys, the sum of a random
    number for each literal, before any is written out.

    Examples
    --------
    >>> with_shorter(np.array([[1, 1, 0], [1, 1, 1]], dtype=np.int8), held=6)
    array([[0, 1, 0],
           [1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]], dtype=int8)
    """
    body, column = np.divmod(np.flatnonzero(bodies != 0), bodies.shape[1])  # [literals], body by body
    sizes = np.bincount(body, minlength=len(bodies))
    marks = np.random.default_rng(0).integers(1 << 64, size=(2, bodies.shape[1]), dtype=np.uint64)
    mark = marks[(bodies[body, column] > 0).astype(np.int8), column]
    full = np.flatnonzero(sizes)
    keys = np.zeros(len(bodies), dtype=np.uint64)
    keys[full] = np.add.reduceat(mark, np.cumsum(sizes)[full] - sizes[full]) if len(full) else 0
    check()
    dropped = np.argsort(sizes[body], kind="stable")[:held]
    dropped = dropped[sizes[body[dropped]] > 1]
    both = np.concatenate((keys[full], keys[body[dropped]] - mark[dropped]))
    first = np.unique(both, return_index=True)[1]
    fresh = dropped[np.sort(first[first >= len(full)]) - len(full)][: held // bodies.shape[1]]
    shorter = bodies[body[fresh]]
    shorter[np.arange(len(fresh)), column[fresh]] = 0
    check()
    return distinct_bodies(np.concatenate((bodies[full[first[first < len(full)]]], shorter)))


def literal_bodies(literals: NDArray[np.integer], m: int) -> Codes:
    """Bodies of the given literals, [bodies, m].

    Parameters
    ----------
    literals
        Below m the atoms, from m on their negations, [bodies, literals].

    Examples
    --------
    >>> literal_bodies(np.array([[0, 5], [1, 1]]), m=3)
    array([[ 1,  0, -1],
           [ 0,  1,  0]], dtype=int8)
    """
    codes = np.zeros((len(literals), m), dtype=np.int8)
    np.put_along_axis(codes, literals % m, np.where(literals < m, 1, -1), axis=1)
    return codes
