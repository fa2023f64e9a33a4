"""The pool: short bodies, enumerated exactly, and how often each is right.

Rules with constants: who has b(X, e) tends to have h(X, c).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from andre.completion.bodies import Body, Covered, Shape
from andre.completion.config import CompletionConfig
from andre.completion.features import distinct
from andre.completion.graph import Graph

__all__ = ["BodyCounts", "BodyPool", "constant_bodies", "enumerate_bodies", "is_small", "significance"]


_DENSE = 10_000_000  # entries of all steps as whole matrices, up to which products are taken so


@dataclass(frozen=True, eq=False)
class BodyPool:
    """Bodies that any relation may be defined by, with the groundings of each.

    A body is kept from X's side; seen from Y it is another one of the pool.
    """

    graph: Graph
    bodies: tuple[Body, ...]
    pairs: NDArray[np.int64]  #: [U], x * n + y of every pair that a body covers, ascending
    groundings: csr_matrix  #: [F, U], in how many ways a body covers a pair
    left_out: int  #: chains that did not fit

    @cached_property
    def n_short(self) -> int:
        """How many bodies have one literal; they come first."""
        return sum(len(body.steps) == 1 for body in self.bodies)

    def counts(self) -> BodyCounts:
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
        own = np.zeros((len(self.bodies), graph.n_steps), dtype=np.bool_)
        for place, body in enumerate(self.bodies):
            if body.shape == "both" or len(body.steps) == 1:
                own[place, list(body.steps)] = True
        return BodyCounts(
            n_b=np.asarray(per_x @ starts), n_r=(covered @ facts).toarray(), everywhere=everywhere, own=own
        )


@dataclass(frozen=True, eq=False)
class BodyCounts:
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


def is_small(graph: Graph) -> bool:
    """Whether all steps fit in memory as whole matrices."""
    return graph.n**2 * graph.n_steps <= _DENSE


def enumerate_bodies(graph: Graph, config: CompletionConfig) -> BodyPool:
    """All bodies of one and two literals over distinct variables, as far as memory goes."""
    n, count = graph.n, graph.n_steps
    made = _dense_bodies(graph) if is_small(graph) else _sparse_bodies(graph, config)
    listed = list(made) if config.short else []
    left_out = sum(covered is None for _, covered in listed)
    found = [(body, covered) for body, covered in listed if covered is not None and len(covered[0])]
    facts = [graph.pairs(step, "train") for step in range(count)]
    keys = [*(covered[0] for _, covered in found), *(pairs[:, 0] * n + pairs[:, 1] for pairs in facts)]
    if n * n <= _DENSE:
        seen = np.zeros(n * n, dtype=np.bool_)
        for some in keys:
            seen[some] = True
        pairs = np.flatnonzero(seen)
        place = np.cumsum(seen) - 1
        columns = [place[some] for some in keys[: len(found)]]
    else:
        pairs = distinct(keys)
        columns = [np.searchsorted(pairs, some) for some in keys[: len(found)]]
    groundings = csr_matrix(
        (
            np.concatenate([np.zeros(0, dtype=np.float32), *(covered[1] for _, covered in found)]),
            np.concatenate([np.zeros(0, dtype=np.int64), *columns]),
            np.cumsum([0, *map(len, columns)]),
        ),
        shape=(len(found), len(pairs)),
    )
    return BodyPool(graph, tuple(body for body, _ in found), pairs, groundings, left_out)


def _dense_bodies(graph: Graph) -> Iterator[tuple[Body, Covered | None]]:
    """By whole matrices: in a small base most of a product is not zero."""
    count, n = graph.n_steps, graph.n
    steps = np.stack([step.toarray() for step in graph.steps])  # [S, n, n]

    def split(shape: Shape, firsts: Sequence[tuple[int, ...]], found: NDArray[np.float32]) -> Iterator[Any]:
        found[:, range(n), range(n)] = 0  # X and Y are distinct
        flat = found.reshape(len(found), n * n)
        body, key = flat.nonzero()
        values = flat[body, key]
        ends = np.searchsorted(body, np.arange(len(flat) + 1))
        for place, numbers in enumerate(firsts):
            inside = slice(ends[place], ends[place + 1])
            yield Body(shape, numbers), (key[inside], values[inside])

    yield from split("path", [(step,) for step in range(count)], steps.copy())
    for first in range(count):
        after = range(first + 1, count)
        yield from split("both", [(first, second) for second in after], steps[first] * steps[first + 1 :])
        yield from split("path", [(first, second) for second in range(count)], steps[first] @ steps)


def _sparse_bodies(graph: Graph, config: CompletionConfig) -> Iterator[tuple[Body, Covered | None]]:
    """By products of sparse matrices, the cheapest first; None for those that do not fit."""
    steps, n = graph.steps, graph.n

    def covered(matrix: csr_matrix) -> Covered:
        matrix.sort_indices()
        coo = matrix.tocoo()
        apart = coo.row != coo.col
        return coo.row[apart].astype(np.int64) * n + coo.col[apart], coo.data[apart].astype(np.float32)

    for step, matrix in enumerate(steps):
        yield Body("path", (step,)), covered(matrix)
    for one, two in combinations(range(graph.n_steps), 2):
        yield Body("both", (one, two)), covered(steps[one].multiply(steps[two]).tocsr())
    into = np.stack([np.asarray(step.sum(axis=0)).ravel() for step in steps])  # [S, n]
    out = np.stack([np.asarray(step.sum(axis=1)).ravel() for step in steps])  # [S, n]
    walks = into @ out.T  # [S, S]
    room = float(config.cells)
    for place in np.argsort(walks, axis=None, kind="stable").tolist():
        first, second = divmod(place, graph.n_steps)
        if walks[first, second] > room:
            yield Body("path", (first, second)), None
        elif walks[first, second]:
            found = covered(steps[first] @ steps[second])
            room -= len(found[0])
            yield Body("path", (first, second)), found


def constant_bodies(graph: Graph, step: int, config: CompletionConfig) -> list[Body]:
    """The most significant bodies of shape `to` for one step as a target.

    One product of sparse matrices counts all of them: of the starts that lead
    to c, how many lead to e by step b.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom
    >>> rows = [f"q({x}, yes)" for x in "abcd"] + [f"p({x}, one)" for x in "abcd"] + ["p(z, two)", "q(z, no)"]
    >>> graph = Graph.of(FactBase.from_facts(map(parse_atom, rows)))
    >>> constant_bodies(graph, 0, CompletionConfig(constants=1))[0].shape
    'to'
    """
    target, n = graph.steps[step], graph.n
    # Each covers few pairs: in a large base many are needed, in a small one bodies without constants do.
    most = config.constants if config.constants is not None else 30 if is_small(graph) else 300
    if not most or not target.nnz:
        return []
    right = (target.T @ graph.ends).tocoo()  # [n, S * n], c by (b, e)
    keep = right.data >= max(config.support, 3)
    # The head atom itself, and its inverse seen from the other side, are no evidence.
    keep &= right.col != step * n + right.row
    c, column, n_r = right.row[keep], right.col[keep], right.data[keep]
    if not len(c):
        return []
    has_answer = csr_matrix((np.diff(target.indptr) > 0).astype(np.float32))
    n_b = (has_answer @ graph.ends).toarray().ravel()[column]
    known = np.asarray(target.sum(axis=0)).ravel()[c]
    rate = known / has_answer.nnz  # of c among all starts
    gain = np.zeros(len(c))
    for value in np.unique(rate).tolist():
        same = rate == value
        gain[same] = significance(n_b[same], n_r[same], value)
    gain[n_r <= rate * n_b] = -1  # against its head, a constant says what others say better
    order = np.argsort(-gain, kind="stable")[:most]
    order = order[gain[order] > 0]
    return [Body("to", (int(column[at] // n), int(column[at] % n), int(c[at]))) for at in order.tolist()]
