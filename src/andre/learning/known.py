"""Known rules: given, kept as they are, and added to."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from andre.errors import ConfigError, LogicError
from andre.facts import FactBase
from andre.facts.base import Key
from andre.grounding import Codes, RuleSpace
from andre.logic import Atom, Literal, Program, Rule

__all__ = ["apart", "encode_known", "known_about", "with_background"]


def known_about(known: Program, target: Key) -> Program:
    """The known rules of one target."""
    return Program(tuple(rule for rule in known if (rule.head.predicate, rule.head.arity) == target))


def with_background(facts: FactBase, known: Program, targets: set[Key]) -> FactBase:
    """Facts with the known rules of other relations as background."""
    others = tuple(rule for rule in known if (rule.head.predicate, rule.head.arity) not in targets)
    return facts if not others else facts.with_rules(Program((*facts.rules, *others)))


def encode_known(known: Program, space: RuleSpace, *, identity: bool) -> Codes:
    """Known rules as bodies of a space, [rules, m].

    Parameters
    ----------
    identity
        Whether all variables are different anyway, so that `\\=` between them says nothing.

    Raises
    ------
    ConfigError
        Where a rule holds what is no candidate.

    Examples
    --------
    >>> from andre.logic import parse_program
    >>> space = RuleSpace.from_names(["p(X1,X3)", "p(X3,X2)"], "h(X1,X2)")
    >>> encode_known(parse_program("h(A,B) :- p(A,C), p(C,B), A \\\\= B."), space, identity=True)
    array([[1, 1]], dtype=int8)
    """
    found = [np.zeros((0, space.m), dtype=np.int8)]
    for rule in known:
        body = tuple(lit for lit in rule.body if not (identity and _tells_apart(lit)))
        plain = replace(rule, body=body).tidy()
        names = dict(zip(plain.head.variables, space.head.variables, strict=False))
        try:
            found.append(space.encode(Program((plain.substitute(names),))))
        except LogicError as error:
            raise ConfigError(
                f"the known rule {rule} cannot be kept: {error}; allow more variables or relations"
            ) from None
    return np.concatenate(found)


def apart(rule: Rule) -> Rule:
    """A rule whose variables stand for different constants, said by its last literals.

    Examples
    --------
    >>> from andre.logic import parse_rule
    >>> print(apart(parse_rule("h(X,Y) :- p(X,Y).")))
    h(X, Y) :- p(X, Y), X \\= Y.
    """
    known = {frozenset(literal.atom.args) for literal in rule.body if _tells_apart(literal)}
    pairs = [pair for pair in combinations(rule.variables, 2) if frozenset(pair) not in known]
    return replace(rule, body=rule.body + tuple(Literal(Atom("\\=", pair)) for pair in pairs))


def _tells_apart(literal: Literal) -> bool:
    return literal.atom.predicate == "\\=" and not literal.negated and len(literal.atom.variables) == 2
