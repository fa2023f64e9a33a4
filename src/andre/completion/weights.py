"""Weights of rules, learned by a softmax over the candidates of each query."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags
from scipy.special import expit

from andre.arrays import Bools, Floats, Ints
from andre.completion.bodies import Body
from andre.completion.config import CompletionConfig
from andre.completion.features import Cells, Features, members
from andre.completion.graph import Graph
from andre.completion.scoring import BESIDE, Fired, Scorer, WeightInputs, best_confidences, shares_of
from andre.logic import Rule
from andre.newton import TOLERANCE, fit_weights


@dataclass(frozen=True, eq=False)
class _Softmax:
    """The loss at some weights, and how it came about."""

    value: float
    pull: Floats  #: [T], by how much each true candidate falls short, from 0 to 1
    pulls: Floats  #: [Q], the sum of these over a query
    share: Floats  #: [P], of a cell in the summed exponentials of the false candidates of its query


@dataclass(frozen=True, eq=False)
class RankingLoss:
    """Cross-entropy of each true candidate against the false ones of its query, by linear scores.

    Examples
    --------
    >>> loss = RankingLoss(np.eye(2), np.zeros(2, dtype=np.int64), np.array([True, False]), np.zeros(1))
    >>> fit_weights(loss, np.full(2, 0.1), np.zeros(2)).round(2)
    array([ 0.82, -0.82])
    >>> fit_weights(loss, np.full(2, 0.1), np.zeros(2), non_negative=True).round(2)
    array([1.18, 0.  ])
    """

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

    @property
    def pairs(self) -> int:
        """Pairs of entries in one row: products that a table of second derivatives takes; 0 if dense."""
        if isinstance(self.inputs, np.ndarray):
            return 0
        return int((np.diff(self.inputs.indptr).astype(np.int64) ** 2).sum())

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        """The loss and its gradient."""
        at = self._softmax(weights)
        slope = at.share * at.pulls[self.query]  # [P]
        slope[self._at] -= at.pull
        return at.value, np.asarray(self.inputs.T @ slope)

    def curvature(self, weights: Floats) -> Curvature:
        """The second derivatives of the loss at some weights."""
        at, (first, asked) = self._softmax(weights), self._firsts
        spread = np.zeros(len(self.query))  # [P]
        spread[self._at] = at.pull * (1 - at.pull)
        pulls = at.pulls[asked]  # [Q with cells]
        sizes = np.diff(first, append=len(self.query))
        return Curvature(
            inputs=self.inputs,
            first=first,
            place=np.repeat(np.arange(len(first)), sizes),
            share=at.share,
            spread=spread,
            mass=at.share * at.pulls[self.query] + spread,
            bend=np.add.reduceat(spread, first) - pulls,
        )

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


@dataclass(frozen=True, eq=False)
class Curvature:
    """The second derivatives of a ranking loss at some weights: as a table, or as what they make of a vector.

    By the scores of the P cells they are the diagonal of `mass`, and for each
    query with shares a and spreads s the outer products bend aa' - as' - sa'.
    """

    inputs: WeightInputs  #: [P, K]
    first: NDArray[np.intp]  #: [Q], where the cells of each query begin
    place: NDArray[np.intp]  #: [P], the query of each cell
    share: Floats  #: [P]
    spread: Floats  #: [P]
    mass: Floats  #: [P]
    bend: Floats  #: [Q]

    def table(self) -> Floats:
        """All of them: [K, K]."""
        counts = np.flatnonzero(self.mass > 1e-14 * self.mass.max())  # most candidates are out of the race
        scaled = diags(np.sqrt(self.mass[counts])) @ self.inputs[counts]  # [some P, K]
        cells, ends = np.arange(len(self.mass)), np.append(self.first, len(self.mass))
        mean, facts = (  # [Q, K]
            _dense(csr_matrix((values, cells, ends), (len(self.first), len(cells))) @ self.inputs)
            for values in (self.share, self.spread)
        )
        cross = mean.T @ (facts - self.bend[:, None] / 2 * mean)  # [K, K]
        return _dense(scaled.T @ scaled) - cross - cross.T

    def times(self, vector: Floats) -> Floats:
        """Their product with a vector, [K], in the time that a gradient takes."""
        score = np.asarray(self.inputs @ vector)  # [P]
        mean, facts = (np.add.reduceat(values * score, self.first) for values in (self.share, self.spread))
        slope = self.mass * score + self.share * (self.bend * mean - facts)[self.place]
        return np.asarray(self.inputs.T @ (slope - self.spread * mean[self.place]))

    def bound(self) -> Floats:
        """An upper bound of their diagonal: [K]."""
        squares = self.inputs**2 if isinstance(self.inputs, np.ndarray) else self.inputs.power(2)
        return np.asarray(squares.T @ self.mass)


def _dense(matrix: WeightInputs) -> Floats:
    return np.asarray(matrix) if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def start_weights(bodies: int) -> Floats:
    """Weights of so many bodies by which the best rule alone decides: [K + 5]."""
    weights = np.zeros(bodies + BESIDE)
    weights[bodies + 1] = 1
    return weights


def learn_weights(
    graph: Graph,
    features: Features,
    scorer: Scorer,
    config: CompletionConfig,
    tolerance: float = TOLERANCE,
) -> list[Floats]:
    """Weights of the bodies of one step from its training facts, for each penalty: [K + 5].

    Newton's method ends where no entry of the gradient exceeds the tolerance.
    """
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
    if not dense and not features.is_ranged:
        # Candidates without a cell score 0, so a fact that no rule fires for must have nothing either.
        popularity *= np.diff(cells.groundings.indptr) > 0
    expected = (features.expected(c), (is_true, features.expected_apart(c)))
    shares = np.zeros((len(is_true), 2)) if dense else shares_of(cells, *expected)
    inputs = Fired(cells.groundings, best, popularity, shares, dense).inputs()
    others = graph.n - np.bincount(cells.query, minlength=len(starts)).astype(float)
    loss = RankingLoss(inputs, cells.query, is_true, others)
    weights, found = start_weights(len(features.bodies)), []
    for penalty in config.penalties:
        # The best rules are as good as free; but where they alone tell true from false there must be an end.
        price = penalty * np.array([*map(_price, features.bodies), 0.01, 1e-6, 0.01, 1e-3, 1e-3])
        weights = fit_weights(loss, price, weights, non_negative=config.non_negative, tolerance=tolerance)
        found.append(weights)
    return found


def training_queries(graph: Graph, features: Features, config: CompletionConfig, *, dense: bool) -> Ints:
    """The constants whose queries weights are learned from: a sample where they or their entries are many.

    Parameters
    ----------
    dense
        Whether every candidate has a cell; then queries alone are counted.
    """
    starts = np.flatnonzero(graph.has_answer(features.step))
    rng = np.random.default_rng((config.seed, features.step))
    if len(starts) > config.queries:
        starts = rng.choice(starts, config.queries, replace=False)
    if not dense and features.load(starts).sum() > config.sizes.cells:
        starts = rng.permutation(starts)
        starts = starts[: max(1, int(np.searchsorted(np.cumsum(features.load(starts)), config.sizes.cells)))]
    return np.sort(starts)


def _by_query(cells: Cells) -> Cells:
    order = np.argsort(cells.query, kind="stable")
    return Cells(cells.starts, cells.query[order], cells.candidate[order], cells.groundings[order])


def _price(body: Body | Rule) -> float:
    """One literal is cheap: in many bases two constants stand in one relation at most, so it says much."""
    return 0.1 if isinstance(body, Body) and len(body.steps) == 1 else 1.0
