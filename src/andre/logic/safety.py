"""Safety: a rule says something only about constants that its body finds."""

from __future__ import annotations

from andre.errors import LogicError
from andre.logic.atom import Variable
from andre.logic.rule import Rule

__all__ = ["check_safe", "unsafe_variables"]


def unsafe_variables(rule: Rule) -> tuple[Variable, ...]:
    """The variables that no positive, non-built-in body literal gives a value.

    Examples
    --------
    >>> from andre.logic import parse_rule
    >>> unsafe_variables(parse_rule("h(X, Y) :- p(X, A), \\\\+ q(A, Y)"))
    (Variable(name='Y'),)
    """
    bound = {variable for literal in rule.body if literal.binds for variable in literal.variables}
    return tuple(variable for variable in rule.variables if variable not in bound)


def check_safe(rule: Rule) -> None:
    """Refuse a rule with a variable that could stand for anything.

    Raises
    ------
    LogicError
        Naming the variable and the rule.

    Examples
    --------
    >>> from andre.logic import parse_rule
    >>> check_safe(parse_rule("h(X, Y) :- p(X)"))
    Traceback (most recent call last):
    ...
    andre.errors.LogicError: Y is free in 'h(X, Y) :- p(X).': add a positive body literal that binds it
    """
    if unsafe := unsafe_variables(rule):
        names = ", ".join(map(str, unsafe))
        verb, it = ("is", "it") if len(unsafe) == 1 else ("are", "them")
        raise LogicError(f"{names} {verb} free in '{rule}': add a positive body literal that binds {it}")
