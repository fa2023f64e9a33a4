"""Assumed facts: the likeliest answer where nothing is known yet, so that rules can build on it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from andre.arrays import Bools, Ints
from andre.completion.features import Features
from andre.completion.graph import Graph
from andre.completion.scoring import Scorer
from andre.limits import check


def unanswered(graph: Graph) -> dict[int, Ints]:
    """The constants without an answer by each step, where at least half of their kind have one.

    Constants are of one kind where the same other steps lead on from them.

    Examples
    --------
    >>> from andre.facts import FactBase
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
    answered = [graph.has_answer(step) for step in range(graph.n_steps)]
    # Zobrist hashing: a sum of random numbers names a set of steps, and a subtraction takes one step out.
    names = np.random.default_rng(0).integers(1 << 63, size=graph.n_steps, dtype=np.uint64)
    kinds = np.zeros(graph.n, dtype=np.uint64)
    for name, has in zip(names, answered, strict=True):
        kinds[has] += name
    found = {}
    for step, (name, has) in enumerate(zip(names, answered, strict=True)):
        others = kinds - np.where(has, name, np.uint64(0))
        _, kind, size = np.unique(others, return_inverse=True, return_counts=True)
        share = np.bincount(kind, has) / size
        found[step] = np.flatnonzero(~has & (share[kind] >= 0.5) & (others > 0))
    return found


def asked(graph: Graph) -> dict[int, Bools]:
    """For each step, which validation facts are about constants without an answer: [N]."""
    return {step: np.isin(graph.pairs(step, "valid")[:, 0], some) for step, some in unanswered(graph).items()}


def assume(graph: Graph, features: Mapping[int, Features], scorer: Scorer, block: int = 20_000_000) -> Ints:
    """The best candidate for each constant without an answer that a rule fires for, as facts: [N, 3].

    Parameters
    ----------
    block
        Scores (queries x candidates) that are held at a time.
    """
    found = [np.zeros((0, 3), dtype=np.int64)]
    count = len(graph.relations)
    for step, starts in unanswered(graph).items():
        if step not in features or not len(starts):
            continue
        denied = graph.known(step, ("denied",))
        for some in np.array_split(starts, -(-len(starts) * graph.n // block)):
            check()
            fires = features[step].cells(some)
            # A rule that was never right is no reason to assume anything.
            right = fires.groundings @ (features[step].n_r > 0).astype(np.float64)  # [P]
            is_candidate = fires.to_matrix(right, np.zeros(graph.n)) > 0  # [Q, n]
            is_candidate[np.arange(len(some)), some] = False
            is_candidate &= ~denied[some].toarray()
            scores = np.where(is_candidate, scorer.scores(features[step], some), -np.inf)  # [Q, n]
            sure = is_candidate.any(axis=1)
            pairs = np.column_stack([some[sure], scores.argmax(axis=1)[sure]])
            found.append(np.insert(pairs if step < count else pairs[:, ::-1], 0, step % count, axis=1))
    return np.unique(np.concatenate(found), axis=0)
