"""Programs as AnyBURL rule lines: N_b, N_r, confidence, rule."""

from __future__ import annotations

import re
from string import ascii_uppercase

from andre.errors import LogicError
from andre.logic.atom import Atom, Constant, Term, Variable
from andre.logic.program import Program
from andre.logic.rule import Rule
from andre.logic.spelling import is_code, quote, read_number
from andre.logic.writers.prolog import main_evidence, spell_count

_BARE_TERM = re.compile(r"(?:[^\s,()'%]|\([^\s()]*\))(?:[^\s,()]|\([^\s()]*\))*\Z")
_BARE_NAME = re.compile(r"[^\s(),%][^\s(),]*\Z")
_NAMES = "XY" + ascii_uppercase[:23] + "Z"


def to_anyburl(program: Program) -> str:
    r"""A program as AnyBURL rule lines.

    AnyBURL keeps the variables of a rule distinct by itself, so `X \= Y` between
    variables is left out. A line has room for one split: training, else the first.

    Raises
    ------
    LogicError
        Where a rule has a negation, a comparison or a name that AnyBURL does
        not know.

    Examples
    --------
    >>> from andre.logic.parse import parse_program
    >>> to_anyburl(parse_program("h(X1, X2) :- b(X1, X3), c(X3, 'New York'), X1 \\= X3."))
    "0\t0\t0.0\th(X,Y) <= b(X,A), c(A,'New York')\n"
    """
    constants = {term for rule in program for term in _terms(rule) if isinstance(term, Constant)}
    has_codes = any(isinstance(c.value, str) and is_code(c.value) for c in constants)
    return "".join(f"{_line(rule, has_codes)}\n" for rule in program)


def _terms(rule: Rule) -> tuple[Term, ...]:
    return (*rule.head.args, *(arg for literal in rule.body for arg in literal.atom.args))


def _line(rule: Rule, has_codes: bool) -> str:
    if len(rule.variables) > len(_NAMES):
        raise LogicError(f"AnyBURL has no more than {len(_NAMES)} variables, and '{rule}' needs more")
    if rule.probability != 1:
        raise LogicError(f"AnyBURL has no place for the probability of '{rule}': write ProbLog or JSON")
    names = dict(zip(rule.variables, _NAMES, strict=False))
    body = []
    for literal in rule.body:
        apart = literal.atom.predicate == "\\=" and len(literal.variables) == 2
        if apart and not literal.negated:
            continue
        if not literal.binds:
            raise LogicError(f"AnyBURL has neither negation nor comparison, so '{rule}' cannot be written")
        body.append(_atom(literal.atom, names, has_codes))
    evidence = main_evidence(rule)
    counts = ["0", "0", "0.0"]
    if evidence is not None:
        counts = [spell_count(evidence.n_b), spell_count(evidence.n_r), repr(float(evidence.confidence))]
    return "\t".join([*counts, f"{_atom(rule.head, names, has_codes)} <= {', '.join(body)}".rstrip()])


def _atom(atom: Atom, names: dict[Variable, str], has_codes: bool) -> str:
    if not _BARE_NAME.match(atom.predicate) or not atom.args:
        raise LogicError(f"AnyBURL cannot write {atom}: names there have arguments and no blanks or brackets")
    return f"{atom.predicate}({','.join(_term(arg, names, has_codes) for arg in atom.args)})"


def _term(term: Term, names: dict[Variable, str], has_codes: bool) -> str:
    if isinstance(term, Variable):
        return names[term]
    if not isinstance(term.value, str):
        if has_codes:
            raise LogicError(
                f"AnyBURL cannot tell the number {term} from the names beside it with leading zeros"
            )
        return str(term)
    looks_like_number = not has_codes and _is_number(term.value)
    looks_like_variable = len(term.value) == 1 and "A" <= term.value <= "Z"
    if looks_like_number or looks_like_variable or not _BARE_TERM.match(term.value):
        return "'" + quote(f" {term.value}")[2:]  # the blank makes sure of the quotes
    return term.value


def _is_number(text: str) -> bool:
    try:
        return read_number(text) is not None
    except LogicError:  # a number, though too large for one
        return True
