"""Tasks that read one value, run by any executor."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol
from uuid import uuid4

from andre.errors import WorkersLostError
from andre.limits import Deadline, check, limited, time_left, was_interrupted
from andre.workers.cluster import Client, client_of
from andre.workers.executors import Workers, as_executor
from andre.workers.parcel import Parcel, ParcelFile

#: Tasks submitted ahead of the results, for an executor that does not say how many it runs at a time.
_AHEAD = 64
#: Seconds between two checks for Ctrl-C while others work.
_PATIENCE = 0.2


class Task(NamedTuple):
    """One call, `function(shared, *args)`; all tasks share the first argument."""

    name: str  #: returned with the result, and shown by the dashboard of a cluster
    function: Callable[..., Any]  #: at the top level of a module, so that other processes can import it
    args: tuple[Any, ...] = ()


def run_tasks(
    given: Workers, shared: object, tasks: Iterator[Task], until: Deadline | None = None
) -> Iterator[tuple[str, Any]]:
    """Run tasks that read one value, and yield the name and result of each when it is done.

    A task is taken from the iterator when a worker will soon be free for it. The current
    deadline also holds in every task. If a worker of a cluster dies, another one takes over
    its tasks; every task is yielded once.

    Parameters
    ----------
    given
        The executor or dask client.
    shared
        The value that all tasks read: the first argument of every task.
    until
        When to stop waiting.

    Raises
    ------
    OutOfTimeError
        If that moment has passed.
    WorkersLostError
        If the processes of the executor have died, or the connection to the cluster is lost.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as executor:
    ...     tasks = (Task(str(power), pow, (power,)) for power in (1, 2))
    ...     sorted(run_tasks(executor, 3, tasks))
    [('1', 3), ('2', 9)]
    """
    with _sharing(as_executor(given), shared) as pool:
        waiting: dict[Future[Any], str] = {}
        try:
            while True:
                for task in islice(tasks, max(0, pool.ahead - len(waiting))):
                    waiting[pool.submit(task)] = task.name
                if not waiting:
                    return
                left = math.inf if until is None else until.left
                done, _ = wait(waiting, min(left, _PATIENCE), FIRST_COMPLETED)
                if was_interrupted():
                    raise KeyboardInterrupt
                if not done and left < _PATIENCE:
                    check()
                for future in done:
                    yield waiting.pop(future), _result(future)
        finally:  # after Ctrl-C no further task is started
            for future in waiting:
                future.cancel()


def _result(future: Future[Any]) -> Any:
    try:
        return future.result()
    except BrokenExecutor:
        raise WorkersLostError(
            "a process that learned ended without a word, most likely for want of memory: let fewer work at "
            "a time, or lower the memory limit"
        ) from None
    except CancelledError:  # not cancelled by us
        raise WorkersLostError(
            "the connection to the cluster was lost: is its scheduler still there?"
        ) from None
    except Exception as error:
        if type(error).__name__ != "KilledWorker":  # a class of dask, which need not be installed
            raise
        raise WorkersLostError(
            "several workers of the cluster died of the same task, most likely for want of memory "
            f"({error}): give workers more memory, or lower the memory limit"
        ) from None


class _Pool(Protocol):
    """An executor whose tasks share a value."""

    @property
    def ahead(self) -> int:
        """How many tasks may be submitted before any is done."""

    def submit(self, task: Task) -> Future[Any]:
        """Start a task as soon as a worker is free."""


@contextmanager
def _sharing(executor: Executor, shared: object) -> Iterator[_Pool]:
    parcel, client = Parcel.of(shared), client_of(executor)
    if client is None:
        with TemporaryDirectory(prefix="andre-") as folder:
            yield _LocalPool(executor, parcel.written(Path(folder) / "shared"))
        return
    dask: Any = import_module("dask")
    # Submitted as a task, not scattered as data: if all workers that hold the parcel die, the scheduler
    # runs the task again. Its warning about large arguments is meant for those that go with every task.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        held = client.submit(_unchanged, parcel, key=f"facts-{parcel.digest}")
    try:
        yield _ClusterPool(executor, client, held)
    finally:
        held.release()


@dataclass(frozen=True)
class _LocalPool:
    """Tasks in processes that can read the files of this machine."""

    executor: Executor
    file: ParcelFile
    ahead: int = _AHEAD

    def submit(self, task: Task) -> Future[Any]:
        return self.executor.submit(_call, self.file, task.function, task.args, _moment())


@dataclass(frozen=True)
class _ClusterPool:
    """Tasks on a dask cluster, whose workers pass the parcel on to each other."""

    executor: Executor
    client: Client
    held: Any  #: the future of the parcel

    @property
    def ahead(self) -> int:
        """Twice as many as run at a time, since workers may join or leave."""
        threads: int = sum(self.client.nthreads().values())
        return max(4, 2 * threads)

    def submit(self, task: Task) -> Future[Any]:
        key: dict[str, Any] = {"key": f"{task.name}-{uuid4().hex}"}  # dask groups by the part before the dash
        return self.executor.submit(_call, self.held, task.function, task.args, _moment(), **key)


def _moment() -> float | None:
    """The current deadline in seconds since 1970, which all machines share."""
    left = time_left().left
    return None if left == math.inf else time.time() + left


def _call(
    parcel: Parcel | ParcelFile, function: Callable[..., Any], args: tuple[Any, ...], moment: float | None
) -> Any:
    # A task may wait for a worker, so the remaining time is computed when it starts.
    with limited(Deadline.after(None if moment is None else max(0.0, moment - time.time()))):
        return function(parcel.value, *args)


def _unchanged(parcel: Parcel) -> Parcel:
    return parcel
