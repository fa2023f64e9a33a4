"""Programs as JSON, term by term: the one format that loses nothing."""

from __future__ import annotations

import json
from typing import Any

from andre.errors import LogicError
from andre.logic.atom import Atom, Constant, Literal, Term, Variable
from andre.logic.program import Program
from andre.logic.rule import Evidence, Rule

_FORMAT = "andre program"
_VERSION = 1


def to_json(program: Program) -> str:
    """A program as JSON text; each `rule` is Prolog for people and is not read back.

    Examples
    --------
    >>> from andre.logic.parse import parse_program
    >>> document = json.loads(to_json(parse_program("h(X) :- \\\\+ p(X, 3).")))
    >>> document["rules"][0]["body"]
    [{'predicate': 'p', 'args': [{'variable': 'X'}, {'constant': 3}], 'negated': True}]
    """
    rules = [
        {
            "rule": str(rule),
            "head": _atom(rule.head),
            "body": [{**_atom(literal.atom), "negated": literal.negated} for literal in rule.body],
            "probability": rule.probability,
            "evidence": [
                {"split": item.split, "N_b": item.n_b, "N_r": item.n_r, "confidence": item.confidence}
                for item in rule.evidence
            ],
        }
        for rule in program
    ]
    return json.dumps({"format": _FORMAT, "version": _VERSION, "rules": rules}, indent=2) + "\n"


def from_json(text: str, source: str = "<text>") -> Program:
    """Read a program from JSON text.

    Raises
    ------
    LogicError
        Naming the source, and the line where it is no JSON.
    """
    try:
        document = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise LogicError(f"{source}, line {error.lineno}: this is not JSON: {error.msg}") from None
    except ValueError:
        raise LogicError(f"{source} has a number of thousands of digits: write it shorter") from None
    except RecursionError:
        raise LogicError(f"{source} nests too deep for a program") from None
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise LogicError(f"{source} is no program: it does not say 'format': '{_FORMAT}'")
    if document.get("version") != _VERSION:
        raise LogicError(f"{source} has version {document.get('version')}, and only {_VERSION} can be read")
    try:
        return Program(tuple(map(_read_rule, document["rules"])))
    except LogicError as error:
        raise LogicError(f"{source}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise LogicError(f"{source} lacks a part of a rule: {type(error).__name__} at {error}") from None


def _atom(atom: Atom) -> dict[str, Any]:
    return {"predicate": atom.predicate, "args": [_term(arg) for arg in atom.args]}


def _term(term: Term) -> dict[str, Any]:
    return {"variable": term.name} if isinstance(term, Variable) else {"constant": term.value}


def _read_rule(rule: dict[str, Any]) -> Rule:
    body = tuple(Literal(_read_atom(item), bool(item["negated"])) for item in rule["body"])
    evidence = tuple(Evidence(str(e["split"]), e["N_b"] + 0, e["N_r"] + 0) for e in rule["evidence"])
    return Rule(_read_atom(rule["head"]), body, evidence, float(rule["probability"]))


def _read_atom(atom: dict[str, Any]) -> Atom:
    if not isinstance(atom["predicate"], str):
        raise TypeError("predicate")
    return Atom(atom["predicate"], tuple(map(_read_term, atom["args"])))


def _read_term(term: dict[str, Any]) -> Term:
    return Variable(term["variable"]) if "variable" in term else Constant(term["constant"])
