"""How Popper fares on its own folders: figures that were measured once, to stand beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Popper:
    """Popper's outcome on a folder."""

    seconds: float | None  #: of processor time until it ended by itself; None where its limit ended it
    accuracy: float | None = None  #: on the training examples; None where it had no program

    @property
    def time(self) -> str:
        """The time for a table."""
        return "> 60" if self.seconds is None else f"{self.seconds:.1f}"


#: What ran, and with which settings; figures of other versions differ.
POPPER_NOTE = (
    "Popper is version 3.1.0 (November 2023) with clingo 5.8.2 and SWI-Prolog 9.0.4, with its own settings, "
    "`--noisy` for noisy tasks, 60 s of processor time on one core, learning from all examples of a folder; "
    "its seconds are processor time. From version 4 on it needs SWI-Prolog 9.1.12 or newer, through janus. "
    "A dash stands where it was not measured."
)

POPPER: Mapping[str, Popper] = {
    "iggp-buttons-goal": Popper(2.5, 43 / 44),
    "iggp-coins-goal": Popper(1.6, 1.0),
    "iggp-fizzbuzz-goal": Popper(2.3, 1.0),
    "iggp-minimal-decay-next-value": Popper(2.6, 1.0),
    "imdb1": Popper(0.9, 1.0),
    "kinship-pi": Popper(13.3, 1.0),
    "sql-01": Popper(1.0, 1.0),
    "synthesis-contains": Popper(48.3, 1.0),
    "synthesis-dropk": Popper(3.9, 1.0),
    "trains1": Popper(6.1, 1.0),
}
