"""From facts to rules: the census of each target, runs on it, and the choice of a program."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import replace
from itertools import combinations
from pathlib import Path
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
from andre.learning.theory_storage import RunFolder
from andre.learning.threads import sized_threads
from andre.logic import Atom, Literal, Program, Rule

__all__ = ["learn", "learnable"]


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
    """Learn the rules of one or more relations.

    Parameters
    ----------
    facts
        What is known, background rules included.
    target
        The relations to learn, as p/2; a language or bias may name one instead.
        `learnable(facts)` names all that can be.
    plan
        How to learn; by default made from the options.
    callbacks
        Watchers; see `andre.learning.Callback`. With an executor they are told
        of targets that are done, and of nothing else.
    out
        A folder that is filled target by target; targets that it holds already,
        learned from the same facts by the same plan, are not learned again.
    executor
        Learns targets in parallel: any `concurrent.futures.Executor`.
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
    if plan is not None and options:
        raise ConfigError(f"the plan says all that is to be done: {min(options)} belongs in it")
    facts = materialise(facts)
    plan = plan or Plan.of(facts, targets[0], **options)
    named: dict[str, Language] = {}
    for name in targets:
        language = plan.language if name is None else plan.aim(name)
        language.space(facts)  # refuse a wrong name before anything is learned
        named.setdefault(key_text(language.key(facts)), language)
    folder = None if out is None else RunFolder.of(out, facts, plan)
    definitions: dict[str, Definition] = {}
    for made in _definitions(facts, named, plan, tuple(callbacks), folder, executor):
        definitions[made.target] = made
        stopped = made.result.stopped == "interrupted"
        if folder is not None and not stopped:
            folder.keep(made)
        for callback in callbacks:
            callback.on_target(made.target, made.program, made.seconds)
        if stopped:
            break
    ordered = [definitions[name] for name in named if name in definitions]
    theory = Theory(tuple(ordered), plan)
    if folder is not None:
        folder.close(theory)
    return theory


def learnable(facts: FactBase) -> tuple[list[str], list[str]]:
    """The relations that can be learned, and why each of the others cannot.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> facts = FactBase.from_facts(map(parse_atom, ["p(a,b)", "p(b,c)", "q(a,c)"]))
    >>> learnable(facts)
    (['p/2'], ['q/2 has only 1 fact to learn from: two are the least'])
    """
    good, bad = [], []
    for key, relation in facts.relations.items():
        denied = relation.negative if relation.negative is not None else np.zeros(len(relation), dtype=bool)
        count = int((relation.marked("train") & ~denied).sum())
        if not relation.arity:
            bad.append(f"{key_text(key)} has no arguments")
        elif not relation.marked("train").any():
            bad.append(f"{key_text(key)} occurs only in test or validation facts")
        elif not count:
            bad.append(f"all training facts of {key_text(key)} are denied")
        elif count < 2:
            bad.append(f"{key_text(key)} has only 1 fact to learn from: two are the least")
        else:
            good.append(key_text(key))
    return good, bad


def _definitions(
    facts: FactBase,
    languages: Mapping[str, Language],
    plan: Plan,
    callbacks: tuple[Callback, ...],
    folder: RunFolder | None,
    executor: Executor | None,
) -> Iterator[Definition]:
    """Definitions as they come: those kept in the folder first."""
    left = []
    for name, language in languages.items():
        known = None if folder is None else folder.known(name)
        if known is None:
            left.append(language)
        else:
            yield known
    if executor is None:
        yield from (_learn_one(facts, language, plan, callbacks) for language in left)
        return
    waiting = [executor.submit(_learn_one, facts, language, plan) for language in left]
    for future in as_completed(waiting):
        yield future.result()


def _learn_one(
    facts: FactBase, language: Language, plan: Plan, callbacks: tuple[Callback, ...] = ()
) -> Definition:
    began = time.monotonic()
    census = take_census(
        facts,
        language,
        semantics=plan.semantics,
        mode=plan.mode,
        identity=plan.identity,
        memory_limit=plan.memory_limit,
    ).require_both_classes()
    for callback in callbacks:
        callback.on_census(census)

    def propose(sample: Sample, form: Form, config: Config) -> Result:
        return fit(sample, config, callbacks=callbacks, form=form)

    with sized_threads(len(facts.constants) ** 3):
        if plan.mode == "define" and plan.semantics == "exists":
            made = define(facts, language, census, propose, plan.config, short=plan.short_bodies)
        else:
            made = _complete(census, language, plan, callbacks)
    return replace(made, seconds=time.monotonic() - began)


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
        program=Program(tuple((_apart(rule) if plan.identity else rule).tidy() for rule in result.program)),
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
