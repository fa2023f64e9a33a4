"""Calibration: the chance that a candidate is a fact, by isotonic regression on validation facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from andre.arrays import Bools, Floats, Ints, among
from andre.completion.features import Features
from andre.completion.graph import Graph
from andre.completion.scoring import best_confidences
from andre.limits import out_of_time


@dataclass(frozen=True)
class ReliabilityBin:
    """One bin of a reliability table: candidates of similar confidence, and how many of them are facts."""

    confidence: float  #: mean
    share: float  #: of validation facts among them
    count: int


@dataclass(frozen=True, eq=False)
class Frequencies:
    """How many candidates of each confidence there are, and how many of them are validation facts.

    Examples
    --------
    >>> one = Frequencies.of(np.array([0.5, 0.2, 0.5]), np.array([True, False, False]))
    >>> one.confidences.tolist(), one.mass.tolist(), one.right.tolist()
    ([0.2, 0.5], [1.0, 2.0], [0.0, 1.0])
    >>> Frequencies.concat([one, one]).mass.tolist()
    [2.0, 4.0]
    """

    confidences: Floats  #: distinct, ascending
    mass: Floats  #: candidates of each
    right: Floats  #: of these, validation facts

    @classmethod
    def of(cls, confidence: Floats, true: NDArray[Any], mass: Floats | None = None) -> Frequencies:
        """Count candidates by their confidence, each once or as often as `mass` says."""
        values, inverse = np.unique(confidence, return_inverse=True)
        mass = np.ones(len(confidence)) if mass is None else mass
        return cls(
            values,
            np.bincount(inverse, mass, minlength=len(values)).astype(np.float64),
            np.bincount(inverse, true.astype(float), minlength=len(values)).astype(np.float64),
        )

    @classmethod
    def of_step(
        cls, graph: Graph, features: Features, smoothings: Sequence[float], starts: Ints
    ) -> list[Frequencies]:
        """Count the candidates of queries from some starts that no training fact states, by smoothing."""
        cells, found = features.cells(starts), []
        keys = cells.starts[cells.query] * graph.n + cells.candidate
        new = ~among(keys, graph.keys(features.step, "train"))
        true = among(keys, graph.keys(features.step, "valid"))
        for smoothing in smoothings:
            best = best_confidences(cells.groundings, features.confidence(smoothing), 1)[:, 0]
            found.append(cls.of(best[new & (best > 0)], true[new & (best > 0)]))
        return found

    @classmethod
    def concat(cls, parts: Sequence[Frequencies]) -> Frequencies:
        """The counts of several parts together."""
        names = ("confidences", "right", "mass")
        return cls.of(*(np.concatenate([np.zeros(0), *(getattr(p, name) for p in parts)]) for name in names))

    def rounded(self) -> Frequencies:
        """The same by confidences of three digits: few numbers, however many candidates."""
        return Frequencies.of(self.confidences.round(3), self.right, self.mass)


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

    A rule that was never right says nothing for a candidate, however often those that were are.

    >>> Reliability.of(np.array([0.2, 0.4]), np.array([True, True])).chance(np.array([0.0, 0.2])).round(3)
    array([0.   , 0.667])
    """

    bins: tuple[ReliabilityBin, ...]
    confidences: Floats  #: ascending
    chances: Floats  #: at these confidences, never falling

    @classmethod
    def of(cls, confidence: Floats, true: Bools, n_bins: int = 10) -> Reliability:
        """Isotonic regression of the observed frequencies of facts on confidence."""
        return cls.by(Frequencies.of(confidence, true), n_bins)

    @classmethod
    def by(cls, seen: Frequencies, n_bins: int = 10) -> Reliability:
        """The same from how often each confidence was seen."""
        values, mass = seen.confidences, seen.mass.copy()
        mass[-1:] += 1  # the one that is imagined
        chances = _never_falling(seen.right / mass, mass) if len(values) else np.zeros(0)
        place = np.digitize(values, np.linspace(0, 1, n_bins + 1)[1:-1])
        bins = []
        for number in np.unique(place):
            inside = place == number
            count = seen.mass[inside].sum()
            mean = float(values[inside] @ seen.mass[inside] / count)
            bins.append(ReliabilityBin(mean, float(seen.right[inside].sum() / count), int(count)))
        return cls(tuple(bins), values, chances)

    def chance(self, confidence: Floats) -> Floats:
        """The calibrated chance at each confidence, interpolated between those that were seen; 0 at 0."""
        if not len(self.confidences):
            return np.asarray(confidence, dtype=np.float64)
        return np.where(confidence > 0, np.interp(confidence, self.confidences, self.chances), 0.0)


def in_order(chances: Floats, scores: Floats) -> Floats:
    """Chances that never rise from a higher score to a lower one, by isotonic regression, [n].

    Ways to score candidates look at more than the surest rule, which chances go by:
    where the two disagree, the candidates share their chance.

    Examples
    --------
    >>> in_order(np.array([0.9, 0.0, 0.6]), np.array([3.0, 2.0, 1.0]))
    array([0.9, 0.3, 0.3])
    """
    shared, asked = chances.copy(), np.isfinite(scores)  # what is known already is no candidate
    if asked.any():
        _, place, counts = np.unique(scores[asked], return_inverse=True, return_counts=True)
        means = np.bincount(place, chances[asked]) / counts
        shared[asked] = _never_falling(means, counts.astype(np.float64))[place]
    return shared


def _never_falling(values: Floats, weights: Floats) -> Floats:
    """The nearest values that never fall, by isotonic regression: [n]."""
    # By its whole name, which loads it when it is first called: that takes long.
    return np.asarray(scipy.optimize.isotonic_regression(values, weights=weights).x)


def measure_reliability(graph: Graph, features: Mapping[int, Features], smoothing: float) -> Reliability:
    """How often candidates of a confidence are validation facts.

    Parameters
    ----------
    smoothing
        The c of confidences N_r / (N_b + c).
    """
    parts = []
    for step, found in features.items():
        valid = graph.keys(step, "valid")
        if not len(valid):
            continue
        if out_of_time("reliability"):
            break
        parts += Frequencies.of_step(graph, found, [smoothing], np.unique(valid // graph.n))
    return Reliability.by(Frequencies.concat(parts))
