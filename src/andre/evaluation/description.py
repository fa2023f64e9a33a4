"""The description length of labels under a program: what selection minimises.

The code for the labels is a program and its mistakes: which of the covered
examples are false positives and which of the uncovered ones are false
negatives, each as a subset after its size. The code for a program is its
literals, each one of 2m, and the number of its rules, whose order says nothing.
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

#: How mistakes are told: `listed`, each kind as a subset; `refused`, as examples that are clean have none; or
#: `unlabelled`, where only positives are known. All of them must then be derived, and of what else is derived
#: none is a mistake, but the positives are a subset of it (the size principle: few among many say little).
Mistakes: TypeAlias = Literal["listed", "refused", "unlabelled"]

#: Nats of a mistake that is refused: more than any program costs that is ever looked at.
_REFUSED = 1e5
#: From here on Stirling's series is exact to the last digits.
_SERIES = 16
#: Numbers of positives that are tried where the best is looked for.
_TRIED = 256
#: Whole numbers below this are looked up.
_LISTED = 1 << 16


def subset_cost(size: ArrayLike, chosen: ArrayLike) -> Floats:
    """Nats that say how many and which of `size` things are chosen: ln C(size, chosen) + ln(size + 1).

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
    # The large parts of the three factorials, x ln x - x, are cancelled on paper: in floats ln C(1e12, 3)
    # would be lost.
    k = k.clip(min=0)
    rest = (n - k).clip(min=0)
    few, many = np.minimum(k, rest), np.maximum(k, rest)  # a share near 1 would lose what is left of it
    share = np.divide(few, n, out=np.zeros_like(n), where=n > 0)
    main = -few * _log(share) - many * np.log1p(-share)
    beyond = _remainder(np.concatenate((n, few, many))).reshape(3, len(n))
    cost: Floats = main + beyond[0] - beyond[1] - beyond[2] + np.log(n + 1)
    return cost.reshape(shape)


def _remainder(x: Floats) -> Floats:
    """ln(x!) - (x ln x - x), looked up where all numbers are whole and not too large."""
    if (x < _LISTED).all():
        whole = x.astype(np.intp)
        if (whole == x).all():
            return np.asarray(_listed()[whole])
    return _stirling(x)


@cache
def _listed() -> Floats:
    """The remainders of the first whole numbers."""
    return _stirling(np.arange(_LISTED, dtype=np.float64))


def _stirling(x: Floats) -> Floats:
    """The same by Stirling's series, shifted where x is small."""
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
    """ln(x!) of whole numbers of which few differ, [...]."""
    x = np.asarray(whole)
    distinct, place = np.unique(x, return_inverse=True)
    return np.array([math.lgamma(number + 1) for number in distinct.tolist()])[place].reshape(x.shape)


def _log(x: Floats) -> Floats:
    """The logarithm, 0 at 0, where it is multiplied by 0."""
    return np.asarray(np.log(x, out=np.zeros_like(x), where=x > 0))


def description_length(
    covered: Floats,
    totals: Floats,
    n_literals: ArrayLike,
    n_rules: ArrayLike,
    m: int,
    mistakes: Mistakes = "listed",
) -> Floats:
    """Nats for a program of this size and for the labels given the program.

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
        How they are told.

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
        told = subset_cost(covered.sum(-1), covered[..., 1]) + subset_cost(missed.sum(-1), missed[..., 0])
    elif mistakes == "refused":
        told = _REFUSED * (covered[..., 1] + missed[..., 0])
    else:
        told = _REFUSED * missed[..., 0] + subset_cost(covered.sum(-1), covered[..., 0])
    length: Floats = told + program_cost(n_literals, n_rules, m)
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
    # A program is a set of rules: of the orders in which they could be written, none says anything.
    cost: Floats = literals * math.log(2 * m) + rules * math.log(2) - _log_factorial(rules)
    return cost


def most_wrong(length: float, totals: Floats, m: int) -> float:
    """How many negatives a program may cover whose description is to be no longer than this, roughly.

    Whatever positives it covers, and however short it is.

    Examples
    --------
    >>> totals = np.array([50.0, 1000.0])
    >>> exact = float(description_length(np.array([50.0, 0.0]), totals, 2, 1, m=100))
    >>> most_wrong(exact, totals, m=100)
    1.0
    """
    right = np.unique(np.linspace(0, totals[0], _TRIED))  # [k]
    few, many = 0.0, float(np.floor(totals[1])) + 1
    while many - few > 1:  # covering more negatives makes no description shorter
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
