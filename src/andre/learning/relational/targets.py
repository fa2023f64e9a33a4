"""Learning the rules of one or more targets from facts, one after another or in parallel."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from andre.errors import ConfigError, DataError, WorkersLostError
from andre.facts import Background, Calibration, FactBase, Key, in_canonical_order, key_text, training_facts
from andre.inference import materialise
from andre.learning.callbacks import Callback
from andre.learning.choose.agreement import are_positives_apart
from andre.learning.judged_by import with_stated_world
from andre.learning.plan import Plan, with_background
from andre.learning.relational.reaching import needs_reach
from andre.learning.relational.target_learner import Refused, TargetLearner
from andre.learning.results import Definition, TargetStore, Theory
from andre.limits import (
    interruptible,
    unhurried,
    was_interrupted,
)
from andre.logic import Atom, Program
from andre.progress import doing
from andre.samples import Language
from andre.workers import Task, Workers, run_tasks

#: Facts of a relation up to which they are kept with a background in Prolog, as a part of it.
_CARRIED = 1_000


def learn(
    facts: FactBase,
    target: str | Sequence[str] | None = None,
    plan: Plan | None = None,
    *,
    callbacks: Sequence[Callback] = (),
    out: TargetStore | None = None,
    executor: Workers | None = None,
    **options: Any,
) -> Theory:
    """Learn the rules of one or more relations from facts.

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
        Keeps definitions target by target, as `andre.runs.RunFolder(folder)` does;
        targets that it holds already, learned from the same facts by the same plan, are
        not learned again. Ctrl-C ends the call with the targets that are done.
    executor
        Learns targets in parallel: any `concurrent.futures.Executor`, or a dask `Client`.
    options
        What `Plan.of` takes: `mode`, `semantics`, `variables`, `preset`,
        `seed`, `time_limit`, and every field of `Language` and `Config`.

    Examples
    --------
    >>> from andre.facts.tasks import TASKS
    >>> print(learn(TASKS["even"].train(), "even/1", variables=2, restarts=1, rounds=1, steps=20).program)
    even(X1) :- successor(X2, X1), \\+ even(X2).
    even(X1) :- zero(X1).
    """
    targets = [target] if isinstance(target, str) or target is None else list(target)
    if not targets:
        raise ConfigError("there is no target: name at least one relation")
    if plan is not None and options:
        raise ConfigError(f"the plan says all that is to be done: {min(options)} belongs in it")
    plan = plan or Plan.of(facts, targets[0], **options)
    given, (facts, named, worlds) = facts, _with_languages(facts, plan, targets)
    if out is not None:
        out.begin(facts, plan)
    calibration = Calibration.of(facts) if plan.calibrate else None
    learner = TargetLearner(facts, plan, tuple(callbacks), worlds=worlds)
    if calibration is not None:
        learner = replace(learner, facts=calibration.apply(facts), stated=facts, calibration=calibration)
    definitions, skipped = _gather(learner, named, out, executor)
    _refuse_nothing(definitions, skipped)
    definitions |= learner.settled(definitions, named, out)
    ordered = [definitions[name] for name in named if name in definitions]
    rules = (rule for rule in (*given.rules, *plan.known) if key_text(rule.head.key) not in named)
    background = Program(tuple(dict.fromkeys(rules)))
    theory = Theory(tuple(ordered), plan, skipped, background)
    if given.prolog is not None:
        read = {lit.atom.key for rule in (*theory.program, *background) for lit in rule.body}
        theory = replace(theory, prolog=_with_its_facts(given, given.prolog, read, named))
    if out is not None:
        with unhurried(), doing(f"saving {out.folder}"):
            out.close(theory)
    return theory


def _with_its_facts(
    given: FactBase, prolog: Background, read: Container[Key], targets: Container[str]
) -> Background:
    """A background with the certain facts that its clauses or rules read, of relations of not too many.

    Parameters
    ----------
    read, targets
        The relations that rules read, and those that they define.
    """
    known = given.select("train")
    kept: list[Atom] = []
    for key, relation in known.relations.items():
        is_read = key in read or (key[0] in prolog.names and key not in prolog.defines)
        certain = not relation.n_negative and (relation.column("probability") == 1).all()
        if is_read and certain and len(relation) <= _CARRIED and key_text(key) not in targets:
            kept += known.atoms(*key)
    return replace(prolog, facts=tuple(kept))


def _gather(
    learner: TargetLearner,
    languages: Mapping[str, Language],
    out: TargetStore | None,
    executor: Workers | None,
) -> tuple[dict[str, Definition], dict[str, str]]:
    """The definitions of all targets, or of those that are done when Ctrl-C comes; why others have none."""
    definitions: dict[str, Definition] = {}
    skipped: dict[str, str] = {}
    with interruptible():
        try:
            for made in _definitions(learner, languages, out, executor):
                if isinstance(made, Refused):
                    if was_interrupted():
                        break
                    skipped[made.target] = made.reason
                    continue
                definitions[made.target] = made
                with unhurried():
                    if out is not None:
                        out.keep(made)
                    for callback in learner.callbacks:
                        callback.on_target(made.target, made.program, made.seconds)
                if made.result.stopped == "interrupted" or was_interrupted():
                    break
        except KeyboardInterrupt:
            if not definitions:
                raise
        if not definitions and was_interrupted():
            raise KeyboardInterrupt  # there is nothing to hand back
    return definitions, skipped


def _with_languages(
    facts: FactBase, plan: Plan, targets: Sequence[str | None]
) -> tuple[FactBase, dict[str, Language], dict[str, FactBase]]:
    """The facts that teach with what background rules derive from them, and the language of every target.

    Beside these, for targets whose examples a folder states apart from all else, and none of them false: the
    facts of a closed world over what it states, where the background builds terms beyond it.

    Whatever no rule could be written in is refused here, before anything is learned.
    """
    languages = [plan.language if name is None else plan.aim(name) for name in targets]
    given, facts = facts, materialise(training_facts(facts, held_out=plan.language.held_out))
    for language in languages:
        if not any(language.target in (name, key_text((name, arity))) for name, arity in facts.relations):
            language.key(given)  # says so where all its facts are marked
    if len(plan.known):
        facts = materialise(with_background(facts, plan.known, {lang.key(facts) for lang in languages}))
    facts = in_canonical_order(facts)  # what is drawn and how ties end must not hang on the order of lines
    named: dict[str, Language] = {}
    for language in languages:
        if not (plan.mode == "define" and needs_reach(facts, language)):
            language.space(facts)
        named.setdefault(key_text(language.key(facts)), language)
    if plan.unlabelled == "unknown":
        for language in named.values():
            facts = _with_denials(facts, language.key(facts))
    worlds: dict[str, FactBase] = {}
    if given.prolog is not None and _is_learnable(plan):
        for name, language in named.items():
            if are_positives_apart(facts, plan, key := language.key(facts)):
                world = with_stated_world(facts, language, given, seed=plan.config.seed)
                if world.relations[key].negative is not None:
                    worlds[name] = world
            else:
                facts = with_stated_world(facts, language, given, seed=plan.config.seed)
    return facts, named, worlds


def _is_learnable(plan: Plan) -> bool:
    """Whether false examples may be stated beside what the sources state."""
    return (plan.mode, plan.semantics, plan.unlabelled) == ("define", "exists", "auto")


def _with_denials(facts: FactBase, target: Key) -> FactBase:
    """The facts with the impossible ones of a target as negative examples, so that no other atom is one."""
    relation = facts.relations[target]
    if relation.negative is not None or not relation.impossible.any():
        return facts
    chances = np.where(relation.impossible, 1.0, relation.column("probability"))
    denied = replace(relation, negative=relation.impossible, probability=chances)
    return replace(facts, relations={**facts.relations, target: denied})


def _refuse_nothing(definitions: Mapping[str, Definition], skipped: Mapping[str, str]) -> None:
    """Raise an error where no target could be learned."""
    if definitions or not skipped:
        return
    name, reason = next(iter(skipped.items()))
    if len(skipped) == 1:
        raise DataError(reason)
    raise DataError(f"none of {len(skipped)} targets can be learned, {name} because {reason}")


def _definitions(
    learner: TargetLearner,
    languages: Mapping[str, Language],
    out: TargetStore | None,
    executor: Workers | None,
) -> Iterator[Definition | Refused]:
    """Definitions as they are done; first come those that were kept before."""
    left = []
    for name, language in languages.items():
        known = None if out is None else out.known(name)
        if known is None:
            left.append((name, language))
        else:
            yield known
    if executor is None:
        yield from (learner(name, language) for name, language in left)
        return
    # Those with most facts take longest: begun last, one would keep all others waiting.
    facts = learner.facts
    left.sort(key=lambda entry: -len(facts.relations[entry[1].key(facts)]))
    unwatched = replace(learner, callbacks=())
    tasks = (Task(f"learn {name}", TargetLearner.__call__, (name, language)) for name, language in left)
    try:
        for _, made in run_tasks(executor, unwatched, tasks):
            yield made
    except WorkersLostError as error:
        kept = "" if out is None else f"; {out.folder} keeps what is done, and the same call goes on"
        raise WorkersLostError(f"{error}{kept}") from None
