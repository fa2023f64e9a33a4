"""Work in processes of one thread each: many pieces shared out, or one piece in a process of its own."""

from __future__ import annotations

import hashlib
import pickle
import resource
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

import torch

from andre.errors import AndreError
from andre.files import write_whole
from andre.workers import Task, run_tasks
from andre.workers import workers as workers_of
from benchmarks import Tick, silent

Given = TypeVar("Given")
Made = TypeVar("Made")

#: The folder that keeps pieces of work that are done.
_KEPT: ContextVar[Path | None] = ContextVar("kept", default=None)
#: The address of the dask scheduler whose workers share the work.
_CLUSTER: ContextVar[str | None] = ContextVar("cluster", default=None)


@contextmanager
def keep_pieces(folder: Path | None) -> Iterator[None]:
    """Within this, `run_all` keeps every piece that is done in a folder, and takes from there what it has.

    So a benchmark of hours that was stopped goes on where it was. A piece is known by the function and by
    what was given to it: after a change of the code the folder is to be emptied.
    """
    before = _KEPT.set(folder)
    try:
        yield
    finally:
        _KEPT.reset(before)


@contextmanager
def use_cluster(address: str | None) -> Iterator[None]:
    """Within this, work is shared out among the workers of a dask cluster, not among processes from here."""
    before = _CLUSTER.set(address)
    try:
        yield
    finally:
        _CLUSTER.reset(before)


def kept_folder() -> Path | None:
    """The folder that keeps pieces, where there is one."""
    return _KEPT.get()


def run_all(
    work: Callable[[Given], Made], given: Sequence[Given], workers: int, tick: Tick = silent
) -> list[Made]:
    """Apply a function to many values, shared out among processes of one thread each.

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
    paths = [_kept_at(work, each) for each in given]
    made = {
        place: pickle.loads(path.read_bytes()) for place, path in enumerate(paths) if path and path.exists()
    }
    left = [place for place in range(len(given)) if place not in made]
    with worker_pool(min(workers, len(left))) as executor:
        for place, done in _apply(work, {place: given[place] for place in left}, executor):
            made[place] = done
            if path := paths[place]:
                write_whole(path, pickle.dumps(done))
            tick(len(made), len(given))
    return [made[place] for place in range(len(given))]


def _apply(
    work: Callable[[Given], Made], given: Mapping[int, Given], executor: Executor | None
) -> Iterator[tuple[int, Made]]:
    """What comes of each piece, as it is done."""
    if executor is None:
        with _one_thread():
            for place, each in given.items():
                yield place, work(each)
        return
    name = getattr(work, "__name__", "piece")
    tasks = (Task(f"{name} {place}", _done, (each,)) for place, each in given.items())
    for task, done in run_tasks(executor, work, tasks):
        yield int(task.removeprefix(f"{name} ")), done


def _done(work: Callable[[Given], Made], given: Given) -> Made:
    return work(given)


def is_kept(work: Callable[[Given], Any], given: Given) -> bool:
    """Whether a piece of work is done and kept, within `keep_pieces`."""
    path = _kept_at(work, given)
    return path is not None and path.exists()


def _kept_at(work: Callable[[Given], Any], given: Given) -> Path | None:
    """The file that keeps what a piece of work came to; None where pieces are not kept."""
    if (folder := _KEPT.get()) is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{work.__module__}.{work.__qualname__}({given!r})"
    return folder / f"{hashlib.sha256(name.encode()).hexdigest()}.pickle"


def run_apart(work: Callable[..., Made], *given: object) -> Made:
    """Do some work in a fresh process, so that its peak memory is its own."""
    # Spawned: a forked process would inherit torch's threads in an unusable state.
    with ProcessPoolExecutor(1, get_context("spawn"), torch.set_num_threads, (1,)) as pool:
        return pool.submit(_apart, _CLUSTER.get(), work, *given).result()


def _apart(cluster: str | None, work: Callable[..., Made], *given: object) -> Made:
    with use_cluster(cluster):
        return work(*given)


def run_limited(work: Callable[[Given], Made], given: Given, seconds: float) -> Made | None:
    """Do some work in a fresh process of one thread; None where it was ended because its time was up.

    Raises
    ------
    AndreError
        Where the process ended without a word.
    """
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, work, given))
    process.start()
    sender.close()  # so that the end of the process is the end of the pipe
    try:
        return receiver.recv() if receiver.poll(seconds) else None
    except EOFError:
        raise AndreError("a process of a benchmark ended without a word: look at its memory") from None
    finally:
        process.kill()
        process.join()


def _send(sender: Connection, work: Callable[[Given], Made], given: Given) -> None:
    torch.set_num_threads(1)
    sender.send(work(given))


def worker_pool(workers: int) -> AbstractContextManager[Executor | None]:
    """An executor with this many processes of one thread each, or that of the cluster; None for one."""
    return workers_of(max(1, workers), _CLUSTER.get())


def peak_bytes() -> int:
    """Peak memory of this process or of the largest that it started.

    Examples
    --------
    >>> peak_bytes() > 10**6
    True
    """
    unit = 1 if sys.platform == "darwin" else 1024
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(each).ru_maxrss for each in who) * unit


@contextmanager
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
