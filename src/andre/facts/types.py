"""Types of arguments: two places are of one type when they share a constant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from andre.facts.base import FactBase, Key
from andre.facts.relation import Relation

__all__ = ["ArgumentTypes", "argument_types", "type_of_codes"]


def type_of_codes(relations: Iterable[Relation], n_values: int) -> tuple[list[list[int]], NDArray[np.int64]]:
    """Number the types of all places and of all codes.

    Places are joined that share a code, directly or through others, so every
    code has one type. One pass over the codes, and a forest over the places.

    Returns
    -------
    tuple
        For each relation the type of each argument, and [n_values] the type of
        each code; -1 for a code that no fact has. Types are numbered from 0 in
        order of their first places.

    Examples
    --------
    >>> parent = Relation("parent", np.array([[0, 1], [1, 2]]))
    >>> age = Relation("age", np.array([[0, 3]]))
    >>> type_of_codes([parent, age], 4)
    ([[0, 0], [0, 1]], array([0, 0, 0, 1]))
    """
    owner = np.full(n_values, -1, dtype=np.int64)  # of each code, one place that has it
    forest: list[int] = []

    def root(place: int) -> int:
        while forest[place] != place:
            forest[place] = forest[forest[place]]
            place = forest[place]
        return place

    places: list[list[int]] = []
    for relation in relations:
        places.append([])
        for column in relation.codes.T:
            place = len(forest)
            forest.append(place)
            places[-1].append(place)
            present = np.zeros(n_values, dtype=np.bool_) if len(column) > n_values else None
            if present is None:
                codes = np.unique(column)
            else:
                present[column] = True
                codes = np.flatnonzero(present)
            owners = owner[codes]
            for other in np.unique(owners[owners >= 0]).tolist():
                one, two = sorted((root(place), root(other)))
                forest[two] = one
            owner[codes] = root(place)
    roots = np.array([root(place) for place in range(len(forest))], dtype=np.int64)
    _, numbers = np.unique(roots, return_inverse=True)
    of_codes = np.where(owner < 0, -1, numbers[owner] if len(numbers) else -1)
    return [[int(numbers[place]) for place in row] for row in places], of_codes


@dataclass(frozen=True)
class ArgumentTypes:
    """A readable type for each argument of each relation.

    Examples
    --------
    >>> from andre.logic import Atom, Constant
    >>> ann, bob, cy = map(Constant, ("ann", "bob", "cy"))
    >>> facts = [Atom("parent", (ann, bob)), Atom("parent", (bob, cy)), Atom("age", (cy, Constant(9)))]
    >>> print(argument_types(FactBase.from_facts(facts)))
    parent(entity, entity), age(entity, number)
    """

    of: Mapping[Key, tuple[str, ...]]
    sizes: Mapping[str, int]  #: how many constants each type has

    def __str__(self) -> str:
        return ", ".join(
            f"{name}({', '.join(types)})" if types else name for (name, _), types in self.of.items()
        )


def argument_types(base: FactBase) -> ArgumentTypes:
    """Infer the types of all arguments, and name them.

    A type that holds only numbers is called number; one that a unary relation
    covers wholly takes that relation's name; the only other one is called
    entity; several are named after the first place they stand in, as `city2`.
    """
    relations = list(base.relations.values())
    places, of_codes = type_of_codes(relations, len(base.constants))
    counts = Counter(of_codes.tolist())
    numeric = _numeric(base, of_codes)
    names: dict[int, str] = {}
    taken: set[str] = set()

    def name(kind: int, wish: str) -> None:
        chosen, again = wish, 1
        while chosen in taken:
            again += 1
            chosen = f"{wish}_{again}"
        taken.add(chosen)
        names[kind] = chosen

    for kind in sorted(numeric):
        name(kind, "number")
    for relation, kinds in zip(relations, places, strict=True):
        if relation.arity == 1 and kinds[0] not in names and len(relation) == counts[kinds[0]]:
            name(kinds[0], relation.name)
    rest = {kind for kinds in places for kind in kinds} - names.keys()
    for relation, kinds in zip(relations, places, strict=True):
        for position, kind in enumerate(kinds, start=1):
            if kind not in names:
                name(kind, f"{relation.name}{position}" if len(rest) > 1 else "entity")
    of = {r.key: tuple(names[kind] for kind in kinds) for r, kinds in zip(relations, places, strict=True)}
    return ArgumentTypes(of, {names[kind]: counts[kind] for kind in sorted(names)})


def _numeric(base: FactBase, of_codes: NDArray[np.int64]) -> set[int]:
    is_name = np.fromiter((isinstance(v, str) for v in base.constants), np.bool_, len(base.constants))
    return set(of_codes[~is_name].tolist()) - set(of_codes[is_name].tolist()) - {-1}
