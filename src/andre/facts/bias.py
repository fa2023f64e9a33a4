"""The language bias of a Popper folder: which programs to look for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from andre.errors import DataError


@dataclass(frozen=True)
class Bias:
    """The settings of `bias.pl`; None, or an empty tuple, where it leaves something open."""

    head: tuple[tuple[str, int], ...] = ()  #: head_pred(Name, Arity)
    body: tuple[tuple[str, int], ...] = ()  #: body_pred(Name, Arity)
    max_vars: int | None = None
    max_body: int | None = None
    max_clauses: int | None = None
    types: tuple[tuple[str, tuple[str, ...]], ...] = ()  #: type(Name, (T1, ..., Tn))
    directions: tuple[tuple[str, tuple[str, ...]], ...] = ()  #: direction(Name, (in, out, ...))
    enable_recursion: bool = False
    enable_pi: bool = False
    allow_singletons: bool = False

    def __post_init__(self) -> None:
        predicates = (*self.head, *self.body) if _are_pairs(self.head, self.body) else None
        lists = (*self.types, *self.directions) if _are_pairs(self.types, self.directions) else None
        numbers = (self.max_vars, self.max_body, self.max_clauses)
        switches = (self.enable_recursion, self.enable_pi, self.allow_singletons)
        if predicates is None or not all(_is_count(arity) for _, arity in predicates):
            raise DataError("the heads and bodies of a bias are pairs of a name and an arity")
        if lists is None or not all(
            isinstance(i, tuple) and all(isinstance(x, str) for x in i) for _, i in lists
        ):
            raise DataError("the types and directions of a bias are pairs of a name and its arguments' names")
        if not all(number is None or _is_count(number) for number in numbers):
            raise DataError("the limits of a bias are whole numbers")
        if not all(isinstance(switch, bool) for switch in switches):
            raise DataError("the switches of a bias are true or false")


def _are_pairs(*fields: Any) -> bool:
    return all(
        isinstance(items, tuple)
        and all(isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str) for item in items)
        for items in fields
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
