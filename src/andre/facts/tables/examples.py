"""Rows of a table that have a label: what a classifier is learned from, or judged by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools, Floats
from andre.errors import DataError
from andre.facts.tables.labels import Labels, label_column
from andre.facts.tables.raw import RawColumn, RawTable
from andre.facts.tables.schema import ColumnSchema

#: All rows together; beyond it, sums of weights lose single rows.
_MOST_WEIGHT = 1e15


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """The rows of a table that have a label and a weight: columns that rules may use, classes and weights.

    Examples
    --------
    >>> table = RawTable.read({"age": [4, 5, 6], "times": [1, 2, 1], "species": ["cat", "dog", None]})
    >>> rows = LabelledRows.read(table, "species", weight="times")
    >>> rows.table.names, rows.labels.codes, rows.weights
    (('age',), array([0, 1]), array([1., 2.]))
    """

    table: RawTable  #: without the columns of labels and weights
    labels: Labels  #: whose `rows` say where each row stood before others were left out
    weights: Floats  #: [rows], above 0

    @classmethod
    def read(
        cls,
        table: RawTable,
        label: str,
        *,
        weight: str | None = None,
        positive: str | None = None,
        classes: Sequence[str] | None = None,
    ) -> LabelledRows:
        """Part the columns of a table.

        Parameters
        ----------
        table
            The table.
        label, positive, classes
            As for `Labels.read`.
        weight
            A column of row weights: 2 counts as two rows, and a row of weight 0 is left out.

        Raises
        ------
        DataError
            Where a column is not there, or does not hold labels or weights.
        """
        if not table.n_rows:
            raise DataError(f"{table.source} has column names but no rows: add rows with labels")
        labels = Labels.read(table, label, positive, classes=classes)
        special = [label_column(table, label)]
        weights = np.ones(table.n_rows)
        if weight is not None:
            weights = _weights(table, weight)
            special.append(table.column(weight).name)
            if special[0] == special[1]:
                raise DataError(f"{table.source}: {weight!r} cannot be both label and weight: name another")
        return cls(table.without(special), labels, weights)._seen()

    def _seen(self) -> LabelledRows:
        """The rows that have a label and a weight."""
        rows = self.labels.rows
        weighed = self.weights[rows] > 0
        labels = self.labels.take(weighed)
        rows = labels.rows
        if not len(rows):
            raise DataError(f"{self.table.source}: no row has a label and a weight: give such rows")
        whole = len(rows) == self.table.n_rows
        return LabelledRows(self.table if whole else self.table.take(rows), labels, self.weights[rows])

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know about how the table was read, and which of its rows."""
        return (*self.table.notes, *self.labels.notes)

    @property
    def totals(self) -> Floats:
        """The weight of each class, [classes]."""
        return np.bincount(self.labels.codes, self.weights, len(self.labels.classes)).astype(np.float64)

    def require_two_classes(self) -> LabelledRows:
        """The rows themselves; refused where all are of one class."""
        seen = np.flatnonzero(self.totals > 0)
        if len(seen) < 2:
            name = self.labels.classes[int(seen[0])] if len(seen) else "none"
            raise DataError(
                f"{self.table.source}: all rows are of the class {name}, so there is only one class and "
                "nothing to tell apart: add rows of another class"
            )
        return self

    def take(self, chosen: NDArray[Any]) -> LabelledRows:
        """Some of the rows, by numbers or as a mask."""
        return LabelledRows(self.table.take(chosen), self.labels.take(chosen), self.weights[chosen])

    def in_canonical_order(self) -> LabelledRows:
        """The same with rows by what they hold, whatever order they were given in.

        Columns stay where they are: rows without names are told by their places.
        """
        columns = tuple(one.with_sorted_levels() for one in self.table.columns)
        by_name = sorted(columns, key=lambda one: one.name)
        order = np.lexsort((self.weights, self.labels.codes, *(one.values for one in by_name)))
        return replace(self, table=replace(self.table, columns=columns)).take(order)

    def split(self, share: float, seed: int = 0) -> tuple[LabelledRows, LabelledRows]:
        """A stratified random split: rows to learn from, and rows held out.

        The same share of every class, between 0 and 1, is held out, and at
        least one row of each stays to learn from.
        """
        if not 0 < share < 1:
            raise DataError(f"the share {share:g} of rows to hold out must lie between 0 and 1")
        rng, rows = np.random.default_rng(seed), self.in_canonical_order()
        held = np.zeros(len(rows), dtype=np.bool_)
        for place in range(len(self.labels.classes)):
            members = rng.permutation(np.flatnonzero(rows.labels.codes == place))
            held[members[: min(round(share * len(members)), len(members) - 1)]] = True
        if not held.any():
            raise DataError(
                f"a share of {share:g} of {len(self)} rows holds out none: "
                "give a larger share, more rows, or no validation"
            )
        return rows.take(~held), rows.take(held)


