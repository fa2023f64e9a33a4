"""The builder that readers fill block by block, and how texts become names or numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Ints, csr_starts
from andre.errors import DataError
from andre.facts.background import Written, divide
from andre.facts.base import FactBase, Notes
from andre.facts.bias import Bias
from andre.facts.modes import Modes
from andre.facts.relation import (
    MARKS,
    Codes,
    Dictionary,
    Key,
    Relation,
    Value,
    check_name,
    check_value,
    keys_of,
    merge_equal,
)
from andre.facts.types import type_of_codes
from andre.logic import Atom, Constant, Program, Rule, is_code, number_or_none

#: Gives the values of texts as they stood in a source; the relations say which of them go together.
Interpret: TypeAlias = Callable[[Sequence[str], Iterable[Relation]], list[Value]]


def values_of_texts(texts: Sequence[str], relations: Iterable[Relation]) -> list[Value]:
    """The names and numbers that texts spell in tables and triples, which have no quotes.

    What looks like a number is one, unless a constant of the same type has a
    leading zero: then digits of that type are codes, as WordNet's 00260881 and
    12651611, and all of them names.

    Examples
    --------
    >>> age, same = Relation("age", np.array([[0, 1]])), Relation("same", np.array([[2], [3]]))
    >>> values_of_texts(["ann", "9", "00260881", "12651611"], [age])
    ['ann', 9, '00260881', 12651611]
    >>> values_of_texts(["ann", "9", "00260881", "12651611"], [age, same])
    ['ann', 9, '00260881', '12651611']
    """
    values: list[Value] = list(texts)
    numeric = [code for code, text in enumerate(texts) if text and text[0] in "-0123456789"]
    codes = [code for code in numeric if is_code(texts[code])]
    if codes:
        _, kinds = type_of_codes(relations, len(texts))
        named = np.isin(kinds, kinds[codes]) & (kinds >= 0)
        numeric = [code for code in numeric if not named[code]]
    for code in numeric:
        if (number := number_or_none(texts[code])) is not None:
            values[code] = number + 0  # -0.0 is 0.0
    return values


def as_names(texts: Sequence[str], _: Iterable[Relation]) -> list[Value]:
    """Every text as a name."""
    return list(map(check_name, texts))


def group_rows(kinds: NDArray[Any], n_kinds: int) -> list[Ints]:
    """For each kind, the indices of its rows, in order.

    Examples
    --------
    >>> [rows.tolist() for rows in group_rows(np.array([1, 0, 1]), 3)]
    [[1], [0, 2], []]
    """
    order = np.argsort(kinds, kind="stable")
    return np.split(order, csr_starts(kinds, n_kinds)[1:-1]) if n_kinds else []


@dataclass(frozen=True)
class Place:
    """The origin of facts: a source, and the line or row of each fact."""

    source: Path | str
    lines: NDArray[Any] | Sequence[int] | None = None
    unit: str = "line"

    def of(self, row: int) -> str:
        """The origin of one fact, for error messages."""
        return str(self.source) if self.lines is None else f"{self.source}, {self.unit} {self.lines[row]}"


@dataclass(frozen=True)
class _Found:
    facts: Relation
    place: Place


@dataclass
class Builder:
    """Collects the facts of a reader, and makes a fact base of them.

    A reader codes arguments with `texts`. A key that is a string is a text as
    it stood in the source: whether it is a name or a number is decided when
    all texts are known. A value whose kind the source states is coded by
    `code`: an integer is its own key, any other value stands in a tuple.

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
    written: list[Written] = field(default_factory=list)  #: rules, clauses for Prolog, and its directives
    bias: Bias | None = None
    directives: int = 0  #: how many directives say nothing to any engine
    remarks: list[str] = field(default_factory=list)
    modes: Modes = field(default_factory=Modes)  #: Aleph's declarations
    prolog_keys: set[Key] = field(default_factory=set)  #: predicates with a clause that only Prolog can run
    _found: dict[Key, list[_Found]] = field(default_factory=dict)

    def code(self, value: Value) -> int:
        """The code of a value that is known to be a name or a number."""
        return self.texts[value if isinstance(value, int) else (value,)]

    def add_rule(self, rule: Rule, text: str | None = None) -> None:
        """Add a rule, with the text from which it was read."""
        self.written.append(Written(str(rule) if text is None else text, rule.head.key, rule))

    def add_prolog(self, clause: Written) -> None:
        """Add a clause that only Prolog can run."""
        self.written.append(clause)
        if clause.key is not None:
            self.prolog_keys.add(clause.key)

    def has_facts(self, key: Key) -> bool:
        """Whether facts of a relation were added."""
        return key in self._found

    def take_modes(self) -> None:
        """Use Aleph's declarations as the bias, if there are any."""
        if (bias := self.modes.bias) is not None:
            self.bias = bias
            self.remarks += self.modes.remarks

    def add(self, name: str, codes: Codes, place: Place | None = None, **columns: Any) -> None:
        """Add facts of one relation, with the columns probability, mark and negative if given."""
        try:
            facts = Relation(name, codes, **columns)
        except DataError as error:
            raise DataError(f"{place.of(0)}: {error}" if place else str(error)) from None
        if len(facts):
            self._found.setdefault(facts.key, []).append(_Found(facts, place or Place("these facts")))

    def add_triples(self, names: Sequence[str], relations: Codes, ends: Codes, **columns: Any) -> None:
        """Add facts between two ends [N, 2] whose relations [N] are positions in `names`."""
        for name, rows in zip(names, group_rows(relations, len(names)), strict=True):
            self.add(name, ends[rows], **{field: column[rows] for field, column in columns.items()})

    def add_atom(
        self,
        atom: Atom,
        place: Place,
        *,
        probability: float = 1.0,
        negative: bool = False,
        mark: str = MARKS[0],
    ) -> None:
        """Add one ground atom."""
        codes = []
        for arg in atom.args:
            if not isinstance(arg, Constant):
                raise DataError(
                    f"{place.of(0)}: {atom} is no fact, since {arg} is a variable: name a constant"
                )
            try:
                codes.append(self.code(check_value(arg.value)))
            except DataError as error:
                raise DataError(f"{place.of(0)}: {error}") from None
        row = np.array([codes], dtype=np.int32).reshape(1, len(codes))
        columns: dict[str, Any] = {
            "probability": probability,
            "negative": negative,
            "mark": MARKS.index(mark),
        }
        self.add(atom.predicate, row, place, **{name: np.array([value]) for name, value in columns.items()})

    def finish(self, interpret: Interpret = values_of_texts, *, one_arity: bool = False) -> FactBase:
        """The fact base of everything that was added.

        Parameters
        ----------
        interpret
            What texts mean.
        one_arity
            Whether relations of one name and several arities are refused.
        """
        if one_arity:
            self._check_arities()
        relations = [Relation.concat([part.facts for part in found]) for found in self._found.values()]
        constants, recode = self._values(interpret, relations)
        if recode is not None:
            relations = [relation.recoded(recode) for relation in relations]
        merged = merge_equal(relations, len(constants), partial(self._describe, constants))
        rules, prolog = divide(self.written, self._found, self.bias.body if self.bias else ())
        unused = 0 if prolog else sum(clause.key is None for clause in self.written)
        remarks = (*self.remarks, *([] if prolog is None else [f"{prolog}, tabled before rules are learned"]))
        notes = Notes(
            merged.duplicates, merged.overlaps, directives=self.directives + unused, remarks=remarks
        )
        return FactBase(
            tuple(constants),
            merged.relations,
            Program(tuple(rules)),
            "closed",
            notes,
            self.bias,
            prolog=prolog,
        )

    def _values(
        self, interpret: Interpret, relations: Iterable[Relation]
    ) -> tuple[list[Value], NDArray[np.int64] | None]:
        """The values, and the new code for each old one: two texts may have one value (1.0 and 1.00)."""
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
        of_values = keys_of(values)
        if len(set(of_values)) == len(values):
            return values, None
        dictionary = Dictionary[Hashable]()
        recode = np.fromiter(map(dictionary.__getitem__, of_values), np.int64, len(values))
        _, first = np.unique(recode, return_index=True)
        return [values[code] for code in first.tolist()], recode

    def _describe(self, constants: Sequence[Value], relation: Relation, row: int) -> str:
        """A fact and its origin."""
        args = tuple(Constant(constants[code]) for code in relation.codes[row].tolist())
        for found in self._found[relation.key]:
            if row < len(found.facts):
                return f"{Atom(relation.name, args)} ({found.place.of(row)})"
            row -= len(found.facts)
        raise AssertionError("every fact was found somewhere")

    def _check_arities(self) -> None:
        arities = Counter(name for name, _ in self._found)
        for (name, arity), found in self._found.items():
            if arities[name] > 1:
                other = next(a for n, a in self._found if n == name and a != arity)
                raise DataError(
                    f"{self._found[name, other][0].place.of(0)}: {name} has {_count(other)} here and "
                    f"{_count(arity)} elsewhere ({found[0].place.of(0)}): a relation has one arity"
                )


def _count(arity: int) -> str:
    return f"{arity} argument" if arity == 1 else f"{arity} arguments"
