"""Names for relations and their places, and which facts may be read as evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from andre.errors import ConfigError
from andre.facts import FactBase, Relation

__all__ = ["Place", "evidence_mask", "key_text", "places_of", "relations_named"]

Key: TypeAlias = tuple[str, int]

_PLACE = re.compile(r"(?P<name>.+)/(?P<arity>\d+):(?P<position>\d+)\Z", re.DOTALL)


@dataclass(frozen=True)
class Place:
    """One argument of a relation."""

    key: Key
    position: int  #: from 0


def key_text(key: Key) -> str:
    """A relation as it is written: name and arity.

    Examples
    --------
    >>> key_text(("parent", 2))
    'parent/2'
    """
    return f"{key[0]}/{key[1]}"


def relations_named(facts: FactBase, name: str) -> list[Key]:
    """The relations that a name, with or without an arity, stands for.

    Examples
    --------
    >>> relations_named(FactBase.from_relations("a", [Relation("p", np.array([[0, 0]]))]), "p")
    [('p', 2)]
    """
    exact = [key for key in facts.relations if key_text(key) == name]
    return exact or [key for key in facts.relations if key[0] == name]


def places_of(facts: FactBase, texts: Iterable[str]) -> dict[Key, list[Place]]:
    """Read places such as p/2:1, the first argument of p/2."""
    places: dict[Key, list[Place]] = {}
    for text in texts:
        match = _PLACE.match(text)
        if match is None:
            raise ConfigError(f"{text!r} is no place: write p/2:1 for the first argument of p/2")
        key, position = (match["name"], int(match["arity"])), int(match["position"])
        if key not in facts.relations:
            raise ConfigError(f"the place {text} belongs to no relation: check its name and arity")
        if not 1 <= position <= key[1]:
            raise ConfigError(f"{key_text(key)} has no argument {position}: count from 1 to {key[1]}")
        places.setdefault(key, []).append(Place(key, position - 1))
    return places


def evidence_mask(relation: Relation, target: Key) -> NDArray[np.bool_]:
    """Which facts may be read: none of the test facts, of the target the training facts only."""
    if relation.mark is None:
        return np.ones(len(relation), dtype=np.bool_)
    return relation.marked("train") if relation.key == target else ~relation.marked("test")
