"""Time limits and Ctrl-C.

A deadline holds for everything inside `with limited(...)`, however deep: it is kept
in a context variable, as a decimal context is, so that it need not be passed through
ten functions that have no other use for it. A loop calls `check()` for every block of
work, which raises `OutOfTimeError` when time is up. Work that has a best result so far
puts the loop in `with stage(name)`, which catches the error, notes that the stage was
cut short, and continues with what there is. Work without which there is no result at
all is done in `with unhurried()`.

Ctrl-C inside `with interruptible()` moves the deadline close. A process of our own,
such as the command line, also uses `with enforced()`, which interrupts work that does
not check the time, and `with bounded_memory(...)` of `andre.memory`.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from types import FrameType

from andre.errors import OutOfTimeError
from andre.memory import is_bounded, lacks_memory
from andre.progress import doing, underway

#: The share of a limit by which work that does not check the time may exceed it before it is interrupted.
_GRACE = 0.03
_LEAST_GRACE = 0.1  # seconds
#: How many times that grace work outside of stages has, since all of it would be lost.
_GRACE_OUTSIDE_STAGES = 2.5
#: Seconds between two checks on behalf of such work.
_ALARM_INTERVAL = 0.05
#: CPU seconds that work has to finish once it has noticed that its time is up.
_FINISHING = 0.5
#: The file name of Python's own code that loads modules.
_IMPORTING = "<frozen importlib._bootstrap>"
#: Seconds after Ctrl-C for making the best result so far ready.
_PATIENCE = 1.0


@dataclass(frozen=True)
class Deadline:
    """A moment after which work stops and returns its best result so far.

    Examples
    --------
    >>> Deadline.after(None).passed, Deadline.after(0).passed
    (False, True)
    """

    moment: float  #: on the monotonic clock

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """The deadline in so many seconds; None is never."""
        return cls(math.inf if seconds is None else now() + seconds)

    @property
    def passed(self) -> bool:
        """Whether the time is up."""
        return self.moment < math.inf and now() >= self.moment

    @property
    def left(self) -> float:
        """Seconds until then; 0 if it has passed."""
        return max(0.0, self.moment - now()) if self.moment < math.inf else math.inf

    def share(self, part: float) -> Deadline:
        """The deadline at which this part of the remaining time will be over.

        Examples
        --------
        >>> Deadline.after(None).share(0.5).moment
        inf
        """
        return Deadline.after(self.left * part if self.moment < math.inf else None)


@dataclass
class Watch:
    """A deadline that holds for some work, and the stages that it has cut short."""

    deadline: Deadline
    cut: list[str] = field(default_factory=list)  #: the names of stages, in order, each once
    why: str | None = None  #: "time", "interrupted" or "memory"; the last of several
    is_hurried: bool = True  #: whether Ctrl-C ends it
    grace: float = 0.0  #: seconds beyond the deadline for work that does not check the time
    noticed: float | None = None  #: CPU seconds of the process when work last noticed that time is up

    def note(self, *stages: str, why: str | None = None) -> None:
        """Note that these stages were cut short, and why."""
        self.cut += [name for name in dict.fromkeys(stages) if name not in self.cut]
        self.why = why or self.why


_NEVER = Deadline(math.inf)
_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)
_clock: ContextVar[Callable[[], float]] = ContextVar("clock", default=time.monotonic)


def now() -> float:
    """Seconds on the clock that deadlines are measured by."""
    return _clock.get()()


@contextmanager
def clocked_by(clock: Callable[[], float]) -> Iterator[None]:
    """Measure the deadlines inside by another clock, such as `cpu_seconds`.

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
    """CPU seconds of this process and of the child processes that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@contextmanager
def limited(deadline: Deadline) -> Iterator[Watch]:
    """Set a deadline for the work inside, unless an earlier one holds already.

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
    """Lift the deadline for the work inside: work without which there is no result at all."""
    with _watching(_NEVER, is_hurried=False):
        yield


@contextmanager
def _watching(deadline: Deadline, is_hurried: bool = True) -> Iterator[Watch]:
    outer = _watch.get()
    grace = max(_LEAST_GRACE, _GRACE * deadline.left) if _is_enforced and deadline.moment < math.inf else 0.0
    watch = Watch(deadline, is_hurried=is_hurried, grace=grace)
    token = _watch.set(watch)
    try:
        yield watch
    finally:
        _watch.reset(token)
        if outer is not None:
            outer.note(*watch.cut, why=watch.why)


def time_left() -> Deadline:
    """The deadline that holds here; after Ctrl-C it is close."""
    watch, interrupt = _watch.get(), _interrupt.get()
    if watch is None:
        return _NEVER
    if watch.is_hurried and interrupt is not None and interrupt.asked:
        return Deadline(min(watch.deadline.moment, interrupt.moment + _PATIENCE))
    return watch.deadline


def check() -> None:
    """Raise OutOfTimeError if the deadline has passed; to be called for every block of long work."""
    if time_left().passed:
        if (watch := _watch.get()) is not None:
            watch.noticed = time.process_time()
        raise _time_error()


def _time_error() -> OutOfTimeError:
    if was_interrupted():
        return OutOfTimeError("stopped by Ctrl-C before there was anything to hand back")
    where = f" in the midst of {work}," if (work := underway()) else ""
    return OutOfTimeError(f"the time limit passed{where} before there was anything to hand back: raise it")


@contextmanager
def interrupting(stop: Callable[[], object]) -> Iterator[None]:
    """Call `stop` when the deadline passes, for work that cannot call `check`, such as a database query.

    Raises
    ------
    OutOfTimeError
        If the work was stopped, whatever error it raises itself.
    """
    deadline = time_left()
    check()
    if deadline.left == math.inf:
        yield
        return
    over, context = threading.Event(), copy_context()

    def wait() -> None:
        while (left := deadline.left) > 0:
            if over.wait(left):  # waits in real time, and the clock of the deadline may be slower
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


