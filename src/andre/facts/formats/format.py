"""Formats of facts: a reader, a writer, and checks of what a format cannot represent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from andre.errors import DataError
from andre.facts.base import FactBase
from andre.facts.build import values_of_texts
from andre.facts.formats.databases.selection import Selection
from andre.facts.relation import Value, key_of
from andre.logic import spell_number

#: Refuses facts that a format cannot hold, naming the format by its title.
Check: TypeAlias = Callable[[FactBase, str], None]


@dataclass(frozen=True)
class Format:
    """How facts are kept in a file or folder.

    `write` gets a path where nothing is yet and facts that passed all checks;
    `read` gives equal facts back.
    """

    name: str
    title: str  #: what error messages call it
    read: Callable[[Path], FactBase]
    write: Callable[[FactBase, Path], None] | None = None  #: None where facts are only read
    read_selected: Callable[[Path, Selection], FactBase] | None = None  #: for databases
    suffixes: tuple[str, ...] = ()
    folder: bool = False  #: writes a folder rather than a file
    holds: frozenset[str] = frozenset()  #: which of FEATURES it can hold
    checks: tuple[Check, ...] = ()  #: what else it cannot hold


def refusal(title: str, what: str, remedy: str) -> DataError:
    """The error for facts that a format cannot represent, with what to do."""
    return DataError(f"{title} cannot hold {what}: {remedy}")


def check_arities(least: int, most: int | None = None) -> Check:
    """A check that all arities are within bounds."""

    def check(base: FactBase, title: str) -> None:
        for relation in base.relations.values():
            if relation.arity < least or (most is not None and relation.arity > most):
                raise refusal(title, f"{relation}", "write jsonl, which holds any arity")

    return check


def check_names_apart(*, fold: bool = False) -> Check:
    """A check that no two relations have the same name, ignoring case if `fold`."""

    def check(base: FactBase, title: str) -> None:
        names = [relation.name for relation in base.relations.values()]
        counts = Counter(name.casefold() if fold else name for name in names)
        name, count = max(counts.items(), key=lambda item: item[1], default=("", 0))
        if count > 1:
            raise refusal(title, f"{count} relations of the name {name}", "rename one or write jsonl")

    return check


def text_of(value: Value) -> str:
    """A constant without quotes."""
    return value if isinstance(value, str) else spell_number(value)


def check_plain_texts(base: FactBase, title: str) -> None:
    """Check that names and numbers can be distinguished without quotes."""
    texts = list(map(text_of, base.constants))
    read = values_of_texts(texts, base.relations.values())
    for value, back in zip(base.constants, read, strict=True):
        if key_of(value) != key_of(back):
            kind = "name" if isinstance(value, str) else "number"
            raise refusal(
                title, f"the {kind} {value!r}, which would be read as {back!r}", "write prolog or jsonl"
            )
    if len(set(texts)) != len(texts):
        raise refusal(title, "a name and a number that are spelled alike", "write prolog or jsonl")


def check_same_kinds(base: FactBase, title: str) -> None:
    """Check that each argument of each relation has one kind of values: names, integers or floats."""
    kinds = [type(value) for value in base.constants]
    for relation in base.relations.values():
        for position, column in enumerate(relation.codes.T, start=1):
            if len({kinds[code] for code in set(column.tolist())}) > 1:
                raise refusal(
                    title,
                    f"names and numbers, or whole and other numbers, in one column (argument {position} "
                    f"of {relation})",
                    "write prolog or jsonl",
                )
