"""Bodies as codes, [bodies, m], and those that are near them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from andre.arrays import blocks_of, distinct_rows
from andre.limits import check, limited, stage, time_left
from andre.samples import Codes

#: Codes that are made at a time where there is a time limit.
_BLOCK = 1 << 23
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
    """Distinct bodies, and all that have one literal less; where time is short, those of the shortest.

    So too where more than `held` codes would have to be held.

    Examples
    --------
    >>> with_shorter(np.array([[1, 1, 0], [1, 1, 1]], dtype=np.int8), held=6)
    array([[0, 1, 0],
           [1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]], dtype=int8)
    """
    bodies = distinct_bodies(bodies)
    sizes = np.count_nonzero(bodies, axis=1)
    order = np.argsort(sizes, kind="stable")
    order = order[np.cumsum(sizes[order]) * bodies.shape[1] <= held]
    if time_left().left == math.inf:
        return distinct_bodies(np.concatenate([bodies, shorter_bodies(bodies[order])]))
    found = [bodies]
    # To merge the blocks in the end takes as long again as to make them.
    with limited(time_left().share(0.4)), stage("pooling rules"):
        for begin, end in blocks_of(sizes[order] * bodies.shape[1], _BLOCK):
            check()
            found.append(distinct_bodies(shorter_bodies(bodies[order[begin:end]])))
    return distinct_bodies(np.concatenate(found))


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
