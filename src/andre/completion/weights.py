"""Weights of rules, learned by a softmax over the candidates of each query."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import expit

from andre.arrays import Bools, Floats, Ints, among
from andre.completion.bodies import Body
from andre.completion.config import CompletionConfig
from andre.completion.features import Cells, Features
from andre.completion.graph import Graph
from andre.completion.scoring import (
    EXTRA_INPUTS,
    FiredRules,
    Scorer,
    WeightInputs,
    answer_shares,
    best_confidences,
)
from andre.logic import Rule
from andre.newton import TOLERANCE, fit_weights

#: Products up to which the Hessian is computed as a matrix: long chains overlap much, and conjugate
#: gradients then take several times as long.
_HESSIAN_PRODUCTS = 300_000_000


@dataclass(frozen=True, eq=False)
class _Softmax:
    """The loss at some weights, and the probabilities that it is made of."""

    value: float
    residual: Floats  #: [T], one minus the probability of each true candidate among the false ones
    residuals: Floats  #: [Q], their sum over a query
    softmax: Floats  #: [P], the probability of each cell among the false candidates of its query; 0 if true


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
        """How many products the Hessian of sparse inputs takes, the pairs of entries in a row; 0 if dense."""
        if isinstance(self.inputs, np.ndarray):
            return 0
        return int((np.diff(self.inputs.indptr).astype(np.int64) ** 2).sum())

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        """The loss and its gradient."""
        at = self._softmax(weights)
        slope = at.softmax * at.residuals[self.query]  # [P]
        slope[self._at] -= at.residual
        return at.value, np.asarray(self.inputs.T @ slope)

    @cached_property
    def _columns(self) -> _SplitColumns | None:
        return None if isinstance(self.inputs, np.ndarray) else _SplitColumns.of(self.inputs)

    def curvature(self, weights: Floats) -> Curvature:
        """The Hessian at some weights."""
        at, (first, asked) = self._softmax(weights), self._firsts
        variance = np.zeros(len(self.query))  # [P]
        variance[self._at] = at.residual * (1 - at.residual)
        residuals = at.residuals[asked]  # [Q with cells]
        sizes = np.diff(first, append=len(self.query))
        return Curvature(
            inputs=self.inputs,
            columns=self._columns,
            first=first,
            place=np.repeat(np.arange(len(first)), sizes),
            softmax=at.softmax,
            variance=variance,
            diagonal=at.softmax * at.residuals[self.query] + variance,
            excess=np.add.reduceat(variance, first) - residuals,
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
        residual = expit(gap)
        return _Softmax(
            value=float(np.logaddexp(0, gap).sum()),
            residual=residual,
            residuals=np.bincount(self.query[at], residual, n_queries).astype(np.float64),
            softmax=power / np.maximum(total, 1e-300)[self.query],
        )


@dataclass(frozen=True, eq=False)
class Curvature:
    """The Hessian of a ranking loss at some weights: as a matrix, or by its products with vectors.

    By the scores of the P cells it is the diagonal matrix of `diagonal`, plus the outer
    products excess aa' - av' - va' of each query, with a its `softmax` and v its `variance`.
    """

    inputs: WeightInputs  #: [P, K]
    columns: _SplitColumns | None  #: the same, where they are sparse
    first: NDArray[np.intp]  #: [Q], where the cells of each query begin
    place: NDArray[np.intp]  #: [P], the query of each cell
    softmax: Floats  #: [P], see `_Softmax`
    variance: Floats  #: [P], p(1 - p) of each true candidate; 0 if false
    diagonal: Floats  #: [P]
    excess: Floats  #: [Q], by how much the variances of a query exceed its residuals

    def table(self) -> Floats:
        """The Hessian: [K, K]."""
        counts = np.flatnonzero(
            self.diagonal > 1e-14 * self.diagonal.max()
        )  # most candidates score too low to matter
        gram = self._gram(counts)
        mean, facts = (self._sum_by_query(values) for values in (self.softmax, self.variance))  # [Q, K]
        cross = mean.T @ (facts - self.excess[:, None] / 2 * mean)  # [K, K]
        return np.asarray(gram - cross - cross.T)

    def _gram(self, cells: NDArray[np.intp]) -> Floats:
        """The Gram matrix of the inputs over some cells, weighted by `diagonal`: [K, K]."""
        if self.columns is None:
            scaled = np.sqrt(self.diagonal[cells])[:, None] * self.inputs[cells]  # [some P, K]
            return np.asarray(scaled.T @ scaled)
        return self.columns.take(cells).gram(self.diagonal[cells])

    def _sum_by_query(self, values: Floats) -> Floats:
        """The inputs of each query, weighted by some values, [P], most of which may be zero: [Q, K]."""
        cells = np.flatnonzero(values)
        ends = np.searchsorted(cells, np.append(self.first, len(values)))
        shape = len(self.first), len(values)
        found = csr_matrix((values[cells], cells, ends), shape) @ (
            self.inputs if self.columns is None else self.columns.sparse
        )
        if self.columns is None:
            return np.asarray(found)
        dense = np.add.reduceat(values[:, None] * self.columns.dense, self.first, axis=0)  # [Q, D]
        table: Floats = found.toarray()
        table[:, self.columns.places] = dense
        return table

    def times(self, vector: Floats) -> Floats:
        """Its product with a vector, [K], in the time that a gradient takes."""
        score = np.asarray(self.inputs @ vector)  # [P]
        mean, facts = (
            np.add.reduceat(values * score, self.first) for values in (self.softmax, self.variance)
        )
        slope = self.diagonal * score + self.softmax * (self.excess * mean - facts)[self.place]
        return np.asarray(self.inputs.T @ (slope - self.variance * mean[self.place]))

    def bound(self) -> Floats:
        """An upper bound of its diagonal: [K]."""
        squares = self.inputs**2 if isinstance(self.inputs, np.ndarray) else self.inputs.power(2)
        return np.asarray(squares.T @ self.diagonal)


@dataclass(frozen=True, eq=False)
class _SplitColumns:
    """A sparse matrix whose full columns are kept dense: their pairs make up most products of columns.

    Examples
    --------
    >>> found = _SplitColumns.of(csr_matrix(np.array([[0.0, 2.0], [1.0, 3.0], [0.0, 1.0]])))
    >>> found.places.tolist(), found.gram(np.ones(3)).tolist()
    ([1], [[1.0, 3.0], [3.0, 14.0]])
    """

    sparse: csr_matrix  #: [P, K], nothing in full columns
    dense: Floats  #: [P, D], the full columns
    places: NDArray[np.intp]  #: [D], of the full columns

    @classmethod
    def of(cls, inputs: csr_matrix) -> _SplitColumns:
        """Keep the columns dense that most rows have an entry in."""
        filled = np.bincount(inputs.indices, minlength=inputs.shape[1])
        places = np.flatnonzero(2 * filled > inputs.shape[0])
        is_dense = np.zeros(inputs.shape[1], dtype=np.bool_)
        is_dense[places] = True
        kept = ~is_dense[inputs.indices]  # [E]
        ends = np.concatenate([[0], np.cumsum(kept)])[inputs.indptr]
        sparse = csr_matrix((inputs.data[kept], inputs.indices[kept], ends), inputs.shape)
        return cls(sparse, inputs[:, places].toarray(), places)

    def take(self, rows: NDArray[np.intp]) -> _SplitColumns:
        """Some rows, ascending."""
        return (
            self
            if len(rows) == len(self.dense)
            else _SplitColumns(self.sparse[rows], self.dense[rows], self.places)
        )

    def gram(self, weights: Floats) -> Floats:
        """The Gram matrix of the columns with rows weighted: [K, K]."""
        sparse = self.sparse
        data = sparse.data * np.repeat(weights, np.diff(sparse.indptr))  # [E]
        table: Floats = (sparse.T @ csr_matrix((data, sparse.indices, sparse.indptr), sparse.shape)).toarray()
        weighted = weights[:, None] * self.dense  # [P, D]
        border = sparse.T @ weighted  # [K, D]
        border[self.places] = self.dense.T @ weighted
        table[:, self.places] = border
        table[self.places] = border.T
        return table


def initial_weights(bodies: int) -> Floats:
    """Weights for K bodies by which the most confident rule alone decides: [K + 5]."""
    weights = np.zeros(bodies + EXTRA_INPUTS)
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
    cells = _sorted_by_query(features.cells(starts, features.all_keys(starts) if dense else true))
    is_true = among(starts[cells.query] * graph.n + cells.candidate, true)
    cells = replace(cells, groundings=leave_answer_out(cells, is_true, features))
    # A fact must not count for the rules that fire for it, nor for its own answer's popularity.
    c = scorer.smoothing
    own = (is_true, features.leave_one_out_confidence(c))
    best = best_confidences(cells.groundings, features.confidence(c), scorer.depth, own)
    popularity = features.answers[cells.candidate] - is_true
    if not dense and not features.scores_all_answers:
        # Candidates without a cell score 0, so a fact that no rule fires for must have nothing either.
        popularity *= np.diff(cells.groundings.indptr) > 0
    expected = (features.expected(c), (is_true, features.leave_one_out_expected(c)))
    shares = np.zeros((len(is_true), 2)) if dense else answer_shares(cells, *expected)
    inputs = FiredRules(cells.groundings, best, popularity, shares, dense).inputs()
    others = graph.n - np.bincount(cells.query, minlength=len(starts)).astype(float)
    loss = RankingLoss(inputs, cells.query, is_true, others)
    weights, found = initial_weights(len(features.bodies)), []
    for penalty in config.penalties:
        # The weight of the best rules is hardly penalised; but where they alone tell true from false, it must
        # not grow for ever. Shares say nearly the same: as cheap, both would grow, one against the other.
        price = penalty * np.array([*map(_penalty_factor, features.bodies), 0.01, 1e-6, 0.01, 0.1, 0.1])
        weights = fit_weights(
            loss,
            price,
            weights,
            non_negative=config.non_negative,
            pairs=_HESSIAN_PRODUCTS,
            tolerance=tolerance,
        )
        found.append(weights)
    return found


def leave_answer_out(cells: Cells, is_true: Bools, features: Features) -> csr_matrix:
    """The groundings of bodies over cells with the answer that is asked for left out: [P, K].

    A body that begins with the asked relation passes through the known answers of the
    start. When one of k answers is asked for, k - 1 are left to pass through, so that of the
    groundings for a false candidate (k - 1) / k remain on the average. No grounding for a
    true candidate contains that fact itself, so these stay.

    Parameters
    ----------
    cells
        Candidates of queries, all known answers among them.
    is_true
        [P], which of them are known answers.

    Examples
    --------
    >>> from andre.completion.directions import DirectionRules
    >>> from andre.completion.config import SizeConfig
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom
    >>> rows = ["h(a, b)", "h(a, c)", "s(b, e)", "s(c, e)", "s(a, e)"]
    >>> graph = Graph.of(FactBase.from_facts(map(parse_atom, rows)))
    >>> bodies = Body("path", (0, 1)), Body("path", (1,))
    >>> features = DirectionRules(0, bodies, np.ones(2), np.ones(2)).features(graph, SizeConfig(ranged=0))
    >>> cells = features.cells(np.array([0]), graph.keys(0, "train"))  # of h(a, ?): b, c, e
    >>> cells.groundings.toarray().tolist()
    [[0.0, 0.0], [0.0, 0.0], [2.0, 1.0]]
    >>> leave_answer_out(cells, np.array([True, True, False]), features).toarray()[2].tolist()
    [1.0, 1.0]
    """
    found = cells.groundings.astype(np.float64)
    leads_on = np.array(
        [
            isinstance(body, Body) and body.shape in {"path", "to"} and body.steps[0] == features.step
            for body in features.bodies
        ],
        dtype=np.bool_,
    )  # [K]
    known = np.bincount(cells.query[is_true], minlength=len(cells.starts))  # [Q]
    rest = np.where(is_true, 1.0, 1 - 1 / np.maximum(known, 1)[cells.query])  # [P]
    cell = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    through = leads_on[found.indices]
    found.data[through] *= rest[cell[through]]
    found.eliminate_zeros()
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
    if not dense and features.estimated_entries(starts).sum() > config.sizes.cells:
        starts = rng.permutation(starts)
        starts = starts[
            : max(1, int(np.searchsorted(np.cumsum(features.estimated_entries(starts)), config.sizes.cells)))
        ]
    return np.sort(starts)


def _sorted_by_query(cells: Cells) -> Cells:
    order = np.argsort(cells.query, kind="stable")
    return Cells(cells.starts, cells.query[order], cells.candidate[order], cells.groundings[order])


def _penalty_factor(body: Body | Rule) -> float:
    """Bodies of one literal are penalised less: often one relation of X and Y rules out all others."""
    return 0.1 if isinstance(body, Body) and len(body.steps) == 1 else 1.0
