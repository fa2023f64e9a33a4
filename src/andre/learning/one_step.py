"""Mode `complete`, and rows: the rules that describe a target shortest in one step from all known facts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from andre.evaluation.crisp import CrispSample
from andre.evaluation.entailment import Confusion
from andre.grounding import Census, Language
from andre.grounding.place import key_text
from andre.learning.callbacks import Callback
from andre.learning.guide import Guide
from andre.learning.known import apart, encode_known, known_about
from andre.learning.learner import fit
from andre.learning.plan import Plan
from andre.learning.rejection import Weighing
from andre.learning.screening import fit_screened, is_wide
from andre.learning.selection import with_shorter
from andre.learning.short import best_short_bodies
from andre.learning.theory import Counts, Definition
from andre.logic import Program

__all__ = ["describe"]


def describe(census: Census, language: Language, plan: Plan, callbacks: tuple[Callback, ...]) -> Definition:
    """The program that describes the examples shortest in one step."""
    sample = census.to_sample()
    head = sample.space.head
    form = replace(language.form(sample.space), safe=plan.config.selection.safe)
    if plan.mode == "complete":
        # What is not known yet may be what the program derives: to deny it could undo itself.
        form = replace(form, unnegated=tuple(np.flatnonzero(sample.space.recursive).tolist()))
    crisp = CrispSample.of(sample)
    extra = best_short_bodies(crisp, form, plan.config.selection) if plan.short_bodies else None
    known = known_about(plan.known, (head.predicate, head.arity))
    fixed = encode_known(known, sample.space, identity=plan.identity) if len(known) else None
    guide = Guide(form, extra, fixed)
    if fixed is None and plan.config.selection.criterion == "description" and is_wide(sample):
        result = fit_screened(sample, crisp, plan.config, callbacks, guide)
    else:
        result = fit(sample, plan.config, callbacks=callbacks, guide=guide)
    covered = np.rint(crisp.counts(crisp.predicts(result.codes)[None])[0]).astype(int)
    totals = np.rint(crisp.totals).astype(int)
    pool = with_shorter(np.concatenate([result.proposed, result.codes, *([] if extra is None else [extra])]))
    pool = pool[form.admits(pool)]
    floor = plan.config.selection.floor(crisp.totals[0])
    weighing = Weighing(
        sample.space, pool, crisp.body_counts(pool), crisp.totals, floor, identity=plan.identity
    )
    return Definition(
        target=key_text((head.predicate, head.arity)),
        program=Program(tuple((apart(rule) if plan.identity else rule).tidy() for rule in result.program)),
        counts=Counts.of(census),
        confusion=Confusion(*covered.tolist(), *(totals - covered).tolist()),
        length=result.length,
        empty_length=result.empty_length,
        result=result,
        pool=weighing.kept(),
        rejected=tuple(weighing.rejected(result.codes)),
        reason=None if len(result.program) else weighing.why_nothing(result.stopped),
    )
