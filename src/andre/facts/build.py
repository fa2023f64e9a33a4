"""Texts that do not say whether they are names or numbers, and how they are told apart.

Where readers put what they find, block by block, until it is a fact base.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from andre.errors import DataError, LogicError
from andre.facts.base import FactBase, Key, Notes
from andre.facts.bias import Bias
from andre.facts.relation import Codes, Dictionary, Relation, Value, check_name, checked, key_of, merge_equal
from andre.facts.types import type_of_codes
from andre.logic import Atom, Constant, Program, Rule, read_number

__all__ = ["Builder", "Interpret", "Place", "as_names", "values_of_texts"]


_CODE = re.compile(r"-?0[0-9]+\Z")


def values_of_texts(texts: Sequence[str], relations: Iterable[Relation]) -> list[Value]:
    """Read texts as numbers where they all are, type by type, else as names.

    Tables and triples do not say whether 12 is a number. It is read as one,
    unless a constant of the same type has a leading zero: then these are codes,
    as WordNet's 00260881 and 12651611, and all of them names.

    Examples
    --------
    >>> age = Relation("age", np.array([[0, 1]]))
    >>> sense = Relation("sense", np.array([[2, 3]]))
    >>> values_of_texts(["ann", "9", "00260881", "12651611"], [age])
    ['ann', 9, '00260881', 12651611]
    >>> values_of_texts(["ann", "9", "00260881", "12651611"], [age, Relation("same", np.array([[2], [3]]))])
    ['ann', 9, '00260881', '12651611']
    """
    values: list[Value] = list(texts)
    numeric = [code for code, text in enumerate(texts) if text and text[0] in "-0123456789"]
    codes = [code for code in numeric if _CODE.match(texts[code])]
    if codes:
        _, kinds = type_of_codes(relations, len(texts))
        named = np.isin(kinds, kinds[codes]) & (kinds >= 0)
        numeric = [code for code in numeric if not named[code]]
    for code in numeric:
        values[code] = _value(texts[code])
    return values


def _value(text: str) -> Value:
    try:
        number = read_number(text)
    except LogicError:  # too large to compute with
        number = None
    return text if number is None else number + 0  # -0.0 is 0.0


#: Makes the values of texts as they stood in a source; relations say which of them go together.
Interpret: TypeAlias = Callable[[Sequence[str], Iterable[Relation]], list[Value]]


@dataclass(frozen=True)
class Place:
    """Where facts were found: a source, and the line or row of each."""

    source: Path | str
    lines: NDArray[Any] | Sequence[int] | None = None
    unit: str = "line"

    def of(self, row: int) -> str:
        """The place of one fact, to be put into an error."""
        return str(self.source) if self.lines is None else f"{self.source}, {self.unit} {self.lines[row]}"


@dataclass(frozen=True)
class _Found:
    facts: Relation
    place: Place


@dataclass
class Builder:
    """Collects facts over a dictionary of texts and values.

    A reader codes arguments with `texts`: a key that is a string is a text as
    it stood in the source, whose meaning `interpret` decides when all are
    known. A value whose kind the source states goes in through `code`: its key
    is an integer as it is, or another value in a tuple.

    Examples
    --------
    >>> builder = Builder()
    >>> codes = [builder.texts["ann"], builder.texts["7"], builder.code("7")]
    >>> builder.add("age", np.array([codes[:2]]))
    >>> builder.add("name", np.array([codes[2:]]))
    >>> builder.finish().constants
    ('ann', 7, '7')
    """

    texts: Dictionary[Hashable] = field(default_factory=Dictionary)
    rules: list[Rule] = field(default_factory=list)
    bias: Bias | None = None
    directives: int = 0
    n_tables: int = 0  #: tables of one predicate, which say its arity
    settings: list[str] = field(default_factory=list)
    _found: dict[Key, list[_Found]] = field(default_factory=dict)

    def code(self, value: Value) -> int:
        """The code of a value whose kind is known."""
        return self.texts[value if isinstance(value, int) else (value,)]

    def add(self, name: str, codes: Codes, place: Place | None = None, **columns: Any) -> None:
        """Add facts of one relation; columns are probability, mark and negative."""
        try:
            facts = Relation(name, codes, **columns)
        except DataError as error:
            raise DataError(f"{place.of(0)}: {error}" if place else str(error)) from None
        if len(facts):
            self._found.setdefault(facts.key, []).append(_Found(facts, place or Place("these facts")))

    def add_atom(self, atom: Atom, place: Place, *, probability: float = 1.0, negative: bool = False) -> None:
        """Add one ground atom."""
        codes = []
        for arg in atom.args:
            if not isinstance(arg, Constant):
                raise DataError(
                    f"{place.of(0)}: {atom} is no fact, since {arg} is a variable: name a constant"
                )
            try:
                codes.append(self.code(checked(arg.value)))
            except DataError as error:
                raise DataError(f"{place.of(0)}: {error}") from None
        row = np.array([codes], dtype=np.int32).reshape(1, len(codes))
        self.add(
            atom.predicate, row, place, probability=np.array([probability]), negative=np.array([negative])
        )

    def finish(
        self, interpret: Interpret = values_of_texts, *, one_arity: bool = False, unary: bool = False
    ) -> FactBase:
        """Make the fact base.

        Parameters
        ----------
        interpret
            What texts mean.
        one_arity
            Whether a name may have one arity only.
        unary
            Whether relations whose facts all look like p(a,a) are unary, where
            all relations are binary.
        """
        if not self._found and not self.rules:
            raise DataError("there are no facts in it")
        if one_arity:
            self._check_arities()
        relations = {key: Relation.concat([f.facts for f in found]) for key, found in self._found.items()}
        constants, recode = self._values(interpret, relations.values())
        duplicates = overlaps = 0
        merged: dict[Key, Relation] = {}
        for key, relation in relations.items():
            coded = relation if recode is None else relation.recoded(recode)
            result = merge_equal(coded, len(constants), self._describe(coded, constants))
            merged[key] = result.relation
            duplicates += result.duplicates
            overlaps += result.overlaps
        collapsed: tuple[str, ...] = ()
        if unary and all(arity == 2 for _, arity in merged):
            merged, collapsed = _unary(merged)
        notes = Notes(duplicates, overlaps, collapsed, self.directives, tuple(self.settings))
        return FactBase(tuple(constants), merged, Program(tuple(self.rules)), "closed", notes, self.bias)

    def _values(
        self, interpret: Interpret, relations: Iterable[Relation]
    ) -> tuple[list[Value], NDArray[np.int64] | None]:
        """Give each text its value, and the map of codes where two texts have one value."""
        keys = list(self.texts)
        plain = [key if isinstance(key, str) else "" for key in keys]
        values = interpret(plain, relations)
        for code, key in enumerate(keys):
            if isinstance(key, tuple):
                values[code] = key[0]
            elif isinstance(key, int):
                values[code] = key
        if values == keys:  # all are names
            return values, None
        dictionary = Dictionary[Hashable]()
        recode = np.fromiter((dictionary[key_of(value)] for value in values), np.int64, len(values))
        if len(dictionary) == len(values):
            return values, None
        _, first = np.unique(recode, return_index=True)
        return [values[code] for code in first.tolist()], recode

    def _describe(self, relation: Relation, constants: Sequence[Value]) -> Callable[[int], str]:
        def describe(row: int) -> str:
            args = tuple(Constant(constants[code]) for code in relation.codes[row].tolist())
            at = row
            for found in self._found[relation.key]:
                if at < len(found.facts):
                    return f"{Atom(relation.name, args)} ({found.place.of(at)})"
                at -= len(found.facts)
            raise AssertionError("every fact was found somewhere")

        return describe

    def _check_arities(self) -> None:
        arities = Counter(name for name, _ in self._found)
        for (name, arity), found in self._found.items():
            if arities[name] > 1:
                other = next(a for n, a in self._found if n == name and a != arity)
                raise DataError(
                    f"{self._found[name, other][0].place.of(0)}: {name} has {_count(other)} here and "
                    f"{_count(arity)} elsewhere ({found[0].place.of(0)}): a relation has one arity"
                )


def as_names(texts: Sequence[str], _: Iterable[Relation]) -> list[Value]:
    """Take every text as the name it is."""
    return list(map(check_name, texts))


def _unary(relations: dict[Key, Relation]) -> tuple[dict[Key, Relation], tuple[str, ...]]:
    read: dict[Key, Relation] = {}
    collapsed = []
    for key, relation in relations.items():
        if (relation.codes[:, 0] == relation.codes[:, 1]).all():
            collapsed.append(relation.name)
            read[relation.name, 1] = replace(relation, codes=relation.codes[:, :1])
        else:
            read[key] = relation
    return read, tuple(collapsed)


def _count(arity: int) -> str:
    return f"{arity} argument" if arity == 1 else f"{arity} arguments"
