"""The losses: one list, `LOSSES`, which training, history, plots and reports all read.

A new loss is a function of a `Step`, an entry in `LOSSES`, and a field of
`LossConfig` for its weight. Every loss has one value per run, [K]; `mask`,
[K, n], is 1 for the subrules that a run has.

Their names and weights are read where torch, which is slow to load, is not needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from andre.model.config import LossConfig

if TYPE_CHECKING:
    from torch import Tensor


def cross_entropy(logits: Tensor, positives: Tensor, negatives: Tensor) -> Tensor:
    """Binary cross-entropy, summed over rows with their weights.

    Parameters
    ----------
    logits
        The head's logits, [U, K].
    positives, negatives
        Weights of the rows' positive and negative labels, [U].
    """
    from torch.nn.functional import softplus  # noqa: PLC0415

    return positives @ softplus(-logits) + negatives @ softplus(logits)  # [K]


def entropy(probabilities: Tensor, mask: Tensor, epsilon: float = 1e-6) -> Tensor:
    """Entropy of the choices between b, not b and 1, summed over subrules and atoms."""
    h = -(probabilities * (probabilities + epsilon).log()).sum(dim=(2, 3))  # [K, n]
    return (h * mask).sum(1)  # [K]


def similarity(weights: Tensor, mask: Tensor) -> Tensor:
    """Cosine similarity between the weights of two subrules, scaled by 2 / (n (n + 1)) as printed."""
    from torch.nn.functional import normalize  # noqa: PLC0415

    unit = normalize(weights.flatten(2), dim=2) * mask[:, :, None]  # [K, n, 3m]
    cosines = unit @ unit.transpose(1, 2)  # [K, n, n]
    n = mask.sum(1)  # [K]
    return cosines.triu(diagonal=1).sum(dim=(1, 2)) * 2 / (n * (n + 1))


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
    price = ((usage - 1) ** 2).where(usage < 1, surplus * (usage - 1))
    return (price.sum(2) * mask).sum(1)


def connected(usage: Tensor, mask: Tensor, config: LossConfig) -> Tensor:
    """Penalty for auxiliary variables that occur once, summed over subrules and variables.

    Parameters
    ----------
    usage
        Expected occurrences of the auxiliary variables, [K, n, auxiliary variables].
    """
    lonely = config.connected_height * (-config.connected_width * (usage - 1) ** 2).exp()
    beyond = usage - 2
    growth = beyond**2 if config.connected_growth == "quadratic" else beyond
    return (lonely.where(usage < 2, growth).sum(2) * mask).sum(1)


def digitization(usage: Tensor, mask: Tensor) -> Tensor:
    """Penalty for counts that are not whole, averaged over variables and subrules."""
    if not usage.shape[2]:
        return mask.new_zeros(len(mask))
    price = 0.5 * (1 - (2 * math.pi * usage + math.pi / 2).sin())
    return (price.mean(2) * mask).sum(1) / mask.sum(1)


@dataclass(frozen=True, eq=False)
class Step:
    """What the losses of one training step are computed from."""

    config: LossConfig
    weights: Tensor  #: of the network, [K, n, m, 3]
    mask: Tensor  #: 1 where a subrule counts, [K, n]
    incidence: Tensor  #: which variable stands in which atom, [variables, m]
    n_head: int  #: how many of the variables stand in the head; they come first
    #: The head's logits, [U, K], and weights of the rows' positive and negative labels, [U] each.
    labelled: tuple[Tensor, Tensor, Tensor] | None = None

    @property
    def n_rules(self) -> Tensor:
        """How many subrules each run has, [K]."""
        return self.mask.sum(1)

    @cached_property
    def probabilities(self) -> Tensor:
        """Of inclusion, negation and exclusion, [K, n, m, 3]."""
        return self.weights.softmax(dim=-1)

    @cached_property
    def usage(self) -> Tensor:
        """How often each variable is expected to occur in each body, [K, n, variables]."""
        return variable_usage(self.probabilities, self.incidence)


#: A number, or a tensor without dimensions where a step is recorded for a device.
Number: TypeAlias = "float | Tensor"
#: A loss times its weight, [K]; None where a rule space gives it nothing to judge.
Term: TypeAlias = "Callable[[Step, Number], Tensor | None]"
#: The weight of a loss at a share of training between 0 and 1.
Schedule: TypeAlias = "Callable[[LossConfig, Number], Number]"


@dataclass(frozen=True)
class Loss:
    """One loss: its name, its value, and how its weight changes over training."""

    name: str
    term: Term
    weight: Schedule | None = None  #: None: the loss of the labels, which always weighs 1
    relational: bool = False  #: whether it judges variables, so that tables without any have no use for it

    @property
    def title(self) -> str:
        """The name as people read it."""
        return self.name.replace("_", " ")


def _labels(step: Step, weight: Number) -> Tensor | None:
    return None if step.labelled is None else weight * cross_entropy(*step.labelled)


def _certainty(step: Step, weight: Number) -> Tensor:
    total = entropy(step.probabilities, step.mask, step.config.epsilon)
    if step.config.reduction == "mean":
        total = total / (step.n_rules * step.weights.shape[2])
    return weight * total


def _diversity(step: Step, weight: Number) -> Tensor | None:
    never = step.config.similarity == step.config.similarity_end == 0
    if never or step.weights.shape[1] < 2:
        return None
    return weight * similarity(step.weights, step.mask)


def _head_variables(step: Step, weight: Number) -> Tensor | None:
    if not step.n_head:
        return None
    missing = range_restricted(step.usage[..., : step.n_head], step.mask, step.config.surplus)
    return weight * missing / (step.n_head * step.n_rules)


def _auxiliary_variables(step: Step, weight: Number) -> Tensor | None:
    n_auxiliary = len(step.incidence) - step.n_head
    if not n_auxiliary:
        return None
    lonely = connected(step.usage[..., step.n_head :], step.mask, step.config)
    return weight * lonely / (n_auxiliary * step.n_rules)


def _whole_counts(step: Step, weight: Number) -> Tensor | None:
    return weight * digitization(step.usage, step.mask) if len(step.incidence) else None


def _rising(name: str, power: int) -> Schedule:
    """A weight that rises from 0 to the setting of this name, as structure matters late."""
    return lambda config, progress: progress**power * float(getattr(config, name))


def _falling(config: LossConfig, progress: Number) -> Number:
    """A weight that falls, as diversity matters early."""
    return config.similarity - progress**2 * (config.similarity - config.similarity_end)


#: All losses, in the order in which they are noted, drawn and saved.
LOSSES: tuple[Loss, ...] = (
    Loss("cross_entropy", _labels),
    Loss("entropy", _certainty, _rising("entropy", 1)),
    Loss("similarity", _diversity, _falling),
    Loss("range_restricted", _head_variables, _rising("range_restricted", 2), relational=True),
    Loss("connected", _auxiliary_variables, _rising("connected", 2), relational=True),
    Loss("digitization", _whole_counts, _rising("digitization", 2), relational=True),
)


def schedule(progress: float, config: LossConfig) -> dict[str, float]:
    """The weight of every loss except the cross-entropy, at a share of training between 0 and 1.

    Examples
    --------
    >>> schedule(0.5, LossConfig(entropy=0.1, similarity=0.2, similarity_end=0.0))["similarity"]
    0.15...
    """
    return {loss.name: float(loss.weight(config, progress)) for loss in LOSSES if loss.weight is not None}
