"""Lists and compound terms as constants: each is kept as its canonical text.

Canonical text has no blanks and writes every functor before its arguments, so that
equal terms are equal texts: `[a,[b,c]]`, `f(x,[1])`, and `'-'(jean,jacques)`, which
people write `jean-jacques`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from andre.errors import LogicError
from andre.logic.spelling import QUOTED, is_plain_name, quote, read_number, spell_number, unquote

#: How deep terms may nest: their text is built afresh at each level.
DEEPEST_TERM = 100

#: The operators that are written between their arguments.
INFIX = frozenset("+-*/:^")
_LEFT_TO_RIGHT = frozenset("+-*/")  # a-b-c is (a-b)-c

_TOKEN = re.compile(rf"{QUOTED}|[a-z][A-Za-z0-9_]*|-?[0-9][0-9.eE+-]*")
#: Names that Prolog has as operators: beside another operator they would need brackets of their own.
NAMED_OPERATORS = frozenset(
    {
        "as",
        "discontiguous",
        "div",
        "divmod",
        "dynamic",
        "initialization",
        "is",
        "meta_predicate",
        "mod",
        "module_transparent",
        "multifile",
        "not",
        "public",
        "rdiv",
        "rem",
        "table",
        "thread_initialization",
        "thread_local",
        "tnot",
        "volatile",
        "xor",
    }
)


def list_text(items: Iterable[str]) -> str:
    """The canonical text of a list whose items are canonical texts."""
    return f"[{','.join(items)}]"


def compound_text(functor: str, arguments: Iterable[str]) -> str:
    """The canonical text of a compound term whose arguments are canonical texts.

    Examples
    --------
    >>> compound_text("-", ["jean", "jacques"])
    "'-'(jean,jacques)"
    """
    return f"{quote(functor)}({','.join(arguments)})"


def is_term(text: str) -> bool:
    """Whether the text is a list or a compound term without variables, in canonical text.

    Examples
    --------
    >>> is_term("[a,[1,'New York'],[]]"), is_term("f(x,[1])"), is_term("'-'(a,b)")
    (True, True, True)
    >>> is_term("[a, b]"), is_term("[X]"), is_term("Smith (John)"), is_term("a-b"), is_term("a")
    (False, False, False, False, False)
    """
    return _tree_of(text) is not None


def spell_term(text: str) -> str | None:
    """A list or compound term as people write it, operators between their arguments; None for other texts.

    Examples
    --------
    >>> spell_term("'-'('-'(a,b),f(-1))"), spell_term("'-'(a,'-'(b,-1))"), spell_term("a-b")
    ('a-b-f(-1)', 'a-(b-(-1))', None)
    """
    tree = _tree_of(text)
    if tree is None:
        return None
    return _spell(tree) if "'(" in text else text  # every operator is quoted in canonical text


class _Tree(NamedTuple):
    """A name or number as its text; a list, whose functor is None; or a compound term."""

    text: str
    functor: str | None = None
    children: tuple[_Tree, ...] = ()

    @property
    def is_infix(self) -> bool:
        return (
            self.functor in INFIX
            and len(self.children) == 2
            and not any(child.text in NAMED_OPERATORS for child in self.children)
        )


def _tree_of(text: str) -> _Tree | None:
    # Almost all constants are names, which end in something else.
    if not text.endswith(("]", ")")):
        return None
    found = _read(text, 0, 0)
    return found[0] if found is not None and found[1] == len(text) else None


def _read(text: str, start: int, depth: int) -> tuple[_Tree, int] | None:
    """The term that begins at a position, and the position after it; None if there is none."""
    if depth > DEEPEST_TERM:
        return None
    functor, place = None, start
    if not text.startswith("[", start):
        match = _TOKEN.match(text, start)
        if match is None or not _is_canonical(match[0]):
            return None
        place = match.end()
        is_name = not (match[0][0].isdigit() or match[0][0] == "-")
        if not (is_name and text.startswith("(", place)):
            return _Tree(match[0]), place
        functor = unquote(match[0]) if match[0][0] == "'" else match[0]
    closing = "]" if functor is None else ")"
    children: list[_Tree] = []
    place += 1
    if text.startswith("]", place) and functor is None:
        return _Tree("[]"), place + 1
    while found := _read(text, place, depth + 1):
        children.append(found[0])
        place = found[1] + 1
        if text.startswith(closing, place - 1):
            return _Tree(text[start:place], functor, tuple(children)), place
        if not text.startswith(",", place - 1):
            break
    return None


def _spell(tree: _Tree) -> str:
    if not tree.children:
        return tree.text
    if not tree.is_infix:
        inner = map(_spell, tree.children)
        return list_text(inner) if tree.functor is None else compound_text(tree.functor, inner)
    left, right = tree.children
    is_chain = left.is_infix and left.functor == tree.functor and tree.functor in _LEFT_TO_RIGHT
    return f"{_spell(left) if is_chain else _operand(left)}{tree.functor}{_operand(right)}"


def _operand(tree: _Tree) -> str:
    # In brackets, so that the minus of -1 is no operator.
    return f"({_spell(tree)})" if tree.is_infix or tree.text.startswith("-") else _spell(tree)


def _is_canonical(token: str) -> bool:
    try:
        if token.startswith("'"):
            return quote(unquote(token)) == token
        number = read_number(token)
    except LogicError:
        return False
    return is_plain_name(token) if number is None else spell_number(number) == token
