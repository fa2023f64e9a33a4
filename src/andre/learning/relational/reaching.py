"""Learning rules of many variables from what examples reach: attempts in one language after the other.

The language that was asked for comes first. Where it has no program that agrees with all examples, or only
a long one, further languages are tried, each for a share of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property

import numpy as np

from andre.census import Growth
from andre.errors import DataError
from andre.facts import PLUS, FactBase, Key, numbers_in, with_sums
from andre.learning.callbacks import Callback
from andre.learning.choose.agreement import are_positives_apart
from andre.learning.plan import Plan
from andre.learning.relational.reach_search import (
    COUNTED_ARITY,
    MOST_COUNTED,
    STEPS,
    ReachSearch,
    rank_of,
)
from andre.learning.results import Definition
from andre.limits import limited, out_of_time, stage, time_left
from andre.logic import Literal, Program, Rule
from andre.samples import Language

#: Variables of rules up to which the groundings of any facts are counted.
_COUNTED_VARIABLES = 3
#: Distinct groundings by unary relations alone that are counted.
_MOST_ALIKE = 2_000_000
#: The share of the time that is left in which a wider language is searched, before runs are made.
_WIDER, _ADDING = 0.25, 0.5
#: How far links are followed where numbers are compared, where they are added, and where some of the
#: variables stand for constants in the end.
_COMPARING, _SUMMING, _NAMING = STEPS[:3], STEPS[:2], tuple(replace(one, named=2) for one in STEPS[:3])
#: Variables up to which there may be more, for constants.
_MOST_BOUND = 4
#: Numbers up to which they are not compared, and up to which all sums are looked at.
_FEW_NUMBERS, _MOST_NUMBERS = 2, 300


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
    if language.variables <= _COUNTED_VARIABLES and widest <= COUNTED_ARITY:
        further = language.variables - language.key(facts)[1]
        if further < 2:  # what a head atom sees of one constant more is joined
            return False
        kinds = _kinds(facts, [key for key in keys if key[1] == 1])
        alike: int = len(facts.relations[language.key(facts)]) * kinds**further
        return alike > _MOST_ALIKE
    groundings: int = len(facts.constants) ** language.variables
    return groundings > MOST_COUNTED


def _kinds(facts: FactBase, keys: Sequence[Key]) -> int:
    """How many kinds of constants some unary relations tell apart."""
    holds = np.zeros((len(facts.constants), len(keys)), dtype=np.bool_)
    for place, key in enumerate(keys):
        holds[facts.relations[key].codes[:, 0], place] = True
    return len(np.unique(np.packbits(holds, axis=1), axis=0)) if keys else 1


class Lack(IntEnum):
    """What a definition lacks that agrees with all examples: the more, the more is tried."""

    NOTHING = 0
    BREVITY = 1  #: it has several rules
    CONTENT = 2  #: it has several rules, none recursive, which say no less than a list of the examples
    AGREEMENT = 3  #: there is none

    @classmethod
    def of(cls, made: Definition | None) -> Lack:
        """What the best one so far lacks."""
        if made is None:
            return cls.AGREEMENT
        if len(made.program) < 2:
            return cls.NOTHING
        lists = made.weak is not None and not any(rule.is_recursive for rule in made.program)
        return cls.CONTENT if lists else cls.BREVITY


@dataclass(frozen=True)
class Attempt:
    """A language in which rules are looked for, and when."""

    name: str  #: what is done, as limits tell it
    facts: FactBase
    language: Language
    where: Lack = Lack.NOTHING  #: what the best definition so far must lack for it to be made
    share: float = 1.0  #: of the time that is left, in which search alone may find a definition
    growths: Sequence[Growth] = STEPS  #: how far links are followed, step by step
    runs: bool = True  #: whether runs are made where search alone finds none
    notes: tuple[str, ...] = ()  #: what is to be said of a definition that it finds


@dataclass(frozen=True, eq=False)
class Attempts:
    """Attempts in the order in which they are made; what they find is kept."""

    given: Sequence[Attempt]
    plan: Plan
    callbacks: tuple[Callback, ...]

    @cached_property
    def settled(self) -> Definition | None:
        """The shortest definition without mistakes that search finds; None: it finds none."""
        made: Definition | None = None
        for one in self.given:
            if Lack.of(made) < one.where:
                continue
            search = self._searches[one.name] if made is None else self._search(one, len(made.program) - 1)
            found: Definition | None = None
            with limited(time_left().share(one.share)), stage(one.name), suppress(DataError):
                found = search.settled
            if found is not None and (made is None or found.length < made.length):
                made = _told(found, one)
        return made

    def shortest(self) -> Definition:
        """The definition that describes the examples shortest, be it with mistakes, by search and runs."""
        first, *others = self.given
        made = _told(self._searches[first.name].definition(), first)
        for one in others:
            if made.flawless or made.result.stopped == "interrupted" or out_of_time(one.name):
                break
            # Where there is no time, or nothing to say, what was found before stays.
            with stage(one.name), suppress(DataError):
                search = self._searches[one.name]
                found = search.definition() if one.runs else search.searched()
                made = made if found is None else min(made, _told(found, one), key=rank_of)
        return made

    def searched(self) -> Definition | None:
        """The definition that search alone, over few links, finds to describe the examples shortest."""
        made: Definition | None = None
        for one in self.given:
            with stage(one.name), suppress(DataError):
                found = self._searches[one.name].searched()
                if found is not None:
                    made = min(filter(None, (made, _told(found, one))), key=rank_of)
        return made

    @cached_property
    def _searches(self) -> Mapping[str, ReachSearch]:
        """The searches for programs of any size."""
        return {one.name: self._search(one, self.plan.config.selection.max_rules) for one in self.given}

    def _search(self, one: Attempt, max_rules: int) -> ReachSearch:
        plan = self.plan.with_max_rules(max_rules)
        return ReachSearch(one.facts, one.language, plan, self.callbacks, one.growths, one.runs)


def learn_from_reach(
    facts: FactBase, language: Language, plan: Plan, callbacks: tuple[Callback, ...]
) -> Definition:
    """The rules that describe the examples shortest, of those that links from the examples allow.

    A definition that agrees with all examples is looked for in all languages before runs are made in any.

    Parameters
    ----------
    facts
        What is known; background rules have been run.
    """
    attempts = Attempts(tuple(_along_links(facts, language, plan)), plan, callbacks)
    return attempts.settled or attempts.shortest()


def _along_links(facts: FactBase, language: Language, plan: Plan) -> Iterator[Attempt]:
    """The language that was asked for, and what is tried where it does not do."""
    key, plain = language.key(facts), _plain(language)
    yield Attempt("following links", facts, language)
    yield from comparing_numbers(facts, language)
    yield from adding_numbers(facts, language)
    # Of one argument that is left free, all would be derived.
    if key[1] > 1 and not language.free_head and facts.relations[key].negative is not None:
        where = Lack.BREVITY if facts.bias is None else Lack.AGREEMENT
        yield Attempt("leaving arguments free", facts, replace(plain, free_head=True), where, _WIDER)
    if facts.bias is not None and not language.cuts and not are_positives_apart(facts, plan, key):
        beyond = "constants and cuts of numbers stand in it that the bias does not name"
        wider = replace(plain, cuts=True, constants=None)
        yield Attempt("going beyond the bias", facts, wider, Lack.AGREEMENT, _WIDER, notes=(beyond,))
    if language.constants != () and language.variables <= _MOST_BOUND:
        yield Attempt("naming constants", facts, plain, Lack.AGREEMENT, _WIDER, _NAMING, runs=False)


def has_measures(facts: FactBase, language: Language) -> bool:
    """Whether arguments in bodies are numbers of another type than any argument of the head."""
    types, numbers = language.types_of(facts), numbers_in(facts)
    own = types[language.key(facts)]
    return any(
        kind not in own and np.isin(column, numbers).all()
        for key in language.body_keys(facts)
        for kind, column in zip(types[key], facts.relations[key].codes.T, strict=True)
    )


def cutting_numbers(facts: FactBase, language: Language) -> Iterator[Attempt]:
    """Rules that cut numbers, where there are any."""
    if language.cuts and len(numbers_in(facts)) > 1:
        yield Attempt("cutting numbers", facts, _plain(language), runs=False)


def comparing_numbers(facts: FactBase, language: Language) -> Iterator[Attempt]:
    """Rules that compare two numbers, where they may cut these and there are some."""
    if language.cuts and not language.order and len(numbers_in(facts)) > _FEW_NUMBERS:
        compares = replace(_plain(language), order=True)
        yield Attempt("comparing numbers", facts, compares, Lack.BREVITY, _WIDER, _COMPARING, runs=False)


def adding_numbers(facts: FactBase, language: Language) -> Iterator[Attempt]:
    """Rules that add numbers, where the language names no relations, and numbers are few."""
    free = language.arithmetic and language.relations is None and facts.bias is None
    if free and PLUS not in facts.relations and 2 <= len(numbers := numbers_in(facts)) <= _MOST_NUMBERS:
        has_numbers = np.isin(facts.relations[language.key(facts)].codes, numbers).any()
        # Of a head of numbers there would be examples about all the differences, too.
        sums = with_sums(facts, known=bool(has_numbers))
        yield Attempt("adding numbers", sums, _plain(language), Lack.CONTENT, _ADDING, _SUMMING, runs=False)


def _plain(language: Language) -> Language:
    """The language without recursion."""
    return replace(language, recursion=False)


def _told(made: Definition, by: Attempt) -> Definition:
    """The definition with its rules as people write them, and what is to be said of the attempt."""
    program = Program(tuple(_as_written(rule) for rule in made.program))
    return replace(made, program=program, notes=(*made.notes, *by.notes))


def _as_written(rule: Rule) -> Rule:
    """The rule as people write it: equal terms are one, and `X =< 3` is said rather than `\\+ X > 3`."""
    body = tuple(
        Literal(literal.atom.complement) if literal.negated and literal.is_builtin else literal
        for literal in rule.body
    )
    return replace(rule, body=body).unified().tidy()
