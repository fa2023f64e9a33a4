"""How many threads a piece of work deserves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["sized_threads"]

#: Numbers computed at a time from which several threads pay.
_WORTH_SHARING = 1_000_000


@contextmanager
def sized_threads(work: int) -> Iterator[None]:
    """One thread for little work: handing out small pieces takes longer than doing them.

    Examples
    --------
    >>> with sized_threads(100):
    ...     torch.get_num_threads()
    1
    """
    before = torch.get_num_threads()
    if work < _WORTH_SHARING:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
