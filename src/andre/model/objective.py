"""The training objective: the losses of one step, weighted by the schedule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from andre.model.config import LossConfig
from andre.model.losses import LOSSES, Loss, Number, Step
from andre.samples import RuleSpace, Sample


class Terms(dict[str, Tensor]):
    """The weighted losses of one step by name, [K] each, in the order of `LOSSES`."""

    @property
    def total(self) -> Tensor:
        """The sum, which each run minimises, [K]."""
        return self.stacked.sum(0)

    def add(self, name: str, more: Tensor) -> None:
        """Add to a loss, [K]."""
        self[name] = self[name] + more

    @property
    def stacked(self) -> Tensor:
        """All losses, [losses, K]."""
        return torch.stack(list(self.values()))


def row_weights(sample: Sample, config: LossConfig) -> tuple[Tensor, Tensor]:
    """Weights of positive and negative labels in the cross-entropy, [U] each, in float64.

    If balanced, both classes have half of the total weight; for a mean, the total is 1.
    """
    positives, negatives = torch.as_tensor(sample.positives), torch.as_tensor(sample.negatives)
    total = positives.sum() + negatives.sum()
    if config.balance:
        positives = positives * (total / (2 * positives.sum()))
        negatives = negatives * (total / (2 * negatives.sum()))
    if config.reduction == "mean":
        positives, negatives = positives / total, negatives / total
    return positives, negatives


@dataclass(frozen=True, eq=False)
class Objective:
    """All losses of a run."""

    config: LossConfig
    incidence: Tensor  #: which variable occurs in which atom, [variables, m]
    n_head: int  #: how many of the variables are in the head; they come first

    @classmethod
    def of(cls, space: RuleSpace, config: LossConfig, device: torch.device | str = "cpu") -> Objective:
        """The objective for a rule space."""
        incidence = torch.as_tensor(space.incidence.astype(np.float32), device=device)
        return cls(config, incidence, len(space.head_variables))

    def __call__(
        self,
        logits: Tensor | None,
        labels: tuple[Tensor, Tensor] | None,
        weights: Tensor,
        mask: Tensor,
        progress: Number,
    ) -> Terms:
        """The losses of one step.

        Parameters
        ----------
        logits
            The head's logits, [U, K]; without them the loss of the labels is 0.
        labels
            Weights of the rows' positive and negative labels, [U] each.
        weights
            The network's weights, [K, n, m, 3].
        mask
            1 where a subrule counts, [K, n].
        progress
            The share of training that is done, from 0 to 1.
        """
        labelled = None if logits is None or labels is None else (logits, *labels)
        step = Step(self.config, weights, mask, self.incidence, self.n_head, labelled)
        return Terms({loss.name: _term(loss, step, progress) for loss in LOSSES})

    def regularizers(self, weights: Tensor, mask: Tensor, progress: float) -> list[Tensor]:
        """The losses that need no labels, [K] each, in the order of `LOSSES`."""
        step = Step(self.config, weights, mask, self.incidence, self.n_head)
        return [_term(loss, step, progress) for loss in LOSSES if loss.weight is not None]


def _term(loss: Loss, step: Step, progress: Number) -> Tensor:
    """A loss times its weight, [K]; 0 if it does not apply."""
    if loss.relational and not len(step.incidence):
        return torch.zeros_like(step.n_rules)
    found = loss.term(step, 1.0 if loss.weight is None else loss.weight(step.config, progress))
    return torch.zeros_like(step.n_rules) if found is None else found
