"""Why rules were left out, in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats
from andre.evaluation import CrispSample, description_length, program_length
from andre.learning.bodies import distinct_bodies
from andre.learning.choose.pool import RulePool, with_counts
from andre.learning.config import Floor
from andre.logic import Rule
from andre.samples import Codes

if TYPE_CHECKING:
    from andre.learning.results import Result

#: Rejected rules of a target that are told.
_TOLD = 20
#: How often as a guess a rule is right, at the least, that is worth a lower floor.
_RARE = 3


@dataclass(frozen=True)
class Rejected:
    """A rule that was weighed and left out."""

    rule: Rule
    reason: str


@dataclass(frozen=True, eq=False)
class Weighing:
    """Says why the rules of a pool were left out, by what each covers and the floor that it must reach.

    Examples
    --------
    >>> from andre.samples import RuleSpace
    >>> bodies, counts = np.array([[1, 0], [0, 1]], dtype=np.int8), np.array([[5.0, 0], [1, 9]])
    >>> pool = RulePool(RuleSpace.from_names(["p", "q"]), bodies, counts)
    >>> for left_out in Weighing(pool, np.array([5.0, 20]), Floor()).rejected(bodies[:1]):
    ...     print(left_out.rule, left_out.reason)
    h :- q. it is right about 1 of the 10 examples that it covers, no more often than 0.5
    """

    pool: RulePool
    totals: Floats  #: all positives and negatives, [2]
    floor: Floor

    def rejected(self, chosen: Codes) -> Iterator[Rejected]:
        """The most promising rules that were not chosen, and why."""
        seen = set(self.pool.space.program(chosen))
        n_chosen = len(seen)
        for place in self._order:
            rule = self.pool.space.rule(self.pool.bodies[place]).tidy()
            if rule in seen:  # or its like with other names for variables
                continue
            seen.add(rule)
            counts = self.pool.counts[place]
            reason = "it explains no example"
            if counts[0]:
                reason = (
                    self.floor.shortfall(counts) or "beside the chosen rules it costs more than it explains"
                )
            yield Rejected(with_counts(rule, counts), reason)
            if len(seen) - n_chosen == _TOLD:
                return

    def why_nothing(self, stopped: str | None) -> str:
        """Why no program is better than none; `stopped` is why learning ended early."""
        if stopped == "time":
            return "the time limit passed before a rule was found: raise it"
        if stopped == "memory":
            return "the memory limit was reached before a rule was found: raise it"
        counts = self.pool.counts
        if not counts[:, 0].any():
            return "no body of the language covers a positive example: allow more variables or relations"
        best = next(place for place in self.pool.nearest(self.totals) if counts[place, 0] > 0)
        right, wrong = counts[best]
        if not self.floor.supported(counts[best]):
            lack = f"{self.floor.support:g} are the least"
        elif not self.floor.passes(counts[best]):
            lack = f"it must be right more often than {self.floor.confidence:g}{self._beyond_chance(best)}"
        else:
            lack = f"too little support to tell it from chance, as {self._balance(best)}"
        rule = self.pool.space.rule(self.pool.bodies[best]).tidy()
        return (
            f"the nearest rule, '{rule}', is right about {_weight(right)} of the {_weight(right + wrong)} "
            f"examples that it covers and explains {_weight(right)} of {_weight(self.totals[0])}: {lack}"
        )

    def _beyond_chance(self, place: int) -> str:
        """What to do where a rule is wrong too often for the floor, but tells of rare examples."""
        right, both = self.pool.counts[place, 0], self.pool.counts[place].sum()
        _, saved = self._nats(place)
        times = right / both / (self.totals[0] / self.totals.sum())
        if saved <= 0 or times < _RARE:
            return ""
        least = 0.95 * right / both
        digit = 10.0 ** math.floor(math.log10(least))
        return (
            f"; it is so {times:.0f} times as often as a guess, and --set min_confidence="
            f"{math.floor(least / digit) * digit:.4g} takes such rules"
        )

    def _balance(self, place: int) -> str:
        """What a rule costs and what it saves."""
        cost, saved = self._nats(place)
        return f"it takes {cost:.1f} nats to say it and saves {max(0.0, cost + saved):.1f}"

    def _nats(self, place: int) -> tuple[float, float]:
        """What a rule costs, and by how much it makes the description shorter."""
        counts, size = self.pool.counts[place], int(np.count_nonzero(self.pool.bodies[place]))
        covered = np.array([np.zeros(2), counts, counts])  # by no rule, and by this one without its cost
        lengths = description_length(covered, self.totals, [0, 0, size], [0, 0, 1], m=self.pool.space.m)
        listed, with_rule, whole = lengths.tolist()
        return whole - with_rule, listed - whole

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        return self.pool.order(self.totals)


def _weight(weight: float) -> str:
    """A weight of examples as it is told; where some were drawn to stand for many, it is no whole number.

    Examples
    --------
    >>> _weight(64.0), _weight(0.5), _weight(2195.36)
    ('64', '0.5', '2195')
    """
    return f"{weight:g}" if weight < 100 else f"{weight:.0f}"


def rejected_rules(result: Result, sample: CrispSample) -> tuple[Rejected, ...]:
    """All rules that runs proposed and the program lacks, and why, those of most runs first.

    Proposed are the rules of all runs' own programs, and the subrules that the
    best run's weights hold, of which some never got into its program. The sample
    is the one that was learned from.
    """
    space, program = result.space, result.codes
    times = Counter(code.tobytes() for run in result.runs for code in space.encode(run.program))
    reading = np.array([1, -1, 0], dtype=np.int8)[result.weights.argmax(axis=2)]  # [n, m]
    for code in distinct_bodies(reading):
        times.setdefault(code.tobytes(), 1)
    for code in program:
        times.pop(code.tobytes(), None)
    ranked = times.most_common()
    bodies = np.array([np.frombuffer(key, dtype=np.int8) for key, _ in ranked], dtype=np.int8)
    bodies = bodies.reshape(-1, space.m)  # [rules, m]
    beyond = sample.counts(sample.covers(bodies) & ~sample.predicts(program))  # [rules, 2]
    found = []
    for (_, runs), body, counts, new in zip(ranked, bodies, sample.body_counts(bodies), beyond, strict=True):
        flaw = _flaw(result, sample, body, counts) or _redundancy(result, sample, program, body, new)
        reason = f"{flaw} (proposed by {runs} run{'' if runs == 1 else 's'})"
        found.append(Rejected(with_counts(space.rule(body), counts), reason))
    return tuple(found)


def _flaw(result: Result, sample: CrispSample, body: Codes, counts: Floats) -> str | None:
    """Why a body that covers so many positives and negatives, [2], could be in no program."""
    selection = result.config.selection
    if selection.safe and not sample.space.safe(body[None])[0]:
        return "it leaves a variable unbound"
    if not counts.any():
        return "its body never holds"
    return selection.floor(sample.totals[0]).shortfall(counts)


def _redundancy(result: Result, sample: CrispSample, program: Codes, body: Codes, new: Floats) -> str:
    """Why a body is not in the program, though it covers further positives and negatives, [2]."""
    for number, other in enumerate(program, 1):
        if np.all((other == 0) | (other == body)):
            return f"rule {number} is its body with fewer literals"
    right, wrong = new
    if not right:
        return "every positive it covers is covered already"
    longer = program_length(sample, np.vstack((program, body))) - result.length
    gain = f"it would add {right:g} right and {wrong:g} wrong"
    if longer >= 0:
        return f"{gain}, and make the description {longer:.1f} nats longer"
    return f"{gain}; the criterion was {result.config.selection.criterion}"
