"""The description length of labels under a program, which selection minimises.

Labels are encoded by a program and its mistakes: which of the covered
examples are false positives and which of the uncovered ones are false
negatives, each as a subset and its size. A program is encoded by its
literals, each one of 2m, and the number of its rules, whose order is free.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from andre.arrays import Floats
from andre.evaluation.crisp import CrispSample, union
from andre.samples import Codes

#: How mistakes are encoded: `listed`, each kind as a subset; `refused`, if the examples are clean; or
#: `unlabelled`, if only positives are known. Then all of these must be derived, other derived atoms
#: are no mistakes, and the positives are encoded as a subset of the derived atoms (the size principle).
Mistakes: TypeAlias = Literal["listed", "refused", "unlabelled"]

#: Nats of a mistake that is refused: more than the cost of any program that is considered.
_REFUSED = 1e5
#: From here on, Stirling's series is exact to the last digits.
_SERIES = 16
#: How many numbers of positives are tried in the search for the best one.
_TRIED = 256
#: For integers below this, values are looked up.
_LISTED = 1 << 16


def subset_cost(size: ArrayLike, chosen: ArrayLike) -> Floats:
    """Nats to encode how many and which of `size` things are chosen: ln C(size, chosen) + ln(size + 1).

    Both may be sums of weights that are not whole. `scipy.special.betaln` has
    ten times the rounding error from some twenty examples on, and programs of
    the same length would then be ordered by that error.

    Examples
    --------
    >>> float(subset_cost(4, 2).round(4)) == round(math.log(6) + math.log(5), 4)
    True
    """
    n, k = np.broadcast_arrays(np.asarray(size, dtype=np.float64), np.asarray(chosen, dtype=np.float64))
    shape, n, k = n.shape, n.ravel(), k.ravel()
    # The dominant parts of the three factorials, x ln x - x, are cancelled analytically: ln C(1e12, 3)
    # would otherwise be lost to rounding.
    k = k.clip(min=0)
    rest = (n - k).clip(min=0)
    few, many = np.minimum(k, rest), np.maximum(k, rest)  # 1 - share would lose digits near 1
    share = np.divide(few, n, out=np.zeros_like(n), where=n > 0)
    main = -few * _log(share) - many * np.log1p(-share)
    beyond = _remainder(np.concatenate((n, few, many))).reshape(3, len(n))
    cost: Floats = main + beyond[0] - beyond[1] - beyond[2] + np.log(n + 1)
    return cost.reshape(shape)


def _remainder(x: Floats) -> Floats:
    """ln(x!) - (x ln x - x), looked up if all numbers are integers and not too large."""
    if (x < _LISTED).all():
        whole = x.astype(np.intp)
        if (whole == x).all():
            return np.asarray(_listed()[whole])
    return _stirling(x)


@cache
def _listed() -> Floats:
    """The remainders of the first integers."""
    return _stirling(np.arange(_LISTED, dtype=np.float64))


def _stirling(x: Floats) -> Floats:
    """ln(x!) - (x ln x - x) by Stirling's series, shifted if x is small."""
    y = np.where(x < _SERIES, x + _SERIES, x)
    square = y * y
    tail = 1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square
    series: Floats = 0.5 * np.log(2 * math.pi * y) + tail / y
    low = np.flatnonzero(x < _SERIES)
    if len(low):
        small, shifted = x[low], y[low]
        product = np.log(small[:, None] + np.arange(1, _SERIES + 1)).sum(axis=1)  # (x + 1) ... (x + 16)
        own = small * _log(small) - small
        series[low] += shifted * np.log(shifted) - shifted - product - own
    return series


def _log_factorial(whole: ArrayLike) -> Floats:
    """ln(x!) of integers, few of them distinct, [...]."""
    x = np.asarray(whole)
    distinct, place = np.unique(x, return_inverse=True)
    return np.array([math.lgamma(number + 1) for number in distinct.tolist()])[place].reshape(x.shape)


def _log(x: Floats) -> Floats:
    """The logarithm, but 0 at 0, for products with 0."""
    return np.asarray(np.log(x, out=np.zeros_like(x), where=x > 0))


