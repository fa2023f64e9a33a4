"""Programs as Prolog, with the counts of each rule in comments; or as ProbLog, with probabilities."""

from __future__ import annotations

from collections.abc import Callable

from andre.errors import LogicError
from andre.logic.parse import AS_PROBABILITY
from andre.logic.program import Program
from andre.logic.rows import by_row
from andre.logic.rule import Evidence, Rule
from andre.logic.spelling import format_count, quote, spell_number

_NOTICE = """\
% ProbLog computes other probabilities than this program was learned with: it takes rules and facts
% for independent and adds up their proofs (two proofs of 0.5 give 0.75), where ANDRE takes the
% minimum over a body and the maximum over rules (two of 0.5 give 0.5).
"""

_ROWS = """\
% Row is a row of the table, and each column a relation of rows and their values, such as age(Row, Age).
% A value that is unknown is no fact, and missing(Row, age) instead; dates are in seconds since 1970 (UTC).
"""


def spell_count(count: float) -> str:
    """A count in full, whole numbers without a dot.

    Examples
    --------
    >>> spell_count(1234567.0), spell_count(0.1)
    ('1234567', '0.1')
    """
    return str(int(count)) if float(count).is_integer() else repr(float(count))


def _comments(
    rule: Rule, as_probability: Evidence | None = None, spell: Callable[[float], str] = spell_count
) -> list[str]:
    """A line of counts per split, which `parse` reads back as evidence."""
    return [
        f"% {quote(item.split)}: N_b={spell(item.n_b)}, N_r={spell(item.n_r)}, "
        f"N_r/N_b={item.confidence:.4f}{AS_PROBABILITY if item is as_probability else ''}"
        for item in rule.evidence
    ]


def main_evidence(rule: Rule) -> Evidence | None:
    """The evidence to write in formats with one split: that of training, else the first."""
    return rule.on("train") or (rule.evidence[0] if rule.evidence else None)


def to_prolog(program: Program, *, rounded: bool = False) -> str:
    """A program as Prolog text; rules that compare columns of a table become rules about its rows.

    Parameters
    ----------
    rounded
        Whether counts have at most two decimals, for people; otherwise they can be read back exactly.

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
    >>> print(to_prolog(parse_program("rich :- age > 42, color = 'dark red'.")))
    % Row is ...
    rich(Row) :- age(Row, Age), color(Row, 'dark red'), Age > 42.
    """
    lines, of_rows = [], by_row(program)
    for rule in of_rows:
        if rule.probability != 1:
            raise LogicError(f"Prolog has no place for the probability of '{rule}': write ProbLog or JSON")
        lines += [*_comments(rule, spell=format_count if rounded else spell_count), str(rule)]
    return _notice(program, of_rows) + "".join(f"{line}\n" for line in lines)


def _notice(program: Program, of_rows: Program) -> str:
    return "" if of_rows is program else _ROWS


def to_problog(program: Program) -> str:
    """A program as ProbLog text; the confidence of a rule becomes its probability unless it has its own.

    Examples
    --------
    >>> from andre.logic.parse import parse_program
    >>> print(to_problog(parse_program("20\\t10\\t0.5\\th(X,Y) <= b(X,A), c(A,Y)")))
    % ProbLog computes ...
    % train: N_b=20, N_r=10, N_r/N_b=0.5000, written as the probability
    0.5::h(X, Y) :- b(X, A), c(A, Y).
    """
    lines, of_rows = [], by_row(program)
    for rule in of_rows:
        evidence = main_evidence(rule) if rule.probability == 1 else None
        if evidence is None:
            lines += [*_comments(rule), str(rule)]
        else:
            weight = spell_number(float(evidence.confidence))
            lines += [*_comments(rule, as_probability=evidence), f"{weight}::{rule}"]
    return _NOTICE + _notice(program, of_rows) + "".join(f"{line}\n" for line in lines)
