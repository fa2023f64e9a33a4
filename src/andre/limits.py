"""What work may take: time, threads and memory, and how Ctrl-C ends it.

One deadline holds for all that is done inside `with limited(...)`, however deep:
it lies in a context variable, as a decimal context does, so that a loop over
blocks of a table need not be handed it through ten functions that have no other
use for it. A loop calls `check()` for every block, which raises `OutOfTimeError` when
time is up. Whatever has a best so far puts the loop in `with stage(name)`, which
catches that, notes which stage was cut, and lets work go on with what there is.
What must be done to hand anything back is done in `with unhurried()`.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from types import FrameType

from andre.errors import OutOfTimeError

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
        return cls(math.inf if seconds is None else now() + seconds)

    @property
    def passed(self) -> bool:
        """Whether the time is up."""
        return self.moment < math.inf and now() >= self.moment

    @property
    def left(self) -> float:
        """Seconds until then, 0 at the least."""
        return max(0.0, self.moment - now()) if self.moment < math.inf else math.inf

    def share(self, part: float) -> Deadline:
        """The moment when this part of the time that is left will be over.

        Examples
        --------
        >>> Deadline.after(None).share(0.5).moment
        inf
        """
        return Deadline.after(self.left * part if self.moment < math.inf else None)


@dataclass
class Watch:
    """A deadline that holds for some work, and the stages of the work that it has cut short."""

    deadline: Deadline
    cut: list[str] = field(default_factory=list)  #: names of stages, in order, each once

    def note(self, *stages: str) -> None:
        """Note that these stages were cut short."""
        self.cut += [name for name in dict.fromkeys(stages) if name not in self.cut]


_NEVER = Deadline(math.inf)
_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)
_clock: ContextVar[Callable[[], float]] = ContextVar("clock", default=time.monotonic)


def now() -> float:
    """The clock that deadlines are read from, in seconds."""
    return _clock.get()()


@contextmanager
def clocked_by(clock: Callable[[], float]) -> Iterator[None]:
    """Read the deadlines that are set inside from another clock, such as `cpu_seconds`.

    Examples
    --------
    >>> with clocked_by(iter([0.0, 1.0, 5.0]).__next__):
    ...     deadline = Deadline.after(3)
    ...     deadline.passed, deadline.passed
    (False, True)
    """
    token = _clock.set(clock)
    try:
        yield
    finally:
        _clock.reset(token)


def cpu_seconds() -> float:
    """What this process and those that it has waited for have computed so far, whoever else computes."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@contextmanager
def limited(deadline: Deadline) -> Iterator[Watch]:
    """Let a deadline hold for what is done inside, or an earlier one that holds already.

    Examples
    --------
    >>> with limited(Deadline.after(0)) as watch:
    ...     with stage("counting"):
    ...         check()
    >>> watch.cut
    ['counting']
    """
    with _watching(min(deadline, time_left(), key=lambda one: one.moment)) as watch:
        yield watch


@contextmanager
def unhurried() -> Iterator[None]:
    """Let no deadline hold for what is done inside: what is needed to hand back anything at all."""
    with _watching(_NEVER):
        yield


@contextmanager
def _watching(deadline: Deadline) -> Iterator[Watch]:
    outer, watch = _watch.get(), Watch(deadline)
    token = _watch.set(watch)
    try:
        yield watch
    finally:
        _watch.reset(token)
        if outer is not None:
            outer.note(*watch.cut)


def time_left() -> Deadline:
    """The deadline that holds here."""
    watch = _watch.get()
    return _NEVER if watch is None else watch.deadline


def check() -> None:
    """Raise OutOfTimeError where the deadline has passed: for every block of work that may take long."""
    watch = _watch.get()
    if watch is not None and watch.deadline.passed:
        raise OutOfTimeError("the time limit passed before there was anything to hand back: raise it")


@contextmanager
def interrupting(stop: Callable[[], object]) -> Iterator[None]:
    """Call `stop` when the deadline passes, for work inside that no loop of ours divides: a query, say.

    Raises
    ------
    OutOfTimeError
        Where the work was ended so, whatever it raises itself.
    """
    deadline = time_left()
    check()
    if deadline.left == math.inf:
        yield
        return
    over, context = threading.Event(), copy_context()

    def wait() -> None:
        while (left := deadline.left) > 0:
            if over.wait(left):  # a clock of its own may be slower than the time that is waited
                return
        stop()

    thread = threading.Thread(target=context.run, args=(wait,), daemon=True)
    thread.start()
    try:
        yield
    except Exception:
        check()
        raise
    finally:
        over.set()
        thread.join()


def late(name: str) -> bool:
    """Whether the deadline has passed, which then has cut short the stage of this name."""
    with stage(name):
        check()
        return False
    return True


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Work that leaves a best so far: where time runs out inside, it ends there, and its name is noted."""
    try:
        yield
    except OutOfTimeError:
        if (watch := _watch.get()) is not None:
            watch.note(name)


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
