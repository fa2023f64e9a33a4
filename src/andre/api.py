"""The functions that people call first: they take paths and open folders, then hand over to the rooms."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from andre.facts import FactBase
from andre.learning import Callback, Config, Guide, Plan, Result, Theory
from andre.learning import fit as fit_sample
from andre.learning import learn as learn_targets
from andre.runs import Checkpoint, RunFolder
from andre.samples import Sample

__all__ = ["fit", "learn"]


def fit(
    sample: Sample,
    config: Config | None = None,
    *,
    validation: Sample | None = None,
    callbacks: Sequence[Callback] = (),
    checkpoint: Path | str | None = None,
    guide: Guide | None = None,
) -> Result:
    """Learn a program from rows; `checkpoint` is a folder in which progress is kept and taken up again."""
    keeper = None if checkpoint is None else Checkpoint(checkpoint)
    return fit_sample(
        sample, config, validation=validation, callbacks=callbacks, checkpoint=keeper, guide=guide
    )


def learn(
    facts: FactBase,
    target: str | Sequence[str] | None = None,
    plan: Plan | None = None,
    *,
    callbacks: Sequence[Callback] = (),
    out: Path | str | None = None,
    executor: Executor | None = None,
    **options: Any,
) -> Theory:
    """Learn rules from facts; `out` is a folder that is filled target by target."""
    folder = None if out is None else RunFolder(out)
    return learn_targets(facts, target, plan, callbacks=callbacks, out=folder, executor=executor, **options)
