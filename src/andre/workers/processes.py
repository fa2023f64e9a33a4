"""Worker processes on this machine: one thread and, where there are some, one graphics card each."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from andre.errors import AndreError
from andre.limits import enforced
from andre.memory import bounded_memory

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue

_until_it_ends = ExitStack()  # of a worker process: the limits on all of its work


@contextmanager
def processes(jobs: int, memory: int | None) -> Iterator[Executor]:
    """Worker processes with one thread and so many bytes each, which end when this process does."""
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415
    from multiprocessing import active_children, get_context  # noqa: PLC0415

    others = active_children()
    # A forked process would inherit torch's threads in an unusable state.
    context, visible = get_context("spawn"), cards()
    try:
        queue = context.SimpleQueue()
        for place in range(jobs):  # several cards are assigned in turn, one to each process
            queue.put(visible[place % len(visible)] if visible else None)
        executor = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(memory, queue))
    except OSError as error:  # there is no shared memory for locks, such as /dev/shm
        raise AndreError(f"several processes cannot work together here ({error}): leave out --jobs") from None
    try:
        yield executor
    finally:
        # The pool itself would wait for all tasks under way, which may take minutes after Ctrl-C.
        for process in active_children():
            if process not in others:
                process.terminate()
        executor.shutdown(cancel_futures=True)


def cards() -> list[str]:
    """The names of the CUDA devices that this process may use, found without loading torch.

    Examples
    --------
    >>> isinstance(cards(), list)
    True
    """
    import os  # noqa: PLC0415

    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if listed is not None:
        return [name.strip() for name in listed.split(",") if name.strip()]
    return [str(place) for place, _ in enumerate(Path("/proc/driver/nvidia/gpus").glob("*"))]


def _begin(memory: int | None, queue: SimpleQueue[str | None]) -> None:
    """Prepare a worker process: one thread, one card, limits; its parent handles Ctrl-C and ends it."""
    import os  # noqa: PLC0415
    import signal  # noqa: PLC0415
    from threading import Thread  # noqa: PLC0415

    os.environ["OMP_NUM_THREADS"] = "1"  # torch reads these when it is loaded
    if (card := queue.get()) is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = card
    _until_it_ends.enter_context(enforced())
    _until_it_ends.enter_context(bounded_memory(memory))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    import os  # noqa: PLC0415
    from multiprocessing import parent_process  # noqa: PLC0415

    parent = parent_process()
    assert parent is not None, "a process of a pool has a parent"
    parent.join()
    os._exit(1)
