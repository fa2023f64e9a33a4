"""Counting by bits: weighted rows laid out so that the weight of a set of them is a number of bits.

A label's weight is a sum of powers of two. Every power that some row's weight
has is a *plane*, with a place for each such row, so that a place counts for
one power of one label. What a body covers is then a string of bits, the
intersection of its literals' strings, and what all literals cover beside it
is a product of bit matrices: the `and` of two strings and the number of ones,
plane by plane. A graphics card counts the same as a dense product, where
there is one and the work is large (`andre.evaluation.card`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats, Ints
from andre.evaluation.bits import Words, intersections, packed, transposed
from andre.limits import check
from andre.samples import Codes

if TYPE_CHECKING:
    from torch import Tensor

    from andre.evaluation.card import Card

#: Words that are worked on at a time: they stay in the cache.
_BLOCK = 1 << 15
#: Pairs of words from which on a card counts faster than the processor, the way there and back included.
_WORTH_SENDING = 1 << 21


@dataclass(frozen=True, eq=False)
class Planes:
    """The literals of weighted rows, [literals, words], with the rows of each label apart.

    Examples
    --------
    >>> literals = np.array([[True, False], [False, True], [True, False]])
    >>> planes = Planes.of(packed(literals), 2, labels=np.array([[1.0, 0, 3], [0, 2, 0]]))
    >>> planes.counts(planes.covers(np.array([[1], [-1], [0]], dtype=np.int8)))
    array([[4., 0.],
           [0., 2.],
           [4., 2.]])
    """

    columns: Words  #: the rows of every literal, [2m, words]
    every: Words  #: all rows, [words]: places that fill the last word of a plane are 0
    begins: Ints  #: the first word of each plane, [planes]
    worth: Floats  #: what a bit of a plane counts for either label, [planes, 2]
    counted: NDArray[np.intp]  #: literals that are counted, [c]; the others are what an atom leaves over
    device: str | None = None  #: a device of torch that large products are sent to

    @classmethod
    def of(cls, rows: Words, n_literals: int, labels: Floats, device: str | None = None) -> Planes:
        """Lay out rows by their weights.

        Parameters
        ----------
        rows
            The literals of every row as bits, [U, words].
        n_literals
            How many literals there are, 2m.
        labels
            Whole weights of positives and negatives, [2, U].
        device
            A device of torch that large products are sent to.
        """
        whole = labels.astype(np.int64)  # [2, U]
        powers = range(int(whole.max(initial=0)).bit_length())
        planes = [
            (np.flatnonzero(weight >> power & 1), np.eye(2)[label] * 2.0**power)
            for label, weight in enumerate(whole)
            for power in powers
        ]
        planes = [(members, worth) for members, worth in planes if len(members)]
        sizes = np.array([-(-len(members) // 64) for members, _ in planes], dtype=np.int64)  # words
        begins = np.cumsum(sizes) - sizes
        places = np.full(64 * int(sizes.sum()), len(rows))  # what fills a word is the row after the last
        for begin, (members, _) in zip(begins, planes, strict=True):
            places[64 * begin : 64 * begin + len(members)] = members
        blank = np.zeros((1, rows.shape[1]), dtype=np.uint64)
        columns = transposed(np.concatenate([rows, blank])[places], n_literals)
        every = packed((places < len(rows))[None])[0]
        m = n_literals // 2
        known = ((columns[:m] | columns[m:]) == every).all(axis=1)  # [m]
        counted = np.concatenate([np.arange(m), m + np.flatnonzero(~known)])
        worth = np.array([worth for _, worth in planes]).reshape(-1, 2)
        return cls(columns, every, begins, worth, counted, device)

    def covers(self, codes: Codes) -> Words:
        """The rows that satisfy each body, [rules, words]."""
        found = np.zeros((len(codes), len(self.every)), dtype=np.uint64)
        for some, rows in intersections(self.columns, codes, self.every, 8 * _BLOCK):
            found[some] = rows
        return found

    def body_counts(self, codes: Codes) -> Floats:
        """The weight of the positives and negatives that each body covers, [rules, 2]."""
        found = np.zeros((len(codes), 2))
        for some, rows in intersections(self.columns, codes, self.every, 8 * _BLOCK):
            found[some] = self._sums(rows)
        return found

    def counts(self, covers: Words, settled: Words | None = None) -> Floats:
        """The weight of positives and negatives among rows, from [rules, words] to [rules, 2].

        Rows that are `settled`, [words], count for nothing.
        """
        found = np.zeros((len(covers), 2))
        for block in self._blocks(len(covers)):
            some = covers[block] if settled is None else covers[block] & ~settled
            found[block] = self._sums(some)
        return found

    def beside(self, held: Words) -> Floats:
        """The weight of the rows on which a body and one literal hold, for each literal.

        Parameters
        ----------
        held
            The rows that each body covers, [rules, words].

        Returns
        -------
        Positives and negatives, [rules, 2, 2m].
        """
        m = len(self.columns) // 2
        found = np.empty((len(held), 2, 2 * m))
        if self._pays(len(held), len(self.counted)):
            card = self._card
            shared = card.shared(card.put(held), self._sent)
        else:
            shared = self._popcounts(held, self._columns)
        found[:, :, self.counted] = shared.transpose(0, 2, 1)
        known = np.setdiff1d(np.arange(m), self.counted[m:] - m)
        found[:, :, m + known] = self.counts(held)[:, :, None] - found[:, :, known]
        return found

    def shared(self, left: Words, right: Words) -> Floats:
        """The weight of positives and negatives that any two sets share, [a, b, 2].

        Parameters
        ----------
        left, right
            Sets of rows, [a, words] and [b, words].

        Examples
        --------
        >>> rows = packed(np.array([[True, False], [False, True], [True, True]]))
        >>> planes = Planes.of(rows, 2, labels=np.array([[1.0, 0, 3], [0, 2, 0]]))
        >>> planes.shared(planes.columns, planes.columns[:1])
        array([[[4., 0.]],
        <BLANKLINE>
               [[3., 0.]]])
        """
        if self._pays(len(left), len(right)):
            return self._card.shared(self._card.put(left), self._card.put(right))
        return self._popcounts(left, right)

    def _popcounts(self, left: Words, right: Words) -> Floats:
        found = np.empty((len(left), len(right), 2))
        for block in self._blocks(len(right)):
            check()
            some = right[block]  # used for all others while they are in the cache
            for place, one in enumerate(left):
                found[place, block] = self._sums(some & one)
        return found

    def _pays(self, left: int, right: int) -> bool:
        return self.device is not None and left * right * len(self.every) >= _WORTH_SENDING

    @cached_property
    def _card(self) -> Card:
        import torch  # noqa: PLC0415  (slow to load, and only a card needs it)

        from andre.evaluation.card import Card  # noqa: PLC0415

        return Card(torch.device(self.device or "cpu"), self.begins, self.worth, len(self.every))

    @cached_property
    def _columns(self) -> Words:
        """The rows of the literals that are counted, [c, words]."""
        known = len(self.counted) == len(self.columns) // 2  # atoms are, and no negation
        return self.columns[: len(self.counted)] if known else self.columns[self.counted]

    @cached_property
    def _sent(self) -> Tensor:
        """The same on the device, [c, bytes]."""
        return self._card.put(self._columns)

    def _blocks(self, n: int) -> Iterator[slice]:
        step = max(1, _BLOCK // max(1, len(self.every)))
        yield from (slice(start, min(start + step, n)) for start in range(0, n, step))

    def _sums(self, words: Words) -> Floats:
        """The weight of both labels in strings of bits, from [k, words] to [k, 2]."""
        if not len(self.begins):
            return np.zeros((len(words), 2))
        ones = np.add.reduceat(np.bitwise_count(words), self.begins, axis=1, dtype=np.uint32)  # [k, planes]
        return np.asarray(ones @ self.worth)


def exact(labels: Floats) -> bool:
    """Whether weights can be laid out in planes: whole numbers whose sums are exact in floats."""
    return bool((labels == np.rint(labels)).all()) and float(labels.sum()) < 2**53
