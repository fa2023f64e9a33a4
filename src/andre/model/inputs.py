"""A sample as input of the network, with every column in its cheapest form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from andre.model.conjunction import BLOCK, Bags, Dense, Direct, coefficients, extremes, features, sum_terms
from andre.model.fused import Fused, can_fuse
from andre.model.operators import Operator, SoftminAttention

#: A table pays once there are this many rows per level.
_ROWS_PER_LEVEL = 4
#: The most levels of exact tables, so that these do not grow with the rows.
_MOST_LEVELS = 1024
#: Up to this many levels a dense product beats bags.
_DENSE_LEVELS = 4
#: Columns that are copied together: one by one, every row would be read for each.
_TOGETHER = 16

#: Columns in one of the forms of the conjunction.
Part: TypeAlias = Dense | Bags | Direct | Fused


@dataclass(frozen=True, eq=False)
class Inputs:
    """Valuations, with their columns divided among the forms of the conjunction.

    Examples
    --------
    >>> inputs = Inputs.encode(np.array([[1.0, 0.3], [0.0, 0.9]]))
    >>> [type(part).__name__ for part in inputs.parts]
    ['Dense', 'Direct']
    """

    n_rows: int
    m: int
    parts: tuple[Part, ...]
    block: int = BLOCK  #: floats that are computed at a time if rows are visited one by one

    @classmethod
    def encode(
        cls,
        valuations: NDArray[np.floating],
        *,
        levels: int | None = 64,
        batch: int | None = None,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> Inputs:
        """Choose a form for every column and prepare it.

        Parameters
        ----------
        valuations
            Truth values, [U, m]; NaN is unknown.
        levels
            Columns with more values than this are rounded to so many equidistant levels
            if that is cheaper; None keeps every value exact.
        batch
            Rows that the network sees at a time, if not all.
        """
        rows, m = valuations.shape
        seen, fused = min(rows, batch or rows), can_fuse(torch.device(device))
        dense: list[_Column] = []
        bags: list[_Column] = []
        direct: list[int] = []
        for first in range(0, m, _TOGETHER):
            some = np.ascontiguousarray(valuations[:, first : first + _TOGETHER].T)  # [columns, U]
            for j, values in enumerate(some, first):
                column = _Column.of(j, values, levels, seen)
                if column is None:
                    direct.append(j)
                else:
                    (dense if len(column.values) <= _DENSE_LEVELS else bags).append(column)
        parts: list[Part] = []
        if dense:
            index, table, level = _tabulate(dense, device, dtype)
            one_hot = level[..., None] == torch.arange(
                table.shape[1], dtype=level.dtype, device=device
            )  # [U, c, L]
            parts.append(Dense(index, table, one_hot.flatten(1).to(dtype)))
        if bags and not fused:
            parts.append(Bags.build(*_tabulate(bags, device, dtype)))
        if direct or (bags and fused):
            levelled = bags if fused else []  # a table saves exponentials, which are cheap in a kernel
            kind = np.float32 if dtype == torch.float32 else np.float64
            some = np.empty((len(direct) + len(levelled), rows), dtype=kind)
            some[: len(direct)] = valuations[:, direct].T
            for place, column in enumerate(levelled, len(direct)):
                some[place] = column.values[column.level]
            values = torch.as_tensor(some, dtype=dtype, device=device)  # [c, U]
            places = [*direct, *(column.place for column in levelled)]
            index = torch.as_tensor(places, device=device)
            if fused:
                parts.append(Fused(index, values, known=not bool(values.isnan().any())))
            else:
                parts.append(Direct(index, features(values)))
        return cls(rows, m, tuple(parts))

    @classmethod
    def direct(cls, valuations: Tensor, *, block: int = BLOCK) -> Inputs:
        """Inputs in the direct form, with gradients for the valuations, [U, m]."""
        rows, m = valuations.shape
        every = torch.arange(m, device=valuations.device)
        return cls(rows, m, (Direct(every, features(valuations.T), block),), block)

    @property
    def n_visited(self) -> int:
        """How many values, rows and levels, a pass works through for one subrule."""
        return sum(part.n_visited for part in self.parts) + self.n_rows * self.m

    def rows(self, index: Tensor) -> Inputs:
        """The same inputs for some of the rows."""
        return replace(self, n_rows=len(index), parts=tuple(part.rows(index) for part in self.parts))

    def pieces(self, most: int) -> tuple[tuple[slice, Inputs], ...]:
        """The same inputs in slices of at most so many rows, with the slices.

        Examples
        --------
        >>> [(rows.stop, piece.n_rows) for rows, piece in Inputs.encode(np.eye(5)).pieces(2)]
        [(2, 2), (4, 2), (5, 1)]
        """
        if self.n_rows <= most:
            return ((slice(0, self.n_rows), self),)
        runs = [slice(at, min(at + most, self.n_rows)) for at in range(0, self.n_rows, most)]
        return tuple(
            (
                run,
                replace(
                    self, n_rows=run.stop - run.start, parts=tuple(part.rows(run) for part in self.parts)
                ),
            )
            for run in runs
        )

    def conjunction(self, probabilities: Tensor, op: Operator) -> Tensor:
        """The soft conjunction of every subrule on every row.

        Parameters
        ----------
        probabilities
            Of inclusion, negation and exclusion, [K, n, m, 3].

        Returns
        -------
        Truth values, [U, K * n].
        """
        coefs = coefficients(probabilities)  # [m, 4, R]
        if op.needs_origin:
            return self._shifted(coefs, op)
        whole = len(self.parts) == 1
        sums = [_sums(part, coefs if whole else coefs[part.columns], op, self.n_rows) for part in self.parts]
        return op.finish(_added(sums), self.m)

    def _shifted(self, coefs: Tensor, op: Operator) -> Tensor:
        """The conjunction for an attention too sharp for plain sums, with terms shifted by extreme values."""
        parts = [
            (
                part if isinstance(part, Fused) else replace(part.visited(), block=self.block),
                coefs[part.columns],
            )
            for part in self.parts
        ]
        extreme = torch.stack([_extremes(part, own.detach(), op) for part, own in parts])  # [parts, U, R]
        origin = op.origin(extreme, 0)[0]
        sums = [_sums(part, own, op, self.n_rows, origin) for part, own in parts]
        return op.finish(_added(sums), self.m, origin)


def _sums(
    part: Part, coefs: Tensor, op: Operator, rows: int, origin: Tensor | None = None
) -> tuple[Tensor, ...]:
    """An operator's sums over the columns of one part, [U, R] each."""
    if not isinstance(part, Fused):
        return sum_terms(part, coefs, op, rows, origin)
    if isinstance(op, SoftminAttention):
        return part.sums(coefs, op.beta, origin)
    return sum_terms(part.visited(), coefs, op, rows, origin)


