"""Bitsets: tables of truth values packed sixty-four to a word, for fast `and`, `or` and sorting."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools, Floats
from andre.limits import check
from andre.samples import Codes

Words = NDArray[np.uint64]

#: The exchanges that transpose a square of 8 x 8 bits in one word, of single bits, then of squares of
#: two, then of four: how far apart the exchanged bits are, and a mask of the lower ones.
_SWAPS = ((7, 0x00AA00AA00AA00AA), (14, 0x0000CCCC0000CCCC), (28, 0x00000000F0F0F0F0))
#: Words from which on bodies are intersected one by one: a step of Python is then less than the work.
_WIDE = 128
_BIG = np.dtype(">u8")  # the first byte is the highest, as the first bit of `packbits` is


def packed(table: Bools) -> Words:
    """Truth values as bits, [n, w] to [n, ceil(w / 64)]; bits beyond the last are 0.

    Examples
    --------
    >>> packed(np.array([[True, False, True]])).view(np.uint8).tolist()
    [[160, 0, 0, 0, 0, 0, 0, 0]]
    """
    if table.flags.f_contiguous and not table.flags.c_contiguous:  # bits across memory are slow to collect
        return transposed(packed(table.T), len(table))
    width = -(-table.shape[1] // 64) * 8
    bits = np.zeros((len(table), width), dtype=np.uint8)
    some = np.packbits(table, axis=1)
    bits[:, : some.shape[1]] = some
    return bits.view(np.uint64)


def unpacked(words: Words, width: int) -> Bools:
    """The inverse of `packed`.

    Examples
    --------
    >>> unpacked(packed(np.array([[True, False, True]])), 3)
    array([[ True, False,  True]])
    """
    return np.unpackbits(words.view(np.uint8), axis=1, count=width).view(np.bool_)


def transposed(words: Words, width: int) -> Words:
    """The transpose of a packed table, from [n, ceil(w / 64)] to [w, ceil(n / 64)].

    Squares of 8 x 8 bits are taken as one word each, which three exchanges of
    bits transpose: an eighth of the memory traffic that an unpacked table takes.

    Examples
    --------
    >>> table = np.array([[True, False, True], [False, False, True]])
    >>> unpacked(transposed(packed(table), 3), 2).astype(int)
    array([[1, 0],
           [0, 0],
           [1, 1]])
    """
    height = -(-len(words) // 64) * 64
    rows = np.zeros((height, words.shape[1] * 8), dtype=np.uint8)
    rows[: len(words)] = words.view(np.uint8)
    squares = rows.reshape(height // 8, 8, rows.shape[1]).transpose(2, 0, 1)  # [row bytes, height / 8, 8]
    word = np.ascontiguousarray(squares).view(_BIG)[..., 0].astype(np.uint64)
    for distance, mask in _SWAPS:
        swapped = (word ^ (word >> np.uint64(distance))) & np.uint64(mask)
        word ^= swapped ^ (swapped << np.uint64(distance))
    turned = word.astype(_BIG)[..., None].view(np.uint8).transpose(0, 2, 1)  # [bytes, 8, height / 8]
    columns = np.ascontiguousarray(turned).reshape(8 * rows.shape[1], height // 8)[:width]
    return columns.view(np.uint64)


def intersections(
    columns: Words, codes: Codes, every: Words, block: int
) -> Iterator[tuple[NDArray[np.intp], Words]]:
    """The rows that satisfy each body: a few words for each of its literals.

    A product of matrices would visit every literal of the language.

    Parameters
    ----------
    columns
        The rows of every literal, [2m, words].
    codes
        Bodies, [rules, m].
    every
        All rows, [words], which the empty body covers.
    block
        How many bytes to hold at once.

    Yields
    ------
    Which bodies, [b], and their rows, [b, words]. Bodies that no row satisfies may be left out.
    """
    step = max(1, block // max(1, 8 * columns.shape[1]))
    if columns.shape[1] < _WIDE:
        yield from _side_by_side(columns, codes, every, step)
        return
    some: list[int] = []
    held: list[Words] = []
    for body, rows in _one_by_one(columns, codes, every):
        some.append(body)
        held.append(rows)
        if len(some) == step:
            yield np.array(some), np.stack(held)
            some, held = [], []
    if some:
        yield np.array(some), np.stack(held)


def _side_by_side(
    columns: Words, codes: Codes, every: Words, step: int
) -> Iterator[tuple[NDArray[np.intp], Words]]:
    """Intersections of so many bodies at a time, literal by literal, for short strings of bits."""
    rule, literal = np.nonzero(np.hstack((codes > 0, codes < 0)))
    sizes = np.bincount(rule, minlength=len(codes))
    starts = np.cumsum(sizes) - sizes
    order = np.argsort(sizes, kind="stable")
    for at in range(0, len(order), step):
        some = order[at : at + step]  # bodies of about one length
        rows = np.tile(every, (len(some), 1))
        for place in range(int(sizes[some[-1]])):
            check()
            longer = np.flatnonzero(sizes[some] > place)
            rows[longer] &= columns[literal[starts[some[longer]] + place]]
        yield some, rows


def _one_by_one(columns: Words, codes: Codes, every: Words) -> Iterator[tuple[int, Words]]:
    """Intersections of long strings of bits, of bodies in the order of their first literals.

    Bodies often differ in one literal, and long ones cover nothing: what the
    first literals of one body share with the next is intersected once, and
    where that is empty, so is the next.
    """
    table = np.hstack((codes > 0, codes < 0))  # [rules, 2m]
    keys = packed(table).view(np.dtype((np.void, -(-table.shape[1] // 64) * 8)))[:, 0]  # sorted by bytes
    order = np.argsort(keys, kind="stable")[::-1]  # what has the first literal comes first
    table = table[order]
    differs = (table[1:] != table[:-1]).argmax(axis=1)  # the first literal that only one of two bodies has
    common = np.zeros(len(table), dtype=np.int64)  # first literals that a body shares with the one before
    common[1:] = np.count_nonzero(table[1:] & (np.arange(table.shape[1]) < differs[:, None]), axis=1)
    rule, literal = np.nonzero(table)
    sizes = np.bincount(rule, minlength=len(table))
    ends = np.cumsum(sizes)
    prefixes, empty = [every], False  # rows that the first literals of the last body share
    for body, shared, end, size in zip(
        order.tolist(), common.tolist(), ends.tolist(), sizes.tolist(), strict=True
    ):
        check()
        if empty and shared >= len(prefixes) - 1:
            continue
        del prefixes[shared + 1 :]
        for column in literal[end - size + len(prefixes) - 1 : end]:
            prefixes.append(prefixes[-1] & columns[column])
            empty = not prefixes[-1].any()
            if empty:
                break
        else:
            empty = False
            yield body, prefixes[-1]


def weighed_sums(weights: Floats, table: Bools) -> Floats:
    """The product of whole weights, [k, n], with a table of truth values, [n, w]; sums are below 2^24.

    Most weights are 0 or 1. So true values are counted in bytes, and only rows
    of another weight go through a product of floats.

    Examples
    --------
    >>> weighed_sums(np.array([[1.0, 1, 3]]), np.array([[True, False], [True, True], [False, True]]))
    array([[2., 4.]])
    """
    found = np.zeros((len(weights), table.shape[1]))
    ones = None
    for row, weight in enumerate(weights):
        usual = 2 * np.count_nonzero(weight == 1) > len(weight)
        if usual:
            ones = _true_counts(table) if ones is None else ones
            found[row] = ones
        other = np.flatnonzero(weight != usual)
        # Single precision is exact for whole numbers of this size.
        rest = (weight[other] - usual).astype(np.float32)
        found[row] += rest @ table[other].astype(np.float32)
    return found


def drawn_sums(weights: Floats, table: Bools) -> Floats:
    """The product of any weights, [k, n], with a table of truth values, [n, w].

    Where examples stand for others, each that was drawn has the same weight, and those that are alike a
    multiple of it: so whole numbers are summed.

    Examples
    --------
    >>> drawn_sums(np.array([[2.5, 5.0, 0.0]]), np.array([[True, False], [True, True], [False, True]]))
    array([[7.5, 5. ]])
    """
    found = np.zeros((len(weights), table.shape[1]))
    others: list[int] = []
    for row, weight in enumerate(weights):
        each = np.min(weight, where=weight > 0, initial=np.inf)
        times = np.rint(weight / each)
        if np.isfinite(each) and times.sum() < 1 << 24 and np.allclose(times * each, weight, rtol=1e-9):
            found[row] = each * weighed_sums(times[None], table)[0]
        else:
            others.append(row)
    if others:  # truth values are made numbers of once, for the rows that weigh
        weights = weights[others]
        seen = np.flatnonzero(weights.any(axis=0))
        found[others] = weights[:, seen] @ table[seen].astype(np.float64)
    return found


def _true_counts(table: Bools) -> NDArray[np.int64]:
    """How many values of each column are true, [w]: summed in bytes, 255 rows at a time."""
    whole = len(table) // 255 * 255
    numbers = table.view(np.uint8)
    blocks = numbers[:whole].reshape(whole // 255, 255, table.shape[1]).sum(axis=1, dtype=np.uint8)
    rest = numbers[whole:].sum(axis=0, dtype=np.uint8)
    return np.asarray(blocks.sum(axis=0, dtype=np.int64) + rest)
