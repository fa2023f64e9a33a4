"""What may watch a learner: hooks that do nothing until overridden."""

from __future__ import annotations

from andre.grounding import Census
from andre.learning.state import State
from andre.logic import Program

__all__ = ["Callback"]


class Callback:
    """Does nothing; override what you need.

    Examples
    --------
    >>> class Steps(Callback):
    ...     count = 0
    ...     def on_step(self, state: State) -> None:
    ...         self.count += 1
    """

    def on_step(self, state: State) -> None:
        """Called after every step of gradient descent."""

    def on_extract(self, state: State) -> None:
        """Called after every look at the runs' programs, and at the end of every round."""

    def on_census(self, census: Census) -> None:
        """Called by `learn` when the groundings of a target are counted, before its runs."""

    def on_target(self, target: str, program: Program, seconds: float) -> None:
        """Called by `learn` when a target is done."""