def _extremes(part: Direct | Fused, coefs: Tensor, op: Operator) -> Tensor:
    """The extreme value of every row in every subrule, [U, R]."""
    if isinstance(part, Fused):
        return part.least(coefs) if isinstance(op, SoftminAttention) else extremes(part.visited(), coefs, op)
    return extremes(part, coefs, op)


def _added(sums: list[tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    """The sums of all parts together."""
    return tuple(torch.stack(term).sum(0) if len(term) > 1 else term[0] for term in zip(*sums, strict=True))


@dataclass(frozen=True, eq=False)
class _Column:
    """A column of few values, with the index of the value of each row."""

    place: int
    values: NDArray[np.float64]  #: [L], NaN for unknown
    level: NDArray[np.integer]  #: [U]

    @classmethod
    def of(cls, place: int, column: NDArray[np.floating], levels: int | None, rows: int) -> _Column | None:
        """The column's levels, or None if the direct form is cheaper or needed."""
        if (boolean := cls._boolean(place, column)) is not None:
            return boolean
        values, level = np.unique(column, return_inverse=True)  # NaN counts once, and last
        most = _MOST_LEVELS if levels is None else levels + 1  # one of them unknown
        if len(values) <= most and len(values) * _ROWS_PER_LEVEL <= rows:
            return cls(place, values, level)
        if levels is not None and (levels + 1) * _ROWS_PER_LEVEL <= rows:
            grid = np.append(np.linspace(0, 1, levels), np.nan)
            nearest = np.where(np.isnan(column), levels, np.rint(np.nan_to_num(column) * (levels - 1)))
            return cls(place, grid, nearest.astype(np.int64))
        return None

    @classmethod
    def _boolean(cls, place: int, column: NDArray[np.floating]) -> _Column | None:
        """The column if it has only 0, 1 and unknown, without sorting."""
        has = [column == 0, column == 1, np.isnan(column)]
        if not (has[0] | has[1] | has[2]).all():
            return None
        present = np.array([one.any() for one in has])
        number = (np.cumsum(present) - 1).astype(np.int8)
        level = number[1] * has[1].view(np.int8) + number[2] * has[2].view(np.int8)
        return cls(place, np.array([0.0, 1.0, np.nan])[present], level)


def _tabulate(
    columns: list[_Column], device: torch.device | str, dtype: torch.dtype
) -> tuple[Tensor, Tensor, Tensor]:
    """Columns as tensors: their indices [c], features of their levels [c, L, 4], levels of rows [U, c]."""
    most = max(len(column.values) for column in columns)
    table = np.full((len(columns), most), np.nan)  # no row has a padding level
    for row, column in enumerate(columns):
        table[row, : len(column.values)] = column.values
    level = np.stack([column.level for column in columns], axis=1)
    return (
        torch.as_tensor([column.place for column in columns], device=device),
        features(torch.as_tensor(table, dtype=dtype, device=device)),
        torch.as_tensor(level, device=device),
    )
