"""The census of some head atoms, which stand for all: for bases whose bags would not fit into memory."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from andre.errors import ConfigError
from andre.facts import FactBase
from andre.grounding.bags import BagCollector, Weigher
from andre.grounding.census import Census, Mode, bags_follow, census_of, ground, n_groundings, take_census
from andre.grounding.exists import collect_bags
from andre.grounding.heads import draw_heads, n_heads
from andre.grounding.language import Language

__all__ = ["sample_census"]

#: Half of so many are not stated, and these are of four kinds.
_LEAST = 8


def sample_census(
    facts: FactBase,
    language: Language,
    most: int,
    *,
    seed: int = 0,
    mode: Mode = "define",
    identity: bool | None = None,
    memory_limit: int = 4 << 30,
) -> Census:
    """Take the census in `exists` of at most so many head atoms, so that time and memory follow their number.

    Half of them are stated, and the others are evenly of those that something
    connects and those that nothing does. The bags are exact. Weights stand for
    all head atoms: their number is right, what they weigh is in expectation.
    Where there are no more than `most`, this is `take_census`.

    Parameters
    ----------
    language
        Facts are to be unary and binary, and a rule may have one variable more than its head.
    most
        How many head atoms are looked at, 8 or more.
    seed
        Of the draw.
    mode, identity, memory_limit
        As in `take_census`.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> facts = FactBase.from_facts([parse_atom(f"next(c{i}, c{i + 1})") for i in range(99)])
    >>> census = sample_census(facts, Language("next/2"), 200, mode="complete")
    >>> census.sampled, census.n_examples, census.positive
    (200, 9900, 99.0)
    """
    if mode not in get_args(Mode):
        raise ConfigError(f"{mode!r} is unknown: choose from {', '.join(get_args(Mode))}")
    if most < _LEAST:
        raise ConfigError(f"{most} head atoms cannot stand for all kinds of them: draw {_LEAST} or more")
    if identity is None:
        identity = mode == "complete"
    graph, variables = ground(facts, language, "exists", mode), language.variables
    if n_heads(graph, identity) <= most:
        return take_census(facts, language, mode=mode, identity=identity, memory_limit=memory_limit)
    if not bags_follow(graph, variables):
        raise ConfigError(
            "head atoms are drawn only where facts are unary or binary and a rule has at most one variable "
            f"more than its head: use fewer than {variables} variables, or the census of all head atoms"
        )
    into = BagCollector(graph, memory=memory_limit)
    weigh = Weigher.of(facts, graph, corrupting=mode == "complete")
    drawn = draw_heads(graph, weigh, most, seed, inner=variables > graph.space.head.arity, identity=identity)
    collect_bags(graph, into, weigh, variables, identity, drawn)
    whole = census_of(into, n_groundings(graph, variables, identity), weigh, identity)
    return replace(whole, sampled=len(drawn))
