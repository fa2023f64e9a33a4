"""The bias file of a Popper folder: settings, rules that derive settings, and constraints on clauses.

Popper's bias files are answer set programs. A setting on its own is read as it
stands; rules such as `body_pred(C,1) :- constant(C,_).` are run by clingo. What
speaks of clauses (`clause/1`, `var_type/3`, `body_literal/4`) is kept as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from andre.errors import DataError, shorten
from andre.facts.bias import Bias
from andre.facts.formats.text import fail_at
from andre.facts.relation import Key
from andre.logic import QUOTED, quote, unquote

if TYPE_CHECKING:
    from clingo import Control, Symbol

_NAME = rf"(?:[a-z]\w*+|{QUOTED})"
_SETTING = re.compile(
    rf"(?P<setting>[a-z]\w*+)\s*+(?:\(\s*+(?:(?P<number>[0-9]{{1,9}})|(?P<name>{_NAME})\s*+,\s*+"
    rf"(?:(?P<arity>[0-9]{{1,3}})|(?P<kind>{_NAME})"
    rf"|\(\s*+(?P<items>{_NAME}\s*+(?:,\s*+{_NAME}\s*+)*+),?+\s*+\)))\s*+\))?+\s*+\.\Z"
)
_PREDICATES = {"head_pred": "head", "body_pred": "body"}
_LISTS = {"type": "types", "direction": "directions"}
_NUMBERS = ("max_vars", "max_body", "max_clauses")
_SWITCHES = ("enable_recursion", "enable_pi", "allow_singletons", "non_datalog")
_KNOWN = {*_PREDICATES, *_LISTS, *_NUMBERS, *_SWITCHES, "constant"}
#: `:- clause(C), #count{V : var_type(C,V,T)} != 1.` without its blanks.
_ONE_OF_TYPE = re.compile(
    r":-clause\((\w+)\),#count\{(\w+):(?:clause_var\(\1,\2\),)?var_type\(\1,\2,(?P<type>[a-z]\w*)\)"
    r"(?:,clause_var\(\1,\2\))?\}!=1\.\Z"
)

#: What clingo puts for a name, as in `#const n = 3.`
_CONST = re.compile(r"#\s*const\b")
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"')


class _Statement(NamedTuple):
    line: int
    text: str


@dataclass
class _Settings:
    """The settings found so far, by the names of the fields of Bias."""

    found: dict[str, Any] = field(default_factory=dict)
    facts: list[str] = field(default_factory=list)  #: the same as clingo reads it

    def add(self, setting: str, values: tuple[Any, ...]) -> bool:
        """Take a setting with its arguments; False if these do not match it."""
        if setting in _PREDICATES and _are(values, str, int):
            self._append(_PREDICATES[setting], values)
        elif setting in _LISTS and _are(values, str, tuple):
            self._append(_LISTS[setting], values)
        elif setting == "constant" and _are(values, str, str):
            self._append("constants", values)
        elif setting in _NUMBERS and _are(values, int):
            self.found[setting] = values[0]
        elif setting in _SWITCHES and not values:
            self.found[setting] = True
        else:
            return False
        return True

    def _append(self, name: str, values: tuple[Any, ...]) -> None:
        items = self.found.setdefault(name, [])
        if values not in items:
            items.append(values)


def read_bias(path: Path, statements: Iterable[tuple[int, str]]) -> tuple[Bias, list[str]]:
    """The bias that the statements of a file make, and a sentence for each thing in it that is not honoured.

    Parameters
    ----------
    path
        The file, for messages.
    statements
        Its statements without comments, each with its line.
    """
    settings, rest = _Settings(), list[_Statement]()
    for line, text in statements:
        match = _SETTING.match(text)
        if match is None or match["setting"] not in _KNOWN or not settings.add(*_setting(match)):
            rest.append(_Statement(line, text))
        elif "'" not in text:
            settings.facts.append(text)
    remarks: list[str] = []
    if rest:
        for constraint in _run(path, rest, settings, remarks):
            if one := _ONE_OF_TYPE.match("".join(constraint.split())):
                settings.found.setdefault("one_of_type", []).append(one["type"])
            else:
                settings.found.setdefault("constraints", []).append(constraint)
    remarks += [
        f"{path.name}: {_short(text)} is kept, but not honoured"
        for text in settings.found.get("constraints", ())
    ]
    made: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in settings.found.items()
    }
    return Bias(**made), remarks


def _setting(match: re.Match[str]) -> tuple[str, tuple[Any, ...]]:
    """Name and arguments of a setting."""
    if match["number"]:
        return match["setting"], (int(match["number"]),)
    if match["name"] is None:
        return match["setting"], ()
    second: Any = int(match["arity"]) if match["arity"] else None
    if match["kind"]:
        second = _plain(match["kind"])
    elif match["items"]:
        second = tuple(_plain(item) for item in re.findall(_NAME, match["items"]))
    return match["setting"], (_plain(match["name"]), second)


def _run(path: Path, statements: list[_Statement], settings: _Settings, remarks: list[str]) -> Iterator[str]:
    """Run facts and rules by clingo to get settings; returns the constraints on clauses."""
    parsed = [(statement, *_predicates(path, statement)) for statement in statements]
    defined = {*_KNOWN, *(head for _, head, body in parsed if head and not body)}
    rules = [item for item in parsed if item[1] and item[2]]
    while new := {head for _, head, body in rules if head and body <= defined} - defined:
        defined |= new
    program = list(settings.facts)
    used = set().union(*(body for _, head, body in rules if body <= defined))
    for statement, head, body in parsed:
        if _CONST.match(statement.text):
            program.append(statement.text)
        elif head is None or not body <= defined:
            yield statement.text
        else:
            program.append(statement.text)
            if not body and head not in _KNOWN and head not in used:
                remarks.append(
                    f"{_short(statement.text)} in {path.name} passed over: no such setting is known here"
                )
    try:
        control = _grounded("\n".join(program))
    except RuntimeError:
        at_fault = next((s for s in statements if not _can_be_grounded(s.text)), statements[0])
        raise _no_setting(path, at_fault.line, at_fault.text) from None
    derived = sorted(atom.symbol for atom in control.symbolic_atoms if atom.symbol.name in _KNOWN)
    for symbol in derived:
        if not settings.add(symbol.name, tuple(map(_value, symbol.arguments))) and symbol.name != "constant":
            line = next((s.line for s in statements if s.text.startswith(symbol.name)), statements[0].line)
            raise _no_setting(path, line, f"{symbol}.")


def _grounded(program: str) -> Control:
    """A program grounded by clingo; RuntimeError if that fails."""
    from clingo import Control  # noqa: PLC0415

    control = Control(logger=lambda code, message: None)
    control.add("base", [], program)
    control.ground([("base", [])])
    return control


def _can_be_grounded(statement: str) -> bool:
    """Whether clingo can ground a statement by itself, which it cannot if a fact has a variable."""
    try:
        _grounded(statement)
    except RuntimeError:
        return False
    return True


def _predicates(path: Path, statement: _Statement) -> tuple[str | None, frozenset[str]]:
    """The predicate that a statement derives, None for a constraint, and those that it reads."""
    from clingo import ast  # noqa: PLC0415

    # clingo knows letters beyond ASCII in quotes only, and ends the process where it quotes half of one.
    if not _QUOTED.sub("", statement.text).isascii():
        raise _no_setting(path, statement.line, statement.text)
    found: list[ast.AST] = []
    try:
        ast.parse_string(statement.text, found.append, logger=lambda code, message: None)
    except RuntimeError:
        raise _no_setting(path, statement.line, statement.text) from None
    rules = [item for item in found if item.ast_type == ast.ASTType.Rule]
    if len(rules) != 1 or rules[0].head.ast_type != ast.ASTType.Literal:
        return None, frozenset()
    body = frozenset(name for literal in rules[0].body for name in _names_in(literal))
    head = rules[0].head.atom
    if head.ast_type != ast.ASTType.SymbolicAtom:
        return None, body
    if head.symbol.ast_type != ast.ASTType.Function:  # -p(x), which clingo reads as "p(x) is denied"
        raise _no_setting(path, statement.line, statement.text)
    return head.symbol.name, body


def _names_in(node: Any) -> Iterator[str]:
    """The predicates of all atoms below a node of clingo's syntax tree."""
    if not hasattr(node, "child_keys"):
        return
    if "symbol" in node.child_keys and hasattr(node.symbol, "name"):
        yield node.symbol.name
        return
    for key in node.child_keys:
        child = getattr(node, key)
        for item in [child] if hasattr(child, "child_keys") else child or ():
            yield from _names_in(item)


