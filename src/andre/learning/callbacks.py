"""What may watch a learner: two hooks."""

from __future__ import annotations

from andre.learning.state import State

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
