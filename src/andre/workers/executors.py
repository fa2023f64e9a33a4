"""Executors: what `executor=` accepts, and those that the command line makes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any, Protocol

from andre.workers.cluster import connected
from andre.workers.processes import processes


class MakesExecutor(Protocol):
    """An object that provides an executor, as a dask `Client` does."""

    def get_executor(self, **options: Any) -> Executor:
        """The executor."""


#: What `executor=` accepts: any executor, or a dask client.
Workers = Executor | MakesExecutor


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
        with connected(cluster) as client:
            yield client.get_executor()
    elif jobs == 1:
        yield None
    else:
        with processes(jobs, None if memory is None else memory // jobs) as executor:
            yield executor


def as_executor(given: Workers) -> Executor:
    """The executor itself, or that of a dask client."""
    return given if isinstance(given, Executor) else given.get_executor()
