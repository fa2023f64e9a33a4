"""Learning the rules of one or more targets from facts, one after another or in parallel."""

from __future__ import annotations

import time
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from andre.arrays import Ints
from andre.census import Census, Draw, sample_census, take_census
from andre.errors import ConfigError, DataError, MemoryLimitError, OutOfTimeError, WorkersLostError
from andre.facts import Background, Calibration, FactBase, Key, in_canonical_order
from andre.inference import materialise
from andre.learning.callbacks import Callback
from andre.learning.choose.agreement import are_positives_apart, restating
from andre.learning.choose.revision import Revised, is_revisable
from andre.learning.judged_by import background_of, fits_tables, with_stated_world
from andre.learning.plan import Plan, with_background
from andre.learning.relational.advice import advice_on
from andre.learning.relational.definitions import learn_definition
from andre.learning.relational.from_examples import (
    ESTIMATES,
    corrected,
    is_trusted,
    learn_from_examples,
)
from andre.learning.relational.inventing import learn_with_inventions, should_invent
from andre.learning.relational.misjudged import misjudged_by
from andre.learning.relational.reaching import learn_from_reach, needs_reach, settled_by_cuts, settled_by_sums
from andre.learning.relational.together import settle_together
from andre.learning.results import Definition, TargetStore, Theory
from andre.limits import (
    Deadline,
    interruptible,
    limited,
    stage,
    stopped_by,
    time_left,
    told,
    unhurried,
    was_interrupted,
)
from andre.logic import Atom, Program
from andre.memory import is_bounded, lacks_memory
from andre.progress import doing
from andre.samples import Language, key_text, training_facts
from andre.workers import Task, Workers, run_tasks

#: The share of the time limit in which all head atoms are counted; after it some are drawn to stand for all.
_FOR_ALL_HEADS = 0.5
#: The share of the time in which positives alone are learned from as if all else that is stated were false.
_FOR_STATED, _STATED = 0.3, "taking all else that is stated to be false"
#: Drawn head atoms of which no fewer are tried where memory is short.
_FEWEST_HEADS = 1_000
#: Variables that a rule may have where those of a few explain nothing, and seconds in which such are tried.
_WIDER, _WIDENING = 6, 60.0
#: Facts of a relation up to which they are kept with a background in Prolog, as a part of it.
_CARRIED = 1_000
#: Rules of a pool whose wrong head atoms are looked for where few of very many were drawn, and how many of
#: these are looked at.
_SUSPECTS, _WRONG = 60, 1_000_000
#: Settings of runs beside invented predicates, as what is worth inventing makes short rules, and of those
#: that tell whether other settings would help.
_FEW_RUNS = {"restarts": 1, "rounds": 1, "steps": 75}


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
    learner = _Learner(facts, plan, tuple(callbacks), worlds=worlds)
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
    learner: _Learner, languages: Mapping[str, Language], out: TargetStore | None, executor: Workers | None
) -> tuple[dict[str, Definition], dict[str, str]]:
    """The definitions of all targets, or of those that are done when Ctrl-C comes; why others have none."""
    definitions: dict[str, Definition] = {}
    skipped: dict[str, str] = {}
    with interruptible():
        try:
            for made in _definitions(learner, languages, out, executor):
                if isinstance(made, _Refused):
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
    if given.prolog is not None and _may_be_told(plan):
        for name, language in named.items():
            if are_positives_apart(facts, plan, key := language.key(facts)):
                world = with_stated_world(facts, language, given, seed=plan.config.seed)
                if world.relations[key].negative is not None:
                    worlds[name] = world
            else:
                facts = with_stated_world(facts, language, given, seed=plan.config.seed)
    return facts, named, worlds


def _may_be_told(plan: Plan) -> bool:
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


def _note_on_revised(revised: Sequence[Revised], most: int = 3) -> str:
    """What a program takes otherwise than it is likely; those that it speaks against most come first."""
    first = "; ".join(map(str, revised[::-1][:most]))
    more = f" and {len(revised) - most:,} more, which --json lists" if len(revised) > most else ""
    return f"the program speaks against what is likely of single facts: {first}{more}"


def _refuse_nothing(definitions: Mapping[str, Definition], skipped: Mapping[str, str]) -> None:
    """Raise an error where no target could be learned."""
    if definitions or not skipped:
        return
    name, reason = next(iter(skipped.items()))
    if len(skipped) == 1:
        raise DataError(reason)
    raise DataError(f"none of {len(skipped)} targets can be learned, {name} because {reason}")


