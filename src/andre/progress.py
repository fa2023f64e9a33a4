"""Progress: what is being done and how far it has come.

Work that may take seconds is put in `with doing(name)`, or in a stage of `andre.limits`, which
includes it. This costs nothing unless somebody is `watching`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Work:
    """A piece of work that is under way."""

    name: str
    part: int = 0  #: how much of it is done
    total: int = 0  #: how much there is to do; 0 if unknown
    began: float = field(default_factory=time.monotonic)

    def __str__(self) -> str:
        """Its name and how far it is.

        Examples
        --------
        >>> print(Work("reading family.pl", 30, 100), Work("rules", 2, 8), sep="; ")
        reading family.pl, 30 of 100; rules, 2 of 8
        >>> print(Work("reading graph.tsv", 3_000_000, 12_000_000))
        reading graph.tsv, 25%
        """
        if self.total < 2:
            return self.name
        if self.total >= 100_000:
            return f"{self.name}, {self.part / self.total:.0%}"
        return f"{self.name}, {self.part:,} of {self.total:,}"


_watched: list[Work] | None = None
_when_idle: Callable[[], object] | None = None


@contextmanager
def watching(works: list[Work], when_idle: Callable[[], object] | None = None) -> Iterator[None]:
    """Keep a list of the work under way, outermost first, for another thread to show.

    Parameters
    ----------
    works
        The list.
    when_idle
        Called whenever the list becomes empty.

    Examples
    --------
    >>> works = []
    >>> with watching(works), doing("reading"), doing("sorting"):
    ...     print(*works, sep=": ")
    reading: sorting
    """
    global _watched, _when_idle
    before = _watched, _when_idle
    _watched, _when_idle = works, when_idle
    try:
        yield
    finally:
        _watched, _when_idle = before


@contextmanager
def doing(name: str, total: int = 0) -> Iterator[Work]:
    """Register the work inside under a name; `advance` reports how much of the total is done."""
    work = Work(name, total=total)
    stack = _watched
    if stack is None:
        yield work
        return
    depth = len(stack)
    stack.append(work)
    try:
        yield work
    finally:
        del stack[depth:]
        if not depth and _when_idle is not None:
            _when_idle()


def advance(part: int, total: int) -> None:
    """Report how far the innermost work has come."""
    if _watched:
        _watched[-1].part, _watched[-1].total = part, total


def underway() -> str:
    """The name of the outermost work under way; "" if nobody is watching."""
    return _watched[0].name if _watched else ""
