"""Weights of rules, learned by a softmax over the candidates of each query."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_matrix, diags
from scipy.special import expit

from andre.arrays import Bools, Floats, Ints
from andre.completion.bodies import Body
from andre.completion.config import CompletionConfig
from andre.completion.features import Cells, Features, members
from andre.completion.graph import Graph
from andre.completion.scoring import Fired, Scorer, WeightInputs, best_confidences
from andre.logic import Rule

#: The gradient at which weights count as learned: no entry of it that may move a weight is larger.
TOLERANCE = 1e-8
_STEPS = 200  #: Newton's steps at the most; ten are usual
_PROGRESS = 0.4  #: second derivatives serve as long as each step leaves no more than this of the gradient


@dataclass(frozen=True, eq=False)
class _Softmax:
    """The loss at some weights, and how it came about."""

    value: float
    pull: Floats  #: [T], by how much each true candidate falls short, from 0 to 1
    pulls: Floats  #: [Q], the sum of these over a query
    share: Floats  #: [P], of a cell in the summed exponentials of the false candidates of its query


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
        at = self._softmax(weights)
        slope = at.share * at.pulls[self.query]  # [P]
        slope[self._at] -= at.pull
        return at.value, np.asarray(self.inputs.T @ slope)

    def hessian(self, weights: Floats) -> Floats:
        """The second derivatives of the loss: [K, K]."""
        at, (first, asked) = self._softmax(weights), self._firsts
        spread = np.zeros(len(self.query))  # [P]
        spread[self._at] = at.pull * (1 - at.pull)
        mass = at.share * at.pulls[self.query] + spread  # [P]
        counts = np.flatnonzero(mass > 1e-14 * mass.max(initial=0.0))  # most candidates are out of the race
        scaled = diags(np.sqrt(mass[counts])) @ self.inputs[counts]  # [some P, K]
        table = _dense(scaled.T @ scaled)  # [K, K]
        cells, ends = np.arange(len(self.query)), np.append(first, len(self.query))
        mean, facts = (  # [Q with cells, K]
            _dense(csr_matrix((values, cells, ends), (len(first), len(cells))) @ self.inputs)
            for values in (at.share, spread)
        )
        per_query = np.add.reduceat(spread, first) - at.pulls[asked]  # [Q with cells]
        cross = mean.T @ (facts - per_query[:, None] / 2 * mean)  # [K, K]
        return np.asarray(table - cross - cross.T)

    def _softmax(self, weights: Floats) -> _Softmax:
        score = np.asarray(self.inputs @ weights)  # [P]
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
        pull = expit(gap)
        return _Softmax(
            value=float(np.logaddexp(0, gap).sum()),
            pull=pull,
            pulls=np.bincount(self.query[at], pull, n_queries).astype(np.float64),
            share=power / np.maximum(total, 1e-300)[self.query],
        )


def _dense(matrix: WeightInputs) -> Floats:
    return np.asarray(matrix) if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def fit_weights(loss: RankingLoss, penalties: Floats, start: Floats, *, non_negative: bool = False) -> Floats:
    """Minimise the loss plus `penalties * weights ** 2`, which is convex, by Newton's method.

    It ends where no entry of the gradient is above `TOLERANCE` in size, but for
    those of weights that are zero and must not become negative.

    Examples
    --------
    >>> loss = RankingLoss(np.eye(2), np.zeros(2, dtype=np.int64), np.array([True, False]), np.zeros(1))
    >>> fit_weights(loss, np.full(2, 0.1), np.zeros(2)).round(2)
    array([ 0.82, -0.82])
    >>> fit_weights(loss, np.full(2, 0.1), np.zeros(2), non_negative=True).round(2)
    array([1.18, 0.  ])
    """
    least = 0.0 if non_negative else -np.inf

    def objective(weights: Floats) -> tuple[float, Floats]:
        value, slope = loss(weights)
        return value + float(penalties @ weights**2), slope + 2 * penalties * weights

    weights = np.maximum(start, least)
    value, slope = objective(weights)
    curvature = _Curvature(loss, penalties, weights)
    steepness = np.inf
    for _ in range(_STEPS):
        before, steepness = steepness, np.abs(weights - np.maximum(weights - slope, least)).max(initial=0.0)
        if steepness <= TOLERANCE:
            break
        if steepness > _PROGRESS * before:
            curvature = _Curvature(loss, penalties, weights)
        # Bertsekas (1982): weights that are about to reach their bound move by themselves.
        held = (weights <= min(1e-3, steepness)) & (slope > 0) & non_negative
        step, length = curvature.step(slope, held), 1.0
        while True:
            tried = np.maximum(weights + length * step, least)
            new_value, new_slope = objective(tried)
            # Near the end there is less to gain than rounding hides.
            if new_value <= value - 1e-4 * slope @ (weights - tried) + 1e-13 * abs(value) or length < 1e-9:
                break
            length /= 2
        weights, value, slope = tried, new_value, new_slope
    return weights


class _Curvature:
    """The second derivatives of a penalised loss at some weights, good for steps from nearby weights too.

    To find and to decompose them takes most of the time of a fit.
    """

    def __init__(self, loss: RankingLoss, penalties: Floats, weights: Floats) -> None:
        self._table = loss.hessian(weights)
        self._table[np.diag_indices(len(weights))] += 2 * penalties
        self._decomposed: tuple[NDArray[np.intp], tuple[Floats, bool]] | None = None

    def step(self, slope: Floats, held: Bools) -> Floats:
        """Newton's step against a gradient; weights that are held take theirs apart from all others: [K]."""
        free = np.flatnonzero(~held)
        if self._decomposed is None or not np.array_equal(self._decomposed[0], free):
            self._decomposed = free, cho_factor(self._table[np.ix_(free, free)])
        step = -slope / np.diag(self._table)
        step[free] = -cho_solve(self._decomposed[1], slope[free])
        return step


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
        # The best rules are as good as free; but where they alone tell true from false there must be an end.
        price = penalty * np.array([*map(_price, features.bodies), 0.01, 1e-6, 0.01])
        weights = fit_weights(loss, price, weights, non_negative=config.non_negative)
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
