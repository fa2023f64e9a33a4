"""Work in processes of one thread each: many pieces shared out, or one piece in a process of its own."""

from __future__ import annotations

import hashlib
import pickle
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

import torch

from andre.errors import AndreError
from andre.files import write_whole
from benchmarks import Tick, silent

Given = TypeVar("Given")
Made = TypeVar("Made")

#: The folder that keeps pieces of work that are done.
_KEPT: ContextVar[Path | None] = ContextVar("kept", default=None)


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
    folder = _KEPT.get()
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        work = partial(_done_once, work, folder)
    if workers <= 1 or len(given) <= 1:
        made = []
        with _one_thread():
            for each in given:
                made.append(work(each))
                tick(len(made), len(given))
        return made
    pool = worker_pool(min(workers, len(given)))
    try:
        futures = [pool.submit(work, each) for each in given]
        waiting = set(futures)
        while waiting:
            _, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            tick(len(given) - len(waiting), len(given))
        return [future.result() for future in futures]
    finally:
        pool.shutdown(cancel_futures=True)


def _done_once(work: Callable[[Given], Made], folder: Path, given: Given) -> Made:
    """What a piece of work came to: from the folder, or done now and put there."""
    name = f"{work.__module__}.{work.__qualname__}({given!r})"
    path = folder / f"{hashlib.sha256(name.encode()).hexdigest()}.pickle"
    if path.exists():
        kept: Made = pickle.loads(path.read_bytes())
        return kept
    made = work(given)
    write_whole(path, pickle.dumps(made))
    return made


def run_apart(work: Callable[..., Made], *given: object) -> Made:
    """Do some work in a fresh process, so that its peak memory is its own."""
    with worker_pool(1) as pool:
        return pool.submit(work, *given).result()


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


def worker_pool(workers: int) -> ProcessPoolExecutor:
    """An executor with this many processes of one thread each.

    They are spawned: a forked process would inherit torch's threads in an unusable state.
    """
    return ProcessPoolExecutor(workers, get_context("spawn"), torch.set_num_threads, (1,))


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
