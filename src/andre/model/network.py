"""The network: K independent programs of n subrules over m atoms, in one tensor program."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from andre.model.config import NetworkConfig
from andre.model.inputs import Inputs
from andre.model.operators import Operator, SoftmaxAttention, aggregate, conjunctions, disjunctions
from andre.model.pooling import Pooling


def subrule_mask(n_rules: Tensor, most: int) -> Tensor:
    """1 for the subrules that a run has and 0 for padding, [K, n].

    Examples
    --------
    >>> subrule_mask(torch.tensor([1, 3]), 3)
    tensor([[1., 0., 0.],
            [1., 1., 1.]])
    """
    return (torch.arange(most, device=n_rules.device) < n_rules[:, None]).float()


@dataclass(frozen=True)
class Network:
    """From weights and inputs to the head's truth value.

    Examples
    --------
    >>> import numpy as np
    >>> weights = torch.zeros(1, 1, 2, 3)
    >>> weights[0, 0, 0, 0] = weights[0, 0, 1, 1] = 20.0  # h :- b1, \\+ b2.
    >>> inputs = Inputs.encode(np.array([[1.0, 0.0], [1.0, 1.0]]))
    >>> torch.sigmoid(Network()(weights, inputs)).round(decimals=2)
    tensor([[0.9900],
            [0.0100]])
    """

    config: NetworkConfig = field(default_factory=NetworkConfig)

    @property
    def conjunction(self) -> Operator:
        """The operator for the conjunction over atoms."""
        return conjunctions(self.config.beta)[self.config.operators]

    @property
    def disjunction(self) -> Operator:
        """The operator for the disjunction over subrules."""
        return disjunctions(self.config.beta)[self.config.operators]

    def __call__(
        self,
        weights: Tensor,
        inputs: Inputs,
        mask: Tensor | None = None,
        pooling: Pooling | None = None,
    ) -> Tensor:
        """The head's logit on every example in every run, [B, K].

        Parameters
        ----------
        weights
            Of inclusion, negation and exclusion, [K, n, m, 3].
        inputs
            U rows of m valuations.
        mask
            1 where a subrule counts, [K, n].
        pooling
            The rows of each example; None: every row is one.
        """
        lam, gamma = self.config.steepness, self.config.center
        K, n = weights.shape[:2]
        c = inputs.conjunction(torch.softmax(weights, dim=-1), self.conjunction)  # [U, K * n]
        h = torch.sigmoid(lam * (c - gamma)).view(-1, K, n)  # [U, K, n]
        d = aggregate(self.disjunction, h, dim=-1, mask=mask)  # [U, K]
        if pooling is not None:  # an example is as true as its truest row
            d = pooling(d, SoftmaxAttention(self.config.beta))  # [B, K]
        return lam * (d - gamma)
