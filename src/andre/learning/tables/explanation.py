"""Why a row is taken for its class: the rules that fire, what they add up to, and where the others fail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from andre.arrays import Floats
from andre.errors import shorten
from andre.logic import Literal, Rule

#: Characters of a cell that are shown.
_SHOWN = 60
#: What is rounding, between a probability and one that bounds have moved.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Condition:
    """One literal of a rule on a row."""

    literal: Literal
    column: str
    cell: str | None  #: what stands in the row; None where nothing does
    is_known: bool  #: whether the cell can be read, which it must for the literal or its negation to hold
    holds: bool

    def __str__(self) -> str:
        if self.cell is None:
            return f"{self.literal}: {self.column} is unknown"
        text = f"{self.literal}: {self.column} is {shorten(self.cell, _SHOWN)}"
        return text if self.is_known else f"{text}, which cannot be read and so is unknown"

    def as_dict(self) -> dict[str, Any]:
        """The condition as values that JSON can hold."""
        return {
            "condition": str(self.literal),
            "column": self.column,
            "value": self.cell,
            "known": self.is_known,
            "holds": self.holds,
        }


@dataclass(frozen=True)
class RuleOnRow:
    """A rule, what it counts for, and which of its conditions hold on a row."""

    rule: Rule
    weight: float | None  #: as of `WeightedRule`
    speaks_for: str  #: the class
    conditions: tuple[Condition, ...]

    @property
    def fires(self) -> bool:
        """Whether all conditions hold."""
        return all(condition.holds for condition in self.conditions)

    def lines(self) -> Iterator[str]:
        """The rule for a person to read; of one that does not fire, with the conditions that fail."""
        yield str(self.rule) if self.weight is None else f"{self.weight:+.2f}  {self.rule}"
        for condition in self.conditions:
            if condition.holds == self.fires:
                yield f"    {condition}"

    def as_dict(self) -> dict[str, Any]:
        """The rule on the row as values that JSON can hold."""
        return {
            "rule": str(self.rule),
            "weight": self.weight,
            "class": self.speaks_for,
            "fires": self.fires,
            "conditions": [condition.as_dict() for condition in self.conditions],
        }


@dataclass(frozen=True)
class ClassScore:
    """What rules make of one class on a row: weights add up, of shares of crisp rules the largest counts.

    Examples
    --------
    >>> print(ClassScore("yes", -0.5, (2.0, -0.25)).sum_text())
    -0.50 + 2.00 - 0.25 = +1.25
    """

    name: str  #: the class
    base: float  #: where no rule fires
    added: tuple[float, ...]  #: by the rules that fire, in their order
    adds_up: bool = True  #: whether it is their sum that counts; of crisp rules it is the largest

    @property
    def total(self) -> float:
        """What counts in the end."""
        return self.base + sum(self.added) if self.adds_up else max((self.base, *self.added))

    def sum_text(self) -> str:
        """How weights add up, in words."""
        signed = "".join(f" {'-' if weight < 0 else '+'} {abs(weight):.2f}" for weight in self.added)
        return f"{self.base:+.2f}{signed} = {self.total:+.2f}" if self.added else f"{self.base:+.2f}"

    def share_text(self) -> str:
        """Which share counts, in words."""
        if not self.added:
            return f"{self.total:.4f}, as of rows that no rule covers"
        return f"{self.total:.4f}, (N_r + 1) / (N_b + 2) of the surest rule that fires"

    def as_dict(self) -> dict[str, Any]:
        """The score as values that JSON can hold."""
        return {"class": self.name, "base": self.base, "added": list(self.added), "total": self.total}


@dataclass(frozen=True)
class RowExplanation:
    """Why a classifier takes a row for its class; `RuleClassifier.explain` makes it."""

    source: str  #: the table
    row: int  #: 1 is the first
    decision: str
    probabilities: dict[str, float]  #: by class
    base_rates: dict[str, float]  #: by class, where no rule fires
    rules: tuple[RuleOnRow, ...]
    scores: tuple[ClassScore, ...]  #: of every class; of two, of the second
    unknown: tuple[str, ...]  #: columns that rules read and of which the row says nothing

    def __repr__(self) -> str:
        return f"RowExplanation(row {self.row} of {self.source} is taken for {self.decision})"

    def lines(self) -> Iterator[str]:
        """The explanation for a person to read, line by line."""
        yield f"row {self.row} of {self.source} is taken for {self.decision}: {_chances(self.probabilities)}"
        if self.probabilities[self.decision] < max(self.probabilities.values()):
            yield "  another class is more probable, and the mistake that costs less is made"
        yield f"base rate, where no rule fires: {_chances(self.base_rates)}"
        if self.unknown:
            yield f"unknown on this row: {', '.join(self.unknown)}"
        for title, fire in (("rules that fire", True), ("rules that do not fire, and why", False)):
            text = [one for one in self.rules if one.fires == fire]
            yield f"{title}:{'' if text else ' none'}"
            for one in text:
                for line in one.lines():
                    yield f"  {line}"
        yield from self._adding_up()

    def _adding_up(self) -> Iterator[str]:
        """How the probabilities come about."""
        (first, *more) = self.scores
        if not first.adds_up:
            for score in self.scores:
                yield f"share of {score.name}: {score.share_text()}"
            if more:
                yield "the shares are scaled to add up to 1"
            return
        for score in self.scores:
            yield f"{'score' if more else 'log-odds'} of {score.name}: {score.sum_text()}"
        free = _softmax(np.array([score.total for score in self.scores] if more else [0.0, first.total]))
        said = dict(zip(self.probabilities, free.tolist(), strict=True))
        how = "exp(score) over the sum of all" if more else "1 / (1 + exp(-log-odds))"
        shown = said if more else {first.name: said[first.name]}
        yield f"{how}: {_chances(shown)}"
        if any(abs(chance - self.probabilities[name]) > _ROUNDING for name, chance in said.items()):
            bounded = {name: self.probabilities[name] for name in shown}
            yield f"surer than the training rows bear out, and so bounded: {_chances(bounded)}"

    def as_dict(self) -> dict[str, Any]:
        """The explanation as values that JSON can hold."""
        return {
            "source": self.source,
            "row": self.row,
            "decision": self.decision,
            "probabilities": self.probabilities,
            "base_rates": self.base_rates,
            "unknown": list(self.unknown),
            "rules": [one.as_dict() for one in self.rules],
            "scores": [score.as_dict() for score in self.scores],
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())


def _chances(by_class: dict[str, float]) -> str:
    return ", ".join(f"P({name}) {chance:.4f}" for name, chance in by_class.items())


def _softmax(scores: Floats) -> Floats:
    grown = np.exp(scores - scores.max())
    return np.asarray(grown / grown.sum())
