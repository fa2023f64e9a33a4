"""A pool: rules to choose from, and what each of them covers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools, Floats
from andre.evaluation import CrispSample
from andre.samples import Codes

__all__ = ["Pool"]


@dataclass(frozen=True, eq=False)
class Pool:
    """Rules that programs are put together from; what they cover is worked out once.

    Examples
    --------
    >>> from andre.samples import Sample
    >>> crisp = CrispSample.of(Sample.from_arrays([[1, 0], [1, 1], [0, 1]], [1, 0, 1]))
    >>> pool = Pool(crisp, np.array([[1, 0], [0, 1]], dtype=np.int8))
    >>> pool.beside(pool.covers[0])
    array([[1., 1.],
           [2., 1.]])
    """

    sample: CrispSample
    bodies: Codes  #: [rules, m]

    @cached_property
    def covers(self) -> Bools:
        """Which examples satisfy which rules, [rules, B]."""
        return self.sample.covers(self.bodies)

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """The number of each rule's literals, [rules]."""
        return np.asarray(np.count_nonzero(self.bodies, axis=1))

    @cached_property
    def own(self) -> Floats:
        """The weight of positives and negatives that each rule covers, [rules, 2]."""
        return self.sample.counts(self.covers)

    def beside(self, rest: Bools) -> Floats:
        """What each rule covers together with examples that are covered already, [B], as [rules, 2]."""
        labels, reached = self.sample.labels, self._reached
        fresh = labels[:, reached] * ~rest[reached]  # [2, reached]
        return np.asarray(labels @ rest + self._weighed @ fresh.T)

    @cached_property
    def _reached(self) -> NDArray[np.intp]:
        """The examples that some rule covers: rules that are mostly right cover few where few are true."""
        return np.flatnonzero(self.covers.any(axis=0))

    @cached_property
    def _weighed(self) -> Floats:
        """What rules cover of these, as numbers for products, [rules, reached]."""
        return self.covers[:, self._reached].astype(np.float64)
