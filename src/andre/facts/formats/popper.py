"""Popper folders: background in bk.pl, examples in exs.pl, the language bias in bias.pl."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from andre.errors import DataError, LogicError, shorten
from andre.facts.background import LIBRARY
from andre.facts.base import FactBase
from andre.facts.bias import Bias
from andre.facts.build import Builder, Place
from andre.facts.formats.format import Format, refusal
from andre.facts.formats.popper_bias import bias_lines, read_bias
from andre.facts.formats.prolog import (
    Examples,
    add_clauses,
    clauses,
    examples,
    fact_texts,
    spell_all,
    values_of_prolog,
    without_blanks,
    write_clauses,
)
from andre.facts.formats.text import fail_at
from andre.facts.relation import MARKS, Key
from andre.facts.types import with_types_of_heads
from andre.logic import parse_atom

_BK, _EXAMPLES, _BIAS = "bk.pl", "exs.pl", "bias.pl"
_TESTS = ("test.pl", "exs_test.pl")

_HASHED = re.compile(r"(?:#[^\n]*\n\s*)+")
_EXAMPLE = re.compile(r"(?P<sign>pos|neg)\s*+\((?P<atom>.*)\)\s*+\.\Z", re.DOTALL)


def read_popper(folder: Path) -> FactBase:
    """Read the facts, clauses, examples and bias of a folder; only exs.pl must be there.

    Examples in test.pl or exs_test.pl are marked test.
    """
    builder = Builder()
    if (folder / _BIAS).is_file():
        builder.bias, remarks = read_bias(folder / _BIAS, _bare_clauses(folder / _BIAS))
        builder.remarks += remarks
    if (folder / _BK).is_file():
        add_clauses(folder / _BK, builder)
    _add_examples(folder / _EXAMPLES, builder)
    for path in (folder / name for name in _TESTS):
        if path.is_file():
            _add_tests(path, builder)
    facts, changed = with_types_of_heads(builder.finish(values_of_prolog))
    remarks = [*facts.notes.remarks]
    if changed:
        arguments = "1 argument has" if changed == 1 else f"{changed} arguments have"
        remarks.append(
            f"{arguments} constants of the head's type, but another type in {_BIAS}: the head's type is taken"
        )
    if undefined := _undefined(facts):
        names = shorten(", ".join(f"{name}/{arity}" for name, arity in undefined), 60)
        remarks.append(f"{_BIAS} allows {names} in bodies, which nothing in {_BK} defines")
    return replace(facts, notes=replace(facts.notes, remarks=tuple(remarks)))


def _undefined(facts: FactBase) -> list[Key]:
    """The predicates for bodies that have no facts or clauses, and are not in Prolog's library."""
    known = {*facts.relations, *LIBRARY, *(rule.head.key for rule in facts.rules)}
    known |= set(facts.prolog.defines) if facts.prolog else set()
    return [key for key in (facts.bias.body if facts.bias else ()) if key not in known]


def _add_tests(path: Path, builder: Builder) -> None:
    """Add the examples of a file, marked as test, unless it has a background of its own."""
    if all(_EXAMPLE.match(text) for _, text in _bare_clauses(path)):
        _add_examples(path, builder, mark="test")
    else:
        builder.remarks.append(
            f"{path.name} passed over: it has background of its own, so it is another world than {_BK}"
        )


def _add_examples(path: Path, builder: Builder, mark: str = "train") -> None:
    simple: dict[Key, Examples] = {}
    for first, clause in _bare(examples(path, simple)):
        text, hashed = _without_hashed(clause)
        line = first + hashed.count("\n")
        if hashed:
            builder.remarks.append(f"{path.name}, line {first}: {_short(hashed)} passed over as a comment")
        match = _EXAMPLE.match(text)
        if match is None:
            raise fail_at(path, line, f"{_short(text)} is no example: write pos(atom). or neg(atom).")
        try:
            atom = parse_atom(match["atom"])
        except LogicError as error:
            message = str(error).removeprefix("<text>: ")
            raise fail_at(path, line, message) from None
        _check_head(builder, atom.key, path, line)
        builder.add_atom(atom, Place(path, [line]), negative=match["sign"] == "neg", mark=mark)

    for key, some in simple.items():
        _check_head(builder, key, path, some.lines[0])
        marks = np.full(len(some.lines), MARKS.index(mark), dtype=np.int8)
        codes, negative = some.codes(builder, key[1]), np.array(some.negative)
        builder.add(key[0], codes, Place(path, some.lines), negative=negative, mark=marks)


def _check_head(builder: Builder, key: Key, path: Path, line: int) -> None:
    if builder.bias and key not in builder.bias.head:
        raise fail_at(path, line, f"{key[0]}/{key[1]} has examples, but {_BIAS} has no head_pred for it")


def _without_hashed(clause: str) -> tuple[str, str]:
    """A clause without preceding lines that begin with #, which some files use for comments; and those."""
    match = _HASHED.match(clause)
    return (clause, "") if match is None else (clause[match.end() :], match[0])


def _bare_clauses(path: Path) -> Iterator[tuple[int, str]]:
    """The clauses of a file without comments."""
    return _bare(clauses(path))


def _bare(found: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    for line, clause in found:
        text = without_blanks(clause)
        yield line + clause.count("\n", 0, len(clause) - len(text)), text


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
    statements = "".join(f"{line}\n" for line in bias_lines(bias))
    (folder / _BIAS).write_text(statements, encoding="utf-8", newline="\n")


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
