"""What weighted rules say of rows that they were learned without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats
from andre.learning.ensemble.config import WeighingConfig
from andre.learning.ensemble.growth import Growing, Growth
from andre.learning.ensemble.likelihood import Labels
from andre.learning.ensemble.rule_sets import Rows, RuleSet, drawn_places
from andre.learning.ensemble.search import Body, SearchConfig
from andre.limits import check, stage

#: Penalties on the squares of weights that validation chooses among.
_PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
#: Rule sets up to this size decide by which search rules are found.
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
    places: NDArray[np.intp]  #: of the rows held out, among all rows


@dataclass(frozen=True, eq=False)
class _Part:
    """Rows to learn from, rows held out, and the rule sets that grow on the former by each search."""

    train: Rows
    held_out: Rows
    places: NDArray[np.intp]  #: of the rows held out, among all rows
    most: int  #: rules of a set
    started: dict[SearchConfig, Growing] = field(default_factory=dict)

    def fold(self, search: SearchConfig, size: int) -> Fold:
        """Rule sets of up to so many rules."""
        if search not in self.started:
            self.started[search] = Growing(self.train, search, self.most)
        return Fold(self.started[search].upto(size), self.train, self.held_out, self.places)


@dataclass(frozen=True, eq=False)
class Validation:
    """Held-out rows of all folds, and what rule sets of each size say of them."""

    folds: tuple[Fold, ...]
    search: SearchConfig  #: by which rules were found
    rounds: int = 1  #: in each of which the folds hold out all rows, or some

    @classmethod
    def run(cls, rows: Rows, config: WeighingConfig, rng: np.random.Generator) -> Validation:
        """Grow rule sets without one part of the rows after another, as long as there is time.

        Small sets are grown with one penalty after another, then of shorter and shorter bodies, as long
        as their loss on rows held out falls; what has the least loss goes on. On few rows, rules of one
        literal often tell more of others than longer ones, which fit chance.
        """
        parts: list[_Part] = []
        most = config.most_rows(len(rows.bins.columns))
        with stage("validating weighted rules"):
            for _ in range(config.rounds_for(rows.labels)):
                for held_out in _parts(rows.labels, config, rng):
                    check()
                    own, other = (rows.part(shares) for shares in (1 - held_out, held_out))
                    own, chosen = own.drawn(most, rng), drawn_places(other.bins.n_rows, most, rng)
                    places = np.flatnonzero(held_out)[chosen]
                    parts.append(_Part(own, other.take(chosen), places, config.max_rules))
        longest = config.max_literals
        if not parts:
            return cls((), config.search(config.penalties[0]))
        pilot = min(_PILOT, config.max_rules)

        @cache
        def least_loss(search: SearchConfig) -> float:
            grown = cls._grown(parts, search, pilot)
            return grown.loss(grown.scores(grown.best_size, search.penalty))

        def penalty_for(literals: int, start: float) -> float:
            return descend(config.penalties, lambda each: least_loss(config.search(each, literals)), start)

        penalty = penalty_for(longest, config.penalties[0])
        lengths = range(1, longest + 1)
        literals = descend(lengths, lambda each: least_loss(config.search(penalty, each)), start=longest)
        if literals < longest:
            penalty = penalty_for(literals, penalty)
        grown = cls._grown(parts, config.search(penalty, literals), config.max_rules)
        return replace(grown, rounds=config.rounds_for(rows.labels))

    @classmethod
    def _grown(cls, parts: Sequence[_Part], search: SearchConfig, most: int) -> Validation:
        """Rule sets of up to so many rules, fewer where the loss on rows held out does not fall any more."""
        least, best = np.inf, 0
        for size in range(most + 1):
            grown = cls(tuple(part.fold(search, size) for part in parts), search)
            if grown.largest < size:
                break
            loss = grown.loss(grown.scores(size, search.penalty))
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
        return self.search.penalty

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

    @property
    def first_round(self) -> tuple[Fold, ...]:
        """The folds of the first round."""
        return self.folds[: -(-len(self.folds) // self.rounds)]

    def averaged(self, size: int) -> RuleSet:
        """The rules of the first folds' sets of one size together, the weight of each being its mean.

        These are the folds of one round: those of a second would double the rules for no better predictions.

        Scores are then the means of those of the folds, so that by Jensen's inequality the loss on any row
        is at most the mean of theirs.
        """
        sets = [fold.sets[min(size, len(fold.sets) - 1)] for fold in self.first_round]
        n_outputs = self.labels.n_outputs
        weights: dict[tuple[Body, int], float] = {}
        for each in sets:
            own = zip(each.bodies, each.owners.tolist(), strict=True)
            for pair, weight in zip(own, each.weights[n_outputs:].tolist(), strict=True):
                weights[pair] = weights.get(pair, 0.0) + weight / len(sets)
        pairs = sorted(weights, key=lambda pair: -abs(weights[pair]))
        bases = np.mean([each.weights[:n_outputs] for each in sets], axis=0)
        return RuleSet(
            tuple(body for body, _ in pairs),
            np.array([owner for _, owner in pairs], dtype=np.intp),
            np.append(bases, [weights[pair] for pair in pairs]),
            np.nan,
            self.penalty,
        )

    def stability(self, rules: RuleSet, rows: Rows, config: WeighingConfig) -> float:
        """The share of rules, chosen on all rows, that are found again without the held-out rows of a fold.

        Each is looked for again given the others. One counts as found, too, if it is what looking for
        rules again on all rows comes to: weights that add up may want another rule than a program does.
        """
        search = config.search(self.penalty, max(config.max_literals, *map(len, rules.bodies)))
        known = rules.pairs | Growth(rows, search).looked_for_again(rules).pairs
        found = [len(Growth(fold.train, search).looked_for_again(rules).pairs & known) for fold in self.folds]
        return sum(found) / (len(rules.bodies) * len(found))

    def error(self, losses: Floats) -> float:
        """The standard error of this mean: over rows, each with the mean of its losses over rounds."""
        off = self.labels.weights * (losses - self.mean(losses))
        places = np.concatenate([fold.places for fold in self.folds])
        row, copies = (np.bincount(places, part) for part in (off, self.labels.counts))
        # Rows that one stands for share its weight; in each round they are counted again.
        seen = copies > 0
        return float(np.sqrt((row[seen] ** 2 / copies[seen]).sum() * self.rounds)) / self.labels.total

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

Value = TypeVar("Value", int, float)


def descend(values: Sequence[Value], loss: Callable[[Value], float], start: Value | None = None) -> Value:
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
