"""Scores of all candidates of a query, and the filtered ranks of true answers by them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from andre.arrays import Floats, Ints
from andre.completion.aggregators import AGGREGATIONS, Aggregator, Fired, best_confidences
from andre.completion.config import SizeConfig
from andre.completion.features import Features
from andre.completion.graph import Graph
from andre.evaluation import Ranks, filtered_ranks
from andre.facts import MARKS

__all__ = ["Scorer", "rank_facts"]

_SIZES = SizeConfig()


@dataclass(frozen=True, eq=False)
class Scorer:
    """One way of scoring candidates, with all its numbers settled."""

    aggregator: Aggregator
    smoothing: float  #: the c of confidences N_r / (N_b + c)
    depth: int  #: rules that the maximum and noisy-or look at
    penalty: float | None = None  #: L2 penalty of the weights, where they are learned
    weights: Mapping[int, Floats] = field(default_factory=dict)  #: [K + 3] by step
    table: int = _SIZES.table  #: see `SizeConfig.table`

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
    block: int = _SIZES.block,
) -> dict[int, Ranks]:
    """Filtered ranks of the facts of one mark, by step, in the order of `Graph.pairs`.

    Test facts are filtered from test queries only.

    Parameters
    ----------
    graph, features, scorer
        What is known, the rules of each step, and how they score.
    mark
        Of the facts to rank.
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
            asked, answer = pairs[order[first : first + at_once]].T
            starts, query = np.unique(asked, return_inverse=True)
            if step in features:
                scores = scorer.scores(features[step], starts)[query]
            else:
                scores = np.zeros((len(asked), graph.n))
            parts.append(filtered_ranks(scores, answer, filters[asked].toarray(), levels=levels))
        found[step] = Ranks.concat(parts).take(np.argsort(order))
    return found
