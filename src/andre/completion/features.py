"""What fires where: the candidates of some queries, and the bodies that cover each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from andre.completion.bodies import Body, Covered
from andre.completion.chains import chain_groundings
from andre.completion.graph import Graph
from andre.facts import FactBase
from andre.inference import covered_heads
from andre.logic import Rule

__all__ = ["Cells", "Features", "LateFeatures", "covered_pairs", "distinct", "features_of", "members"]


@dataclass(frozen=True, eq=False)
class Cells:
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

    def table(self, starts: NDArray[np.int64], also: NDArray[np.int64] | None = None) -> Cells:
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
            new = also[~members(also, keys)]
            keys = np.concatenate([keys, new])
            part = vstack([part, csr_matrix((len(new), part.shape[1]), dtype=part.dtype)], format="csr")
        return Cells(starts, place[keys // self.n], keys % self.n, part)

    def confidence(self, smoothing: float) -> NDArray[np.float64]:
        """[K], N_r / (N_b + c)."""
        return self.n_r / np.maximum(self.n_b + smoothing, 1e-9)

    def confidence_apart(self, smoothing: float) -> NDArray[np.float64]:
        """[K], the same without one fact that the body is right about."""
        return np.maximum(self.n_r - 1, 0) / np.maximum(self.n_b - 1 + smoothing, 1e-9)


def distinct(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The keys of all parts, each once and ascending.

    Examples
    --------
    >>> distinct([np.array([3, 1]), np.array([1, 2])])
    array([1, 2, 3])
    """
    # By sorting: the hashes of np.unique take several times as long for many keys.
    keys = np.sort(_joined(parts, np.int64))
    new = np.ones(len(keys), dtype=np.bool_)
    new[1:] = keys[1:] != keys[:-1]
    return keys[new]


def members(keys: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which keys are among others, which are ascending.

    Examples
    --------
    >>> members(np.array([5, 1, 2]), np.array([1, 5, 7]))
    array([ True,  True, False])
    """
    if not len(others):
        return np.zeros(len(keys), dtype=np.bool_)
    at = np.minimum(np.searchsorted(others, keys), len(others) - 1)
    return np.asarray(others[at] == keys)


def covered_pairs(body: Body | Rule, graph: Graph, step: int, facts: FactBase) -> Covered:
    """What a body covers, seen from the side that a step asks from.

    Parameters
    ----------
    body
        Seen from that side already; a rule is turned to it.
    graph, facts
        The same training facts, as steps and as relations.
    step
        The target.
    """
    n = graph.n
    if isinstance(body, Rule):
        heads = covered_heads(body, facts)
        one, two = heads[(heads < n).all(axis=1)].T  # a constant that no fact has is no candidate
        keys = one * n + two if step < len(graph.relations) else two * n + one
        return np.sort(keys), np.ones(len(keys), dtype=np.float32)
    if body.shape in {"to", "from"}:
        by, end, c = body.steps
        other = graph.steps[graph.inverse(by)][end].indices.astype(np.int64)
        other = other[other != c]
        keys = np.sort(other * n + c if body.shape == "to" else c * n + other)
        return keys, np.ones(len(keys), dtype=np.float32)
    if body.shape == "both":
        one, two = (graph.steps[by] for by in body.steps)
        matrix = one.multiply(two)
    else:
        matrix = chain_groundings(graph, body.steps)
    matrix = matrix.tocsr()
    matrix.sort_indices()
    row = np.repeat(np.arange(n), np.diff(matrix.indptr))
    apart = row != matrix.indices
    return row[apart] * n + matrix.indices[apart], matrix.data[apart].astype(np.float32)


def features_of(
    bodies: Sequence[Body | Rule],
    graph: Graph,
    step: int,
    facts: FactBase,
    covered: Sequence[Covered] | None = None,
    keys: NDArray[np.int64] | None = None,
) -> Features:
    """Count bodies for a target and put the most confident first.

    Parameters
    ----------
    bodies
        Seen from the side that the step asks from.
    graph, facts
        The training facts.
    step
        The target.
    covered
        What each body covers, where that is known.
    keys
        All pairs that any body covers, ascending, where they are known.
    """
    n = graph.n
    found = [covered_pairs(body, graph, step, facts) for body in bodies] if covered is None else covered
    if keys is None:
        keys = distinct([pairs for pairs, _ in found])
    ends = np.cumsum([0, *(len(pairs) for pairs, _ in found)])
    column = [np.searchsorted(keys, pairs) for pairs, _ in found]
    groundings = csr_matrix(
        (_joined([values for _, values in found], np.float32), _joined(column, np.int64), ends),
        shape=(len(bodies), len(keys)),
    )
    pairs = graph.pairs(step, "train")
    is_start = np.zeros(n, dtype=np.float64)
    is_start[pairs[:, 0]] = 1
    ones = groundings.copy()
    ones.data = np.ones(len(ones.data))
    n_b = ones @ is_start[keys // n]
    n_r = ones @ members(keys, np.sort(pairs[:, 0] * n + pairs[:, 1])).astype(np.float64)
    order = np.argsort(-n_r / (n_b + 5), kind="stable")
    return Features(
        step=step,
        n=n,
        bodies=tuple(bodies[at] for at in order.tolist()),
        n_b=n_b[order],
        n_r=n_r[order],
        keys=keys,
        groundings=groundings[order],
        answers=np.bincount(pairs[:, 1], minlength=n).astype(np.float64),
    )


class LateFeatures(Mapping[int, Features]):
    """The features of every step, worked out when it is first asked about: a query needs one step only.

    Parameters
    ----------
    bodies
        By step.
    graph, facts
        The same facts, as steps and as relations.
    """

    def __init__(self, bodies: Mapping[int, Sequence[Body | Rule]], graph: Graph, facts: FactBase) -> None:
        self._bodies, self._graph, self._facts = bodies, graph, facts
        self._found: dict[int, Features] = {}

    def __getitem__(self, step: int) -> Features:
        if step not in self._found:
            self._found[step] = features_of(self._bodies[step], self._graph, step, self._facts)
        return self._found[step]

    def __iter__(self) -> Iterator[int]:
        return iter(self._bodies)

    def __len__(self) -> int:
        return len(self._bodies)


def _joined(parts: Sequence[NDArray[Any]], kind: type) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype=kind), *parts])
