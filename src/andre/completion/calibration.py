"""Calibration: the chance that a candidate is a fact, by isotonic regression on validation facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from andre.arrays import Bools, Floats
from andre.completion.features import Features, members
from andre.completion.graph import Graph
from andre.completion.scoring import best_confidences
from andre.limits import late


@dataclass(frozen=True)
class ReliabilityBin:
    """One bin of a reliability table: candidates of similar confidence, and how many of them are facts."""

    confidence: float  #: mean
    share: float  #: of validation facts among them
    count: int


@dataclass(frozen=True, eq=False)
class Reliability:
    """How often candidates of a confidence turn out to be validation facts.

    What is neither a training nor a validation fact counts as false, so chances
    are lower bounds where facts are missing. One false candidate more is
    imagined at the highest confidence: not to have been wrong yet is not to be
    certain.

    Examples
    --------
    >>> confidence, true = np.array([0.2, 0.2, 0.9, 0.9]), np.array([False, False, True, False])
    >>> found = Reliability.of(confidence, true, n_bins=2)
    >>> [(bin.confidence, bin.share, bin.count) for bin in found.bins]
    [(0.2, 0.0, 2), (0.9, 0.5, 2)]
    >>> found.chance(np.array([0.1, 0.95])).round(3)
    array([0.   , 0.333])
    """

    bins: tuple[ReliabilityBin, ...]
    confidences: Floats  #: ascending
    chances: Floats  #: at these confidences, never falling

    @classmethod
    def of(cls, confidence: Floats, true: Bools, n_bins: int = 10) -> Reliability:
        """Isotonic regression of the observed frequencies of facts on confidence."""
        values, inverse = np.unique(confidence, return_inverse=True)
        mass = np.bincount(inverse, minlength=len(values)).astype(float)
        right = np.bincount(inverse, true.astype(float), minlength=len(values))
        mass[-1:] += 1  # the one that is imagined
        chances = isotonic_regression(right / mass, weights=mass).x if len(values) else np.zeros(0)
        place = np.digitize(confidence, np.linspace(0, 1, n_bins + 1)[1:-1])
        bins = [
            ReliabilityBin(float(confidence[inside].mean()), float(true[inside].mean()), int(inside.sum()))
            for inside in (place == number for number in np.unique(place))
        ]
        return cls(tuple(bins), values, chances)

    def chance(self, confidence: Floats) -> Floats:
        """The calibrated chance at each confidence, interpolated between those that were seen."""
        if not len(self.confidences):
            return np.asarray(confidence, dtype=np.float64)
        return np.interp(confidence, self.confidences, self.chances)


def measure_reliability(graph: Graph, features: Mapping[int, Features], smoothing: float) -> Reliability:
    """How often candidates of a confidence are validation facts.

    Parameters
    ----------
    smoothing
        The c of confidences N_r / (N_b + c).
    """
    confidences, truths = [np.zeros(0)], [np.zeros(0, dtype=np.bool_)]
    for step, found in features.items():
        valid = graph.keys(step, "valid")
        if not len(valid):
            continue
        if late("reliability"):
            break
        cells = found.cells(np.unique(valid // graph.n))
        best = best_confidences(cells.groundings, found.confidence(smoothing), 1)[:, 0]
        keys = cells.starts[cells.query] * graph.n + cells.candidate
        new = ~members(keys, graph.keys(step, "train")) & (best > 0)
        confidences.append(best[new])
        truths.append(members(keys[new], valid))
    return Reliability.of(np.concatenate(confidences), np.concatenate(truths))
