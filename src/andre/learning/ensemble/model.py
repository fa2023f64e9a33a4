"""Rules with weights: probabilities of classes, and decisions by what mistakes cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools, Floats
from andre.errors import ConfigError
from andre.evaluation import covers
from andre.learning.ensemble.likelihood import Labels, log_probabilities
from andre.logic import Evidence, Program, counted
from andre.samples import BinnedTable, Codes, RuleSpace

#: What decisions are to maximise: accuracy, balanced accuracy, or the least cost, by what a mistake costs
#: on a row of each class.
Objective: TypeAlias = Literal["accuracy", "balanced"] | Mapping[Any, float]

#: Rows that evidence is taken to have more than it has, so that no share is 0: as many as Jeffreys' prior
#: gives to one class. With one or two, the log-loss on rows that rules were learned without gets worse.
_ADDED = 0.5
#: A share of a floor that is rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class WeightedRules:
    """A base rate, and rules each of which adds its weight to the score of one class where it fires.

    Of two classes the second has a score and the first has 0. Probabilities are
    the softmax of the scores, but none is lower than the rows it was learned from bear out.

    Examples
    --------
    >>> space = RuleSpace.from_names(["young", "rich"], "buys")
    >>> codes = np.array([[1, 0], [-1, 1]], dtype=np.int8)
    >>> rules = WeightedRules(
    ...     space, ("no", "yes"), codes, np.array([0, 0]), np.array([2.0, -1.0]), np.array([0.0]),
    ...     evidence=np.array([[10.0, 9.0], [5.0, 1.0]]), costs=np.array([[0.0, 1.0], [1.0, 0.0]]),
    ... )
    >>> print(rules)
    base 0.5000
    +2.00  buys :- young.
    -1.00  buys :- rich, \\+ young.
    >>> literals = np.array([[1, 1, 0, 0], [0, 1, 1, 0]], dtype=bool)
    >>> rules.predict_proba(literals).round(2)
    array([[0.12, 0.88],
           [0.73, 0.27]])
    >>> rules.predict(literals)
    array(['yes', 'no'], dtype='<U3')
    """

    space: RuleSpace
    classes: tuple[Any, ...]
    codes: Codes  #: [rules, m]
    owners: NDArray[np.intp]  #: [rules], the score that a rule adds to
    weights: Floats  #: [rules]
    bases: Floats  #: [scores], of rows that no rule covers; one score for two classes
    evidence: Floats  #: [rules, 2], N_b and N_r: rows covered, and those among them of the rule's class
    costs: Floats  #: [classes, classes], of deciding on the second for a row of the first
    #: [classes], which the probability of a class is never below, as `lowest_shares` gives them.
    floors: Floats = field(default_factory=lambda: np.zeros(1))

    @property
    def n_literals(self) -> int:
        """The literals of all rules."""
        return int(np.count_nonzero(self.codes))

    def class_of(self, owner: int) -> Any:
        """The class whose score it is."""
        return self.classes[owner + 1 if len(self.classes) == 2 else owner]

    def program(self, owner: int = 0) -> Program:
        """The rules that add to one score, with their evidence."""
        chosen = self.owners == owner
        return Program(
            tuple(
                self.space.rule(code).with_evidence(Evidence("train", float(n_b), float(n_r)))
                for code, (n_b, n_r) in zip(self.codes[chosen], self.evidence[chosen], strict=True)
            )
        )

    def scores(self, rows: BinnedTable | Bools) -> Floats:
        """The scores of new rows, [rows, scores], from bins or from literals, [rows, 2m]."""
        fires = rows.covers(self.codes) if isinstance(rows, BinnedTable) else covers(rows, self.codes)
        return scores_of(fires, self.owners, self.weights, self.bases)

    def predict_proba(self, rows: BinnedTable | Bools) -> Floats:
        """The probability of every class on new rows, [rows, classes]."""
        return self.probabilities(self.scores(rows))

    def probabilities(self, scores: Floats) -> Floats:
        """The probability of every class, [rows, classes], from scores, [rows, scores].

        A class whose probability would fall below its floor has the floor, and the others share the rest
        in their proportions. Weights add up where rules overlap, and the sum may be surer than any
        evidence.
        """
        said = np.asarray(np.exp(log_probabilities(scores)))
        # Floors add up to 1 at the most, so that rounding alone could put all classes below theirs.
        low = said < self.floors * (1 - _ROUNDING)
        kept = np.where(low, 0.0, said)
        rest = 1 - np.where(low, self.floors, 0.0).sum(axis=1, keepdims=True)
        return np.where(low, self.floors, kept * (rest / kept.sum(axis=1, keepdims=True)))

    def predict(self, rows: BinnedTable | Bools) -> NDArray[Any]:
        """The class with the least expected cost on new rows, [rows]."""
        return np.asarray(self.classes)[self.decide(self.predict_proba(rows))]

    def decide(self, probabilities: Floats) -> NDArray[np.intp]:
        """The place of the class with the least expected cost, from probabilities, [rows]."""
        return np.asarray((probabilities @ self.costs).argmin(axis=1))

    def __repr__(self) -> str:
        return f"WeightedRules({counted(len(self.codes), 'rule')} for {len(self.classes)} classes)"

    def __str__(self) -> str:
        two = len(self.classes) == 2
        base = np.exp(log_probabilities(self.bases[None]))[0]
        rates = (
            f"{base[1]:.4f}"
            if two
            else ", ".join(f"{name} {rate:.4f}" for name, rate in zip(self.classes, base, strict=True))
        )
        lines = [f"base {rates}"]
        for code, owner, weight in zip(self.codes, self.owners, self.weights, strict=True):
            which = "" if two else f"{self.class_of(int(owner))}  "
            lines.append(f"{weight:+.2f}  {which}{self.space.rule(code)}")
        return "\n".join(lines)


def scores_of(fires: Bools, owners: NDArray[np.intp], weights: Floats, bases: Floats) -> Floats:
    """Scores from which rules fire, [rules, rows], to [rows, scores]."""
    found = np.tile(bases, (fires.shape[1], 1))
    for fired, owner, weight in zip(fires, owners, weights, strict=True):
        found[:, owner] += weight * fired
    return found


def lowest_shares(said: Floats, labels: Labels) -> Floats:
    """The least share of each class that training rows bear out, [classes].

    Rows are ordered by how probable a class is said to be, [rows, classes]. Of the N least probable
    rows, for any N, R are of the class all the same: with half a row more, of which the class has its
    share q of all rows, that makes (R + q / 2) / (N + 1 / 2), and the least of these over all N is taken.

    Examples
    --------
    >>> labels = Labels(np.array([0, 0, 0, 1, 1, 1]), np.ones(6), 2)
    >>> said = np.array([[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3)
    >>> lowest_shares(said, labels)
    array([0.07142857, 0.07142857])
    """
    shares = labels.totals / labels.total
    floors = np.empty(len(shares))
    for place, share in enumerate(shares.tolist()):
        chance = said[:, place].round(12)
        order = np.argsort(chance, kind="stable")
        mass = labels.weights[order]
        seen = np.cumsum(mass)
        own = np.cumsum(mass * (labels.classes[order] == place))
        last = np.append(np.diff(chance[order]) > 0, True)  # rows that are as probable count together
        floors[place] = ((own + _ADDED * share) / (seen + _ADDED))[last].min()
    return floors


def costs_of(objective: Objective, classes: tuple[Any, ...], labels: Labels) -> Floats:
    """What deciding on a class costs for a row of another, [true, decided].

    Examples
    --------
    >>> labels = Labels(np.array([0, 0, 0, 1]), np.ones(4), 2)
    >>> costs_of("balanced", ("no", "yes"), labels).round(2)
    array([[0.  , 0.67],
           [2.  , 0.  ]])
    >>> costs_of({"yes": 5}, ("no", "yes"), labels)
    array([[0., 1.],
           [5., 0.]])
    """
    price = np.ones(len(classes))
    if isinstance(objective, Mapping):
        unknown = [name for name in objective if name not in classes]
        if unknown:
            names = ", ".join(map(str, classes))
            raise ConfigError(
                f"objective has a cost for {unknown[0]!r}, which is none of the classes {names}"
            )
        price = np.array([float(objective.get(name, 1.0)) for name in classes])
        if not (price > 0).all():
            raise ConfigError("the cost of a mistake must be above 0")
    elif objective == "balanced":
        price = labels.total / (len(classes) * np.maximum(labels.totals, 1e-9))
    elif objective != "accuracy":
        raise ConfigError(
            f"objective is {objective!r}: choose 'accuracy', 'balanced', or a cost of mistakes by class"
        )
    return np.asarray(price[:, None] * (1 - np.eye(len(classes))))
