"""Rules without weights: where one fires its class is decided on, and its evidence gives the probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools, Floats
from andre.evaluation import covers
from andre.logic import counted
from andre.samples import BinnedTable, Codes, RuleSpace


@dataclass(frozen=True, eq=False)
class CrispRules:
    """The rules of one program for each class, or of one for two classes.

    Examples
    --------
    >>> space = RuleSpace.from_names(["young", "rich"], "buys")
    >>> rules = CrispRules(
    ...     space, ("no", "yes"), np.array([[1, 0]], dtype=np.int8), np.array([0]),
    ...     evidence=np.array([[8.0, 8.0]]), uncovered=np.array([[18.0, 1.0]]),
    ...     costs=np.array([[0.0, 1.0], [1.0, 0.0]]),
    ... )
    >>> rules.predict_proba(np.array([[1, 1, 0, 0], [0, 1, 1, 0]], dtype=bool))
    array([[0.1, 0.9],
           [0.9, 0.1]])
    """

    space: RuleSpace
    classes: tuple[Any, ...]
    codes: Codes  #: [rules, m]
    owners: NDArray[np.intp]  #: [rules], the program that a rule is of
    evidence: Floats  #: [rules, 2], N_b and N_r: rows covered, and those among them of the rule's class
    uncovered: Floats  #: [programs, 2], rows that no rule covers, and those among them of the class
    costs: Floats  #: [classes, classes], of deciding on the second for a row of the first

    @property
    def shares(self) -> Floats:
        """What each rule makes of its class where it fires, [rules]."""
        sure = (self.evidence[:, 1] + 1) / (self.evidence[:, 0] + 2)
        # A rule that is wrong more often than right still decides, as in the program itself.
        return np.maximum(sure, np.nextafter(0.5, 1))

    @property
    def rest(self) -> Floats:
        """What each program makes of its class where none of its rules fires, [programs]."""
        return np.minimum(0.5, (self.uncovered[:, 1] + 1) / (self.uncovered[:, 0] + 2))

    def predict_proba(self, rows: BinnedTable | Bools) -> Floats:
        """The probability of every class on new rows, [rows, classes].

        That of a class is (N_r + 1) / (N_b + 2) of its surest rule that fires, or of the rows that no
        rule covers, at most one half, so that above it always means that a rule fired. Of more than
        two classes, these shares are scaled to add up to 1.
        """
        fires = rows.covers(self.codes) if isinstance(rows, BinnedTable) else covers(rows, self.codes)
        found = np.empty((fires.shape[1], len(self.uncovered)))
        for program, rest in enumerate(self.rest):
            own = self.owners == program
            said = self.shares[own][:, None] * fires[own]
            found[:, program] = np.maximum(said.max(axis=0, initial=0.0), rest)
        if len(self.classes) == 2:
            return np.hstack((1 - found, found))
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def __repr__(self) -> str:
        return f"CrispRules({counted(len(self.codes), 'rule')} for {len(self.classes)} classes)"

    def decide(self, probabilities: Floats) -> NDArray[np.intp]:
        """The place of the class with the least expected cost, from probabilities, [rows]."""
        return np.asarray((probabilities @ self.costs).argmin(axis=1))
