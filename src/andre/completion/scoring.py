"""Scores of candidates from the rules that fire for them, and the filtered ranks of true answers.

Aggregation makes one score of many rules: by the maximum of their confidences,
by noisy-or, or by weights that are learned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from andre.arrays import Bools, Floats, Ints
from andre.completion.features import Features
from andre.completion.graph import Graph
from andre.evaluation import Ranks, filtered_ranks, lexicographic_keys
from andre.facts import MARKS
from andre.limits import check

Aggregator: TypeAlias = Literal["maximum", "noisy-or", "weights"]

#: What weights are multiplied with, [P, K + 3], dense or sparse.
WeightInputs: TypeAlias = NDArray[np.float32] | csr_matrix


def best_confidences(
    groundings: csr_matrix, confidence: Floats, depth: int, own: tuple[Bools, Floats] | None = None
) -> Floats:
    """The highest confidences among the rules that fire for each cell, descending: [P, depth].

    Zero where fewer rules fire. Columns stand in the order of confidence at one
    smoothing; at another the order differs a little, so more are read and sorted.

    Parameters
    ----------
    groundings
        [P, K], which rules fire for each cell.
    confidence
        [K], of every rule.
    depth
        How many confidences are wanted.
    own
        Cells with confidences of their own, [P], and these confidences, [K].
    """
    fires = np.diff(groundings.indptr)  # [P]
    best = np.zeros((len(fires), depth))
    # Few rules fire for most cells of a large base: sorting more than there are would take most of the time.
    reaches = (1, depth, 4 * depth)
    for least, reach in zip((0, *reaches), reaches, strict=False):
        cells = np.flatnonzero((fires > least) & ((fires <= reach) | (reach == reaches[-1])))
        at = groundings.indptr[cells, None] + np.arange(reach)  # [some P, reach]
        inside = at < groundings.indptr[cells + 1, None]
        rule = groundings.indices[np.minimum(at, groundings.nnz - 1)]  # [some P, reach]
        values = confidence[rule]
        if own is not None:
            is_own = own[0][cells]
            values[is_own] = own[1][rule[is_own]]
        values[~inside] = 0
        best[cells, :reach] = -np.sort(-values, axis=1)[:, :depth]
    return best


@dataclass(frozen=True, eq=False)
class Fired:
    """The rules that fire for some candidates (cells), and what is known of these candidates."""

    groundings: csr_matrix  #: [P, K], in how many ways each body covers each cell
    best: Floats  #: [P, depth], the highest confidences, descending
    popularity: Floats  #: [P], how many training facts have this answer
    dense: bool  #: whether every candidate has a cell, not only those that a rule fires for

    def inputs(self) -> WeightInputs:
        """The features of a linear model, [P, K + 3].

        They are log(1 + groundings) of every body, noisy-or, the best rules, and
        the popularity of the answer; sparse where few bodies cover a cell.
        """
        logs = self.groundings.copy()
        logs.data = np.log1p(logs.data)
        last = np.empty((logs.shape[0], 3), dtype=np.float32)
        # In large bases, where few rules fire, validation facts ranked a little worse with it.
        last[:, 0] = _noisy_or(self) if self.dense else 0
        # The best rule decides, the next ones break ties: the start that weights improve on.
        scale = 1e-3 ** np.arange(self.best.shape[1])
        last[:, 1] = np.log(self.best @ scale + 0.01) - np.log(0.01)
        last[:, 2] = np.log1p(self.popularity)
        if not self.dense:
            return hstack([logs, csr_matrix(last)], format="csr", dtype=np.float32)
        wide = np.empty((logs.shape[0], logs.shape[1] + 3), dtype=np.float32)
        wide[:, :-3] = logs.toarray()
        wide[:, -3:] = last
        return wide


def _maximum(fired: Fired, _: Floats | None = None) -> Floats:
    """Order cells by their best rule, then by the next best, and last by popularity: [P].

    Examples
    --------
    >>> best, none = np.array([[0.5, 0.1], [0.5, 0.2], [0.0, 0.0]]), csr_matrix((3, 2))
    >>> _maximum(Fired(none, best, np.zeros(3), dense=False))
    array([2., 3., 0.])
    """
    order = lexicographic_keys(np.column_stack([fired.best, fired.popularity])).astype(np.float64)
    return np.where(fired.best[:, 0] > 0, 1.0 + order, 0.0)


def _noisy_or(fired: Fired, _: Floats | None = None) -> Floats:
    """Minus the log of the probability that all of the best rules fail: [P].

    In logs, and over few rules: a product over all of them rounds to one for
    every candidate.

    Examples
    --------
    >>> best, none = np.array([[0.5, 0.5], [0.5, 0.0]]), csr_matrix((2, 2))
    >>> _noisy_or(Fired(none, best, np.zeros(2), dense=False)).round(3)
    array([1.386, 0.693])
    """
    return np.asarray(-np.log1p(-np.minimum(fired.best, 1 - 1e-9)).sum(axis=1))


def _weighted(fired: Fired, weights: Floats | None = None) -> Floats:
    """The linear score of each cell by learned weights: [P]."""
    assert weights is not None
    return np.asarray(fired.inputs() @ weights.astype(np.float32)).astype(np.float64)


@dataclass(frozen=True)
class Aggregation:
    """A way to make one score of the rules that fire."""

    scores: Callable[[Fired, Floats | None], Floats]  #: [P] of some cells, given weights where it has any
    learned: bool = False  #: whether it has weights to learn, and scores candidates without a rule too


#: All ways of scoring. A new one is an entry here, and its name in `Aggregator` above.
AGGREGATIONS: Mapping[Aggregator, Aggregation] = {
    "maximum": Aggregation(_maximum),
    "noisy-or": Aggregation(_noisy_or),
    "weights": Aggregation(_weighted, learned=True),
}


@dataclass(frozen=True, eq=False)
class Scorer:
    """One way of scoring candidates, with all its numbers settled."""

    aggregator: Aggregator
    smoothing: float  #: the c of confidences N_r / (N_b + c)
    depth: int  #: rules that the maximum and noisy-or look at
    penalty: float | None = None  #: L2 penalty of the weights, where they are learned
    weights: Mapping[int, Floats] = field(default_factory=dict)  #: [K + 3] by step
    table: int = 40_000_000  #: `SizeConfig.table`, up to which every candidate is scored

    def is_dense(self, features: Features) -> bool:
        """Whether every candidate is scored, not only those that a rule fires for."""
        entries = features.n**2 * max(1, len(features.bodies))
        return AGGREGATIONS[self.aggregator].learned and entries <= self.table

    def scores(self, features: Features, starts: Ints) -> Floats:
        """The score of every constant as an answer to the queries from these constants: [Q, n]."""
        dense = self.is_dense(features)
        cells = features.cells(starts, features.all_keys(starts) if dense else None)
        best = best_confidences(cells.groundings, features.confidence(self.smoothing), self.depth)
        fired = Fired(cells.groundings, best, features.answers[cells.candidate], dense)
        values = AGGREGATIONS[self.aggregator].scores(fired, self.weights.get(features.step))
        by_popularity = 1e-9 * features.answers / max(1.0, features.answers.max())  # breaks ties, [n]
        scores: Floats = cells.spread(values, 0.0, features.n) + by_popularity
        return scores


def rank_facts(
    graph: Graph,
    features: Mapping[int, Features],
    scorer: Scorer,
    mark: str,
    *,
    levels: bool = True,
    block: int = 20_000_000,
) -> dict[int, Ranks]:
    """Filtered ranks of the facts of one mark, by step, in the order of `Graph.pairs`.

    Test facts are filtered from test queries only: others must not read them.

    Parameters
    ----------
    levels
        Whether distinct scores are counted, as for `filtered_ranks`.
    block
        Scores (queries x candidates) that are held at a time.
    """
    known = MARKS if mark == "test" else ("train", "valid")
    at_once = max(1, block // graph.n)
    found = {}
    for step in range(graph.n_steps):
        pairs = graph.pairs(step, mark)
        if not len(pairs):
            continue
        filters = graph.known(step, known)
        order = np.argsort(pairs[:, 0], kind="stable")  # queries from one constant share their scores
        parts = []
        for first in range(0, len(order), at_once):
            check()
            asked, answer = pairs[order[first : first + at_once]].T
            starts, query = np.unique(asked, return_inverse=True)
            if step in features:
                scores = scorer.scores(features[step], starts)[query]
            else:
                scores = np.zeros((len(asked), graph.n))
            parts.append(filtered_ranks(scores, answer, filters[asked].toarray(), levels=levels))
        found[step] = Ranks.concat(parts).take(np.argsort(order))
    return found
