"""Learning rules of many variables from what examples reach, with one link more at a time.

Few links are enough for most rules, and then there are few candidates. Where these do not describe the
examples without a mistake, further links are followed, as long as there is time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from andre.census import Census, Growth, reach_census, take_census
from andre.errors import DataError
from andre.facts import FactBase
from andre.learning.callbacks import Callback
from andre.learning.modes import (
    Agreed,
    agreeing_program,
    learn_definition,
    learn_from_examples,
    recursive_program,
)
from andre.learning.plan import Plan
from andre.learning.results import Definition
from andre.limits import late, limited, stage, time_left
from andre.logic import Program
from andre.samples import Language

#: How far links are followed, step by step: those that multiply groundings, and the depth of variables.
_STAGES = ((0, 2), (1, 2), (2, 3), (3, 3), (3, 4))
#: Variables of rules and arguments of relations up to which the groundings of any facts are counted.
_COUNTED_VARIABLES, _COUNTED_ARITY = 3, 2
#: Groundings that are counted whatever variables and arguments there are.
_MOST_COUNTED = 200_000
#: The share of the time in which a program is looked for that agrees with all examples, by each of the ways
#: that are tried before runs are made; and by chains of goals, which find what the others cannot.
_AGREEING, _CHAINING = 0.4, 0.7


def needs_reach(facts: FactBase, language: Language) -> bool:
    """Whether rules have so many variables, or literals so many arguments, that groundings are not counted.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> facts = FactBase.from_facts([parse_atom(f"p({i}, {i + 1})") for i in range(99)])
    >>> [needs_reach(facts, Language("p/2", variables=n)) for n in (3, 4)]
    [False, True]
    """
    arity = max((arity for _, arity in language.body_keys(facts)), default=0)
    if language.variables <= _COUNTED_VARIABLES and arity <= _COUNTED_ARITY:
        return False
    groundings: int = len(facts.constants) ** language.variables
    return groundings > _MOST_COUNTED


def learn_from_reach(
    facts: FactBase, language: Language, plan: Plan, callbacks: tuple[Callback, ...]
) -> Definition:
    """The rules that describe the examples shortest, of those that links from the examples allow.

    Parameters
    ----------
    facts
        What is known; background rules have been run.
    """
    given = counted = None
    if language.recursion:
        with limited(time_left().share(_AGREEING)), stage("counting groundings"):
            counted = _counted(facts, language, plan, callbacks)
        if counted is not None and _is_flawless(counted):
            return counted
        with limited(time_left().share(_CHAINING)), stage("following chains of goals"):
            given = recursive_program(facts, language, plan)
    seen: list[Census] = []
    agreed: Agreed | None = None
    plain = replace(language, recursion=False)
    with limited(time_left().share(_AGREEING)), stage("following links"):
        for census in _censuses(facts, plain, plan):
            seen.append(census)
            found = agreeing_program(census, language, plan)
            if found is not None and (agreed is None or found.length < agreed.length):
                agreed, where = found, census
            if agreed is not None and (agreed.length < agreed.empty_length or given is not None):
                break
    if given is not None and seen:
        shorter = agreed is not None and _size(where.space.program(agreed.codes)) < _size(given)
        if shorter and agreed is not None:
            made = _learn(where, plain, plan, callbacks, agreed)
        else:
            made = learn_definition(facts, language, seen[0], plan, callbacks, given=given)
    elif agreed is not None:
        made = _learn(where, plain, plan, callbacks, agreed)
    else:
        made = _best_of(facts, language, plan, callbacks, seen)
        if counted is not None and _rank(counted) < _rank(made):
            return counted
    return replace(made, program=Program(tuple(rule.unified().tidy() for rule in made.program)))


def _counted(
    facts: FactBase, language: Language, plan: Plan, callbacks: tuple[Callback, ...]
) -> Definition | None:
    """A recursive definition with one variable more than its head, where all groundings can be counted."""
    arity = language.key(facts)[1]
    fewer = replace(language, variables=min(language.variables, arity + 1))
    widest = max(arity for _, arity in language.body_keys(facts))
    if widest > _COUNTED_ARITY or len(facts.constants) ** fewer.variables > _MOST_COUNTED:
        return None
    census = take_census(facts, fewer, memory_limit=plan.memory_limit).require_both_classes()
    return learn_definition(facts, fewer, census, plan, callbacks)


def _best_of(
    facts: FactBase,
    language: Language,
    plan: Plan,
    callbacks: tuple[Callback, ...],
    plain: Sequence[Census],
) -> Definition:
    """The best definition from any of the censuses, or from those whose bodies may hold the target."""
    best: Definition | None = None
    seen = list(_censuses(facts, language, plan)) if language.recursion else plain
    for place, census in enumerate(seen):
        with limited(time_left().share(1 / (len(seen) - place))):
            if _reads_itself(census):
                made = learn_definition(facts, language, census, plan, callbacks)
            else:
                made = _learn(census, language, plan, callbacks, None)
        if best is None or _rank(made) < _rank(best):
            best = made
        if best.flawless or made.result.stopped == "interrupted" or late("following links"):
            break
    if best is None:
        raise DataError(
            f"nothing that the facts say of the examples of {language.target} tells them apart: "
            "allow more relations or variables"
        )
    return best


def _learn(
    census: Census,
    language: Language,
    plan: Plan,
    callbacks: tuple[Callback, ...],
    agreed: Agreed | None,
) -> Definition:
    for callback in callbacks:
        callback.on_census(census)
    return learn_from_examples(census, language, plan, callbacks, agreed and agreed.codes)


def _size(program: Program) -> int:
    """How much there is to say: literals and rules."""
    return program.n_literals + len(program)


def _reads_itself(census: Census) -> bool:
    """Whether bodies may hold the target, so that a program is judged at its fixpoint."""
    return bool(census.space.recursive.any())


def _censuses(facts: FactBase, language: Language, plan: Plan) -> Iterator[Census]:
    """The census at each stage; a stage that finds no link more than the one before is left out."""
    before: tuple[int, int] | None = None
    for multiple, depth in _STAGES:
        growth = Growth(multiple=multiple, depth=depth)
        if before is not None and late("following links"):
            return
        try:
            census = reach_census(
                facts, language, growth=growth, seed=plan.config.seed, memory_limit=plan.memory_limit
            )
        except DataError:  # so few links say nothing about the examples
            continue
        size = len(census.space.links), census.space.m
        if size != before:
            yield census
        before = size


def _rank(made: Definition) -> tuple[bool, float]:
    return not made.flawless, made.length
