"""The pool of rule bodies, and the choice of those that say most about each direction.

Short bodies are enumerated exactly and counted for all directions at once.
Bodies with constants, chains and given rules join them direction by direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from andre.arrays import Bools, Floats, Ints
from andre.completion.bodies import Body, Covered, Shape, covered_pairs, long_bodies, to_rule
from andre.completion.config import CompletionPlan
from andre.completion.features import Features, RuleCover, distinct_pairs, features_of, members, to_csr
from andre.completion.graph import Graph
from andre.evaluation import smoothed_confidence
from andre.facts import FactBase
from andre.limits import check, limited, stage, time_left
from andre.logic import Rule

#: The share of the time that is left in which short bodies are listed.
_FOR_SHORT = 1 / 3


@dataclass(frozen=True, eq=False)
class BodyCounts:
    """How often each short body is right, for each step as a target."""

    n_b: NDArray[np.float32]  #: [F, S], covered pairs whose start has an answer
    n_r: NDArray[np.float32]  #: [F, S], those of them that are training facts
    own: Bools  #: [F, S], bodies that hold the head atom itself


@dataclass(frozen=True, eq=False)
class ShortBodies:
    """All bodies of one and two literals over distinct variables, with their groundings.

    A body is kept from X's side; seen from Y it is another one of these.
    """

    graph: Graph
    bodies: tuple[Body, ...]  #: those of one literal come first
    pairs: Ints  #: [U], x * n + y of every pair that a body covers or a fact states, ascending
    groundings: csr_matrix  #: [F, U], in how many ways a body covers a pair
    left_out: int  #: paths of two steps that memory has no room for

    @classmethod
    def enumerate(cls, graph: Graph, plan: CompletionPlan) -> ShortBodies:
        """List every short body that covers something, as far as memory goes."""
        made = _dense_bodies(graph) if plan.is_small else _sparse_bodies(graph, plan.config.cells)
        listed: list[tuple[Body, Covered | None]] = []
        with limited(time_left().share(_FOR_SHORT)), stage("short bodies"):
            for body in made if plan.config.short else ():
                check()
                listed.append(body)
        found = [(body, covered) for body, covered in listed if covered is not None and len(covered[0])]
        covered = [some for _, some in found]
        keys = [*(some[0] for some in covered), *(graph.keys(step, "train") for step in range(graph.n_steps))]
        if plan.is_small:  # marks in a table: sorting that many keys takes several times as long
            seen = np.zeros(graph.n**2, dtype=np.bool_)
            for some in keys:
                seen[some] = True
            pairs = np.flatnonzero(seen)
        else:
            pairs = distinct_pairs(keys)
        left_out = sum(covered is None for _, covered in listed)
        return cls(graph, tuple(body for body, _ in found), pairs, to_csr(covered, pairs), left_out)

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
class BodyPool:
    """Everything that the bodies of a direction are chosen from."""

    graph: Graph
    facts: FactBase  #: what the graph follows, as relations
    plan: CompletionPlan
    extra: Sequence[Rule] = ()  #: given rules; those whose head is no binary relation of the graph stay out
    constants: dict[int, list[Body]] = field(default_factory=dict)  #: bodies with constants found so far

    @cached_property
    def short(self) -> ShortBodies:
        """All short bodies."""
        return ShortBodies.enumerate(self.graph, self.plan)

    @cached_property
    def _rules(self) -> RuleCover:
        return RuleCover(self.graph, self.facts, is_small=self.plan.is_small)

    @cached_property
    def _given(self) -> dict[str, list[Rule]]:
        """The given rules of each relation."""
        found: dict[str, list[Rule]] = {name: [] for name in self.graph.relations}
        for rule in dict.fromkeys(self.extra):
            if rule.head.predicate in found and rule.head.arity == 2:
                found[rule.head.predicate].append(rule)
        return found

    def features(self, step: int) -> Features:
        """The bodies that say most about one direction, with what they cover.

        These are significant and confident short bodies, bodies with constants
        at either end, chains, and the given rules that are none of these.
        """
        graph, plan = self.graph, self.plan
        chosen = self._short_for(step)
        bodies: list[Body | Rule] = [self.short.bodies[at] for at in chosen]
        covered = [self.short.covered(at) for at in chosen]
        least = plan.lift * _base_rate(graph, step)
        here, there = (self._with_constants(side) for side in (step, graph.inverse(step)))
        seen_from_there = [Body("from", body.steps) for body in there]
        for body in (*here, *seen_from_there, *long_bodies(graph, step, plan, least)):
            check()
            found = covered_pairs(body, graph)
            is_exempt = body.shape != "path" or not least
            if len(found[0]) and (is_exempt or _confidence(found, graph, step) >= least):
                bodies.append(body)
                covered.append(found)
        if given := self._given[graph.relations[step % len(graph.relations)]]:
            known = {as_rule(body, graph, step, self.facts) for body in bodies}
            for rule in given:
                check()
                found = self._rules.pairs(rule, step)
                if len(found[0]) and rule not in known:
                    bodies.append(_single_step(rule, graph, step, self.facts) or rule)
                    covered.append(found)
        # In a small base every pair is as good as covered; in a large one a target sees few of the pool's.
        added = (pairs for pairs, _ in covered[len(chosen) :])
        keys = distinct_pairs([self.short.pairs, *added]) if plan.is_small else None
        return features_of(bodies, covered, graph, step, keys)

    def _with_constants(self, step: int) -> list[Body]:
        if step not in self.constants:
            self.constants[step] = constant_bodies(self.graph, step, self.plan)
        return self.constants[step]

    def _short_for(self, step: int) -> list[int]:
        """Places of the short bodies that are chosen for a direction, ascending."""
        counts, config = self.short.counts, self.plan.config
        rate = _base_rate(self.graph, step)
        n_b, n_r = counts.n_b[:, step], counts.n_r[:, step]
        gain = significance(n_b, n_r, rate)
        sure = smoothed_confidence(n_b, n_r)
        usable = ~counts.own[:, step] & (n_b > 0) & ((n_r >= config.support) | (n_r <= rate * n_b))
        gain[~usable] = -1
        sure[~usable | (n_r < config.support)] = -1
        # One literal costs little and may rule out most candidates, so all of those stay.
        single = np.flatnonzero(usable[: self.short.n_single])
        best = [single, _top(gain, config.bodies), _top(sure, config.confident)]
        places: list[int] = np.unique(np.concatenate(best)).tolist()
        return places


def as_rule(body: Body | Rule, graph: Graph, step: int, facts: FactBase) -> Rule:
    """A body of a direction as a rule; given rules are rules already."""
    if isinstance(body, Rule):
        return body
    count = len(graph.relations)
    seen = body if step < count else body.reversed(graph)
    return to_rule(seen, graph.relations[step % count], graph, facts)


def _single_step(rule: Rule, graph: Graph, step: int, facts: FactBase) -> Body | None:
    """The body of one literal that a given rule of a direction stands for, if it does.

    Whether it was enumerated or given must make no difference to what its weight costs.
    """
    plain = [literal for literal in rule.body if not literal.is_builtin]
    if len(plain) != 1 or plain[0].atom.predicate not in graph.relations:
        return None
    relation = graph.relations.index(plain[0].atom.predicate)
    for place in (relation, relation + len(graph.relations)):
        if as_rule(body := Body("path", (place,)), graph, step, facts) == rule:
            return body
    return None


def significance(n_b: NDArray[np.float32], n_r: NDArray[np.float32], rate: float | Floats) -> Floats:
    """The log-likelihood ratio of a body's own rate against a base rate, in nats.

    Large for bodies that speak for the head, and for those that speak against it.

    Examples
    --------
    >>> one = np.array([10.0], dtype=np.float32)
    >>> [round(float(significance(one, right * one, 0.5)[0]), 2) for right in (0.5, 1, 0)]
    [0.0, 6.93, 6.93]
    """
    b, r = n_b.astype(np.float64), n_r.astype(np.float64)
    share = np.clip(r / np.maximum(b, 1), 1e-9, 1 - 1e-9)
    rate = np.clip(rate, 1e-9, 1 - 1e-9)
    return np.asarray(r * np.log(share / rate) + (b - r) * np.log((1 - share) / (1 - rate)))


def _base_rate(graph: Graph, step: int) -> float:
    """The share of training facts among all pairs of a start that has an answer and any constant."""
    pairs = graph.pairs(step, "train")
    return len(pairs) / max(1, len(np.unique(pairs[:, 0])) * graph.n)


def _confidence(covered: Covered, graph: Graph, step: int) -> float:
    """The share of training facts among the covered pairs whose start has an answer: N_r / N_b."""
    n_b = np.count_nonzero(graph.has_answer(step)[covered[0] // graph.n])
    n_r = np.count_nonzero(members(graph.keys(step, "train"), covered[0]))
    return n_r / n_b if n_b else 0.0


def _top(values: NDArray[np.floating], most: int) -> NDArray[np.intp]:
    """Places of the highest positive values."""
    order = np.argsort(-values, kind="stable")[:most]
    return order[values[order] > 0]


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


def _sparse_bodies(graph: Graph, cells: int) -> Iterator[tuple[Body, Covered | None]]:
    """Short bodies by products of sparse matrices, the cheapest first; None for those without room."""
    steps = graph.steps
    for step in range(graph.n_steps):
        yield (body := Body("path", (step,))), covered_pairs(body, graph)
    for both in combinations(range(graph.n_steps), 2):
        yield (body := Body("both", both)), covered_pairs(body, graph)
    into = np.stack([np.asarray(step.sum(axis=0)).ravel() for step in steps])  # [S, n]
    out = np.stack([np.asarray(step.sum(axis=1)).ravel() for step in steps])  # [S, n]
    walks = into @ out.T  # [S, S]
    room = float(cells)
    for place in np.argsort(walks, axis=None, kind="stable").tolist():
        first, second = divmod(place, graph.n_steps)
        if walks[first, second] > room:
            yield Body("path", (first, second)), None
        elif walks[first, second]:
            body = Body("path", (first, second))
            found = covered_pairs(body, graph)
            room -= len(found[0])
            yield body, found


def constant_bodies(graph: Graph, step: int, plan: CompletionPlan) -> list[Body]:
    """The most significant bodies of shape `to` for one step as a target: h(X, c) where b(X, e).

    One product of sparse matrices counts all of them: of the starts that lead
    to c, how many lead to e by step b.

    Examples
    --------
    >>> from andre.completion import CompletionConfig
    >>> from andre.logic import parse_atom
    >>> rows = [f"q({x}, yes)" for x in "abcd"] + [f"p({x}, one)" for x in "abcd"] + ["p(z, two)", "q(z, no)"]
    >>> graph = Graph.of(FactBase.from_facts(map(parse_atom, rows)))
    >>> constant_bodies(graph, 0, CompletionPlan.of(graph, CompletionConfig(constants=1)))[0].shape
    'to'
    """
    target, n = graph.steps[step], graph.n
    if not plan.constants or not target.nnz:
        return []
    right = (target.T @ graph.ends).tocoo()  # [n, S * n], c by (b, e)
    keep = right.data >= max(plan.config.support, 3)
    # The head atom itself, and its inverse seen from the other side, are no evidence.
    keep &= right.col != step * n + right.row
    c, column, n_r = right.row[keep], right.col[keep], right.data[keep]
    has_answer = csr_matrix((np.diff(target.indptr) > 0).astype(np.float32))
    n_b = (has_answer @ graph.ends).toarray().ravel()[column]
    rate = np.asarray(target.sum(axis=0)).ravel()[c] / has_answer.nnz  # of c among all starts
    gain = significance(n_b, n_r, rate.astype(np.float64))
    gain[n_r <= rate * n_b] = -1  # against its head, a constant says what others say better
    return [
        Body("to", (int(column[at] // n), int(column[at] % n), int(c[at])))
        for at in _top(gain, plan.constants).tolist()
    ]
