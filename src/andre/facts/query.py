"""Queries: an atom with one open argument such as `isa(x, ?)`, with names as in the facts."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from andre.errors import DataError, LogicError
from andre.facts.base import FactBase
from andre.facts.relation import Value
from andre.logic import QUOTED, Atom, Constant, Term, Variable, number_or_none, parse_atom, unquote

# With one place left open, whatever else stands between the brackets is the other: commas and all.
_QUESTION = re.compile(
    rf"\s*(?P<name>{QUOTED}|[^('\s][^(]*?)\s*\(\s*"
    r"(?:\?\s*,\s*(?P<second>.*?\S)|(?P<first>\S.*?)\s*,\s*\?)\s*\)\s*\.?\s*\Z"
)
_IN_QUOTES = re.compile(rf'(?:{QUOTED}|"(?:[^"\\\n]|\\[\s\S])*+")\Z')
_ANSWER = Variable("Answer")


def read_query(text: str, facts: FactBase) -> Atom:
    """Read a query: an atom of a binary relation with one open argument, `?` or a variable.

    Names may stand without quotes, as in the file that they come from. Beside
    a `?` nothing else is open, so there a capital letter begins a name.

    Raises
    ------
    DataError, LogicError
        Where the facts have no such relation or constant, naming near ones.

    Examples
    --------
    >>> rows = [Atom("lives in", (Constant("Ann Lee"), Constant("Bonn")))]
    >>> facts = FactBase.from_facts(rows)
    >>> print(read_query("lives in(Ann Lee, ?)", facts))
    'lives in'('Ann Lee', Answer)
    >>> read_query("lives in(Ann, ?)", facts)
    Traceback (most recent call last):
    ...
    andre.errors.DataError: no fact mentions 'Ann': did you mean 'Ann Lee'?
    """
    question = _QUESTION.match(text)
    if question is None:
        return _resolved(_parsed(text), facts)
    second = question["second"]
    given = question["first"] if second is None else second
    if given == "?":
        raise DataError(f"{text} leaves both places open: name one, as in {question['name']}(x, ?)")
    name = str(_readings(question["name"])[0])
    _check_relation(name, 2, facts)
    end = _known(_readings(given), facts)
    return Atom(name, (end, _ANSWER) if second is None else (_ANSWER, end))


def as_stated(atom: Atom, facts: FactBase) -> Atom:
    """The atom with its constants as in the facts, where what looks like a number may be a name.

    Examples
    --------
    >>> facts = FactBase.from_facts([Atom("next", (Constant("007"), Constant("12")))])
    >>> print(as_stated(parse_atom("next(007, 12)"), facts))
    next('007', '12')
    """
    return Atom(atom.predicate, tuple(_as_stated(arg, facts) for arg in atom.args))


def _as_stated(arg: Term, facts: FactBase) -> Term:
    if isinstance(arg, Variable) or facts.code(arg.value) is not None or facts.code(str(arg)) is None:
        return arg
    return Constant(str(arg))


def _parsed(text: str) -> Atom:
    try:
        return parse_atom(text)
    except LogicError:
        raise LogicError(f"{text!r} is no question: name a relation and one end, as in isa(x, ?)") from None


def _readings(text: str) -> list[Value]:
    """The constants that a text may mean, most likely first."""
    if _IN_QUOTES.match(text):
        return [unquote(text), text]
    number = number_or_none(text)
    return [text] if number is None else [text, number]


def _resolved(atom: Atom, facts: FactBase) -> Atom:
    """The atom with its single constant as in the facts."""
    _check_relation(atom.predicate, atom.arity, facts)
    given = [arg for arg in atom.args if isinstance(arg, Constant)]
    if len(given) != 1:
        raise DataError(f"{atom} must leave one place open, as in {Atom(atom.predicate)}(x, ?)")
    stated = as_stated(atom, facts)
    _known([arg.value for arg in stated.args if isinstance(arg, Constant)], facts)
    return stated


def _check_relation(name: str, arity: int, facts: FactBase) -> None:
    names = [known for known, places in facts.relations if places == 2]
    if arity == 2 and name in names:
        return
    near = near_names(name, names)
    few = [*names[:8], "..."] if len(names) > 8 else names
    hint = f"did you mean {' or '.join(near)}?" if near else f"choose from {', '.join(few)}"
    why = "there is no such relation" if arity == 2 else "only relations of two arguments are ranked"
    raise DataError(f"{name}/{arity} cannot be ranked, {why}: {hint}")


def _known(readings: list[Value], facts: FactBase) -> Constant:
    for value in readings:
        if facts.code(value) is not None:
            return Constant(value)
    near = near_names(str(readings[0]), (value for value in facts.constants if isinstance(value, str)))
    names = " or ".join(str(Constant(name)) for name in near)
    hint = f"did you mean {names}?" if near else "check its spelling"
    raise DataError(f"no fact mentions {Constant(readings[0])}: {hint}")


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """Up to three names with a similar spelling, ignoring case."""
    lowered = {known.lower(): known for known in names}
    return [lowered[close] for close in difflib.get_close_matches(name.lower(), lowered, n=3)]
