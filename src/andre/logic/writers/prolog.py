"""The statistics of a rule as a Prolog comment, which the grammar reads back.

Programs as Prolog, the statistics of each rule in comments before it.

Programs as ProbLog, the confidence of each rule as its probability.
"""

from __future__ import annotations

from andre.errors import LogicError
from andre.logic.parse import WEIGHS
from andre.logic.program import Program
from andre.logic.rule import Evidence, Rule
from andre.logic.spelling import quote, spell_number

__all__ = ["comments", "main_evidence", "spell_count", "to_problog", "to_prolog"]


def spell_count(count: float) -> str:
    """Write a count in full; whole numbers without a dot.

    Examples
    --------
    >>> spell_count(1234567.0), spell_count(0.1)
    ('1234567', '0.1')
    """
    return str(int(count)) if float(count).is_integer() else repr(float(count))


def comments(rule: Rule, weighing: Evidence | None = None) -> list[str]:
    """One comment line per split, saying so where its confidence is the probability of the rule.

    Examples
    --------
    >>> from andre.logic.parse import parse_rule
    >>> comments(parse_rule("h :- b").with_evidence(Evidence("train", 219, 215)))
    ['% train: N_b=219, N_r=215, N_r/N_b=0.9817']
    """
    return [
        f"% {quote(item.split)}: N_b={spell_count(item.n_b)}, N_r={spell_count(item.n_r)}, "
        f"N_r/N_b={item.confidence:.4f}{WEIGHS if item is weighing else ''}"
        for item in rule.evidence
    ]


def main_evidence(rule: Rule) -> Evidence | None:
    """What stands for a rule where there is room for one figure: training, else what comes first."""
    return rule.on("train") or (rule.evidence[0] if rule.evidence else None)


def to_prolog(program: Program) -> str:
    """Write a program as Prolog text.

    Raises
    ------
    LogicError
        Where a rule has a probability, which Prolog has no place for.

    Examples
    --------
    >>> from andre.logic.parse import parse_program
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


_NOTICE = """\
% ProbLog computes other probabilities than this program was learned with: it takes rules and facts
% for independent and adds up their proofs (two proofs of 0.5 give 0.75), where ANDRE takes the
% minimum over a body and the maximum over rules (two of 0.5 give 0.5).
"""


def to_problog(program: Program) -> str:
    """Write a program as ProbLog text; a rule without evidence keeps the probability it has.

    Examples
    --------
    >>> from andre.logic.parse import parse_program
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
