"""How every command is run: its progress is shown, its limits hold, and Ctrl-C ends it with a sentence."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from andre.cli.options import memory_bytes
from andre.cli.printing import before_saying, printable, say
from andre.errors import AndreError, OutOfTimeError, StoppedError
from andre.limits import Deadline, enforced, interruptible, limited, was_interrupted
from andre.memory import bounded_memory
from andre.progress import Work, watching

if TYPE_CHECKING:
    from andre.report import LiveProgress

#: Seconds that something must take before a log says so, and those between two lines about the same work.
_WORTH_TELLING, _BETWEEN_LINES = 2.0, 10.0
#: Between two lines there is also this part of the time that all has taken.
_OF_ALL = 0.1
#: Seconds between two looks at what is under way.
_PAUSE = 0.2
#: Seconds after which a terminal shows what is under way.
_AT_ONCE = 0.3


class Display:
    """Shows what is under way: on one line of a terminal, which is gone afterwards, or as lines of a log.

    Parameters
    ----------
    works
        What is under way, outermost first; other threads change it.
    """

    def __init__(self, works: Sequence[Work]) -> None:
        self._works, self._is_terminal = works, sys.stderr.isatty()
        self._live: LiveProgress | None = None
        self._torch: Work | None = None
        self._said, self._told, self._drawn = "", time.monotonic(), ""
        self._lock, self._ended = threading.RLock(), threading.Event()

    def run(self) -> None:
        """Look again and again, until the end."""
        while not self._ended.wait(_PAUSE):
            with self._lock:
                self.look()

    def look(self) -> None:
        """Show what is under way, if that is worth it."""
        works = [*self._works, *self._loading()]
        now = time.monotonic()
        if not works:
            return
        if self._is_terminal:
            if now - works[0].began > _AT_ONCE:
                self._draw(f"{_in_words(works)} ({now - works[0].began:,.0f} s)")
            return
        # The innermost work that takes long: what is quickly over is no news.
        slow = [work for work in works if now - work.began > _WORTH_TELLING]
        if not slow:
            return
        name = "/".join(work.name for work in slow)
        # What has taken minutes is told less often: a log is read from its end.
        patience = _WORTH_TELLING if name != self._said else _BETWEEN_LINES
        if now - self._told > max(patience, _OF_ALL * (now - works[0].began)):
            self._said, self._told = name, now
            say(f"{_in_words(works if works[: len(slow)] == slow else slow)} ({now - works[0].began:,.0f} s)")

    def _loading(self) -> list[Work]:
        """Torch, while it is being imported by whatever needs it first."""
        spec = getattr(sys.modules.get("torch"), "__spec__", None)
        if not getattr(spec, "_initializing", False):
            self._torch = None
            return []
        self._torch = self._torch or Work("loading torch")
        return [self._torch]

    def clear(self) -> None:
        """Take away the line of a terminal, so that another can be written."""
        with self._lock:
            self._draw("")

    def end(self) -> None:
        """Show nothing any more."""
        self._ended.set()
        self.clear()

    @contextmanager
    def through(self, live: LiveProgress) -> Iterator[None]:
        """Let a live view show it, which has the terminal for now."""
        with self._lock:
            self._draw("")
            self._live = live
        try:
            yield
        finally:
            with self._lock:
                self._live = None

    def _draw(self, line: str) -> None:
        if self._live is not None:
            self._live.show_stage(line)
        elif line != self._drawn and self._is_terminal:
            self._drawn = line
            # Back to the beginning of the line, and away with the rest of it.
            sys.stderr.write(f"\r\x1b[K{printable(line)[: _width() - 1]}")
            sys.stderr.flush()


def _width() -> int:
    from shutil import get_terminal_size

    return get_terminal_size().columns


def _in_words(works: Sequence[Work]) -> str:
    """The outermost work and the innermost two; what is part of work of the same name is not told apart."""
    works = [work for place, work in enumerate(works) if not place or works[place - 1].name != work.name]
    shown = works if len(works) <= 3 else (works[0], *works[-2:])
    return ": ".join(map(str, shown))


_display: Display | None = None


@contextmanager
def _showing(quiet: bool) -> Iterator[None]:
    global _display  # noqa: PLW0603  (there is one terminal)
    if quiet or sys.stderr is None:
        yield
        return
    works: list[Work] = []
    _display = display = Display(works)
    before_saying.append(display.clear)
    with watching(works, display.clear):
        thread = threading.Thread(target=display.run, daemon=True)
        thread.start()
        try:
            yield
        finally:
            display.end()
            thread.join()
            before_saying.remove(display.clear)
            _display = None


@contextmanager
def shown_through(live: LiveProgress) -> Iterator[None]:
    """Let a live view of learning show other stages, too."""
    if _display is None:
        yield
        return
    with _display.through(live):
        yield


def run_command(function: Callable[..., None], learns: bool, options: dict[str, Any]) -> None:
    """Run a command.

    Parameters
    ----------
    function
        The command.
    learns
        Whether it needs torch in any case.
    options
        What it is called with; `quiet` and `memory_limit` hold for all of it.
    """
    seconds = options.get("time_limit")
    if seconds is not None and not seconds > 0:
        raise AndreError(f"time_limit is {seconds}: give seconds, more than 0")
    with _showing(options.get("quiet", False)), interruptible(), enforced():
        try:
            # Ctrl-C is a deadline of what stands inside this; time limits are set by the commands.
            with limited(Deadline.after(None)):
                size = options.get("memory_limit")
                bound = None if size is None else memory_bytes(size)
                if bound is not None and learns:  # so that it is known what is left for work
                    import torch  # noqa: F401
                with bounded_memory(bound):
                    function(**options)
        except KeyboardInterrupt:
            raise StoppedError from None
        except Exception as error:
            # Work that is cut in the midst of anything may end in any error.
            if was_interrupted() and (isinstance(error, OutOfTimeError) or not isinstance(error, AndreError)):
                raise StoppedError from None
            raise
