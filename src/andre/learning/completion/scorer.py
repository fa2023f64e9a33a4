"""One way of scoring, fixed: from the rules that fire to numbers that rank candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from andre.evaluation.ranks import Ranks, filtered_ranks
from andre.facts import MARKS
from andre.learning.completion.bodies import Body
from andre.learning.completion.config import Aggregator, CompletionConfig
from andre.learning.completion.graph import Graph
from andre.learning.completion.scores import best_confidences, maximum_keys, noisy_or
from andre.learning.completion.tables import Features, Table, members
from andre.learning.completion.weights import RankingLoss, fit_weights, inputs_of
from andre.logic import Rule

__all__ = ["Scorer", "learn_weights", "rank_facts"]

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
    table = Table(starts, table.query[order], table.candidate[order], table.groundings[order])
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
