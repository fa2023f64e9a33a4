"""Filtered ranks of true candidates, under four ways to count ties."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools, Floats, Ints
from andre.errors import DataError

Policy: TypeAlias = Literal["realistic", "optimistic", "pessimistic", "dense"]

#: The k of Hits@k.
_HITS = (1, 3, 10)
#: How candidates with equal scores are ranked; the first is the one to compare by.
POLICIES: tuple[Policy, ...] = get_args(Policy)


@dataclass(frozen=True, eq=False)
class Ranks:
    """Where the true candidates stand among those that are not known to be true.

    Counts are kept, not ranks, so that every tie policy can be read off them.

    Examples
    --------
    >>> ranks = filtered_ranks(np.array([[0.9, 0.5, 0.5, 0.9]]), np.array([1]))
    >>> [float(ranks.of(policy)[0]) for policy in POLICIES]
    [3.5, 3.0, 4.0, 2.0]
    """

    greater: Ints  #: [Q], candidates with a better score
    equal: Ints  #: [Q], other candidates with the same score
    levels: Ints | None  #: [Q], distinct better scores; None where they were not asked for

    def of(self, policy: Policy) -> Floats:
        """The ranks under one policy, from 1.

        Realistic is the mean over all orders of a tie, optimistic the best of
        them, pessimistic the worst; dense gives a whole tie one place.
        """
        if policy == "dense":
            if self.levels is None:
                raise DataError("distinct scores were not counted: ask for them with levels=True")
            return (self.levels + 1).astype(np.float64)
        ties = {"optimistic": 0.0, "realistic": 0.5, "pessimistic": 1.0}
        if policy not in ties:
            raise DataError(f"there is no tie policy {policy!r}: choose from {', '.join(POLICIES)}")
        return (self.greater + 1 + ties[policy] * self.equal).astype(np.float64)

    @classmethod
    def concat(cls, parts: Iterable[Ranks]) -> Ranks:
        """The ranks of several lists of queries, one after the other."""
        listed = list(parts)
        if not listed:
            nothing = np.zeros(0, dtype=np.int64)
            return cls(nothing, nothing, nothing)
        levels = [part.levels for part in listed if part.levels is not None]
        return cls(
            np.concatenate([part.greater for part in listed]),
            np.concatenate([part.equal for part in listed]),
            np.concatenate(levels) if len(levels) == len(listed) else None,
        )

    def take(self, at: NDArray[Any]) -> Ranks:
        """The ranks of some queries, by their places or a mask."""
        levels = None if self.levels is None else self.levels[at]
        return Ranks(self.greater[at], self.equal[at], levels)

    @property
    def mrr(self) -> float:
        """The mean of 1/rank under the realistic policy; 0 of no query."""
        return float((1 / self.of("realistic")).mean()) if len(self) else 0.0

    def __len__(self) -> int:
        return len(self.greater)


def filtered_ranks(
    scores: NDArray[Any], true: NDArray[Any], known: Bools | None = None, *, levels: bool = True
) -> Ranks:
    """Rank the true candidate of each query by score, the highest first.

    Parameters
    ----------
    scores
        [Q, C], numbers of any type: only their order in a row counts.
    true
        [Q], the position of the true candidate.
    known
        [Q, C], candidates to leave out, because they are known to be true too.
        The true candidate itself is never left out.
    levels
        Whether to count distinct scores, which the dense policy needs and which takes a sort.

    Examples
    --------
    >>> scores, known = np.array([[3, 2, 1]]), np.array([[True, False, True]])
    >>> filtered_ranks(scores, np.array([2]), known).of("realistic")
    array([2.])
    """
    if not np.isfinite(scores).all():
        raise DataError("a score is not a finite number: candidates cannot be ranked by it")
    rows = np.arange(len(scores))
    own = scores[rows, true][:, None]  # [Q, 1]
    stays = np.ones(scores.shape, dtype=np.bool_) if known is None else ~known  # [Q, C]
    stays[rows, true] = False
    above = (scores > own) & stays  # [Q, C]
    return Ranks(
        above.sum(axis=1),
        ((scores == own) & stays).sum(axis=1),
        _distinct_per_row(scores, above) if levels else None,
    )


def _distinct_per_row(scores: NDArray[Any], chosen: Bools) -> Ints:
    """How many distinct scores the chosen candidates of each row have."""
    row, column = chosen.nonzero()
    values = scores[row, column]
    order = np.lexsort((values, row))
    row, values = row[order], values[order]
    first = np.ones(len(row), dtype=np.bool_)
    first[1:] = (row[1:] != row[:-1]) | (values[1:] != values[:-1])
    return np.bincount(row[first], minlength=len(scores)).astype(np.int64)


@dataclass(frozen=True)
class Negatives:
    """How many wrong candidates each fact is ranked among, where that is not all: drawn by a seed."""

    count: int = 50  #: for each side that is asked for
    seed: int = 0


def all_but_drawn(known: Bools, true: NDArray[Any], count: int, rng: np.random.Generator) -> Bools:
    """Leave out all candidates but some that are drawn, without replacement, from those that may be wrong.

    Parameters
    ----------
    known
        [Q, C], candidates that are known to be true, as for `filtered_ranks`.
    true
        [Q], the position of the true candidate, which stays.
    count
        How many others stay; all, where there are no more.
    rng
        Draws for one query after another, so that blocks of queries come to the same.

    Returns
    -------
    Bools
        What to leave out, [Q, C], as for `filtered_ranks`.

    Examples
    --------
    >>> known = np.array([[True, False, False, False, False]])
    >>> (~all_but_drawn(known, np.array([1]), 2, np.random.default_rng(0))).sum()
    np.int64(3)
    """
    left_out = np.ones(known.shape, dtype=np.bool_)
    for row, (own, answer) in enumerate(zip(known, true, strict=True)):
        wrong = np.flatnonzero(~own)
        wrong = wrong[wrong != answer]
        left_out[row, rng.choice(wrong, min(count, len(wrong)), replace=False)] = False
        left_out[row, answer] = False
    return left_out


def lexicographic_keys(columns: NDArray[Any]) -> Ints:
    """Whole numbers ordered as the rows are when compared from the first column on.

    Rule scores are lists: the best rule decides, the next best where it ties.
    Equal rows get equal keys, from 0.

    Examples
    --------
    >>> lexicographic_keys(np.array([[0.9, 0.1], [0.5, 0.5], [0.9, 0.4], [0.5, 0.5]]))
    array([1, 0, 2, 0])
    """
    if not len(columns):
        return np.zeros(0, dtype=np.int64)
    order = np.lexsort(columns.T[::-1])
    ordered = columns[order]
    steps = np.zeros(len(columns), dtype=np.int64)
    steps[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    keys = np.empty(len(columns), dtype=np.int64)
    keys[order] = np.cumsum(steps)
    return keys


@dataclass(frozen=True)
class Interval:
    """A mean, and where it would fall had other facts been drawn: a percentile interval of its bootstrap.

    Examples
    --------
    >>> found = Interval.of(np.array([0.0, 1.0, 1.0, 1.0]))
    >>> found.mean, found.low, found.high
    (0.75, 0.25, 1.0)
    >>> found.contains(0.5)
    True
    """

    mean: float
    low: float
    high: float
    level: float = 0.95  #: the share of resampled means between low and high

    @classmethod
    def of(cls, values: Floats, *, level: float = 0.95, draws: int = 2_000, seed: int = 0) -> Interval:
        """Resample values with replacement, and take the middle share of their means.

        Parameters
        ----------
        values
            One for each unit that is drawn anew. Ranks of both arguments of a fact
            go together: give the mean of a fact. To compare two learners, give the
            differences, fact by fact.
        level
            Between 0 and 1.
        draws
            How often all values are drawn anew.
        """
        if not len(values):
            raise DataError("there are no values to resample")
        rng, means = np.random.default_rng(seed), np.empty(draws)
        at_once = max(1, 4_000_000 // len(values))
        for first in range(0, draws, at_once):
            some = means[first : first + at_once]
            some[:] = values[rng.integers(len(values), size=(len(some), len(values)))].mean(axis=1)
        low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
        return cls(float(values.mean()), float(low), float(high), level)

    def contains(self, value: float) -> bool:
        """Whether a value is within the interval, so that the mean is not told from it."""
        return self.low <= value <= self.high


def mean_reciprocal(sides: Iterable[Ranks], policy: Policy = "realistic") -> Floats:
    """The mean of 1/rank of each fact over the sides that it is asked from: [facts].

    Parameters
    ----------
    sides
        The ranks of the same facts in the same order, one for each argument asked for.

    Examples
    --------
    >>> one = filtered_ranks(np.array([[2, 1], [1, 2]]), np.array([0, 0]))
    >>> two = filtered_ranks(np.array([[2, 1], [2, 1]]), np.array([0, 0]))
    >>> mean_reciprocal([one, two])
    array([1.  , 0.75])
    """
    return np.asarray(np.mean([1 / side.of(policy) for side in sides], axis=0))


@dataclass(frozen=True)
class RankReport:
    """Mean reciprocal rank and hits of one set of queries, under every tie policy.

    Examples
    --------
    >>> ranks = filtered_ranks(np.array([[2, 1], [1, 1]]), np.array([0, 0]))
    >>> report = RankReport.from_ranks(ranks)
    >>> round(report.mrr["realistic"], 3), report.hits["realistic"][1]
    (0.833, 0.5)
    >>> print(report)
    realistic    MRR 0.8333  Hits@1 0.5000  @3 1.0000  @10 1.0000
    optimistic   MRR 1.0000  Hits@1 1.0000  @3 1.0000  @10 1.0000
    pessimistic  MRR 0.7500  Hits@1 0.5000  @3 1.0000  @10 1.0000
    dense        MRR 1.0000  Hits@1 1.0000  @3 1.0000  @10 1.0000
    """

    queries: int
    mrr: dict[Policy, float]
    hits: dict[Policy, dict[int, float]]  #: by policy, then by k

    @classmethod
    def from_ranks(cls, ranks: Ranks) -> RankReport:
        """The means over all queries; 0 if there are none."""
        by_policy = {policy: ranks.of(policy) for policy in POLICIES}
        empty = not len(ranks)
        return cls(
            queries=len(ranks),
            mrr={policy: 0.0 if empty else float((1 / r).mean()) for policy, r in by_policy.items()},
            hits={
                policy: {k: 0.0 if empty else float((r <= k).mean()) for k in _HITS}
                for policy, r in by_policy.items()
            },
        )

    def lines(self) -> Iterator[str]:
        """One line per policy."""
        for policy in POLICIES:
            hits = "  ".join(
                f"{'Hits' if place == 0 else ''}@{k} {share:.4f}"
                for place, (k, share) in enumerate(self.hits[policy].items())
            )
            yield f"{policy:<11}  MRR {self.mrr[policy]:.4f}  {hits}"

    def __str__(self) -> str:
        return "\n".join(self.lines())
