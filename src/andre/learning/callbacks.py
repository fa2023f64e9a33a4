"""What watchers of a learner are shown, and the hooks they override."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Ints
from andre.census import Census
from andre.evaluation import CrispSample
from andre.learning.choose.selection import Candidate
from andre.logic import Program
from andre.samples import Codes, Sample

if TYPE_CHECKING:
    import torch

    from andre.learning.config import Config
    from andre.learning.descent.runs import Runs

Floats32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Look:
    """Losses and soft accuracy of every run at one moment; NaN for runs that have converged."""

    round: int
    step: int
    losses: Floats32  #: weighted, in the order of `andre.model.LOSSES`, [losses, K]
    train: Floats32  #: accuracy on the training rows, [K]
    validation: Floats32  #: accuracy on the validation rows, [K]; NaN where there are none


@dataclass(frozen=True, eq=False)
class Finished:
    """What the runs of a round came to."""

    weights: Floats32  #: [K, n, m, 3]
    n_rules: Ints  #: [K]
    codes: Codes  #: subrules at every certainty, [certainties, K, n, m]


@dataclass(eq=False)
class State:
    """How far a learner has come; callbacks read it and change nothing."""

    sample: CrispSample
    rounds: int  #: most rounds there will be
    steps: int  #: most steps of a round
    best: Candidate  #: the best program seen so far; at first the empty one
    finished: list[Finished] = field(default_factory=list)
    runs: Runs | None = None  #: of the round under way
    chosen: Candidate | None = None  #: the program chosen after the finished rounds
    falls: bool = True  #: whether the last finished round made the description shorter
    history: list[Look] = field(default_factory=list)
    seconds: float = 0.0  #: time spent, earlier sittings included
    stopped: str | None = None  #: why learning ended early: "time", "memory" or "interrupted"

    @property
    def round(self) -> int:
        """The number of the round under way, from 0."""
        return len(self.finished)

    @property
    def program(self) -> Program:
        """The best program so far."""
        return self.sample.space.program(self.best.codes)


class Callback:
    """Watches a learner: hooks that do nothing until overridden.

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

    def on_stage(self, stage: str, part: int, total: int) -> None:
        """Called by `complete` when part `part` of `total` of a stage begins; both are 1 in most stages."""


class ProgressKeeper(Callback):
    """A callback that can also bring unfinished work back; `andre.runs.Checkpoint` is one."""

    def begin(self, sample: Sample, config: Config, fixed: Codes | None) -> None:
        """Called first: what is learned from, how, and beside which known rules."""

    def restore(self, state: State, device: torch.device) -> None:
        """Fill a fresh state with what was kept of the same work, if anything was."""

    def close(self, state: State) -> None:
        """Called last, whether learning ended or was stopped."""


def tell(callbacks: Sequence[Callback], hook: str, state: State) -> None:
    """Call a hook of every callback; a KeyboardInterrupt from one asks learning to stop."""
    for callback in callbacks:
        try:
            getattr(callback, hook)(state)
        except KeyboardInterrupt:
            state.stopped = "interrupted"
