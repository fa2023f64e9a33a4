"""The pool of a small base, and the choice of those bodies that say most about each direction.

Short bodies are enumerated exactly and counted for all directions at once.
Bodies with constants, chains and given rules join them direction by direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from andre.arrays import Bools, Ints
from andre.completion.bodies import Body, Covered, Shape, covered_pairs, to_rule
from andre.completion.chains import long_bodies
from andre.completion.config import CompletionPlan
from andre.completion.constants import best_places, constant_bodies, significance
from andre.completion.features import RuleCover, StoredFeatures, distinct_pairs, features_of, to_csr
from andre.completion.graph import Graph
from andre.completion.proposals import base_rate
from andre.evaluation import smoothed_confidence
from andre.facts import FactBase
from andre.limits import check, limited, stage, time_left
from andre.logic import Rule

#: The share of the remaining time for listing short bodies.
_FOR_SHORT = 1 / 3


@dataclass(frozen=True, eq=False)
class BodyCounts:
    """How often each short body is right, for each direction."""

    n_b: NDArray[np.float32]  #: [F, S], covered pairs whose start has an answer
    n_r: NDArray[np.float32]  #: [F, S], those of them that are training facts
    own: Bools  #: [F, S], bodies that hold the head atom itself


@dataclass(frozen=True, eq=False)
class ShortBodies:
    """All bodies of one and two literals over distinct variables, with their groundings.

    A body is stored as a path from X to Y; its reverse is another of these bodies.
    """

    graph: Graph
    bodies: tuple[Body, ...]  #: those of one literal come first
    pairs: Ints  #: [U], x * n + y of every pair that a body covers or a fact states, ascending
    groundings: csr_matrix  #: [F, U], in how many ways a body covers a pair

    @classmethod
    def enumerate(cls, graph: Graph, plan: CompletionPlan) -> ShortBodies:
        """List every short body that covers something."""
        listed: list[tuple[Body, Covered]] = []
        with limited(time_left().share(_FOR_SHORT)), stage("short bodies"):
            for body in _dense_bodies(graph) if plan.config.short else ():
                check()
                listed.append(body)
        found = [(body, covered) for body, covered in listed if len(covered[0])]
        seen = np.zeros(graph.n**2, dtype=np.bool_)  # marks in a table: sorting takes several times as long
        for _, (keys, _) in found:
            seen[keys] = True
        for step in range(graph.n_steps):
            seen[graph.keys(step, "train")] = True
        pairs = np.flatnonzero(seen)
        return cls(graph, tuple(body for body, _ in found), pairs, to_csr([some for _, some in found], pairs))

    @cached_property
    def n_single(self) -> int:
        """How many bodies have one literal."""
        return sum(len(body.steps) == 1 for body in self.bodies)

    def covered(self, place: int) -> Covered:
        """The pairs that one body covers."""
        row = slice(*self.groundings.indptr[place : place + 2])
        return self.pairs[self.groundings.indices[row]], self.groundings.data[row]

    @cached_property
    def counts(self) -> BodyCounts:
        """N_b and N_r of every body for every step."""
        graph, rows = self.graph, np.arange(len(self.pairs))
        covered = self.groundings.copy()
        covered.data[:] = 1
        ones = np.ones(len(rows), dtype=np.float32)
        by_start = csr_matrix((ones, (rows, self.pairs // graph.n)), shape=(len(rows), graph.n))  # [U, n]
        steps = range(graph.n_steps)
        has_answer = np.column_stack([graph.has_answer(step) for step in steps]).astype(np.float32)  # [n, S]
        stated = [np.searchsorted(self.pairs, graph.keys(step, "train")) for step in steps]
        ends = np.cumsum([0, *map(len, stated)])
        facts = csr_matrix(
            (np.ones(ends[-1], dtype=np.float32), np.concatenate(stated), ends),
            shape=(graph.n_steps, len(rows)),
        )  # [S, U]
        own = np.zeros((len(self.bodies), graph.n_steps), dtype=np.bool_)
        for place, body in enumerate(self.bodies):
            if body.shape == "both" or len(body.steps) == 1:
                own[place, list(body.steps)] = True
        return BodyCounts(
            n_b=np.asarray(covered @ by_start @ has_answer), n_r=(covered @ facts.T).toarray(), own=own
        )


@dataclass(frozen=True, eq=False)
class GivenRules:
    """Rules from elsewhere, by the direction that they are about.

    Those whose head is no binary relation of the graph stay out.
    """

    graph: Graph
    facts: FactBase  #: what the graph follows, as relations
    extra: Sequence[Rule] = ()
    is_small: bool = False  #: whether relations are multiplied as dense matrices

    @cached_property
    def _rules(self) -> RuleCover:
        return RuleCover(self.graph, self.facts, is_small=self.is_small)

    @cached_property
    def _by_relation(self) -> dict[str, list[Rule]]:
        found: dict[str, list[Rule]] = {name: [] for name in self.graph.relations}
        for rule in dict.fromkeys(self.extra):
            if rule.head.predicate in found and rule.head.arity == 2:
                found[rule.head.predicate].append(rule)
        return found

    def about(self, step: int, bodies: Sequence[Body]) -> Iterator[tuple[Body | Rule, Covered]]:
        """The rules of a direction that cover anything and are none of some bodies, and what they cover."""
        rules = self._by_relation[self.graph.relations[step % len(self.graph.relations)]]
        known = {as_rule(body, self.graph, step, self.facts) for body in bodies} if rules else set()
        for rule in rules:
            check()
            found = self._rules.pairs(rule, step)
            if len(found[0]) and rule not in known:
                yield _as_body(rule, self.graph, step, self.facts) or rule, found


@dataclass(frozen=True, eq=False)
class BodyPool:
    """Everything that the bodies of a direction of a small base are chosen from."""

    graph: Graph
    plan: CompletionPlan
    given: GivenRules
    constants: dict[int, list[Body]] = field(default_factory=dict)  #: bodies with constants found so far

    @cached_property
    def short(self) -> ShortBodies:
        """All short bodies."""
        return ShortBodies.enumerate(self.graph, self.plan)

    def features(self, step: int) -> StoredFeatures:
        """The bodies that say most about one direction, with what they cover.

        These are significant and confident short bodies, bodies with constants
        at either end, chains, and the given rules that are none of these.
        """
        graph, plan = self.graph, self.plan
        chosen = self._short_for(step)
        bodies = [self.short.bodies[at] for at in chosen]
        covered = [self.short.covered(at) for at in chosen]
        here, there = (self._with_constants(side) for side in (step, graph.inverse(step)))
        seen_from_there = [Body("from", body.steps) for body in there]
        for body in (*here, *seen_from_there, *long_bodies(graph, step, plan)):
            check()
            found = covered_pairs(body, graph)
            if len(found[0]):
                bodies.append(body)
                covered.append(found)
        given = list(self.given.about(step, bodies))
        covered += [found for _, found in given]
        # In a small base nearly every pair is covered.
        keys = distinct_pairs([self.short.pairs, *(pairs for pairs, _ in covered[len(chosen) :])])
        return features_of([*bodies, *(rule for rule, _ in given)], covered, graph, step, keys)

    def _with_constants(self, step: int) -> list[Body]:
        if step not in self.constants:
            self.constants[step] = constant_bodies(self.graph, step, self.plan)
        return self.constants[step]

    def _short_for(self, step: int) -> list[int]:
        """Places of the short bodies that are chosen for a direction, ascending."""
        counts, config = self.short.counts, self.plan.config
        rate = base_rate(self.graph, step)
        n_b, n_r = counts.n_b[:, step], counts.n_r[:, step]
        gain = significance(n_b, n_r, rate)
        sure = smoothed_confidence(n_b, n_r)
        usable = ~counts.own[:, step] & (n_b > 0) & ((n_r >= config.support) | (n_r <= rate * n_b))
        gain[~usable] = -1
        sure[~usable | (n_r < config.support)] = -1
        # One literal costs little and may rule out most candidates, so all of those stay.
        single = np.flatnonzero(usable[: self.short.n_single])
        best = [single, best_places(gain, config.bodies), best_places(sure, config.confident)]
        places: list[int] = np.unique(np.concatenate(best)).tolist()
        return places


def as_rule(body: Body | Rule, graph: Graph, step: int, facts: FactBase) -> Rule:
    """A body of a direction as a rule; given rules are rules already."""
    if isinstance(body, Rule):
        return body
    relation = graph.relations[step % len(graph.relations)]
    return to_rule(from_first_argument(body, graph, step), relation, graph, facts)


def from_first_argument(body: Body, graph: Graph, step: int) -> Body:
    """A body of a direction as one from the first argument of its relation; equal bodies are equal rules."""
    return body if step < len(graph.relations) else body.reversed(graph)


def _as_body(rule: Rule, graph: Graph, step: int, facts: FactBase) -> Body | None:
    """The body of one or two literals, or the chain, that is the same as a given rule; None if there is none.

    Whether it was enumerated or given must make no difference to what its weight costs.
    """
    plain = [literal for literal in rule.body if not literal.is_builtin]
    known = {name: place for place, name in enumerate(graph.relations)}
    if not 0 < len(plain) <= 4 or any(literal.atom.predicate not in known for literal in plain):
        return None
    ways = [(known[one.atom.predicate], known[one.atom.predicate] + len(known)) for one in plain]
    shapes: tuple[Shape, ...] = ("path", "both") if len(plain) == 2 else ("path",)
    for steps in product(*ways):
        for shape in shapes:
            order = tuple(sorted(steps)) if shape == "both" else steps
            if as_rule(body := Body(shape, order), graph, step, facts) == rule:
                return body
    return None


def _dense_bodies(graph: Graph) -> Iterator[tuple[Body, Covered]]:
    """Short bodies by products of dense matrices: in a small base most entries are not zero."""
    count, n = graph.n_steps, graph.n
    steps = np.stack([step.toarray() for step in graph.steps])  # [S, n, n]

    def split(
        shape: Shape, numbers: Sequence[tuple[int, ...]], found: NDArray[np.float32]
    ) -> Iterator[tuple[Body, Covered]]:
        found[:, range(n), range(n)] = 0  # X and Y are distinct
        flat = found.reshape(len(found), n * n)
        body, key = flat.nonzero()
        values = flat[body, key]
        ends = np.searchsorted(body, np.arange(len(flat) + 1))
        for place, own in enumerate(numbers):
            inside = slice(ends[place], ends[place + 1])
            yield Body(shape, own), (key[inside], values[inside])

    yield from split("path", [(step,) for step in range(count)], steps.copy())
    for first in range(count):
        after = range(first + 1, count)
        yield from split("both", [(first, second) for second in after], steps[first] * steps[first + 1 :])
        yield from split("path", [(first, second) for second in range(count)], steps[first] @ steps)
