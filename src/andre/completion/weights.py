"""Weights of rules, learned by a softmax over the candidates of each query."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from andre.arrays import Bools, Floats, Ints
from andre.completion.bodies import Body
from andre.completion.config import CompletionConfig
from andre.completion.features import Cells, Features, members
from andre.completion.graph import Graph
from andre.completion.scoring import Fired, Scorer, WeightInputs, best_confidences
from andre.limits import check
from andre.logic import Rule


@dataclass(frozen=True, eq=False)
class RankingLoss:
    """Cross-entropy of each true candidate against the false ones of its query, by linear scores."""

    inputs: WeightInputs  #: [P, K]
    query: Ints  #: [P], ascending
    true: Bools  #: [P]
    others: Floats  #: [Q], candidates without a cell; their score is 0

    @cached_property
    def _firsts(self) -> tuple[NDArray[np.intp], Ints]:
        """Where the cells of each query begin, and which query it is; queries without a cell have none."""
        first = np.flatnonzero(np.diff(self.query, prepend=-1))
        return first, self.query[first]

    @cached_property
    def _at(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.true)

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
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
    loss: RankingLoss, penalties: Floats, start: Floats, non_negative: bool = False, steps: int = 40
) -> Floats:
    """Minimise the loss plus `penalties * weights ** 2`, which is convex, by L-BFGS.

    Examples
    --------
    >>> loss = RankingLoss(np.eye(2, dtype=np.float32), np.zeros(2, dtype=np.int64),
    ...                    np.array([True, False]), np.zeros(1))
    >>> fit_weights(loss, np.full(2, 0.1), np.zeros(2)).round(2)
    array([ 0.82, -0.82])
    """

    def objective(weights: Floats) -> tuple[float, Floats]:
        check()
        value, slope = loss(weights)
        return value + float(penalties @ weights**2), slope + 2 * penalties * weights

    bounds = [(0, None)] * len(start) if non_negative else None
    options = {"maxiter": steps, "maxcor": 8}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(found.x)


def start_weights(features: Features) -> Floats:
    """Weights by which the best rule alone decides: [K + 3]."""
    weights = np.zeros(len(features.bodies) + 3)
    weights[-2] = 1
    return weights


def learn_weights(graph: Graph, features: Features, scorer: Scorer, config: CompletionConfig) -> list[Floats]:
    """Weights of the bodies of one step from its training facts, for each penalty: [K + 3]."""
    dense = scorer.is_dense(features)
    starts = training_queries(graph, features, config, dense=dense)
    pairs = graph.pairs(features.step, "train")
    pairs = pairs[np.isin(pairs[:, 0], starts)]
    true = np.sort(pairs[:, 0] * graph.n + pairs[:, 1])
    cells = _by_query(features.cells(starts, features.all_keys(starts) if dense else true))
    is_true = members(starts[cells.query] * graph.n + cells.candidate, true)
    # A fact must not count for the rules that fire for it, nor for its own answer's popularity.
    c = scorer.smoothing
    own = (is_true, features.confidence_apart(c))
    best = best_confidences(cells.groundings, features.confidence(c), scorer.depth, own)
    popularity = features.answers[cells.candidate] - is_true
    if not dense:
        # Candidates without a cell score 0, so a fact that no rule fires for must have nothing either.
        popularity *= np.diff(cells.groundings.indptr) > 0
    inputs = Fired(cells.groundings, best, popularity, dense).inputs()
    others = graph.n - np.bincount(cells.query, minlength=len(starts)).astype(float)
    loss = RankingLoss(inputs, cells.query, is_true, others)
    weights, found = start_weights(features), []
    for penalty in config.penalties:
        price = penalty * np.array([*map(_price, features.bodies), 0.01, 0.0, 0.01])
        weights = fit_weights(loss, price, weights, config.non_negative)
        found.append(weights)
    return found


def training_queries(graph: Graph, features: Features, config: CompletionConfig, *, dense: bool) -> Ints:
    """The constants whose queries weights are learned from: a sample where they or their cells are too many.

    Parameters
    ----------
    dense
        Whether every candidate has a cell; then queries alone are counted.
    """
    starts = np.flatnonzero(graph.has_answer(features.step))
    rng = np.random.default_rng((config.seed, features.step))
    if len(starts) > config.queries:
        starts = rng.choice(starts, config.queries, replace=False)
    if not dense:
        cells = np.bincount(features.keys // features.n, minlength=features.n)
        most = config.sizes.cells
        if cells[starts].sum() > most:
            starts = rng.permutation(starts)
            starts = starts[: max(1, int(np.searchsorted(np.cumsum(cells[starts]), most)))]
    return np.sort(starts)


def _by_query(cells: Cells) -> Cells:
    order = np.argsort(cells.query, kind="stable")
    return Cells(cells.starts, cells.query[order], cells.candidate[order], cells.groundings[order])


def _price(body: Body | Rule) -> float:
    """One literal is cheap: in many bases two constants stand in one relation at most, so it says much."""
    return 0.1 if isinstance(body, Body) and len(body.steps) == 1 else 1.0
