"""The label column of a table: its classes, and which of two the rules are about."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools
from andre.errors import DataError, shorten
from andre.facts.tables.cells import BOOLEANS, TRUE_WORDS, canonical_level, level_of, plain_number
from andre.facts.tables.raw import RawColumn, RawTable
from andre.facts.tables.schema import ColumnSchema
from andre.logic import Atom, Constant, number_or_none, spell_date

_MOST_WHOLE = 50  # whole numbers that may be classes
_MOST_FRACTIONS = 10  # other numbers, or dates, that may be
_DAY = 86_400  # seconds
#: Comparisons that make two classes of a column; of one with a class, the blanks tell its sign from others.
_COMPARISONS = (
    re.compile(r"(?P<name>.+?)\s*(?P<sign>>=|=<|<=|>|<)\s*(?P<value>[^<>=]+)\Z"),
    re.compile(r"(?P<name>.+?)\s+(?P<sign>=)\s+(?P<value>.+)\Z"),
)
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "=<": operator.le,
    "<=": operator.le,
}


@dataclass(frozen=True, eq=False)
class Labels:
    """The class of every row that has one.

    Examples
    --------
    >>> table = RawTable.read({"age": [4, 5, 6], "species": ["cat", "dog", None]})
    >>> labels = Labels.read(table, "species")
    >>> labels.classes, labels.codes, labels.rows, labels.notes
    (('cat', 'dog'), array([0, 1]), array([0, 1]), ('1 row has no label and is left out',))
    >>> print(labels.head(), labels.head("cat"))
    species(dog) species(cat)
    """

    name: str
    classes: tuple[str, ...]  #: sorted: numbers by size, text by the alphabet
    codes: NDArray[np.intp]  #: the class of each of the rows
    rows: NDArray[np.intp]  #: the rows of the table that have a label
    positive: int = 1  #: of two classes, the one that rules are about
    notes: tuple[str, ...] = ()

    @classmethod
    def read(
        cls,
        table: RawTable,
        label: str,
        positive: str | None = None,
        *,
        classes: Sequence[str] | None = None,
    ) -> Labels:
        """The classes of a label column.

        Parameters
        ----------
        table
            The table.
        label
            The column; or a comparison of a column with a number or a date, such as `price > 100`, or
            with a class, `species = cat`, which gives two classes, true and false.
        positive
            Of two classes the one that rules are about. By default it is 1, true or yes, else the second.
            Of more than two, this one against all others, as `species = cat` does.
        classes
            The classes that are known already, of which every row that has a label has one.

        Raises
        ------
        DataError
            Where the column is not there, holds keys or measurements, or has fewer than two classes.
        """
        comparison = _Comparison.read(table, label)
        if comparison is not None:
            column = comparison.column(table, known=classes is not None)
        else:
            column = table.column(label, "label column")
            if classes is None:
                _refuse_measurements(table.source, column)
        where = f"{table.source}, label column {column.name!r}"
        levels, codes, counts = column.distinct()
        if not levels:
            raise DataError(f"{where}: no row has a label: name another column")
        texts = [canonical_level(level) for level in levels]
        spelled = _spellings(texts, counts.tolist(), classes)
        known = classes
        classes = tuple(sorted(set(spelled.values()), key=_order)) if known is None else tuple(known)
        if strange := next((text for text in spelled.values() if text not in classes), None):
            raise DataError(
                f"{where}: there is a class {shorten(strange, 30)!r} that rules were not learned for: "
                f"the classes are {_some(classes)}"
            )
        if len(classes) == 1:
            raise DataError(
                f"{where}: every label is {shorten(classes[0], 40)!r}, so there is only one class and "
                "nothing to tell apart: add rows of another class, or name another column"
            )
        chosen = _positive(where, classes, positive)
        if positive is not None and len(classes) > 2:
            return cls.read(table, f"{column.name} = {classes[chosen]}")
        place = {text: number for number, text in enumerate(classes)}
        rows = np.flatnonzero(codes >= 0)
        found = np.array([place[spelled[text]] for text in texts], dtype=np.intp)[codes[rows]]
        missing = len(codes) - len(rows)
        kept = "row has no label and is" if missing == 1 else "rows have no label and are"
        notes = (*([f"{missing} {kept} left out"] if missing else []), *_joined(spelled))
        return cls(column.name, classes, found, rows, chosen, notes)

    def head(self, value: str | None = None) -> Atom:
        """The head of rules about a class: the label itself for true, 1 or yes, else with the class.

        By default it is of the positive class.
        """
        value = self.classes[self.positive] if value is None else value
        pair = {text.lower() for text in self.classes}
        two = len(self.classes) == 2  # of classes that were not read here, yes and Yes may stand beside no
        if two and value.lower() in TRUE_WORDS and any(pair == set(words) for words in BOOLEANS):
            return column_atom(self.name)
        return Atom(self.name, (level_constant(value),))

    def of(self, value: str) -> Bools:
        """Which rows are of a class, [rows with a label]."""
        return np.asarray(self.codes == self.classes.index(value))

    def take(self, chosen: NDArray[Any]) -> Labels:
        """Some of the rows that have a label, by their places among these or as a mask."""
        return replace(self, codes=self.codes[chosen], rows=self.rows[chosen])


def label_column(table: RawTable, label: str) -> str:
    """The column that a label is read from: the one of that name, or the one that a comparison cuts.

    Examples
    --------
    >>> table = RawTable.read({"price": [4, 5], "color": ["red", "blue"]})
    >>> label_column(table, "price > 4.5"), label_column(table, "color")
    ('price', 'color')
    """
    comparison = _Comparison.read(table, label)
    return table.column(label, "label column").name if comparison is None else comparison.name


def column_atom(name: str) -> Atom:
    """The atom of a column of true and false: one with variables if it is named like that, else its name.

    Examples
    --------
    >>> print(column_atom("mother(X1,X2)"), column_atom("Smoker (self)"))
    mother(X1, X2) 'Smoker (self)'
    """
    atom = Atom.from_column(name)
    return atom if atom.variables else Atom(name)


def level_constant(text: str) -> Constant:
    """The constant for a value of a category: a number where that is spelled the same, else a name.

    Examples
    --------
    >>> print(level_constant("3"), level_constant("007"), level_constant("dark red"))
    3 '007' 'dark red'
    """
    number = number_or_none(text)
    spelled = Constant(text if number is None else number)
    return spelled if str(spelled) == text else Constant(text)


def _order(text: str) -> tuple[bool, float, str]:
    number = plain_number(text)
    return (number is None, number or 0.0, text)


@dataclass(frozen=True)
class _Comparison:
    """A label that compares a column with a value."""

    label: str
    name: str  #: of the column
    sign: str
    value: str

    @classmethod
    def read(cls, table: RawTable, label: str) -> _Comparison | None:
        """The comparison that a label is; None for one that names a column."""
        text = label.strip()
        if text in table.names:
            return None
        matches = (pattern.match(text) for pattern in _COMPARISONS)
        found = next((match for match in matches if match and match["name"] in table.names), None)
        if found is None:
            return None
        return cls(text, found["name"], found["sign"], found["value"].strip().strip("'\""))

    def column(self, table: RawTable, *, known: bool) -> RawColumn:
        """The column of true and false that it stands for; rows of known classes need not have both."""
        own = table.column(self.name)
        holds = self._equals(own, table.source, known=known) if self.sign == "=" else self._cuts(own)
        return RawColumn(self.label, np.where(own.known, holds, -1).astype(np.int32), ("false", "true"))

    def _equals(self, column: RawColumn, source: str, *, known: bool) -> Bools:
        """Where the column has the class, [rows]."""
        levels, codes, counts = column.distinct()
        texts = [canonical_level(level) for level in levels]
        spelled = _spellings(texts, counts.tolist(), None)
        wanted = _same_class(canonical_level(self.value), tuple(dict.fromkeys(spelled.values())))
        if wanted is None and not known:
            classes = sorted(set(spelled.values()), key=_order)
            raise DataError(
                f"{source}, label column {column.name!r} has no class {self.value!r}: its classes are "
                f"{_some(classes)}"
            )
        return np.array([*(spelled[text] == wanted for text in texts), False], dtype=np.bool_)[codes]

    def _cuts(self, column: RawColumn) -> Bools:
        """Where the column is above or below the value, [rows]."""
        measured, schema = _measured(column)
        read = schema.dates.read if measured.is_date else schema.numbers.read
        value = read(self.value)
        if np.isnan(value) and not measured.is_date:
            number = number_or_none(self.value)
            value = np.nan if number is None else float(number)
        if measured.levels is not None or np.isnan(value):
            kind = "date" if measured.is_date else "number"
            raise DataError(
                f"{self.label!r} cannot be a label: {self.name!r} or {self.value!r} is no {kind}; write it "
                f"as in '{self.name} > {'2021-03-01' if measured.is_date else '100'}'"
            )
        return np.asarray(_SIGNS[self.sign](measured.values, value))


def _measured(column: RawColumn) -> tuple[RawColumn, ColumnSchema]:
    """The column as plain numbers, or dates, where its cells are such as $5, 1.234,5 or 1.3.2021."""
    schema = ColumnSchema.learn(column)
    if column.levels is None or schema.kind not in ("number", "date"):
        return column, schema
    return RawColumn(column.name, schema.read(column)[0].values, is_date=schema.kind == "date"), schema


def _refuse_measurements(source: str, column: RawColumn) -> None:
    """Refuse numbers that are measured, and values that all differ: neither are classes."""
    where, is_text = f"{source}, label column {column.name!r}", column.levels is not None
    measured, schema = _measured(column)
    column = column if schema.numbers.bands else measured  # ranges are classes
    known = column.values[column.known]
    if column.is_date and len(known):
        if is_text and len(np.unique(known)) <= _MOST_FRACTIONS:
            return
        middle = spell_date(float(np.median(known) // _DAY * _DAY))
        raise DataError(
            f"{where} holds dates, and a label is one of some classes: name a label that cuts them, such as "
            f"'{column.name} > {middle}', or another column"
        )
    if column.levels is None:
        found = np.unique(known)
        whole = bool(np.equal(found, np.rint(found)).all())
        if len(found) > (_MOST_WHOLE if whole else _MOST_FRACTIONS):
            if whole and len(found) == len(known):
                raise DataError(
                    f"{where} has {len(found)} numbers that all differ: a key of the rows is no label; "
                    "name another column"
                )
            middle = level_of(float(f"{np.median(known):.3g}"))
            raise DataError(
                f"{where} has {len(found)} different numbers, so it is a measurement and no class: name a "
                f"label that cuts it, such as '{column.name} > {middle}', or another column"
            )
        return
    count = int((np.bincount(known, minlength=len(column.levels)) > 0).sum())
    if count > 20 and 2 * count > len(known):
        raise DataError(
            f"{where} has {count} different values on {len(known)} rows: names, keys or free text are no "
            "classes; name another column"
        )


def _spellings(texts: Sequence[str], counts: Sequence[int], classes: Sequence[str] | None) -> dict[str, str]:
    """The class that each text stands for: texts that differ in capitals only are one.

    It is spelled as most rows have it, or as the classes are that are known already.

    Examples
    --------
    >>> _spellings(["Yes", "no", "yes"], [1, 4, 3], None)
    {'Yes': 'yes', 'no': 'no', 'yes': 'yes'}
    """
    if classes is not None:
        return {text: _same_class(text, classes) or text for text in texts}
    ranked = sorted(zip(counts, texts, strict=True), key=lambda pair: (-pair[0], pair[1].swapcase()))
    first: dict[str, str] = {}
    for _, text in ranked:
        first.setdefault(text.casefold(), text)
    return {text: first[text.casefold()] for text in texts}


def _same_class(text: str, classes: Sequence[str]) -> str | None:
    """The class of this name, or the only one that differs in capitals only; None where there is none."""
    if text in classes:
        return text
    alike = [name for name in classes if name.casefold() == text.casefold()]
    return alike[0] if len(alike) == 1 else None


def _joined(spelled: Mapping[str, str]) -> list[str]:
    """A note on every class that was written in several ways."""
    notes = []
    for name in dict.fromkeys(spelled.values()):
        others = sorted(text for text, chosen in spelled.items() if chosen == name != text)
        if others:
            listed = ", ".join(shorten(text, 30) for text in others)
            notes.append(
                f"the class {shorten(name, 30)} is also written {listed}, which differs in capitals only: "
                "they are joined; rename one to keep them apart"
            )
    return notes


def _positive(where: str, classes: tuple[str, ...], wanted: str | None) -> int:
    """The place of the class that rules are about."""
    if wanted is not None:
        text = _same_class(canonical_level(wanted.strip()), classes)
        if text is None:
            raise DataError(f"{where} has no class {wanted!r}: its classes are {_some(classes)}")
        return classes.index(text)
    # Of numbers it is the larger, 1 beside 0 as 2 beside 1.
    true = [place for place, value in enumerate(classes) if value.lower() in TRUE_WORDS - {"1"}]
    return true[0] if len(classes) == 2 and len(true) == 1 else 1


def _some(classes: Sequence[str]) -> str:
    more = f" and {len(classes) - 10} more" if len(classes) > 10 else ""
    return ", ".join(repr(shorten(value, 30)) for value in classes[:10]) + more
