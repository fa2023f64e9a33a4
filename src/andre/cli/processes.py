"""Worker processes that end with the command that started them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor


@contextmanager
def processes(jobs: int) -> Iterator[Executor | None]:
    """A pool of so many worker processes, None for one; work that is unfinished at the end is abandoned."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import active_children, get_context

    if jobs == 1:
        yield None
        return
    others = active_children()
    # A forked process would inherit torch's threads in an unusable state.
    executor = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_begin)
    try:
        yield executor
    finally:
        # The pool itself would wait for all that was begun: minutes, after Ctrl-C.
        for process in active_children():
            if process not in others:
                process.terminate()
        executor.shutdown(cancel_futures=True)


def _begin() -> None:
    """Prepare a worker: Ctrl-C is left to the parent, and the worker ends when the parent does."""
    import signal
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    import os
    from multiprocessing import parent_process

    parent = parent_process()
    assert parent is not None, "a process of a pool has a parent"
    parent.join()
    os._exit(1)
