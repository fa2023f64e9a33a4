"""A moment after which work stops and the best so far is handed back."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

__all__ = ["Deadline"]


@dataclass(frozen=True)
class Deadline:
    """A time on the monotonic clock.

    Examples
    --------
    >>> Deadline.after(None).passed, Deadline.after(0).passed
    (False, True)
    """

    moment: float

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """So many seconds from now; None is never."""
        return cls(math.inf if seconds is None else time.monotonic() + seconds)

    @property
    def passed(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self.moment
