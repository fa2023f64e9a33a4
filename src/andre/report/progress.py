"""A live view of learning, for terminals."""

from __future__ import annotations

import sys
import time
from typing import Self

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from andre.census import Census
from andre.learning import Callback, State
from andre.logic import Program, counted, format_count
from andre.memory import peak_megabytes
from andre.report.words import rule_text

#: Seconds between two pictures: often enough for the eye, too seldom to slow learning.
_PAUSE = 0.1
#: Rules of the best program that are shown.
_SHOWN = 8


class LiveProgress(Callback):
    """Shows the round, the losses, the speed and the best program so far; silent where there is no terminal.

    Parameters
    ----------
    console
        Where; stderr by default, so that results can be piped.

    Examples
    --------
    >>> from andre.learning import Config, fit
    >>> from andre.samples import SYNTHETIC_TASKS
    >>> sample = SYNTHETIC_TASKS["four"].sample(100, seed=0)
    >>> with LiveProgress() as progress:
    ...     result = fit(sample, Config.preset(steps=30), callbacks=[progress])
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self._live = Live(console=self.console, auto_refresh=False, transient=True)
        self._steps, self._began, self._shown = 0, time.monotonic(), 0.0
        self._picture: RenderableType = Text("")

    def __enter__(self) -> Self:
        self._steps, self._began = 0, time.monotonic()
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def on_step(self, state: State) -> None:
        """Count, and draw anew when the picture is old enough."""
        self._steps += 1
        now = time.monotonic()
        if self._live.is_started and now - self._shown >= _PAUSE:
            self._shown = now
            self._picture = self.render(state)
            self._live.update(self._picture, refresh=True)

    def show_stage(self, line: str) -> None:
        """Draw what else is under way below the last picture."""
        if self._live.is_started and time.monotonic() - self._shown >= _PAUSE:
            self._live.update(Group(self._picture, Text(line, style="dim")), refresh=True)

    def render(self, state: State) -> RenderableType:
        """The picture: a bar, the losses and the memory, the speed, the best program."""
        runs = state.runs
        step, moving, everyone = (
            (0, 0, 0) if runs is None else (runs.step, len(runs.moving), len(runs.weights))
        )
        bar = Table.grid(padding=(0, 2))
        bar.add_row(
            Text(f"round {state.round + 1} of at most {state.rounds}", style="bold"),
            ProgressBar(total=state.steps, completed=step, width=30),
            Text(f"step {step} of {state.steps}"),
        )
        speed = self._steps / max(time.monotonic() - self._began, 1e-9)
        figures = (
            f"{moving} of {everyone} runs moving   {speed:,.0f} steps/s   "
            f"description {state.best.length:.1f} nats   best so far:"
        )
        return Group(bar, Text(_terms(state), style="dim"), Text(figures, style="dim"), *_best(state))


def _terms(state: State) -> str:
    """The losses at the last look, each the mean over the runs that moved, and the memory in use."""
    from andre.model import LOSSES  # noqa: PLC0415  (only runs have losses)

    said = []
    if state.history:
        for loss, line in zip(LOSSES, state.history[-1].losses, strict=True):
            known = line[~np.isnan(line)]
            if len(known) and (value := float(known.mean())):
                said.append(f"{loss.title} {value:.3f}")
    memory = _memory()
    return "   ".join([*(said or ["losses come at the first look"]), *([memory] if memory else [])])


def _memory() -> str:
    """The most memory that learning has taken: of the CUDA device where it uses one, and of the process."""
    said = []
    torch = sys.modules.get("torch")  # where it is not loaded, no device is in use
    if torch is not None and torch.cuda.is_initialized():
        said.append(f"{torch.cuda.max_memory_allocated() / 2**20:,.0f} MB on the device")
    if (peak := peak_megabytes()) is not None:
        said.append(f"{peak:,.0f} MB")
    return ", ".join(said)


def _best(state: State) -> list[Text]:
    """The best program's first rules."""
    rules = [rule_text(f"  {rule}") for rule in state.program]
    if not rules:
        return [Text("  no rule yet", style="dim")]
    hidden = len(rules) - _SHOWN
    return rules if hidden <= 0 else [*rules[:_SHOWN], Text(f"  and {hidden} more", style="dim")]


class TargetLines(Callback):
    """Says a line on stderr when a target is counted and when it is done.

    Parameters
    ----------
    targets
        How many there will be.
    """

    def __init__(self, targets: int = 1) -> None:
        self.console = Console(stderr=True, highlight=False)
        self._targets, self._done, self._counted = targets, 0, ""

    def on_census(self, census: Census) -> None:
        """How large the task is, where that is not what was said last."""
        drawn = "" if census.sampled is None else f", seen by {census.sampled:,} of them"
        positive, negative = (format_count(weight, ",") for weight in (census.positive, census.negative))
        said = (
            f"andre: {census.space.head}: {census.groundings:,} groundings, {census.distinct:,} distinct "
            f"rows, {positive} positive and {negative} negative examples{drawn}"
        )
        if said != self._counted:
            self.console.print(Text(said), soft_wrap=True)
        self._counted = said

    def on_target(self, target: str, program: Program, seconds: float) -> None:
        """What became of it."""
        self._done += 1
        rules = counted(len(program), "rule")
        said = f"andre: {self._done} of {self._targets}: {target}, {rules} in {seconds:.1f} s"
        self.console.print(Text(said), soft_wrap=True)
