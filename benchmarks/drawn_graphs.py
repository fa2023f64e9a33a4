"""Drawn graphs of any size with hubs, and rules planted in them that a learner should find."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Ints, ranges
from andre.facts import FactBase, Relation
from andre.logic import Rule, parse_rule

#: Names of graphs by their numbers of facts.
DRAWN = {"drawn-100k": 10**5, "drawn-1m": 10**6, "drawn-10m": 10**7}

_RELATIONS = 200
_HUBS = 10  #: relations that mostly lead to one constant, the same for all
_PLANTED = 24  #: relations that a rule says most about
_HELD = 50  #: validation facts, and test facts, of each of these


@dataclass(frozen=True, eq=False)
class DrawnGraph:
    """A knowledge base, and the rules that were planted in it."""

    facts: FactBase
    rules: tuple[Rule, ...]
    hub: int  #: facts of the constant that stands in most


def draw_graph(n_facts: int, seed: int = 0) -> DrawnGraph:
    """About so many facts of 200 relations over a twentieth as many constants.

    Ten relations lead to one constant four times in five, so that a tenth of all
    facts are about this hub. Of every second other relation, ends follow a
    power law. Each of 24 more follows from others by a rule: it is the inverse
    of one, a chain of two, or says one thing of all that have one value of a
    relation with a hub. Of its facts, one in ten is drawn at random; some are
    marked valid and test.

    Examples
    --------
    >>> drawn = draw_graph(20_000)
    >>> len(drawn.facts.relations), len(drawn.facts.constants), len(drawn.rules)
    (200, 1000, 24)
    >>> print(drawn.rules[1])
    h1(X, Y) :- r2(X, Z), r3(Z, Y), X \\= Y, X \\= Z, Y \\= Z.
    """
    rng = np.random.default_rng(seed)
    n = n_facts // 20
    relations: dict[str, Ints] = {}
    for number in range(_HUBS):
        starts = rng.permutation(np.arange(1, n))[: n_facts // 8 // _HUBS]
        ends = np.where(rng.random(len(starts)) < 0.8, 0, 1 + rng.integers(5, size=len(starts)))
        relations[f"hub{number}"] = _distinct(starts, ends)
    plain = _RELATIONS - _HUBS - _PLANTED
    size = (n_facts - n_facts // 8) // (plain + _PLANTED // 2)
    for number in range(plain):
        ends = (n * rng.random(size) ** (1 + 2 * (number % 2))).astype(np.int64)
        relations[f"r{number}"] = _distinct(rng.integers(n, size=size), ends)
    rules, marks = [], dict[str, NDArray[np.uint8]]()
    for number, (body, derived) in enumerate(_planted(relations)):
        drawn = rng.integers(n, size=(2, len(derived) // 9))
        relations[f"h{number}"] = found = _distinct(*np.concatenate([derived.T, drawn], axis=1))
        held = rng.permutation(len(found))[: min(2 * _HELD, len(found) // 4)]
        marks[f"h{number}"] = np.zeros(len(found), dtype=np.uint8)
        marks[f"h{number}"][held] = 1 + np.arange(len(held)) % 2
        rules.append(parse_rule(f"h{number}{body}"))
    facts = FactBase.from_relations(
        [f"c{number}" for number in range(n)],
        [Relation(name, pairs.astype(np.int32), mark=marks.get(name)) for name, pairs in relations.items()],
    )
    return DrawnGraph(facts, tuple(rules), sum(int((pairs == 0).sum()) for pairs in relations.values()))


def _planted(relations: Mapping[str, Ints]) -> Iterator[tuple[str, Ints]]:
    """Arguments and body of each rule, and what it derives."""
    for number in range(_PLANTED):
        first, second = f"r{2 * number}", f"r{2 * number + 1}"
        if number % 3 == 0:
            yield f"(X, Y) :- {first}(Y, X), X \\= Y.", relations[first][:, ::-1]
        elif number % 3 == 1:
            body = f"(X, Y) :- {first}(X, Z), {second}(Z, Y), X \\= Y, X \\= Z, Y \\= Z."
            yield body, _chain(relations[first], relations[second])
        else:
            hub, value, end = f"hub{number % _HUBS}", 1 + number % 5, 6 + number
            pairs = relations[hub]
            having = pairs[pairs[:, 1] == value, 0]
            apart = f", X \\= c{end}" if end in having else ""  # said where it makes a difference
            derived = np.stack([having, np.full(len(having), end)], axis=1)
            yield f"(X, c{end}) :- {hub}(X, c{value}){apart}.", derived


def _chain(first: Ints, second: Ints) -> Ints:
    """The ends of walks of two steps over three constants."""
    low, high = (np.searchsorted(second[:, 0], first[:, 1], side) for side in ("left", "right"))
    which, at = ranges(low, high)
    x, z, y = first[which, 0], first[which, 1], second[at, 1]
    return np.asarray(np.stack([x, y], axis=1)[(x != y) & (x != z) & (y != z)])


def _distinct(starts: Ints, ends: Ints) -> Ints:
    """Pairs in order, each once, without loops."""
    pairs = np.unique(np.stack([starts, ends], axis=1), axis=0)
    return np.asarray(pairs[pairs[:, 0] != pairs[:, 1]])
