"""A dask cluster: connecting to it, and what is known of its workers."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeAlias

from andre.errors import AndreError

#: Seconds to wait for a scheduler, and for its first worker.
_CONNECTING = 30.0
#: Versions that must agree everywhere: otherwise values cannot be unpacked, or results differ.
_SAME = ("python", "andre", "dask", "distributed", "cloudpickle", "numpy", "scipy", "torch")

#: A dask `Client`, which comes from an extra without types.
Client: TypeAlias = Any


def memory_of(executor: Executor | None) -> float | None:
    """Gigabytes of memory per task on the smallest worker of a cluster; None for other executors."""
    client = client_of(executor)
    if client is None:
        return None
    known = client.scheduler_info(n_workers=-1)["workers"].values()
    sizes = [one["memory_limit"] / one["nthreads"] / 2**30 for one in known if one["memory_limit"]]
    return min(sizes, default=None)


def client_of(executor: Executor | None) -> Client | None:
    """The dask client behind an executor; None for other executors."""
    dask = sys.modules.get("distributed.cfexecutor")
    if dask is None or not isinstance(executor, dask.ClientExecutor):
        return None
    return executor._client


@contextmanager
def connected(address: str) -> Iterator[Client]:
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
