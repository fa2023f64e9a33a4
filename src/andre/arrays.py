"""Array types, factorization of integer keys, rows and sets, CSR rows, blocks and rounded cut-points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise, repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
#: Exact counts: 64-bit integers, or Python's own where 64 bits are too few.
Counts: TypeAlias = NDArray[Any]

#: Up to this many entries, a look-up table is cheaper than sorting, whatever the number of keys.
_SMALL_TABLE = 1 << 20
#: Up to this many entries per key, a Boolean table is cheaper than sorting.
_SPARSE_TABLE = 32
_INT64 = 2**63 - 1
#: From this many keys on, a hash table of bits pays, which excludes most unknown keys before the search.
_MANY_KEYS = 1_000
#: 2^64 divided by the golden ratio; its multiples are spread evenly.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
#: Sets with more elements than this on average are numbered one by one.
_LONG_SETS = 64


def distinct_keys(keys: NDArray[Any], top: int | None = None) -> NDArray[Any]:
    """The distinct keys in ascending order; sorting beats a hash table at millions of keys.

    Parameters
    ----------
    top
        An upper bound (exclusive) of the keys, if known; then no key may be negative.

    Examples
    --------
    >>> distinct_keys(np.array([7, 3, 7])).tolist(), distinct_keys(np.array([7, 3, 7]), 8).tolist()
    ([3, 7], [3, 7])
    """
    if top is not None and top <= _SPARSE_TABLE * len(keys):  # a pass over a table beats a sort
        taken = np.zeros(top, dtype=np.bool_)
        taken[keys] = True
        return np.flatnonzero(taken)
    ordered = np.sort(keys)
    fresh = np.ones(len(ordered), dtype=np.bool_)
    fresh[1:] = ordered[1:] != ordered[:-1]
    return ordered[fresh]


def distinct_rows(table: NDArray[Any]) -> tuple[Ints, Ints]:
    """Factorize the rows of a table by their bytes.

    Returns
    -------
    tuple
        The index of the first occurrence of each distinct row, in the sorted
        order of rows, and the number of every row in that order.

    Examples
    --------
    >>> [array.tolist() for array in distinct_rows(np.array([[1, 5], [0, 9], [1, 5]]))]
    [[1, 0], [1, 0, 1]]
    """
    rows = np.ascontiguousarray(table)
    if not rows.shape[1]:
        return np.zeros(min(1, len(rows)), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    # One opaque key per row sorts far faster than np.unique(axis=0), and a number made of the first bytes
    # of the row faster still; only rows that share these bytes need the whole key.
    keys = rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).ravel()
    lead = _leading(rows.view(np.uint8))
    order = np.argsort(lead, kind="stable")
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = np.diff(lead[order]) != 0
    tied = ~fresh
    tied[:-1] |= ~fresh[1:]
    some = order[tied]  # the rows whose first bytes another row has, too
    some = some[np.argsort(keys[some], kind="stable")]
    order[tied] = some
    same = np.flatnonzero(~fresh)
    fresh[same] = keys[order[same]] != keys[order[same - 1]]
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(fresh) - 1
    return order[fresh], number


def _leading(table: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The first eight bytes of every row as one number, which sorts as they do."""
    some = np.zeros((len(table), 8), dtype=np.uint8)
    some[:, : table.shape[1]] = table[:, :8]
    return some.view(">u8").ravel().astype(np.uint64)


