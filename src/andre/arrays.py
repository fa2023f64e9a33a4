"""Types of arrays, and equal keys, rows and sets given equal numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Bools",
    "Counts",
    "Floats",
    "Ints",
    "blocks_of",
    "distinct_keys",
    "distinct_rows",
    "number_keys",
    "number_rows",
    "number_sets",
    "run_starts",
    "spread",
]


Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
#: Exact numbers of groundings: 64-bit, or Python's own integers where these would not do.
Counts: TypeAlias = NDArray[Any]

#: A table of this many entries is cheaper than sorting, whatever the number of keys.
_SMALL_TABLE = 1 << 20
_INT64 = 2**63 - 1


def distinct_keys(keys: Ints) -> Ints:
    """The distinct keys, in order: by sorting, which at millions of keys is far faster than a hash table.

    Examples
    --------
    >>> distinct_keys(np.array([7, 3, 7])).tolist()
    [3, 7]
    """
    ordered = np.sort(keys)
    fresh = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return ordered[fresh]


def distinct_rows(table: NDArray[Any]) -> tuple[Ints, Ints]:
    """Number equal rows by their bytes: where each distinct one stands first, and the number of every row.

    For rows of many small columns, which `number_rows` would go through one by one.

    Examples
    --------
    >>> first, number = distinct_rows(np.array([[1, 0, 1], [0, 0, 1], [1, 0, 1]], dtype=np.int8))
    >>> first.tolist(), number.tolist()
    ([1, 0], [1, 0, 1])
    """
    if not table.shape[1]:
        return np.zeros(min(1, len(table)), dtype=np.int64), np.zeros(len(table), dtype=np.int64)
    rows = np.ascontiguousarray(table)
    keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return first.astype(np.int64), number.ravel().astype(np.int64)


def number_keys(keys: Ints, top: int) -> tuple[Ints, Ints]:
    """Number keys below `top` from 0 in their order: the distinct ones, and the number of each.

    Examples
    --------
    >>> [array.tolist() for array in number_keys(np.array([7, 3, 7]), 8)]
    [[3, 7], [1, 0, 1]]
    """
    if top <= max(_SMALL_TABLE, 2 * len(keys)):  # a pass over a table beats a sort
        table = np.zeros(top, dtype=np.int64)
        table[keys] = 1
        distinct = np.flatnonzero(table)
        table[distinct] = np.arange(len(distinct))
        return distinct, table[keys]
    distinct, numbers = np.unique(keys, return_inverse=True)
    return distinct, numbers.ravel()


def number_rows(columns: list[Ints]) -> tuple[Ints, Ints]:
    """Number equal rows: where each distinct one stands first, and the number of every row.

    Rows are given by their columns, which hold no negative numbers. Numbers
    follow the order of rows.

    Examples
    --------
    >>> columns = [np.array([1, 0, 1]), np.array([5, 9, 5])]
    >>> [array.tolist() for array in number_rows(columns)]
    [[1, 0], [1, 0, 1]]
    """
    numbers: Ints = np.zeros(len(columns[0]), dtype=np.int64)
    top = 1  # numbers are below it
    for column in columns:
        width = int(column.max(initial=0)) + 1
        if top * width > _INT64:
            distinct, numbers = number_keys(numbers, top)
            top = len(distinct)
        numbers = numbers * width + column
        top *= width
    distinct, numbers = number_keys(numbers, top)
    first = np.empty(len(distinct), dtype=np.int64)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]  # the earliest place is written last
    return first, numbers


def number_sets(starts: Ints, elements: Ints, top: int) -> tuple[Ints, Ints]:
    """Number sets, so that equal sets have equal numbers; the empty set is 0.

    Place by place a set's number and its next element make a new number: sets
    are told apart by their elements, not by a hash that might collide.

    Parameters
    ----------
    starts
        [G + 1], where the elements of each set begin; they are in order and distinct.
    elements
        The elements of all sets, below `top`.

    Returns
    -------
    tuple
        The number of each set, [G], and for each number one set that has it;
        -1 where that is the empty set and none is empty.

    Examples
    --------
    >>> numbers, shown = number_sets(np.array([0, 2, 2, 4, 5]), np.array([3, 5, 3, 5, 3]), 6)
    >>> numbers.tolist(), shown.tolist()
    ([2, 0, 2, 1], [1, 3, 2])
    """
    sizes = np.diff(starts)
    numbers = np.zeros(len(sizes), dtype=np.int64)
    empty = np.flatnonzero(sizes == 0)
    shown = [np.array([empty[0] if len(empty) else -1])]
    active, state = np.flatnonzero(sizes > 0), np.zeros(np.count_nonzero(sizes), dtype=np.int64)
    known, place, n_states = 1, 0, 1
    while len(active):
        keys, state = number_keys(state * top + elements[starts[active] + place], n_states * top)
        n_states, place = len(keys), place + 1
        done = sizes[active] == place
        ended, number = number_keys(state[done], n_states)
        numbers[active[done]] = number + known
        example = np.empty(len(ended), dtype=np.int64)
        example[number] = active[done]
        shown.append(example)
        known += len(ended)
        active, state = active[~done], state[~done]
    return numbers, np.concatenate(shown)


def run_starts(numbers: Ints, count: int) -> Ints:
    """Where each of `count` runs of equal numbers begins in a sorted array, and where the last ends.

    Examples
    --------
    >>> run_starts(np.array([0, 0, 2]), 3).tolist()
    [0, 2, 2, 3]
    """
    return np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=count))]).astype(np.int64)


def spread(starts: Ints, chosen: NDArray[Any]) -> tuple[Ints, Ints]:
    """All entries of the chosen runs: for each its position among the chosen, and its place.

    Examples
    --------
    >>> owner, place = spread(np.array([0, 2, 2, 5]), np.array([2, 0]))
    >>> owner.tolist(), place.tolist()
    ([0, 0, 0, 1, 1], [2, 3, 4, 0, 1])
    """
    sizes = starts[chosen + 1] - starts[chosen]
    owner = np.repeat(np.arange(len(chosen)), sizes)
    before = np.cumsum(sizes) - sizes
    return owner, np.arange(len(owner)) - before[owner] + starts[chosen][owner]


def blocks_of(sizes: Ints, limit: int) -> Iterator[tuple[int, int]]:
    """Cut a list into runs whose sizes together stay within a limit, or are of one item.

    Examples
    --------
    >>> list(blocks_of(np.array([2, 2, 9, 1]), 4))
    [(0, 2), (2, 3), (3, 4)]
    """
    ends = np.cumsum(sizes)
    begin = 0
    while begin < len(sizes):
        done = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + limit, side="right")))
        yield begin, end
        begin = end
