"""Terms, atoms and literals: frozen values whose `str()` is Prolog, and what comparisons mean."""

from __future__ import annotations

import math
import numbers
import operator
import re
from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

from andre.errors import LogicError
from andre.logic.spelling import number_or_none, quote, read_date, read_number, spell_number
from andre.logic.terms import is_term, spell_term

#: The comparisons by size, which hold between numbers only.
ORDERS = {"<": operator.lt, "=<": operator.le, ">": operator.gt, ">=": operator.ge}
#: The predicate of a column whose cell is empty or cannot be read: `missing(age)`.
MISSING = "missing"
#: All comparisons: built-in predicates of two terms, written infix.
BUILTINS = frozenset({"\\=", "=", *ORDERS})
#: The comparison that holds where another does not.
_COMPLEMENTS = {">": "=<", "=<": ">", "<": ">=", ">=": "<", "=": "\\=", "\\=": "="}

_VARIABLE_NAME = re.compile(r"[A-Z_][A-Za-z0-9_]*\Z")
_CALL = re.compile(r"\s*(?P<name>[^\s()',]+|'[^']+')\s*\((?P<args>[^()']*)\)\s*\Z")
_KEYWORDS = frozenset({"not", "true"})  # Prolog reads these as negation and as the empty body unless quoted


@dataclass(frozen=True, slots=True, order=True)
class Variable:
    """A logical variable."""

    name: str

    def __post_init__(self) -> None:
        if not _VARIABLE_NAME.match(self.name):
            raise LogicError(
                f"{self.name!r} cannot name a variable: "
                "a variable begins with a capital letter or an underscore"
            )
        if self.name == "_":
            raise LogicError("_ is a new variable wherever it is written, so it cannot name one: use _1, _2")

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Constant:
    """A name, a number, or a list or compound term without variables (kept as its canonical text).

    Equality is Prolog's: 1, 1.0 and '1' are three constants.

    Examples
    --------
    >>> print(Constant("ann"), Constant("New York"), Constant(3), Constant("[a,f(b)]"), Constant("'-'(a,b)"))
    ann 'New York' 3 [a,f(b)] a-b
    >>> Constant(1) == Constant(1.0)
    False
    """

    value: str | int | float

    def __post_init__(self) -> None:
        if type(self.value) not in (str, int):
            object.__setattr__(self, "value", _plain_value(self.value))

    @classmethod
    def read(cls, text: str) -> Constant:
        """The constant that a text without quotes stands for: a number if it is one, else a name.

        Examples
        --------
        >>> Constant.read("3"), Constant.read("007"), Constant.read("1e-3")
        (Constant(value=3), Constant(value='007'), Constant(value=0.001))
        """
        number = read_number(text)
        return cls(text if number is None else number)

    @property
    def number(self) -> int | float | None:
        """The value where it is a number, else None."""
        return None if isinstance(self.value, str) else self.value

    @property
    def canonical(self) -> str:
        """The text of the constant inside another term: functors before arguments.

        Examples
        --------
        >>> print(Constant("'-'(a,b)").canonical, Constant("New York").canonical)
        '-'(a,b) 'New York'
        """
        if isinstance(self.value, str):
            return self.value if is_term(self.value) else quote(self.value)
        return spell_number(self.value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant):
            return NotImplemented
        return type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        if not isinstance(self.value, str):
            return spell_number(self.value)
        return spell_term(self.value) or quote(self.value)


