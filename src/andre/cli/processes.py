"""Processes that several relations are worked on by."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

__all__ = ["processes"]


def processes(jobs: int) -> AbstractContextManager[Executor | None]:
    """A pool of this many processes; of one, none."""
    from concurrent.futures import ProcessPoolExecutor
    from contextlib import nullcontext
    from multiprocessing import get_context

    # A forked process would inherit torch's threads in an unusable state.
    return nullcontext() if jobs == 1 else ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
