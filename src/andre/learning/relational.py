"""From facts to rules: the census of each target, runs on it, and the choice of a program."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from andre.errors import AndreError, ConfigError, DataError, MemoryLimitError
from andre.facts import FactBase
from andre.grounding import Census, Language, sample_census, take_census
from andre.grounding.place import key_text
from andre.inference import materialise
from andre.learning.callbacks import Callback
from andre.learning.defining import define, fits_tables
from andre.learning.known import with_background
from andre.learning.one_step import describe
from andre.learning.plan import Plan
from andre.learning.theory import Definition, Theory
from andre.learning.theory_storage import RunFolder
from andre.learning.threads import sized_threads

__all__ = ["learn", "learnable"]

#: Head atoms that a learner sees where all are too many.
_DRAWN = 50_000


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
        learned from the same facts by the same plan, are not learned again. Ctrl-C
        ends the call with the targets that are done.
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
    languages = [plan.language if name is None else plan.aim(name) for name in targets]
    facts = materialise(with_background(facts, plan.known, {lang.key(facts) for lang in languages}))
    named: dict[str, Language] = {}
    for language in languages:
        language.space(facts)  # refuse a wrong name before anything is learned
        named.setdefault(key_text(language.key(facts)), language)
    folder = None if out is None else RunFolder.of(out, facts, plan)
    definitions: dict[str, Definition] = {}
    skipped: dict[str, str] = {}
    try:
        for made in _definitions(facts, named, plan, tuple(callbacks), folder, executor):
            if isinstance(made, _Refused):
                skipped[made.target] = made.reason
                continue
            definitions[made.target] = made
            if folder is not None:
                folder.keep(made)
            for callback in callbacks:
                callback.on_target(made.target, made.program, made.seconds)
            if made.result.stopped == "interrupted":
                break
    except KeyboardInterrupt:
        if not definitions:  # there is nothing to hand back
            raise
    _refuse_nothing(definitions, skipped)
    ordered = [definitions[name] for name in named if name in definitions]
    theory = Theory(tuple(ordered), plan, skipped)
    if folder is not None:
        folder.close(theory)
    return theory


def _refuse_nothing(definitions: Mapping[str, Definition], skipped: Mapping[str, str]) -> None:
    """Where no target could be learned, that is an error."""
    if definitions or not skipped:
        return
    name, reason = next(iter(skipped.items()))
    if len(skipped) == 1:
        raise DataError(reason)
    raise DataError(f"none of {len(skipped)} targets can be learned, {name} because {reason}")


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
) -> Iterator[Definition | _Refused]:
    """Definitions as they come: those kept in the folder first."""
    left = []
    for name, language in languages.items():
        known = None if folder is None else folder.known(name)
        if known is None:
            left.append((name, language))
        else:
            yield known
    if executor is None:
        yield from (_attempt(name, facts, language, plan, callbacks) for name, language in left)
        return
    # Those with most facts take longest: begun last, one would keep all others waiting.
    left.sort(key=lambda entry: -len(facts.relations[entry[1].key(facts)]))
    waiting = [executor.submit(_attempt, name, facts, language, plan) for name, language in left]
    try:
        for future in as_completed(waiting):
            yield future.result()
    except BrokenExecutor:
        kept = "" if folder is None else f"; {folder.folder} keeps what is done, and the same call goes on"
        raise AndreError(
            "a process that learned ended without a word, most likely for want of memory: learn fewer "
            f"targets at a time, or lower the memory limit{kept}"
        ) from None
    finally:  # after Ctrl-C nothing more is begun
        for future in waiting:
            future.cancel()


@dataclass(frozen=True)
class _Refused:
    """A target that cannot be learned, and why."""

    target: str
    reason: str


def _attempt(
    name: str, facts: FactBase, language: Language, plan: Plan, callbacks: tuple[Callback, ...] = ()
) -> Definition | _Refused:
    try:
        return _learn_one(facts, language, plan, callbacks)
    except DataError as error:
        return _Refused(name, str(error))


def _learn_one(
    facts: FactBase, language: Language, plan: Plan, callbacks: tuple[Callback, ...]
) -> Definition:
    began = time.monotonic()
    at_fixpoint, notes = plan.mode == "define" and plan.semantics == "exists", []
    if at_fixpoint and not fits_tables(facts):
        # Without recursion one step is the fixpoint, and needs no tables.
        language, at_fixpoint = replace(language, recursion=False), False
        notes.append(
            f"recursion was left out: {len(facts.constants):,} constants are too many for truth tables"
        )
    census = _census(facts, language, plan, draws=not at_fixpoint).require_both_classes()
    if census.sampled is not None:
        why = "" if plan.heads is not None else ", whose census outgrew the memory limit"
        notes.append(
            f"{census.sampled:,} head atoms were drawn to stand for all {census.n_examples:,}{why}: "
            "counts are estimates, and andre rescore counts anew"
        )
    for callback in callbacks:
        callback.on_census(census)
    with sized_threads(len(facts.constants) ** 3):
        if at_fixpoint:
            made = define(facts, language, census, plan, callbacks)
        else:
            made = describe(census, language, plan, callbacks)
    return replace(made, seconds=time.monotonic() - began, notes=tuple(notes))


def _census(facts: FactBase, language: Language, plan: Plan, *, draws: bool) -> Census:
    """The census of all head atoms, or of some that stand for all.

    Some are drawn on request, and where the census of all outgrows the memory allowed.
    """
    how: dict[str, Any] = {
        "mode": plan.mode,
        "identity": plan.identity,
        "memory_limit": plan.memory_limit,
    }
    if plan.heads is not None:
        return sample_census(facts, language, plan.heads, seed=plan.config.seed, **how)
    try:
        return take_census(facts, language, semantics=plan.semantics, **how)
    except MemoryLimitError as error:
        if not draws or plan.semantics != "exists":
            raise
        refusal = MemoryLimitError(str(error))  # without its traceback, which holds all that was counted
    try:
        return sample_census(facts, language, _DRAWN, seed=plan.config.seed, **how)
    except ConfigError:  # head atoms are not drawn for every language
        raise refusal from None
