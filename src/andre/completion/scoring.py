"""Scores of candidates from the confidences of the rules that fire for them.

Weights of rules, learned by a softmax over the candidates of each query.

One way of scoring, fixed: from the rules that fire to numbers that rank candidates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, hstack

from andre.completion.bodies import Body
from andre.completion.config import Aggregator, CompletionConfig
from andre.completion.features import Cells, Features, members
from andre.completion.graph import Graph
from andre.evaluation import Ranks, filtered_ranks, lexicographic_keys
from andre.facts import MARKS
from andre.logic import Rule

__all__ = [
    "Inputs",
    "RankingLoss",
    "Scorer",
    "best_confidences",
    "fit_weights",
    "inputs_of",
    "learn_weights",
    "maximum_keys",
    "noisy_or",
    "rank_facts",
]


def best_confidences(
    table: Cells,
    confidence: NDArray[np.float64],
    depth: int,
    own: tuple[NDArray[np.bool_], NDArray[np.float64]] | None = None,
) -> NDArray[np.float64]:
    """[P, depth], the best confidences of each cell, the best first; 0 where fewer rules fire.

    Columns of a table stand in the order of confidence at one smoothing; at
    another the order differs a little, so twice as many are read and sorted.

    Parameters
    ----------
    table
        The cells, and the rules that fire for each.
    confidence
        [K], of every rule.
    depth
        How many confidences are wanted.
    own
        Some cells, [P], and the confidences that rules have for those, [K].
    """
    matrix = table.groundings
    fires = np.diff(matrix.indptr)  # [P]
    best = np.zeros((len(fires), depth))
    # Few rules fire for most cells of a large base: sorting more than there are would take most of the time.
    reaches = (1, depth, 4 * depth)
    for least, reach in zip((0, *reaches), reaches, strict=False):
        cells = np.flatnonzero((fires > least) & ((fires <= reach) | (reach == reaches[-1])))
        at = matrix.indptr[cells, None] + np.arange(reach)  # [some P, reach]
        inside = at < matrix.indptr[cells + 1, None]
        rule = matrix.indices[np.minimum(at, matrix.nnz - 1)]  # [some P, reach]
        values = confidence[rule]
        if own is not None:
            is_own = own[0][cells]
            values[is_own] = own[1][rule[is_own]]
        values[~inside] = 0
        best[cells, :reach] = -np.sort(-values, axis=1)[:, :depth]
    return best


def maximum_keys(best: NDArray[np.float64], popularity: NDArray[np.float64]) -> NDArray[np.float64]:
    """[P], numbers in the order of the best rule, then the next best, and last how common the answer is."""
    return lexicographic_keys(np.column_stack([best, popularity])).astype(np.float64)


def noisy_or(best: NDArray[np.float64]) -> NDArray[np.float64]:
    """[P], minus the log of the chance that all of the best rules fail.

    In logs, and over few rules: a product over all of them rounds to one for
    every candidate.

    Examples
    --------
    >>> noisy_or(np.array([[0.5, 0.5], [0.5, 0.0]])).round(3)
    array([1.386, 0.693])
    """
    return np.asarray(-np.log1p(-np.minimum(best, 1 - 1e-9)).sum(axis=1))


#: What is known of every cell, [P, K], as whole numbers or sparse.
Inputs: TypeAlias = NDArray[np.float32] | csr_matrix


def inputs_of(
    table: Cells, best: NDArray[np.float64], popularity: NDArray[np.float64], *, dense: bool = True
) -> Inputs:
    """[P, K + 3]: log(1 + groundings) of every body, noisy-or, the best rules, how common the answer is.

    In a large base few bodies cover a cell, so its inputs are better kept sparse.
    """
    matrix = table.groundings.copy()
    matrix.data = np.log1p(matrix.data)
    last = np.empty((matrix.shape[0], 3), dtype=np.float32)
    # In large bases, where few rules fire, validation facts ranked a little worse with it.
    last[:, 0] = noisy_or(best) if dense else 0
    # The best rule decides, the next ones break ties: the start that weights improve on.
    scale = 1e-3 ** np.arange(best.shape[1])
    last[:, 1] = np.log(best @ scale + 0.01) - np.log(0.01)
    last[:, 2] = np.log1p(popularity)
    if not dense:
        return hstack([matrix, csr_matrix(last)], format="csr", dtype=np.float32)
    wide = np.empty((matrix.shape[0], matrix.shape[1] + 3), dtype=np.float32)
    wide[:, :-3] = matrix.toarray()
    wide[:, -3:] = last
    return wide


@dataclass(frozen=True, eq=False)
class RankingLoss:
    """How badly true candidates rank: for each, minus its log share among itself and the false ones."""

    inputs: Inputs  #: [P, K]
    query: NDArray[np.int64]  #: [P], ascending
    true: NDArray[np.bool_]  #: [P]
    others: NDArray[np.float64]  #: [Q], candidates without a cell; their score is 0

    @cached_property
    def _firsts(self) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Where the cells of each query begin, and which query it is; queries without a cell have none."""
        first = np.flatnonzero(np.diff(self.query, prepend=-1))
        return first, self.query[first]

    @cached_property
    def _at(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.true)

    def __call__(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The loss and its gradient."""
        score = (self.inputs @ weights.astype(np.float32)).astype(np.float64)  # [P]
        n_queries, at = len(self.others), self._at
        first, asked = self._firsts
        top = np.zeros(n_queries)
        top[asked] = np.maximum.reduceat(score, first).clip(0)
        power = np.exp(score - top[self.query])  # [P]
        power[at] = 0
        total = self.others * np.exp(-top)  # [Q]
        total[asked] += np.add.reduceat(power, first)
        with np.errstate(divide="ignore"):
            against = np.log(total) + top  # [Q], log of the summed scores of false candidates
        gap = against[self.query[at]] - score[at]  # [T]
        loss = float(np.logaddexp(0, gap).sum())
        pull = 1 / (1 + np.exp(-np.clip(gap, -500, 500)))  # [T]
        per_query = np.bincount(self.query[at], pull, n_queries)  # [Q]
        slope = power * (per_query / np.maximum(total, 1e-300))[self.query]  # [P]
        slope[at] -= pull
        return loss, (self.inputs.T @ slope.astype(np.float32)).astype(np.float64)


def fit_weights(
    loss: RankingLoss,
    penalties: NDArray[np.float64],
    start: NDArray[np.float64],
    non_negative: bool = False,
    steps: int = 40,
) -> NDArray[np.float64]:
    """Descend the loss plus `penalties * weights ** 2`, which is convex.

    Examples
    --------
    >>> loss = RankingLoss(np.eye(2, dtype=np.float32), np.zeros(2, dtype=np.int64),
    ...                    np.array([True, False]), np.zeros(1))
    >>> fit_weights(loss, np.full(2, 0.1), np.zeros(2)).round(2)
    array([ 0.82, -0.82])
    """

    def objective(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slope = loss(weights)
        return value + float(penalties @ weights**2), slope + 2 * penalties * weights

    bounds = [(0, None)] * len(start) if non_negative else None
    found = minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": steps, "maxcor": 8}
    )
    return np.asarray(found.x)


_DENSE = 40_000_000  # entries of a table up to which every candidate gets a cell
_CELLS = 400_000  # cells of a step that weights are learned from, about, where not every one is
_ROWS = 20_000_000  # entries of a block of queries by candidates


@dataclass(frozen=True, eq=False)
class Scorer:
    """How the rules that fire for a candidate make one score."""

    aggregator: Aggregator
    smoothing: float
    depth: int
    penalty: float | None = None  #: of squared weights, where they are learned
    weights: Mapping[int, NDArray[np.float64]] = field(default_factory=dict)  #: by step

    def scores(self, features: Features, starts: NDArray[np.int64]) -> NDArray[np.float64]:
        """[Q, n], the scores of all candidates of these queries."""
        table = features.table(starts, _all_keys(features, starts) if self._every(features, starts) else None)
        best = best_confidences(table, features.confidence(self.smoothing), self.depth)
        popularity = features.answers[table.candidate]
        least = 1e-9 * features.answers / max(1.0, features.answers.max())  # breaks ties, [n]
        if self.aggregator == "maximum":
            values = np.where(best[:, 0] > 0, 1.0 + maximum_keys(best, popularity), 0.0)
        elif self.aggregator == "noisy-or":
            values = noisy_or(best)
        else:
            weights = self.weights[features.step].astype(np.float32)
            inputs = inputs_of(table, best, popularity, dense=is_dense(features))
            values = (inputs @ weights).astype(np.float64)
        scores: NDArray[np.float64] = table.spread(values, 0.0, features.n) + least
        return scores

    def _every(self, features: Features, starts: NDArray[np.int64]) -> bool:
        return self.aggregator == "weights" and is_dense(features)


def is_dense(features: Features) -> bool:
    """Whether all candidates of all queries fit in one table."""
    return features.n**2 * max(1, len(features.bodies)) <= _DENSE


def _all_keys(features: Features, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    return (starts[:, None] * features.n + np.arange(features.n)).ravel()


def rank_facts(
    graph: Graph, features: Mapping[int, Features], scorer: Scorer, mark: str, *, levels: bool = True
) -> dict[int, Ranks]:
    """Rank the facts of one mark for each step, in the order of `Graph.pairs`.

    Test facts are filtered from test queries only.
    """
    known = MARKS if mark == "test" else ("train", "valid")
    found = {}
    for step in range(graph.n_steps):
        pairs = graph.pairs(step, mark)
        if not len(pairs):
            continue
        filters = graph.known(step, known)
        starts, query = np.unique(pairs[:, 0], return_inverse=True)
        block = max(1, _ROWS // graph.n)
        parts, order = [], []
        for first in range(0, len(starts), block):
            asked = starts[first : first + block]
            scores = (
                scorer.scores(features[step], asked) if step in features else np.zeros((len(asked), graph.n))
            )
            inside = np.flatnonzero((query >= first) & (query < first + block))
            row = query[inside] - first
            for some in np.array_split(np.arange(len(inside)), max(1, len(inside) * graph.n // _ROWS)):
                mask = filters[pairs[inside[some], 0]].toarray()
                order.append(inside[some])
                parts.append(filtered_ranks(scores[row[some]], pairs[inside[some], 1], mask, levels=levels))
        found[step] = Ranks.concat(parts).take(np.argsort(np.concatenate(order)))
    return found


def learn_weights(
    graph: Graph, features: Features, scorer: Scorer, config: CompletionConfig, penalties: tuple[float, ...]
) -> list[NDArray[np.float64]]:
    """Weights of the bodies of one step for each penalty, from its training facts."""
    dense = is_dense(features)
    pairs = graph.pairs(features.step, "train")
    starts = _taught_by(features, np.unique(pairs[:, 0]), config)
    pairs = pairs[np.isin(pairs[:, 0], starts)]
    true = np.sort(pairs[:, 0] * graph.n + pairs[:, 1])
    table = features.table(starts, _all_keys(features, starts) if dense else true)
    order = np.argsort(table.query, kind="stable")
    table = Cells(starts, table.query[order], table.candidate[order], table.groundings[order])
    is_true = members(starts[table.query] * graph.n + table.candidate, true)
    # A fact must not count for the rules that fire for it, nor for its own answer's popularity.
    c = scorer.smoothing
    own = (is_true, features.confidence_apart(c))
    best = best_confidences(table, features.confidence(c), scorer.depth, own)
    popularity = features.answers[table.candidate] - is_true
    if not dense:
        # Candidates without a cell score 0, so a fact that no rule fires for must have nothing either.
        popularity *= np.diff(table.groundings.indptr) > 0
    inputs = inputs_of(table, best, popularity, dense=dense)
    others = graph.n - np.bincount(table.query, minlength=len(starts)).astype(float)
    loss = RankingLoss(inputs, table.query, is_true, others)
    weights = np.zeros(inputs.shape[1])
    weights[-2] = 1
    found = []
    for penalty in penalties:
        price = penalty * np.array([*map(_price, features.bodies), 0.01, 0.0, 0.01])
        weights = fit_weights(loss, price, weights, config.non_negative)
        found.append(weights)
    return found


def _taught_by(features: Features, starts: NDArray[np.int64], config: CompletionConfig) -> NDArray[np.int64]:
    """The queries that weights are learned from, ascending: some, where they or their cells are too many."""
    rng = np.random.default_rng((config.seed, features.step))
    if len(starts) > config.queries:
        starts = rng.choice(starts, config.queries, replace=False)
    if not is_dense(features):
        cells = np.bincount(features.keys // features.n, minlength=features.n)
        if cells[starts].sum() > _CELLS:
            starts = rng.permutation(starts)
            starts = starts[: max(1, int(np.searchsorted(np.cumsum(cells[starts]), _CELLS)))]
    return np.sort(starts)


def _price(body: Body | Rule) -> float:
    """One literal is cheap: in many bases two constants stand in one relation at most, so it says much."""
    return 0.1 if isinstance(body, Body) and len(body.steps) == 1 else 1.0
