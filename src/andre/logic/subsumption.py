"""Theta-subsumption: one rule is more general than another as it is written."""

from __future__ import annotations

from collections.abc import Iterator

from andre.logic.atom import Atom, Term, Variable
from andre.logic.literal import Literal
from andre.logic.rule import Rule

__all__ = ["subsumes", "subsumption"]

_Bindings = dict[Variable, Term]


def subsumes(general: Rule, specific: Rule) -> bool:
    """Whether some substitution makes `general` a part of `specific`.

    The general rule then derives all that the specific one does. Literals are
    compared as written: `X < Y` is not found in `Y > X`.

    Examples
    --------
    >>> from andre.logic import parse_rule
    >>> subsumes(parse_rule("h(X) :- p(X, Y)"), parse_rule("h(A) :- p(A, A), q(A)"))
    True
    >>> subsumes(parse_rule("h(A) :- p(A, A), q(A)"), parse_rule("h(X) :- p(X, Y)"))
    False
    """
    return subsumption(general, specific) is not None


def subsumption(general: Rule, specific: Rule) -> dict[Variable, Term] | None:
    """The substitution by which one rule subsumes another, or None.

    Examples
    --------
    >>> from andre.logic import parse_rule
    >>> found = subsumption(parse_rule("h(X) :- p(X, Y)"), parse_rule("h(a) :- p(a, b)"))
    >>> {str(variable): str(term) for variable, term in found.items()}
    {'X': 'a', 'Y': 'b'}
    """
    bindings = _match(general.head, specific.head, {})
    if bindings is None:
        return None
    stack = [iter([(frozenset(general.body), bindings)])]
    targets = frozenset(specific.body)
    while stack:
        step = next(stack[-1], None)
        if step is None:
            stack.pop()
            continue
        remaining, bindings = step
        if not remaining:
            return bindings
        # The literal with the fewest images first: a literal without any ends the branch at once.
        literal, images = min(
            ((literal, list(_images(literal, targets, bindings))) for literal in remaining),
            key=lambda choice: len(choice[1]),
        )
        rest = remaining - {literal}
        stack.append(iter([(rest, image) for image in images]))
    return None


def _images(literal: Literal, targets: frozenset[Literal], bindings: _Bindings) -> Iterator[_Bindings]:
    """The ways to extend the bindings so that the literal is one of the targets."""
    for target in targets:
        if literal.negated == target.negated:
            extended = _match(literal.atom, target.atom, bindings)
            if extended is not None:
                yield extended


def _match(pattern: Atom, target: Atom, bindings: _Bindings) -> _Bindings | None:
    if (pattern.predicate, pattern.arity) != (target.predicate, target.arity):
        return None
    extended = dict(bindings)
    for arg, term in zip(pattern.args, target.args, strict=True):
        # The target's variables stand for themselves, whatever their names.
        image = extended.setdefault(arg, term) if isinstance(arg, Variable) else arg
        if image != term:
            return None
    return extended