def out_of_time(name: str) -> bool:
    """Whether the deadline has passed; if so, the stage of this name is noted as cut short."""
    with stage(name):
        check()
        return False
    return True


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Work with a best result so far: if time runs out inside, it ends there, and its name is noted."""
    global _stages  # noqa: PLW0603  (of the main thread, which gets the alarms)
    with doing(name):  # outside of the try, since an alarm in here has no result to catch it for
        _stages += 1
        try:
            yield
        except OutOfTimeError:
            if (watch := _watch.get()) is not None:
                watch.noticed = time.process_time()
                watch.note(name, why=stopped_by())
        except (MemoryError, RuntimeError) as error:
            if not (is_bounded() and lacks_memory(error)):
                raise
            if (watch := _watch.get()) is not None:
                watch.note(name, why="memory")
        finally:
            _stages -= 1


@dataclass
class Interrupt:
    """A request to stop, which work checks at places where it can stop safely."""

    asked: bool = False
    moment: float = math.inf  #: of the request, on the clock of `now`


_interrupt: ContextVar[Interrupt | None] = ContextVar("interrupt", default=None)


def was_interrupted() -> bool:
    """Whether Ctrl-C was pressed inside the surrounding `interruptible`."""
    interrupt = _interrupt.get()
    return interrupt is not None and interrupt.asked


def stopped_by() -> str:
    """Why the deadline has passed: "interrupted" or "time"."""
    return "interrupted" if was_interrupted() else "time"


def stop_reason(why: str | None, limit: float | None) -> str:
    """What has cut work short, as the beginning of a sentence.

    Parameters
    ----------
    why
        A cause as in `Watch.why`.
    limit
        The time limit in seconds.

    Examples
    --------
    >>> stop_reason("time", 10), stop_reason("interrupted", None)
    ('the time limit of 10 s was reached', 'Ctrl-C came')
    """
    if why == "interrupted":
        return "Ctrl-C came"
    if why == "memory":
        return "the memory limit was reached"
    return (
        "the limit of a stage was reached" if limit is None else f"the time limit of {limit:g} s was reached"
    )


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Turn the first Ctrl-C into a deadline that is close; a second one stops at once.

    Inside another `interruptible` the outer one is used. Outside the main thread, to which Python
    delivers no signals, this has no effect.

    Examples
    --------
    >>> with interruptible() as interrupt:
    ...     signal.raise_signal(signal.SIGINT)
    ...     interrupt.asked
    True
    """
    if (outer := _interrupt.get()) is not None:
        yield outer
        return
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return

    def ask(signum: int, frame: FrameType | None) -> None:
        if interrupt.asked:
            raise KeyboardInterrupt
        interrupt.asked, interrupt.moment = True, now()

    before, token = signal.signal(signal.SIGINT, ask), _interrupt.set(interrupt)
    try:
        yield interrupt
    finally:
        _interrupt.reset(token)
        signal.signal(signal.SIGINT, before)


_is_enforced = False  # whether this process is in `enforced`
_stages = 0  # how many stages are under way


@contextmanager
def enforced() -> Iterator[None]:
    """Interrupt work that continues after its deadline because it does not check the time.

    Shortly after the deadline, OutOfTimeError is raised wherever the main thread is. This uses the
    alarm signal, so it is only for a process of our own.

    Examples
    --------
    >>> import itertools
    >>> with enforced(), limited(Deadline.after(0.01)) as watch, stage("counting"):
    ...     for number in itertools.count():
    ...         pass
    >>> watch.cut
    ['counting']
    """
    global _is_enforced  # noqa: PLW0603  (of the process, as its signals are)
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield  # on Windows, or where no signal arrives
        return
    before, was_enforced = signal.signal(signal.SIGALRM, _ring), _is_enforced
    signal.siginterrupt(signal.SIGALRM, False)
    signal.setitimer(signal.ITIMER_REAL, _ALARM_INTERVAL, _ALARM_INTERVAL)
    _is_enforced = True
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        # An alarm that is still to arrive must not end the process, which is the default action.
        signal.signal(signal.SIGALRM, signal.SIG_IGN if before == signal.SIG_DFL else before)
        _is_enforced = was_enforced


def _ring(signum: int, frame: FrameType | None) -> None:
    watch, deadline = _watch.get(), time_left()
    if watch is None or deadline.moment == math.inf:
        return
    if now() <= deadline.moment + (watch.grace if _stages else _GRACE_OUTSIDE_STAGES * watch.grace):
        return
    if frame is not None and _must_not_be_cut(frame):  # the next alarm is soon
        return
    # Work that has noticed that time is up is about to return, if slowly on a busy machine.
    if watch.noticed is None or time.process_time() - watch.noticed > max(watch.grace, _FINISHING):
        watch.noticed = time.process_time()
        raise _time_error()


def _must_not_be_cut(frame: FrameType) -> bool:
    """Whether Python is deleting an object, where exceptions are lost, or loading a module.

    A library whose loading was interrupted cannot be loaded again in the same process, and the best
    result so far may need it. After Ctrl-C outside of stages there is no result that could.
    """
    if frame.f_code.co_name == "__del__" or frame.f_code.co_filename == weakref.__file__:
        return True
    if was_interrupted() and not _stages:
        return False
    under: FrameType | None = frame
    while under is not None:
        if under.f_code.co_filename == _IMPORTING:
            return True
        under = under.f_back
    return False
