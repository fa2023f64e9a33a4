"""A canonical order of facts, independent of the order of lines in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from andre.facts.base import FactBase
from andre.facts.relation import Key, Relation, Value


def in_canonical_order(facts: FactBase) -> FactBase:
    """The same facts with constants, relations and rows in an order that depends only on the facts.

    Learners draw by position and settle ties by it: given facts in this order, they
    learn the same from files whose lines are shuffled.

    Examples
    --------
    >>> facts = FactBase.from_facts(["q(b)", "p(b, 2)", "p(a, 2)", "p(a, 1.0)"])
    >>> ordered = in_canonical_order(facts)
    >>> ordered.constants, list(ordered.relations)
    ((1.0, 2, 'a', 'b'), [('p', 2), ('q', 1)])
    >>> print(*ordered.atoms("p", 2))
    p(a, 1.0) p(a, 2) p(b, 2)
    """
    order = _order(facts.constants)
    codes = np.empty(len(order), dtype=np.int64)
    codes[order] = np.arange(len(order))
    relations = {key: _sorted(facts.relations[key].recoded(codes)) for key in sorted(facts.relations)}
    if order == list(range(len(order))) and _same(relations, facts):
        return facts
    return replace(facts, constants=tuple(facts.constants[code] for code in order), relations=relations)


def _same(relations: Mapping[Key, Relation], facts: FactBase) -> bool:
    """Whether relations and rows are in this order already."""
    return list(relations) == list(facts.relations) and all(
        np.array_equal(relation.codes, facts.relations[key].codes) for key, relation in relations.items()
    )


def _order(values: Sequence[Value]) -> list[int]:
    """The order of constants: numbers by size and then by type, followed by names."""
    names = [place for place, value in enumerate(values) if isinstance(value, str)]
    numbers = [place for place, value in enumerate(values) if not isinstance(value, str)]
    kinds = {type(values[place]) for place in numbers}
    if len(kinds) > 1:
        numbers.sort(key=lambda place: type(values[place]).__name__)  # which stays among equal ones
    # Pairs as keys would take several times as long.
    by_value: Callable[[int], Any] = values.__getitem__
    return sorted(numbers, key=by_value) + sorted(names, key=by_value)


def _sorted(relation: Relation) -> Relation:
    return relation.take(np.lexsort(relation.codes.T[::-1])) if relation.arity else relation