@dataclass(frozen=True, eq=False)
class TruthRows:
    """Rows of truth values, as a program over the atoms of their columns reads them.

    Examples
    --------
    >>> table = RawTable.read({"wings": [1, 0.9, 0], "feathers": ["true", None, "false"], "bird": [1, 1, 0]})
    >>> rows = TruthRows.read(table, ["wings", "feathers"], "bird")
    >>> rows.valuations.tolist(), rows.labels
    ([[1.0, 1.0], [0.9, nan], [0.0, 0.0]], array([ True,  True, False]))
    """

    valuations: Floats  #: [rows, columns] in [0, 1]; NaN is unknown
    labels: Bools  #: [rows]; all False where none were asked for
    weights: Floats  #: [rows]

    @classmethod
    def read(
        cls,
        table: RawTable,
        names: Sequence[str],
        label: str | None = None,
        weight: str | None = None,
    ) -> TruthRows:
        """Some columns of a table as truth values, in this order.

        Parameters
        ----------
        table
            The table.
        names
            The columns.
        label
            A column of 0 and 1, or true and false; rows without a label are left out.
        weight
            A column of row weights.

        Raises
        ------
        DataError
            Where a column is not there, or holds numbers outside [0, 1].
        """
        valuations = np.empty((table.n_rows, len(names)))
        for place, name in enumerate(names):
            valuations[:, place] = _truth(table.column(name))
        weights = np.ones(table.n_rows) if weight is None else _weights(table, weight)
        if label is None:
            return cls(valuations, np.zeros(table.n_rows, dtype=np.bool_), weights)
        labels = _truth(table.column(label, "label column"))
        wrong = np.flatnonzero(~np.isin(labels, (0.0, 1.0)) & ~np.isnan(labels))
        if len(wrong):
            raise DataError(
                f"{table.source}, label column {label!r}: the label of row {wrong[0] + 1} is "
                f"{labels[wrong[0]]:g}: labels of truth values must be 0 or 1"
            )
        known = ~np.isnan(labels)
        return cls(valuations[known], labels[known] == 1, weights[known])


def _truth(column: RawColumn) -> Floats:
    values: Floats = ColumnSchema(column.name, "truth").read(column)[0].values
    return values


def read_examples(
    source: Any,
    label: str | Any,
    validation: Any = None,
    *,
    weight: str | None = None,
    positive: str | None = None,
    seed: int = 0,
) -> tuple[LabelledRows, LabelledRows | None]:
    """The rows of a table to learn from, and those held out, if any.

    Parameters
    ----------
    source
        Whatever `RawTable.read` takes.
    label
        As for `LabelledRows.read`; or the labels themselves, one a row: an array, a list or a Series. They
        take the place of the column that a Series is named like, and are called h where they have no name.
    weight, positive
        As for `LabelledRows.read`.
    validation
        A share of the rows to hold out, a number or its text, or a second table of the same columns.
    seed
        Of the rows that are held out.

    Examples
    --------
    >>> table = {"age": [*range(10)], "old": [age > 4 for age in range(10)]}
    >>> train, held = read_examples(table, "old", 0.2)
    >>> len(train), len(held)
    (8, 2)
    >>> read_examples({"age": [4, 5, 6]}, ["cat", "dog", "cat"])[0].labels.classes
    ('cat', 'dog')
    """
    table = RawTable.read(source)
    if not isinstance(label, str):
        _check_order(source, label)
        table, label = _with_labels(table, label)
    rows = LabelledRows.read(table, label, weight=weight, positive=positive)
    if validation is None:
        return rows, None
    try:
        share = float(validation)
    except (TypeError, ValueError):  # no number, so a table
        text = [column.name for column in table.columns if column.levels is not None]
        other = RawTable.read(validation, as_text=text)
        known = rows.labels
        return rows, LabelledRows.read(other, known.name, weight=weight, classes=known.classes)
    return rows.split(share, seed)


def _with_labels(table: RawTable, labels: Any) -> tuple[RawTable, str]:
    """The table with labels that were given apart from it as one more column, and the name of this column."""
    given = getattr(labels, "name", None)  # of a Series
    name = str(given).strip() if given else "h"
    if not given and name in table.names:
        raise DataError(
            f"{table.source} has a column 'h', as labels without a name are called: give label='h' for this "
            "column, or the labels as a Series with a name"
        )
    column = RawColumn.from_array(name, labels)
    if len(column.values) != table.n_rows:
        raise DataError(
            f"there are {len(column.values)} labels for the {table.n_rows} rows of {table.source}: "
            "give one for each row"
        )
    others = tuple(one for one in table.columns if one.name != name)
    return replace(table, columns=(*others, column)), name


def _check_order(source: Any, labels: Any) -> None:
    """Refuse a Series whose index is that of the DataFrame in another order: it is read row by row."""
    own: Any = getattr(source, "index", None)
    other: Any = getattr(labels, "index", None)
    if not (hasattr(own, "equals") and hasattr(other, "symmetric_difference")) or own.equals(other):
        return
    if len(own) == len(other) and not len(own.symmetric_difference(other)):
        raise DataError(
            "the labels have the index of the table in another order: give labels.loc[table.index], or "
            "labels.to_numpy() where their first is that of the first row all the same"
        )


def _weights(table: RawTable, name: str) -> Floats:
    column = table.column(name, "weight column")
    where = f"{table.source}, weight column {column.name!r}"
    if column.levels is not None or column.is_date:
        raise DataError(f"{where}: weights must be numbers, and some of its cells are not")
    weights = np.asarray(column.values, dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise DataError(
            f"{where}: the weight of row {wrong[0] + 1} is {weights[wrong[0]]:g}: weights must be finite "
            "numbers of at least 0"
        )
    total = float(np.sum(weights / _MOST_WEIGHT))
    if total > 1:
        raise DataError(
            f"{where}: the weights add up to more than {_MOST_WEIGHT:g}: give them as numbers of rows"
        )
    if not weights.any():
        raise DataError(f"{where}: every weight is 0, so there are no rows to learn from")
    return weights
