"""Learning rules of many variables from what examples reach, with one link more at a time.

Few links are enough for most rules, and then there are few candidates. Where these do not describe the
examples without a mistake, further links are followed, as long as there is time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import numpy as np

from andre.arrays import Ints
from andre.census import Census, Growth, reach_census, take_census
from andre.errors import DataError
from andre.facts import PLUS, FactBase, Key, numbers_in, with_sums
from andre.learning.callbacks import Callback
from andre.learning.choose.agreement import are_positives_apart
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
from andre.logic import ORDERS, Constant, Literal, Program, Rule, Variable
from andre.samples import Language

#: How far links are followed, step by step.
_STAGES = (
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
#: Variables of rules and arguments of relations up to which the groundings of any facts are counted.
_COUNTED_VARIABLES, _COUNTED_ARITY = 3, 2
#: Groundings that are counted whatever variables and arguments there are.
_MOST_COUNTED = 200_000
#: Distinct groundings by unary relations alone that are counted.
_MOST_ALIKE = 2_000_000
#: The share of the time in which a program is looked for that agrees with all examples, by each of the ways
#: that are tried before runs are made; and by chains of goals, which find what the others cannot.
_AGREEING, _CHAINING = 0.4, 0.7
#: The share of the time that is left in which a wider language is searched, before runs are made.
_WIDER = 0.25
#: Numbers of which all sums are looked at.
_MOST_NUMBERS = 300


def needs_reach(facts: FactBase, language: Language) -> bool:
    """Whether rules have so many variables, or literals so many arguments, that groundings are not counted.

    Nor are they where single constants have so many different qualities that few groundings are alike.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> facts = FactBase.from_facts([parse_atom(f"p({i}, {i + 1})") for i in range(99)])
    >>> [needs_reach(facts, Language("p/2", variables=n)) for n in (3, 4)]
    [False, True]
    """
    keys = language.body_keys(facts)
    widest = max((arity for _, arity in keys), default=0)
    if language.variables <= _COUNTED_VARIABLES and widest <= _COUNTED_ARITY:
        further = language.variables - language.key(facts)[1]
        if further < 2:  # what a head atom sees of one constant more is joined
            return False
        kinds = _kinds(facts, [key for key in keys if key[1] == 1])
        alike: int = len(facts.relations[language.key(facts)]) * kinds**further
        return alike > _MOST_ALIKE
    groundings: int = len(facts.constants) ** language.variables
    return groundings > _MOST_COUNTED


def _kinds(facts: FactBase, keys: Sequence[Key]) -> int:
    """How many kinds of constants some unary relations tell apart."""
    holds = np.zeros((len(facts.constants), len(keys)), dtype=np.bool_)
    for place, key in enumerate(keys):
        holds[facts.relations[key].codes[:, 0], place] = True
    return len(np.unique(np.packbits(holds, axis=1), axis=0)) if keys else 1


def learn_from_reach(
    facts: FactBase, language: Language, plan: Plan, callbacks: tuple[Callback, ...]
) -> Definition:
    """The rules that describe the examples shortest, of those that links from the examples allow.

    Programs that agree with all examples are looked for first: recursive ones over few variables and
    along chains of goals, others by ever more links. Runs of gradient descent then propose beside the
    shortest of them, or, where none agrees, beside all that the links allow.

    Parameters
    ----------
    facts
        What is known; background rules have been run.
    """
    plain = _Reaching(facts, language, plan, callbacks)
    made = plain.settled
    if made is None or (
        made.weak is not None and len(made.program) > 1
    ):  # a list of the examples agrees, too
        found = settled_by_sums(facts, language, plan, callbacks)
        if found is not None and (made is None or found.length < made.length):
            made = found
    if made is not None and facts.bias is None and len(made.program) > 1:  # one rule may say it all
        with stage("a wider language"), suppress(DataError):
            for known, wider, _ in _wider(facts, language, plan):
                other = _Reaching(known, wider, plan, callbacks).settled if wider.free_head else None
                made = other if other is not None and other.length < made.length else made
    others = [
        (_Reaching(known, wider, plan, callbacks), why)
        for known, wider, why in (_wider(facts, language, plan) if made is None else ())
    ]
    for one, why in others:
        with limited(time_left().share(_WIDER)), stage("a wider language"), suppress(DataError):
            made = one.settled
        if made is not None:
            made = replace(made, notes=(*made.notes, *why))
            break
    if made is None:
        made = plain.definition()
        for one, why in others:
            if made.flawless or made.result.stopped == "interrupted" or out_of_time("a wider language"):
                break
            # Where there is no time, or nothing to say, what was found before stays.
            with stage("a wider language"), suppress(DataError):
                other = one.definition()
                if _rank(other) < _rank(made):
                    made = replace(other, notes=(*other.notes, *why))
    return _written(made)


def settled_by_cuts(
    facts: FactBase, language: Language, plan: Plan, callbacks: tuple[Callback, ...]
) -> Definition | None:
    """A definition without mistakes by rules that cut numbers, where search alone finds one."""
    made: Definition | None = None
    if language.cuts and len(numbers_in(facts)) > 1:
        with stage("cutting numbers"), suppress(DataError):
            made = _Reaching(facts, _plain(language), plan, callbacks).settled
    return None if made is None else _written(made)


def settled_by_sums(
    facts: FactBase, language: Language, plan: Plan, callbacks: tuple[Callback, ...]
) -> Definition | None:
    """A definition without mistakes by rules that add numbers, where search alone finds one."""
    made: Definition | None = None
    if _may_add(facts, language):
        with stage("adding numbers"), suppress(DataError):
            made = _Reaching(_with_sums(facts, language), _plain(language), plan, callbacks).settled
    return None if made is None else _written(made)


def _written(made: Definition) -> Definition:
    """The definition with its rules as people write them."""
    return replace(made, program=Program(tuple(_as_written(rule) for rule in made.program)))


def _plain(language: Language) -> Language:
    """The language without recursion."""
    return replace(language, recursion=False)


def _wider(
    facts: FactBase, language: Language, plan: Plan
) -> Iterator[tuple[FactBase, Language, tuple[str, ...]]]:
    """What to try where all definitions in a language make mistakes: facts, a language, notes on both."""
    plain = _plain(language)
    if _may_add(facts, language):
        yield _with_sums(facts, language), plain, ()
    key = language.key(facts)  # of one argument that is left free, all would be derived
    if key[1] > 1 and not language.free_head and facts.relations[key].negative is not None:
        yield facts, replace(plain, free_head=True), ()
    if facts.bias is not None and not language.cuts and not are_positives_apart(facts, plan, key):
        beyond = "constants and cuts of numbers stand in it that the bias does not name"
        yield facts, replace(plain, cuts=True, constants=None), (beyond,)


def _may_add(facts: FactBase, language: Language) -> bool:
    """Whether sums of numbers may stand in bodies: the language names no relations, and numbers are few."""
    free = language.arithmetic and language.relations is None and facts.bias is None
    return free and PLUS not in facts.relations and 2 <= len(numbers_in(facts)) <= _MOST_NUMBERS


def _with_sums(facts: FactBase, language: Language) -> FactBase:
    """The facts with the sums of their numbers."""
    has_numbers = np.isin(facts.relations[language.key(facts)].codes, numbers_in(facts)).any()
    # Of a head of numbers there would be examples about all the differences, too.
    return with_sums(facts, known=bool(has_numbers))


@dataclass(frozen=True, eq=False)
class _Stage:
    """A census, and how far links were followed for it."""

    census: Census
    growth: Growth


@dataclass(frozen=True, eq=False)
class _Reaching:
    """One target, and how it is learned."""

    facts: FactBase
    language: Language
    plan: Plan
    callbacks: tuple[Callback, ...]

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
        return self._from_examples(where, agreed)

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
            stages, most = self._stages(replace(self.language, recursion=False)), len(_STAGES)
        if given is not None and seen:
            chained = self._along(given, seen)
        found = [one for one in (plain, chained, self._counted) if one is not None]
        if not (found and out_of_time("following links")):
            if self.language.recursion:
                stages, most = self._stages(self.language), len(_STAGES)
            found += self._best_of(stages, most)
        if not found:
            check()
            raise DataError(
                f"nothing that the facts say of the examples of {self.language.target} tells them apart: "
                "allow more relations or variables"
            )
        return min(found, key=_rank)

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
        if widest > _COUNTED_ARITY or len(facts.constants) ** fewer.variables > _MOST_COUNTED:
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
            for one in islice(self._stages(plain), _BESIDE if enough else len(_STAGES)):
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
            if made is not None and (best is None or _rank(made) < _rank(best)):
                best, idle = made, 0
            elif best is not None and len(best.program):
                idle += 1
            stopped = made is not None and made.result.stopped == "interrupted"
            enough = idle >= _IDLE or (best is not None and best.flawless)
            if stopped or enough or out_of_time("following links"):
                break
        return [] if best is None else [best]

    def _from_examples(self, one: _Stage, agreed: Agreed | None = None) -> Definition:
        """A definition that does not read itself.

        Where head atoms were drawn, those that it derives wrongly join them, and it is learned again.
        Its cuts of numbers are moved to where they tell most.
        """
        plain = replace(self.language, recursion=False)
        for callback in self.callbacks:
            callback.on_census(one.census)
        codes = None if agreed is None else agreed.codes
        made = learn_from_examples(one.census, self.language, self.plan, self.callbacks, codes)
        if one.census.sampled is not None:

            def again(also: Ints) -> Definition:
                census = self._census(plain, one.growth, also=also)
                return learn_from_examples(census, self.language, self.plan, self.callbacks)

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
        for growth in _STAGES:
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


def _as_written(rule: Rule) -> Rule:
    """The rule as people write it: equal terms are one, and a number is at most c, not "not above" it."""
    body = tuple(
        Literal(literal.atom.complement) if literal.negated and literal.atom.predicate in ORDERS else literal
        for literal in rule.body
    )
    return replace(rule, body=body).unified().tidy()


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


def _rank(made: Definition) -> tuple[bool, float]:
    return not made.flawless, made.length