def number_keys(keys: Ints, top: int) -> tuple[Ints, Ints]:
    """Factorize keys below `top`: the distinct keys in order, and the number of every key.

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


def row_keys(rows: NDArray[Any], n_values: int) -> Ints:
    """One integer per row of numbers below `n_values`; equal rows have equal keys, and only these.

    Keys of different arrays can be compared as long as `n_values` to the power of the
    number of columns fits into 64 bits; otherwise only keys of one array.

    Examples
    --------
    >>> row_keys(np.array([[0, 1], [1, 0], [0, 1]]), 2).tolist()
    [1, 2, 1]
    """
    return _pack(np.zeros(len(rows), dtype=np.int64), rows.T, repeat(n_values))[0]


def is_among(rows: NDArray[Any], known: NDArray[Any], n_values: int) -> Bools:
    """Which rows of numbers below `n_values` are among the known ones.

    Examples
    --------
    >>> is_among(np.array([[0, 1], [1, 1]]), np.array([[1, 1], [2, 0]]), 3)
    array([False,  True])
    """
    keys = row_keys(np.concatenate([known, rows]), n_values)
    return np.isin(keys[len(known) :], keys[: len(known)])


def among(keys: NDArray[Any], known: NDArray[Any]) -> Bools:
    """Which keys are among the known ones, which are in ascending order.

    Examples
    --------
    >>> among(np.array([5, 1]), np.array([1, 2, 4]))
    array([False,  True])
    """
    if not (len(known) and len(keys)):  # an empty array may have any type
        return np.zeros(len(keys), dtype=np.bool_)
    if len(keys) < _MANY_KEYS or keys.dtype != known.dtype or keys.dtype != np.int64:
        place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        return np.asarray(known[place] == keys)
    # A few bits of a hash exclude most unknown keys; only the others are searched for.
    bits = min(24, max(12, len(known).bit_length() + 4))
    taken = np.zeros(1 << bits, dtype=np.bool_)
    taken[_mixed(known, bits)] = True
    found = taken[_mixed(keys, bits)]
    maybe = np.flatnonzero(found)
    place = np.minimum(np.searchsorted(known, keys[maybe]), len(known) - 1)
    found[maybe] = known[place] == keys[maybe]
    return found


def _mixed(keys: Ints, bits: int) -> NDArray[np.uint64]:
    """A hash of every key with so many bits (Fibonacci hashing)."""
    return (keys.view(np.uint64) * _GOLDEN) >> np.uint64(64 - bits)


def _pack(keys: Ints, columns: Iterable[NDArray[Any]], widths: Iterable[int]) -> tuple[Ints, int]:
    """Keys whose digits are the columns, in the bases `widths`, and an exclusive upper bound of them.

    If the digits would not fit into 64 bits, the keys so far are renumbered first.
    """
    top = 1  # keys are below it
    for column, width in zip(columns, widths, strict=False):
        if top * width > _INT64:
            distinct, keys = number_keys(keys, top)
            top = len(distinct)
        keys = keys * width + column
        top *= width
    return keys, top


def number_rows(columns: list[Ints]) -> tuple[Ints, Ints]:
    """Factorize rows given by columns of non-negative integers.

    Returns
    -------
    tuple
        The index of the first occurrence of each distinct row, in the order of
        rows, and the number of every row in that order.

    Examples
    --------
    >>> columns = [np.array([1, 0, 1]), np.array([5, 9, 5])]
    >>> [array.tolist() for array in number_rows(columns)]
    [[1, 0], [1, 0, 1]]
    """
    widths = (int(column.max(initial=0)) + 1 for column in columns)
    keys, top = _pack(np.zeros(len(columns[0]), dtype=np.int64), columns, widths)
    distinct, numbers = number_keys(keys, top)
    first = np.empty(len(distinct), dtype=np.int64)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]  # written backwards, so the earliest index remains
    return first, numbers


def number_sets(starts: Ints, elements: Ints, top: int) -> tuple[Ints, Ints]:
    """Factorize sets of integers: equal sets get equal numbers, and the empty set gets 0.

    Sets are processed element by element: the number of the set so far and its next
    element determine a new number. So the result is exact, unlike a hash.

    Parameters
    ----------
    starts
        Where the elements of each set begin, [G + 1].
    elements
        The elements of all sets, below `top`, ascending and distinct within a set.

    Returns
    -------
    tuple
        The number of each set, [G], and for each number the index of a set that
        has it; -1 for the empty set if no set is empty.

    Examples
    --------
    >>> numbers, shown = number_sets(np.array([0, 2, 2, 4, 5]), np.array([3, 5, 3, 5, 3]), 6)
    >>> numbers.tolist(), shown.tolist()
    ([2, 0, 2, 1], [1, 3, 2])
    """
    sizes = np.diff(starts)
    if len(sizes) * _LONG_SETS < len(elements):
        return _number_long_sets(starts, elements)
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


def _number_long_sets(starts: Ints, elements: Ints) -> tuple[Ints, Ints]:
    """`number_sets` one set at a time: for long sets faster than a pass over all sets for each element."""
    ordered = elements.astype(">i8")  # big-endian, so that sets of one size sort by their bytes
    sets = [ordered[begin:end].tobytes() for begin, end in pairwise(starts)]
    last = {b"": -1} | {one: place for place, one in enumerate(sets)}
    number = {one: place for place, one in enumerate(sorted(last, key=lambda one: (len(one), one)))}
    shown = sorted(last, key=number.__getitem__)
    return (
        np.array([number[one] for one in sets], dtype=np.int64),
        np.array([last[one] for one in shown], dtype=np.int64),
    )


def csr_starts(rows: Ints, n_rows: int) -> Ints:
    """Where each of `n_rows` CSR rows begins, and where the last one ends, given the row of every entry.

    Examples
    --------
    >>> csr_starts(np.array([0, 0, 2]), 3).tolist()
    [0, 2, 2, 3]
    """
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))]).astype(np.int64)


def csr_entries(starts: Ints, rows: NDArray[Any]) -> tuple[Ints, Ints]:
    """All entries of some CSR rows, row after row.

    Returns
    -------
    tuple
        For each entry, the index into `rows` of the row that it belongs to, and
        the index of the entry itself.

    Examples
    --------
    >>> which, entry = csr_entries(np.array([0, 2, 2, 5]), np.array([2, 0]))
    >>> which.tolist(), entry.tolist()
    ([0, 0, 0, 1, 1], [2, 3, 4, 0, 1])
    """
    return ranges(starts[rows], starts[rows + 1])


def ranges(begins: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """The numbers of several ranges, range after range.

    Returns
    -------
    tuple
        For each number, the index of its range, and the number itself.

    Examples
    --------
    >>> which, number = ranges(np.array([7, 0]), np.array([9, 1]))
    >>> which.tolist(), number.tolist()
    ([0, 0, 1], [7, 8, 0])
    """
    sizes = ends - begins
    which = np.repeat(np.arange(len(sizes)), sizes)
    return which, np.arange(len(which)) + (begins - np.cumsum(sizes) + sizes)[which]


def blocks_of(sizes: Ints, limit: int) -> Iterator[tuple[int, int]]:
    """Divide a list into blocks (begin, end) whose total size is within a limit, or that have one item.

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


def number_between(low: float, high: float) -> float:
    """The number with the fewest digits in the middle half of the gap between two values.

    For two neighbouring floating-point numbers it is the lower one, so that only the upper one is above it.

    Examples
    --------
    >>> number_between(1.372, 1.389), number_between(3, 8)
    (1.38, 6.0)
    """
    gap = high - low
    for digits in range(1, 18):
        short = float(f"{low + gap / 2:.{digits}g}")
        if low < short < high and low + gap / 4 <= short <= high - gap / 4:
            return short
    return low
