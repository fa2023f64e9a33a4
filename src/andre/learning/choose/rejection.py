"""The pool of a target: the rules that all its runs came to, chosen or not, with what each covers.

Why rules were left out, in words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from andre.evaluation import description_length
from andre.learning.config import Floor
from andre.learning.plan import apart
from andre.logic import Evidence, Program, Rule
from andre.samples import Codes, RuleSpace

__all__ = ["KEPT", "Rejected", "RulePool", "Weighing"]


#: Rules of a target that are kept.
KEPT = 500


@dataclass(frozen=True, eq=False)
class RulePool:
    """Bodies and their counts, the most promising first.

    Examples
    --------
    >>> space = RuleSpace.from_names(["p", "q"])
    >>> pool = RulePool(space, np.array([[1, 0], [0, -1]], dtype=np.int8), np.array([[5.0, 0], [4, 2]]))
    >>> for rule in pool.rules:
    ...     print(rule, rule.evidence[0].n_r, "of", rule.evidence[0].n_b)
    h :- p. 5.0 of 5.0
    h :- \\+ q. 4.0 of 6.0
    >>> pool.numbers()
    [[1], [-2]]
    """

    space: RuleSpace
    bodies: Codes  #: [rules, m]
    counts: NDArray[np.float64]  #: positives and negatives that each body covers, [rules, 2]
    identity: bool = False  #: whether its variables stand for different constants

    def __len__(self) -> int:
        return len(self.bodies)

    @cached_property
    def rules(self) -> Program:
        """The rules with their evidence; of rules that say the same, one."""
        found: dict[Rule, Rule] = {}
        for rule, (right, wrong) in zip(self.space.program(self.bodies), self.counts.tolist(), strict=True):
            tidy = (apart(rule) if self.identity else rule).tidy()
            found.setdefault(tidy, tidy.with_evidence(Evidence("train", right + wrong, right)))
        return Program(tuple(found.values()))

    def numbers(self) -> list[list[int]]:
        """The bodies as numbers of candidates, from 1, negated ones below 0: short to write down."""
        return [[int(body[at]) * (at + 1) for at in np.flatnonzero(body).tolist()] for body in self.bodies]

    @classmethod
    def from_numbers(
        cls, space: RuleSpace, numbers: list[list[int]], counts: list[list[float]], identity: bool
    ) -> RulePool:
        """Read back what `numbers` wrote."""
        bodies = np.zeros((len(numbers), space.m), dtype=np.int8)
        for body, literals in zip(bodies, numbers, strict=True):
            for literal in literals:
                body[abs(literal) - 1] = np.sign(literal)
        return cls(space, bodies, np.array(counts, dtype=np.float64).reshape(-1, 2), identity)


#: Rejected rules that are told.
_TOLD = 20


@dataclass(frozen=True)
class Rejected:
    """A rule that was weighed and left out."""

    rule: Rule
    reason: str


@dataclass(frozen=True, eq=False)
class Weighing:
    """A pool of bodies and what each of them covers.

    Examples
    --------
    >>> space = RuleSpace.from_names(["p", "q"])
    >>> pool = np.array([[1, 0], [0, 1]], dtype=np.int8)
    >>> weighing = Weighing(space, pool, np.array([[5.0, 0], [1, 9]]), np.array([5.0, 20]), Floor())
    >>> [str(left_out.rule) + " " + left_out.reason for left_out in weighing.rejected(pool[:1])]
    ['h :- q. it is right about 1 of the 10 examples that it covers, no more often than 0.5']
    """

    space: RuleSpace
    pool: Codes  #: [rules, m]
    counts: NDArray[np.float64]  #: positives and negatives that each body covers, [rules, 2]
    totals: NDArray[np.float64]  #: of all examples, [2]
    floor: Floor
    identity: bool = False  #: whether variables stand for different constants

    def kept(self) -> RulePool:
        """The rules that explain something, the most promising first, as many as are worth keeping."""
        order = self._order()
        order = order[self.counts[order, 0] > 0][:KEPT]
        return RulePool(self.space, self.pool[order], self.counts[order], self.identity)

    def rejected(self, chosen: Codes) -> Iterator[Rejected]:
        """The most promising rules that were not taken, and why."""
        seen = set(self.space.program(chosen))
        n_chosen = len(seen)
        for place in self._order():
            rule = self.space.rule(self.pool[place]).tidy()
            if rule in seen:  # or its like with other names for variables
                continue
            seen.add(rule)
            right, wrong = self.counts[place]
            evidence = Evidence("train", float(right + wrong), float(right))
            yield Rejected(rule.with_evidence(evidence), self._reason(self.counts[place]))
            if len(seen) - n_chosen == _TOLD:
                return

    def why_nothing(self, stopped: str | None) -> str:
        """Why no program is better than none."""
        if stopped == "time":
            return "the time limit passed before a rule was found: raise it"
        if not self.counts[:, 0].any():
            return "no body of the language covers a positive example: allow more variables or relations"
        best = next(place for place in self._order() if self.counts[place, 0] > 0)
        right, wrong = self.counts[best]
        if not self.floor.supported(self.counts[best]):
            lack = f"{self.floor.support:g} are the least"
        elif not self.floor.passes(self.counts[best]):
            lack = f"it must be right more often than {self.floor.confidence:g}"
        else:
            lack = "too little support to tell it from chance"
        return (
            f"the nearest rule, '{self.space.rule(self.pool[best]).tidy()}', is right about {right:g} of the "
            f"{right + wrong:g} examples that it covers and explains {right:g} of {self.totals[0]:g}: {lack}"
        )

    def _order(self) -> NDArray[np.intp]:
        sizes = np.count_nonzero(self.pool, axis=1)
        lengths = description_length(self.counts, self.totals, sizes, 1, m=self.space.m)
        return np.argsort(lengths, kind="stable")

    def _reason(self, counts: NDArray[np.float64]) -> str:
        if not counts[0]:
            return "it explains no example"
        return self.floor.shortfall(counts) or "beside the chosen rules it costs more than it explains"
