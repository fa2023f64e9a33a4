"""The six losses, one value per run, and the schedule that weighs them.

All take the padded tensors of the trainer: `mask`, [K, n], is 1 for the
subrules that a run has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import softplus

from andre.model.config import LossConfig

__all__ = [
    "Weights",
    "connected",
    "cross_entropy",
    "digitization",
    "entropy",
    "range_restricted",
    "schedule",
    "similarity",
    "variable_usage",
]


def cross_entropy(logits: Tensor, positives: Tensor, negatives: Tensor) -> Tensor:
    """Binary cross-entropy, summed over rows with their weights.

    Parameters
    ----------
    logits
        The head's logits, [U, K].
    positives, negatives
        Weights of the rows' positive and negative labels, [U].
    """
    return positives @ softplus(-logits) + negatives @ softplus(logits)  # [K]


def entropy(probabilities: Tensor, mask: Tensor, epsilon: float = 1e-6) -> Tensor:
    """Entropy of the choices between b, not b and 1, summed over subrules and atoms."""
    h = -(probabilities * torch.log(probabilities + epsilon)).sum(dim=(2, 3))  # [K, n]
    return (h * mask).sum(1)  # [K]


def similarity(weights: Tensor, mask: Tensor) -> Tensor:
    """Cosine similarity between the weights of two subrules, scaled by 2 / (n (n + 1)) as printed."""
    unit = torch.nn.functional.normalize(weights.flatten(2), dim=2) * mask[:, :, None]  # [K, n, 3m]
    cosines = unit @ unit.transpose(1, 2)  # [K, n, n]
    n = mask.sum(1)  # [K]
    return torch.triu(cosines, diagonal=1).sum(dim=(1, 2)) * 2 / (n * (n + 1))


def variable_usage(probabilities: Tensor, incidence: Tensor) -> Tensor:
    """How often each variable is expected to occur in each subrule's body: M, [K, n, variables].

    Parameters
    ----------
    probabilities
        Of inclusion, negation and exclusion, [K, n, m, 3].
    incidence
        Which variable stands in which atom, [variables, m].
    """
    return (1 - probabilities[..., 2]) @ incidence.T


def range_restricted(usage: Tensor, mask: Tensor, surplus: float = 0.1) -> Tensor:
    """Penalty for head variables that are missing from the body, summed over subrules and variables.

    Parameters
    ----------
    usage
        Expected occurrences of the head variables, [K, n, head variables].
    surplus
        The price of every occurrence beyond the first, eta.
    """
    price = torch.where(usage < 1, (usage - 1) ** 2, surplus * (usage - 1))
    return (price.sum(2) * mask).sum(1)


def connected(usage: Tensor, mask: Tensor, config: LossConfig) -> Tensor:
    """Penalty for auxiliary variables that occur once, summed over subrules and variables.

    Parameters
    ----------
    usage
        Expected occurrences of the auxiliary variables, [K, n, auxiliary variables].
    """
    lonely = config.connected_height * torch.exp(-config.connected_width * (usage - 1) ** 2)
    beyond = usage - 2
    growth = beyond**2 if config.connected_growth == "quadratic" else beyond
    return (torch.where(usage < 2, lonely, growth).sum(2) * mask).sum(1)


def digitization(usage: Tensor, mask: Tensor) -> Tensor:
    """Penalty for counts that are not whole, averaged over variables and subrules."""
    if not usage.shape[2]:
        return mask.new_zeros(len(mask))
    price = 0.5 * (1 - torch.sin(2 * math.pi * usage + math.pi / 2))
    return (price.mean(2) * mask).sum(1) / mask.sum(1)


@dataclass(frozen=True)
class Weights:
    """The weight of every loss beside the cross-entropy at one moment of training."""

    entropy: float
    similarity: float
    range_restricted: float
    connected: float
    digitization: float


def schedule(progress: float, config: LossConfig) -> Weights:
    """The weights at a share of training between 0 and 1: structure comes late, diversity early.

    Dividing by numbers of subrules and variables is left to the objective,
    which knows them.

    Examples
    --------
    >>> schedule(0.5, LossConfig(entropy=0.1, similarity=0.2, similarity_end=0.0)).similarity
    0.15...
    """
    squared = progress**2
    return Weights(
        entropy=progress * config.entropy,
        similarity=config.similarity - squared * (config.similarity - config.similarity_end),
        range_restricted=squared * config.range_restricted,
        connected=squared * config.connected,
        digitization=squared * config.digitization,
    )
