"""The grammar of Prolog, ProbLog and AnyBURL, for lark, and the raw clauses that it gives.

It has three start symbols: a `program` of clauses that end in dots, one
AnyBURL `line`, and a `single` atom. AnyBURL writes constants without quotes, so
its terms have terminals of their own; the contextual lexer keeps them apart.
`parse` makes atoms and rules of what is read here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from andre.errors import LogicError, shorten
from andre.logic.atom import Constant, Term, Variable
from andre.logic.spelling import QUOTED, quote, read_number, unquote
from andre.logic.terms import DEEPEST_TERM, compound_text, list_text

if TYPE_CHECKING:
    from lark import Lark, Token

GRAMMAR = r"""
program: (clause | directive)*
directive: DIRECTIVE
clause: [PROBABILITY "::"] atom [(":-" | "<=") body] _DOT
body: literal ("," literal)*
literal: positive
       | _NEGATION positive          -> negation
       | _NEGATION "(" positive ")"  -> negation
?positive: atom | comparison
comparison: left COMPARISON term
?left: atom | VARIABLE -> variable | STRING -> quoted | DIGITS -> bare | list
atom: name ["(" [terms] ")"]
terms: term ("," term)*
?name: NAME | QUOTED | CAPITALISED
?term: VARIABLE -> variable
     | sum
?sum: product  | sum SUM product       -> infix
?product: pair | product PRODUCT pair  -> infix
?pair: item    | item PAIR pair        -> infix
?item: NAME    -> bare
     | QUOTED  -> quoted
     | STRING  -> quoted
     | DIGITS  -> bare
     | list
     | compound
     | "(" sum ")"
list: START [sum ("," sum)*] "]"
compound: (NAME | QUOTED) "(" sum ("," sum)* ")"

?single: atom _DOT?

line: [COUNT COUNT _CONFIDENCE] line_atom "<=" [line_body] _DOT?
line_body: line_atom ("," line_atom)*
line_atom: LINE_NAME "(" line_term ("," line_term)* ")"
line_term: LINE_TERM | QUOTED

DIRECTIVE.3: /:-(?:<QUOTED>|"(?:[^"\\\n]|\\.)*+"|[^.'"]|\.(?![\s%]|\Z))*+\.(?=[\s%]|\Z)/
PROBABILITY: /[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?=\s*::)/
_NEGATION.3: /\\\+|not(?![A-Za-z0-9_])/
COMPARISON: /\\=(?!=)|=<|>=|[<>=](?![=:<>\\.@])/
CAPITALISED.2: /[A-Z_]\w*(?=\s*\()/
VARIABLE: /[A-Z_][A-Za-z0-9_]*/
NAME: /[^\W\d_A-Z]\w*/
DIGITS: /-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/
QUOTED.2: /<QUOTED>/
STRING: /"(?:[^"\\\n]|\\[\s\S])*+"/
START: "["
SUM: /[-+]/
PRODUCT: /\*|\/(?!\*)/
PAIR: /\^|:(?![:-])/
_DOT: /\.(?=[\s%]|\Z)/

