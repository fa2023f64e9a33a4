"""Parallel tasks, in processes of this machine, on a dask cluster, or by any executor.

The tasks of one job read the same facts. `run_tasks` packs these once: processes of
one machine map them from a file into shared memory, and each worker of a cluster
receives them once, however many tasks it gets.
"""

from __future__ import annotations

import hashlib
import logging
import math
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from andre.errors import AndreError, WorkersLostError
from andre.limits import Deadline, check, enforced, limited, time_left, was_interrupted
from andre.memory import bounded_memory

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue

#: Tasks submitted ahead of the results, for an executor that does not say how many it runs at a time.
_AHEAD = 64
#: Arrays are aligned to multiples of this many bytes.
_ALIGNED = 64
#: Seconds between two checks for Ctrl-C while others work.
_PATIENCE = 0.2
#: Seconds to wait for a scheduler, and for its first worker.
_CONNECTING = 30.0
#: Versions that must agree everywhere: otherwise values cannot be unpacked, or results differ.
_SAME = ("python", "andre", "dask", "distributed", "cloudpickle", "numpy", "scipy", "torch")


_until_it_ends = ExitStack()  # of a worker process: the limits on all of its work


class MakesExecutor(Protocol):
    """An object that provides an executor, as a dask `Client` does."""

    def get_executor(self, **options: Any) -> Executor:
        """The executor."""


#: A dask `Client`, which comes from an extra without types.
Client: TypeAlias = Any

#: What `executor=` accepts: any executor, or a dask client.
Workers = Executor | MakesExecutor


class Task(NamedTuple):
    """One call, `function(shared, *args)`; all tasks share the first argument."""

    name: str  #: returned with the result, and shown by the dashboard of a cluster
    function: Callable[..., Any]  #: at the top level of a module, so that other processes can import it
    args: tuple[Any, ...] = ()


