"""The floor: what every rule must reach to be chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from andre.evaluation.bits import Bools

__all__ = ["Floor"]

#: Probabilities may add up to a little less than they should.
_SLACK = 1 - 1e-9


@dataclass(frozen=True)
class Floor:
    """Least support and confidence of a rule.

    Examples
    --------
    >>> floor = Floor(support=2, confidence=0.5)
    >>> floor.passes(np.array([[1.0, 0.0], [2.0, 0.0], [2.0, 2.0]]))  # positives and negatives
    array([False,  True, False])
    >>> print(floor)
    right more often than 0.5 and about 2 examples at least
    """

    support: float = 0.0  #: the least N_r; where facts are uncertain, a sum of probabilities
    confidence: float = 0.5  #: N_r / N_b is above this

    def __str__(self) -> str:
        least = f" and about {self.support:g} examples at least" if self.support else ""
        return f"right more often than {self.confidence:g}{least}"

    def passes(self, counts: NDArray[np.float64]) -> Bools:
        """Which rules reach it, by the positives and negatives that each covers, [..., 2]."""
        sure = counts[..., 0] > self.confidence * counts.sum(axis=-1)
        return np.asarray(sure & self.supported(counts))

    def supported(self, counts: NDArray[np.float64]) -> Bools:
        """Which rules have the least support, however often they are wrong, [..., 2]."""
        return np.asarray(counts[..., 0] >= self.support * _SLACK)

    def shortfall(self, counts: NDArray[np.float64]) -> str | None:
        """Why a rule that covers so many positives and negatives, [2], does not reach it; None if it does.

        Examples
        --------
        >>> Floor(support=2).shortfall(np.array([1.0, 0.0]))
        'its support of 1 is below 2'
        >>> Floor().shortfall(np.array([1.0, 9.0]))
        'it is right about 1 of the 10 examples that it covers, no more often than 0.5'
        """
        if self.passes(counts):
            return None
        right, both = counts[0], counts.sum()
        if not self.supported(counts):
            return f"its support of {right:g} is below {self.support:g}"
        return (
            f"it is right about {right:g} of the {both:g} examples that it covers, "
            f"no more often than {self.confidence:g}"
        )
