"""Learning rules of many variables from what examples reach, with one link more at a time.

Few links are enough for most rules, and then there are few candidates. Where these do not describe the
examples without a mistake, further links are followed, as long as there is time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from andre.census import Census, Growth, reach_census
from andre.errors import DataError
from andre.facts import FactBase
from andre.learning.callbacks import Callback
from andre.learning.modes import Agreed, agreeing_program, learn_definition, learn_from_examples
from andre.learning.plan import Plan
from andre.learning.results import Definition
from andre.limits import late, limited, time_left
from andre.logic import Program
from andre.samples import Language

#: How far links are followed, step by step: those that multiply groundings, and the depth of variables.
_STAGES = ((0, 2), (1, 2), (2, 3), (3, 3), (3, 4))
#: Variables of rules and arguments of relations up to which the groundings of any facts are counted.
_COUNTED_VARIABLES, _COUNTED_ARITY = 3, 2
#: Groundings that are counted whatever variables and arguments there are.
_MOST_COUNTED = 200_000
#: The share of the time in which a program is looked for that agrees with all examples.
_AGREEING = 0.4


def needs_reach(facts: FactBase, language: Language) -> bool:
    """Whether rules have so many variables, or literals so many arguments, that groundings are not counted.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> facts = FactBase.from_facts([parse_atom(f"p({i}, {i + 1})") for i in range(99)])
    >>> [needs_reach(facts, Language("p/2", variables=n)) for n in (3, 4)]
    [False, True]
    """
    arity = max(arity for _, arity in language.body_keys(facts))
    if language.variables <= _COUNTED_VARIABLES and arity <= _COUNTED_ARITY:
        return False
    return len(facts.constants) ** language.variables > _MOST_COUNTED


def learn_from_reach(
    facts: FactBase, language: Language, plan: Plan, callbacks: tuple[Callback, ...]
) -> Definition:
    """The rules that describe the examples shortest, of those that links from the examples allow.

    Parameters
    ----------
    facts
        What is known; background rules have been run.
    """
    best: Definition | None = None
    seen: list[Census] = []
    agreed: Agreed | None = None
    with limited(time_left().share(_AGREEING)):
        for census in _censuses(facts, language, plan):
            seen.append(census)
            found = None if _reads_itself(census) else agreeing_program(census, language, plan)
            if found is not None and (agreed is None or found.length < agreed.length):
                agreed, where = found, census
            if agreed is not None and agreed.length < agreed.empty_length:
                break
    if agreed is not None:
        seen = [where]
    for place, census in enumerate(seen):
        for callback in callbacks:
            callback.on_census(census)
        with limited(time_left().share(1 / (len(seen) - place))):
            if _reads_itself(census):
                made = learn_definition(facts, language, census, plan, callbacks)
            else:
                made = learn_from_examples(census, language, plan, callbacks, agreed and agreed.codes)
        if best is None or _rank(made) < _rank(best):
            best = made
        if best.flawless or made.result.stopped == "interrupted" or late("following links"):
            break
    if best is None:
        raise DataError(
            f"nothing that the facts say of the examples of {language.target} tells them apart: "
            "allow more relations or variables"
        )
    return replace(best, program=Program(tuple(rule.unified().tidy() for rule in best.program)))


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