@contextmanager
def workers(
    jobs: int = 1, cluster: str | None = None, memory: int | None = None
) -> Iterator[Executor | None]:
    """An executor for a cluster or for several processes; None for one process.

    On leaving, unfinished tasks are abandoned.

    Parameters
    ----------
    jobs
        The number of processes on this machine, if there is no cluster.
    cluster
        The address of a dask scheduler, such as tcp://host:8786.
    memory
        Bytes that the processes may take together, if that is bounded.
    """
    if cluster is not None:
        with _connected(cluster) as client:
            yield client.get_executor()
    elif jobs == 1:
        yield None
    else:
        with _processes(jobs, None if memory is None else memory // jobs) as executor:
            yield executor


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


def as_executor(given: Workers) -> Executor:
    """The executor itself, or that of a dask client."""
    return given if isinstance(given, Executor) else given.get_executor()


def memory_of(executor: Executor | None) -> float | None:
    """Gigabytes of memory per task on the smallest worker of a cluster; None for other executors."""
    client = _client_of(executor)
    if client is None:
        return None
    known = client.scheduler_info(n_workers=-1)["workers"].values()
    sizes = [one["memory_limit"] / one["nthreads"] / 2**30 for one in known if one["memory_limit"]]
    return min(sizes, default=None)


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
    parcel, client = Parcel.of(shared), _client_of(executor)
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


@dataclass(frozen=True, eq=False)
class Parcel:
    """A value packed into bytes, to be sent; its arrays are used in place when it is unpacked.

    Examples
    --------
    >>> parcel = Parcel.of({"ends": np.arange(3)})
    >>> pickle.loads(pickle.dumps(parcel)).value
    {'ends': array([0, 1, 2])}
    """

    data: NDArray[np.uint8]
    parts: tuple[tuple[int, int], ...]  #: begin and end of the pickled value and of each array
    digest: str

    @classmethod
    def of(cls, value: object) -> Parcel:
        """Pack a value."""
        arrays: list[pickle.PickleBuffer] = []
        head = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
        pieces = [memoryview(head), *(array.raw() for array in arrays)]
        parts, end = [], 0
        for piece in pieces:
            begin = -(-end // _ALIGNED) * _ALIGNED
            end = begin + piece.nbytes
            parts.append((begin, end))
        data = np.zeros(end, dtype=np.uint8)
        for piece, (begin, stop) in zip(pieces, parts, strict=True):
            data[begin:stop] = piece
        return cls(data, tuple(parts), hashlib.sha256(data.data).hexdigest())

    @cached_property
    def value(self) -> Any:
        """The value; its arrays are read-only."""
        data = self.data
        if data.ctypes.data % 16:  # received in a message, it may be at any address
            data = data.copy()
        view = data.data.toreadonly()
        head, *arrays = [view[begin:end] for begin, end in self.parts]
        return pickle.loads(head, buffers=arrays)

    def written(self, path: Path) -> ParcelFile:
        """The parcel written to a file."""
        self.data.tofile(path)
        return ParcelFile(path, self.parts, self.digest)

    def __reduce__(self) -> tuple[type[Parcel], tuple[Any, ...]]:
        return Parcel, (self.data, self.parts, self.digest)  # without the cached value

    def __sizeof__(self) -> int:
        return self.data.nbytes


@dataclass(frozen=True)
class ParcelFile:
    """A parcel in a file, which all processes of a machine map into shared memory."""

    path: Path
    parts: tuple[tuple[int, int], ...]
    digest: str

    @property
    def value(self) -> Any:
        """The value; each process unpacks it once."""
        return _mapped(self).value


@lru_cache(maxsize=1)
def _mapped(file: ParcelFile) -> Parcel:
    try:
        return Parcel(np.memmap(file.path, dtype=np.uint8, mode="r"), file.parts, file.digest)
    except OSError as error:
        raise AndreError(
            f"a worker cannot read the facts in {file.path} ({error.strerror}): where workers are on other "
            "machines, let TMPDIR be a folder that all of them see, or use a dask cluster"
        ) from None


def _client_of(executor: Executor | None) -> Client | None:
    """The dask client behind an executor; None for other executors."""
    dask = sys.modules.get("distributed.cfexecutor")
    if dask is None or not isinstance(executor, dask.ClientExecutor):
        return None
    return executor._client


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    """A client of the scheduler at an address, after checking that it has workers of our versions."""
    try:
        distributed: Any = import_module("distributed")  # an extra, and slow to load
    except ImportError:
        raise AndreError(
            "a cluster needs dask.distributed, which is not installed: pip install 'andre[cluster]'"
        ) from None
    try:
        client = distributed.Client(address, timeout=_CONNECTING, set_as_default=False)
    except (OSError, ValueError) as error:  # among them TimeoutError
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise AndreError(
            f"there is no dask scheduler at {address} ({reason}): start one by `dask scheduler`, and give "
            "the address that it prints, as tcp://host:8786"
        ) from None
    with _quiet("distributed.client"), client:
        try:
            client.wait_for_workers(1, timeout=_CONNECTING)
        except TimeoutError:
            raise AndreError(
                f"the scheduler at {address} has no workers: start some by "
                f"`dask worker {address} --nthreads 1`"
            ) from None
        _refuse_other_versions(client, address)
        yield client


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Silence a logger, which would print tracebacks of what is an error message here."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def _refuse_other_versions(client: Client, address: str) -> None:
    """Raise an error that names packages with other versions elsewhere."""
    found = client.get_versions(packages=list(_SAME))
    here = _versions(found["client"])
    everyone = {"the scheduler": found["scheduler"], **found["workers"]}
    for who, reported in everyone.items():
        there = _versions(reported)
        other = [f"{name} {there[name]} (here {here[name]})" for name in _SAME if there[name] != here[name]]
        if other:
            where = f"{who} of {address}" if who == "the scheduler" else f"the worker {who}"
            raise AndreError(f"{where} has {', '.join(other)}: install the same versions everywhere")


def _versions(reported: Any) -> dict[str, str]:
    python = str(reported["host"]["python"]).split(".final")[0]
    return {name: python if name == "python" else reported["packages"].get(name) or "none" for name in _SAME}


@contextmanager
def _processes(jobs: int, memory: int | None) -> Iterator[Executor]:
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
