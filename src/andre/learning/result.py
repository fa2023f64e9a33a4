"""What learning hands back: the program, its evidence, and all that led to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from andre.errors import DataError
from andre.evaluation import CrispSample, covers, literal_truth
from andre.files import Saveable
from andre.learning.callbacks import LOSSES, Look
from andre.learning.config import Config
from andre.logic import Program, program_html
from andre.samples import Codes, RuleSpace, check_valuations

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LOSSES", "Result", "RunSummary", "Score"]


@dataclass(frozen=True)
class Score:
    """How the program fares on one split."""

    split: str
    accuracy: float
    rows: float  #: weight of all rows
    missed: float  #: positives that no rule covers
    uncovered: float  #: rows that no rule covers
    true_positives: float  #: positives that some rule covers
    false_positives: float  #: negatives that some rule covers


@dataclass(frozen=True)
class RunSummary:
    """Where one run ended."""

    round: int
    n_rules: int
    program: Program
    length: float  #: description length of its program
    loss: float  #: total loss at the last look


@dataclass(frozen=True, eq=False)
class Result(Saveable):
    """A learned program with its evidence, and the runs it came from.

    Examples
    --------
    >>> from andre.learning.fit import fit
    >>> from andre.samples import Sample
    >>> rows = np.random.default_rng(0).random((60, 3))
    >>> result = fit(Sample.from_arrays(rows, (rows[:, 0] > 0.5) & (rows[:, 2] < 0.5)))
    >>> print(result.program)
    h :- b1, \\+ b3.
    >>> result.predict([[0.9, 0.5, 0.1], [0.1, 0.5, 0.1]])
    array([ True, False])
    """

    space: RuleSpace
    config: Config
    program: Program  #: rules in order of support, with their evidence
    length: float  #: description length of the training labels, nats
    empty_length: float  #: the same without any rule
    scores: tuple[Score, ...]
    runs: tuple[RunSummary, ...] = ()
    history: tuple[Look, ...] = ()
    weights: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0, 3), dtype=np.float32))
    #: ^ of the run whose own program is the best, [n, m, 3]
    proposed: Codes = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int8))
    #: ^ every body that a run came to, [bodies, m]
    seconds: float = 0.0
    stopped: str | None = None  #: why learning ended early: "time" or "interrupted"

    @property
    def codes(self) -> Codes:
        """The program as numbers, [rules, m]."""
        return self.space.encode(self.program)

    def score(self, split: str = "train") -> Score:
        """How the program fares on a split."""
        for score in self.scores:
            if score.split == split:
                return score
        raise DataError(f"there is no split {split!r}: there is {', '.join(s.split for s in self.scores)}")

    def predict(self, valuations: ArrayLike) -> NDArray[np.bool_]:
        """Whether the program holds on new rows, [U]."""
        return np.asarray(self._fires(valuations).any(axis=0))

    def predict_proba(self, valuations: ArrayLike) -> NDArray[np.float64]:
        """The probability of the head on new rows, [U].

        That of the surest rule that fires, (N_r + 1) / (N_b + 2) on the
        training rows; where none fires, the same of the rows that no rule
        covers, at most one half, so that above it always means a rule fired.
        """
        train = self.score("train")
        silent = min(0.5, (train.missed + 1) / (train.uncovered + 2))
        sure = np.append(self._sureness(), 0.0)  # [rules + 1], the last where no rule fires
        return np.asarray(np.maximum(silent, sure[self.surest_rules(valuations)]))

    def surest_rules(self, valuations: ArrayLike) -> NDArray[np.intp]:
        """The place in the program of the surest rule that fires on each new row, [U]; -1 where none does."""
        fires = self._fires(valuations)  # [rules, U]
        if not len(fires):
            return np.full(fires.shape[1], -1)
        surest = np.where(fires, self._sureness()[:, None], -1.0).argmax(axis=0)  # [U]
        return np.where(fires.any(axis=0), surest, -1)

    def _sureness(self) -> NDArray[np.float64]:
        """How sure each rule is of its head, (N_r + 1) / (N_b + 2) on the training rows, [rules]."""
        counts = [rule.on("train") for rule in self.program]
        return np.array([0.0 if seen is None else (seen.n_r + 1) / (seen.n_b + 2) for seen in counts])

    def plot_losses(self, **options: Any) -> Axes:
        """Draw the losses over training; see `andre.learning.plots.plot_losses`."""
        from andre.learning.plots import plot_losses  # noqa: PLC0415  (it imports this module)

        return plot_losses(self, **options)

    def plot_accuracy(self, **options: Any) -> Axes:
        """Draw the accuracy over training; see `andre.learning.plots.plot_accuracy`."""
        from andre.learning.plots import plot_accuracy  # noqa: PLC0415

        return plot_accuracy(self, **options)

    def plot_probabilities(self, **options: Any) -> Axes:
        """Draw what every subrule includes; see `andre.learning.plots.plot_probabilities`."""
        from andre.learning.plots import plot_probabilities  # noqa: PLC0415

        return plot_probabilities(self, **options)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        scores = ", ".join(
            f"{score.split} {score.accuracy:.4f} on {score.rows:g} rows" for score in self.scores
        )
        early = "" if self.stopped is None else f" Stopped early: {self.stopped}."
        caption = f"Accuracy: {scores}. {len(self.runs)} runs, {self.seconds:.2f} s.{early}"
        return program_html(self.program, caption)

    def _fires(self, valuations: ArrayLike) -> NDArray[np.bool_]:
        table = check_valuations(valuations)
        if table.shape[1] != self.space.m:
            raise DataError(f"the program reads {self.space.m} columns, and these rows have {table.shape[1]}")
        return covers(literal_truth(table), self.codes)


def judge(program: Program, samples: Sequence[tuple[str, CrispSample]]) -> tuple[Program, tuple[Score, ...]]:
    """Give every rule its evidence and the program its scores on named samples."""
    scores, evidence = [], []
    for split, sample in samples:
        codes = sample.space.encode(program)
        said = sample.predicts(codes)
        lost, rest = map(float, sample.labels @ ~said)
        right, wrong = map(float, sample.labels @ said)
        scores.append(
            Score(split, sample.accuracy(codes), float(sample.totals.sum()), lost, lost + rest, right, wrong)
        )
        evidence.append(sample.evidence(codes, split))
    rules = (rule.with_evidence(*items) for rule, *items in zip(program, *evidence, strict=True))
    return Program(tuple(rules)), tuple(scores)
