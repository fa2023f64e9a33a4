"""A clock for deadlines that shows what a test says, so that no test waits."""

from __future__ import annotations

import pytest

from andre.census import Census
from andre.learning import Callback

__all__ = ["Clock", "LateAfterCensus", "ticking"]


class Clock:
    """Every look at it is a tick: a limit of n seconds is one of n looks."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        self.time += 1
        return self.time


def ticking(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Put a clock that ticks in place of the real one."""
    clock = Clock()
    monkeypatch.setattr("andre.limits.now", clock)
    return clock


class LateAfterCensus(Callback):
    """A clock that stands still until examples are counted, and then is past any limit."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.time = 0.0
        monkeypatch.setattr("andre.limits.now", lambda: self.time)

    def on_census(self, census: Census) -> None:
        self.time += 1e6
