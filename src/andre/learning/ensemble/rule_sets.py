"""Rule sets on rows: bodies with weights, and rows that give them their weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats
from andre.learning.ensemble.likelihood import Labels, RuleLoss
from andre.learning.ensemble.search import Body, codes_of
from andre.samples import BinnedTable, sums_of


@dataclass(frozen=True, eq=False)
class RuleSet:
    """Bodies, the output that each adds to, and the weights of bases and rules."""

    bodies: tuple[Body, ...]
    owners: NDArray[np.intp]  #: [rules]
    weights: Floats  #: [outputs + rules], bases first
    objective: float  #: penalised loss on the rows it was grown on, and the price of its literals
    penalty: float  #: on the squares of weights, with which they were learned

    @property
    def pairs(self) -> set[tuple[Body, int]]:
        """Every body with the output that it adds to."""
        return set(zip(self.bodies, self.owners.tolist(), strict=True))

    def shrunk(self, factor: float, base: Floats) -> RuleSet:
        """The same rules, all weights times a factor, and bases as much nearer to those of base rates."""
        n = len(base)
        weights = np.append(base + factor * (self.weights[:n] - base), factor * self.weights[n:])
        return replace(self, weights=weights)

    @property
    def n_literals(self) -> int:
        """The literals of all bodies."""
        return sum(map(len, self.bodies))


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as bins, and their labels."""

    bins: BinnedTable
    labels: Labels

    def take(self, rows: NDArray[np.intp]) -> Rows:
        """Some of the rows."""
        return Rows(self.bins.take(rows), self.labels.take(rows))

    def merged(self) -> Rows:
        """The distinct rows in a fixed order, each standing for all that are equal to it."""
        classes = self.labels.classes.astype(np.int16)
        table = np.column_stack([*(column.bins for column in self.bins.columns), classes])
        distinct, first, group = np.unique(table, axis=0, return_index=True, return_inverse=True)
        weights, copies = (
            sums_of(group.ravel(), part, len(distinct)) for part in (self.labels.weights, self.labels.counts)
        )
        merged = self.take(first)
        return Rows(merged.bins, replace(merged.labels, weights=weights, copies=copies))

    def part(self, shares: Floats) -> Rows:
        """A share of each row, [rows] from 0 to 1: of one that stands for five, two are a share of 0.4."""
        labels = self.labels
        some = replace(labels, weights=labels.weights * shares, copies=labels.counts * shares)
        return Rows(self.bins, some).take(np.flatnonzero(shares > 0))

    def drawn(self, most: int, rng: np.random.Generator) -> Rows:
        """So many rows at the most, drawn at random.

        They keep their weights: what a literal must gain is measured against the evidence that there is.
        """
        n = self.bins.n_rows
        return self if n <= most else self.take(np.sort(rng.choice(n, most, replace=False)))

    def loss(self, rules: RuleSet) -> RuleLoss:
        """The likelihood of the labels under some rules, for any weights."""
        return RuleLoss(self.bins.covers(codes_of(rules.bodies, self.bins.m)), rules.owners, self.labels)

    def fitted(self, rules: RuleSet, penalty: float) -> RuleSet:
        """The same rules with the weights that these rows give them, for a penalty on their squares."""
        return replace(rules, weights=self.loss(rules).fit(penalty, rules.weights), penalty=penalty)

    def scores(self, rules: RuleSet) -> Floats:
        """The scores of these rows, [rows, outputs]."""
        return self.loss(rules).scores(rules.weights)
