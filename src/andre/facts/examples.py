"""Tables of examples: a row per example, a column of truth values per candidate atom, and the labels."""

from __future__ import annotations

import difflib
import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools, Floats
from andre.errors import DataError
from andre.facts.formats.table_files import TableFile, open_table, read_cell
from andre.logic import Atom

_MOST_NAMES = 12  # of columns that an error lists; of more it says how many


@dataclass(frozen=True, eq=False)
class ExampleTable:
    """Truth values of candidate atoms, one row per example, with labels and weights where given.

    Examples
    --------
    >>> table = ExampleTable(("b1", "b2"), np.array([[1.0, 0.5], [0.0, 0.5]]), "h", np.array([True, False]))
    >>> table.constant
    ('b2',)
    >>> table.select(["b1"]).names
    ('b1',)
    """

    names: tuple[str, ...]
    valuations: Floats  #: [N, m] in [0, 1]; NaN is unknown
    head: str = "h"  #: the label column's name
    labels: Bools | None = None  #: [N]
    weights: Floats | None = None  #: [N], as how many rows each counts
    path: Path | None = None  #: where it was read

    def __len__(self) -> int:
        return len(self.valuations)

    @property
    def constant(self) -> tuple[str, ...]:
        """The columns with the same value on every row, which tell no examples apart."""
        first = self.valuations[:1]
        same = (self.valuations == first) | (np.isnan(self.valuations) & np.isnan(first))
        return tuple(name for name, alike in zip(self.names, same.all(axis=0), strict=True) if alike)

    def select(self, names: Sequence[str]) -> ExampleTable:
        """The same rows with these columns, in this order."""
        places = [_find(self.names, name, f"{self.path or 'the table'} has no column") for name in names]
        return replace(self, names=tuple(names), valuations=self.valuations[:, places])

    def without_constant(self) -> ExampleTable:
        """The same rows without the constant columns; refused where no column is left."""
        idle = set(self.constant)
        if len(idle) == len(self.names):
            raise DataError(
                f"{self.path or 'the table'} has the same value on every row in every column but the label, "
                "so no rule can tell its rows apart: give other columns"
            )
        return self.select([name for name in self.names if name not in idle]) if idle else self

    def require_both_classes(self) -> ExampleTable:
        """The table itself; refused where its labels are all equal, so that nothing can be learned."""
        labels = self.known_labels()
        seen = labels if self.weights is None else labels[self.weights > 0]
        if len(set(seen.tolist())) == 1:
            raise DataError(
                f"{self.path or 'the table'}, column {self.head!r}: every label is {int(seen[0])}, so there "
                "is only one class and nothing to tell apart: add rows of the other class"
            )
        return self

    def split(self, share: float, seed: int = 0) -> tuple[ExampleTable, ExampleTable]:
        """A stratified random split: the rows to learn from, and those held out to validate on.

        The same share of both classes, between 0 and 1, is held out, and at
        least one row of each stays to learn from.
        """
        if not 0 < share < 1:
            raise DataError(f"the share {share:g} of rows to hold out must lie between 0 and 1")
        rng = np.random.default_rng(seed)
        held = np.zeros(len(self), dtype=bool)
        for value in (False, True):
            members = rng.permutation(np.flatnonzero(self.known_labels() == value))
            held[members[: min(round(share * len(members)), len(members) - 1)]] = True
        if not held.any():
            raise DataError(
                f"a share of {share:g} of {len(self)} rows holds out none: "
                "give a larger share, more rows, or no validation"
            )
        return self.take(np.flatnonzero(~held)), self.take(np.flatnonzero(held))

    def take(self, rows: NDArray[np.intp]) -> ExampleTable:
        """The rows at these positions."""
        return replace(
            self,
            valuations=self.valuations[rows],
            labels=None if self.labels is None else self.labels[rows],
            weights=None if self.weights is None else self.weights[rows],
        )

    def known_labels(self) -> Bools:
        """The labels, [N]; refused where the table was read without any."""
        if self.labels is None:
            raise DataError(f"{self.path or 'the table'} was read without labels: name the label column")
        return self.labels


def read_table(
    path: Path | str,
    label: str | None = "h",
    weight: str | None = None,
    *,
    columns: Sequence[str | Atom] | None = None,
    ignore: Sequence[str] = (),
) -> ExampleTable:
    """Read a table of examples from a CSV or Parquet file.

    A cell holds a number from 0 to 1, or true or false; an empty one is
    unknown. Column names may be plain (`b1`), atoms (`mother(X1,X2)`) or any
    other text. CSV is UTF-8, its cells between commas, semicolons or tabs.

    Parameters
    ----------
    path
        The file, or a pipe that gives one.
    label
        The column of 0/1 labels, which names the head; None if there is none.
    weight
        A column of row weights, if there is one; 2 counts as two rows.
    columns
        The columns of candidate atoms, in this order; by default all others.
    ignore
        Columns that are left out.

    Raises
    ------
    DataError
        Where the file is no such table: what is wrong, on which line, in which column.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "birds.csv"
    >>> _ = file.write_text("wings,feathers,bird\\n1,1,1\\n0.9,,1\\n1,0,0\\n")
    >>> table = read_table(file, label="bird")
    >>> table.names, table.labels
    (('wings', 'feathers'), array([ True,  True, False]))
    """
    path = Path(path)
    with open_table(path) as file:
        _check_names(path, file.names)
        others = ((name, "column") for name in ignore)
        special = _special(path, file.names, (label, "label column"), (weight, "weight column"), *others)
        if columns is None:
            places = [place for place in range(len(file.names)) if place not in special.values()]
        else:
            places = [_find(file.names, name, f"{path} has no column") for name in columns]
        if not places:
            raise DataError(f"{path} has no column beside the label: give at least one candidate")
        kinds = dict.fromkeys(places, _VALUATION)
        if label is not None:
            kinds[special[label]] = _LABEL
        if weight is not None:
            kinds[special[weight]] = _WEIGHT
        cells = _read(file, kinds)
    where = {place: column for column, place in enumerate(kinds)}
    return ExampleTable(
        names=tuple(file.names[place] for place in places),
        valuations=cells[:, [where[place] for place in places]],
        head="h" if label is None else file.names[special[label]],
        labels=None if label is None else cells[:, where[special[label]]] == 1,
        weights=None if weight is None else _some_weight(path, weight, cells[:, where[special[weight]]]),
        path=path,
    )


