"""How Popper fares on its own folders: figures that were measured once, to stand beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Popper:
    """Popper's outcome on a folder; no accuracy where it has no program."""

    seconds: float | None  #: until it ended by itself; None where its time limit ended it
    accuracy: float | None = None  #: on the training examples

    @property
    def time(self) -> str:
        """The time for a table."""
        return "> 60" if self.seconds is None else f"{self.seconds:.1f}"


POPPER_NOTE = ""
POPPER: Mapping[str, Popper] = {}
