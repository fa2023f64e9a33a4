"""Columns of any kind as candidate atoms, and rows as bins that determine which atoms hold."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats
from andre.errors import DataError
from andre.facts import ColumnSchema, RawTable, Schema, TypedTable
from andre.limits import check
from andre.logic import Atom
from andre.progress import advance
from andre.samples.binned import BinnedTable
from andre.samples.column_encoding import ColumnEncoding, EncodingLimits
from andre.samples.space import Codes, RuleSpace

_CHECKED = 50  # columns between two checks of the time limit
_SHOWN = 3  # columns for which the reason is given if none can be used


@dataclass(frozen=True)
class Encoding:
    """How the columns of a table become candidate atoms; learned from training rows, applied to any rows.

    Examples
    --------
    >>> raw = RawTable.read({"age": [31, 44, None, 58], "color": ["red", "red", "blue", "red"]})
    >>> encoding = Encoding.learn(raw)
    >>> print(*encoding.space("rich").atoms, sep=", ")
    age > 40, age > 50, color = red
    >>> encoding.binned(raw).columns[0].bins
    array([ 0,  1, -1,  2], dtype=int16)
    >>> print(encoding)
    column  kind      missing  values  becomes
    age     number        25%       3  2 cuts: 40, 50
    color   category       0%       2  1 value: red; 1 rare
    """

    schema: Schema
    columns: tuple[ColumnEncoding, ...]

    @classmethod
    def learn(
        cls,
        table: RawTable,
        weights: Floats | None = None,
        *,
        schema: Schema | None = None,
        limits: EncodingLimits | None = None,
    ) -> Encoding:
        """Choose the atoms that the columns of a table become.

        Parameters
        ----------
        table
            The training rows, without label and weights.
        weights
            A weight per row; a row of weight 2 counts as two, one of 0 not at all.
        schema
            The kinds of the columns; by default those of `Schema.learn`.
        limits
            Bounds on the number of atoms of a column.

        Raises
        ------
        DataError
            If no column can be used.
        """
        schema, chosen = schema or Schema.learn(table), limits or EncodingLimits()
        weights = np.ones(table.n_rows) if weights is None else weights
        typed = schema.read(table)
        chosen = chosen.shared_by(sum(column.kind in ("number", "date") for column in typed.columns))
        columns: dict[str, ColumnEncoding] = {}
        for place, column in enumerate(typed.columns):
            if place % _CHECKED == _CHECKED - 1:
                advance(place, len(typed.columns))
                check()
            columns[column.name] = ColumnEncoding.learn(column, weights, chosen)
        idle = {name: _why_idle(encoding) for name, encoding in columns.items() if not encoding.atoms}
        left_out = {one.name: idle.get(one.name, one.left_out) for one in schema.columns}
        schema = Schema(tuple(replace(one, left_out=left_out[one.name]) for one in schema.columns))
        if not schema.columns:
            raise DataError(f"{table.source} has no column beside the label: give at least one")
        if not schema.used:
            reasons = "; ".join(f"{name}: {why}" for name, why in list(left_out.items())[:_SHOWN])
            raise DataError(
                f"{table.source} has no column from which rules can be made ({reasons}): give other columns, "
                "or say of what kind they are"
            )
        return cls(schema, tuple(columns[one.name] for one in schema.used))

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        """The candidate atoms of all columns, [m]."""
        return tuple(atom for column in self.columns for atom in column.atoms)

    @cached_property
    def coarse(self) -> NDArray[np.intp]:
        """The indices, among the m atoms, of those for runs of gradient descent."""
        places, start = [], 0
        for column in self.columns:
            places += [start + place for place in column.shown]
            start += len(column.atoms)
        return np.array(places, dtype=np.intp)

    def space(self, head: Atom | str = "h") -> RuleSpace:
        """The rule space of all atoms."""
        return RuleSpace(Atom.from_column(head) if isinstance(head, str) else head, self.atoms)

    def coarse_space(self, head: Atom | str = "h") -> RuleSpace:
        """The rule space of the atoms for runs of gradient descent."""
        space = self.space(head)
        return RuleSpace(space.head, tuple(space.atoms[place] for place in self.coarse))

    def lifted(self, codes: Codes) -> Codes:
        """Bodies over the coarse atoms as bodies over all of them, [rules, m].

        Examples
        --------
        >>> encoding = Encoding.learn(RawTable.read({"age": [*range(12)]}), limits=EncodingLimits(coarse=2))
        >>> encoding.coarse
        array([3, 7])
        >>> encoding.lifted(np.array([[-1, 1]], dtype=np.int8))
        array([[ 0,  0,  0, -1,  0,  0,  0,  1,  0,  0,  0]], dtype=int8)
        """
        found = np.zeros((len(codes), len(self.atoms)), dtype=np.int8)
        found[:, self.coarse] = codes
        return found

    def tidied(self, codes: Codes) -> Codes:
        """The same bodies without literals that follow from others, [rules, m].

        Of several cuts of a column the tightest are kept, and "none of the values but one" becomes
        that one value. For values that occurred in training, the bodies hold as before.

        Examples
        --------
        >>> encoding = Encoding.learn(RawTable.read({"n": [1, 2, 3] * 4, "c": ["x", "y", "z"] * 4}))
        >>> space, codes = encoding.space(), np.array([[1, 1, -1, 0, -1]], dtype=np.int8)
        >>> print(space.program(codes), space.program(encoding.tidied(codes)))
        h :- n > 1.5, n > 2.5, c \\= x, c \\= z. h :- n > 2.5, c = y.
        """
        found, start = codes.copy(), 0
        for column in self.columns:
            end = start + len(column.atoms)
            for place in np.flatnonzero((found[:, start:end] != 0).sum(axis=1) > 1):
                found[place, start:end] = column.tidied(found[place, start:end])
            start = end
        return found

    def columns_of(self, codes: Codes) -> frozenset[str]:
        """The columns that occur in bodies, [rules, m].

        Examples
        --------
        >>> encoding = Encoding.learn(RawTable.read({"n": [1, 2, 3] * 4, "c": ["x", "y", "z"] * 4}))
        >>> encoding.columns_of(np.array([[0, 0, 1, 0, 0]], dtype=np.int8))
        frozenset({'c'})
        """
        owners = np.repeat(np.arange(len(self.columns)), [len(column.atoms) for column in self.columns])
        return frozenset(self.columns[place].name for place in owners[(codes != 0).any(axis=0)])

    def read(self, table: RawTable, needed: Collection[str] | None = None) -> TypedTable:
        """The columns of any rows that the atoms are about, converted to their kinds; see `Schema.read`."""
        return self.schema.read(table, needed)

    def binned(self, table: RawTable | TypedTable) -> BinnedTable:
        """Any rows as bins, which determine which of the m atoms hold."""
        typed = table if isinstance(table, TypedTable) else self.read(table)
        columns = zip(self.columns, typed.columns, strict=True)
        return BinnedTable(tuple(chain.from_iterable(each.binned(column) for each, column in columns)))

    def valuations(self, table: RawTable | TypedTable) -> Floats:
        """Truth values of the coarse atoms on any rows, [rows, coarse]; NaN is unknown.

        The result is a dense table, so give a long table in parts.
        """
        typed = table if isinstance(table, TypedTable) else self.read(table)
        found = np.empty((typed.n_rows, len(self.coarse)))
        start = 0
        for encoding, column in zip(self.columns, typed.columns, strict=True):
            part = found[:, start : start + len(encoding.shown)]
            start += len(encoding.shown)
            if encoding.gaps:
                part[:, -1] = column.missing
                part = part[:, :-1]
            if encoding.kind == "truth":
                part[:, 0] = column.values
            elif encoding.value_atoms:
                bins = encoding.binned(column)[0]
                for place, atom in enumerate(encoding.shown[: part.shape[1]]):
                    part[:, place] = bins.holds(atom)
                part[bins.bins < 0] = np.nan
        return found

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know about how columns were read."""
        return tuple(f"{one.name}: {note}" for one in self.schema.used for note in one.notes)

    def summary(self) -> tuple[ColumnSummary, ...]:
        """What each column of the table becomes, including those that are left out."""
        encodings = {column.name: column for column in self.columns}
        return tuple(ColumnSummary.of(one, encodings.get(one.name)) for one in self.schema.columns)

    def __str__(self) -> str:
        rows = [("column", "kind", "missing", "values", "becomes"), *(one.cells() for one in self.summary())]
        widths = [max(len(row[place]) for row in rows) for place in range(4)]
        lines = []
        for row in rows:
            name, kind = (f"{row[place]:<{widths[place]}}" for place in (0, 1))
            missing, distinct = (f"{row[place]:>{widths[place]}}" for place in (2, 3))
            lines.append("  ".join((name, kind, missing, distinct, row[4])))
        return "\n".join(lines)


@dataclass(frozen=True)
class ColumnSummary:
    """The kind of one column of a table, and what it becomes."""

    name: str
    kind: str  #: empty for a column that is left out
    missing: float  #: the share of rows without a value
    distinct: int  #: the number of different values
    becomes: str  #: its cuts or values, or the reason why it is left out, with remarks

    @classmethod
    def of(cls, schema: ColumnSchema, encoding: ColumnEncoding | None) -> ColumnSummary:
        """The summary of a column; without an encoding, the column is left out."""
        becomes = f"left out: {schema.left_out}" if encoding is None else str(encoding)
        notes = "".join(f" ({note})" for note in schema.notes)
        kind = "" if encoding is None else schema.kind
        return cls(schema.name, kind, schema.missing / max(1, schema.rows), schema.distinct, becomes + notes)

    def cells(self) -> tuple[str, str, str, str, str]:
        """The summary as a line of a table."""
        return self.name, self.kind, f"{self.missing:.0%}", str(self.distinct), self.becomes


def _why_idle(encoding: ColumnEncoding) -> str:
    if encoding.kind == "category":
        return f"none of its {encoding.pooled} values occurs on enough rows"
    return "the same value on every row that can be read"
