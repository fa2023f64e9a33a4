"""Samples as logic: a literal holds if its valuation is above one half, and rules cover examples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools, Floats, distinct_rows, number_keys
from andre.evaluation.bits import Words, drawn_sums, intersections, packed, transposed, unpacked, weighed_sums
from andre.evaluation.planes import Planes, exact
from andre.limits import check
from andre.logic import Evidence, Program
from andre.samples import Codes, Membership, RuleSpace, Sample, Valuations, sums_of

#: Sets of examples, one per row: truth values, [..., B], or bits as in `Planes`, [..., words]. Both
#: kinds are combined by `&`, `|` and `~`, and counted by `CrispSample`.
Extents: TypeAlias = NDArray[Any]

#: The default size of a block of a coverage table.
_BLOCK = 1 << 24


def literal_truth(valuations: Valuations) -> Bools:
    """Which literals hold on which rows, [U, 2m]: atoms first, then their negations.

    An unknown valuation, and one of exactly one half, satisfies neither.

    Examples
    --------
    >>> literal_truth(np.array([[0.9, 0.5, np.nan, 0.2]])).astype(int)
    array([[1, 0, 0, 0, 0, 0, 0, 1]])
    """
    rows, m = valuations.shape
    found = np.empty((rows, 2 * m), dtype=np.bool_)
    step = max(1, _BLOCK // max(1, m))
    for at in range(0, rows, step):
        some, (holds, fails) = valuations[at : at + step], np.split(found[at : at + step], 2, axis=1)
        if some.dtype == np.float16:  # comparing their bits as integers is faster, and the same
            bits = np.ascontiguousarray(some).view(np.int16)
            half, one = np.array([0.5, 1], dtype=np.float16).view(np.int16)
            np.logical_and(bits > half, bits <= one, out=holds)  # NaN is above 1
            np.less(bits, half, out=fails)
        else:
            np.greater(some, 0.5, out=holds)
            np.less(some, 0.5, out=fails)
    return found


def union(extents: Extents) -> Extents:
    """The union of several sets of examples, from [k, ...] to [...].

    Examples
    --------
    >>> union(np.array([[True, False, False], [False, False, True]]))
    array([ True, False,  True])
    """
    return np.asarray(np.bitwise_or.reduce(extents, axis=0))


def covers(literals: Bools, codes: Codes, block: int = _BLOCK) -> Bools:
    """Which rows satisfy which bodies, [rules, U].

    Parameters
    ----------
    literals
        Which literals hold on which rows, [U, 2m].
    codes
        Rules as numbers, [rules, m].
    block
        How many numbers to compute at once.

    Examples
    --------
    >>> truth = literal_truth(np.array([[1.0, 0.0], [1.0, 1.0]]))
    >>> covers(truth, np.array([[1, -1], [1, 0]], dtype=np.int8))
    array([[ True, False],
           [ True,  True]])
    """
    return _row_covers(packed(literals.T), codes, len(literals), block)


def _row_covers(columns: Words, codes: Codes, n_rows: int, block: int) -> Bools:
    """Which rows satisfy which bodies, [rules, U], from the rows of each literal as bits, [2m, words]."""
    found = np.zeros((len(codes), n_rows), dtype=np.bool_)
    every = np.full(columns.shape[1], ~np.uint64(0))  # bits beyond the last row are dropped
    for some, rows in intersections(columns, codes, every, block):
        found[some] = unpacked(rows, n_rows)
    return found


@dataclass(frozen=True, eq=False)
class CrispSample:
    """Distinct examples as truth values, with the weights of their labels.

    Examples
    --------
    >>> sample = Sample.from_arrays([[0.9, 0.1], [0.8, 0.3], [0.7, 0.9]], [1, 1, 0])
    >>> crisp = CrispSample.of(sample)
    >>> crisp.literals.shape, crisp.positives
    ((2, 4), array([2., 0.]))
    >>> crisp.covers(np.array([[1, -1]], dtype=np.int8))
    array([[ True, False]])
    """

    space: RuleSpace
    literals: Bools  #: [U, 2m], see `literal_truth`
    positives: Floats  #: [B]
    negatives: Floats  #: [B]
    members: Membership | None = None  #: the rows of each example; None if each is a row
    bits: Words | None = None  #: the literals of every row as bits, [U, words], if known
    device: str | None = None  #: a device of torch for large counts

    @classmethod
    def of(cls, sample: Sample, device: str | None = None) -> CrispSample:
        """Round valuations to true and false, and merge the rows, then the examples, that become equal.

        Parameters
        ----------
        device
            A device of torch for large counts; None for the processor.
        """
        literals = literal_truth(sample.valuations)
        bits = packed(literals)  # [U, words]
        first, number = distinct_rows(bits)
        if not np.array_equal(first, np.arange(len(bits))):  # otherwise a copy would be wasted
            literals, bits = literals[first], bits[first]
        members = None
        if sample.members is not None:
            members, number = sample.members.merged(number, len(first))
        n = len(first) if members is None else len(members)
        positives, negatives = (sums_of(number, weight, n) for weight in sample.counted)
        return cls(sample.space, literals, positives, negatives, members, bits, device)

    @cached_property
    def labels(self) -> Floats:
        """The weights of both labels, [2, B]: positives, negatives."""
        return np.stack((self.positives, self.negatives))

    @cached_property
    def totals(self) -> Floats:
        """The weight of all positives and of all negatives, [2]."""
        totals: Floats = self.labels.sum(axis=1)
        return totals

    def settled(self, codes: Codes) -> CrispSample:
        """The same examples, with weight 0 for those that the bodies cover."""
        left = ~self.predicts(codes)
        return replace(self, positives=self.positives * left, negatives=self.negatives * left)

    def part(self, examples: NDArray[np.intp]) -> CrispSample:
        """Some of the examples, with only their rows."""
        members, rows = None, examples
        if self.members is not None:
            taken = self.members.take(examples)
            rows, place = number_keys(taken.rows, len(self.literals))
            members = Membership(taken.starts, place)
        return CrispSample(
            self.space,
            self.literals[rows],
            self.positives[examples],
            self.negatives[examples],
            members,
            self._rows[rows],
            self.device,
        )

    def row_covers(self, codes: Codes) -> Bools:
        """Which rows satisfy which bodies, [rules, U]."""
        return _row_covers(self._columns, codes, len(self.literals), _BLOCK)

    @cached_property
    def _columns(self) -> Words:
        """The rows of every literal as bits, [2m, words]."""
        return transposed(self._rows, self.literals.shape[1])

    @cached_property
    def _rows(self) -> Words:
        """The literals of every row as bits, [U, words]."""
        return packed(self.literals) if self.bits is None else self.bits

    def lift(self, held: Extents) -> Extents:
        """Which examples have at least one of the rows, from [..., U] to [..., B]."""
        return held if self.members is None else self.members.lift(held)

    def covers(self, codes: Codes, block: int = _BLOCK) -> Bools:
        """Which examples satisfy which bodies, [rules, B]; `block` numbers are computed at once."""
        if self.members is None:
            return self.row_covers(codes)
        step = max(1, block // max(1, len(self.members.rows)))
        blocks = [self.lift(self.row_covers(codes[at : at + step])) for at in range(0, len(codes), step)]
        return np.concatenate(blocks) if blocks else np.zeros((0, len(self.members)), dtype=bool)

    @cached_property
    def planes(self) -> Planes | None:
        """The examples prepared for counting by bits; None unless each is a row and weights are whole."""
        if self.members is not None or not exact(self.labels):
            return None
        return Planes.of(self._rows, self.literals.shape[1], self.labels, self.device)

    def row_extents(self, codes: Codes) -> Extents:
        """Which rows satisfy which bodies, [rules, ...], in the form that is fastest to count.

        `lift` turns them into examples.
        """
        return self.row_covers(codes) if self.planes is None else self.planes.covers(codes)

    def extents(self, codes: Codes) -> Extents:
        """Which examples satisfy which bodies, [rules, ...], in the form that is fastest to count.

        Examples of weight 0 may be left out.
        """
        return self.covers(codes) if self.planes is None else self.planes.covers(codes)

    def literal_counts(self, held: Bools, weights: Floats) -> Floats:
        """The weight of the examples that a body covers when one literal is added, for each literal, [k, 2m].

        Parameters
        ----------
        held
            Which rows the body covers, [U].
        weights
            Weights of examples, [k, B], each at most that of its label.
        """
        check()
        here, truth = self._satisfying(held)
        weights = weights[:, here]
        return drawn_sums(weights, truth) if self._numbers is np.float64 else weighed_sums(weights, truth)

    def shared_literals(self, held: Bools) -> Bools:
        """Which literals hold on all of some rows, [U], so that a body that covers these gains nothing, [2m].

        Examples
        --------
        >>> crisp = CrispSample.of(Sample.from_arrays([[1.0, 0.0], [1.0, 1.0]], [1, 0]))
        >>> crisp.shared_literals(np.array([True, True]))
        array([ True, False, False, False])
        """
        shared = np.bitwise_and.reduce(self._rows[held], axis=0, keepdims=True)
        return np.asarray(unpacked(shared, self.literals.shape[1])[0])

    def label_counts(self, held: Extents, settled: Extents | None = None) -> Floats:
        """The weight of the examples that bodies cover when one literal is added, for each literal.

        Parameters
        ----------
        held
            The rows that each body covers, [rules, ...], as returned by `row_extents`.
        settled
            Examples to be counted separately, [...], as returned by `extents`.

        Returns
        -------
        Positives and negatives, [rules, 2, 2m]; where some are settled, [rules, 4, 2m], then those
        that are not.
        """
        if self.planes is not None:
            sets = [held] if settled is None else [held, np.asarray(held & ~settled, dtype=np.uint64)]
            return np.hstack([self.planes.beside(rows) for rows in sets])
        labels = self.labels if settled is None else np.vstack((self.labels, self.labels * ~settled))
        found = [self.literal_counts(rows, labels) for rows in held]
        return np.stack(found) if found else np.zeros((0, len(labels), self.literals.shape[1]))

    def with_literals(self, held: Extents, literals: NDArray[np.intp]) -> Extents:
        """The examples that a body covers when one of some literals is added, [l, ...].

        Parameters
        ----------
        held
            The rows that the body covers, [...], as returned by `row_extents`.
        literals
            Columns of `self.literals`, [l].
        """
        if self.planes is not None:
            return self.planes.columns[literals] & held
        here, truth = self._satisfying(held)
        found = np.zeros((len(literals), len(self.positives)), dtype=np.bool_)
        found[:, here] = truth[:, literals].T
        return found

    def common_counts(self, extents: Extents) -> Floats:
        """The weight of positives and negatives that any two sets share, from [k, ...] to [k, k, 2]."""
        if self.planes is not None:
            return self.planes.shared(extents, extents)
        found = np.zeros((len(extents), len(extents), 2))
        here = np.flatnonzero(union(extents))
        truth = extents[:, here].astype(self._numbers)
        for label, weight in enumerate(self.labels[:, here].astype(self._numbers)):
            found[..., label] = (truth * weight) @ truth.T
        return found

    def _satisfying(self, held: Bools) -> tuple[NDArray[np.intp], Bools]:
        if self.members is None:
            here = np.flatnonzero(held)
            return here, self.literals[here]
        here, members = self.members.within(held)
        if not len(here):
            return here, np.zeros((0, self.literals.shape[1]), dtype=np.bool_)
        found = np.bitwise_or.reduceat(
            self._rows.take(members.rows, axis=0), members.starts[:-1], axis=0
        )  # [b, words]
        return here, unpacked(found, self.literals.shape[1])

    @cached_property
    def _numbers(self) -> type[np.float32 | np.float64]:
        """The type in which weights are summed: single precision if that is exact."""
        whole = bool((self.labels == np.rint(self.labels)).all())
        return np.float32 if whole and self.labels.sum() < 2**24 else np.float64

    def counts(self, covers: Extents, settled: Extents | None = None) -> Floats:
        """The weight of the covered positives and negatives, from [rules, ...] to [rules, 2].

        Parameters
        ----------
        covers
            Sets of examples: truth values, [rules, B], or as returned by `extents`.
        settled
            Examples that do not count, [...], in the same form.
        """
        if covers.dtype == np.uint64 and self.planes is not None:
            return self.planes.counts(covers, settled)
        kind = self._numbers
        labels = self.labels if settled is None else self.labels * ~settled
        with np.errstate(invalid="ignore"):  # BLAS may read memory beside small matrices
            return np.asarray(covers.astype(kind) @ labels.T.astype(kind), dtype=np.float64)

    def body_counts(self, codes: Codes, block: int = _BLOCK) -> Floats:
        """The weight of the positives and negatives that each body covers, [rules, 2].

        Bodies are processed in blocks, so that no table of all bodies and rows is needed.
        """
        if self.planes is not None:
            return self.planes.body_counts(codes)
        step = max(1, block // max(1, len(self.literals)))
        blocks = [self.counts(self.extents(codes[at : at + step])) for at in range(0, len(codes), step)]
        return np.concatenate(blocks) if blocks else np.zeros((0, 2))

    def evidence(self, codes: Codes, split: str) -> list[Evidence]:
        """N_b and N_r of every rule on this sample."""
        counts = self.body_counts(codes)
        return [Evidence(split, float(right + wrong), float(right)) for right, wrong in counts]

    def predicts(self, codes: Codes) -> Bools:
        """The examples on which at least one rule fires, [B]."""
        return np.asarray(self.covers(codes).any(axis=0))

    def accuracy(self, program: Program | Codes) -> float:
        """The share of labels that the crisp program gets right."""
        codes = self.space.encode(program) if isinstance(program, Program) else program
        fires = self.predicts(codes)
        return float((self.positives[fires].sum() + self.negatives[~fires].sum()) / self.totals.sum())
