"""Rules to choose from: those that are combined, and those that are kept to be looked at later."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats, blocks_of
from andre.evaluation import CrispSample, Extents, description_length
from andre.learning.bodies import with_shorter
from andre.learning.plan import with_inequalities
from andre.limits import check, stage, time_left
from andre.logic import Evidence, Program, Rule
from andre.samples import Codes, Form, RuleSpace

#: Rules of a target that are kept with it.
KEPT = 500
#: Bodies times rows or literals that are counted at a time where there is a time limit.
_BLOCK = 1 << 23


def with_counts(rule: Rule, counts: Floats) -> Rule:
    """The rule with its evidence on the training examples: positives and negatives that it covers, [2]."""
    right, wrong = np.round(counts, 9).tolist()  # sums of probabilities are not exact
    return rule.with_evidence(Evidence("train", right + wrong, right))


@dataclass(frozen=True, eq=False)
class RuleCoverage:
    """Rules that a program is put together from, and the examples that each covers.

    Examples
    --------
    >>> from andre.samples import Sample
    >>> crisp = CrispSample.of(Sample.from_arrays([[1, 0], [1, 1], [0, 1]], [1, 0, 1]))
    >>> rules = RuleCoverage(crisp, np.array([[1, 0], [0, 1]], dtype=np.int8))
    >>> rules.beside(rules.covers[:1])
    array([[[1., 1.],
            [2., 1.]]])
    """

    sample: CrispSample
    bodies: Codes  #: [rules, m]

    @cached_property
    def covers(self) -> Extents:
        """Which examples satisfy which rules, [rules, ...]."""
        return self.sample.extents(self.bodies)

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """The number of each rule's literals, [rules]."""
        return np.asarray(np.count_nonzero(self.bodies, axis=1))

    @cached_property
    def own(self) -> Floats:
        """The weight of positives and negatives that each rule covers, [rules, 2]."""
        return self.sample.counts(self.covers)

    def beside(self, rests: Extents) -> Floats:
        """Positives and negatives that each rule covers together with sets of examples.

        Parameters
        ----------
        rests
            The sets, [sets, ...].

        Returns
        -------
        Their weights, [sets, rules, 2].
        """
        sample = self.sample
        if sample.planes is not None:
            fresh = sample.planes.shared(~rests, self.covers)
        else:
            labels = sample.labels[:, self._reached]
            fresh = np.stack([self._weighed @ (labels * ~rest[self._reached]).T for rest in rests])
        return sample.counts(rests)[:, None] + fresh

    @cached_property
    def _reached(self) -> NDArray[np.intp]:
        """The examples that some rule covers, few where few examples are positive."""
        return np.flatnonzero(self.covers.any(axis=0))

    @cached_property
    def _weighed(self) -> Floats:
        """Which of these each rule covers, as floats for matrix products, [rules, reached]."""
        return self.covers[:, self._reached].astype(np.float64)


@dataclass(frozen=True, eq=False)
class RulePool:
    """The bodies that runs came to for a target, chosen or not, with what each covers; the best first.

    Examples
    --------
    >>> space = RuleSpace.from_names(["p", "q"])
    >>> pool = RulePool(space, np.array([[1, 0], [0, -1]], dtype=np.int8), np.array([[5.0, 0], [4, 2]]))
    >>> for rule in pool.rules:
    ...     print(rule, rule.evidence[0].n_r, "of", rule.evidence[0].n_b)
    h :- p. 5.0 of 5.0
    h :- \\+ q. 4.0 of 6.0
    """

    space: RuleSpace
    bodies: Codes  #: [rules, m]
    counts: Floats  #: positives and negatives that each body covers, [rules, 2]
    identity: bool = False  #: whether its variables stand for different constants

    @classmethod
    def of(cls, sample: CrispSample, bodies: Codes, form: Form, *, identity: bool = False) -> RulePool:
        """Well-formed bodies among these, [bodies, m], and those one literal shorter, counted on a sample.

        Where time is short, the shortest of them.
        """
        bodies = with_shorter(bodies)
        if time_left().left == math.inf:
            bodies = bodies[form.admits(bodies)]
            return cls(sample.space, bodies, sample.body_counts(bodies), identity)
        counts, counted = np.zeros((len(bodies), 2)), np.zeros(len(bodies), dtype=np.bool_)
        order = np.argsort(np.count_nonzero(bodies, axis=1), kind="stable")
        with stage("pooling rules"):  # the shortest bodies first, so that what is left out says least
            for begin, end in blocks_of(np.full(len(order), max(sample.literals.shape)), _BLOCK):
                check()
                some = order[begin:end]
                some = some[form.admits(bodies[some])]
                counts[some] = sample.body_counts(bodies[some])
                counted[some] = True
        return cls(sample.space, bodies[counted], counts[counted], identity)

    def __len__(self) -> int:
        return len(self.bodies)

    @cached_property
    def rules(self) -> Program:
        """The rules with their evidence; rules that are equal but for names of variables come once."""
        found: dict[Rule, Rule] = {}
        for rule, counts in zip(self.space.program(self.bodies), self.counts, strict=True):
            tidy = (with_inequalities(rule) if self.identity else rule).tidy()
            found.setdefault(tidy, with_counts(tidy, counts))
        return Program(tuple(found.values()))

    def order(self, totals: Floats) -> NDArray[np.intp]:
        """Those first that describe the labels shortest, each alone; `totals` are all labels, [2]."""
        sizes = np.count_nonzero(self.bodies, axis=1)
        lengths = description_length(self.counts, totals, sizes, 1, m=self.space.m)
        return np.argsort(lengths, kind="stable")

    def nearest(self, totals: Floats) -> NDArray[np.intp]:
        """Those first whose mistakes are told most shortly, however many literals they have."""
        lengths = description_length(self.counts, totals, 0, 0, m=self.space.m)
        return np.lexsort((np.count_nonzero(self.bodies, axis=1), np.round(lengths, 9)))

    def leading(self, totals: Floats, most: int) -> RulePool:
        """So many rules at the most: the first of the pool, and as many of those with the fewest mistakes."""
        places = dict.fromkeys(
            [*range(min(most // 2, len(self))), *self.nearest(totals)[: most // 2].tolist()]
        )
        chosen = sorted(places)
        return replace(self, bodies=self.bodies[chosen], counts=self.counts[chosen])

    def by_length(self, totals: Floats) -> RulePool:
        """The rules that cover a positive, in this order."""
        order = self.order(totals)
        order = order[self.counts[order, 0] > 0]
        return replace(self, bodies=self.bodies[order], counts=self.counts[order])

    def first(self, most: int) -> RulePool:
        """The best rules, so many at the most."""
        return replace(self, bodies=self.bodies[:most], counts=self.counts[:most])
