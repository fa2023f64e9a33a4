"""Terms and atoms: frozen values whose `str()` is Prolog."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from andre.errors import LogicError

__all__ = ["BUILTINS", "Atom", "Constant", "Term", "Variable", "quote"]

#: Built-in relations between two terms, written infix.
BUILTINS = frozenset({"\\=", "=", "<", "=<", ">", ">="})

_PLAIN_NAME = re.compile(r"[a-z][A-Za-z0-9_]*\Z")
_VARIABLE_NAME = re.compile(r"[A-Z_][A-Za-z0-9_]*\Z")
_CALL = re.compile(r"\s*(?P<name>[^\s()',]+|'[^']+')\s*\((?P<args>[^()']*)\)\s*\Z")
_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_FLOAT = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z")
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def quote(name: str) -> str:
    """Write a name as a Prolog atom, in quotes only where Prolog needs them.

    Examples
    --------
    >>> print(quote("mother"), quote("Sepal Length"), quote("it's"))
    mother 'Sepal Length' 'it\\'s'
    """
    if _PLAIN_NAME.match(name):
        return name
    return "'" + "".join(_ESCAPES.get(letter, letter) for letter in name) + "'"


@dataclass(frozen=True, slots=True, order=True)
class Variable:
    """A logical variable.

    Examples
    --------
    >>> str(Variable("X1"))
    'X1'
    """

    name: str

    def __post_init__(self) -> None:
        if not _VARIABLE_NAME.match(self.name):
            raise LogicError(
                f"{self.name!r} cannot name a variable: "
                "a variable begins with a capital letter or an underscore"
            )

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A constant: a name or a number. As in Prolog, 1 and 1.0 are two constants.

    Examples
    --------
    >>> print(Constant("ann"), Constant("New York"), Constant(3))
    ann 'New York' 3
    >>> Constant(1) == Constant(1.0)
    False
    """

    value: str | int | float

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant):
            return NotImplemented
        return type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return quote(self.value) if isinstance(self.value, str) else repr(self.value)


Term: TypeAlias = Variable | Constant


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate applied to terms; with no terms, a proposition.

    Examples
    --------
    >>> print(Atom("mother", (Variable("X1"), Constant("ann"))))
    mother(X1, ann)
    >>> print(Atom("\\\\=", (Variable("X"), Variable("Y"))))
    X \\= Y
    """

    predicate: str
    args: tuple[Term, ...] = ()

    def __post_init__(self) -> None:
        if not self.predicate:
            raise LogicError("an atom needs a predicate name, and this one is empty")
        if self.is_builtin and len(self.args) != 2:
            raise LogicError(f"{self.predicate} stands between two terms, not {len(self.args)}")

    @classmethod
    def parse(cls, text: str) -> Atom:
        """Read `name(T1, ..., Tn)`; any other text is the name of a proposition.

        Column names go through here, so nothing is refused that a table may
        use as a name: what does not look like an atom is quoted when printed.

        Examples
        --------
        >>> Atom.parse("mother(X1, ann)").args
        (Variable(name='X1'), Constant(value='ann'))
        >>> print(Atom.parse("Sepal Length (cm)"))
        'Sepal Length (cm)'
        """
        if match := _CALL.match(text):
            pieces = [piece.strip() for piece in match["args"].split(",")]
            if all(pieces):
                return cls(match["name"].strip("'"), tuple(map(_term, pieces)))
        return cls(text)

    @property
    def arity(self) -> int:
        """How many arguments the atom has."""
        return len(self.args)

    @property
    def is_builtin(self) -> bool:
        """Whether this is a comparison, which no fact states."""
        return self.predicate in BUILTINS

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The distinct variables, in order of first occurrence."""
        return tuple(dict.fromkeys(arg for arg in self.args if isinstance(arg, Variable)))

    def substitute(self, bindings: Mapping[Variable, Term]) -> Atom:
        """Replace variables by terms; those without a binding stay."""
        return Atom(
            self.predicate,
            tuple(bindings.get(arg, arg) if isinstance(arg, Variable) else arg for arg in self.args),
        )

    def __str__(self) -> str:
        if self.is_builtin:
            return f"{self.args[0]} {self.predicate} {self.args[1]}"
        name = quote(self.predicate)
        return f"{name}({', '.join(map(str, self.args))})" if self.args else name


def _term(text: str) -> Term:
    if _VARIABLE_NAME.match(text):
        return Variable(text)
    # Not by trying int() and float(): they would read the names nan, infinity and 1_000.
    if _INTEGER.match(text):
        return Constant(int(text))
    return Constant(float(text) if _FLOAT.match(text) else text)
