"""Small fact bases, and a learner that is quick on them."""

from __future__ import annotations

from itertools import product
from typing import Any

from andre.api import learn
from andre.census import Census
from andre.facts import FactBase
from andre.learning import Callback, Plan, State, Theory
from andre.logic import Atom, Program, parse_atom

__all__ = ["QUICK", "TARGETS", "Watch", "base", "chain", "quick", "two_targets"]

#: Few short runs: on these small facts all short bodies are looked at anyway.
QUICK: dict[str, Any] = {"restarts": 1, "rounds": 1, "steps": 20}


def base(*texts: str, **options: Any) -> FactBase:
    return FactBase.from_facts([parse_atom(text) for text in texts], **options)


def chain(n: int = 7, **options: Any) -> FactBase:
    """A chain of edges, and the paths along them."""
    edges = [f"edge(n{place}, n{place + 1})" for place in range(n)]
    paths = [f"path(n{one}, n{two})" for one, two in product(range(n + 1), repeat=2) if one < two]
    return base(*edges, *paths, **options)


def quick(facts: FactBase, target: Any = None, plan: Plan | None = None, **options: Any) -> Theory:
    return learn(facts, target, plan, **(options if plan is not None else {**QUICK, **options}))


class Watch(Callback):
    """Notes which targets were counted, and which were told."""

    def __init__(self, interrupt_after: int | None = None) -> None:
        self.counted: list[str] = []
        self.summary: list[str] = []
        self.interrupt_after = interrupt_after

    def on_census(self, census: Census) -> None:
        self.counted.append(census.space.head.predicate)

    def on_target(self, target: str, program: Program, seconds: float) -> None:
        del program
        assert seconds >= 0
        self.summary.append(target)

    def on_step(self, state: State) -> None:
        del state
        if self.interrupt_after is not None and len(self.summary) >= self.interrupt_after:
            raise KeyboardInterrupt


def two_targets() -> FactBase:
    """Paths along edges, and the same edges the other way."""
    facts = chain()
    back = [Atom("back", atom.args[::-1]) for atom in facts.atoms("edge", 2)]
    return facts.merge(FactBase.from_facts(back))


TARGETS = ["path/2", "back/2"]
