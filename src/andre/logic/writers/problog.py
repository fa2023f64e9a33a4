"""Programs as ProbLog, the confidence of each rule as its probability."""

from __future__ import annotations

from andre.logic.program import Program
from andre.logic.spelling import spell_number
from andre.logic.writers.statistics import comments, main_evidence

__all__ = ["to_problog"]

_NOTICE = """\
% ProbLog computes other probabilities than this program was learned with: it takes rules and facts
% for independent and adds up their proofs (two proofs of 0.5 give 0.75), where ANDRE takes the
% minimum over a body and the maximum over rules (two of 0.5 give 0.5).
"""


def to_problog(program: Program) -> str:
    """Write a program as ProbLog text; a rule without evidence keeps the probability it has.

    Examples
    --------
    >>> from andre.logic import parse_program
    >>> print(to_problog(parse_program("20\\t10\\t0.5\\th(X,Y) <= b(X,A), c(A,Y)")))
    % ProbLog computes ...
    % train: N_b=20, N_r=10, N_r/N_b=0.5000, written as the probability
    0.5::h(X, Y) :- b(X, A), c(A, Y).
    """
    lines = []
    for rule in program:
        evidence = main_evidence(rule) if rule.probability == 1 else None
        if evidence is None:
            lines += [*comments(rule), str(rule)]
        else:
            weight = spell_number(float(evidence.confidence))
            lines += [*comments(rule, weighing=evidence), f"{weight}::{rule}"]
    return _NOTICE + "".join(f"{line}\n" for line in lines)
