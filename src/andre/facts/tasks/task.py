"""Tasks: a relation to define, facts to learn it from, and a larger domain to test on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np

from andre.facts.base import FactBase
from andre.facts.relation import Dictionary, Relation, Value, key_of
from andre.logic import Program, parse_program

#: Draws the facts of a domain, target and background.
Domain: TypeAlias = Callable[[np.random.Generator], FactBase]


def facts_of_rows(
    constants: Iterable[Value], relations: Mapping[str, Iterable[tuple[Value, ...]]]
) -> FactBase:
    """Facts from tuples of constants, given by relation.

    Examples
    --------
    >>> facts_of_rows("ab", {"edge": [("a", "b")], "old": [("b",)]})
    FactBase(2 facts, 2 relations, 2 constants)
    """
    values = tuple(constants)
    codes = Dictionary.of(values)
    made = []
    for name, rows in relations.items():
        coded = np.array([[codes[key_of(value)] for value in row] for row in rows], dtype=np.int32)
        made.append(Relation(name, coded))
    return FactBase.from_relations(values, made)


@dataclass(frozen=True)
class Task:
    """A relation to define, with facts to learn it from and others to test a definition on.

    Both domains state the whole target relation: what is not stated is false.
    The one to judge by has at least three times as many constants.

    Examples
    --------
    >>> from andre.facts.tasks import TASKS
    >>> task = TASKS["predecessor"]
    >>> task.target, task.background, task.train()
    ('predecessor/2', ('successor/2', 'zero/1'), FactBase(81 facts, 3 relations, 41 constants))
    >>> print(task.truth)
    predecessor(X, Y) :- successor(Y, X).
    """

    name: str
    summary: str  #: one sentence
    target: str  #: name and arity of the relation to define, as p/2
    variables: int  #: how many variables the paper gives its rules
    background: tuple[str, ...]  #: the relations to define it from
    definition: str = field(repr=False)  #: a correct program, to check the facts by; learners never see it
    domains: tuple[Domain, Domain] = field(repr=False)  #: to learn from, and to judge by

    def train(self, seed: int = 0) -> FactBase:
        """The facts to learn from; families and graphs depend on the seed, numbers do not."""
        return self.domains[0](np.random.default_rng((seed, 0)))

    def test(self, seed: int = 0) -> FactBase:
        """The facts of the larger domain, drawn independently of those to learn from."""
        return self.domains[1](np.random.default_rng((seed, 1)))

    @cached_property
    def truth(self) -> Program:
        """The correct program, which derives exactly the target from the background."""
        return parse_program(self.definition)
