"""The likelihood of labels under weighted rules, and the weights that maximise it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from andre.arrays import Bools, Floats
from andre.newton import fit_weights

#: Rows that are held as floating-point numbers at once.
_BLOCK = 1 << 16
#: The penalty on a base: enough to fix the common shift that a softmax leaves free.
_BASE_PENALTY = 1e-6
#: The spread around 1 of the factor that scores are shrunk by, before any row is seen; how well it is found.
_SPREAD, _HALVINGS = 0.5, 12


@dataclass(frozen=True, eq=False)
class Labels:
    """The class of every row and its weight, with the classes that have scores of their own.

    Of two classes the second has a score and the first has none, which is a
    score of 0; of more than two, every class has one.

    Examples
    --------
    >>> labels = Labels(np.array([0, 1, 1]), np.array([1.0, 2.0, 1.0]), 2)
    >>> labels.n_outputs, labels.totals
    (1, array([1., 3.]))
    """

    classes: NDArray[np.intp]  #: [rows], from 0
    weights: Floats  #: [rows]
    n_classes: int
    #: [rows], for how many rows each stands, which validation may part; None: for one, whatever it weighs
    copies: Floats | None = None

    @property
    def n_outputs(self) -> int:
        """How many classes have a score of their own."""
        return 1 if self.n_classes == 2 else self.n_classes

    @cached_property
    def totals(self) -> Floats:
        """The weight of the rows of each class, [classes]."""
        return np.bincount(self.classes, self.weights, self.n_classes).astype(np.float64)

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.totals.sum())

    @property
    def counts(self) -> Floats:
        """For how many rows each stands, [rows]."""
        return np.ones(len(self.classes)) if self.copies is None else self.copies

    def take(self, rows: NDArray[np.intp]) -> Labels:
        """The labels of some rows."""
        copies = None if self.copies is None else self.copies[rows]
        return Labels(self.classes[rows], self.weights[rows], self.n_classes, copies)

    def losses(self, scores: Floats) -> Floats:
        """Minus the logarithm of the probability of each row's class, from scores, [rows, outputs]."""
        if self.n_outputs == 1:
            return np.asarray(np.logaddexp(0, np.where(self.classes == 1, -scores[:, 0], scores[:, 0])))
        return -log_probabilities(scores)[np.arange(len(scores)), self.classes]

    def pull(self, scores: Floats) -> tuple[Floats, Floats]:
        """Slope and curvature of each row's weighted log-likelihood by its scores, [rows, outputs] each."""
        shares = _shares(scores)
        return self.slope(shares), shares * (1 - shares) * self.weights[:, None]

    def slope(self, shares: Floats) -> Floats:
        """The slope alone, from the probabilities of the classes that have scores, [rows, outputs]."""
        scored = np.arange(self.n_classes - self.n_outputs, self.n_classes)
        return np.asarray(((self.classes[:, None] == scored) - shares) * self.weights[:, None])


def log_probabilities(scores: Floats) -> Floats:
    """The logarithms of the probabilities of all classes, [rows, classes], from scores, [rows, outputs].

    Examples
    --------
    >>> np.exp(log_probabilities(np.array([[0.0]])))
    array([[0.5, 0.5]])
    """
    if scores.shape[1] == 1:
        return np.hstack((-np.logaddexp(0, scores), -np.logaddexp(0, -scores)))
    # SciPy's logsumexp looks at many cases first, and this is called thousands of times on few rows.
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def _shares(scores: Floats) -> Floats:
    """The probabilities of the classes that have scores, [rows, outputs]."""
    return np.asarray(expit(scores)) if scores.shape[1] == 1 else np.exp(log_probabilities(scores))


