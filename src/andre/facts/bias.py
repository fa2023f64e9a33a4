"""The language bias of a Popper folder or of Aleph's modes, which says which programs to look for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from andre.errors import DataError


@dataclass(frozen=True)
class Bias:
    """The settings of `bias.pl` or of modes; None or an empty tuple for those that are left open.

    Examples
    --------
    >>> types, directions = ("tail", ("list", "list")), ("tail", ("in", "out"))
    >>> bias = Bias(body=(("tail", 2),), types=(types,), directions=(directions,))
    >>> bias.types_of("tail", 2), bias.directions_of("tail", 2), bias.types_of("tail", 3)
    (('list', 'list'), ('in', 'out'), None)
    """

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
    non_datalog: bool = False  #: a variable of the head may be missing from the body
    constants: tuple[tuple[str, str], ...] = ()  #: constant(Name, Type)
    places: tuple[str, ...] = ()  #: arguments that may be constants, Aleph's #type: p/2:1 is the first of p/2
    one_of_type: tuple[str, ...] = ()  #: types of which a rule has exactly one variable
    constraints: tuple[str, ...] = ()  #: other statements about clauses, as they were written

    def __post_init__(self) -> None:
        predicates = (*self.head, *self.body) if _are_pairs(self.head, self.body) else None
        lists = (*self.types, *self.directions) if _are_pairs(self.types, self.directions) else None
        numbers = (self.max_vars, self.max_body, self.max_clauses)
        switches = (self.enable_recursion, self.enable_pi, self.allow_singletons, self.non_datalog)
        if predicates is None or not all(_is_count(arity) for _, arity in predicates):
            raise DataError("the heads and bodies of a bias are pairs of a name and an arity")
        if lists is None or not all(_are_names(items) for _, items in lists):
            raise DataError("the types and directions of a bias are pairs of a name and its arguments' names")
        if not all(number is None or _is_count(number) for number in numbers):
            raise DataError("the limits of a bias are whole numbers")
        if not all(isinstance(switch, bool) for switch in switches):
            raise DataError("the switches of a bias are true or false")
        if not (_are_pairs(self.constants) and all(isinstance(kind, str) for _, kind in self.constants)):
            raise DataError("the constants of a bias are pairs of a name and a type")
        if not all(map(_are_names, (self.places, self.one_of_type, self.constraints))):
            raise DataError("the places, types of one variable and constraints of a bias are lists of texts")

    def types_of(self, name: str, arity: int) -> tuple[str, ...] | None:
        """The types of a predicate's arguments, or None if they are left open."""
        return next((kinds for of, kinds in self.types if of == name and len(kinds) == arity), None)

    def directions_of(self, name: str, arity: int) -> tuple[str, ...] | None:
        """The directions of a predicate's arguments, or None if they are left open."""
        return next((ways for of, ways in self.directions if of == name and len(ways) == arity), None)


def _are_pairs(*fields: Any) -> bool:
    return all(
        isinstance(items, tuple)
        and all(isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str) for item in items)
        for items in fields
    )


def _are_names(items: Any) -> bool:
    return isinstance(items, tuple) and all(isinstance(item, str) for item in items)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
