"""Scores of candidates from the rules that fire for them, and the filtered ranks of true answers.

Aggregation makes one score of many rules: by the maximum of their confidences,
by noisy-or, or by weights that are learned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from scipy.sparse import csr_matrix, hstack

from andre.arrays import Bools, Floats, Ints, blocks_of, number_keys
from andre.completion.features import Cells, Features
from andre.completion.graph import Graph
from andre.evaluation import Negatives, Ranks, all_but_drawn, filtered_ranks, lexicographic_keys
from andre.facts import MARKS
from andre.limits import check

Aggregator: TypeAlias = Literal["maximum", "noisy-or", "weights"]

#: Features of a candidate beside those that come from one body each.
EXTRA_INPUTS = 5
#: What is added to a share before its logarithm is taken.
_LEAST_SHARE = 1e-3
#: What is taken off the score of candidates without any evidence: more than weights add up to.
_BEHIND = 1e4

#: What weights are multiplied with, [P, K + 5], dense or sparse.
WeightInputs: TypeAlias = Floats | csr_matrix


def best_confidences(
    groundings: csr_matrix, confidence: Floats, depth: int, own: tuple[Bools, Floats] | None = None
) -> Floats:
    """The highest confidences among the rules that fire for each cell, descending: [P, depth].

    Zero where fewer rules fire.

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

    Examples
    --------
    >>> fires = csr_matrix([[1, 1, 1, 0], [0, 0, 0, 1]])
    >>> best_confidences(fires, np.array([0.2, 0.1, 0.4, 0.3]), 2).tolist()
    [[0.4, 0.2], [0.3, 0.0]]
    """
    if not groundings.has_sorted_indices:
        groundings = groundings.sorted_indices()
    kinds = confidence[None] if own is None else np.stack([confidence, own[1]])  # [1 or 2, K]
    kind = np.zeros(groundings.shape[0], dtype=np.int64) if own is None else own[0].astype(np.int64)  # [P]
    # The highest confidence from each column on. Columns stand in the order of confidence at one smoothing,
    # at another the order differs a little: a row is read until nothing better can follow.
    rest = np.maximum.accumulate(kinds[:, ::-1], axis=1)[:, ::-1]  # [1 or 2, K]
    fires = np.diff(groundings.indptr)  # [P]
    best = np.zeros((len(fires), depth))
    # Few rules fire for most cells of a large base: reading more places than there are would take most time.
    waiting, reach = np.flatnonzero(fires), 1
    while len(waiting):
        ready = fires[waiting] <= reach if reach < 4 * depth else np.ones(len(waiting), dtype=np.bool_)
        cells, waiting = waiting[ready], waiting[~ready]
        at = groundings.indptr[cells, None] + np.arange(reach)  # [some P, reach]
        inside = at < groundings.indptr[cells + 1, None]
        rule = groundings.indices[np.minimum(at, groundings.nnz - 1)]  # [some P, reach]
        values = np.where(inside, kinds[kind[cells, None], rule], 0.0)
        best[cells, :reach] = values if reach == 1 else -np.sort(-values, axis=1)[:, :depth]
        more = np.flatnonzero(fires[cells] > reach)
        follows = groundings.indices[groundings.indptr[cells[more]] + reach]
        more = more[best[cells[more], -1] < rest[kind[cells[more]], follows]]
        waiting, reach = np.concatenate([waiting, cells[more]]), depth if reach < depth else 4 * reach
    return best


def answer_shares(cells: Cells, expected: Floats, own: tuple[Bools, Floats] | None = None) -> Floats:
    """What the rules that fire for each cell expect of its query, shared out among the candidates: [P, 2].

    A rule that is right about one answer in two queries expects half an answer of
    a query, whether it covers two candidates there or two hundred. Each of them
    has a share by the ways in which the rule covers it. The largest share of a cell comes
    first, then the chance that one of all its shares is right.

    Parameters
    ----------
    expected
        [K], facts that every rule is right about in a query.
    own
        Cells with expectations of their own, [P], and these, [K].

    Examples
    --------
    >>> covers = csr_matrix(np.array([[1, 1], [1, 0], [0, 3]]))
    >>> cells = Cells(np.array([7]), np.zeros(3, dtype=np.int64), np.arange(3), covers)
    >>> answer_shares(cells, np.array([0.5, 0.8])).round(3).tolist()
    [[0.25, 0.4], [0.25, 0.25], [0.6, 0.6]]
    """
    covers = cells.groundings
    cell = np.repeat(np.arange(covers.shape[0]), np.diff(covers.indptr))
    _, pair = number_keys(
        cells.query[cell] * covers.shape[1] + covers.indices, len(cells.starts) * covers.shape[1]
    )
    ways = np.bincount(pair, covers.data)
    values = expected[covers.indices]
    if own is not None:
        values = np.where(own[0][cell], own[1][covers.indices], values)
    share = values * covers.data / ways[pair]
    found = np.zeros((covers.shape[0], 2))
    fires = np.flatnonzero(np.diff(covers.indptr))
    if len(fires):
        found[fires, 0] = np.maximum.reduceat(share, covers.indptr[fires])
        wrong = np.add.reduceat(np.log1p(-np.minimum(share, 1 - 1e-6)), covers.indptr[fires])
        found[fires, 1] = -np.expm1(wrong)
    return found


@dataclass(frozen=True, eq=False)
class FiredRules:
    """The rules that fire for some candidates (cells), and what is known of these candidates."""

    groundings: csr_matrix  #: [P, K], in how many ways each body covers each cell
    best: Floats  #: [P, depth], the highest confidences, descending
    popularity: Floats  #: [P], how many training facts have this answer
    shares: Floats  #: [P, 2], the largest share in what a rule expects of the query, and noisy-or of all
    dense: bool  #: whether every candidate has a cell, not only those that a rule fires for

    def inputs(self) -> WeightInputs:
        """The features of a linear model, [P, K + 5].

        They are log(1 + groundings) of every body, noisy-or, the best rules, the
        popularity of the answer, and its shares; sparse where few bodies cover a cell.
        """
        logs, last = self._log_groundings(), self._extra_inputs()
        if not self.dense:
            return hstack([logs, csr_matrix(last)], format="csr")
        wide = np.empty((logs.shape[0], logs.shape[1] + EXTRA_INPUTS))
        wide[:, :-EXTRA_INPUTS] = logs.toarray()
        wide[:, -EXTRA_INPUTS:] = last
        return wide

    def weighted(self, weights: Floats) -> Floats:
        """These features times the weights, [P], without a table of them.

        What fires alike scores alike to the last bit: every row is summed in one
        order. Scores closer than what learned weights are settled to count as equal.
        """
        count = self.groundings.shape[1]
        own = weights[count:]  # runs of older versions have fewer
        others = (self._extra_inputs()[:, : len(own)] * own).sum(axis=1)
        return np.asarray((self._log_groundings() @ weights[:count] + others).round(6))

    def _log_groundings(self) -> csr_matrix:
        """log(1 + groundings) of every body: [P, K]."""
        logs = self.groundings.astype(np.float64)
        logs.data = np.log1p(logs.data)
        return logs

    def _extra_inputs(self) -> Floats:
        """What does not come from one body alone: [P, 5]."""
        last = np.empty((self.groundings.shape[0], EXTRA_INPUTS))
        # In large bases, where few rules fire, validation facts ranked a little worse with it.
        last[:, 0] = _noisy_or(self) if self.dense else 0
        # The best rule decides, the next ones break ties: the start that weights improve on.
        scale = 1e-3 ** np.arange(self.best.shape[1])
        last[:, 1] = np.log((self.best * scale).sum(axis=1) + 0.01) - np.log(0.01)
        last[:, 2] = np.log1p(self.popularity)
        # In small bases, where every candidate is scored, validation facts ranked no better with them.
        last[:, 3:] = 0 if self.dense else np.log(self.shares + _LEAST_SHARE) - np.log(_LEAST_SHARE)
        return last


def _maximum(fired: FiredRules, _: Floats | None = None) -> Floats:
    """Order cells by their best rule, then by the next best, and last by popularity: [P].

    Examples
    --------
    >>> best, none = np.array([[0.5, 0.1], [0.5, 0.2], [0.0, 0.0]]), csr_matrix((3, 2))
    >>> _maximum(FiredRules(none, best, np.zeros(3), np.zeros((3, 2)), dense=False))
    array([2., 3., 0.])
    """
    order = lexicographic_keys(np.column_stack([fired.best, fired.popularity])).astype(np.float64)
    return np.where(fired.best[:, 0] > 0, 1.0 + order, 0.0)


def _noisy_or(fired: FiredRules, _: Floats | None = None) -> Floats:
    """Minus the log of the probability that all of the best rules fail: [P].

    In logs, and over few rules: a product over all of them rounds to one for
    every candidate.

    Examples
    --------
    >>> best, none = np.array([[0.5, 0.5], [0.5, 0.0]]), csr_matrix((2, 2))
    >>> _noisy_or(FiredRules(none, best, np.zeros(2), np.zeros((2, 2)), dense=False)).round(3)
    array([1.386, 0.693])
    """
    return np.asarray(-np.log1p(-np.minimum(fired.best, 1 - 1e-9)).sum(axis=1))


def _weighted(fired: FiredRules, weights: Floats | None = None) -> Floats:
    """The linear score of each cell by learned weights: [P]."""
    assert weights is not None
    return fired.weighted(weights)


@dataclass(frozen=True)
class Aggregation:
    """A way to make one score of the rules that fire."""

    scores: Callable[
        [FiredRules, Floats | None], Floats
    ]  #: [P] of some cells, given weights where it has any
    learned: bool = False  #: whether it has weights to learn, and scores candidates without a rule too


#: All aggregators. A new one is an entry here, and its name in `Aggregator` above.
AGGREGATIONS: Mapping[Aggregator, Aggregation] = {
    "maximum": Aggregation(_maximum),
    "noisy-or": Aggregation(_noisy_or),
    "weights": Aggregation(_weighted, learned=True),
}


@dataclass(frozen=True, eq=False)
class Scorer:
    """How candidates are scored: an aggregator with all its parameters."""

    aggregator: Aggregator
    smoothing: float  #: the c of confidences N_r / (N_b + c)
    depth: int  #: rules that the maximum and noisy-or look at
    penalty: float | None = None  #: L2 penalty of the weights, where they are learned
    weights: Mapping[int, Floats] = field(default_factory=dict)  #: [K + 5] by step
    table: int = 40_000_000  #: `SizeConfig.table`, up to which every candidate is scored
    #: Steps where every candidate is scored, as it was when weights were learned; None goes by the size.
    dense: tuple[int, ...] | None = None

    def is_dense(self, features: Features) -> bool:
        """Whether every candidate is scored, not only those that a rule fires for."""
        if self.dense is not None:
            return features.step in self.dense
        entries = features.n**2 * max(1, len(features.bodies))
        return AGGREGATIONS[self.aggregator].learned and entries <= self.table

    def scores(self, features: Features, starts: Ints) -> Floats:
        """The score of every constant as an answer to the queries from these constants: [Q, n].

        A constant may be asked from several times; it is scored once.
        """
        starts, query = np.unique(starts, return_inverse=True)
        (scores,) = scores_by(features, [self], starts)
        return scores[query]


def scores_by(features: Features, scorers: Sequence[Scorer], starts: Ints) -> Iterator[Floats]:
    """The scores of queries from distinct constants by each of some scorers: [Q, n].

    What the bodies cover is found once. What no training fact has as an answer comes
    behind all others, unless a rule that was ever right fires for it. See `Scorer.scores`.
    """
    unknown = features.answers == 0  # [n]
    apart = features.tie_breaks - _BEHIND * unknown  # [n]
    cells: dict[bool, Cells] = {}
    best: dict[tuple[bool, float, int], Floats] = {}
    shares: dict[tuple[bool, float, int], Floats] = {}
    none = np.zeros((0, 2))
    for scorer in scorers:
        check()
        dense = scorer.is_dense(features)
        if dense not in cells:
            cells[dense] = features.cells(starts, features.all_keys(starts) if dense else None)
        found, way = cells[dense], (dense, scorer.smoothing, scorer.depth)
        if way not in best:
            confidence = features.confidence(scorer.smoothing)
            best[way] = best_confidences(found.groundings, confidence, scorer.depth)
        if AGGREGATIONS[scorer.aggregator].learned and not dense and way not in shares:
            shares[way] = answer_shares(found, features.expected(scorer.smoothing))
        popularity = features.answers[found.candidate]
        fired = FiredRules(found.groundings, best[way], popularity, shares.get(way, none), dense)
        values = AGGREGATIONS[scorer.aggregator].scores(fired, scorer.weights.get(features.step))
        # Where rules are evidence against candidates, those without any evidence must not come out on top.
        lacking = unknown[found.candidate] & ~(found.groundings @ (features.n_r > 0) > 0)  # [P]
        values = values + features.tie_breaks[found.candidate] - _BEHIND * lacking
        yield found.to_matrix(values, apart)


def rank_facts(
    graph: Graph,
    features: Mapping[int, Features],
    scorer: Scorer,
    mark: str,
    *,
    levels: bool = True,
    block: int = 20_000_000,
    negatives: Negatives | None = None,
) -> dict[int, Ranks]:
    """Filtered ranks of the facts of one mark, by step, in the order of `Graph.pairs`.

    Test facts are filtered from test queries only: others must not read them.

    Parameters
    ----------
    levels
        Whether distinct scores are counted, as for `filtered_ranks`.
    block
        Scores (queries x candidates) that are held at a time.
    negatives
        How many candidates are drawn to rank each fact among; by default it is ranked among all.
    """
    found = {}
    for step in range(graph.n_steps):
        if len(graph.pairs(step, mark)):
            (found[step],) = rank_step(
                graph,
                step,
                features.get(step),
                [scorer],
                mark,
                levels=levels,
                block=block,
                negatives=negatives,
            )
    return found


def rank_step(  # noqa: PLR0913  (whose facts, by which scorers, among which candidates)
    graph: Graph,
    step: int,
    features: Features | None,
    scorers: Sequence[Scorer],
    mark: str,
    *,
    levels: bool = True,
    block: int = 20_000_000,
    negatives: Negatives | None = None,
    part: slice = slice(None),
) -> list[Ranks]:
    """Filtered ranks of (a part of) the facts of one mark that a step follows, by each scorer.

    See `rank_facts`.
    """
    pairs = graph.pairs(step, mark)[part]
    filters = graph.known(step, MARKS if mark == "test" else ("train", "valid"))
    starts, query = np.unique(pairs[:, 0], return_inverse=True)
    order = np.argsort(query, kind="stable")
    first = np.searchsorted(query[order], np.arange(len(starts) + 1))  # of the queries from each start
    parts: list[list[Ranks]] = [[] for _ in scorers]
    seed = None if negatives is None else [negatives.seed, step]
    draws = [np.random.default_rng(seed) for _ in scorers]  # the same candidates for all
    at_once = max(1, block // graph.n)  # queries
    for low, high in _blocks(starts, features, graph.n, block):
        check()
        every: Iterable[Floats] = (
            (np.zeros((high - low, graph.n)) for _ in scorers)
            if features is None
            else scores_by(features, scorers, starts[low:high])
        )
        for own, rng, scores in zip(parts, draws, every, strict=True):
            for begin in range(first[low], first[high], at_once):
                some = order[begin : min(begin + at_once, first[high])]
                asked, answer = pairs[some].T
                known = filters[asked].toarray()
                if negatives is not None:
                    known = all_but_drawn(known, answer, negatives.count, rng)
                own.append(filtered_ranks(scores[query[some] - low], answer, known, levels=levels))
    return [Ranks.concat(own).take(np.argsort(order)) for own in parts]


def _blocks(starts: Ints, features: Features | None, n: int, block: int) -> Iterator[tuple[int, int]]:
    """Starts in blocks (begin, end) whose scores, and the entries that they come from, can be held."""
    load = np.full(len(starts), n) if features is None else np.maximum(features.estimated_entries(starts), n)
    yield from blocks_of(load.astype(np.int64), block)
