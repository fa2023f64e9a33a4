"""One name for all rules that differ only in variable names and literal order.

The variables of the head are numbered by where they stand there. The others
are told apart by what they occur in (colour refinement), and where that leaves
several alike, each of them is tried first and the smallest encoding wins.
Variables that can be exchanged without changing the body need no trial, so
symmetric bodies stay cheap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from andre.logic.atom import Atom, Term, Variable
from andre.logic.literal import Literal

__all__ = ["Encoding", "encode"]

_Token: TypeAlias = tuple[int, str]  # (kind, text): variables sort before constants
Encoding: TypeAlias = tuple[tuple[bool, str, tuple[_Token, ...]], ...]
_Colours: TypeAlias = dict[Variable, int]


def encode(head: Atom, body: Iterable[Literal]) -> Encoding:
    """Encode a rule so that two rules are variants exactly when their encodings are equal.

    Examples
    --------
    >>> x, y, z = map(Variable, "XYZ")
    >>> first = encode(Atom("p", (x,)), [Literal(Atom("q", (x, y))), Literal(Atom("r", (y,)))])
    >>> first == encode(Atom("p", (z,)), [Literal(Atom("r", (x,))), Literal(Atom("q", (z, x)))])
    True
    """
    literals = frozenset(body)
    fixed = {variable: place for place, variable in enumerate(head.variables)}
    free = {v: 0 for literal in literals for v in literal.variables if v not in fixed}
    head_code = (False, head.predicate, _tokens(head.args, fixed))
    return (head_code, *_smallest(literals, fixed, _refine(literals, fixed, free)))


def _smallest(body: frozenset[Literal], fixed: Mapping[Variable, int], free: _Colours) -> Encoding:
    classes: dict[int, list[Variable]] = {}
    for variable, colour in free.items():
        classes.setdefault(colour, []).append(variable)
    tied = next((classes[colour] for colour in sorted(classes) if len(classes[colour]) > 1), None)
    if tied is None:
        order = sorted(free, key=free.__getitem__)
        names = {**fixed, **{v: len(fixed) + place for place, v in enumerate(order)}}
        return tuple(sorted((lit.negated, lit.atom.predicate, _tokens(lit.atom.args, names)) for lit in body))
    trials: list[Variable] = []
    for variable in tied:
        if not any(_exchangeable(body, variable, tried) for tried in trials):
            trials.append(variable)
    return min(_smallest(body, fixed, _refine(body, fixed, {**free, variable: -1})) for variable in trials)


def _refine(body: frozenset[Literal], fixed: Mapping[Variable, int], free: _Colours) -> _Colours:
    """Split colour classes by occurrence until nothing splits any more."""
    colours = dict(free)
    while True:
        names = {**fixed, **{v: len(fixed) + 1 + colour for v, colour in colours.items()}}
        signature = {
            v: (colours[v], sorted(_occurrence(lit, v, names) for lit in body if v in lit.variables))
            for v in colours
        }
        ranks = {repr(s): rank for rank, s in enumerate(sorted(signature.values()))}
        refined = {v: ranks[repr(signature[v])] for v in colours}
        if len(set(refined.values())) == len(set(colours.values())):
            return refined
        colours = refined


def _occurrence(
    literal: Literal, variable: Variable, names: Mapping[Variable, int]
) -> tuple[bool, str, tuple[tuple[bool, _Token], ...]]:
    tokens = _tokens(literal.atom.args, names)
    here = (arg == variable for arg in literal.atom.args)
    return literal.negated, literal.atom.predicate, tuple(zip(here, tokens, strict=True))


def _exchangeable(body: frozenset[Literal], one: Variable, other: Variable) -> bool:
    swap: dict[Variable, Term] = {one: other, other: one}
    return frozenset(Literal(lit.atom.substitute(swap), lit.negated) for lit in body) == body


def _tokens(args: tuple[Term, ...], names: Mapping[Variable, int]) -> tuple[_Token, ...]:
    # Numbers are padded so that they sort as numbers; 1 and 1.0 and '1' stay apart.
    return tuple(
        (0, f"{names[arg]:06d}")
        if isinstance(arg, Variable)
        else (1, f"{type(arg.value).__name__}:{arg.value}")
        for arg in args
    )
