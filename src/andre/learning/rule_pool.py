"""The pool of a target: the rules that all its runs came to, chosen or not, with what each covers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from andre.grounding import Codes, RuleSpace
from andre.learning.known import apart
from andre.logic import Evidence, Program, Rule

__all__ = ["KEPT", "RulePool"]

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
