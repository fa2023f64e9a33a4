"""The features of ranking: for each direction its bodies, their counts, and the pairs that they cover."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, vstack

from andre.arrays import Bools, Floats, Ints, distinct_keys
from andre.completion.bodies import Body, Covered, covered_pairs
from andre.completion.graph import Graph
from andre.evaluation import smoothed_confidence
from andre.facts import FactBase
from andre.inference import BodyEvaluator
from andre.logic import Rule

#: Entries of a table that looks up the columns of keys, at the most.
_MOST_KEYS = 10_000_000


@dataclass(frozen=True, eq=False)
class Cells:
    """Candidates of some queries, one cell for each, and the bodies that cover it."""

    starts: Ints  #: [Q], the constant that each query asks from
    query: Ints  #: [P], position in starts
    candidate: Ints  #: [P], code of a constant
    groundings: csr_matrix  #: [P, K], columns in the order of the features

    def spread(self, values: Floats, other: float, n: int) -> Floats:
        """The values of the cells as a matrix, with one value for candidates without a cell: [Q, n]."""
        wide = np.full((len(self.starts), n), other)
        wide[self.query, self.candidate] = values
        return wide


@dataclass(frozen=True, eq=False)
class Features:
    """The bodies of one step as a target, the most confident first."""

    step: int
    n: int  #: constants
    bodies: tuple[Body | Rule, ...]  #: seen from the side of the query
    n_b: Floats  #: [K], covered pairs whose start has an answer
    n_r: Floats  #: [K], those of them that are training facts
    keys: Ints  #: [U], x * n + y of every covered pair, ascending
    groundings: csr_matrix  #: [K, U], in how many ways each body covers each pair
    answers: Floats  #: [n], how many training facts lead to each constant

    def cells(self, starts: Ints, also: Ints | None = None) -> Cells:
        """The candidates of some queries that any body covers, and the pairs `also` (as keys).

        The starts of the queries are distinct.
        """
        place = np.full(self.n, -1)
        place[starts] = np.arange(len(starts))
        inside = np.flatnonzero(place[self.keys // self.n] >= 0)
        part = self.groundings[:, inside].T.tocsr()  # [P, K]
        part.sort_indices()
        keys = self.keys[inside]
        fires = np.diff(part.indptr) > 0
        keys, part = keys[fires], part[fires]
        if also is not None:
            new = also[~members(also, keys)]
            keys = np.concatenate([keys, new])
            part = vstack([part, csr_matrix((len(new), part.shape[1]), dtype=part.dtype)], format="csr")
        return Cells(starts, place[keys // self.n], keys % self.n, part)

    def all_keys(self, starts: Ints) -> Ints:
        """The keys of every candidate of some queries: [Q * n]."""
        return (starts[:, None] * self.n + np.arange(self.n)).ravel()

    def confidence(self, smoothing: float) -> Floats:
        """N_r / (N_b + c) of every body: [K]."""
        return smoothed_confidence(self.n_b, self.n_r, smoothing)

    def confidence_apart(self, smoothing: float) -> Floats:
        """The same with one fact left out that the body is right about, as that fact must be scored: [K]."""
        return smoothed_confidence(self.n_b - 1, np.maximum(self.n_r - 1, 0), smoothing)


def members(keys: Ints, others: Ints) -> Bools:
    """Which keys are among others, which are ascending.

    Examples
    --------
    >>> members(np.array([5, 1, 2]), np.array([1, 5, 7]))
    array([ True,  True, False])
    """
    if not len(others):
        return np.zeros(len(keys), dtype=np.bool_)
    at = np.minimum(np.searchsorted(others, keys), len(others) - 1)
    return np.asarray(others[at] == keys)


def distinct_pairs(parts: Sequence[Ints]) -> Ints:
    """The keys of several arrays, each once and ascending."""
    return distinct_keys(np.concatenate([np.zeros(0, dtype=np.int64), *parts]))


def to_csr(covered: Sequence[Covered], keys: Ints) -> csr_matrix:
    """The pairs that some bodies cover as CSR rows, one per body, over the columns `keys`.

    Examples
    --------
    >>> one, two = np.ones(1, dtype=np.float32), np.array([1, 2], dtype=np.float32)
    >>> to_csr([(np.array([7]), one), (np.array([3, 7]), two)], np.array([3, 5, 7])).toarray().tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 2.0]]
    """
    ends = np.cumsum([0, *(len(pairs) for pairs, _ in covered)])
    columns = np.concatenate([np.zeros(0, dtype=np.int64), *(pairs for pairs, _ in covered)])
    values = np.concatenate([np.zeros(0, dtype=np.float32), *(values for _, values in covered)])
    top = int(keys[-1]) + 1 if len(keys) else 0
    if top <= _MOST_KEYS:  # a lookup beats a binary search
        place = np.zeros(top, dtype=np.int64)
        place[keys] = np.arange(len(keys))
        columns = place[columns]
    else:
        columns = np.searchsorted(keys, columns)
    return csr_matrix((values, columns, ends), shape=(len(covered), len(keys)))


class RuleCover:
    """The pairs that rules from elsewhere (a file, a learner) cover, each rule evaluated once for both sides.

    Parameters
    ----------
    graph, facts
        The same training facts, as steps and as relations.
    is_small
        Whether relations are multiplied as dense matrices.
    """

    def __init__(self, graph: Graph, facts: FactBase, *, is_small: bool) -> None:
        self._graph, self._bodies, self._is_small = graph, BodyEvaluator(facts), is_small
        self._found: dict[Rule, Covered] = {}

    def pairs(self, rule: Rule, step: int) -> Covered:
        """What a rule covers, seen from the side that a step asks from."""
        if rule not in self._found:
            self._found[rule] = self._evaluate(rule)
        keys, ways = self._found[rule]
        if step < len(self._graph.relations):
            return keys, ways
        turned = keys % self._graph.n * self._graph.n + keys // self._graph.n
        order = np.argsort(turned)
        return turned[order], ways[order]

    def _evaluate(self, rule: Rule) -> Covered:
        """The pairs, and in how many ways the rule holds of each.

        Ways are counted where the body consists of known binary relations
        between distinct constants; any other rule counts once for a pair.
        """
        relations = set(self._graph.relations)
        known = all(item.is_builtin or item.atom.predicate in relations for item in rule.body)
        if known and self._bodies.is_product(rule):
            found = self._bodies.cover(rule, ("tables",) if self._is_small else ("products", "joins"))
        else:
            found = self._bodies.cover(rule, ("joins",))
        n = self._graph.n
        inside = (found.heads < n).all(axis=1)  # a constant that no fact has is no candidate
        keys = found.heads[inside] @ np.array([n, 1])
        ways = np.ones(len(keys)) if found.groundings is None else found.groundings[inside]
        return keys, ways.astype(np.float32)


def features_of(
    bodies: Sequence[Body | Rule],
    covered: Sequence[Covered],
    graph: Graph,
    step: int,
    keys: Ints | None = None,
) -> Features:
    """Count bodies for a target and put the most confident first.

    Parameters
    ----------
    bodies, covered
        Bodies and what each covers, both seen from the side that the step asks from.
    graph
        The training facts.
    step
        The target.
    keys
        All pairs that the bodies cover, and perhaps others, where that is known.
    """
    if keys is None:
        keys = distinct_pairs([pairs for pairs, _ in covered])
    groundings = to_csr(covered, keys)
    ones = groundings.copy()
    ones.data = np.ones(len(ones.data))
    n_b = ones @ graph.has_answer(step)[keys // graph.n].astype(np.float64)
    n_r = ones @ members(keys, graph.keys(step, "train")).astype(np.float64)
    order = np.argsort(-smoothed_confidence(n_b, n_r), kind="stable")
    return Features(
        step=step,
        n=graph.n,
        bodies=tuple(bodies[at] for at in order.tolist()),
        n_b=n_b[order],
        n_r=n_r[order],
        keys=keys,
        groundings=groundings[order],
        answers=np.bincount(graph.pairs(step, "train")[:, 1], minlength=graph.n).astype(np.float64),
    )


class LazyFeatures(Mapping[int, Features]):
    """The features of every step, computed when a step is first asked about: a query needs one step only.

    Parameters
    ----------
    bodies
        By step.
    graph
        What they are counted on.
    rules
        Evaluates those bodies that are given rules, on the same facts.
    """

    def __init__(self, bodies: Mapping[int, Sequence[Body | Rule]], graph: Graph, rules: RuleCover) -> None:
        self._bodies, self._graph, self._rules = bodies, graph, rules
        self._found: dict[int, Features] = {}

    def __getitem__(self, step: int) -> Features:
        if step not in self._found:
            bodies, graph = self._bodies[step], self._graph
            covered = [
                self._rules.pairs(body, step) if isinstance(body, Rule) else covered_pairs(body, graph)
                for body in bodies
            ]
            self._found[step] = features_of(bodies, covered, graph, step)
        return self._found[step]

    def __iter__(self) -> Iterator[int]:
        return iter(self._bodies)

    def __len__(self) -> int:
        return len(self._bodies)
