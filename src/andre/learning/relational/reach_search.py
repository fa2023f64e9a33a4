"""Searching for rules of many variables in one language, from what examples reach.

Programs that agree with all examples are looked for first: recursive ones over few variables and along
chains of goals, others along links, with ever more of these. Few links are enough for most rules, and then
there are few candidates. Runs of gradient descent then propose beside the shortest of these programs, or,
where none agrees, beside all that the links allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice

from andre.arrays import Ints
from andre.census import Census, Growth, reach_census, take_census
from andre.errors import DataError
from andre.facts import FactBase
from andre.learning.callbacks import Callback
from andre.learning.plan import Plan
from andre.learning.recursion.programs import Recursion, recursive_program
from andre.learning.relational.definitions import learn_definition, settled_definition
from andre.learning.relational.from_examples import (
    Agreed,
    agreeing_program,
    corrected,
    learn_from_examples,
    with_moved_cuts,
)
from andre.learning.results import Definition
from andre.limits import check, limited, out_of_time, stage, time_left, unhurried
from andre.logic import ORDERS, Constant, Program, Variable
from andre.samples import Language

#: How far links are followed, step by step.
STEPS = (
    Growth(multiple=0, depth=2),
    Growth(multiple=1, depth=2),
    Growth(multiple=2, depth=3, heads=8_000),
    Growth(multiple=3, depth=3, heads=4_000),
    Growth(multiple=3, depth=4, heads=4_000),
    Growth(multiple=4, depth=4, heads=4_000),
)
#: How many of these steps are taken beside a recursive program that agrees, which has few literals.
_BESIDE = 2
#: Steps after which no further ones are taken, where none of them has led to a shorter description.
_IDLE = 2
#: Arguments of relations, and groundings, up to which these are counted.
COUNTED_ARITY, MOST_COUNTED = 2, 200_000
#: The share of the time in which a program is looked for that agrees with all examples, by each of the ways
#: that are tried before runs are made; and by chains of goals, which find what the others cannot.
_AGREEING, _CHAINING = 0.4, 0.7


@dataclass(frozen=True, eq=False)
class _Stage:
    """A census, and how far links were followed for it."""

    census: Census
    growth: Growth


@dataclass(frozen=True, eq=False)
class ReachSearch:
    """The search for one target in one language; what is found is kept."""

    facts: FactBase
    language: Language
    plan: Plan
    callbacks: tuple[Callback, ...]
    growths: Sequence[Growth] = STEPS  #: how far links are followed, step by step
    runs: bool = True  #: whether runs propose beside a program that agrees

    @cached_property
    def settled(self) -> Definition | None:
        """A definition without mistakes that search finds, or runs over few variables; None: there is none.

        Runs are made where search finds none that reads itself, nor one that is no weaker than a list.
        """
        counted, given, stages, _, _ = self._searched
        if counted is not None:
            return counted
        plain = self._plain if self._plain is not None and self._plain.flawless else None
        if plain is None and given is not None and given.agrees and stages:
            return self._along(given, stages)
        if plain is None or (plain.weak is not None and len(plain.program) > 1):
            counted = self._counted
            if counted is not None and counted.flawless and (plain is None or counted.length < plain.length):
                return counted
        return plain

    @cached_property
    def _searched(
        self,
    ) -> tuple[Definition | None, Recursion | None, list[_Stage], Agreed | None, _Stage | None]:
        """What is found without runs, by recursion over few variables, along chains, and along links."""
        counted, given = self._recursive()
        if counted is not None:
            return counted, given, [], None, None
        return counted, given, *self._agreeing(enough=given is not None and given.agrees)

    @cached_property
    def _plain(self) -> Definition | None:
        """The definition by the program that agrees, unless a recursive one that agrees is shorter."""
        _, given, _, agreed, where = self._searched
        if agreed is None or where is None:
            return None
        size = _size(where.census.space.program(agreed.codes))
        if given is not None and given.agrees and size >= _size(given.program):
            return None
        return self._from_examples(where, agreed, runs=self.runs)

    def _along(self, given: Recursion, stages: list[_Stage]) -> Definition | None:
        """The definition by a program that was found along chains."""
        made: Definition | None = None
        with unhurried() if given.agrees else stage("following chains of goals"):
            made = learn_definition(
                self.facts, self.language, stages[0].census, self.plan, self.callbacks, given=given
            )
        return made

    def definition(self) -> Definition:
        """The best definition that is found by any of the ways."""
        if self.settled is not None:
            return self.settled
        _, given, seen, _, _ = self._searched
        plain, chained, stages, most = self._plain, None, iter(seen), len(seen)
        if plain is not None:  # a program with mistakes is shorter: further links may show a better one
            stages, most = self._stages(replace(self.language, recursion=False)), len(self.growths)
        if given is not None and seen:
            chained = self._along(given, seen)
        found = [one for one in (plain, chained, self._counted) if one is not None]
        if not (found and out_of_time("following links")):
            if self.language.recursion:
                stages, most = self._stages(self.language), len(self.growths)
            found += self._best_of(stages, most)
        if not found:
            check()
            raise DataError(
                f"nothing that the facts say of the examples of {self.language.target} tells them apart: "
                "allow more relations or variables"
            )
        return min(found, key=rank_of)

    def searched(self) -> Definition | None:
        """The shortest definition that search alone finds over few links; None where it has no rule.

        It may make mistakes, but says less than a list of the examples.
        """
        made: Definition | None = None
        for one in islice(self._stages(replace(self.language, recursion=False)), _BESIDE):
            found = self._from_examples(one, runs=False)
            if len(found.program) and (made is None or found.length < made.length):
                made = found
            if out_of_time("following links"):
                break
        return made

    def _recursive(self) -> tuple[Definition | None, Recursion | None]:
        """A definition without mistakes over few variables, and a recursive program, by search."""
        counted = given = None
        if self.language.recursion:
            with limited(time_left().share(_AGREEING)), stage("counting groundings"):
                counted = self._settled_by_counting()
            if counted is None:
                with limited(time_left().share(_CHAINING)), stage("following chains of goals"):
                    given = recursive_program(self.facts, self.language, self.plan)
        return counted, given

    def _settled_by_counting(self) -> Definition | None:
        """A definition without mistakes with one variable more than its head, or two, without runs."""
        for more in (1, 2):
            taken = self._counting(more)
            made = None if taken is None else settled_definition(self.facts, *taken, self.plan)
            if taken is None or made is not None:
                return made
        return None

    @cached_property
    def _counted(self) -> Definition | None:
        """The best definition with one variable more than its head that runs and search find."""
        made: Definition | None = None
        if self.language.recursion:
            with limited(time_left().share(_AGREEING)), stage("counting groundings"):
                taken = self._counting(1)
                if taken is not None:
                    made = learn_definition(self.facts, *taken, self.plan, self.callbacks)
        return made

    def _counting(self, more: int) -> tuple[Language, Census] | None:
        """The language with so many variables more than the head's, and its census; None: it is too large."""
        facts, language = self.facts, self.language
        fewer = replace(language, variables=min(language.variables, language.key(facts)[1] + more))
        widest = max(arity for _, arity in language.body_keys(facts))
        if widest > COUNTED_ARITY or len(facts.constants) ** fewer.variables > MOST_COUNTED:
            return None
        census = take_census(facts, fewer, memory_limit=self.plan.memory_limit).require_both_classes()
        return fewer, census

    def _agreeing(self, *, enough: bool) -> tuple[list[_Stage], Agreed | None, _Stage | None]:
        """The stages that were gone through, and the shortest program that agrees, with its stage.

        Parameters
        ----------
        enough
            Whether any program that agrees is: a recursive one may be shorter anyway. Then links are not
            followed far.
        """
        seen: list[_Stage] = []
        agreed: Agreed | None = None
        where: _Stage | None = None
        idle = 0
        with limited(time_left().share(_AGREEING)), stage("following links"):
            plain = replace(self.language, recursion=False)
            for one in islice(self._stages(plain), _BESIDE if enough else len(self.growths)):
                seen.append(one)
                found = agreeing_program(one.census, self.language, self.plan)
                if found is not None and (agreed is None or found.length < agreed.length):
                    agreed, where, idle = found, one, 0
                elif agreed is not None:
                    idle += 1
                if agreed is not None and (enough or agreed.length < agreed.empty_length or idle >= _IDLE):
                    break
        return seen, agreed, where

    def _best_of(self, stages: Iterable[_Stage], most: int) -> list[Definition]:
        """The best definition from any of the stages, of which there are so many at the most; or none."""
        best: Definition | None = None
        idle = 0
        for place, one in enumerate(stages):
            made: Definition | None = None
            with limited(time_left().share(1 / max(1, most - place))), stage("following links"):
                if one.census.space.recursive.any():
                    made = learn_definition(self.facts, self.language, one.census, self.plan, self.callbacks)
                else:
                    made = self._from_examples(one)
            if made is not None and (best is None or rank_of(made) < rank_of(best)):
                best, idle = made, 0
            elif best is not None and len(best.program):
                idle += 1
            stopped = made is not None and made.result.stopped == "interrupted"
            enough = idle >= _IDLE or (best is not None and best.flawless)
            if stopped or enough or out_of_time("following links"):
                break
        return [] if best is None else [best]

    def _from_examples(self, one: _Stage, agreed: Agreed | None = None, *, runs: bool = True) -> Definition:
        """A definition that does not read itself.

        Where head atoms were drawn, those that it derives wrongly join them, and it is learned again.
        Its cuts of numbers are moved to where they tell most.
        """
        plain = replace(self.language, recursion=False)
        for callback in self.callbacks:
            callback.on_census(one.census)
        codes = None if agreed is None else agreed.codes
        learn = partial(learn_from_examples, language=self.language, plan=self.plan, runs=runs)
        made = learn(one.census, callbacks=self.callbacks, agreed=codes)
        if one.census.sampled is not None:

            def again(also: Ints) -> Definition:
                census = self._census(plain, one.growth, also=also)
                return learn(census, callbacks=self.callbacks)

            made = corrected(made, self.facts, plain, self.plan, again)
        cuts = _cuts(made.result.program)
        if cuts and not out_of_time("moving cuts"):
            with stage("moving cuts"):
                census = self._census(plain, one.growth, cuts)
                made = with_moved_cuts(made, census, self.language, self.plan)
        return made

    def _stages(self, language: Language) -> Iterator[_Stage]:
        """The census at each stage; a stage that finds no link more than the one before is left out."""
        before: tuple[int, int] | None = None
        for growth in self.growths:
            if out_of_time("following links"):
                return
            census: Census | None = None
            with stage("following links"), suppress(DataError):  # so few links may say nothing
                census = self._census(language, growth)
            if census is None:
                continue
            size = len(census.space.links), census.space.m
            if size != before:
                yield _Stage(census, growth)
            before = size

    def _census(
        self,
        language: Language,
        growth: Growth,
        cuts: Mapping[Variable, tuple[float, ...]] | None = None,
        also: Ints | None = None,
    ) -> Census:
        return reach_census(
            self.facts,
            language,
            growth=growth,
            cuts=cuts,
            also=also,
            seed=self.plan.config.seed,
            memory_limit=self.plan.memory_limit,
        )


def _cuts(program: Program) -> dict[Variable, tuple[float, ...]]:
    """The cuts of a program, by the variable that they cut."""
    found: dict[Variable, tuple[float, ...]] = {}
    for literal in (literal for rule in program for literal in rule.body):
        if literal.atom.predicate in ORDERS:
            variable, bound = literal.atom.args
            if isinstance(variable, Variable) and isinstance(bound, Constant) and bound.number is not None:
                found[variable] = (*found.get(variable, ()), float(bound.number))
    return found


def _size(program: Program) -> int:
    """How much there is to say: literals and rules."""
    return program.n_literals + len(program)


def rank_of(made: Definition) -> tuple[bool, float]:
    """Those without mistakes come first, then those with a short description."""
    return not made.flawless, made.length