def _value(symbol: Symbol) -> Any:
    """A symbol as a name, a number, or a tuple of names."""
    from clingo import SymbolType  # noqa: PLC0415

    if symbol.type == SymbolType.Number:
        return symbol.number
    if symbol.type == SymbolType.String:
        return symbol.string
    if symbol.type == SymbolType.Function and not symbol.name:
        return tuple(map(_text, symbol.arguments))
    return _text(symbol)


def _text(symbol: Symbol) -> str:
    value = symbol.name if symbol.type.name == "Function" and not symbol.arguments else str(symbol)
    return value


def _are(values: tuple[Any, ...], *kinds: type) -> bool:
    return len(values) == len(kinds) and all(map(isinstance, values, kinds))


def _no_setting(path: Path, line: int, text: str) -> DataError:
    return fail_at(path, line, f"{_short(text)} is no setting: see head_pred(name, arity). and the like")


def _plain(name: str) -> str:
    return unquote(name) if name.startswith("'") else name


def _short(text: str) -> str:
    return shorten(" ".join(text.split()), 40)


def bias_lines(bias: Bias) -> Iterator[str]:
    """The statements of a bias file."""
    for setting, name in _PREDICATES.items():
        predicates: Iterable[Key] = getattr(bias, name)
        yield from (f"{setting}({quote(predicate)},{arity})." for predicate, arity in predicates)
    for setting, name in _LISTS.items():
        for predicate, items in getattr(bias, name):
            inner = ",".join(map(quote, items))
            # Popper reads a tuple of one only with a comma behind it.
            yield f"{setting}({quote(predicate)},({inner}{',' if len(items) == 1 else ''}))."
    for setting in _NUMBERS:
        if (number := getattr(bias, setting)) is not None:
            yield f"{setting}({number})."
    yield from (f"{setting}." for setting in _SWITCHES if getattr(bias, setting))
    yield from (f"constant({quote(name)},{quote(kind)})." for name, kind in bias.constants)
    for kind in bias.one_of_type:
        yield f":- clause(C), #count{{V : var_type(C,V,{kind})}} != 1."
    yield from bias.constraints
