"""Worker processes that end with the command that started them."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from andre.cli.options import memory_bytes
from andre.errors import AndreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

_until_it_ends = ExitStack()  # of a worker: what holds for all its work


@contextmanager
def processes(jobs: int, memory_limit: str | None = None) -> Iterator[Executor | None]:
    """A pool of so many worker processes, None for one; work that is unfinished at the end is abandoned.

    What memory there may be is shared out among them.
    """
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
    from multiprocessing import active_children, get_context

    if jobs == 1:
        yield None
        return
    share = None if memory_limit is None else memory_bytes(memory_limit) // jobs
    others = active_children()
    # A forked process would inherit torch's threads in an unusable state.
    try:
        executor = ProcessPoolExecutor(
            jobs, mp_context=get_context("spawn"), initializer=_begin, initargs=(share,)
        )
    except OSError as error:  # they share locks in memory that belongs to nobody, as in /dev/shm
        raise AndreError(f"several processes cannot work together here ({error}): leave out --jobs") from None
    try:
        yield executor
    except BrokenExecutor:
        raise AndreError(
            "a process that learned ended without a word, most likely for want of memory: take fewer --jobs"
        ) from None
    finally:
        # The pool itself would wait for all that was begun: minutes, after Ctrl-C.
        for process in active_children():
            if process not in others:
                process.terminate()
        executor.shutdown(cancel_futures=True)


def _begin(memory: int | None) -> None:
    """Prepare a worker: Ctrl-C is left to the parent, limits hold, and it ends when the parent does."""
    import signal
    from threading import Thread

    from andre.limits import enforced
    from andre.memory import bounded_memory

    _until_it_ends.enter_context(enforced())
    _until_it_ends.enter_context(bounded_memory(memory))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    import os
    from multiprocessing import parent_process

    parent = parent_process()
    assert parent is not None, "a process of a pool has a parent"
    parent.join()
    os._exit(1)
