"""What time and threads work may take, and how Ctrl-C ends it.

One deadline holds for all that is done inside `with limited(...)`, however deep:
it lies in a context variable, as a decimal context does, so that a loop over
blocks of a table need not be handed it through ten functions that have no other
use for it. A loop calls `check()` for every block, which raises `OutOfTimeError` when
time is up. Whatever has a best so far puts the loop in `with stage(name)`, which
catches that, notes which stage was cut, and lets work go on with what there is.
What must be done to hand anything back is done in `with unhurried()`.

Ctrl-C inside `with interruptible()` brings the deadline near. A process of
our own, such as the command line, also stands in `with enforced()`, which cuts work that
looks at no clock, and in `with bounded_memory(...)` of `andre.memory`.
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

#: Numbers computed at a time from which several threads pay.
_WORTH_SHARING = 1_000_000
#: Of a limit, what work that looks at no clock may take beyond it before it is cut wherever it is.
_GRACE = 0.03
_LEAST_GRACE = 0.1  # seconds
#: Seconds between two looks at the clock on behalf of such work.
_RINGING = 0.05
#: Times that for work outside of stages.
_TO_THE_END = 2.5
#: CPU seconds for work that knows that its time is up.
_LAST_WORDS = 0.5
#: Where the code of Python lies that loads modules.
_IMPORTING = "<frozen importlib"
#: Seconds after Ctrl-C in which the best so far is made ready.
_PATIENCE = 1.0


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
    why: str | None = None  #: "time", "interrupted" or "memory"; of several, the last
    is_hurried: bool = True  #: whether Ctrl-C ends it
    grace: float = 0.0  #: seconds, for work that looks at no clock
    told: float | None = None  #: CPU seconds of the process when work was last told that time is up

    def note(self, *stages: str, why: str | None = None) -> None:
        """Note that these stages were cut short, and why."""
        self.cut += [name for name in dict.fromkeys(stages) if name not in self.cut]
        self.why = why or self.why


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
    """The deadline that holds here; after Ctrl-C it is near."""
    watch, interrupt = _watch.get(), _interrupt.get()
    if watch is None:
        return _NEVER
    if watch.is_hurried and interrupt is not None and interrupt.asked:
        return Deadline(min(watch.deadline.moment, interrupt.moment + _PATIENCE))
    return watch.deadline


def check() -> None:
    """Raise OutOfTimeError where the deadline has passed: for every block of work that may take long."""
    if time_left().passed:
        if (watch := _watch.get()) is not None:
            watch.told = time.process_time()
        raise _out_of_time()


def _out_of_time() -> OutOfTimeError:
    if was_interrupted():
        return OutOfTimeError("stopped by Ctrl-C before there was anything to hand back")
    where = f" in the midst of {work}," if (work := underway()) else ""
    return OutOfTimeError(f"the time limit passed{where} before there was anything to hand back: raise it")


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
    global _stages  # noqa: PLW0603  (of the main thread, in which alarms ring)
    with doing(name):  # outside, as an alarm may ring in it, before there is anything to catch it for
        _stages += 1
        try:
            yield
        except OutOfTimeError:
            if (watch := _watch.get()) is not None:
                watch.told = time.process_time()
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
    """A request to stop, which work looks at where it can stop safely."""

    asked: bool = False
    moment: float = math.inf  #: when it was asked for, on the monotonic clock


_interrupt: ContextVar[Interrupt | None] = ContextVar("interrupt", default=None)


def was_interrupted() -> bool:
    """Whether Ctrl-C has asked the work around this to stop."""
    interrupt = _interrupt.get()
    return interrupt is not None and interrupt.asked


def stopped_by() -> str:
    """What has made the deadline pass: "interrupted" or "time"."""
    return "interrupted" if was_interrupted() else "time"


def told(why: str | None, limit: float | None) -> str:
    """What has cut work short, as the beginning of a sentence.

    Parameters
    ----------
    why
        As `Watch.why` has it.
    limit
        Seconds that there were.

    Examples
    --------
    >>> told("time", 10), told("interrupted", None)
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
    """Turn the first Ctrl-C into a deadline that is near; a second one stops at once.

    Inside another one that one goes on. Outside the main thread Python delivers no signals, and
    nothing changes.

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
_stages = 0  # that are under way, each with a best so far


@contextmanager
def enforced() -> Iterator[None]:
    """Cut work that goes on after its deadline without looking at a clock.

    Some time after the deadline OutOfTimeError is raised wherever the main thread is. This
    takes the alarm signal, and so is for a process of our own.

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
    signal.setitimer(signal.ITIMER_REAL, _RINGING, _RINGING)
    _is_enforced = True
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        # One that is under way must not end the process, as it does by default.
        signal.signal(signal.SIGALRM, signal.SIG_IGN if before == signal.SIG_DFL else before)
        _is_enforced = was_enforced


def _ring(signum: int, frame: FrameType | None) -> None:
    watch, deadline = _watch.get(), time_left()
    if watch is None or deadline.moment == math.inf:
        return
    # Outside of stages all would be lost, so that these have longer.
    if now() <= deadline.moment + (watch.grace if _stages else _TO_THE_END * watch.grace):
        return
    # Where Python drops objects, what is raised goes nowhere: the next ring is soon.
    if frame is not None and (
        frame.f_code.co_name == "__del__" or frame.f_code.co_filename == weakref.__file__
    ):
        return
    # A module that is half loaded may not load a second time, as torch does not.
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORTING):
            return
        frame = frame.f_back
    # Whoever knows that time is up is about to hand back what there is, be it slowly on a busy machine.
    if watch.told is None or time.process_time() - watch.told > max(watch.grace, _LAST_WORDS):
        watch.told = time.process_time()
        raise _out_of_time()


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
