"""From confidences to chances: isotonic regression on validation facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from andre.completion.features import Features, members
from andre.completion.graph import Graph
from andre.completion.scoring import best_confidences

__all__ = ["Reliability", "ReliabilityBin", "isotonic", "measure_reliability"]


def isotonic(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest values that never fall, by pooling neighbours that do.

    Examples
    --------
    >>> isotonic(np.array([0.1, 0.5, 0.3, 0.9]), np.ones(4))
    array([0.1, 0.4, 0.4, 0.9])
    """
    means: list[float] = []
    masses: list[float] = []
    sizes: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        means.append(value)
        masses.append(weight)
        sizes.append(1)
        while len(means) > 1 and means[-2] >= means[-1]:
            mass = masses[-2] + masses[-1]
            means[-2:] = [(means[-2] * masses[-2] + means[-1] * masses[-1]) / mass]
            masses[-2:] = [mass]
            sizes[-2:] = [sizes[-2] + sizes[-1]]
    return np.repeat(means, sizes)


@dataclass(frozen=True)
class ReliabilityBin:
    """Candidates whose confidences are near each other, and how many of them are facts."""

    confidence: float  #: mean
    share: float  #: of validation facts among them
    count: int


@dataclass(frozen=True, eq=False)
class Reliability:
    """How often candidates of a confidence turn out to be validation facts.

    What is neither a training nor a validation fact counts as false, so the
    chances are those of being a validation fact: a floor, where facts are missing.
    One false candidate more is imagined at the highest confidence, as not to
    have been wrong yet is not to be certain.

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
    confidences: NDArray[np.float64]  #: ascending
    chances: NDArray[np.float64]  #: at these confidences, never falling

    @classmethod
    def of(cls, confidence: NDArray[np.float64], true: NDArray[np.bool_], n_bins: int = 10) -> Reliability:
        """Count, and pool what falls."""
        values, inverse = np.unique(confidence, return_inverse=True)
        mass = np.bincount(inverse, minlength=len(values)).astype(float)
        right = np.bincount(inverse, true.astype(float), minlength=len(values))
        mass[-1:] += 1  # the one that is imagined
        chances = isotonic(right / np.maximum(mass, 1), mass) if len(values) else np.zeros(0)
        bins = []
        edges = np.linspace(0, 1, n_bins + 1)[1:-1]
        place = np.digitize(confidence, edges)
        for number in np.unique(place).tolist():
            inside = place == number
            bins.append(
                ReliabilityBin(
                    float(confidence[inside].mean()), float(true[inside].mean()), int(inside.sum())
                )
            )
        return cls(tuple(bins), values, chances)

    def chance(self, confidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """The chance at each confidence, between those that were seen."""
        if not len(self.confidences):
            return np.asarray(confidence, dtype=np.float64)
        return np.interp(confidence, self.confidences, self.chances)


def measure_reliability(graph: Graph, features: Mapping[int, Features], smoothing: float) -> Reliability:
    """How often candidates of a confidence are validation facts.

    Parameters
    ----------
    graph, features
        What is known, and the bodies of each step.
    smoothing
        The c of confidences N_r / (N_b + c).
    """
    confidences, truths = [np.zeros(0)], [np.zeros(0, dtype=np.bool_)]
    for step, found in features.items():
        valid = graph.pairs(step, "valid")
        if not len(valid):
            continue
        table = found.table(np.unique(valid[:, 0]))
        best = best_confidences(table, found.confidence(smoothing), 1)[:, 0]
        keys = table.starts[table.query] * found.n + table.candidate
        train = graph.pairs(step, "train")
        new = ~members(keys, np.sort(train[:, 0] * found.n + train[:, 1])) & (best > 0)
        confidences.append(best[new])
        truths.append(members(keys[new], np.sort(valid[:, 0] * found.n + valid[:, 1])))
    return Reliability.of(np.concatenate(confidences), np.concatenate(truths))
