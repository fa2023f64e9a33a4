"""The features of ranking: for each direction its rule bodies, their counts, and the pairs that they cover.

A direction is a relation asked from one side: given the start x, which constants y answer it? It is numbered
by its step (`Graph`). A body covers the pair (x, y) where it holds of them, and fires for x where it covers
any pair of x.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix, vstack

from andre.arrays import Bools, Floats, Ints, among, distinct_keys, number_keys
from andre.completion.bodies import Body, Covered
from andre.completion.graph import Graph
from andre.completion.rows import BodyCover, CachedEntries, Entries
from andre.evaluation import smoothed_confidence
from andre.facts import FactBase
from andre.inference import BodyEvaluator
from andre.logic import Evidence, Rule

#: Entries of a table that looks up the columns of keys, at the most.
_MOST_KEYS = 20_000_000


@dataclass(frozen=True, eq=False)
class Cells:
    """Candidates of some queries, one cell for each, and the bodies that cover it, as a sparse matrix."""

    starts: Ints  #: [Q], the constant that each query asks from
    query: Ints  #: [P], position in starts
    candidate: Ints  #: [P], code of a constant
    groundings: csr_matrix  #: [P, K], in how many ways each body covers each cell

    def to_matrix(self, values: Floats, default: Floats) -> Floats:
        """The values of the cells as a matrix, [Q, n], with defaults, [n], for candidates without a cell."""
        matrix = np.tile(default, (len(self.starts), 1))
        matrix[self.query, self.candidate] = values
        return matrix


@dataclass(frozen=True, eq=False)
class Features(ABC):
    """The bodies of one direction, the most confident first, and what they cover."""

    graph: Graph  #: what bodies are evaluated on
    step: int  #: that the direction asks along
    bodies: tuple[Body | Rule, ...]  #: from the start to the answer
    n_b: Floats  #: [K], covered pairs whose start has an answer
    n_r: Floats  #: [K], those of them that are training facts
    fires: Floats  #: [K], for how many starts that have an answer the body fires
    answers: Floats  #: [n], of how many training facts each constant is the answer

    @property
    def n(self) -> int:
        """The number of constants."""
        return self.graph.n

    @cached_property
    def tie_breaks(self) -> Floats:
        """What is added to equal scores to break ties, at most 1e-7: how many facts each may answer, [n].

        Training facts count, and for one more the chance that it is an answer at all by
        the other relations that it stands in (`Graph.prior`).
        """
        expected = self.answers + self.graph.prior(self.step)
        return np.asarray(1e-7 * expected / (1.0 + expected))

    @abstractmethod
    def cells(self, starts: Ints, extra: Ints | None = None) -> Cells:
        """The candidates of queries from distinct starts that any body covers.

        `extra` are keys x * n + y of pairs that get a cell anyway.
        """

    @abstractmethod
    def estimated_entries(self, starts: Ints) -> Floats:
        """About how many entries the cells of each query have, for the memory that they take: [Q]."""

    @property
    def scores_all_answers(self) -> bool:
        """Whether every constant that answers some training fact gets a cell in every query."""
        return False

    def all_keys(self, starts: Ints) -> Ints:
        """The keys x * n + y of all candidates of some queries: [Q * n]."""
        return (starts[:, None] * self.n + np.arange(self.n)).ravel()

    def confidence(self, smoothing: float) -> Floats:
        """The confidence N_r / (N_b + c) of every body: [K]."""
        return smoothed_confidence(self.n_b, self.n_r, smoothing)

    def leave_one_out_confidence(self, smoothing: float) -> Floats:
        """The same without one fact that the body is right about, by which that fact is scored: [K]."""
        return smoothed_confidence(self.n_b - 1, np.maximum(self.n_r - 1, 0), smoothing)

    def expected(self, smoothing: float) -> Floats:
        """How many answers every body gets right for a start that it fires for, one at the most: [K]."""
        return np.asarray(smoothed_confidence(self.fires, self.n_r, smoothing).clip(max=1.0))

    def leave_one_out_expected(self, smoothing: float) -> Floats:
        """The same without one fact that the body is right about, by which that fact is scored: [K]."""
        right = np.maximum(self.n_r - 1, 0)
        return np.asarray(smoothed_confidence(self.fires - 1, right, smoothing).clip(max=1.0))

    def evidence(self, graph: Graph) -> list[tuple[Evidence, ...]]:
        """The evidence of each body: how often it is right on training facts, for starts with an answer."""
        return [
            (Evidence("train", n_b, n_r),)
            for n_b, n_r in zip(self.n_b.tolist(), self.n_r.tolist(), strict=True)
        ]


@dataclass(frozen=True, eq=False)
class StoredFeatures(Features):
    """The features of a small base: every pair that a body covers is kept in memory."""

    keys: Ints  #: [U], x * n + y of every covered pair, ascending
    groundings: csr_matrix  #: [K, U], in how many ways each body covers each pair

    def cells(self, starts: Ints, extra: Ints | None = None) -> Cells:
        """The candidates of some queries, looked up among all pairs."""
        place = np.full(self.n, -1)
        place[starts] = np.arange(len(starts))
        inside = np.flatnonzero(place[self.keys // self.n] >= 0)
        part = self.groundings[:, inside].T.tocsr()  # [P, K]
        part.sort_indices()
        keys = self.keys[inside]
        fires = np.diff(part.indptr) > 0
        keys, part = keys[fires], part[fires]
        if extra is not None:
            new = extra[~among(extra, keys)]
            keys = np.concatenate([keys, new])
            part = vstack([part, csr_matrix((len(new), part.shape[1]), dtype=part.dtype)], format="csr")
        return Cells(starts, place[keys // self.n], keys % self.n, part)

    def estimated_entries(self, starts: Ints) -> Floats:
        """The number of entries (a body that covers a pair) of each query: [Q]."""
        start = self.keys[self.groundings.indices] // self.n
        return np.bincount(start, minlength=self.n)[starts].astype(np.float64)

    def evidence(self, graph: Graph) -> list[tuple[Evidence, ...]]:
        """How often each body is right on training facts, and on validation facts where there are any."""
        covered = self.groundings.copy()
        covered.data = np.ones_like(covered.data, dtype=np.float64)
        n_b = np.asarray(covered.sum(axis=1)).ravel()
        n_r, new = (covered @ among(self.keys, graph.keys(self.step, mark)) for mark in ("train", "valid"))
        has_valid = len(graph.valid) > 0
        found = []
        for b, r, v in zip(n_b.tolist(), n_r.tolist(), new.tolist(), strict=True):
            found.append((Evidence("train", b, r), *([Evidence("valid", b - r, v)] if has_valid else [])))
        return found


@dataclass(frozen=True, eq=False)
class OnDemandFeatures(Features):
    """The features of a large base: bodies are evaluated on demand, for the starts of the queries alone."""

    per_start: float  #: mean number of entries (a body that covers a pair) of a start that has an answer
    most_answers: int  #: `SizeConfig.ranged`, up to which `scores_all_answers` holds
    pairs: Mapping[int, Covered] = field(default_factory=dict)  #: of given rules, by their places
    cached: CachedEntries | None = None  #: of starts that are queried again

    @property
    def scores_all_answers(self) -> bool:
        """Whether every constant that answers some training fact gets a cell in every query."""
        return 0 < len(self._known_answers) <= self.most_answers

    def cells(self, starts: Ints, extra: Ints | None = None) -> Cells:
        """The candidates of some queries, by walking from their starts."""
        n, found = self.n, self._entries(starts)
        more = [np.zeros(0, dtype=np.int64)]
        if self.scores_all_answers:
            keys = np.arange(len(starts))[:, None] * n + self._known_answers
            more.append(keys[self._known_answers != starts[:, None]])
        if extra is not None:
            place = np.full(n, -1)
            place[starts] = np.arange(len(starts))
            more.append(place[extra // n] * n + extra % n)
        keys, cell = _number(np.concatenate([found.key, *more]), len(starts) * n)
        entries = (found.ways, (cell[: len(found.key)], found.body))
        groundings = csr_matrix(entries, shape=(len(keys), len(self.bodies)))
        groundings.sort_indices()
        return Cells(starts, keys // n, keys % n, groundings)

    def estimated_entries(self, starts: Ints) -> Floats:
        """About the entries and the cells of each query: [Q]."""
        size = self.per_start + (len(self._known_answers) if self.scores_all_answers else 0)
        return np.full(len(starts), max(1.0, size))

    def _entries(self, starts: Ints) -> Entries:
        cached = None if self.cached is None else self.cached.of(starts, self.n)
        return self._cover.entries(starts) if cached is None else cached

    @cached_property
    def _known_answers(self) -> Ints:
        """The constants that answer some training fact, ascending."""
        return np.flatnonzero(self.answers)

    @cached_property
    def _cover(self) -> BodyCover:
        return BodyCover(self.graph, self.bodies, self.pairs)


def _number(keys: Ints, top: int) -> tuple[Ints, Ints]:
    """The distinct keys in order, and the number of every key; see `number_keys`."""
    if top > _MOST_KEYS:
        return number_keys(keys, top)
    place = np.zeros(top, dtype=np.int32)  # a pass over a table beats a sort
    place[keys] = 1
    distinct = np.flatnonzero(place)
    place[distinct] = np.arange(len(distinct))
    return distinct, place[keys].astype(np.int64)


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
    """The pairs that given rules (from a file or a learner) cover, each evaluated once for both directions.

    Parameters
    ----------
    graph, facts
        The same training facts, as a graph and as relations.
    is_small
        Whether relations are multiplied as dense matrices.
    """

    def __init__(self, graph: Graph, facts: FactBase, *, is_small: bool) -> None:
        self._graph, self._bodies, self._is_small = graph, BodyEvaluator(facts), is_small
        self._found: dict[Rule, Covered] = {}

    def pairs(self, rule: Rule, step: int) -> Covered:
        """What a rule covers, the start of the direction first."""
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

        Groundings are counted where the body consists of known binary relations
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
) -> StoredFeatures:
    """The features of a direction from what its bodies cover: counted, and the most confident first.

    Parameters
    ----------
    bodies, covered
        Bodies and what each covers, the start of the direction first.
    graph
        The training facts.
    step
        The direction.
    keys
        All pairs that the bodies cover, and perhaps others, if these are known already.
    """
    if keys is None:
        keys = distinct_pairs([pairs for pairs, _ in covered])
    groundings = to_csr(covered, keys)
    ones = groundings.copy()
    ones.data = np.ones(len(ones.data))
    n_b = ones @ graph.has_answer(step)[keys // graph.n].astype(np.float64)
    n_r = ones @ among(keys, graph.keys(step, "train")).astype(np.float64)
    order = np.argsort(-smoothed_confidence(n_b, n_r), kind="stable")
    return StoredFeatures(
        graph=graph,
        step=step,
        bodies=tuple(bodies[at] for at in order.tolist()),
        n_b=n_b[order],
        n_r=n_r[order],
        fires=_fires(groundings, keys // graph.n, graph.has_answer(step))[order],
        keys=keys,
        groundings=groundings[order],
        answers=np.bincount(graph.pairs(step, "train")[:, 1], minlength=graph.n).astype(np.float64),
    )


def _fires(groundings: csr_matrix, start: Ints, has_answer: Bools) -> Floats:
    """For how many starts that have an answer each body fires: [K].

    Parameters
    ----------
    groundings
        [K, U], what each body covers.
    start
        [U], of each pair, ascending.
    """
    if not groundings.has_sorted_indices:
        groundings = groundings.sorted_indices()
    body, own = (
        np.repeat(np.arange(groundings.shape[0]), np.diff(groundings.indptr)),
        start[groundings.indices],
    )
    first = np.ones(len(own), dtype=np.bool_)
    first[1:] = (own[1:] != own[:-1]) | (body[1:] != body[:-1])
    return np.bincount(body[first & has_answer[own]], minlength=groundings.shape[0]).astype(np.float64)
