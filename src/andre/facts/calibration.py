"""Calibration of stated probabilities, learned from all of them together.

Numbers that a sensor, a model or a person gives as probabilities are seldom
calibrated: where true atoms get 0.75 on average and false ones 0.25, an atom at
0.6 is most likely false if few atoms are true. The values themselves tell: they
fall into two groups, and how they do gives the odds of an atom at each value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from andre.arrays import Floats, Ints
from andre.facts.base import FactBase
from andre.facts.relation import Key, Relation

#: The fewest values in a group from which something can be learned about how probabilities were stated.
_FEWEST = 10
#: Values within this distance in a group are levels that somebody chose, not measurements.
_NEAR = 0.03
#: Groups closer than this, in standard deviations, cannot be separated reliably.
_APART = 2.5
#: Rounds of expectation maximisation.
_MOST_ROUNDS = 300


@dataclass(frozen=True)
class Calibration:
    """Two groups of stated probabilities: those of false atoms, and those of true ones.

    Both are normal with the same spread, and how many atoms are true differs by relation.
    One value of all is taken to belong to neither group and to say nothing, as so many values
    do not show what is rarer: it lies anywhere between the means, and beyond them falls off
    as the groups do. The log-odds of an atom then grow with its value, linearly where both
    groups have values, and are bounded by about the logarithm of the number of values.

    Examples
    --------
    >>> from andre.facts.tasks import TASKS
    >>> from andre.facts.tasks.noise import probabilistic
    >>> found = Calibration.of(probabilistic(TASKS["lessThan"].train()))
    >>> 0.2 < found.low < 0.3, 0.7 < found.high < 0.8, round(found.shares["successor", 2], 2)
    (True, True, 0.03)
    >>> bool(found.probability(("successor", 2), np.array([0.6]))[0] < 0.5)
    True
    """

    low: float  #: the mean value of false atoms
    high: float  #: the mean value of true atoms
    spread: float  #: the standard deviation within each group
    stray: float  #: the share of the values that belong to neither group and say nothing
    shares: Mapping[Key, float]  #: by relation, the share of the uncertain atoms that are true

    def __str__(self) -> str:
        return (
            f"uncertain facts fall into two groups, valued about {self.high:.2f} and about {self.low:.2f}, "
            "and are taken to be true and false accordingly"
        )

    @classmethod
    def of(cls, facts: FactBase) -> Calibration | None:
        """How the uncertain training facts were valued; None where that cannot be told.

        There must be two groups of scattered values that are clearly apart, on both sides of one half:
        where all values are above it, even the lower ones say that an atom is rather true than false.
        """
        values = {key: _uncertain(relation) for key, relation in facts.relations.items()}
        values = {key: found for key, found in values.items() if len(found)}
        if not values:
            return None
        value = np.concatenate(list(values.values()))
        owner = np.repeat(np.arange(len(values)), [len(found) for found in values.values()])
        if not _FEWEST <= np.count_nonzero(value > 0.5) <= len(value) - _FEWEST:
            return None
        found = _two_groups(value, owner, tuple(values))
        true = sum(share * len(values[key]) for key, share in found.shares.items())
        is_bimodal = (
            _FEWEST <= true <= len(value) - _FEWEST
            and found.low < 0.5 < found.high
            and found.high - found.low > _APART * found.spread > _APART * _NEAR
        )
        return found if is_bimodal and found._likelier_than_one_group(value, owner) else None

    def log_odds(self, key: Key, value: Floats) -> Floats:
        """The log-odds that an atom of a relation is true, given its value."""
        share = self.shares[key]
        low, high, stray = self._log_densities(value)
        return np.asarray(np.logaddexp(high, stray) - np.logaddexp(low, stray) + np.log(share / (1 - share)))

    def probability(self, key: Key, value: Floats) -> Floats:
        """The probability that an atom is true, given its value; 0 and 1 are certain."""
        likely = 1 / (1 + np.exp(-self.log_odds(key, value).clip(-700, 700)))
        return np.where((value > 0) & (value < 1), likely, value)

    def apply(self, facts: FactBase) -> FactBase:
        """The facts with calibrated probabilities."""
        made = {
            key: replace(relation, probability=self.probability(key, relation.probability))
            if key in self.shares and relation.probability is not None
            else relation
            for key, relation in facts.relations.items()
        }
        return replace(facts, relations=made)

    def _log_densities(self, value: Floats) -> tuple[Floats, Floats, Floats]:
        """The weighted densities of the lower group, the upper group and neither, up to a common factor."""
        beyond = value - value.clip(self.low, self.high)
        groups, width = self.spread * np.sqrt(2 * np.pi), self.high - self.low
        low, high, stray = (
            -((value - mean) ** 2) / (2 * self.spread**2) for mean in (self.low, self.high, value - beyond)
        )
        known = np.log1p(-self.stray)
        return low + known, high + known, stray + np.log(self.stray * groups / (groups + width))

    def _likelier_than_one_group(self, value: Floats, owner: Ints) -> bool:
        """Whether two groups fit the values better than one per relation does, by Schwarz's criterion."""
        n = np.bincount(owner)
        mean = np.bincount(owner, value) / n
        one = -len(value) * np.log(np.sqrt(((value - mean[owner]) ** 2).mean())) - len(value) / 2
        share = np.array(list(self.shares.values()))[owner]
        squares = ((value - self.low) ** 2, (value - self.high) ** 2)
        low, high = (-square / (2 * self.spread**2) for square in squares)
        two = (np.logaddexp(np.log1p(-share) + low, np.log(share) + high) - np.log(self.spread)).sum()
        return bool(two - one > np.log(len(value)))  # two parameters more, half a logarithm each


def _uncertain(relation: Relation) -> Floats:
    """The values of a relation's training facts that are neither certain nor denied."""
    if relation.probability is None:
        return np.zeros(0)
    value = relation.probability[relation.marked("train") & ~relation.column("negative")]
    return np.asarray(value[(value > 0) & (value < 1)])


def _two_groups(value: Floats, owner: Ints, keys: tuple[Key, ...]) -> Calibration:
    """The most likely groups, by expectation maximisation that starts from a cut at one half."""
    totals = np.bincount(owner)
    true = (value > 0.5).astype(np.float64)  # how likely each atom is in the upper group
    found = None
    for _ in range(_MOST_ROUNDS):
        low = np.average(value, weights=1 - true + 1e-12)
        high = np.average(value, weights=true + 1e-12)
        spread = np.sqrt(((1 - true) * (value - low) ** 2 + true * (value - high) ** 2).mean())
        shares = (np.bincount(owner, true) + 0.5) / (totals + 1)
        before, found = (
            found,
            Calibration(
                float(low),
                float(high),
                max(float(spread), 1e-3),
                1 / len(value),
                dict(zip(keys, shares.tolist(), strict=True)),
            ),
        )
        if before is not None and abs(before.high - high) + abs(before.low - low) < 1e-7:
            break
        slope = (high - low) / found.spread**2
        odds = slope * (value - (high + low) / 2) + np.log(shares / (1 - shares))[owner]
        true = 1 / (1 + np.exp(-odds.clip(-700, 700)))
    assert found is not None
    return found
