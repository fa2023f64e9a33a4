"""What weighted rules say of rows that they were learned without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats
from andre.learning.ensemble.config import WeighingConfig
from andre.learning.ensemble.likelihood import Labels
from andre.learning.ensemble.rule_sets import Rows, RuleSet
from andre.limits import check, stage

#: Penalties on the squares of weights that validation chooses among.
_PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


@dataclass(frozen=True, eq=False)
class Fold:
    """Rule sets of growing size, the rows that they were learned from, and other rows."""

    sets: list[RuleSet]
    train: Rows
    held_out: Rows


@dataclass(frozen=True, eq=False)
class Validation:
    """Held-out rows of all folds, and what rule sets of each size say of them."""

    folds: tuple[Fold, ...]

    @classmethod
    def run(
        cls,
        rows: Rows,
        grow: Callable[[Rows], list[RuleSet]],
        config: WeighingConfig,
        rng: np.random.Generator,
    ) -> Validation:
        """Grow rule sets without one part of the rows after another, as long as there is time.

        Parameters
        ----------
        grow
            Gives rule sets of growing size from rows.
        """
        folds = []
        most = config.most_rows(len(rows.bins.columns))
        with stage("validating weighted rules"):
            for train, held_out in _parts(rows.labels, config, rng):
                check()
                own = rows.take(train).drawn(most, rng)
                folds.append(Fold(grow(own), own, rows.take(held_out).drawn(most, rng)))
        return cls(tuple(folds))

    @cached_property
    def labels(self) -> Labels:
        """The labels of all held-out rows."""
        parts = [fold.held_out.labels for fold in self.folds]
        classes, weights = (np.concatenate([getattr(part, name) for part in parts]) for name in _FIELDS)
        return Labels(classes, weights, parts[0].n_classes)

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

    def best_penalty(self, known: float) -> float:
        """The penalty on weights with the least loss, for rules of the size that is best by a known one."""
        sizes = range(max(len(fold.sets) for fold in self.folds))
        size = min(sizes, key=lambda one: self.loss(self.scores(one, known)))
        return min((known, *_PENALTIES), key=lambda penalty: self.loss(self.scores(size, penalty)))


_FIELDS = ("classes", "weights")


def _parts(
    labels: Labels, config: WeighingConfig, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows to learn from and rows to hold out, of each class about as many in every part."""
    n = len(labels.classes)
    shuffled = rng.permutation(n)
    part = np.empty(n, dtype=np.intp)
    part[shuffled[np.argsort(labels.classes[shuffled], kind="stable")]] = np.arange(n) % config.folds
    used = int(np.clip(np.ceil(config.validated_rows / max(n, 1)), 1, config.folds))
    for fold in range(used):
        train, held_out = np.flatnonzero(part != fold), np.flatnonzero(part == fold)
        if len(held_out) and np.count_nonzero(labels.take(train).totals) > 1:
            yield train, held_out
