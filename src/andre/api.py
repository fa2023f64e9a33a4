"""The functions that people call first: learn, with progress kept in a folder, and open what was saved."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from andre.facts import FactBase
from andre.learning import Callback, Config, Plan, Result, Theory
from andre.learning import fit as fit_sample
from andre.learning import learn as learn_targets
from andre.runs import Checkpoint, RunFolder, load
from andre.samples import Sample

__all__ = ["fit", "learn", "load"]


def fit(
    sample: Sample,
    config: Config | None = None,
    *,
    validation: Sample | None = None,
    callbacks: Sequence[Callback] = (),
    checkpoint: Path | str | None = None,
) -> Result:
    """Learn rules from a table of examples.

    Parameters
    ----------
    sample
        The rows to learn from: the truth value of each candidate atom, and whether the head holds.
    config
        All settings; by default `Config.preset("default")`.
    validation
        Rows on which every rule is counted too; nothing is learned from them.
    callbacks
        Watch the runs; see `andre.learning.Callback`.
    checkpoint
        A folder that keeps progress. The same call takes up what was interrupted there,
        and ends with the result that it would have had without the interruption.

    Returns
    -------
    Result
        The program with its evidence, scores, and all runs. Ctrl-C and a time limit end
        learning early, with the best program so far.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).random((60, 3))
    >>> sample = Sample.from_arrays(rows, (rows[:, 0] > 0.5) & (rows[:, 2] < 0.5))
    >>> result = fit(sample, Config.preset(restarts=2, steps=100))
    >>> print(result.program)
    h :- b1, \\+ b3.
    >>> result.score("train").accuracy
    1.0
    """
    keeper = None if checkpoint is None else Checkpoint(checkpoint)
    return fit_sample(sample, config, validation=validation, callbacks=callbacks, checkpoint=keeper)


def learn(
    facts: FactBase,
    target: str | Sequence[str] | None = None,
    plan: Plan | None = None,
    *,
    callbacks: Sequence[Callback] = (),
    out: Path | str | RunFolder | None = None,
    executor: Executor | None = None,
    **options: Any,
) -> Theory:
    """Learn the rules of one or more relations from facts.

    Parameters
    ----------
    facts
        What is known, background rules included.
    target
        The relations to learn, as p/2. It may be left out where a language or a bias
        that came with the facts names one; `andre.learning.learnable(facts)` lists all.
    plan
        How to learn; by default `Plan.of(facts, target, **options)`.
    callbacks
        Watch the runs; see `andre.learning.Callback`. With an executor they are
        told of targets that are done, and of nothing else.
    out
        A folder that is filled target by target. The same call goes on where it was
        stopped: targets learned from the same facts by the same plan are read from it.
    executor
        Learns targets in parallel: any `concurrent.futures.Executor`.
    options
        What `Plan.of` takes: `mode`, `semantics`, `variables`, `preset`, `seed`,
        `time_limit`, and every field of `Language` and `Config`.

    Returns
    -------
    Theory
        A definition for every target. Ctrl-C ends the call with those that are done.

    Examples
    --------
    >>> from andre.facts import TASKS
    >>> theory = learn(TASKS["even"].train(), "even/1", variables=2, rounds=1, steps=60)
    >>> print(theory.program)
    even(X1) :- successor(X2, X1), \\+ even(X2).
    even(X1) :- zero(X1).
    """
    folder = RunFolder(out) if isinstance(out, Path | str) else out
    return learn_targets(facts, target, plan, callbacks=callbacks, out=folder, executor=executor, **options)
