"""Memory: bounds on what this process takes, how much it has taken, and how much the machine has."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from andre.errors import MemoryLimitError

#: Bytes beside Python and its libraries that any work needs at least.
_LEAST_ROOM = 64 << 20

_is_bounded = False


@contextmanager
def bounded_memory(limit: int | None) -> Iterator[None]:
    """Bound the memory of this process to so many bytes; None sets no bound.

    An allocation beyond it fails with a MemoryError. A `stage` catches that and keeps its best result
    so far; elsewhere it becomes a MemoryLimitError. Use this only in a process of our own, since the
    limit holds for all of it; it has no effect on systems without such limits.

    Raises
    ------
    MemoryLimitError
        If the process has taken more already, or runs out of memory.
    """
    global _is_bounded  # noqa: PLW0603  (of the process, as its memory is)
    taken = _memory_taken()
    if limit is None or taken is None:
        yield
        return
    import resource  # noqa: PLC0415  (which exists where /proc does)

    resident, private = taken
    if limit < resident + _LEAST_ROOM:
        raise MemoryLimitError(
            f"a memory limit of {limit / 2**20:,.0f} MB is too low: Python with its libraries takes "
            f"{resident / 2**20:,.0f} MB before anything is read, so give {_LEAST_ROOM / 2**20:,.0f} MB more"
        )
    before, was_bounded = resource.getrlimit(resource.RLIMIT_DATA), _is_bounded
    # The system limits what is allocated, of which only a part is resident.
    resource.setrlimit(resource.RLIMIT_DATA, (private + limit - resident, before[1]))
    _is_bounded = True
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not lacks_memory(error):
            raise
        # Raised below, when the traceback is gone and has freed what it holds.
        reason = f"the memory limit of {limit / 2**20:,.0f} MB is too low for this: raise it"
    else:
        return
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
        _is_bounded = was_bounded
    raise MemoryLimitError(f"{reason}, or give fewer facts, relations, variables, rows or columns")


def memory_share(most: int) -> int:
    """Bytes that one large piece of work may take: `most`, or half of what the bound still allows.

    Examples
    --------
    >>> memory_share(1 << 30) >> 20
    1024
    """
    taken = _memory_taken()
    if not _is_bounded or taken is None:
        return most
    import resource  # noqa: PLC0415

    return max(_LEAST_ROOM // 2, min(most, (resource.getrlimit(resource.RLIMIT_DATA)[0] - taken[1]) // 2))


def is_bounded() -> bool:
    """Whether this process is in `bounded_memory`."""
    return _is_bounded


def lacks_memory(error: BaseException) -> bool:
    """Whether an error means that no memory is left: torch and threads raise RuntimeError for it.

    Examples
    --------
    >>> lacks_memory(MemoryError()), lacks_memory(RuntimeError("can't start new thread"))
    (True, True)
    >>> lacks_memory(RuntimeError("shapes do not match"))
    False
    """
    messages = ("can't allocate memory", "can't start new thread", "bad_alloc", "out of memory")
    return isinstance(error, MemoryError) or any(words in str(error).lower() for words in messages)


def _memory_taken() -> tuple[int, int] | None:
    """The resident and the allocated bytes of this process; None except on Linux."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    sizes = {name: rest.split() for name, _, rest in (line.partition(":") for line in lines)}
    if not {"VmRSS", "VmData"} <= sizes.keys():
        return None
    resident, private = (int(sizes[name][0]) << 10 for name in ("VmRSS", "VmData"))
    return resident, private


def resident_bytes() -> int:
    """The resident bytes of this process; 0 if the system does not report them."""
    taken = _memory_taken()
    return 0 if taken is None else taken[0]


def machine_gigabytes() -> float | None:
    """The memory of this machine in GB; None if the system does not report it.

    Examples
    --------
    >>> size = machine_gigabytes()
    >>> size is None or size > 0.1
    True
    """
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (AttributeError, ValueError, OSError):  # Windows has no such function
        return None


def peak_megabytes() -> float | None:
    """The peak memory of this process in megabytes; None if the system does not report it.

    Examples
    --------
    >>> peak = peak_megabytes()
    >>> peak is None or peak > 1
    True
    """
    try:
        import resource  # noqa: PLC0415
    except ImportError:  # Windows has no such module
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10