def description_length(
    covered: Floats,
    totals: Floats,
    n_literals: ArrayLike,
    n_rules: ArrayLike,
    m: int,
    mistakes: Mistakes = "listed",
) -> Floats:
    """Nats to encode a program of this size, and the labels given the program.

    Parameters
    ----------
    covered
        Weights of the covered positives and negatives, [..., 2].
    totals
        Weights of all positives and negatives, [2].
    n_literals, n_rules
        The program's size, [...].
    m
        The number of candidate atoms.
    mistakes
        How mistakes are encoded.

    Examples
    --------
    >>> exact = description_length(np.array([5.0, 0.0]), np.array([5.0, 5.0]), 1, 1, m=4)
    >>> nothing = description_length(np.array([0.0, 0.0]), np.array([5.0, 5.0]), 0, 0, m=4)
    >>> bool(exact < nothing)
    True
    >>> counts, clean = np.array([[5.0, 1.0], [5.0, 0.0]]), {"m": 4, "mistakes": "refused"}
    >>> wrong, longer = description_length(counts, np.array([5.0, 5.0]), [1, 9], 1, **clean)
    >>> bool(longer < wrong)
    True
    """
    missed = totals - covered  # uncovered positives and negatives
    if mistakes == "listed":
        mistaken = subset_cost(covered.sum(-1), covered[..., 1]) + subset_cost(missed.sum(-1), missed[..., 0])
    elif mistakes == "refused":
        mistaken = _REFUSED * (covered[..., 1] + missed[..., 0])
    else:
        mistaken = _REFUSED * missed[..., 0] + subset_cost(covered.sum(-1), covered[..., 0])
    length: Floats = mistaken + program_cost(n_literals, n_rules, m)
    return length


def program_cost(n_literals: ArrayLike, n_rules: ArrayLike, m: int) -> Floats:
    """Nats for a program of this size over m candidate atoms, [...].

    Examples
    --------
    >>> one, two = program_cost([4, 4], [1, 2], m=8)
    >>> float(one) == 4 * math.log(16) + math.log(2), bool(one == two)
    (True, True)
    """
    literals, rules = np.asarray(n_literals), np.asarray(n_rules)
    # A program is a set of rules, so the order in which they are written carries no information.
    cost: Floats = literals * math.log(2 * m) + rules * math.log(2) - _log_factorial(rules)
    return cost


def most_wrong(length: float, totals: Floats, m: int) -> float:
    """An upper bound of the negatives that a program may cover if its description is to be this short.

    It holds for any covered positives, and for the shortest program.

    Examples
    --------
    >>> totals = np.array([50.0, 1000.0])
    >>> exact = float(description_length(np.array([50.0, 0.0]), totals, 2, 1, m=100))
    >>> most_wrong(exact, totals, m=100)
    1.0
    """
    right = np.unique(np.linspace(0, totals[0], _TRIED))  # [k]
    few, many = 0.0, float(np.floor(totals[1])) + 1
    while many - few > 1:  # the length grows with the covered negatives
        wrong = float((few + many) // 2)
        covered = np.stack([right, np.full_like(right, wrong)], axis=1)
        if description_length(covered, totals, 1, 1, m).min() <= length:
            few = wrong
        else:
            many = wrong
    return float(few)


def program_length(sample: CrispSample, codes: Codes) -> float:
    """The description length of a sample under one program.

    Examples
    --------
    >>> from andre.samples import Sample
    >>> crisp = CrispSample.of(Sample.from_arrays([[1, 0], [0, 1]], [1, 0]))
    >>> right, wrong = np.array([[1, 0]], dtype=np.int8), np.array([[1, 1]], dtype=np.int8)
    >>> program_length(crisp, right) < program_length(crisp, wrong)
    True
    """
    covered = sample.counts(union(sample.extents(codes))[None])[0]
    size = np.count_nonzero(codes), len(codes)
    return float(description_length(covered, sample.totals, *size, m=sample.space.m))
