"""Chains of three literals, found from sampled facts: only those that explain something are counted."""

from __future__ import annotations

from collections import Counter

import numpy as np
from scipy.sparse import csr_matrix, diags

from andre.learning.completion.bodies import Body
from andre.learning.completion.config import CompletionConfig
from andre.learning.completion.graph import Graph

__all__ = ["chain_groundings", "long_bodies"]


def long_bodies(graph: Graph, step: int, config: CompletionConfig) -> list[Body]:
    """The chains of three steps that connect most of some sampled facts of a target.

    For each fact, walks of two steps from its start meet single steps back
    from its end. The fact itself is no part of a walk.
    """
    pairs = graph.pairs(step, "train")
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if not config.chains or not len(pairs):
        return []
    rng = np.random.default_rng((config.seed, step))
    sampled = pairs[rng.choice(len(pairs), min(len(pairs), config.chain_facts), replace=False)]
    count, n = graph.n_steps, graph.n
    found: Counter[int] = Counter()
    for x, y in sampled.tolist():
        first = _without(graph.ends[x].reshape(count, n).tocsr(), y)  # [S, n], where z may be
        second = _without((first @ graph.ends).reshape(count * count, n).tocsr(), x)  # [S * S, n], w
        back = graph.ends[y].reshape(count, n).tocsr()  # [S, n], inverse steps into y
        meets = (second @ _without(back, x).T).tocoo()  # [S * S, S]
        last = (meets.col + len(graph.relations)) % count  # walked towards y
        found.update((meets.row.astype(np.int64) * count + last).tolist())
    chosen = [(code, times) for code, times in found.most_common(config.chains) if times >= config.support]
    return [Body("path", (code // count**2, code // count % count, code % count)) for code, _ in chosen]


def _without(matrix: csr_matrix, column: int) -> csr_matrix:
    coo = matrix.tocoo()
    keep = coo.col != column
    return csr_matrix((coo.data[keep], (coo.row[keep], coo.col[keep])), shape=matrix.shape)


def chain_groundings(graph: Graph, steps: tuple[int, ...]) -> csr_matrix:
    """[n, n], in how many ways a chain leads from X to Y over distinct constants; X = Y is not left out.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom
    >>> facts = FactBase.from_facts(map(parse_atom, ["p(a, b)", "p(b, c)", "p(c, d)", "p(d, c)"]))
    >>> chain_groundings(Graph.of(facts), (0, 0, 0)).toarray()[0].tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    matrices = [graph.steps[step] for step in steps]
    if len(steps) < 3:
        return matrices[0] if len(steps) == 1 else matrices[0] @ matrices[1]
    one, two, three = matrices
    inner = one @ two
    walks = (inner - diags(inner.diagonal(), format="csr")) @ three  # W is not X
    # Less those where Z is Y; of these, W = X is gone already.
    closed = np.asarray(two.multiply(three.T).sum(axis=1)).ravel()  # [n], ways from y over w back to y
    walks = walks - one @ diags(closed) + one.multiply(two.T).multiply(three)
    found = csr_matrix(walks)
    found.eliminate_zeros()
    return found
