"""Wide rule spaces: runs that propose bodies see a part of the rows and the most promising candidates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from andre.evaluation.crisp import CrispSample
from andre.grounding import Codes, RuleSpace, Sample
from andre.grounding.form import Form
from andre.learning.callbacks import Callback
from andre.learning.config import Config
from andre.learning.deadline import Deadline
from andre.learning.guide import Guide
from andre.learning.learner import fit
from andre.learning.result import Result, judge
from andre.learning.selection import form_of, nothing, select

__all__ = ["fit_screened", "is_wide", "promising_columns"]

#: Candidates that the runs see at the most.
_MOST_COLUMNS = 64
#: Rows that the runs see at the most; bags count with all theirs.
_MOST_ROWS = 6_000
#: What a step costs, rows times candidates, from which on runs see a part only.
_WIDE = 200_000


def is_wide(sample: Sample) -> bool:
    """Whether runs that saw all rows and candidates would take long."""
    entries = sample.n_rows if sample.members is None else max(sample.n_rows, len(sample.members.rows) // 8)
    return entries * sample.space.m > _WIDE


def promising_columns(bodies: Codes, form: Form) -> NDArray[np.bool_]:
    """The candidates of the first of these bodies, and all that a form requires, [m].

    Examples
    --------
    >>> space = RuleSpace.from_names(["p", "q", "r"])
    >>> promising_columns(np.array([[1, 0, -1]], dtype=np.int8), Form(space))
    array([ True, False,  True])
    """
    kept = np.zeros(form.space.m, dtype=np.bool_)
    kept[[column for columns in form.require for column in columns]] = True
    for body in bodies:
        wider = kept | (body != 0)
        if np.count_nonzero(wider) > _MOST_COLUMNS:
            break
        kept = wider
    return kept


def fit_screened(
    sample: Sample, crisp: CrispSample, config: Config, callbacks: tuple[Callback, ...], guide: Guide
) -> Result:
    """Learn a program: runs propose from a part of the sample, the choice is made on all of it.

    Parameters
    ----------
    sample, crisp
        The examples, and the same cut at one half.
    guide
        Its bodies say which candidates are promising; without any all are.
    """
    form = guide.form or form_of(sample.space, config.selection)
    extra = np.zeros((0, sample.space.m), dtype=np.int8) if guide.extra is None else guide.extra
    deadline = Deadline.after(config.time_limit)
    kept = promising_columns(extra, form)
    stated = np.array([not atom.is_builtin for atom in sample.space.atoms])
    part = sample.thinned(_MOST_ROWS, config.seed)
    if not (kept & stated).any():  # no short body is any good: there is nothing to go by
        kept[:] = True
    part = part.columns(kept)
    proposed = fit(part, _lean(config), callbacks=callbacks, guide=Guide(_narrowed(form, part.space, kept)))
    wide = np.zeros((len(proposed.proposed), sample.space.m), dtype=np.int8)
    wide[:, kept] = proposed.proposed
    programs = [sample.space.encode(run.program) for run in proposed.runs]
    pool = np.concatenate([extra, wide])
    chosen = select(crisp, programs, config.selection, deadline, form, pool)
    program, scores = judge(sample.space.program(chosen.codes), [("train", crisp)])
    weights = np.zeros((len(proposed.weights), sample.space.m, 3), dtype=np.float32)
    weights[..., 2] = np.abs(proposed.weights).max(initial=1.0)  # what a run did not see it leaves out
    weights[:, kept] = proposed.weights
    return replace(
        proposed,
        space=sample.space,
        config=config,
        program=program,
        length=chosen.length,
        empty_length=nothing(crisp).length,
        scores=scores,
        weights=weights,
        proposed=wide,
    )


def _lean(config: Config) -> Config:
    """Settings for one round of runs that only propose: half as many as usual, and two thirds of the steps.

    What they propose is refined by the choice, so that more steps make programs no better. A rule's
    support among a part of the examples says little of its support among all.
    """
    given = config.training
    less = {"rounds": 1, "restarts": max(1, given.restarts // 2), "steps": max(1, given.steps * 2 // 3)}
    training = given.model_copy(update=less)
    selection = config.selection.model_copy(update={"combine": False, "refine": False, "min_support": 0.0})
    limit = None if config.time_limit is None else config.time_limit / 2
    return config.model_copy(update={"training": training, "selection": selection, "time_limit": limit})


def _narrowed(form: Form, space: RuleSpace, kept: NDArray[np.bool_]) -> Form:
    """The same bounds where only some of the candidates are left."""
    place = np.cumsum(kept) - 1
    return replace(
        form,
        space=space,
        unnegated=tuple(int(place[column]) for column in form.unnegated if kept[column]),
        require=tuple(tuple(int(place[column]) for column in some) for some in form.require),
    )
