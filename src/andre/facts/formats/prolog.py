"""Prolog and ProbLog files: simple facts are read in bulk, all else by the grammar."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TextIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from andre.errors import DataError, LogicError
from andre.facts.background import Written, without_operators
from andre.facts.base import FactBase
from andre.facts.build import Builder, Place
from andre.facts.formats.format import Format
from andre.facts.formats.text import blocks, fail_at
from andre.facts.relation import Key, Relation, Value
from andre.logic import QUOTED, Atom, Clause, Constant, parse_atom, parse_clauses, read_number

#: No clause is longer than this many characters: the grammar takes seconds for that many.
MAX_CLAUSE = 1 << 20

_SPACE = r"(?:\s++|%[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+"
_SIMPLE_QUOTED = r"'[^'\\\n,]*+'(?!')"
_NUMBER = r"-?[0-9]{1,15}+(?:\.[0-9]{1,30}+)?+"
_ARGUMENT = rf"(?:[a-z]\w*+|{_NUMBER}|{_SIMPLE_QUOTED})\s*+"
_FACT = re.compile(
    rf"{_SPACE}(?:(?P<probability>[0-9]++(?:\.[0-9]++)?+)::\s*+)?+"
    rf"(?P<name>(?!(?:not|true)\b)[a-z]\w*+|[A-Z_]\w*+(?=\()|{_SIMPLE_QUOTED})"
    rf"(?:\(\s*+(?P<args>{_ARGUMENT}(?:,\s*+{_ARGUMENT})*+)\))?+\s*+\.(?=[\s%]|\Z)"
)
_EXAMPLE = re.compile(
    rf"{_SPACE}(?P<sign>pos|neg)\(\s*+(?P<name>[a-z]\w*+|{_SIMPLE_QUOTED})"
    rf"\(\s*+(?P<args>{_ARGUMENT}(?:,\s*+{_ARGUMENT})*+)\)\s*+\)\s*+\.(?=[\s%]|\Z)"
)
_CLAUSE = re.compile(
    rf"{_SPACE}(?:[^'\"%./0]++|(?<!\w)0'(?:\\[\s\S]|''|[^\\])|0|{QUOTED}|\"(?:[^\"\\]|\\[\s\S])*+\""
    rf"|%[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/|/(?!\*)|\.(?![\s%]|\Z))*+\.(?=[\s%]|\Z)"
)
_FOR_PROLOG = re.compile(r":-\s*(?:(?:op|dynamic|discontiguous|table)\b|use_module\(\s*library\()")
_OPERATOR = re.compile(r":-\s*op\b(?:\(\s*[0-9]+\s*,\s*(?P<kind>[xyf]+)\s*,\s*(?P<name>[a-z]\w*)\s*\)\s*\.)?")
_GOAL = re.compile(r":-\s*(?P<atom>[a-z]\w*\(.*\))\s*\.\Z", re.DOTALL)
#: Blanks and comments.
BLANK = re.compile(_SPACE)

#: Consumes what it can of a text from a line and place on, and gives place and line where it stopped.
_Take: TypeAlias = Callable[[str, int, int], tuple[int, int]]


def read_prolog(path: Path) -> FactBase:
    """Read the facts and clauses of a Prolog or ProbLog file, or of Aleph's .b, .f and .n files.

    Aleph's modes and determinations are the bias; the facts of a .n file are denied.
    """
    builder = Builder()
    for part in aleph_files(path) or [path]:
        builder.modes.denying = part.suffix == ".n"
        add_clauses(part, builder)
    builder.take_modes()
    return builder.finish(values_of_prolog)


def aleph_files(path: Path) -> list[Path]:
    """Aleph's background, positive and negative examples, given their folder or one of them; or nothing."""
    found = sorted(path.glob("*.b")) if path.is_dir() else [path] if path.suffix == ".b" else []
    if len(found) > 1:
        names = ", ".join(file.name for file in found)
        raise DataError(f"{path} has several backgrounds ({names}): name the .b file that is meant")
    parts = [file.with_suffix(suffix) for file in found for suffix in (".b", ".f", ".n")]
    return [part for part in parts if part.is_file()]


