"""The examples for a learner: weighted rows of valuations, with equal rows merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from andre.arrays import Bools, Floats, Ints, distinct_rows
from andre.errors import DataError
from andre.samples.membership import Membership
from andre.samples.space import RuleSpace
from andre.samples.thinning import cut_bags, draw_examples

#: Truth values, NaN where unknown; large tables of 0, 1 and unknown alone are in half precision.
Valuations: TypeAlias = Floats | NDArray[np.float16]

#: From this many cells on, tables are stored as compactly as possible.
LARGE = 1 << 22


@dataclass(frozen=True, eq=False)
class Sample:
    """Distinct rows of valuations, and the weight of positive and negative labels of each example.

    Equal rows are merged and their weights added, so a loss, a gradient or a
    metric is the same as over all the rows the sample was made from. An
    example is a row; with `members` it is a set of rows, and a body covers it
    if it covers one of them.

    Examples
    --------
    >>> sample = Sample.from_arrays([[1, 0], [1, 0], [0, 1]], [1, 0, 0])
    >>> sample.valuations
    array([[0., 1.],
           [1., 0.]])
    >>> sample.positives, sample.negatives
    (array([0., 1.]), array([1., 1.]))
    """

    space: RuleSpace
    valuations: Valuations  #: [U, m] in [0, 1]; NaN is unknown
    positives: Floats  #: [B] weight of the positive labels; B equals U if examples are rows
    negatives: Floats  #: [B] weight of the negative labels
    members: Membership | None = None  #: the rows of each example; None if each is a row
    #: How many head atoms each example represents, [B], if negatives are weighted differently in training.
    heads: Floats | None = None

    @classmethod
    def from_arrays(
        cls,
        valuations: ArrayLike,
        labels: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        space: RuleSpace | Sequence[str] | None = None,
    ) -> Sample:
        """Check rows, labels and weights, and merge equal rows.

        Parameters
        ----------
        valuations
            One row per example, one column per candidate atom, in [0, 1].
        labels
            0 or 1 per example.
        weights
            A non-negative weight per example, which counts as so many equal ones; rows of
            weight 0 are left out.
        space
            The rule space, or the column names; `b1`, `b2`, ... by default.
        """
        # Large Boolean tables are merged without conversion to numbers, which would take several passes.
        whole = _is_large_boolean(valuations)
        table: Any = np.asarray(valuations) if whole else check_valuations(valuations)
        truth = check_labels(labels, len(table))
        weight = check_weights(weights, len(table))
        if space is None:
            space = [f"b{column + 1}" for column in range(table.shape[1])]
        if not isinstance(space, RuleSpace):
            space = RuleSpace.from_names(space)
        if space.m != table.shape[1]:
            raise DataError(f"there are {space.m} names for {table.shape[1]} columns: give one for each")
        seen = weight > 0
        rows, group = (_merge_truth if whole else _merge)(table if seen.all() else table[seen])
        positive, weight = truth[seen], weight[seen]
        positives, negatives = (sums_of(group, weight * part, len(rows)) for part in (positive, ~positive))
        return cls(space, rows, positives, negatives)

    @property
    def n_rows(self) -> int:
        """The number of distinct rows, U."""
        return len(self.valuations)

    @property
    def n_examples(self) -> int:
        """The number of distinct examples, B."""
        return len(self.positives)

    @property
    def weights(self) -> Floats:
        """The weight of each distinct example, [B]."""
        return self.positives + self.negatives

    @property
    def total(self) -> float:
        """The weight of all examples together."""
        return float(self.weights.sum())

    @property
    def counted(self) -> tuple[Floats, Floats]:
        """Positives and negatives for judging programs, [B] each: every head atom counts once."""
        if self.heads is None:
            return self.positives, self.negatives
        return self.positives, self.heads - self.positives

    def columns(self, kept: Bools) -> Sample:
        """The same examples over the kept candidates, [m]; rows and examples that become equal are merged."""
        rows, group = _merge(self.valuations[:, kept])
        if self.members is None:
            members, number = None, group
        else:
            members, number = self.members.merged(group, len(rows))
        n = len(rows) if members is None else len(members)
        positives, negatives = (sums_of(number, weight, n) for weight in (self.positives, self.negatives))
        heads = None if self.heads is None else sums_of(number, self.heads, n)
        return Sample(self.space.narrowed(kept), rows, positives, negatives, members, heads)

    def thinned(self, most: int, seed: int) -> Sample:
        """A random part of the examples with at most `most` rows, half of them from each class.

        Within a class, every example is drawn with the same probability and keeps its
        weight, so that weights are unbiased. An example belongs to the
        class with the larger weight, and to the positives if both are equal. Each class
        keeps at least 8 if it has and the budget allows as many: a bag takes no more rows of
        the budget than the 90% quantile of its class, and no more than an eighth. If
        it has more, and the budget does not allow them, some of its rows are
        drawn at random. A body that covers few rows of such an example may then no
        longer cover it; bags of usual sizes are hardly ever cut.

        A sample that is small enough is returned unchanged.
        """
        sizes = np.ones(self.n_examples, dtype=np.int64)
        if self.members is not None:
            sizes = np.diff(self.members.starts)
        if sizes.sum() <= most:
            return self
        rng = np.random.default_rng(seed)
        examples, counts = draw_examples(self.positives, self.negatives, sizes, most, rng)
        heads = None if self.heads is None else self.heads[examples]
        weights = self.positives[examples], self.negatives[examples]
        if self.members is None:
            return Sample(self.space, self.valuations[examples], *weights, None, heads)
        members = cut_bags(self.members.take(examples), counts, rng)
        rows, place = np.unique(members.rows, return_inverse=True)
        kept = Membership(members.starts, place.ravel().astype(np.int64))
        return Sample(self.space, self.valuations[rows], *weights, kept, heads)

    def weighing(self, positives: float, negatives: float) -> Sample:
        """The same examples with the weights of each label scaled to these sums.

        Examples
        --------
        >>> Sample.from_arrays([[1, 0], [0, 1]], [1, 0]).weighing(30, 50).weights
        array([50., 30.])
        """
        return replace(
            self,
            positives=self.positives * (positives / self.positives.sum()),
            negatives=self.negatives * (negatives / self.negatives.sum()),
        )

    def require_both_classes(self) -> Sample:
        """The sample itself; DataError if all labels are the same."""
        for weight, other in ((self.positives, "0"), (self.negatives, "1")):
            if not weight.sum() > 0:
                raise DataError(
                    f"every label is {other}, so there is only one class and nothing to tell apart: "
                    "add rows of the other class"
                )
        return self


def sums_of(group: Ints, weight: Floats, n_groups: int) -> Floats:
    """Group-by with sum: the total weight of each group, [n_groups]."""
    return np.bincount(group, weight, n_groups).astype(np.float64)  # for empty input NumPy returns integers


def check_valuations(valuations: ArrayLike) -> Valuations:
    """Valuations as a float table; DataError if one is outside [0, 1]."""
    if _is_large_boolean(valuations):
        return _as_halves(np.asarray(valuations))
    try:
        table = np.asarray(valuations, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"valuations must be numbers in [0, 1]: {error}") from None
    if table.ndim != 2:
        raise DataError(f"valuations must be a table of rows and columns, not of shape {table.shape}")
    if not len(table):
        raise DataError("there are no rows: give at least one positive and one negative example")
    if not table.shape[1]:
        raise DataError("there are no columns beside the label: give at least one candidate")
    wrong = ~(np.isnan(table) | ((table >= 0) & (table <= 1)))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise DataError(
            f"the valuation {table[row, column]:g} in row {row}, column {column} is outside [0, 1]: "
            "scale it to a probability, or leave it empty if it is unknown"
        )
    return table


def check_labels(labels: ArrayLike, rows: int) -> Bools:
    """Labels as Booleans; DataError if one is neither 0 nor 1."""
    try:
        truth = np.asarray(labels)
    except ValueError:
        raise DataError("labels must be 0 or 1: give one label a row") from None
    if truth.shape != (rows,):
        raise DataError(f"there are {rows} rows but labels of shape {truth.shape}: give one label a row")
    if truth.dtype == bool:
        return truth
    try:
        numbers = truth.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError("labels must be 0 or 1, and these are not numbers") from None
    wrong = np.flatnonzero(~np.isin(numbers, (0.0, 1.0)))
    if len(wrong):
        value = "missing" if np.isnan(numbers[wrong[0]]) else f"{numbers[wrong[0]]:g}"
        raise DataError(f"the label in row {wrong[0]} is {value}: labels must be 0 or 1")
    return np.equal(numbers, 1.0)


def check_weights(weights: ArrayLike | None, rows: int) -> Floats:
    """Row weights, 1 by default; DataError if one is negative or not finite."""
    if weights is None:
        return np.ones(rows)
    try:
        weight = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("row weights must be numbers") from None
    if weight.shape != (rows,):
        raise DataError(f"there are {rows} rows but weights of shape {weight.shape}: give one a row")
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(wrong):
        raise DataError(f"the weight {weight[wrong[0]]:g} of row {wrong[0]} is not a finite number >= 0")
    if not weight.any():
        raise DataError("every row weight is zero, so there are no rows to learn from")
    return weight


def scaled_to_rows(weights: Floats) -> Floats:
    """Positive relative weights, scaled to a mean of 1, so that they can count rows.

    A description length counts rows: with weights that add up to 1, no rule would be worth
    its literals. The effective sample size, (sum w)^2 / sum w^2, would be a more cautious
    total than the number of rows. But if boosting has put most of the weight on few
    rows, it leaves too little evidence for any rule about them.

    Examples
    --------
    >>> scaled_to_rows(np.array([0.25, 0.25, 0.5])).tolist()
    [0.75, 0.75, 1.5]
    """
    share, power = np.frexp(weights / weights.max())
    # Rounded to twelve digits, as the rounding errors of a common factor would otherwise decide ties.
    even = np.ldexp(np.rint(share * 2**40), power - 40)
    return np.asarray(even * (len(even) / even.sum()))


def _is_large_boolean(valuations: ArrayLike) -> bool:
    """Whether valuations are a large Boolean table."""
    if not isinstance(valuations, np.ndarray) or valuations.dtype != np.bool_:
        return False
    return valuations.ndim == 2 and valuations.size >= LARGE


def _as_halves(true: Bools) -> NDArray[np.float16]:
    """Truth values in half precision, made from the bits of 1, since NumPy's conversion is slow."""
    one = np.float16(1).view(np.uint16)
    return (true.view(np.uint8).astype(np.uint16) * one).view(np.float16)


def _merge(table: Valuations, large: int = LARGE) -> tuple[Valuations, Ints]:
    """The distinct rows, and the index among them of every row; from `large` cells on, compactly."""
    if table.size >= large:
        known, true = ~np.isnan(table), table == 1
        if (~known | true | (table == 0)).all():
            return _merge_boolean(true, known)
    # Rows are compared by their bytes: -0.0 becomes 0.0, and every NaN the same NaN.
    clean = np.where(np.isnan(table), np.nan, table + 0.0)
    first, group = distinct_rows(clean)
    return clean[first], group


def _merge_truth(true: Bools) -> tuple[Valuations, Ints]:
    """`_merge` for a Boolean table."""
    first, group = distinct_rows(np.packbits(true, axis=1))
    return _as_halves(true[first]), group


def _merge_boolean(true: Bools, known: Bools) -> tuple[Valuations, Ints]:
    """`_merge` for a table of 0, 1 and unknown, in the same order, with an eighth of the bytes or less."""
    if known.all():
        return _merge_truth(true)
    levels = true.view(np.uint8) + 2 * ~known  # 0, 1, and 2 for unknown
    first, group = distinct_rows(levels)
    return np.array([0, 1, np.nan], dtype=np.float16)[levels[first]], group