def _plain_value(value: object) -> str | int | float:
    """The value as a plain Python type, not one of NumPy's; values that Prolog cannot write are refused."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value):
        return float(value) + 0.0  # -0.0 and 0.0 are one number
    raise LogicError(f"{value!r} cannot be a constant: a constant is a name or a finite number")


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

    @staticmethod
    def parse(text: str) -> Atom:
        """Read an atom from Prolog text; see `andre.logic.parse_atom`.

        Examples
        --------
        >>> print(Atom.parse("parent(ann, 'New York')"))
        parent(ann, 'New York')
        """
        from andre.logic.parse import parse_atom  # noqa: PLC0415  (it imports this module)

        return parse_atom(text)

    @classmethod
    def from_column(cls, text: str) -> Atom:
        """The atom that a column of a table is named after.

        `name(T1, ..., Tn)` is read as it looks. Any other text becomes the name
        of a proposition and is quoted when printed: no column name is refused.

        Examples
        --------
        >>> Atom.from_column("mother(X1, ann)").args
        (Variable(name='X1'), Constant(value='ann'))
        >>> print(Atom.from_column("Sepal Length (cm)"))
        'Sepal Length (cm)'
        """
        if match := _CALL.match(text):
            pieces = [piece.strip() for piece in match["args"].split(",")]
            if all(pieces):
                return cls(match["name"].strip("'"), _terms(pieces))
        return cls(text)

    @property
    def arity(self) -> int:
        """How many arguments the atom has."""
        return len(self.args)

    @property
    def key(self) -> tuple[str, int]:
        """Predicate and arity, which identify the relation."""
        return self.predicate, len(self.args)

    @property
    def is_builtin(self) -> bool:
        """Whether this is a comparison."""
        return self.predicate in BUILTINS

    @property
    def column(self) -> str | None:
        """The column of a table that is compared with a value; None for any other atom.

        Sizes are compared with numbers and ISO dates, equality is with any constant.

        Examples
        --------
        >>> Atom(">", (Constant("age"), Constant(42))).column
        'age'
        >>> Atom(">", (Variable("Age"), Constant(42))).column is None
        True
        """
        if not self.is_builtin:
            return None
        left, right = self.args
        if not (isinstance(left, Constant) and isinstance(right, Constant) and isinstance(left.value, str)):
            return None
        if self.predicate in ORDERS and isinstance(right.value, str) and read_date(right.value) is None:
            return None
        return left.value

    @property
    def gap(self) -> str | None:
        """The column in an atom `missing(column)`; None for any other atom.

        Examples
        --------
        >>> Atom(MISSING, (Constant("age"),)).gap
        'age'
        """
        if self.key != (MISSING, 1) or not isinstance(self.args[0], Constant):
            return None
        return str(self.args[0].value)

    @property
    def complement(self) -> Atom:
        """The comparison that holds for known values exactly if this one does not: `>` and `=<`.

        Examples
        --------
        >>> print(Atom("=", (Constant("color"), Constant("red"))).complement)
        color \\= red
        """
        if not self.is_builtin:
            raise LogicError(f"{self} is no comparison, so no other atom is its complement")
        return Atom(_COMPLEMENTS[self.predicate], self.args)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The distinct variables, in order of first occurrence."""
        return tuple(dict.fromkeys(arg for arg in self.args if isinstance(arg, Variable)))

    def substitute(self, bindings: Mapping[Variable, Term]) -> Atom:
        """The atom with variables replaced by terms; variables without a binding are kept."""
        return Atom(
            self.predicate,
            tuple(bindings.get(arg, arg) if isinstance(arg, Variable) else arg for arg in self.args),
        )

    def __str__(self) -> str:
        if self.is_builtin:
            return f"{_left_side(self.args[0])} {self.predicate} {self.args[1]}"
        name = f"'{self.predicate}'" if self.predicate in _KEYWORDS else quote(self.predicate)
        return f"{name}({', '.join(map(str, self.args))})" if self.args else name


def _left_side(term: Term) -> str:
    """A term left of a comparison, quoted so that neither `not` nor an operator is read into it."""
    if isinstance(term, Constant) and isinstance(term.value, str):
        return "'not'" if term.value == "not" else term.canonical
    return str(term)


def fresh_variables(taken: Container[str]) -> Iterator[Variable]:
    """New variables _1, _2, ... without end, one for each place where `_` is written.

    Examples
    --------
    >>> some = fresh_variables({"_1"})
    >>> print(next(some), next(some))
    _2 _3
    """
    return (Variable(name) for name in (f"_{number}" for number in count(1)) if name not in taken)


def _terms(pieces: Collection[str]) -> tuple[Term, ...]:
    fresh = fresh_variables(pieces)
    return tuple(next(fresh) if piece == "_" else _term(piece) for piece in pieces)


def _term(text: str) -> Term:
    if _VARIABLE_NAME.match(text):
        return Variable(text)
    number = number_or_none(text)
    return Constant(text if number is None else number)


@dataclass(frozen=True, slots=True)
class Literal:
    """An atom, or its negation; the negation of a comparison of a column is the opposite comparison.

    Examples
    --------
    >>> b = Literal(Atom("b1"))
    >>> print(b, ~b)
    b1 \\+ b1
    >>> print(~Literal(Atom(">", (Constant("age"), Constant(42)))))
    age =< 42
    """

    atom: Atom
    negated: bool = False

    @property
    def is_builtin(self) -> bool:
        """Whether the atom is a comparison."""
        return self.atom.is_builtin

    @property
    def binds(self) -> bool:
        """Whether the literal binds its variables: it is positive and not a comparison."""
        return not (self.negated or self.is_builtin)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The distinct variables of the atom."""
        return self.atom.variables

    def __invert__(self) -> Literal:
        # If the value is unknown, neither holds, as for any literal about a row.
        if self.atom.column is not None and not self.negated:
            return Literal(self.atom.complement)
        return Literal(self.atom, not self.negated)

    def __str__(self) -> str:
        return f"\\+ {self.atom}" if self.negated else str(self.atom)


def comparison_holds(atom: Atom) -> bool:
    """Whether a comparison of two constants holds.

    Equality is Prolog's unification, so 1 and 1.0 are not equal. Only numbers
    are ordered: `<` and its kin never hold where a name stands.

    Examples
    --------
    >>> comparison_holds(Atom("<", (Constant(1), Constant(2.5))))
    True
    >>> comparison_holds(Atom("<", (Constant("a"), Constant("b"))))
    False
    """
    left, right = atom.args
    if not (isinstance(left, Constant) and isinstance(right, Constant)):
        raise LogicError(f"{atom} cannot be decided: both sides must be constants")
    if atom.predicate in ("=", "\\="):
        return (left == right) == (atom.predicate == "=")
    if left.number is None or right.number is None:
        return False
    return bool(ORDERS[atom.predicate](left.number, right.number))
