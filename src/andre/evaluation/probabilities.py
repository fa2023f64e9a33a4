"""Measures of probabilities: how well they order rows, and how well they are calibrated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools, Floats

_BINS = 10  # of probabilities


def area_under_curve(scores: Floats, positive: Bools, weights: Floats) -> float:
    """The chance that a positive row scores above a negative one, ties counting half; NaN without both.

    Examples
    --------
    >>> scores = np.array([0.1, 0.4, 0.4, 0.9])
    >>> area_under_curve(scores, np.array([False, False, True, True]), np.ones(4))
    0.875
    """
    _, place = np.unique(scores, return_inverse=True)
    at = [
        np.bincount(place, weights * part, minlength=int(place.max()) + 1) for part in (positive, ~positive)
    ]
    totals = at[0].sum() * at[1].sum()
    below = np.cumsum(at[1]) - at[1] / 2  # weight of negatives below each score
    return float(at[0] @ below / totals) if totals > 0 else float("nan")


def mean_area_under_curve(probabilities: Floats, classes: NDArray[np.intp], weights: Floats) -> float:
    """The area under the curve of the second class of two, or the mean of each class against all others.

    Parameters
    ----------
    probabilities
        [rows, classes].
    classes
        The true class of every row, [rows].
    """
    asked = [1] if probabilities.shape[1] == 2 else range(probabilities.shape[1])
    return float(np.mean([area_under_curve(probabilities[:, k], classes == k, weights) for k in asked]))


def calibration_error(probabilities: Floats, classes: NDArray[np.intp]) -> float:
    """Expected calibration error: the mean gap between stated probability and frequency, over ten equal bins.

    For two classes this is about the probability of the second, for more about that of the most likely class.

    Examples
    --------
    >>> said = np.array([[0.2, 0.8]] * 5)
    >>> round(calibration_error(said, np.array([1, 1, 1, 1, 0])), 6)
    0.0
    """
    if probabilities.shape[1] == 2:
        said, seen = probabilities[:, 1], classes == 1
    else:
        said, seen = probabilities.max(axis=1), probabilities.argmax(axis=1) == classes
    place = np.minimum((said * _BINS).astype(np.intp), _BINS - 1)
    gaps = np.bincount(place, said - seen, minlength=_BINS)
    return float(np.abs(gaps).sum() / len(said))
