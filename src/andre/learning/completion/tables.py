"""What fires where: the candidates of some queries, and the bodies that cover each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from andre.evaluation.coverage import covered_heads
from andre.facts import FactBase
from andre.learning.completion.bodies import Body, to_rule
from andre.learning.completion.config import CompletionConfig
from andre.learning.completion.constants import constant_bodies
from andre.learning.completion.graph import Graph
from andre.learning.completion.pool import Counts, Pool, significance
from andre.logic import Rule

__all__ = ["Features", "Table", "choose_features"]


@dataclass(frozen=True, eq=False)
class Table:
    """Cells (query, candidate), and how each body covers each cell."""

    starts: NDArray[np.int64]  #: [Q], the constant that each query asks from
    query: NDArray[np.int64]  #: [P], position in starts
    candidate: NDArray[np.int64]  #: [P], code of a constant
    groundings: csr_matrix  #: [P, K], columns in the order of the features

    def spread(self, values: NDArray[np.float64], other: float, n: int) -> NDArray[np.float64]:
        """[Q, n], the values of the cells, and one value for candidates without a cell."""
        wide = np.full((len(self.starts), n), other)
        wide[self.query, self.candidate] = values
        return wide


@dataclass(frozen=True, eq=False)
class Features:
    """The bodies of one step as a target, the most confident first."""

    step: int
    n: int
    bodies: tuple[Body | Rule, ...]  #: seen from the side of the query
    n_b: NDArray[np.float64]  #: [K]
    n_r: NDArray[np.float64]  #: [K]
    keys: NDArray[np.int64]  #: [U], x * n + y, ascending
    groundings: csr_matrix  #: [K, U]
    answers: NDArray[np.float64]  #: [n], how many training facts lead to each constant

    def table(self, starts: NDArray[np.int64], also: NDArray[np.int64] | None = None) -> Table:
        """The cells of some queries: what any body covers, and the pairs `also` (as keys)."""
        place = np.full(self.n, -1)
        place[starts] = np.arange(len(starts))
        inside = np.flatnonzero(place[self.keys // self.n] >= 0)
        part = self.groundings[:, inside].T.tocsr()  # [P, K]
        part.sort_indices()
        keys = self.keys[inside]
        fires = np.diff(part.indptr) > 0
        keys, part = keys[fires], part[fires]
        if also is not None:
            new = np.setdiff1d(also, keys)
            keys = np.concatenate([keys, new])
            part = vstack([part, csr_matrix((len(new), part.shape[1]), dtype=part.dtype)], format="csr")
        return Table(starts, place[keys // self.n], keys % self.n, part)

    def confidence(self, smoothing: float) -> NDArray[np.float64]:
        """[K], N_r / (N_b + c)."""
        return self.n_r / np.maximum(self.n_b + smoothing, 1e-9)


def choose_features(
    pool: Pool, counts: Counts, step: int, config: CompletionConfig, facts: FactBase, extra: Sequence[Rule]
) -> Features:
    """Take the bodies that say most about a target: by significance, by confidence, and those given."""
    graph = pool.graph
    pairs = graph.pairs(step, "train")
    rate = len(pairs) / max(1, len(np.unique(pairs[:, 0])) * graph.n)
    n_b, n_r = counts.n_b[:, step], counts.n_r[:, step]
    gain = significance(n_b, n_r, rate)
    sure = n_r / (n_b + 5)
    usable = ~counts.own[:, step] & (n_b > 0) & ((n_r >= config.support) | (n_r < rate * n_b))
    gain[~usable], sure[~usable] = -1, -1
    sure[n_r < config.support] = -1
    ids = np.union1d(_top(gain, config.bodies), _top(sure, config.bodies))
    own = _own(graph, step, config, facts, extra)
    starts = np.zeros(graph.n, dtype=np.bool_)
    starts[pairs[:, 0]] = True
    true = np.sort(pairs[:, 0] * graph.n + pairs[:, 1])
    own_b = [float(starts[keys // graph.n].sum()) for _, keys in own]
    own_r = [float(np.isin(keys, true).sum()) for _, keys in own]
    all_b, all_r = np.append(n_b[ids].astype(float), own_b), np.append(n_r[ids].astype(float), own_r)
    order = np.argsort(-all_r / (all_b + 5), kind="stable")
    keys = np.unique(np.concatenate([pool.pairs, *(found for _, found in own)])) if own else pool.pairs
    shared = pool.groundings[ids]
    rows = [csr_matrix((shared.data, np.searchsorted(keys, pool.pairs)[shared.indices], shared.indptr),
                       shape=(len(ids), len(keys)))]  # fmt: skip
    for _, found in own:
        at = np.searchsorted(keys, found)
        rows.append(csr_matrix((np.ones(len(at), dtype=np.float32), at, [0, len(at)]), shape=(1, len(keys))))
    bodies = [*(pool.bodies[at] for at in ids.tolist()), *(body for body, _ in own)]
    answers = np.bincount(pairs[:, 1], minlength=graph.n).astype(float)
    return Features(
        step, graph.n, tuple(bodies[at] for at in order.tolist()), all_b[order], all_r[order], keys,
        vstack(rows, format="csr")[order], answers,
    )  # fmt: skip


def _top(values: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    order = np.argsort(-values, kind="stable")[:most]
    return order[values[order] > 0]


def _own(
    graph: Graph, step: int, config: CompletionConfig, facts: FactBase, extra: Sequence[Rule]
) -> list[tuple[Body | Rule, NDArray[np.int64]]]:
    """Bodies of this target alone, with the pairs that each covers, seen from the query."""
    found: list[tuple[Body | Rule, NDArray[np.int64]]] = []
    n = graph.n
    for body in constant_bodies(graph, step, config):
        by, end, c = body.steps
        x = graph.steps[graph.inverse(by)][end].indices.astype(np.int64)
        found.append((body, np.sort(x[x != c] * n + c)))
    for body in constant_bodies(graph, graph.inverse(step), config):
        by, end, c = body.steps
        x = graph.steps[graph.inverse(by)][end].indices.astype(np.int64)
        found.append((Body("from", body.steps), np.sort(c * n + x[x != c])))
    known = {to_rule(body, graph.relations[step % len(graph.relations)], graph, facts) for body, _ in found
             if isinstance(body, Body)}  # fmt: skip
    for rule in extra:
        if rule.head.predicate != graph.relations[step % len(graph.relations)] or rule in known:
            continue
        heads = covered_heads(rule, facts)
        if len(heads):
            one, two = heads.T if step < len(graph.relations) else heads.T[::-1]
            found.append((rule, np.unique(one * n + two)))
    return found
