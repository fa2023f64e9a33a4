"""The training objective: all losses of one step, added up by the schedule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from andre.model import losses
from andre.model.config import LossConfig
from andre.model.losses import schedule
from andre.samples import RuleSpace, Sample

__all__ = ["Objective", "Terms", "row_weights"]


@dataclass(frozen=True, eq=False)
class Terms:
    """The weighted losses of one step, [K] each."""

    cross_entropy: Tensor
    entropy: Tensor
    similarity: Tensor
    range_restricted: Tensor
    connected: Tensor
    digitization: Tensor

    @property
    def total(self) -> Tensor:
        """What a run descends, [K]."""
        return sum(vars(self).values(), start=torch.zeros_like(self.cross_entropy))


def row_weights(sample: Sample, config: LossConfig) -> tuple[Tensor, Tensor]:
    """Weights of positive and negative labels in the cross-entropy, [U] each, in float64.

    Balanced, both classes weigh half of the total; as a mean, the total is 1.
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
    """Everything a run is judged by while it trains."""

    config: LossConfig
    incidence: Tensor  #: which variable stands in which atom, [variables, m]
    n_head: int  #: how many of the variables stand in the head; they come first

    @classmethod
    def of(cls, space: RuleSpace, config: LossConfig, device: torch.device | str = "cpu") -> Objective:
        """The objective for a rule space."""
        incidence = torch.as_tensor(space.incidence.astype(np.float32), device=device)
        return cls(config, incidence, len(space.head_variables))

    def __call__(
        self, logits: Tensor, labels: tuple[Tensor, Tensor], weights: Tensor, mask: Tensor, progress: float
    ) -> Terms:
        """The losses of one step.

        Parameters
        ----------
        logits
            The head's logits, [U, K].
        labels
            Weights of the rows' positive and negative labels, [U] each.
        weights
            The network's weights, [K, n, m, 3].
        mask
            1 where a subrule counts, [K, n].
        progress
            The share of training that is done, from 0 to 1.
        """
        return Terms(losses.cross_entropy(logits, *labels), *self.regularizers(weights, mask, progress))

    def regularizers(self, weights: Tensor, mask: Tensor, progress: float) -> list[Tensor]:
        """The five losses that need no labels, [K] each, in the order of `Terms`."""
        scale = schedule(progress, self.config)
        config, n = self.config, mask.sum(1)  # [K]
        p = torch.softmax(weights, dim=-1)  # [K, n, m, 3]
        none = torch.zeros_like(n)
        entropy = losses.entropy(p, mask, config.epsilon)
        if config.reduction == "mean":
            entropy = entropy / (n * weights.shape[2])
        terms = [scale.entropy * entropy, none, none, none, none]
        if scale.similarity and weights.shape[1] > 1:
            terms[1] = scale.similarity * losses.similarity(weights, mask)
        n_aux = len(self.incidence) - self.n_head
        if self.n_head or n_aux:
            usage = losses.variable_usage(p, self.incidence)  # [K, n, variables]
            head, aux = usage[..., : self.n_head], usage[..., self.n_head :]
            if self.n_head:
                missing = losses.range_restricted(head, mask, config.surplus)
                terms[2] = scale.range_restricted * missing / (self.n_head * n)
            if n_aux:
                terms[3] = scale.connected * losses.connected(aux, mask, config) / (n_aux * n)
            terms[4] = scale.digitization * losses.digitization(usage, mask)
        return terms
