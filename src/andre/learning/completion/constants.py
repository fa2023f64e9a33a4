"""Rules with constants: who has b(X, e) tends to have h(X, c)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from andre.learning.completion.bodies import Body
from andre.learning.completion.config import CompletionConfig
from andre.learning.completion.graph import Graph
from andre.learning.completion.pool import is_small, significance

__all__ = ["constant_bodies"]


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