@dataclass(frozen=True)
class _Kind:
    """Which numbers a column may hold, and a sentence about a cell that may not stand there."""

    allows: Callable[[Any], Any]
    complain: Callable[[str, float | None], str]


def _valuation_fault(text: str, number: float | None) -> str:
    if number is None:
        is_comma = read_cell(text.replace(",", ".")) is not None
        return (
            f"{text!r} is not a number{' (write a decimal point, not a comma)' if is_comma else ''}: "
            "give a truth value from 0 to 1, leave the cell empty if it is unknown, or ignore the column"
        )
    if math.isinf(number):
        return f"{text} is infinite: give a truth value from 0 to 1, or leave the cell empty if it is unknown"
    return f"{text} is outside [0, 1]: scale the column to truth values, or cut it at a threshold"


def _label_fault(text: str, number: float | None) -> str:
    if number is not None and math.isnan(number):
        return "the label is missing: give 0 or 1, or delete the row"
    return f"the label is {text!r}: labels must be 0 or 1"


def _weight_fault(text: str, number: float | None) -> str:
    return f"the weight is {text!r}: weights must be finite numbers of at least 0"


# Written so that they serve a column and a single number alike; only NaN differs from itself.
_VALUATION = _Kind(lambda cell: (cell != cell) | ((cell >= 0) & (cell <= 1)), _valuation_fault)  # noqa: PLR0124
_LABEL = _Kind(lambda cell: (cell == 0) | (cell == 1), _label_fault)
_WEIGHT = _Kind(lambda cell: (cell >= 0) & (cell < math.inf), _weight_fault)


def _read(file: TableFile, kinds: dict[int, _Kind]) -> Floats:
    """The chosen columns, [N, columns]: read in bulk, and again row by row where something is wrong."""
    cells = file.columns(list(kinds))
    if cells is None or not all(
        kind.allows(cells[:, place]).all() for place, kind in enumerate(kinds.values())
    ):
        cells = _read_rows(file, kinds)
    if not len(cells):
        raise DataError(
            f"{file.path} has column names but no rows: add at least one positive and one negative example"
        )
    return cells


def _read_rows(file: TableFile, kinds: dict[int, _Kind]) -> Floats:
    """The chosen columns row by row, with an error that names the first cell that is wrong."""
    found = array("d")
    for where, cells in file.rows():
        for place, kind in kinds.items():
            number = read_cell(cells[place])
            if number is None or not kind.allows(number):
                text = "" if cells[place] is None else str(cells[place]).strip()
                column = f"{file.path}, {where}, column {file.names[place]!r}"
                raise DataError(f"{column}: {kind.complain(text, number)}")
            found.append(number)
    return np.array(found).reshape(-1, len(kinds))


def _check_names(path: Path, names: Sequence[str]) -> None:
    seen: dict[Atom, int] = {}
    for place, name in enumerate(names, start=1):
        if not name:
            raise DataError(f"{path}: column {place} of {len(names)} has no name: give every column one")
        atom = Atom.parse(name)
        if atom in seen:
            raise DataError(
                f"{path}: columns {seen[atom]} and {place} are both named {name!r}: give each its own name"
            )
        seen[atom] = place


def _special(path: Path, names: Sequence[str], *roles: tuple[str | None, str]) -> dict[str, int]:
    """The places of the columns that are no candidate atoms."""
    places: dict[str, int] = {}
    for name, what in roles:
        if name is None:
            continue
        place = _find(names, name, f"{path} has no {what}")
        if place in places.values():
            raise DataError(
                f"the column {name!r} of {path} cannot be two things at once: name another {what}"
            )
        places[name] = place
    return places


def _find(names: Sequence[str], wanted: str | Atom, missing: str) -> int:
    """The place of a column of this name, or of one whose name reads as the same atom."""
    if wanted in names:
        return list(names).index(str(wanted))
    name = str(wanted)
    atom = wanted if isinstance(wanted, Atom) else Atom.parse(name.strip())
    place = next((place for place, other in enumerate(names) if Atom.parse(other) == atom), None)
    if place is not None:
        return place
    close = difflib.get_close_matches(name, names, n=1)
    guess = f"; did you mean {close[0]!r}?" if close else ""
    if all(read_cell(other) is not None for other in names):
        guess = "; the first line must name the columns"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    listed = ", ".join(map(repr, names[:_MOST_NAMES]))
    raise DataError(f"{missing} {name!r}: its columns are {listed}{more}{guess}")


def _some_weight(path: Path, name: str, weights: Floats) -> Floats:
    if not weights.any():
        raise DataError(f"{path}, column {name!r}: every weight is 0, so there are no rows to learn from")
    return weights
