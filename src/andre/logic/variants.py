"""A canonical form of rules: equal for rules that differ only in variable names and literal order.

The variables of the head are numbered by where they stand there. The body
falls into components that share no other variable, and each is encoded by
itself. Within one, variables are told apart by what they occur in (colour
refinement) and get numbers, which makes the components smaller; where all are
alike, each of them is tried first and the smallest encoding wins. Two trials
that end alike show a symmetry of the body, and variables that known symmetries
map to each other need one trial; copies of a component cost no more than their
number. So symmetric bodies stay cheap.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from andre.logic.atom import Atom, Literal, Term, Variable

_Token: TypeAlias = tuple[int, str]  # (kind, text): variables sort before constants
_Code: TypeAlias = tuple[bool, str, tuple[_Token, ...]]
_Names: TypeAlias = dict[Variable, int]
#: Variables numbered here, literals whose variables all have numbers, and what remains in components.
_Node: TypeAlias = tuple[int, tuple[_Code, ...], tuple[Any, ...]]
Encoding: TypeAlias = tuple[_Code, _Node]
#: An encoding, and the variables that it numbers, in the order of their numbers.
_Ordered: TypeAlias = tuple[_Node, tuple[Variable, ...]]


def encode(head: Atom, body: Iterable[Literal]) -> Encoding:
    """The canonical form of a rule: two rules are variants exactly when theirs are equal.

    Examples
    --------
    >>> x, y, z = map(Variable, "XYZ")
    >>> first = encode(Atom("p", (x,)), [Literal(Atom("q", (x, y))), Literal(Atom("r", (y,)))])
    >>> first == encode(Atom("p", (z,)), [Literal(Atom("r", (x,))), Literal(Atom("q", (z, x)))])
    True
    """
    names = {variable: place for place, variable in enumerate(head.variables)}
    return (False, head.predicate, _tokens(head.args, names)), _node(frozenset(body), names, ())[0]


def _node(body: Collection[Literal], names: _Names, fresh: Sequence[Variable]) -> _Ordered:
    """Encode literals of which some variables have numbers, the `fresh` ones since the last step."""
    named = [lit for lit in body if all(v in names for v in lit.variables)]
    codes = sorted((lit.negated, lit.atom.predicate, _tokens(lit.atom.args, names)) for lit in named)
    found = [_component(part, names) for part in _components(set(body) - set(named), names)]
    parts = sorted(found, key=lambda part: part[0])
    node = len(fresh), tuple(codes), tuple(part for part, _ in parts)
    return node, (*fresh, *(variable for _, order in parts for variable in order))


def _component(body: Collection[Literal], names: _Names) -> _Ordered:
    classes: dict[int, list[Variable]] = {}
    for variable, colour in _refine(body, names).items():
        classes.setdefault(colour, []).append(variable)
    alone = [classes[colour][0] for colour in sorted(classes) if len(classes[colour]) == 1]
    if alone:
        numbered = {v: len(names) + place for place, v in enumerate(alone)}
        return _node(body, {**names, **numbered}, alone)
    tied = classes[min(classes, key=lambda colour: (len(classes[colour]), colour))]
    orbit = {variable: variable for variables in classes.values() for variable in variables}
    tried: dict[_Node, tuple[Variable, ...]] = {}
    seen: list[Variable] = []
    for variable in tied:
        alike = _root(orbit, variable)
        if any(_root(orbit, other) == alike or _exchangeable(body, variable, other) for other in seen):
            continue
        seen.append(variable)
        node, order = _node(body, {**names, variable: len(names)}, [variable])
        for one, other in zip(order, tried.setdefault(node, order), strict=True):  # a symmetry of the body
            orbit[_root(orbit, one)] = _root(orbit, other)
    best = min(tried)
    return best, tried[best]


def _root(parents: dict[Variable, Variable], variable: Variable) -> Variable:
    """The representative of the variables that are known to be exchangeable (union-find)."""
    while parents[variable] != variable:
        parents[variable] = variable = parents[parents[variable]]
    return variable


def _components(body: Iterable[Literal], names: Mapping[Variable, int]) -> Iterator[set[Literal]]:
    """Split literals into sets that share no variable without a number."""
    parts: list[tuple[set[Literal], set[Variable]]] = []
    for literal in body:
        literals, variables = {literal}, {v for v in literal.variables if v not in names}
        apart = []
        for part in parts:
            if variables.isdisjoint(part[1]):
                apart.append(part)
            else:
                literals |= part[0]
                variables |= part[1]
        parts = [*apart, (literals, variables)]
    return (literals for literals, _ in parts)


def _refine(body: Collection[Literal], names: Mapping[Variable, int]) -> _Names:
    """The colours of variables without a number, by colour refinement until no colour splits."""
    where: dict[Variable, list[Literal]] = {}
    for literal in body:
        for variable in literal.variables:
            if variable not in names:
                where.setdefault(variable, []).append(literal)
    colours = dict.fromkeys(where, 0)
    while True:
        coloured = {**names, **{v: len(names) + colour for v, colour in colours.items()}}
        signature = {
            v: (colours[v], sorted(_occurrence(lit, v, coloured) for lit in literals))
            for v, literals in where.items()
        }
        ranks = {repr(s): rank for rank, s in enumerate(sorted(signature.values()))}
        refined = {v: ranks[repr(s)] for v, s in signature.items()}
        if len(set(refined.values())) == len(set(colours.values())):
            return refined
        colours = refined


def _occurrence(
    literal: Literal, variable: Variable, names: Mapping[Variable, int]
) -> tuple[bool, str, tuple[tuple[bool, _Token], ...]]:
    tokens = _tokens(literal.atom.args, names)
    here = (arg == variable for arg in literal.atom.args)
    return literal.negated, literal.atom.predicate, tuple(zip(here, tokens, strict=True))


def _exchangeable(body: Collection[Literal], one: Variable, other: Variable) -> bool:
    swap: dict[Variable, Term] = {one: other, other: one}
    return all(Literal(lit.atom.substitute(swap), lit.negated) in body for lit in body)


def _tokens(args: tuple[Term, ...], names: Mapping[Variable, int]) -> tuple[_Token, ...]:
    # Numbers are padded so that they sort as numbers; 1 and 1.0 and '1' stay apart.
    return tuple(
        (0, f"{names[arg]:06d}")
        if isinstance(arg, Variable)
        else (1, f"{type(arg.value).__name__}:{arg.value}")
        for arg in args
    )
