"""Weights of rules, learned by a softmax over the candidates of each query."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import expit

from andre.arrays import Bools, Floats, Ints
from andre.completion.bodies import Body
from andre.completion.config import CompletionConfig
from andre.completion.features import Cells, Features, members
from andre.completion.graph import Graph
from andre.completion.scoring import BESIDE, Fired, Scorer, WeightInputs, best_confidences, shares_of
from andre.logic import Rule
from andre.newton import TOLERANCE, fit_weights

#: Products up to which a table of second derivatives is made: long chains overlap much, and conjugate
#: gradients then take several times as long.
_PAIRS = 300_000_000


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

    @cached_property
    def _columns(self) -> _Columns | None:
        return None if isinstance(self.inputs, np.ndarray) else _Columns.of(self.inputs)

    def curvature(self, weights: Floats) -> Curvature:
        """The second derivatives of the loss at some weights."""
        at, (first, asked) = self._softmax(weights), self._firsts
        spread = np.zeros(len(self.query))  # [P]
        spread[self._at] = at.pull * (1 - at.pull)
        pulls = at.pulls[asked]  # [Q with cells]
        sizes = np.diff(first, append=len(self.query))
        return Curvature(
            inputs=self.inputs,
            columns=self._columns,
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
    columns: _Columns | None  #: the same, where they are sparse
    first: NDArray[np.intp]  #: [Q], where the cells of each query begin
    place: NDArray[np.intp]  #: [P], the query of each cell
    share: Floats  #: [P]
    spread: Floats  #: [P]
    mass: Floats  #: [P]
    bend: Floats  #: [Q]

    def table(self) -> Floats:
        """All of them: [K, K]."""
        counts = np.flatnonzero(self.mass > 1e-14 * self.mass.max())  # most candidates are out of the race
        squares = self._weighted_squares(counts)
        mean, facts = (self._by_query(values) for values in (self.share, self.spread))  # [Q, K]
        cross = mean.T @ (facts - self.bend[:, None] / 2 * mean)  # [K, K]
        return np.asarray(squares - cross - cross.T)

    def _weighted_squares(self, cells: NDArray[np.intp]) -> Floats:
        """The products of all pairs of columns, summed over some cells by their mass: [K, K]."""
        if self.columns is None:
            scaled = np.sqrt(self.mass[cells])[:, None] * self.inputs[cells]  # [some P, K]
            return np.asarray(scaled.T @ scaled)
        return self.columns.take(cells).squares(self.mass[cells])

    def _by_query(self, values: Floats) -> Floats:
        """The cells of each query added up by some values, [P], most of which may be zero: [Q, K]."""
        cells = np.flatnonzero(values)
        ends = np.searchsorted(cells, np.append(self.first, len(values)))
        shape = len(self.first), len(values)
        found = csr_matrix((values[cells], cells, ends), shape) @ (
            self.inputs if self.columns is None else self.columns.thin
        )
        if self.columns is None:
            return np.asarray(found)
        wide = np.add.reduceat(values[:, None] * self.columns.wide, self.first, axis=0)  # [Q, W]
        table: Floats = found.toarray()
        table[:, self.columns.at] = wide
        return table

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


@dataclass(frozen=True, eq=False)
class _Columns:
    """A sparse table whose full columns stand apart: pairs of them make up most products of its columns.

    Examples
    --------
    >>> found = _Columns.of(csr_matrix(np.array([[0.0, 2.0], [1.0, 3.0], [0.0, 1.0]])))
    >>> found.at.tolist(), found.squares(np.ones(3)).tolist()
    ([1], [[1.0, 3.0], [3.0, 14.0]])
    """

    thin: csr_matrix  #: [P, K], nothing in full columns
    wide: Floats  #: [P, W], the full columns
    at: NDArray[np.intp]  #: [W], their places

    @classmethod
    def of(cls, inputs: csr_matrix) -> _Columns:
        """Set the columns apart that most rows have an entry in."""
        filled = np.bincount(inputs.indices, minlength=inputs.shape[1])
        at = np.flatnonzero(2 * filled > inputs.shape[0])
        is_wide = np.zeros(inputs.shape[1], dtype=np.bool_)
        is_wide[at] = True
        kept = ~is_wide[inputs.indices]  # [E]
        ends = np.concatenate([[0], np.cumsum(kept)])[inputs.indptr]
        thin = csr_matrix((inputs.data[kept], inputs.indices[kept], ends), inputs.shape)
        return cls(thin, inputs[:, at].toarray(), at)

    def take(self, rows: NDArray[np.intp]) -> _Columns:
        """Some rows, ascending."""
        return self if len(rows) == len(self.wide) else _Columns(self.thin[rows], self.wide[rows], self.at)

    def squares(self, mass: Floats) -> Floats:
        """The products of all pairs of columns, summed over rows by their mass: [K, K]."""
        thin = self.thin
        data = thin.data * np.repeat(mass, np.diff(thin.indptr))  # [E]
        table: Floats = (thin.T @ csr_matrix((data, thin.indices, thin.indptr), thin.shape)).toarray()
        weighted = mass[:, None] * self.wide  # [P, W]
        edge = thin.T @ weighted  # [K, W]
        edge[self.at] = self.wide.T @ weighted
        table[:, self.at] = edge
        table[self.at] = edge.T
        return table


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
    cells = replace(cells, groundings=without_asked(cells, is_true, features))
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
        # Shares say nearly the same there: were they as cheap, both would grow, one against the other.
        price = penalty * np.array([*map(_price, features.bodies), 0.01, 1e-6, 0.01, 0.1, 0.1])
        weights = fit_weights(
            loss, price, weights, non_negative=config.non_negative, pairs=_PAIRS, tolerance=tolerance
        )
        found.append(weights)
    return found


def without_asked(cells: Cells, is_true: Bools, features: Features) -> csr_matrix:
    """In how many ways bodies cover cells when an answer is asked for as if it were not known: [P, K].

    A body that begins with the asked relation leads on from the known answers of a
    start. When one of k answers is asked for, the others are left to begin with, and
    of the ways to a false candidate (k - 1) / k remain on the average. A fact is never among
    the ways to itself, so those to true candidates stay.

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
    >>> without_asked(cells, np.array([True, True, False]), features).toarray()[2].tolist()
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
