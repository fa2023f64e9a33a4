"""Assumed facts: the likeliest answer where nothing is known yet, so that rules can build on it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from andre.completion.features import Features
from andre.completion.graph import Facts, Graph
from andre.completion.scoring import Scorer
from andre.facts import FactBase, Relation

__all__ = ["asked", "assume", "believed", "unanswered"]


_BLOCK = 20_000_000  # entries of a block of queries by candidates


def unanswered(graph: Graph) -> dict[int, NDArray[np.int64]]:
    """For each step the constants that it leads nowhere from, though it does from most of their kind.

    Constants are of one kind where the same other steps lead on from them.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> rows = ["near(a, b)", "near(b, c)", "near(c, a)", "near(d, a)", "in(a, k)", "in(b, k)", "in(c, k)"]
    >>> facts = FactBase.from_facts(map(parse_atom, rows))
    >>> graph = Graph.of(facts)
    >>> [facts.constants[code] for code in unanswered(graph)[graph.relations.index("in")]]
    []
    >>> graph = Graph.of(FactBase.from_facts(map(parse_atom, [*rows, "near(a, d)"])))
    >>> [facts.constants[code] for code in unanswered(graph)[graph.relations.index("in")]]
    ['d']
    """
    starts = np.zeros((graph.n_steps, graph.n), dtype=np.bool_)
    for step in range(graph.n_steps):
        starts[step, graph.pairs(step, "train")[:, 0]] = True
    # A sum of random numbers names a set of steps, and one step is taken out of it by a subtraction.
    names = np.random.default_rng(0).integers(1 << 63, size=graph.n_steps, dtype=np.uint64)
    kinds = np.zeros(graph.n, dtype=np.uint64)
    for name, has in zip(names, starts, strict=True):
        kinds[has] += name
    found = {}
    for step, (name, has) in enumerate(zip(names, starts, strict=True)):
        others = kinds - np.where(has, name, np.uint64(0))
        _, kind, size = np.unique(others, return_inverse=True, return_counts=True)
        share = np.bincount(kind, has) / size
        found[step] = np.flatnonzero(~has & (share[kind] >= 0.5) & (others > 0))
    return found


def asked(graph: Graph) -> dict[int, NDArray[np.bool_]]:
    """For each step, which validation facts start from what is unanswered."""
    return {step: np.isin(graph.pairs(step, "valid")[:, 0], some) for step, some in unanswered(graph).items()}


def assume(graph: Graph, features: Mapping[int, Features], scorer: Scorer) -> Facts:
    """The best candidate for everything unanswered that a rule fires for.

    Parameters
    ----------
    graph
        What is known.
    features, scorer
        What candidates are scored by.
    """
    found = [np.zeros((0, 3), dtype=np.int64)]
    count = len(graph.relations)
    for step, starts in unanswered(graph).items():
        if step not in features or not len(starts):
            continue
        denied = graph.known(step, ("denied",))
        for some in np.array_split(starts, -(-len(starts) * graph.n // _BLOCK)):
            fires = features[step].table(some)
            is_candidate = fires.spread(np.ones(len(fires.query)), 0.0, graph.n) > 0  # [Q, n]
            is_candidate[np.arange(len(some)), some] = False
            is_candidate &= ~denied[some].toarray()
            scores = np.where(is_candidate, scorer.scores(features[step], some), -np.inf)  # [Q, n]
            sure = is_candidate.any(axis=1)
            ends = scores.argmax(axis=1)[sure]
            pairs = np.column_stack([some[sure], ends])
            found.append(np.insert(pairs if step < count else pairs[:, ::-1], 0, step % count, axis=1))
    return np.unique(np.concatenate(found), axis=0)


def believed(facts: FactBase, graph: Graph) -> FactBase:
    """The training facts, and those that a graph assumes."""
    known = facts.select("train")
    if not len(graph.assumed):
        return known
    for place, name in enumerate(graph.relations):
        if len(more := graph.assumed[graph.assumed[:, 0] == place, 1:].astype(np.int32)):
            known = known.with_relation(Relation.concat([known.relations[name, 2], Relation(name, more)]))
    return known
