"""The pool: short bodies, enumerated exactly, and how often each is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from andre.learning.completion.bodies import Body
from andre.learning.completion.config import CompletionConfig
from andre.learning.completion.graph import Graph

__all__ = ["Counts", "Pool", "enumerate_bodies", "significance"]


@dataclass(frozen=True, eq=False)
class Pool:
    """Bodies that any relation may be defined by, with the groundings of each.

    A body is kept from X's side; seen from Y it is another one of the pool.
    """

    graph: Graph
    bodies: tuple[Body, ...]
    pairs: NDArray[np.int64]  #: [U], x * n + y of every pair that a body covers, ascending
    groundings: csr_matrix  #: [F, U], in how many ways a body covers a pair
    left_out: int  #: chains that did not fit

    def counts(self) -> Counts:
        """N_b and N_r of every body for every step."""
        graph, n = self.graph, self.graph.n
        covered = self.groundings.copy()
        covered.data[:] = 1
        x = (self.pairs // n).astype(np.int64)
        per_x = covered @ csr_matrix(
            (np.ones(len(x), dtype=np.float32), (np.arange(len(x)), x)), shape=(len(x), n)
        )  # [F, n]
        starts = np.zeros((n, graph.n_steps), dtype=np.float32)
        rows, columns = [], []
        for step in range(graph.n_steps):
            pairs = graph.pairs(step, "train")
            starts[pairs[:, 0], step] = 1
            flat = pairs[:, 0] * n + pairs[:, 1]
            at = np.searchsorted(self.pairs, flat)
            hit = at < len(self.pairs)
            hit[hit] = self.pairs[at[hit]] == flat[hit]
            rows.append(at[hit])
            columns.append(np.full(int(hit.sum()), step))
        row, column = np.concatenate(rows), np.concatenate(columns)
        facts = csr_matrix(
            (np.ones(len(row), dtype=np.float32), (row, column)), shape=(len(self.pairs), graph.n_steps)
        )
        everywhere = np.asarray(per_x.sum(axis=1)).ravel()
        own = np.array(
            [[step in body.steps and _is_direct(body) for step in range(graph.n_steps)] for body in self.bodies]
        )
        return Counts(
            n_b=np.asarray(per_x @ starts), n_r=(covered @ facts).toarray(), everywhere=everywhere, own=own
        )


def _is_direct(body: Body) -> bool:
    """Whether the body may hold the head atom itself."""
    return body.shape == "both" or len(body.steps) == 1


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each body is right, for each step as a target."""

    n_b: NDArray[np.float32]  #: [F, S], covered pairs whose start has an answer
    n_r: NDArray[np.float32]  #: [F, S], those of them that are facts
    everywhere: NDArray[np.float32]  #: [F], all covered pairs
    own: NDArray[np.bool_]  #: [F, S], bodies that hold the head atom itself


def significance(n_b: NDArray[np.float32], n_r: NDArray[np.float32], rate: float) -> NDArray[np.float64]:
    """How much better a body's own rate explains its pairs than the target's does, in nats.

    Large for bodies that speak for the head, and for those that speak against it.

    Examples
    --------
    >>> one = np.array([10.0], dtype=np.float32)
    >>> [round(float(significance(one, right * one, 0.5)[0]), 2) for right in (0.5, 1, 0)]
    [0.0, 6.93, 6.93]
    """
    b, r = n_b.astype(np.float64), n_r.astype(np.float64)
    share = np.clip(r / np.maximum(b, 1), 1e-9, 1 - 1e-9)
    rate = min(max(rate, 1e-9), 1 - 1e-9)
    return np.asarray(r * np.log(share / rate) + (b - r) * np.log((1 - share) / (1 - rate)))


def enumerate_bodies(graph: Graph, config: CompletionConfig) -> Pool:
    """All bodies of one and two literals over distinct variables, as far as memory goes."""
    steps, n = graph.steps, graph.n
    bodies: list[Body] = []
    found: list[tuple[NDArray[np.int64], NDArray[np.float32]]] = []

    def keep(body: Body, matrix: csr_matrix) -> None:
        coo = matrix.tocoo()
        apart = coo.row != coo.col
        if apart.any():
            bodies.append(body)
            found.append(
                (coo.row[apart].astype(np.int64) * n + coo.col[apart], coo.data[apart].astype(np.float32))
            )

    for step, matrix in enumerate(steps):
        keep(Body("path", (step,)), matrix)
    for one, two in combinations(range(graph.n_steps), 2):
        keep(Body("both", (one, two)), steps[one].multiply(steps[two]).tocsr())
    into = [np.asarray(step.sum(axis=0)).ravel() for step in steps]
    out = [np.asarray(step.sum(axis=1)).ravel() for step in steps]
    price = np.array([[float(i @ o) for o in out] for i in into])  # [S, S], walks of two steps
    taken, left_out = sum(len(pairs) for pairs, _ in found), 0
    for place in np.argsort(price, axis=None, kind="stable").tolist():
        first, second = divmod(place, graph.n_steps)
        if not price[first, second]:
            continue
        if taken + price[first, second] > config.cells:
            left_out += 1
            continue
        keep(Body("path", (first, second)), steps[first] @ steps[second])
        taken += len(found[-1][0])
    facts = [graph.pairs(step, "train") for step in range(graph.n_steps)]
    flat = [pairs[:, 0] * n + pairs[:, 1] for pairs in facts]
    pairs = np.unique(np.concatenate([*(keys for keys, _ in found), *flat]))
    return Pool(graph, tuple(bodies), pairs, _stack(found, pairs), left_out)


def _stack(
    found: Sequence[tuple[NDArray[np.int64], NDArray[np.float32]]], pairs: NDArray[np.int64]
) -> csr_matrix:
    rows = []
    for keys, values in found:
        at = np.searchsorted(pairs, keys)
        rows.append(csr_matrix((values, at, np.array([0, len(at)])), shape=(1, len(pairs))))
        rows[-1].sort_indices()
    if not rows:
        return csr_matrix((0, len(pairs)), dtype=np.float32)
    return vstack(rows, format="csr")
