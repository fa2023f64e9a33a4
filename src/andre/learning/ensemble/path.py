"""Weighted rules of every size, how they fare, and the size to take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats
from andre.errors import DataError
from andre.evaluation import mean_area_under_curve
from andre.learning.ensemble.config import WeighingConfig
from andre.learning.ensemble.growth import Growing
from andre.learning.ensemble.likelihood import Labels, base_weights, log_probabilities, shrinkage
from andre.learning.ensemble.model import WeightedRules, costs_of, lowest_shares
from andre.learning.ensemble.plainer import plainer
from andre.learning.ensemble.rule_sets import Rows, RuleSet
from andre.learning.ensemble.search import Body, bodies_of, codes_of
from andre.learning.ensemble.validation import Validation
from andre.limits import limited, stage, time_left, unhurried
from andre.logic import counted
from andre.samples import BinnedTable, Codes, RuleSpace

#: Of the loss that rules explain, a share that is too little to have more of them.
_LITTLE = 0.01
#: The share of the rules of a given program that must be found again without some of the rows.
_STABLE = 0.8
#: Folds whose rules are taken together at the least: of fewer the mean is no better than rules of all rows.
_AVERAGED = 3
#: Standard errors by which rules must be better than none, in loss or in what decisions cost on rows that
#: they were learned without: a test at five percent.
_SURELY = 1.645
#: Probabilities below this count as this in a loss.
_TINY = 1e-15


@dataclass(frozen=True)
class Fit:
    """How probabilities fit labels."""

    loss: float  #: mean of minus the logarithm of the probability of the true class
    accuracy: float
    auc: float  #: area under the curve; of more than two classes, the mean of each against the others

    @classmethod
    def of(cls, rules: WeightedRules, scores: Floats, labels: Labels) -> Fit:
        """Judge scores, [rows, outputs], and the decisions that rules make of them."""
        said = rules.probabilities(scores)
        right = rules.decide(said) == labels.classes
        losses = -np.log(np.maximum(said[np.arange(len(said)), labels.classes], _TINY))
        return cls(
            loss=float(labels.weights @ losses / labels.total),
            accuracy=float(labels.weights @ right / labels.total),
            auc=mean_area_under_curve(said, labels.classes, labels.weights),
        )


@dataclass(frozen=True, eq=False)
class PathStep:
    """Weighted rules of one size, and how they fare."""

    rules: WeightedRules
    train: Fit
    validation: Fit | None = None  #: on rows that rules of this size were learned without
    excess: float = 0.0  #: by how much the validated loss is above the least one
    #: The standard error of this excess, or what is too little to matter if that is more; of the rules of a
    #: given program the latter.
    error: float = 0.0
    beats_none: bool = True  #: whether it surely has less validated loss, or cost of decisions, than no rule
    shrinkage: float = 1.0  #: the factor that calibrates its scores on rows they were learned without

    @property
    def n_rules(self) -> int:
        """The number of rules."""
        return len(self.rules.codes)

    @property
    def within_error(self) -> bool:
        """Whether the validated loss is within one standard error of the least."""
        return self.excess <= self.error

    def __repr__(self) -> str:
        judged = [("train", self.train), ("validation", self.validation)]
        scores = ", ".join(f"accuracy {one.accuracy:.4f} ({name})" for name, one in judged if one)
        return f"PathStep({counted(self.n_rules, 'rule')}, {scores})"


@dataclass(frozen=True, eq=False)
class RulePath:
    """The best weighted rules found of each size, from none, and those that are taken."""

    steps: tuple[PathStep, ...]
    chosen: PathStep
    penalty: float  #: on the squares of weights of the steps, as validation chose it
    crisp: PathStep | None = None  #: the rules of a given program, with weights
    #: The rules of all folds together, each with the mean of its weights, where the best rules are asked for;
    #: validated is what each fold's own rules say of the rows that they were learned without.
    averaged: PathStep | None = None

    @property
    def rules(self) -> WeightedRules:
        """The weighted rules that are taken."""
        return self.chosen.rules

    def __repr__(self) -> str:
        most = max((step.n_rules for step in self.steps), default=0)
        return f"RulePath(up to {counted(most, 'rule')}, taken: {self.chosen!r})"


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """What weighted rules are learned from."""

    space: RuleSpace
    bins: BinnedTable
    labels: Labels
    classes: tuple[Any, ...]  #: what the numbered classes are called

    def __post_init__(self) -> None:
        if self.bins.m != self.space.m:
            raise DataError(f"the columns have {self.bins.m} atoms, and the space has {self.space.m}")
        if self.bins.n_rows != len(self.labels.classes):
            raise DataError(f"there are {len(self.labels.classes)} labels for {self.bins.n_rows} rows")
        if len(self.classes) != self.labels.n_classes:
            raise DataError(f"there are {len(self.classes)} names for {self.labels.n_classes} classes")
        if np.count_nonzero(self.labels.totals) < 2:
            raise DataError("all rows are of one class, so there is nothing to tell apart: add other rows")

    @classmethod
    def of(
        cls, space: RuleSpace, bins: BinnedTable, labels: NDArray[Any], weights: Floats | None = None
    ) -> LabelledTable:
        """A table from the labels of its rows, any values, [rows]; the classes are in sorted order."""
        names, numbers = np.unique(labels, return_inverse=True)
        weight = np.ones(len(labels)) if weights is None else weights
        return cls(space, bins, Labels(numbers.ravel(), weight, len(names)), tuple(names.tolist()))


@dataclass(frozen=True, eq=False)
class Proposals:
    """What other searches came to, such as runs of gradient descent: bodies to consider, and programs."""

    pool: Codes | None = None  #: bodies that compete with those that are searched for, [bodies, m]
    programs: Sequence[Codes] = ()  #: one program for each score, [rules, m] each; none are given, or all


def learn_weighted_rules(
    table: LabelledTable, config: WeighingConfig | None = None, proposals: Proposals | None = None
) -> RulePath:
    """Learn sets of 0, 1, 2, ... weighted rules, validate them, and choose one.

    The smallest set is taken whose validated loss is within one standard error
    of the least, the error being that of the difference of both, or within one
    percent of what rules explain at all. Rules have fewer literals than they may
    have where that lowers the validated loss. The rules of a given program, which were
    chosen on all rows, are taken instead where each is found again without the rows
    of any fold, and their loss, by weights learned without these rows, is not above the least by
    more than that percent.

    Where what is taken is not surely better than no rule, no rule is. Weights that are too sure on rows they
    were learned without are shrunk.

    Where the best are asked for (`WeighingConfig.size`), the rules of all folds are taken together, each
    with the mean of its weights: as many of each fold as there may be, and as are within one standard error
    of the best. On few rows rules vary from fold to fold, and their mean predicts better than any of them.

    Examples
    --------
    >>> from andre.samples import BinnedColumn
    >>> bins = np.random.default_rng(0).integers(0, 4, (2, 300)).astype(np.int16)
    >>> columns = tuple(BinnedColumn(name, True, 3, own) for name, own in zip("ab", bins, strict=True))
    >>> space = RuleSpace.from_names(["a1", "a2", "a3", "b1", "b2", "b3"])
    >>> labels = np.where((bins[0] > 1) & (bins[1] < 2), "yes", "no")
    >>> path = learn_weighted_rules(LabelledTable.of(space, BinnedTable(columns), labels))
    >>> print(path.rules.program())
    h :- a2, \\+ b2.
    """
    return RuleWeighing(table, config or WeighingConfig()).path(proposals)


@dataclass(frozen=True, eq=False)
class RuleWeighing:
    """Learns weighted rules from one table, as `learn_weighted_rules` does, with proposals or without.

    Validation takes most of the time, and needs no proposals: it is done once.
    """

    table: LabelledTable
    config: WeighingConfig

    @cached_property
    def _parts(self) -> tuple[Rows, Rows, Validation]:
        """All rows, those that rules are searched for on, and what is found without some of them."""
        rng, config = np.random.default_rng(self.config.seed), self.config
        rows = Rows(self.table.bins, self.table.labels)
        most = config.most_rows(len(rows.bins.columns))
        if rows.bins.n_rows <= most:
            rows = rows.merged()
        sample = rows.drawn(most, rng)
        with limited(time_left().share(0.6)) as watch:
            validation = Validation.run(rows, config, rng)  # proposals come from all rows: it does without
        if watch.cut and min((len(fold.sets) for fold in validation.folds), default=1) == 1:
            validation = Validation((), validation.search)  # there was no time to judge even one rule
        return rows, sample, validation

    @cached_property
    def sets(self) -> list[RuleSet]:
        """Rule sets of growing size, none first, without any proposals."""
        return self._grown(())

    def _grown(self, pool: Sequence[Body]) -> list[RuleSet]:
        _, sample, validation = self._parts
        most = validation.largest if validation.folds else self.config.max_rules
        return Growing(sample, validation.search, most, pool).upto(most)

    def path(self, proposals: Proposals | None = None) -> RulePath:
        """Grow on all rows, and choose by what is found on parts of them."""
        config, proposals = self.config, proposals or Proposals()
        rows, sample, validation = self._parts
        search = validation.search
        pool = () if proposals.pool is None else _short(proposals.pool, search.max_literals)
        sets = self._grown(pool) if pool else self.sets
        given = _given(proposals, sample)
        penalty = own = search.penalty
        if validation.folds:
            with stage("weighing rules"):
                penalty = validation.best_penalty()
                own = validation.best_penalty(given) if given is not None else penalty
        with unhurried():
            sets = [one if one.penalty == penalty else sample.fitted(one, penalty) for one in sets]
            steps = [self._step(one, sample) for one in sets]
            crisp = None
            if given is not None:
                given = sample.fitted(given, own)
                crisp = self._step(given, sample)
            sure, averaged = True, None
            if validation.folds:
                scores = [validation.scores(size, penalty) for size in range(len(sets))]
                held_out = _HeldOut.of(validation, scores)
                steps = [held_out.judged(step, each) for step, each in zip(steps, scores, strict=True)]
                if crisp is not None and given is not None:
                    crisp = held_out.judged(crisp, validation.scores_of(given, given.penalty), given=True)
                    # It was chosen on the rows held out, too, so that it cannot be told to be the best.
                    sure = not config.takes_best and crisp.within_error
                    sure = sure and validation.stability(given, sample, config) >= _STABLE
                if config.takes_best and len(validation.folds) >= _AVERAGED:
                    averaged = self._averaged(held_out, sample)
            chosen = self._choose(steps, crisp if sure else None, averaged, validated=bool(validation.folds))
            if chosen is not averaged:  # the mean of many weights is not too sure
                whole = given if chosen is crisp and given is not None else sets[steps.index(chosen)]
                if sample is not rows:  # rules are of some rows; their weights of all
                    whole = rows.fitted(whole, whole.penalty)
                if sample is not rows or chosen.shrinkage < 1:
                    again = self._step(whole.shrunk(chosen.shrinkage, base_weights(rows.labels)), rows)
                    chosen = replace(chosen, rules=again.rules, train=again.train)
            return RulePath(tuple(steps), chosen, penalty, crisp, averaged)

    def _averaged(self, held_out: _HeldOut, rows: Rows) -> PathStep | None:
        """The rules of all folds together: of the largest sets that are near the best, and not too many."""
        validation = held_out.validation
        for size in range(validation.largest, 0, -1):
            rules = validation.averaged(size)
            if len(rules.bodies) <= self.config.max_rules:
                step = held_out.judged(self._step(rules, rows), validation.scores(size, validation.penalty))
                if step.within_error:
                    return step
        return None

    def _step(self, rules: RuleSet, rows: Rows) -> PathStep:
        """Rules with their evidence, and how they fit the rows that they were learned from."""
        labels, n_outputs = rows.labels, rows.labels.n_outputs
        loss = rows.loss(rules)
        scores = loss.scores(rules.weights)
        own = labels.classes == (loss.owners + labels.n_classes - n_outputs)[:, None]  # [rules, rows]
        made = WeightedRules(
            space=self.table.space,
            classes=self.table.classes,
            codes=codes_of(rules.bodies, self.table.space.m),
            owners=rules.owners,
            weights=rules.weights[n_outputs:],
            bases=rules.weights[:n_outputs],
            evidence=np.stack((loss.covers @ labels.weights, (loss.covers & own) @ labels.weights), axis=1),
            costs=costs_of(self.config.objective, self.table.classes, self.table.labels),
            floors=lowest_shares(np.exp(log_probabilities(scores)), labels),
        )
        return PathStep(made, Fit.of(made, scores, labels))

    def _choose(
        self,
        steps: Sequence[PathStep],
        crisp: PathStep | None,
        averaged: PathStep | None,
        *,
        validated: bool,
    ) -> PathStep:
        """The given program where that is to be taken, else the smallest set that is near the best.

        Where the best is asked for, that is the rules of all folds together, else the best size. What is not
        surely better than no rule is not taken.
        """
        labels = self.table.labels
        least = labels.totals.max() / labels.total if self.config.objective == "accuracy" else 0.0
        fair = [step for step in steps if step.train.accuracy >= least - 1e-12]
        near = [step for step in fair if step.within_error and not self.config.takes_best]
        if crisp is not None and crisp.train.accuracy >= least:
            chosen = crisp
        elif not validated:
            chosen = fair[-1]
        elif averaged is not None and averaged.train.accuracy >= least - 1e-12:
            chosen = averaged
        else:
            chosen = near[0] if near else min(fair, key=lambda step: step.excess)
        return chosen if chosen.beats_none else steps[0]


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """The rows held out, and what rules are measured against on them."""

    validation: Validation
    least: Floats  #: the losses of the best rules, [rows]
    none: Floats  #: the scores without any rule, [rows, outputs]

    @classmethod
    def of(cls, validation: Validation, scores: Sequence[Floats]) -> _HeldOut:
        """The rows held out, from the scores of rule sets of every size, none first."""
        losses = (validation.labels.losses(each) for each in scores)
        return cls(validation, min(losses, key=validation.mean), scores[0])

    def judged(self, step: PathStep, scores: Floats, *, given: bool = False) -> PathStep:
        """The step with its fit to the rows held out, from its scores of them, and what follows from that.

        Rules that are given were chosen on these rows, too, and get no allowance for chance.
        """
        labels = self.validation.labels
        losses, costs = self._harm(step.rules, scores)
        excess, error = self._mean(losses - self.least)
        shares = labels.totals[labels.totals > 0] / labels.total
        unexplained = float(-shares @ np.log(shares))  # nats of a row without any rule
        little = _LITTLE * max(0.0, unexplained - self.validation.mean(self.least))
        losses_of_none, costs_of_none = self._harm(step.rules, self.none)
        gains = map(self._mean, (losses_of_none - losses, costs_of_none - costs))
        return replace(
            step,
            validation=Fit.of(step.rules, scores, labels),
            excess=excess,
            error=little if given else max(error, little),
            beats_none=any(gain > _SURELY * chance for gain, chance in gains),
            shrinkage=shrinkage(labels, scores),
        )

    def _harm(self, rules: WeightedRules, scores: Floats) -> tuple[Floats, Floats]:
        """The loss by scores, and the cost of what they make rules decide, [rows] each."""
        labels = self.validation.labels
        decided = rules.decide(np.exp(log_probabilities(scores)))
        return labels.losses(scores), rules.costs[labels.classes, decided]

    def _mean(self, values: Floats) -> tuple[float, float]:
        """The weighted mean of values, [rows], and its standard error."""
        labels, mean = self.validation.labels, self.validation.mean(values)
        spread = labels.weights**2 / labels.counts  # rows that one stands for share its weight
        return mean, float(np.sqrt(spread @ (values - mean) ** 2)) / labels.total


def _short(codes: Codes, longest: int) -> tuple[Body, ...]:
    """The distinct bodies of so many literals at the most."""
    return tuple(body for body in dict.fromkeys(bodies_of(codes)) if 0 < len(body) <= longest)


def _given(proposals: Proposals, rows: Rows) -> RuleSet | None:
    """The rules of the given programs, without weights yet."""
    programs = [plainer(codes, rows.bins) for codes in proposals.programs]
    if not any(map(len, programs)):
        return None
    if len(programs) != rows.labels.n_outputs:
        raise DataError(
            f"there are {len(programs)} programs for {rows.labels.n_outputs} scores: give one each"
        )
    owners = np.repeat(np.arange(len(programs)), [len(codes) for codes in programs])
    bodies = tuple(bodies_of(np.concatenate(programs)))
    weights = np.append(base_weights(rows.labels), np.zeros(len(bodies)))
    return RuleSet(bodies, owners, weights, np.nan, np.nan)
