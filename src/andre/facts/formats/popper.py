"""Popper folders: background in bk.pl, examples in exs.pl, the language bias in bias.pl."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from andre.errors import DataError, LogicError, shorten
from andre.facts.base import FactBase
from andre.facts.bias import Bias
from andre.facts.build import Builder, Place
from andre.facts.formats.format import Format, refusal
from andre.facts.formats.prolog import (
    BLANK,
    add_clauses,
    clauses,
    fact_texts,
    spell_all,
    values_of_prolog,
    write_clauses,
)
from andre.facts.formats.text import fail_at
from andre.facts.relation import Key
from andre.logic import QUOTED, parse_atom, quote, unquote

_BK, _EXAMPLES, _BIAS = "bk.pl", "exs.pl", "bias.pl"

_EXAMPLE = re.compile(r"(?P<sign>pos|neg)\s*+\((?P<atom>.*)\)\s*+\.\Z", re.DOTALL)
_NAME = rf"(?:[a-z]\w*+|{QUOTED})"
_SETTING = re.compile(
    rf"(?P<setting>[a-z]\w*+)\s*+(?:\(\s*+(?:(?P<number>[0-9]{{1,9}})|(?P<name>{_NAME})\s*+,\s*+"
    rf"(?:(?P<arity>[0-9]{{1,3}})|\(\s*+(?P<items>{_NAME}\s*+(?:,\s*+{_NAME}\s*+)*+),?+\s*+\)))\s*+\))?+\s*+\.\Z"
)
_PREDICATES = {"head_pred": "head", "body_pred": "body"}
_LISTS = {"type": "types", "direction": "directions"}
_NUMBERS = ("max_vars", "max_body", "max_clauses")
_SWITCHES = ("enable_recursion", "enable_pi", "allow_singletons")


def read_popper(folder: Path) -> FactBase:
    """Read the facts, rules, examples and bias of a folder; only exs.pl must be there."""
    builder = Builder()
    if (folder / _BIAS).is_file():
        builder.bias = _read_bias(folder / _BIAS, builder)
    if (folder / _BK).is_file():
        add_clauses(folder / _BK, builder)
    _add_examples(folder / _EXAMPLES, builder)
    return builder.finish(values_of_prolog)


def _add_examples(path: Path, builder: Builder) -> None:
    for line, text in _bare_clauses(path):
        match = _EXAMPLE.match(text)
        if match is None:
            raise fail_at(path, line, f"{_short(text)} is no example: write pos(atom). or neg(atom).")
        try:
            atom = parse_atom(match["atom"])
        except LogicError as error:
            message = str(error).removeprefix("<text>: ")
            raise fail_at(path, line, message) from None
        if builder.bias and atom.key not in builder.bias.head:
            raise fail_at(
                path, line, f"{atom.predicate}/{atom.arity} has examples, but {_BIAS} has no head_pred for it"
            )
        builder.add_atom(atom, Place(path, [line]), negative=match["sign"] == "neg")


def _bare_clauses(path: Path) -> Iterator[tuple[int, str]]:
    """The clauses of a file without the comments before them."""
    for line, clause in clauses(path):
        blank = BLANK.match(clause)
        start = blank.end() if blank else 0
        yield line + clause.count("\n", 0, start), clause[start:]


def _read_bias(path: Path, builder: Builder) -> Bias:
    found: dict[str, Any] = {name: [] for name in (*_PREDICATES.values(), *_LISTS.values())}
    for line, text in _bare_clauses(path):
        match = _SETTING.match(text)
        setting = match["setting"] if match else ""
        if match and setting in _PREDICATES and match["arity"]:
            found[_PREDICATES[setting]].append((_plain(match["name"]), int(match["arity"])))
        elif match and setting in _LISTS and match["items"]:
            items = tuple(_plain(item) for item in re.findall(_NAME, match["items"]))
            found[_LISTS[setting]].append((_plain(match["name"]), items))
        elif match and setting in _NUMBERS and match["number"]:
            found[setting] = int(match["number"])
        elif match and setting in _SWITCHES and text.rstrip(". \t\n") == setting:
            found[setting] = True
        elif setting in {*_PREDICATES, *_LISTS, *_NUMBERS, *_SWITCHES} or _is_broken(text):
            raise fail_at(
                path, line, f"{_short(text)} is no setting: see head_pred(name, arity). and the like"
            )
        else:
            builder.settings.append(_short(text))
    settings: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in found.items()}
    return Bias(**settings)


def _is_broken(text: str) -> bool:
    known = "|".join((*_PREDICATES, *_LISTS, *_NUMBERS, *_SWITCHES))
    return re.match(rf"(?:{known})\b", text) is not None


def _plain(name: str) -> str:
    return unquote(name) if name.startswith("'") else name


def _short(text: str) -> str:
    return shorten(" ".join(text.split()), 40)


def write_popper(base: FactBase, folder: Path) -> None:
    """Write background, examples and bias."""
    folder.mkdir()
    bias = base.bias or Bias()
    background = [relation for key, relation in base.relations.items() if key not in bias.head]
    with (folder / _BK).open("w", encoding="utf-8", newline="\n") as file:
        write_clauses(background, base, file)
    spelled = spell_all(base)
    with (folder / _EXAMPLES).open("w", encoding="utf-8", newline="\n") as file:
        for relation in (base.relations[key] for key in bias.head if key in base.relations):
            for fact, negative in zip(
                fact_texts(relation, spelled), relation.column("negative"), strict=True
            ):
                file.write(f"{'neg' if negative else 'pos'}({fact}).\n")
    (folder / _BIAS).write_text(
        "".join(f"{line}.\n" for line in _bias_lines(bias)), encoding="utf-8", newline="\n"
    )


def _bias_lines(bias: Bias) -> Iterator[str]:
    for setting, field in _PREDICATES.items():
        predicates: Iterable[Key] = getattr(bias, field)
        yield from (f"{setting}({quote(name)},{arity})" for name, arity in predicates)
    for setting, field in _LISTS.items():
        for name, items in getattr(bias, field):
            inner = ",".join(map(quote, items))
            # Popper reads a tuple of one only with a comma behind it.
            yield f"{setting}({quote(name)},({inner}{',' if len(items) == 1 else ''}))"
    for setting in _NUMBERS:
        if (number := getattr(bias, setting)) is not None:
            yield f"{setting}({number})"
    yield from (setting for setting in _SWITCHES if getattr(bias, setting))


def _check_bias(base: FactBase, title: str) -> None:
    if base.bias is None:
        raise DataError(f"{title} needs a target: say which relation has the examples")
    if not any(key in base.relations for key in base.bias.head):
        raise refusal(title, "a target without facts", "its facts are the examples")
    for key, relation in base.relations.items():
        if relation.negative is not None and key not in base.bias.head:
            raise refusal(title, f"denied facts of {relation}", "only targets have negative examples")


POPPER = Format(
    name="popper",
    title="a Popper folder",
    read=read_popper,
    write=write_popper,
    folder=True,
    holds=frozenset({"negative", "rules", "bias"}),
    checks=(_check_bias,),
)
