"""Why rules were left out, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats
from andre.evaluation import CrispSample, program_length
from andre.learning.choose.pool import RulePool, with_counts
from andre.learning.config import Floor
from andre.learning.extraction import distinct_bodies
from andre.logic import Rule
from andre.samples import Codes

if TYPE_CHECKING:
    from andre.learning.results import Result

#: Rejected rules of a target that are told.
_TOLD = 20


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
            yield self._left_out(rule, place)
            if len(seen) - n_chosen == _TOLD:
                return

    def why_nothing(self, stopped: str | None) -> str:
        """Why no program is better than none; `stopped` is why learning ended early."""
        if stopped == "time":
            return "the time limit passed before a rule was found: raise it"
        counts = self.pool.counts
        if not counts[:, 0].any():
            return "no body of the language covers a positive example: allow more variables or relations"
        best = next(place for place in self._order if counts[place, 0] > 0)
        right, wrong = counts[best]
        if not self.floor.supported(counts[best]):
            lack = f"{self.floor.support:g} are the least"
        elif not self.floor.passes(counts[best]):
            lack = f"it must be right more often than {self.floor.confidence:g}"
        else:
            lack = "too little support to tell it from chance"
        rule = self.pool.space.rule(self.pool.bodies[best]).tidy()
        return (
            f"the nearest rule, '{rule}', is right about {right:g} of the {right + wrong:g} examples that it "
            f"covers and explains {right:g} of {self.totals[0]:g}: {lack}"
        )

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        return self.pool.order(self.totals)

    def _left_out(self, rule: Rule, place: int) -> Rejected:
        return Rejected(with_counts(rule, self.pool.counts[place]), self._reason(place))

    def _reason(self, place: int) -> str:
        counts = self.pool.counts[place]
        if not counts[0]:
            return "it explains no example"
        return self.floor.shortfall(counts) or "beside the chosen rules it costs more than it explains"


@dataclass(frozen=True, eq=False)
class _RunWeighing(Weighing):
    """The same for the rules that runs on a table came to, beside the program that was chosen."""

    result: Result
    sample: CrispSample
    runs: tuple[int, ...]  #: how many runs came to each rule

    def every(self) -> Iterator[Rejected]:
        """All of the rules, in the order of the pool."""
        for place, body in enumerate(self.pool.bodies):
            yield self._left_out(self.pool.space.rule(body), place)

    def _reason(self, place: int) -> str:
        runs = self.runs[place]
        return f"{self._flaw(place)} (proposed by {runs} run{'' if runs == 1 else 's'})"

    def _flaw(self, place: int) -> str:
        body, counts = self.pool.bodies[place], self.pool.counts[place]
        if self.result.config.selection.safe and not self.sample.space.safe(body[None])[0]:
            return "it leaves a variable unbound"
        if not counts.any():
            return "its body never holds"
        return self.floor.shortfall(counts) or self._redundancy(place)

    def _redundancy(self, place: int) -> str:
        """What the program has in place of a rule that reaches the floor."""
        body, (right, wrong) = self.pool.bodies[place], self._fresh[place]
        for number, other in enumerate(self._chosen, 1):
            if np.all((other == 0) | (other == body)):
                return f"rule {number} is its body with fewer literals"
        if not right:
            return "every positive it covers is covered already"
        longer = program_length(self.sample, np.vstack((self._chosen, body))) - self.result.length
        gain = f"it would add {right:g} right and {wrong:g} wrong"
        if longer >= 0:
            return f"{gain}, and make the description {longer:.1f} nats longer"
        return f"{gain}; the criterion was {self.result.config.selection.criterion}"

    @cached_property
    def _chosen(self) -> Codes:
        return self.result.codes

    @cached_property
    def _fresh(self) -> Floats:
        """Positives and negatives that each rule covers and the program does not, [rules, 2]."""
        covered = self.sample.predicts(self._chosen)
        return self.sample.counts(self.sample.covers(self.pool.bodies) & ~covered)


def rejected_rules(result: Result, sample: CrispSample) -> tuple[Rejected, ...]:
    """All rules that runs proposed and the program lacks, and why, those of most runs first.

    Proposed are the rules of all runs' own programs, and the subrules that the
    best run's weights hold, of which some never got into its program. The sample
    is the one that was learned from.
    """
    space = result.space
    times = Counter(code.tobytes() for run in result.runs for code in space.encode(run.program))
    reading = np.array([1, -1, 0], dtype=np.int8)[result.weights.argmax(axis=2)]  # [n, m]
    for code in distinct_bodies(reading):
        times.setdefault(code.tobytes(), 1)
    for code in result.codes:
        times.pop(code.tobytes(), None)
    ranked = times.most_common()
    bodies = np.array([np.frombuffer(key, dtype=np.int8) for key, _ in ranked], dtype=np.int8)
    bodies = bodies.reshape(-1, space.m)  # [rules, m]
    pool = RulePool(space, bodies, sample.body_counts(bodies))
    floor = result.config.selection.floor(sample.totals[0])
    runs = tuple(count for _, count in ranked)
    return tuple(_RunWeighing(pool, sample.totals, floor, result, sample, runs).every())
