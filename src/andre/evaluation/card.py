"""Counting on a device: what sets of rows share, as products of matrices of zeros and ones.

A processor counts bits fastest where they are: one `and`, one instruction for
the ones of a word. A graphics card multiplies matrices faster than it does
anything else, so there the bits are unpacked, some words at a time, and two
blocks of sets are one product. Single precision is exact for the numbers of a
block, and blocks are added up in double precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from andre.arrays import Floats, Ints
from andre.evaluation.bits import Words
from andre.limits import check

#: Truth values that are unpacked at a time, before less memory is asked for.
_BLOCK = 1 << 28
#: Places of one product: as many ones are told apart in single precision.
_EXACT = 1 << 24
#: How far a block is halved where memory is short.
_LEAST = 1 << 16


@dataclass(frozen=True, eq=False)
class Card:
    """Counts sets of rows on a device.

    Examples
    --------
    >>> card = Card(torch.device("cpu"), np.array([0]), np.array([[1.0, 0.0]]), words=1)
    >>> one, others = (card.put(np.array(sets, dtype=np.uint64)) for sets in ([[7]], [[6], [8]]))
    >>> card.shared(one, others)
    array([[[2., 0.],
            [0., 0.]]])
    """

    device: torch.device
    begins: Ints  #: the first word of each plane, [planes]; see `andre.evaluation.planes`
    worth: Floats  #: what a bit of a plane counts for either label, [planes, 2]
    words: int  #: of a set

    def put(self, sets: Words) -> Tensor:
        """Sets of rows, [k, words], brought to the device as bytes, [k, 8 * words]."""
        return torch.from_numpy(np.ascontiguousarray(sets).view(np.uint8)).to(self.device)

    def shared(self, left: Tensor, right: Tensor) -> Floats:
        """The weight of both labels that two sets share, from [a, bytes] and [b, bytes] to [a, b, 2]."""
        found = torch.zeros(len(left), len(right), 2, dtype=torch.float64, device=self.device)
        worth = torch.as_tensor(self.worth, device=self.device)
        for plane, begin, end in self._blocks(len(left) + len(right)):
            check()
            ones = _unpacked(left[:, begin:end]) @ _unpacked(right[:, begin:end]).T  # [a, b]
            found += ones[..., None] * worth[plane]
        return np.asarray(found.cpu().numpy())

    def _blocks(self, sets: int) -> Iterator[tuple[int, int, int]]:
        """Planes, and the first and last of some of their bytes, so that a block of all sets fits."""
        step = max(1, min(_EXACT, self._cells() // max(1, sets)) // 8)
        ends = [*self.begins[1:].tolist(), self.words]
        for plane, (begin, end) in enumerate(zip(self.begins.tolist(), ends, strict=True)):
            for at in range(8 * begin, 8 * end, step):
                yield plane, at, min(at + step, 8 * end)

    def _cells(self) -> int:
        """Truth values that may be unpacked at a time: a quarter of what is free, at five bytes each."""
        if self.device.type != "cuda":
            return _BLOCK
        free = torch.cuda.mem_get_info(self.device)[0]
        return max(_LEAST, min(_BLOCK, free // 20))


def _unpacked(part: Tensor) -> Tensor:
    """The bits of some bytes as numbers, from [k, bytes] to [k, 8 * bytes]."""
    place = torch.arange(8, dtype=torch.uint8, device=part.device)
    return ((part[..., None] >> place) & 1).flatten(1).float()
