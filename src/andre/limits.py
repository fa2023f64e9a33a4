"""What work may take: time, threads and memory, and how Ctrl-C ends it.

Work that runs long asks a `Deadline` and an `Interrupt` now and then, and
hands back the best it has when either says stop.
"""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

#: Numbers computed at a time from which several threads pay.
_WORTH_SHARING = 1_000_000


@dataclass(frozen=True)
class Deadline:
    """A moment after which work stops and hands back the best it has.

    Examples
    --------
    >>> Deadline.after(None).passed, Deadline.after(0).passed
    (False, True)
    """

    moment: float  #: on the monotonic clock

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """The moment so many seconds from now; None is never."""
        return cls(math.inf if seconds is None else time.monotonic() + seconds)

    @property
    def passed(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self.moment


@dataclass
class Interrupt:
    """A request to stop, which work looks at where it can stop safely."""

    asked: bool = False


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Turn the first Ctrl-C into a request; a second one stops at once.

    Outside the main thread Python delivers no signals, and nothing changes.

    Examples
    --------
    >>> with interruptible() as interrupt:
    ...     signal.raise_signal(signal.SIGINT)
    ...     interrupt.asked
    True
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return

    def ask(signum: int, frame: FrameType | None) -> None:
        if interrupt.asked:
            raise KeyboardInterrupt
        interrupt.asked = True

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def sized_threads(work: int) -> Iterator[None]:
    """Use one thread of torch for little work: sharing out small pieces takes longer than doing them.

    Parameters
    ----------
    work
        How many numbers are computed at a time.

    Examples
    --------
    >>> import torch
    >>> with sized_threads(100):
    ...     torch.get_num_threads()
    1
    """
    import torch  # noqa: PLC0415  (slow to load, and most of this module does without)

    before = torch.get_num_threads()
    if work < _WORTH_SHARING:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


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
