"""Learning a program from a sample: rounds of runs, each followed by a choice, while it pays."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from andre.errors import DataError
from andre.evaluation import CrispSample, program_length
from andre.learning.bodies import distinct_bodies
from andre.learning.callbacks import Callback, Finished, Floats32, ProgressKeeper, State, tell
from andre.learning.choose.selection import Candidate, all_sound, most_accurate, nothing, select
from andre.learning.config import Config, Guide
from andre.learning.results import Result, RunSummary, judge
from andre.limits import Deadline, Watch, interruptible, limited, out_of_time, stage, unhurried
from andre.samples import Sample

if TYPE_CHECKING:
    from andre.learning.descent.trainer import Trainer

#: The share of a time limit that training may take; the rest is for choosing the program.
_TRAINING_SHARE = 0.6


def fit(
    sample: Sample,
    config: Config | None = None,
    *,
    validation: Sample | None = None,
    callbacks: Sequence[Callback] = (),
    checkpoint: ProgressKeeper | None = None,
    guide: Guide | None = None,
) -> Result:
    """Learn a program from rows.

    A round trains runs for every number of subrules at once, then the rules
    of all runs so far are combined into the program with the shortest
    description. Another round follows, which doubles the runs, while that
    makes the description shorter.

    Parameters
    ----------
    sample
        The rows to learn from.
    config
        All settings; `Config.preset("default")` if not given.
    validation
        Rows that evidence is also counted on, never learned or selected from.
    callbacks
        Watchers; see `andre.learning.Callback`.
    checkpoint
        Keeps progress, as `andre.runs.Checkpoint(folder)` does. Unfinished work on
        the same rows and settings is taken up again.
    guide
        What bodies must look like, others to consider, and rules to keep.
    """
    from andre.learning.descent.trainer import Trainer  # noqa: PLC0415  (torch is slow to load, and not all learning makes runs)

    config, guide = config or Config(), guide or Guide()
    sample.require_both_classes()
    if validation is not None and validation.space != sample.space:
        raise DataError("the validation rows have other columns than the training rows: give the same")
    began = time.monotonic()
    with limited(Deadline.after(config.time_limit)) as watch:
        pause = watch.deadline.share(_TRAINING_SHARE)
        with unhurried():  # without these there is nothing to train
            trainer = Trainer(sample, config, guide, validation)
            state = State(trainer.crisp, config.training.rounds, trainer.steps, best=nothing(trainer.crisp))
        if checkpoint:
            checkpoint.begin(sample, config, guide.fixed)
            checkpoint.restore(state, trainer.device)
            callbacks = (*callbacks, checkpoint)
        spent, fitting = state.seconds, _Fitting(trainer, state, guide, watch, pause)

        with interruptible() as interrupt:

            def stop() -> str | None:
                state.seconds = spent + time.monotonic() - began
                return "interrupted" if interrupt.asked else "time" if out_of_time("training") else None

            rounds, chosen = fitting.train(callbacks, stop)
        if checkpoint:
            checkpoint.close(state)
        state.seconds = spent + time.monotonic() - began
        return fitting.result(rounds, chosen, sample, validation)


@dataclass(frozen=True, eq=False)
class _Fitting:
    """Rounds of runs on one sample, and what becomes of them."""

    trainer: Trainer
    state: State
    guide: Guide
    watch: Watch
    pause: Deadline  #: when training ends, so that time is left to choose

    def train(
        self, callbacks: Sequence[Callback], stop: Callable[[], str | None]
    ) -> tuple[list[Finished], Candidate]:
        """Train rounds while the description falls, and choose a program after each.

        The last round may be unfinished where learning was stopped. The state then
        stays as it was before that round was judged, so that it can be taken up again.
        """
        state, trainer = self.state, self.trainer
        rounds, best = state.finished, state.chosen or nothing(state.sample)
        while state.falls and state.round < state.rounds and state.stopped is None:
            state.runs = state.runs or trainer.start(state.round)
            with limited(self.pause):
                trainer.train(state, callbacks, stop)
            rounds = [*state.finished, trainer.finish(state.runs)]
            candidate = self._choose(rounds)
            if state.stopped is None and self.watch.cut:
                state.stopped = self.watch.why
            falls = state.chosen is None or candidate.rank < state.chosen.rank
            if falls or trainer.config.selection.criterion != "description":
                best = candidate
            if state.stopped is None:
                state.finished, state.runs, state.falls = (
                    rounds,
                    None,
                    falls and not self._settled(rounds[-1]),
                )
                state.chosen = state.best = best
                tell(callbacks, "on_extract", state)
        return rounds, best

    def _settled(self, last: Finished) -> bool:
        """Whether the bodies of a round settle the choice."""
        settles = self.guide.settles
        return settles is not None and settles(distinct_bodies(last.codes.reshape(-1, last.codes.shape[-1])))

    def _choose(self, rounds: Sequence[Finished]) -> Candidate:
        """The program that the runs so far come to."""
        programs = [codes for finished in rounds for each in finished.codes for codes in each]
        sample, selection, form = self.state.sample, self.trainer.config.selection, self.guide.form
        if selection.criterion != "description":
            if form is not None:
                programs = [codes[form.admits(codes)] for codes in programs]
            if selection.criterion == "soundness":
                return all_sound(sample, programs, selection)
            n_rules = [n for finished in rounds for _ in finished.codes for n in finished.n_rules]
            return most_accurate(sample, programs, n_rules, selection)
        programs.append(self.state.best.codes)
        pruner = self.trainer.pruner
        chosen, known = select(sample, programs, selection, self.guide, pruner=pruner), self.state.best
        fits = len(known.codes) <= selection.max_rules and (form is None or form.admits(known.codes).all())
        return min(chosen, known, key=lambda one: one.rank) if self.watch.cut and fits else chosen

    def result(
        self, rounds: Sequence[Finished], chosen: Candidate, train: Sample, validation: Sample | None
    ) -> Result:
        """The chosen program beside the known rules, judged on all rows, and the runs it came from."""
        state, fixed = self.state, self.guide.fixed
        sample = state.sample if fixed is None else CrispSample.of(train)
        codes = chosen.codes if fixed is None else np.concatenate([fixed, chosen.codes])
        samples = [("train", sample)]
        if validation is not None:
            samples.append(("validation", CrispSample.of(validation)))
        runs, weights = self._summaries(rounds)
        with unhurried():
            program, scores = judge(sample.space.program(codes), samples)
            length = chosen.length if fixed is None else program_length(sample, codes)
            empty_length = nothing(sample).length
        proposed = np.concatenate([finished.codes.reshape(-1, sample.space.m) for finished in rounds])
        return Result(
            space=sample.space,
            config=self.trainer.config,
            program=program,
            length=length,
            empty_length=empty_length,
            scores=scores,
            runs=runs,
            history=tuple(state.history),
            weights=weights,
            proposed=distinct_bodies(proposed),
            seconds=state.seconds,
            stopped=state.stopped or self.watch.why,
            cut=tuple(self.watch.cut),
        )

    def _summaries(self, rounds: Sequence[Finished]) -> tuple[tuple[RunSummary, ...], Floats32]:
        """Where every run ended, and the weights of the one with the shortest description."""
        space = self.state.sample.space
        runs: list[RunSummary] = []
        best, weights = None, np.zeros((0, space.m, 3), dtype=np.float32)
        with stage("summing up the runs"):
            for round_, finished in enumerate(rounds):
                looks = [look.losses.sum(axis=0) for look in self.state.history if look.round == round_]
                for run, n in enumerate(finished.n_rules):
                    with nullcontext() if runs else unhurried():  # one at the least is summed up
                        candidates = map(self.trainer.pruner, finished.codes[:, run])
                        own = min(candidates, key=lambda candidate: candidate.rank)
                    seen = [float(look[run]) for look in looks if not np.isnan(look[run])]
                    program = space.program(own.codes)
                    runs.append(RunSummary(round_, int(n), program, own.length, seen[-1] if seen else np.nan))
                    if best is None or own.rank < best.rank:
                        best, weights = own, finished.weights[run, :n]
        return tuple(runs), weights
