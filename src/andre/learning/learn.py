"""From facts to rules: the census of each target, runs on it, and the choice of a program."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from andre.errors import ConfigError
from andre.evaluation.crisp import CrispSample
from andre.evaluation.entailment import Confusion
from andre.facts import FactBase
from andre.grounding import Census, Language, Sample, take_census
from andre.grounding.form import Form
from andre.grounding.place import key_text
from andre.inference import materialise
from andre.learning.callbacks import Callback
from andre.learning.config import Config
from andre.learning.defining import define
from andre.learning.learner import fit
from andre.learning.plan import Plan
from andre.learning.rejection import Weighing
from andre.learning.result import Result
from andre.learning.selection import with_shorter
from andre.learning.theory import Counts, Definition, Theory
from andre.learning.threads import sized_threads
from andre.logic import Atom, Literal, Program, Rule

__all__ = ["learn"]


def learn(
    facts: FactBase,
    target: str | Sequence[str] | None = None,
    plan: Plan | None = None,
    *,
    callbacks: Sequence[Callback] = (),
    tell: Callable[[str], None] | None = None,
    **options: Any,
) -> Theory:
    """Learn the rules of one or more relations.

    Parameters
    ----------
    facts
        What is known, background rules included.
    target
        The relations to learn, as p/2; a language or bias may name one instead.
    plan
        How to learn; by default made from the options.
    callbacks
        Watchers of the runs; see `andre.learning.Callback`.
    tell
        Called with a sentence whenever something new begins.
    options
        What `Plan.of` takes: `mode`, `semantics`, `variables`, `preset`,
        `seed`, `time_limit`, and every field of `Language` and `Config`.

    Examples
    --------
    >>> from andre.facts.tasks import TASKS
    >>> print(learn(TASKS["even"].train(), "even/1", variables=2).program)
    even(X1) :- successor(X2, X1), \\+ even(X2).
    even(X1) :- zero(X1).
    """
    targets = [target] if isinstance(target, str) or target is None else list(target)
    if not targets:
        raise ConfigError("there is no target: name at least one relation")
    facts = materialise(facts)
    plan = plan or Plan.of(facts, targets[0], **options)
    definitions = []
    with sized_threads(len(facts.constants) ** 3):
        for name in targets:
            began = time.monotonic()
            language = plan.language if name is None else plan.aim(name)
            made = _learn_one(facts, language, plan, tuple(callbacks), tell or (lambda _: None))
            definitions.append(replace(made, seconds=time.monotonic() - began))
    return Theory(tuple(definitions), plan)


def _learn_one(
    facts: FactBase,
    language: Language,
    plan: Plan,
    callbacks: tuple[Callback, ...],
    say: Callable[[str], None],
) -> Definition:
    say(f"{language.target}: counting")
    census = take_census(
        facts,
        language,
        semantics=plan.semantics,
        mode=plan.mode,
        identity=plan.identity,
        memory_limit=plan.memory_limit,
    ).require_both_classes()
    say(
        f"{language.target}: {census.groundings:,} groundings, {census.distinct:,} distinct rows, "
        f"{census.space.m} candidates; learning to {plan.mode} it in {plan.semantics}"
    )

    def propose(sample: Sample, form: Form, config: Config) -> Result:
        return fit(sample, config, callbacks=callbacks, form=form)

    if plan.mode == "define" and plan.semantics == "exists":
        return define(facts, language, census, propose, plan.config, short=plan.short_bodies)
    return _complete(census, language, plan, callbacks)


def _complete(census: Census, language: Language, plan: Plan, callbacks: tuple[Callback, ...]) -> Definition:
    """The program that describes the examples best in one step from all known facts."""
    sample = census.to_sample()
    form = replace(language.form(sample.space), safe=plan.config.selection.safe)
    extra = form.short_bodies() if plan.short_bodies else None
    result = fit(sample, plan.config, callbacks=callbacks, form=form, extra=extra)
    crisp = CrispSample.of(sample)
    covered = np.rint(crisp.counts(crisp.predicts(result.codes)[None])[0]).astype(int)
    totals = np.rint(crisp.totals).astype(int)
    pool = with_shorter(np.concatenate([result.proposed, result.codes]))
    pool = pool[form.admits(pool)]
    floor = plan.config.selection.min_confidence
    weighing = Weighing(sample.space, pool, crisp.body_counts(pool), crisp.totals, floor)
    head = result.space.head
    return Definition(
        target=key_text((head.predicate, head.arity)),
        program=Program(tuple(map(_apart, result.program))) if plan.identity else result.program,
        counts=Counts.of(census),
        confusion=Confusion(*covered.tolist(), *(totals - covered).tolist()),
        length=result.length,
        empty_length=result.empty_length,
        result=result,
        rejected=tuple(weighing.rejected(result.codes)),
        reason=None if len(result.program) else weighing.why_nothing(result.stopped),
    )


def _apart(rule: Rule) -> Rule:
    """A rule whose variables stand for different constants, said by its last literals."""
    known = {frozenset(lit.atom.args) for lit in rule.body if lit.atom.predicate == "\\=" and not lit.negated}
    pairs = [pair for pair in combinations(rule.variables, 2) if frozenset(pair) not in known]
    return replace(rule, body=rule.body + tuple(Literal(Atom("\\=", pair)) for pair in pairs))
