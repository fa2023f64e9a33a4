"""What memory a process may take, has taken, and has."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from andre.errors import MemoryLimitError

#: Bytes without which nothing can be learned.
_LEAST_ROOM = 64 << 20

_is_bounded = False


@contextmanager
def bounded_memory(limit: int | None) -> Iterator[None]:
    """Let this process take no more memory than this many bytes; None sets no bound.

    What asks for more gets a MemoryError, which is told as a MemoryLimitError, unless a `stage` with
    a best so far catches it. For a process of our own; without effect where the system has no such limit.

    Raises
    ------
    MemoryLimitError
        Where the process has taken more already, or runs out.
    """
    global _is_bounded  # noqa: PLW0603  (of the process, as its memory is)
    taken = _memory_taken()
    if limit is None or taken is None:
        yield
        return
    import resource  # noqa: PLC0415  (which there is, where the system says what was taken)

    resident, private = taken
    if limit < resident + _LEAST_ROOM:
        raise MemoryLimitError(
            f"a memory limit of {limit / 2**20:,.0f} MB is too low: Python with its libraries takes "
            f"{resident / 2**20:,.0f} MB before anything is read, so give {_LEAST_ROOM / 2**20:,.0f} MB more"
        )
    before, was_bounded = resource.getrlimit(resource.RLIMIT_DATA), _is_bounded
    # The limit is on what is asked for, some of which is never used.
    resource.setrlimit(resource.RLIMIT_DATA, (private + limit - resident, before[1]))
    _is_bounded = True
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not lacks_memory(error):
            raise
        # After the traceback is gone, and with it all that it holds.
        said = f"the memory limit of {limit / 2**20:,.0f} MB is too low for this: raise it"
    else:
        return
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
        _is_bounded = was_bounded
    raise MemoryLimitError(f"{said}, or give fewer facts, relations, variables, rows or columns")


def room(most: int) -> int:
    """Bytes that one large piece of work may take: `most`, or half of what a bound leaves.

    Examples
    --------
    >>> room(1 << 30) >> 20
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
    """Whether an error says that there is no memory left; torch and threads have no class for it.

    Examples
    --------
    >>> lacks_memory(MemoryError()), lacks_memory(RuntimeError("can't start new thread"))
    (True, True)
    >>> lacks_memory(RuntimeError("shapes do not match"))
    False
    """
    said = ("can't allocate memory", "can't start new thread", "bad_alloc", "out of memory")
    return isinstance(error, MemoryError) or any(words in str(error).lower() for words in said)


def _memory_taken() -> tuple[int, int] | None:
    """Bytes of this process that are resident, and those that it has asked for; None but on Linux."""
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
    """The bytes of memory that this process holds; 0 where the system does not say."""
    taken = _memory_taken()
    return 0 if taken is None else taken[0]


def machine_gigabytes() -> float | None:
    """The memory of this machine in GB; None where the system does not say.

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
    """The most memory in megabytes that this process has taken so far; None where the system does not say.

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