def write_prolog(base: FactBase, path: Path) -> None:
    """Write facts and rules, one clause per line."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        write_clauses(base.relations.values(), base, file)


def write_clauses(relations: Iterable[Relation], base: FactBase, file: TextIO) -> None:
    """Write the facts of these relations and the rules of their base, one clause per line."""
    spelled = spell_all(base)
    for relation in relations:
        chances = relation.column("probability").tolist()
        for fact, chance in zip(fact_texts(relation, spelled), chances, strict=True):
            file.write(f"{fact}.\n" if chance == 1 else f"{Constant(chance)}::{fact}.\n")
    file.writelines(f"{rule}\n" for rule in base.rules)
    file.write(base.prolog.text if base.prolog else "")


def spell_all(base: FactBase) -> list[str]:
    """Each constant as Prolog writes it."""
    return [str(Constant(value)) for value in base.constants]


def fact_texts(relation: Relation, spelled: Sequence[str]) -> Iterator[str]:
    """Write the facts of a relation, without their dots."""
    name = str(Atom(relation.name))
    for row in relation.codes.tolist():
        yield f"{name}({', '.join(map(spelled.__getitem__, row))})" if row else name


def values_of_prolog(texts: Sequence[str], _: Iterable[Relation]) -> list[Value]:
    """The values of simple Prolog arguments: quotes make a name, digits a number.

    Examples
    --------
    >>> values_of_prolog(["ann", "'New York'", "7", "'7'", "007"], [])
    ['ann', 'New York', 7, '7', '007']
    """
    values: list[Value] = []
    for text in texts:
        if text[:1] == "'":
            values.append(text[1:-1])
        else:
            number = read_number(text) if text[-1:].isdigit() else None
            values.append(text if number is None else number + 0)
    return values


def clauses(path: Path) -> Iterator[tuple[int, str]]:
    """The clauses of a file, each with the comments before it and the line on which these begin."""
    return _cut(path, lambda _, line, place: (place, line))


def without_blanks(clause: str) -> str:
    """A clause without the blanks and comments before it."""
    blank = BLANK.match(clause)
    return clause[blank.end() :] if blank else clause


def add_clauses(path: Path, builder: Builder) -> None:
    """Add the clauses of a file to a builder that will read texts as Prolog (`values_of_prolog`).

    A goal about a relation that has facts, as `:- active(d1).`, says that it is false, as Progol's files do.
    """
    goals: list[tuple[Atom, int, str]] = []
    for line, clause in _cut(path, partial(_take_facts, path, builder)):
        text = without_blanks(clause)
        if text.startswith(":-") and (builder.modes.take(text) or _keep_directive(text, builder)):
            continue
        if (goal := _goal(text)) is not None:
            goals.append((goal, line + clause.count("\n", 0, len(clause) - len(text)), text))
            continue
        try:
            found = _parsed(clause, text, builder)
        except LogicError:
            # For Prolog, if it has the form of a clause; a probability is nothing that Prolog knows.
            if written := _for_prolog(text, builder):
                builder.add_prolog(written)
                continue
            # Once more, with the line where the clause really stands, for the message.
            parse_clauses("\n" * (line - 1) + clause, source=str(path))
            raise
        builder.directives += not found
        for item in found:
            _add_item(item, text, builder, Place(path, [item.line + line - 1]))
    false = [(goal, line) for goal, line, _ in goals if builder.has_facts(goal.key)]
    for goal, line, clause in goals:
        if not builder.has_facts(goal.key):  # a directive that is passed over, or refused
            parse_clauses("\n" * (line - 1) + clause, source=str(path))
            builder.directives += 1
    for goal, line in false:
        builder.add_atom(goal, Place(path, [line]), negative=True)
    if false:
        many = "1 goal is" if len(false) == 1 else f"{len(false):,} goals are"
        builder.remarks.append(
            f"{path.name}: {many} read as saying what is false, as ':- {false[0][0]}.' does in Progol's files"
        )


def _parsed(clause: str, text: str, builder: Builder) -> list[Clause]:
    """The clauses of a text, which may use operators that were declared before it."""
    try:
        return parse_clauses(clause)
    except LogicError:
        matches = (_OPERATOR.match(written.text) for written in builder.written)
        declared = {match["name"]: match["kind"] for match in matches if match is not None and match["name"]}
        plain = without_operators(text, declared) if declared else None
        if plain is None:
            raise
        return parse_clauses(plain)


def _goal(text: str) -> Atom | None:
    """The ground atom with arguments in a directive; None if there is something else."""
    match = _GOAL.match(text)
    if match is None:
        return None
    try:
        atom = parse_atom(match["atom"])
    except LogicError:
        return None
    return None if atom.variables or not atom.args else atom


def _add_item(item: Clause, text: str, builder: Builder, place: Place) -> None:
    rule = item.rule
    if rule.body:
        builder.add_rule(rule, text)
    elif rule.probability == 1 and (rule.head.variables or rule.head.key in builder.prolog_keys):
        # It says something of all terms; or its order among the clauses of its predicate may matter.
        builder.add_prolog(Written(text, rule.head.key))
    else:
        builder.add_atom(rule.head, place, probability=rule.probability, negative=builder.modes.denying)


def _keep_directive(text: str, builder: Builder) -> bool:
    """Keep a directive that Prolog needs to run the clauses."""
    if not _FOR_PROLOG.match(text):
        return False
    builder.written.append(Written(text, None))
    return True


def _for_prolog(text: str, builder: Builder) -> Written | None:
    if text.startswith(":-") or "::" in text:
        return None
    declares_operators = any(_OPERATOR.match(clause.text) for clause in builder.written)
    return Written.of(text) or (Written(text, None) if declares_operators else None)


def _take_facts(path: Path, builder: Builder, text: str, line: int, place: int) -> tuple[int, int]:
    """Add simple facts in bulk, up to the first other clause, whose position and line are returned."""
    found: dict[Key, list[tuple[str, str, int]]] = {}
    while match := _FACT.match(text, place):
        chance, name, args = match.groups()
        line += text.count("\n", place, match.start("name"))
        arity = args.count(",") + 1 if args else 0
        if (name, arity) in builder.prolog_keys and chance is None:
            builder.add_prolog(Written(without_blanks(match[0]), (name, arity)))
        else:
            found.setdefault((name, arity), []).append((args, chance, line))
        line += text.count("\n", match.start("name"), match.end())
        place = match.end()
    for (name, arity), rows in found.items():
        args_of, chances, lines = zip(*rows, strict=True)
        codes = _codes(builder, args_of, arity)
        probability = None
        if any(chances):
            probability = np.array([1.0 if chance is None else float(chance) for chance in chances])
            if (probability > 1).any():
                row = int((probability > 1).argmax())
                raise fail_at(
                    path, lines[row], f"the probability {chances[row]} is outside [0, 1]: mend or remove it"
                )
        builder.add(
            name[1:-1] if name.startswith("'") else name,
            codes,
            Place(path, lines),
            probability=probability,
            negative=np.full(len(rows), builder.modes.denying),
        )
    return place, line


def _codes(builder: Builder, arguments: Sequence[str], arity: int) -> NDArray[np.int32]:
    """The codes of simple arguments, separated by commas, [rows, arity]."""
    texts = map(str.strip, ",".join(arguments).split(",")) if arity else ()
    codes = np.fromiter(map(builder.texts.__getitem__, texts), np.int32, len(arguments) * arity)
    return codes.reshape(len(arguments), arity)


@dataclass
class Examples:
    """Examples of one predicate with simple arguments, read from a file in bulk."""

    arguments: list[str] = field(default_factory=list)
    negative: list[bool] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def codes(self, builder: Builder, arity: int) -> NDArray[np.int32]:
        """Their arguments, [examples, arity]."""
        return _codes(builder, self.arguments, arity)


def examples(path: Path, found: dict[Key, Examples]) -> Iterator[tuple[int, str]]:
    """The clauses of a file of examples, each with its line; simple examples go to `found` instead."""

    def take(text: str, line: int, place: int) -> tuple[int, int]:
        while match := _EXAMPLE.match(text, place):
            sign, name, args = match.groups()
            line += text.count("\n", place, match.start("sign"))
            some = found.setdefault((name.strip("'"), args.count(",") + 1), Examples())
            some.arguments.append(args)
            some.negative.append(sign == "neg")
            some.lines.append(line)
            line += text.count("\n", match.start("sign"), match.end())
            place = match.end()
        return place, line

    return _cut(path, take)


def _cut(path: Path, take: _Take) -> Iterator[tuple[int, str]]:
    """Let `take` consume what it can, and yield each clause at which it stops, with its line."""
    rest = ""
    line = 1
    for block in blocks(path):
        text = rest + block.text
        place = 0
        while True:
            place, line = take(text, line, place)
            match = _CLAUSE.match(text, place)
            if match is None:
                break
            yield line, match[0]
            line += match[0].count("\n")
            place = match.end()
        rest = text[place:]
        if BLANK.fullmatch(rest):
            line += rest.count("\n")
            rest = ""
        elif len(rest) > MAX_CLAUSE:
            raise _unfinished(path, line, rest, f"does not end within {MAX_CLAUSE:,} characters: a dot")
    if rest:
        raise _unfinished(path, line, rest, "never ends: the file is cut short, or a dot")


def _unfinished(path: Path, line: int, rest: str, what: str) -> DataError:
    blank = BLANK.match(rest)
    begins = line + (blank[0].count("\n") if blank else 0)
    return fail_at(
        path, begins, f"the clause that begins here {what}, or the end of a quote or comment, is missing"
    )


PROLOG = Format(
    name="prolog",
    title="a Prolog file",
    read=read_prolog,
    write=write_prolog,
    suffixes=(".pl", ".pro", ".prolog", ".b"),
    holds=frozenset({"rules"}),
)
PROBLOG = replace(
    PROLOG,
    name="problog",
    title="a ProbLog file",
    suffixes=(".problog", ".plp"),
    holds=frozenset({"rules", "probability"}),
)
