"""Validation facts: split off where none are marked, and given back once they have chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from andre.facts import FactBase
from andre.learning.completion.config import CompletionConfig

__all__ = ["taught", "with_validation"]


def with_validation(facts: FactBase, config: CompletionConfig) -> FactBase:
    """The same facts; where none is marked valid, a share of each relation's training facts is.

    Examples
    --------
    >>> from andre.facts import Relation
    >>> edge = Relation("edge", np.array([[i, i + 1] for i in range(20)]))
    >>> base = FactBase.from_relations(map(str, range(21)), [edge])
    >>> with_validation(base, CompletionConfig()).relations["edge", 2].count("valid")
    2
    """
    if any(relation.count("valid") for (_, arity), relation in facts.relations.items() if arity == 2):
        return facts
    rng = np.random.default_rng(config.seed)
    total = sum(relation.count("train") for (_, arity), relation in facts.relations.items() if arity == 2)
    share = min(config.valid_share, config.valid_most / max(1, total))
    for (_, arity), relation in list(facts.relations.items()):
        if arity != 2:
            continue
        train = np.flatnonzero(relation.marked("train"))
        chosen = rng.choice(train, round(len(train) * share), replace=False)
        mark = np.zeros(len(relation), dtype=np.uint8) if relation.mark is None else relation.mark.copy()
        mark[chosen] = 1
        facts = replace(facts, relations={**facts.relations, relation.key: replace(relation, mark=mark)})
    return facts


def taught(facts: FactBase) -> FactBase:
    """The same facts, those marked valid being training facts too.

    Examples
    --------
    >>> from andre.facts import Relation
    >>> edge = Relation("edge", np.array([[0, 1], [1, 2]]), mark=np.array([0, 1], dtype=np.uint8))
    >>> taught(FactBase.from_relations("abc", [edge])).relations["edge", 2].count("train")
    2
    """
    relations = {
        key: relation
        if relation.mark is None
        else replace(relation, mark=np.where(relation.marked("valid"), 0, relation.mark).astype(np.uint8))
        for key, relation in facts.relations.items()
    }
    return replace(facts, relations=relations)
