"""`.nl` files: one fact per line, with `#TEST` after those that are held out.

The format of DFORL's knowledge bases. Arguments are constants whatever letter
they begin with; names that hold commas, brackets, quotes or spaces, or would
be taken for numbers, stand in quotes, as in Prolog. A file that has binary facts
only writes unary ones as p(a,a): there a relation all of whose facts look so is
unary. No other format has this convention.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import repeat
from pathlib import Path

import numpy as np

from andre.errors import DataError, LogicError, shorten
from andre.facts.base import FactBase
from andre.facts.build import Builder, Place, group_rows, values_of_texts
from andre.facts.formats.format import (
    Format,
    check_arities,
    check_names_apart,
    refusal,
    text_of,
)
from andre.facts.formats.text import blocks, fail_at
from andre.facts.relation import MARKS, Dictionary, Key, Relation, check_name, key_of
from andre.logic import QUOTED, quote, unquote

_BARE = r"[^\s(),'\"#\ufeff]++"
_NAME = rf"(?!%|[0-9.]+::){_BARE}"
_LINE = re.compile(
    rf"^[ \t]*+(?:(?P<name>{_NAME})\((?P<args>{_BARE}(?:,{_BARE})*+)\)\.(?P<mark>\#TEST)?"
    r"|%[^\n]*+|(?P<other>[^\n]++))?[ \t]*+$",
    re.MULTILINE,
)
_ARGUMENT = rf"[ \t]*+(?:{_BARE}|{QUOTED})[ \t]*+"
_SPACED = re.compile(
    rf"(?P<name>{_NAME}|{QUOTED})\((?P<args>{_ARGUMENT}(?:,{_ARGUMENT})*+)\)\s*+\.\s*+(?P<mark>\#TEST)?\s*+\Z"
)
_TOKEN = re.compile(rf"{_BARE}|{QUOTED}")
_DIGITS = re.compile(r"-?[0-9][0-9.eE+-]*\Z")
_TEST = MARKS.index("test")


def read_nl(path: Path) -> FactBase:
    """Read a `.nl` file; lines that end in `#TEST` are marked test."""
    builder = Builder()
    for block in blocks(path):
        _add_block(path, builder, block.text, block.first_line)
    return _with_unary(builder.finish(one_arity=True))


def _with_unary(base: FactBase) -> FactBase:
    """The facts, with p(a,a) read as p(a) if all facts of p look so and all relations are binary."""
    relations = base.relations.values()
    if any(relation.arity != 2 for relation in relations):
        return base
    read = [
        replace(relation, codes=relation.codes[:, :1]) if _is_reflexive(relation) else relation
        for relation in relations
    ]
    names = tuple(relation.name for relation in read if relation.arity == 1)
    notes = replace(base.notes, unary=names)
    return replace(base, relations={relation.key: relation for relation in read}, notes=notes)


def _is_reflexive(relation: Relation) -> bool:
    """Whether all facts of a binary relation have two equal arguments."""
    return bool((relation.codes[:, 0] == relation.codes[:, 1]).all())


def _add_block(path: Path, builder: Builder, text: str, first_line: int) -> None:
    names, args, marks, others = map(np.array, zip(*_LINE.findall(text), strict=True), repeat(object))
    for row in np.flatnonzero(others != ""):
        _add_spaced(path, builder, others[row], first_line + int(row))
    rows = np.flatnonzero(names != "")
    kinds = Dictionary[Key]()  # with the number of commas in place of the arity
    commas = map(str.count, args[rows], repeat(","))
    kind = np.fromiter(map(kinds.__getitem__, zip(names[rows], commas, strict=True)), np.int32, len(rows))
    for (name, n_commas), places in zip(kinds, group_rows(kind, len(kinds)), strict=True):
        chosen = rows[places]
        arguments = ",".join(args[chosen]).split(",")
        codes = np.fromiter(map(builder.texts.__getitem__, arguments), np.int32, len(arguments))
        mark = np.where(marks[chosen] == "", 0, _TEST)
        builder.add(name, codes.reshape(-1, n_commas + 1), Place(path, chosen + first_line), mark=mark)


def _add_spaced(path: Path, builder: Builder, text: str, line: int) -> None:
    """Add the fact of a line that has spaces or quotes in it."""
    match = _SPACED.match(text)
    if match is None:
        advice = "write relation(a,b). and #TEST after what is held out"
        raise fail_at(path, line, f"{shorten(text, 60)!r} is no fact: {advice}")
    try:
        name = unquote(match["name"]) if match["name"].startswith("'") else match["name"]
        codes = [
            builder.code(check_name(unquote(token))) if token.startswith("'") else builder.texts[token]
            for token in _TOKEN.findall(match["args"])
        ]
    except (DataError, LogicError) as error:
        raise fail_at(path, line, str(error)) from None
    mark = [_TEST if match["mark"] else 0]
    builder.add(name, np.array([codes], dtype=np.int32), Place(path, [line]), mark=np.array(mark))


def write_nl(base: FactBase, path: Path) -> None:
    """Write one fact per line."""
    spelled = _spelled(base)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for relation in base.relations.values():
            name = relation.name if re.fullmatch(_NAME, relation.name) else _quoted(relation.name)
            held_out = relation.marked("test").tolist()
            for row, test in zip(relation.codes.tolist(), held_out, strict=True):
                args = ",".join(map(spelled.__getitem__, row))
                file.write(f"{name}({args}).{'#TEST' if test else ''}\n")


def _spelled(base: FactBase) -> list[str]:
    """Each constant as it is written, without quotes if it then reads back as itself."""
    bare = [
        "" if isinstance(value, str) and not re.fullmatch(_BARE, value) else text_of(value)
        for value in base.constants
    ]
    for texts in (bare, ["" if _is_doubtful(v) else t for v, t in zip(base.constants, bare, strict=True)]):
        read = values_of_texts(texts, base.relations.values())
        pairs = zip(base.constants, texts, read, strict=True)
        if all(not text or key_of(value) == key_of(back) for value, text, back in pairs):
            break
    return [text or _quoted(str(value)) for value, text in zip(base.constants, texts, strict=True)]


def _is_doubtful(value: str | float) -> bool:
    return isinstance(value, str) and _DIGITS.match(value) is not None


def _quoted(name: str) -> str:
    spelled = quote(name)
    return spelled if spelled.startswith("'") else f"'{spelled}'"


def _check_unary(base: FactBase, title: str) -> None:
    """Check that no binary relation would be read back as unary."""
    relations = base.relations.values()
    for relation in relations if all(each.arity == 2 for each in relations) else ():
        if _is_reflexive(relation):
            raise refusal(
                title,
                f"{relation}, whose facts all have two equal arguments",
                "it would be read as unary; write prolog or jsonl",
            )


def _check_marks(base: FactBase, title: str) -> None:
    for relation in base.relations.values():
        if relation.count("valid"):
            raise refusal(title, "facts marked valid", "it knows train and test; write tsv-splits or jsonl")


NL = Format(
    name="nl",
    title="an .nl file",
    read=read_nl,
    write=write_nl,
    suffixes=(".nl",),
    holds=frozenset({"mark"}),
    checks=(check_arities(1), check_names_apart(), _check_unary, _check_marks),
)
