"""The label column of a table: its classes, and which of two the rules are about."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools
from andre.errors import DataError, shorten
from andre.facts.tables.cells import BOOLEANS, TRUE_WORDS, canonical_level, level_of, plain_number
from andre.facts.tables.raw import RawColumn, RawTable
from andre.facts.tables.schema import ColumnSchema
from andre.logic import Atom, Constant, number_or_none

_MOST_WHOLE = 50  # whole numbers that may be classes
_MOST_FRACTIONS = 10  # other numbers that may be
_CUT = re.compile(r"(?P<name>.+?)\s*(?P<sign>>=|=<|<=|>|<)\s*(?P<value>[^<>=]+)\Z")
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
            The column; or a comparison of a column with a number, such as `price > 100`, which gives two
            classes, true and false.
        positive
            Of two classes the one that rules are about. By default it is 1, true or yes, else the second.
        classes
            The classes that are known already, of which every row that has a label has one.

        Raises
        ------
        DataError
            Where the column is not there, holds keys or measurements, or has fewer than two classes.
        """
        column = _cut(table, label)
        if column is None:
            column = table.column(label, "label column")
            if classes is None:
                _refuse_measurements(table.source, column)
        where = f"{table.source}, label column {column.name!r}"
        levels, codes, _ = column.distinct()
        texts = [canonical_level(level) for level in levels]
        if not texts:
            raise DataError(f"{where}: no row has a label: name another column")
        known = classes
        classes = tuple(sorted(set(texts), key=_order)) if known is None else tuple(known)
        if strange := next((text for text in texts if text not in classes), None):
            raise DataError(
                f"{where}: there is a class {shorten(strange, 30)!r} that rules were not learned for: "
                f"the classes are {_some(classes)}"
            )
        if len(classes) == 1:
            raise DataError(
                f"{where}: every label is {shorten(classes[0], 40)!r}, so there is only one class and "
                "nothing to tell apart: add rows of another class, or name another column"
            )
        place = {text: number for number, text in enumerate(classes)}
        rows = np.flatnonzero(codes >= 0)
        found = np.array([place[text] for text in texts], dtype=np.intp)[codes[rows]]
        missing = len(codes) - len(rows)
        kept = "row has no label and is" if missing == 1 else "rows have no label and are"
        notes: tuple[str, ...] = (f"{missing} {kept} left out",) if missing else ()
        if alike := _differ_in_case(classes):
            notes += (f"the classes {' and '.join(alike)} differ in their capitals only: are they one?",)
        chosen = _positive(where, classes, positive)
        return cls(column.name, classes, found, rows, chosen, notes)

    def head(self, value: str | None = None) -> Atom:
        """The head of rules about a class: the label itself for true, 1 or yes, else with the class.

        By default it is of the positive class.
        """
        value = self.classes[self.positive] if value is None else value
        pair = {text.lower() for text in self.classes}
        two = len(self.classes) == 2  # yes and Yes beside no would have one head
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
    match = _CUT.match(label.strip())
    if match is None or label.strip() in table.names or match["name"] not in table.names:
        return table.column(label, "label column").name
    return match["name"]


def column_atom(name: str) -> Atom:
    """The atom of a column of true and false: one with variables if it is named like that, else its name.

    Examples
    --------
    >>> print(column_atom("mother(X1,X2)"), column_atom("Smoker (self)"))
    mother(X1, X2) 'Smoker (self)'
    """
    atom = Atom.parse(name)
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


def _cut(table: RawTable, label: str) -> RawColumn | None:
    """The column of true and false that a comparison stands for, unless a column has that very name."""
    match = _CUT.match(label.strip())
    if match is None or label.strip() in table.names or match["name"] not in table.names:
        return None
    column, value = _measured(table.column(match["name"])), number_or_none(match["value"].strip())
    if column.levels is not None or value is None:
        raise DataError(f"{label!r} cannot be a label: {match['name']!r} or {match['value']!r} is no number")
    holds = _SIGNS[match["sign"]](column.values, value)
    codes = np.where(column.known, holds, -1).astype(np.int32)
    return RawColumn(label.strip(), codes, ("false", "true"))


def _measured(column: RawColumn) -> RawColumn:
    """The column as plain numbers, where its cells are such as $5 or 1.234,5; any other as it is."""
    schema = ColumnSchema.learn(column)
    if column.levels is None or schema.kind != "number":
        return column
    return RawColumn(column.name, schema.read(column)[0].values)


def _refuse_measurements(source: str, column: RawColumn) -> None:
    """Refuse numbers that are measured, and values that all differ: neither are classes."""
    where, column = f"{source}, label column {column.name!r}", _measured(column)
    if column.is_date:
        raise DataError(f"{where} holds dates: a label is one of some classes; name another column")
    known = column.values[column.known]
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


def _differ_in_case(classes: tuple[str, ...]) -> tuple[str, ...]:
    """The first classes that would be one in lower case."""
    seen: dict[str, str] = {}
    for name in classes:
        if (other := seen.setdefault(name.lower(), name)) != name:
            return other, name
    return ()


def _positive(where: str, classes: tuple[str, ...], wanted: str | None) -> int:
    """The place of the class that rules are about."""
    if wanted is not None:
        text = canonical_level(wanted.strip())
        if text not in classes:
            raise DataError(f"{where} has no class {wanted!r}: its classes are {_some(classes)}")
        return classes.index(text)
    # Of numbers it is the larger, 1 beside 0 as 2 beside 1.
    true = [place for place, value in enumerate(classes) if value.lower() in TRUE_WORDS - {"1"}]
    return true[0] if len(classes) == 2 and len(true) == 1 else 1


def _some(classes: Sequence[str]) -> str:
    more = f" and {len(classes) - 10} more" if len(classes) > 10 else ""
    return ", ".join(repr(shorten(value, 30)) for value in classes[:10]) + more
