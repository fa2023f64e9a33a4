"""Programs as Prolog, the statistics of each rule in comments before it."""

from __future__ import annotations

from andre.errors import LogicError
from andre.logic.program import Program
from andre.logic.writers.statistics import comments

__all__ = ["to_prolog"]


def to_prolog(program: Program) -> str:
    """Write a program as Prolog text.

    Raises
    ------
    LogicError
        Where a rule has a probability, which Prolog has no place for.

    Examples
    --------
    >>> from andre.logic import parse_program
    >>> print(to_prolog(parse_program("20\\t10\\t0.5\\th(X,Y) <= b(X,A), c(A,Y)")), end="")
    % train: N_b=20, N_r=10, N_r/N_b=0.5000
    h(X, Y) :- b(X, A), c(A, Y).
    """
    lines = []
    for rule in program:
        if rule.probability != 1:
            raise LogicError(f"Prolog has no place for the probability of '{rule}': write ProbLog or JSON")
        lines += [*comments(rule), str(rule)]
    return "".join(f"{line}\n" for line in lines)