@dataclass(frozen=True)
class _Refused:
    """A target that cannot be learned, and why."""

    target: str
    reason: str


def _definitions(
    learner: _Learner, languages: Mapping[str, Language], out: TargetStore | None, executor: Workers | None
) -> Iterator[Definition | _Refused]:
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
    tasks = (Task(f"learn {name}", _Learner.__call__, (name, language)) for name, language in left)
    try:
        for _, made in run_tasks(executor, unwatched, tasks):
            yield made
    except WorkersLostError as error:
        kept = "" if out is None else f"; {out.folder} keeps what is done, and the same call goes on"
        raise WorkersLostError(f"{error}{kept}") from None


def _by_few_runs(plan: Plan) -> Plan:
    training = plan.config.training.model_copy(update=_FEW_RUNS)
    return replace(plan, config=plan.config.model_copy(update={"training": training}))


@dataclass(frozen=True)
class _Learner:
    """Learns one target at a time; a value, so that other processes can be given it."""

    facts: FactBase
    plan: Plan
    callbacks: tuple[Callback, ...]
    calibration: Calibration | None = None  #: by which the probabilities of the facts were read
    stated: FactBase | None = None  #: the facts as they were stated, where that is not how they are read
    #: by target, facts that say of what is stated beside positives that it is false
    worlds: Mapping[str, FactBase] = field(default_factory=dict)

    def __call__(self, name: str, language: Language) -> Definition | _Refused:
        try:
            with doing(f"learning {name}"):
                return self._learn(language)
        except DataError as error:
            return _Refused(name, str(error))
        except OutOfTimeError:
            cause = told(stopped_by(), self.plan.config.time_limit)
            return _Refused(name, f"{cause} before there was a program: allow more")
        except (MemoryError, RuntimeError) as error:
            if not (is_bounded() and lacks_memory(error)):
                raise
        return _Refused(
            name, "the memory limit is too low for it: raise it, or give fewer facts or variables"
        )

    def settled(
        self, made: Mapping[str, Definition], languages: Mapping[str, Language], out: TargetStore | None
    ) -> dict[str, Definition]:
        """The definitions that are others where targets read one another."""
        if (self.plan.mode, self.plan.semantics) != ("define", "exists") or self.calibration is not None:
            return {}
        found = settle_together(made, self.facts, languages, self.again)
        changed = {name: one for name, one in found.items() if one is not made[name]}
        if out is not None:
            for one in changed.values():
                out.keep(one)
        return changed

    def again(self, name: str, language: Language) -> Definition | None:
        """The rules of a target in another language than before; None where it cannot be learned in it."""
        made = replace(self, callbacks=())(name, language)
        return made if isinstance(made, Definition) else None

    def _learn(self, language: Language) -> Definition:
        """The rules of one target, within the time limit; a note says which stages it has cut short."""
        limit, began = self.plan.config.time_limit, time.monotonic()
        with limited(Deadline.after(limit)) as watch:
            made = plain = self._over_what_is_stated(language) or self._stages(language, cutting=True)
            further = self._may_go_further(language)
            if further and not made.flawless and not needs_reach(self.facts, language):
                made = self._by_numbers(made, language)
            if further and made is plain and should_invent(plain, self.facts, self.plan):
                made = learn_with_inventions(plain, self.facts, language, self.plan, self._beside)
            if further and made is plain and self.plan.widen and not len(made.program):
                made = self._widened(made, language)
            wrong = misjudged_by(made, self.facts, language, self.plan)
            made = replace(made, misjudged=wrong, seconds=time.monotonic() - began)
        if self.plan.advise and not len(made.program) and made.result.stopped is None:
            with limited(watch.deadline):
                made = replace(made, advice=advice_on(made, self.facts, language, self.plan, self._briefly))
        if was_interrupted() or made.result.stopped == "interrupted":
            return replace(made, result=replace(made.result, stopped="interrupted", cut=tuple(watch.cut)))
        if not watch.cut:
            return made
        if made.flawless and len(made.program) and not watch.deadline.passed:
            return replace(made, result=replace(made.result, stopped=None, cut=()))  # nothing is missed
        result = replace(made.result, stopped=made.result.stopped or watch.why, cut=tuple(watch.cut))
        stages = ", ".join(watch.cut)
        if watch.why == "time" and not watch.deadline.passed:
            # Each stage has a share of the time, so that others have some.
            higher = "" if limit is None else f" limit of {limit:g} s, so that a higher one may find more"
            note = f"cut short at their share of the time{higher}: {stages}"
        else:
            note = f"{told(watch.why, limit)}, so this is the best so far; cut short: {stages}"
        return replace(made, result=result, notes=(*made.notes, note))

    def _over_what_is_stated(self, language: Language) -> Definition | None:
        """The rules that derive all positives, and nothing else of what a folder states; None: none do.

        They say less than a list of the positives.
        """
        key, made = language.key(self.facts), None
        world = self.worlds.get(key_text(key))
        if world is not None:
            with limited(time_left().share(_FOR_STATED)), stage(_STATED), suppress(DataError):
                made = replace(self, facts=world, plan=_by_few_runs(self.plan))._stages(language)
        if made is None or not (made.flawless and len(made.program)):
            return None
        listed = restating(made.confusion.true_positives, key)
        return made if made.program.n_literals + len(made.program) < listed else None

    def _may_go_further(self, language: Language) -> bool:
        """Whether inventions and more variables may be tried: for a definition, by facts that are certain."""
        plan, facts = self.plan, self.facts
        if (plan.mode, plan.semantics) != ("define", "exists") or self.calibration is not None:
            return False
        return not (is_revisable(background_of(facts, language.key(facts))) or time_left().passed)

    def _by_numbers(self, made: Definition, language: Language) -> Definition:
        """The definition, or one without mistakes by rules that cut numbers, or else add them."""
        wider = self._wider(language) if self.plan.widen else language
        for settled, within in ((settled_by_cuts, language), (settled_by_sums, wider)):
            found = settled(self.facts, within, self.plan, self.callbacks)
            if found is not None and is_trusted(found.length, made.length, made.empty_length):
                return found
        return made

    def _by_a_cut(self, language: Language) -> Definition | None:
        """A definition without mistakes by one rule that cuts numbers, found without runs."""
        if not self._may_go_further(language) or not self.plan.short_bodies:
            return None
        found = settled_by_cuts(self.facts, language, self.plan, self.callbacks)
        # It is believed then, whatever runs may find that makes mistakes.
        trusted = found is not None and is_trusted(found.length, 0.0, found.empty_length)
        return found if found is not None and trusted and len(found.program) == 1 else None

    def _wider(self, language: Language) -> Language:
        """The language with more variables."""
        return replace(language, variables=max(_WIDER, language.key(self.facts)[1]))

    def _widened(self, made: Definition, language: Language) -> Definition:
        """The definition, or a better one by rules of more variables, with constants."""
        wider = self._wider(language)
        found: Definition | None = None
        with limited(Deadline.after(_WIDENING)), stage("trying more variables"):
            found = learn_from_reach(self.facts, wider, self.plan, self.callbacks)
        if found is None or not len(found.program) or not (found.flawless or found.length < made.length):
            return made
        note = (
            f"rules of up to {wider.variables} variables were tried, as those of {language.variables} "
            "explain nothing; --variables says how many there may be"
        )
        return replace(found, notes=(*found.notes, note))

    def _beside(self, facts: FactBase, language: Language) -> Definition:
        """The rules of one target from facts with invented predicates, by few runs."""
        return replace(self, facts=facts, plan=_by_few_runs(self.plan))._stages(language)

    def _briefly(self, language: Language, plan: Plan) -> Definition:
        """The rules of one target by other settings and few runs, which nobody watches."""
        return replace(self, plan=_by_few_runs(plan), callbacks=())._stages(language)

    def _stages(self, language: Language, *, cutting: bool = False) -> Definition:
        """The rules of one target: its census is taken, and they are learned in the way the plan asks for.

        Parameters
        ----------
        cutting
            Whether a rule that cuts numbers comes before what only runs find.
        """
        began, facts, plan = time.monotonic(), self.facts, self.plan
        at_fixpoint = plan.mode == "define" and plan.semantics == "exists"
        notes = [facts.notes.tabled] if facts.notes.tabled else []
        if at_fixpoint and self.calibration is None and needs_reach(facts, language):
            made = learn_from_reach(facts, language, plan, self.callbacks)
            return replace(made, seconds=time.monotonic() - began, notes=(*notes, *made.notes))
        tabled = fits_tables(facts, plan.table_cells)
        if at_fixpoint and not tabled:
            revisable = is_revisable(background_of(facts, language.key(facts)))
            if revisable and language.recursion:
                notes.append(
                    f"recursion was left out: over {len(facts.constants):,} constants uncertain facts are "
                    "not revised"
                )
            # Without recursion one step is the fixpoint.
            language = replace(language, recursion=language.recursion and not revisable)
            at_fixpoint = language.recursion
        census = self._census(language, draws=not (at_fixpoint and tabled)).require_both_classes()
        if census.sampled is not None:
            why = "" if plan.heads is not None else ", whose census outgrew the memory or the time allowed"
            notes.append(
                f"{census.sampled:,} head atoms were drawn to stand for all {census.n_examples:,}{why}"
                + (f": {ESTIMATES}" if at_fixpoint else "")
            )
        for callback in self.callbacks:
            callback.on_census(census)
        if at_fixpoint:
            instead = partial(self._by_a_cut, language) if cutting else None
            made = learn_definition(
                facts, language, census, plan, self.callbacks, stated=self.stated, instead=instead
            )
        else:
            made = learn_from_examples(census, language, plan, self.callbacks)
            if census.sampled is not None:
                made = self._corrected(made, language, census.sampled)
        if self.calibration is not None:
            notes.append(str(self.calibration))
        if made.revised:
            notes.append(_note_on_revised(made.revised))
        return replace(made, seconds=time.monotonic() - began, notes=(*notes, *made.notes))

    def _corrected(self, made: Definition, language: Language, heads: int) -> Definition:
        """A definition from so many drawn head atoms, learned again beside what its rules derive wrongly."""

        def again(also: Ints) -> Definition:
            census = self._drawn(language, heads, also=also)
            return learn_from_examples(census.require_both_classes(), language, self.plan, self.callbacks)

        return corrected(made, self.facts, language, self.plan, again, suspects=_SUSPECTS, most=_WRONG)

    def _census(self, language: Language, *, draws: bool) -> Census:
        """The census of all head atoms, or of some that stand for all.

        Some are drawn on request, and where the census of all outgrows the memory allowed: fewer where
        that of these does, too.
        """
        plan = self.plan
        how: dict[str, Any] = {
            "mode": plan.mode,
            "identity": plan.identity,
            "memory_limit": plan.memory_limit,
        }
        if plan.heads is not None:
            with self._timed(language):
                return self._drawn(language, plan.heads)
        if not draws or plan.semantics != "exists":
            with self._timed(language):
                return take_census(self.facts, language, semantics=plan.semantics, **how)
        refusal = self._too_slow(language)
        try:
            with limited(time_left().share(_FOR_ALL_HEADS)), stage("counting all head atoms"):
                return take_census(self.facts, language, **how)
        except MemoryLimitError as error:
            refusal = MemoryLimitError(str(error))  # without its traceback, which holds all that was counted
        heads = plan.fallback_heads
        while True:
            try:
                with self._timed(language):
                    return self._drawn(language, heads)
            except ConfigError:  # head atoms are not drawn for every language
                raise refusal from None
            except (MemoryLimitError, MemoryError):
                if heads < _FEWEST_HEADS:
                    raise
            heads //= 4

    def _drawn(self, language: Language, heads: int, also: Ints | None = None) -> Census:
        """The census of so many head atoms that stand for all, among them some of those asked for."""
        plan = self.plan
        return sample_census(
            self.facts,
            language,
            Draw(heads, plan.config.seed, also=also),
            mode=plan.mode,
            identity=plan.identity,
            memory_limit=plan.memory_limit,
        )

    @contextmanager
    def _timed(self, language: Language) -> Iterator[None]:
        """Say what to do where time runs out before there is anything to learn from."""
        try:
            yield
        except OutOfTimeError:
            raise self._too_slow(language) from None

    def _too_slow(self, language: Language) -> DataError:
        return DataError(
            f"the time limit of {self.plan.config.time_limit or 0:g} s passed before the examples of "
            f"{language.target} were counted: allow fewer than {language.variables} variables, fewer "
            "relations or facts, or more time"
        )