@dataclass(frozen=True, eq=False)
class RuleLoss:
    """Minus the log-likelihood of labels by bases and rules, each of which adds to the score of one class.

    The weights are those of the bases, one per output, then of the rules.
    """

    covers: Bools  #: [rules, rows]
    owners: NDArray[np.intp]  #: [rules], the output that a rule adds to
    labels: Labels

    @property
    def pairs(self) -> int:
        """The table of second derivatives is small, whatever the rules cover."""
        return 0

    @cached_property
    def _adds_to(self) -> Bools:
        """Whether a weight adds to an output, [outputs, bases and rules]."""
        outputs = np.arange(self.labels.n_outputs)
        return np.asarray(np.append(outputs, self.owners) == outputs[:, None])

    @cached_property
    def _first_block(self) -> Floats:
        """The inputs on the first block of rows, kept: a fit asks for them many times."""
        return self._inputs(slice(0, _BLOCK))

    def _inputs(self, rows: slice) -> Floats:
        """What weights are multiplied with on some rows: 1 for bases, 1 or 0 for rules, [weights, rows]."""
        covers, n_outputs = self.covers[:, rows], self.labels.n_outputs
        found = np.ones((n_outputs + len(covers), len(self.labels.classes[rows])))
        found[n_outputs:] = covers
        return found

    def _blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Rows, and the inputs on them, [weights, rows]."""
        for at in range(0, len(self.labels.classes), _BLOCK):
            rows = slice(at, at + _BLOCK)
            yield rows, self._inputs(rows) if at else self._first_block

    def scores(self, weights: Floats) -> Floats:
        """The scores of all rows, [rows, outputs]."""
        found = np.empty((len(self.labels.classes), self.labels.n_outputs))
        for rows, inputs in self._blocks():
            found[rows] = self._block_scores(weights, inputs)
        return found

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        """The loss and its gradient."""
        value, slope = 0.0, np.zeros((len(weights), self.labels.n_outputs))
        for rows, inputs in self._blocks():
            labels = Labels(self.labels.classes[rows], self.labels.weights[rows], self.labels.n_classes)
            scores = self._block_scores(weights, inputs)
            value += float(labels.weights @ labels.losses(scores))
            slope -= inputs @ labels.slope(_shares(scores))
        return value, slope[self._adds_to.T]

    def curvature(self, weights: Floats) -> RuleCurvature:
        """The second derivatives of the loss at some weights."""
        return RuleCurvature(self.curvature_columns(weights, np.arange(len(weights))))

    def curvature_columns(self, weights: Floats, columns: NDArray[np.intp]) -> Floats:
        """Second derivatives by any weight and by each of some weights, [weights, columns]."""
        found = np.zeros((len(weights), len(columns)))
        owners = self._adds_to.argmax(axis=0)  # [weights]
        same = owners[:, None] == owners[columns]  # [weights, columns]
        for rows, inputs in self._blocks():
            shares = _shares(self._block_scores(weights, inputs)).T  # [outputs, rows]
            mass = self.labels.weights[rows]
            if self.labels.n_outputs == 1:
                found += inputs @ (inputs[columns] * (mass * shares * (1 - shares))).T
                continue
            expected = inputs * shares[owners]  # [weights, rows]
            found += same * (expected @ (inputs[columns] * mass).T)
            found -= expected @ (expected[columns] * mass).T
        return found

    def _block_scores(self, weights: Floats, inputs: Floats) -> Floats:
        """The scores of one block of rows, [rows, outputs]."""
        return np.asarray(inputs.T @ (self._adds_to * weights).T)

    def penalties(self, penalty: float) -> Floats:
        """A penalty on the square of each weight: next to none on bases, [bases and rules]."""
        return np.append(
            np.full(self.labels.n_outputs, _BASE_PENALTY), np.full(len(self.owners), penalty / 2)
        )

    def fit(self, penalty: float, start: Floats, tolerance: float = 1e-6) -> Floats:
        """The weights with the greatest penalised likelihood, [bases and rules].

        Parameters
        ----------
        penalty
            Half of it times the square of each rule's weight is added to the loss.
        tolerance
            The gradient to end at, as a share of the weight of all rows.
        """
        return fit_weights(self, self.penalties(penalty), start, tolerance=tolerance * self.labels.total)

    def objective(self, weights: Floats, penalty: float) -> float:
        """The penalised loss."""
        return self(weights)[0] + float(self.penalties(penalty) @ weights**2)


def shrinkage(labels: Labels, scores: Floats) -> float:
    """The factor, from 0 to 1, by which scores must come nearer to those of base rates to be no too sure.

    It is the slope of calibration on rows that the scores were learned without (van Houwelingen and
    le Cessie, 1990), which a normal prior around 1 keeps from chance where rows are few.

    Parameters
    ----------
    labels
        Of rows that the scores were learned without.
    scores
        [rows, outputs].

    Examples
    --------
    >>> labels = Labels(np.tile([0, 1, 1, 1], 50), np.ones(200), 2)
    >>> shrinkage(labels, np.tile([[-3.0], [3.0], [3.0], [-3.0]], (50, 1))) < 0.5
    True
    """
    base = base_weights(labels)
    moved = scores - base

    def rises(factor: float) -> bool:
        slope = -(labels.slope(_shares(base + factor * moved)) * moved).sum()
        return bool(slope + (factor - 1) / _SPREAD**2 > 0)

    if not rises(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if rises(middle) else (middle, high)
    return (low + high) / 2


@dataclass(frozen=True, eq=False)
class RuleCurvature:
    """The second derivatives of a `RuleLoss` at some weights."""

    values: Floats  #: [weights, weights]

    def table(self) -> Floats:
        """All of them."""
        return self.values.copy()

    def times(self, vector: Floats) -> Floats:
        """Their product with a vector."""
        return np.asarray(self.values @ vector)

    def bound(self) -> Floats:
        """Their diagonal."""
        return np.diag(self.values).copy()


def base_weights(labels: Labels) -> Floats:
    """The scores of rows that no rule covers where there is no rule: log-odds of the classes, [outputs].

    Examples
    --------
    >>> labels = Labels(np.array([0, 1, 1]), np.array([1.0, 1.0, 1.0]), 2)
    >>> base_weights(labels)
    array([0.69314718])
    """
    logs = np.log(np.maximum(labels.totals, 1e-9))
    return np.asarray(logs[1:] - logs[0] if labels.n_outputs == 1 else logs - logs.mean())
