"""Rules with constants: who has b(X, e) tends to have h(X, c)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags

from andre.arrays import Floats, Ints, csr_starts, number_keys, ranges
from andre.completion.bodies import ANY, Body, csr_coordinates, row_entries
from andre.completion.config import CompletionPlan
from andre.completion.graph import Graph

#: The fewest starts that a rule with a constant must be right about.
_RIGHT = 3


def constant_bodies(graph: Graph, step: int, plan: CompletionPlan) -> list[Body]:
    """The most significant bodies of shape `to` for one step as a target: h(X, c) where b(X, e).

    All of them are counted together: of the starts that lead to c, how many lead
    to e by step b. In large bases, as many again say that step b leads anywhere.

    Examples
    --------
    >>> from andre.completion import CompletionConfig
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom
    >>> rows = [f"q({x}, yes)" for x in "abcd"] + [f"p({x}, one)" for x in "abcd"] + ["p(z, two)", "q(z, no)"]
    >>> graph = Graph.of(FactBase.from_facts(map(parse_atom, rows)))
    >>> constant_bodies(graph, 0, CompletionPlan.of(graph, CompletionConfig(constants=1)))[0].shape
    'to'
    """
    if not plan.constants:
        return []
    target, n = without_hubs(graph, step, plan.config.sizes.products), graph.n
    if not target.nnz:
        return []
    answers, starts = np.bincount(target.indices, minlength=n), np.count_nonzero(np.diff(target.indptr))
    found = []
    for literals, of_any in ((graph.ends, False), (graph.leads, True)):
        if of_any and not plan.any_constant:
            continue
        c, column, n_b, n_r = _held_together(target, literals, max(plan.config.support, _RIGHT))
        # The head atom itself, and its inverse in the other direction, are no evidence.
        keep = column != (step if of_any else step * n + c)
        c, column, n_b, n_r = c[keep], column[keep], n_b[keep], n_r[keep]
        rate = answers[c] / starts  # of c among all starts
        gain = significance(n_b, n_r, rate)
        gain[n_r <= rate * n_b] = -1  # other bodies are better evidence against a head
        for at in best_places(gain, plan.any_constant if of_any else plan.constants).tolist():
            literal = (int(column[at]), ANY) if of_any else divmod(int(column[at]), n)
            found.append(Body("to", (*literal, int(c[at]))))
    return found


def _held_together(target: csr_matrix, literals: csr_matrix, least: int) -> tuple[Ints, Ints, Floats, Floats]:
    """Pairs of an answer and a literal that at least `least` starts have in common.

    A product of sparse matrices would spend most time on columns that are empty.

    Parameters
    ----------
    target
        The answers of starts: [n, n].
    literals
        The literals that hold of them: [n, L].

    Returns
    -------
    tuple
        Answers and literals, how many starts have the literal, and how many both: [K] each.
    """
    starts = np.flatnonzero(np.diff(target.indptr))
    start, column = row_entries(literals, starts)
    distinct, literal = number_keys(column, literals.shape[1])
    n_b = np.bincount(literal, minlength=len(distinct))
    often = n_b[literal] >= least  # what few starts have, fewer have together with an answer
    start, literal = start[often], literal[often]
    asked, answer = csr_coordinates(target[starts])
    often = np.bincount(answer, minlength=target.shape[1])[answer] >= least
    asked, answer = asked[often], answer[often]
    first = csr_starts(start, len(starts))
    fact, at = ranges(first[asked], first[asked + 1])
    width = max(1, len(distinct))
    keys, n_r = np.unique(answer[fact] * width + literal[at], return_counts=True)
    keys, n_r = keys[n_r >= least], n_r[n_r >= least]
    place = keys % width
    return keys // width, distinct[place], n_b[place].astype(np.float64), n_r.astype(np.float64)


def without_hubs(graph: Graph, step: int, most: int) -> csr_matrix:
    """The adjacency matrix of a step, [n, n], without the starts that take most products to count.

    A start adds at most one to any count, but a hub with many answers and many
    other facts takes more products than all others together.
    """
    target = graph.steps[step]
    answers = np.diff(target.indptr).astype(np.int64)
    products = answers * graph.degrees  # [n]
    if products.sum() <= most:
        return target
    order = np.argsort(products, kind="stable")
    kept = np.zeros(graph.n, dtype=np.bool_)
    kept[order[np.cumsum(products[order]) <= most]] = True
    return csr_matrix(diags(kept.astype(np.float32)) @ target)


def significance(n_b: NDArray[np.floating], n_r: NDArray[np.floating], rate: float | Floats) -> Floats:
    """The log-likelihood ratio of a body's own rate against a base rate, in nats.

    Large for bodies that are evidence for the head, and for those that are evidence against it.

    Examples
    --------
    >>> one = np.array([10.0], dtype=np.float32)
    >>> [round(float(significance(one, right * one, 0.5)[0]), 2) for right in (0.5, 1, 0)]
    [0.0, 6.93, 6.93]
    """
    b, r = n_b.astype(np.float64), n_r.astype(np.float64)
    share = np.clip(r / np.maximum(b, 1), 1e-9, 1 - 1e-9)
    rate = np.clip(rate, 1e-9, 1 - 1e-9)
    return np.asarray(r * np.log(share / rate) + (b - r) * np.log((1 - share) / (1 - rate)))


def best_places(values: NDArray[np.floating], most: int) -> NDArray[np.intp]:
    """Places of the highest positive values."""
    order = np.argsort(-values, kind="stable")[:most]
    return order[values[order] > 0]
