"""Many pieces of work, shared out among processes of one thread each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar

import torch

__all__ = ["Tick", "run_all"]


#: Told how many of how many pieces are done.
Tick = Callable[[int, int], None]

Given = TypeVar("Given")
Made = TypeVar("Made")


def run_all(
    work: Callable[[Given], Made], given: Sequence[Given], workers: int, tick: Tick | None = None
) -> list[Made]:
    """Do all the work, in so many processes of one thread each.

    Parameters
    ----------
    work
        What to do with each; a function of a module, so that other processes find it.
    given
        What to do it with; what is made comes back in this order.
    workers
        How many processes; 1 stays in this one.
    tick
        Called whenever a piece is done.

    Examples
    --------
    >>> run_all(abs, [-1, 2, -3], workers=1)
    [1, 2, 3]
    """
    tick = tick or (lambda done, total: None)
    if workers <= 1 or len(given) <= 1:
        made = []
        with _one_thread():
            for each in given:
                made.append(work(each))
                tick(len(made), len(given))
        return made
    pool = ProcessPoolExecutor(min(workers, len(given)), get_context("spawn"), torch.set_num_threads, (1,))
    try:
        futures = [pool.submit(work, each) for each in given]
        waiting = set(futures)
        while waiting:
            _, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            tick(len(given) - len(waiting), len(given))
        return [future.result() for future in futures]
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
