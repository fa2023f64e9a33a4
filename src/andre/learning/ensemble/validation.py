"""What weighted rules say of rows that they were learned without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from andre.arrays import Floats
from andre.learning.ensemble.config import WeighingConfig
from andre.learning.ensemble.growth import Growing
from andre.learning.ensemble.likelihood import Labels
from andre.learning.ensemble.rule_sets import Rows, RuleSet
from andre.limits import check, stage

#: Penalties on the squares of weights that validation chooses among.
_PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
#: Rule sets up to this size decide with which penalty rules are searched for.
_PILOT = 10
#: Rule sets grow until the loss on rows held out has not fallen for so many sizes, and for half of the best
#: size, which takes them past the next refinement of all rules.
_PATIENCE = 4


@dataclass(frozen=True, eq=False)
class Fold:
    """Rule sets of growing size, the rows that they were learned from, and other rows."""

    sets: list[RuleSet]
    train: Rows
    held_out: Rows


@dataclass(frozen=True, eq=False)
class _Part:
    """Rows to learn from, rows held out, and the rule sets that grow on the former with each penalty."""

    train: Rows
    held_out: Rows
    config: WeighingConfig
    started: dict[float, Growing] = field(default_factory=dict)

    def fold(self, penalty: float, size: int) -> Fold:
        """Rule sets of up to so many rules."""
        if penalty not in self.started:
            self.started[penalty] = Growing(self.train, self.config.search(penalty), self.config.max_rules)
        return Fold(self.started[penalty].upto(size), self.train, self.held_out)


@dataclass(frozen=True, eq=False)
class Validation:
    """Held-out rows of all folds, and what rule sets of each size say of them."""

    folds: tuple[Fold, ...]

    @classmethod
    def run(cls, rows: Rows, config: WeighingConfig, rng: np.random.Generator) -> Validation:
        """Grow rule sets without one part of the rows after another, as long as there is time.

        Small sets are grown with one penalty after another, as long as their loss on rows held out falls;
        the one with the least loss goes on.
        """
        parts: list[_Part] = []
        most = config.most_rows(len(rows.bins.columns))
        with stage("validating weighted rules"):
            for held_out in _parts(rows.labels, config, rng):
                check()
                own, other = (rows.part(shares).drawn(most, rng) for shares in (1 - held_out, held_out))
                parts.append(_Part(own, other, config))
        if not parts:
            return cls(())
        pilot = min(_PILOT, config.max_rules)

        def least_loss(penalty: float) -> float:
            grown = cls._grown(parts, penalty, pilot)
            return grown.loss(grown.scores(grown.best_size, penalty))

        best = descend(config.penalties, least_loss)
        return cls._grown(parts, best, config.max_rules)

    @classmethod
    def _grown(cls, parts: Sequence[_Part], penalty: float, most: int) -> Validation:
        """Rule sets of up to so many rules, fewer where the loss on rows held out does not fall any more."""
        least, best = np.inf, 0
        for size in range(most + 1):
            grown = cls(tuple(part.fold(penalty, size) for part in parts))
            if grown.largest < size:
                break
            loss = grown.loss(grown.scores(size, penalty))
            if loss < least:
                least, best = loss, size
            elif size - best >= max(_PATIENCE, best / 2):
                break
        return grown

    @property
    def largest(self) -> int:
        """The most rules of a set of any fold."""
        return max(len(fold.sets) for fold in self.folds) - 1

    @property
    def penalty(self) -> float:
        """The penalty on the squares of weights with which rules were searched for."""
        return self.folds[0].sets[0].penalty

    @cached_property
    def labels(self) -> Labels:
        """The labels of all held-out rows."""
        parts = [fold.held_out.labels for fold in self.folds]
        classes = np.concatenate([part.classes for part in parts])
        weights, copies = (np.concatenate([getattr(part, name) for part in parts]) for name in _FIELDS)
        return Labels(classes, weights, parts[0].n_classes, copies)

    def scores(self, size: int, penalty: float) -> Floats:
        """The scores of all held-out rows by rules of one size, or of the largest below it."""
        return self._scores([fold.sets[min(size, len(fold.sets) - 1)] for fold in self.folds], penalty)

    def scores_of(self, rules: RuleSet, penalty: float) -> Floats:
        """The scores of all held-out rows by the same rules, whose weights alone are learned without them."""
        return self._scores([rules] * len(self.folds), penalty, again=True)

    def _scores(self, sets: list[RuleSet], penalty: float, *, again: bool = False) -> Floats:
        found = []
        for fold, rules in zip(self.folds, sets, strict=True):
            known = rules.penalty == penalty and not again
            found.append(fold.held_out.scores(rules if known else fold.train.fitted(rules, penalty)))
        return np.concatenate(found)

    def mean(self, losses: Floats) -> float:
        """The weighted mean over the held-out rows."""
        return float(self.labels.weights @ losses / self.labels.total)

    def loss(self, scores: Floats) -> float:
        """The mean loss on the held-out rows."""
        return self.mean(self.labels.losses(scores))

    @cached_property
    def best_size(self) -> int:
        """The number of rules with the least loss, by the weights that they were grown with."""
        return min(range(self.largest + 1), key=lambda size: self.loss(self.scores(size, self.penalty)))

    def best_penalty(self, rules: RuleSet | None = None) -> float:
        """The penalty on squares of weights with the least loss, for some rules or those of the best size."""

        def loss(penalty: float) -> float:
            if rules is None:
                return self.loss(self.scores(self.best_size, penalty))
            return self.loss(self.scores_of(rules, penalty))

        return descend(sorted({self.penalty, *_PENALTIES}), loss, start=self.penalty)


_FIELDS = ("weights", "counts")


def descend(values: Sequence[float], loss: Callable[[float], float], start: float | None = None) -> float:
    """The value with the least loss, where losses fall towards it from both sides.

    Parameters
    ----------
    values
        In ascending order.
    start
        One of them to begin from, by default the first.

    Examples
    --------
    >>> descend([1.0, 2.0, 3.0, 4.0], lambda value: (value - 3) ** 2, start=4.0)
    3.0
    """
    first = at = 0 if start is None else values.index(start)
    least = loss(values[at])
    for step in (-1, 1):
        while 0 <= at + step < len(values) and (tried := loss(values[at + step])) < least:
            at, least = at + step, tried
        if at != first:  # on the other side losses rise
            break
    return values[at]


def _parts(labels: Labels, config: WeighingConfig, rng: np.random.Generator) -> Iterator[Floats]:
    """The share of each row that is held out, [rows], in one fold after another; of each class about as much.

    A row that stands for five is dealt out to the folds like five rows.
    """
    n, counts = len(labels.classes), np.rint(labels.counts).astype(np.int64)
    shuffled = rng.permutation(n)
    order = shuffled[np.argsort(labels.classes[shuffled], kind="stable")]
    first = np.empty(n, dtype=np.int64)
    first[order] = np.cumsum(counts[order]) - counts[order]
    used = int(np.clip(np.ceil(config.validated_rows / max(n, 1)), 1, config.folds))
    for fold in range(used):
        dealt = counts // config.folds + ((fold - first) % config.folds < counts % config.folds)
        learned = replace(labels, weights=labels.weights * (dealt < counts))
        if dealt.any() and np.count_nonzero(learned.totals) > 1:
            yield dealt / counts
