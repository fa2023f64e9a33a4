"""Learning one target: its census is taken, its rules are learned, and what may explain more is tried."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from andre.arrays import Ints
from andre.census import Census, Draw, sample_census, take_census
from andre.errors import ConfigError, DataError, MemoryLimitError, OutOfTimeError
from andre.facts import Calibration, FactBase, key_text
from andre.learning.callbacks import Callback
from andre.learning.choose.agreement import restating
from andre.learning.choose.revision import Revised, is_revisable
from andre.learning.judged_by import background_of, fits_tables
from andre.learning.plan import Plan
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
from andre.learning.relational.reaching import (
    Attempt,
    Attempts,
    Lack,
    adding_numbers,
    comparing_numbers,
    cutting_numbers,
    has_measures,
    learn_from_reach,
    needs_reach,
)
from andre.learning.relational.together import settle_together
from andre.learning.results import Definition, TargetStore
from andre.limits import (
    Deadline,
    limited,
    stage,
    stop_reason,
    stopped_by,
    time_left,
    was_interrupted,
)
from andre.memory import is_bounded, lacks_memory
from andre.progress import doing
from andre.samples import Language

#: The share of the time limit in which all head atoms are counted; after it some are drawn to stand for all.
_FOR_ALL_HEADS = 0.5
#: The share of the time in which positives alone are learned from as if all else that is stated were false.
_FOR_STATED, _STATED = 0.3, "taking all else that is stated to be false"
#: The share of the time that is left in which rules that cut numbers and make mistakes are looked for.
_FOR_NUMBERS = 0.25
#: Drawn head atoms of which no fewer are tried where memory is short.
_FEWEST_HEADS = 1_000
#: Variables that a rule may have where those of a few explain nothing, and seconds in which such are tried.
_WIDER, _WIDENING = 6, 60.0
#: Rules of a pool whose wrong head atoms are looked for where few of very many were drawn, and how many of
#: these are looked at.
_SUSPECTS, _WRONG = 60, 1_000_000
#: Settings of runs beside invented predicates, as what is worth inventing makes short rules, and of those
#: that tell whether other settings would help.
_FEW_RUNS = {"restarts": 1, "rounds": 1, "steps": 75}


@dataclass(frozen=True)
class Refused:
    """A target that cannot be learned, and why."""

    target: str
    reason: str


@dataclass(frozen=True)
class TargetLearner:
    """Learns one target at a time; a value, so that other processes can be given it."""

    facts: FactBase
    plan: Plan
    callbacks: tuple[Callback, ...]
    calibration: Calibration | None = None  #: by which the probabilities of the facts were read
    stated: FactBase | None = None  #: the facts as they were stated, where that is not how they are read
    #: by target, facts that say of what is stated beside positives that it is false
    worlds: Mapping[str, FactBase] = field(default_factory=dict)

    def __call__(self, name: str, language: Language) -> Definition | Refused:
        """The rules of a target, or why it has none, within the limits of the plan."""
        try:
            with doing(f"learning {name}"):
                return self._learn(language)
        except DataError as error:
            return Refused(name, str(error))
        except OutOfTimeError:
            cause = stop_reason(stopped_by(), self.plan.config.time_limit)
            return Refused(name, f"{cause} before there was a program: allow more")
        except (MemoryError, RuntimeError) as error:
            if not (is_bounded() and lacks_memory(error)):
                raise
        return Refused(name, "the memory limit is too low for it: raise it, or give fewer facts or variables")

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
            made = plain = self._over_what_is_stated(language) or self._stages(language, by_numbers=True)
            further = self._may_go_further(language)
            if further and not needs_reach(self.facts, language):
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
            note = f"{stop_reason(watch.why, limit)}, so this is the best so far; cut short: {stages}"
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
        """The definition, or a better one by rules that cut and compare numbers, or else add them.

        One without mistakes is looked for where it makes some, or says no less than a list of the
        examples; where there is none, labels may be wrong, and one that describes them shorter.
        """
        for given in (self._numbers(language), adding_numbers(self.facts, self._wider(language))):
            if Lack.of(made if made.flawless else None) < Lack.CONTENT:
                break
            attempts = Attempts(tuple(given), self.plan, self.callbacks)
            found = attempts.settled
            nothing = found is None and not (len(made.program) or len(self.plan.known))
            if nothing and has_measures(self.facts, language):
                with limited(time_left().share(_FOR_NUMBERS)):
                    found = attempts.searched()
            made = made if found is None else _believed(made, found)
        return made

    def _by_one_rule_on_numbers(self, language: Language) -> Definition | None:
        """A definition without mistakes by one rule that cuts or compares numbers, found without runs."""
        if not self._may_go_further(language) or not self.plan.short_bodies:
            return None
        plan = self.plan.with_max_rules(1)
        found = Attempts(tuple(self._numbers(language)), plan, self.callbacks).settled
        # It is believed then, whatever runs may find that makes mistakes.
        trusted = found is not None and is_trusted(found.length, 0.0, found.empty_length)
        return found if trusted else None

    def _numbers(self, language: Language) -> Iterator[Attempt]:
        """Rules that cut numbers, or else compare them with one another."""
        yield from cutting_numbers(self.facts, language)
        yield from comparing_numbers(self.facts, self._wider(language))

    def _wider(self, language: Language) -> Language:
        """The language with more variables, where their number may be chosen."""
        if not self.plan.widen:
            return language
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

    def _stages(self, language: Language, *, by_numbers: bool = False) -> Definition:
        """The rules of one target: its census is taken, and they are learned in the way the plan asks for.

        Parameters
        ----------
        by_numbers
            Whether a rule that cuts or compares numbers comes before what only runs find.
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
            instead = partial(self._by_one_rule_on_numbers, language) if by_numbers else None
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


def _believed(made: Definition, found: Definition) -> Definition:
    """The one of two definitions that is believed; either may make mistakes."""
    if found.flawless == (made.flawless and len(made.program) > 0):
        return found if found.length < made.length else made
    agreeing, other = (found, made) if found.flawless else (made, found)
    return agreeing if is_trusted(agreeing.length, other.length, other.empty_length) else other


def _by_few_runs(plan: Plan) -> Plan:
    training = plan.config.training.model_copy(update=_FEW_RUNS)
    return replace(plan, config=plan.config.model_copy(update={"training": training}))


def _note_on_revised(revised: Sequence[Revised], most: int = 3) -> str:
    """What a program takes otherwise than it is likely; those that it speaks against most come first."""
    first = "; ".join(map(str, revised[::-1][:most]))
    more = f" and {len(revised) - most:,} more, which --json lists" if len(revised) > most else ""
    return f"the program speaks against what is likely of single facts: {first}{more}"