COUNT: /[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?=\s)/
_CONFIDENCE: /[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?=\s)/
LINE_NAME.2: /[^\s(),]+(?=\()/
LINE_TERM: /(?:[^\s,()']|\([^\s()]*\))(?:[^\s,()]|\([^\s()]*\))*+/

COMMENT: /%[^\n]*+|\/\*(?:[^*]|\*(?!\/))*+\*\//
%ignore /\s+/
%ignore COMMENT
""".replace("<QUOTED>", QUOTED)


class _Anonymous:
    """The variable `_`, a different one at each place."""


_ANONYMOUS = _Anonymous()


class TermText(NamedTuple):
    """A list or compound term as its canonical text, with its depth of nesting."""

    text: str
    depth: int


#: Where reading begins: a file of clauses, one atom, or a line of AnyBURL.
Start: TypeAlias = Literal["program", "single", "line"]
#: A string is a constant of an AnyBURL line: whether a name or a number is not known yet.
RawTerm: TypeAlias = Term | TermText | _Anonymous | str


class RawAtom(NamedTuple):
    """An atom in which `_` has no name yet."""

    predicate: str
    args: tuple[RawTerm, ...]
    line: int
    is_true: bool = False  #: the goal `true`, written without quotes


class RawLiteral(NamedTuple):
    """A raw atom, or its negation."""

    atom: RawAtom
    negated: bool


class RawClause(NamedTuple):
    """A clause as it was written."""

    head: RawAtom
    body: tuple[RawLiteral, ...]
    probability: float | None = None
    counts: tuple[float, float] | None = None  #: AnyBURL's N_b and N_r


class RawDirective(NamedTuple):
    """A directive: `:- text.` as a whole."""

    text: str
    line: int


class ReadError(Exception):
    """A syntax error, with the line where it occurs."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message, self.line = message, line


class _Reader:
    """One method per rule of the grammar, called bottom-up, so that nesting causes no recursion."""

    def terms(self, *items: Any) -> tuple[Any, ...]:
        return items

    program = body = terms

    def directive(self, token: Token) -> RawDirective:
        return RawDirective(str(token), _line(token))

    def clause(
        self, probability: Token | None, head: RawAtom, body: tuple[RawLiteral, ...] | None
    ) -> RawClause:
        return RawClause(head, body or (), None if probability is None else float(probability))

    def literal(self, atom: RawAtom) -> RawLiteral:
        return RawLiteral(atom, negated=False)

    def negation(self, atom: RawAtom) -> RawLiteral:
        return RawLiteral(atom, negated=True)

    def comparison(self, left: RawAtom | RawTerm, sign: Token, right: RawTerm) -> RawAtom:
        side = _as_term(left, sign) if isinstance(left, RawAtom) else left
        return RawAtom(str(sign), (side, right), _line(sign))

    def atom(self, name: Token, args: tuple[RawTerm, ...] | None = None) -> RawAtom:
        is_true = name.type == "NAME" and name == "true" and not args
        return RawAtom(_name(name), args or (), _line(name), is_true)

    def variable(self, token: Token) -> RawTerm:
        return _ANONYMOUS if token == "_" else Variable(str(token))

    def bare(self, token: Token) -> Constant:
        if token.type == "NAME":
            return Constant(_name(token))
        try:
            number = read_number(token)
        except LogicError as error:
            raise ReadError(str(error), _line(token)) from None
        return Constant(str(token) if number is None else number)

    def quoted(self, token: Token) -> Constant:
        return Constant(_name(token))

    def list(self, start: Token, *items: Constant | TermText | None) -> TermText:
        found = [item for item in items if item is not None]
        return TermText(list_text(map(_canonical, found)), _depth_over(start, found))

    def compound(self, name: Token, *args: Constant | TermText) -> TermText:
        return TermText(compound_text(_name(name), map(_canonical, args)), _depth_over(name, args))

    def infix(self, left: Constant | TermText, sign: Token, right: Constant | TermText) -> TermText:
        text = compound_text(str(sign), map(_canonical, (left, right)))
        return TermText(text, _depth_over(sign, (left, right)))

    def line(
        self, n_b: Token | None, n_r: Token | None, head: RawAtom, body: tuple[RawLiteral, ...] | None
    ) -> RawClause:
        counts = None if n_b is None or n_r is None else (float(n_b), float(n_r))
        return RawClause(head, body or (), counts=counts)

    def line_body(self, *atoms: RawAtom) -> tuple[RawLiteral, ...]:
        return tuple(RawLiteral(atom, negated=False) for atom in atoms)

    def line_atom(self, name: Token, *args: RawTerm) -> RawAtom:
        return RawAtom(str(name), args, _line(name))

    def line_term(self, token: Token) -> RawTerm:
        # AnyBURL's variables are single capitals; whatever else stands there is a constant.
        if len(token) == 1 and "A" <= token <= "Z":
            return Variable(str(token))
        return Constant(_name(token)) if token.type == "QUOTED" else str(token)


def _canonical(term: Constant | TermText) -> str:
    if isinstance(term, TermText):
        return term.text
    # A name that looks like a term was written in quotes, and keeps them inside another term.
    return str(term) if term.number is not None else quote(str(term.value))


def _as_term(atom: RawAtom, sign: Token) -> RawTerm:
    """The term that was read as an atom before the sign of a comparison followed."""
    args = [arg for arg in atom.args if isinstance(arg, Constant | TermText)]
    if len(args) < len(atom.args):
        raise ReadError(_complaint(str(sign)), _line(sign))
    if not args:
        return Constant(atom.predicate)
    return TermText(compound_text(atom.predicate, map(_canonical, args)), _depth_over(sign, args))


def _depth_over(token: Token, inner: Iterable[Constant | TermText]) -> int:
    depth = 1 + max((item.depth for item in inner if isinstance(item, TermText)), default=0)
    if depth > DEEPEST_TERM:
        raise ReadError(f"a term nests deeper than {DEEPEST_TERM} levels", _line(token))
    return depth


def _line(token: Token) -> int:
    return token.line or 1


def _name(token: Token) -> str:
    if token.type in ("QUOTED", "STRING"):
        try:
            name = unquote(token)
        except LogicError as error:
            raise ReadError(str(error), _line(token)) from None
        return name
    if token.type == "NAME" and token[0].isupper():
        raise ReadError(f"a name that begins like {token} needs quotes: write '{token}'", _line(token))
    return str(token)


@cache
def _parser() -> Lark:
    from lark import Lark  # noqa: PLC0415  (lark costs more time than most commands need)

    reader = _Reader()
    callbacks = {name: partial(_call, getattr(reader, name)) for name in dir(_Reader) if name[0] != "_"}
    starts = ["program", "single", "line"]
    transformer: Any = SimpleNamespace(**callbacks)
    return Lark(GRAMMAR, parser="lalr", lexer="contextual", start=starts, transformer=transformer)


def _call(method: Callable[..., Any], children: list[Any]) -> Any:
    return method(*children)


_HINTS = {
    ";": "write one clause for each alternative",
    "\\+": "negation stands in a body, after a comma, and a fact that is false is written 0.0::p(x).",
    "->": "write one clause for each case",
    "!": "rules are tried in any order here, so leave the cut out",
    "|": "lists are constants in rules, so write them out whole",
    "<=": "less or equal is written =<",
    "==": "equality is written =",
    "\\==": "inequality is written \\=",
    "is": "arithmetic is not supported, so add a relation that holds the result",
    "(": "arguments are names, numbers, variables, lists and compound terms without variables",
}


def read_raw(text: str, start: Start) -> Any:
    """Read a text from one of the grammar's start symbols: raw items, an atom or a clause.

    Raises
    ------
    ReadError
        With the line, and what to do about it.
    """
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken  # noqa: PLC0415

    try:
        return _parser().parse(text, start=start)
    except UnexpectedToken as error:
        if error.token.type != "$END":
            raise ReadError(_complaint(str(error.token), start), error.line or 1) from None
        line = text.rstrip().count("\n") + 1
        what = "close its bracket" if text.count("(") > text.count(")") else "end it with a dot"
        raise ReadError(f"the text ends inside a clause: {what}", line) from None
    except UnexpectedCharacters as error:
        found = text[error.pos_in_stream or 0 :][:40]
        raise ReadError(_complaint(found, start), error.line or 1) from None


def _complaint(found: str, start: Start = "program") -> str:
    found = found.split("\n", maxsplit=1)[0].strip()
    shown = shorten(found, 30)
    for sign, hint in _HINTS.items():
        if found.startswith(sign) and (sign != "is" or found[2:3] in ("", " ")):
            return f"{shown!r} cannot stand here: {hint}"
    if found.startswith(("'", '"', "/*")):
        return f"{shown!r} is opened and never closed in its line, or cannot stand here"
    if start == "single":
        return f"{shown!r} cannot stand here: an atom is written parent(ann, bob)"
    return f"{shown!r} cannot stand here: a clause is written head :- literal, literal."
