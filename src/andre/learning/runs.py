"""K independent runs as one set of tensors."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from andre.learning.config import TrainingConfig
from andre.learning.extraction import extract
from andre.model import subrule_mask

__all__ = ["Runs"]

_BETAS = (0.9, 0.999)  # Adam's usual decay rates


@dataclass(eq=False)
class Runs:
    """Weights of K runs and the state of their optimiser, padded to one number of subrules.

    A run that has converged leaves the tensors, so that the others go faster;
    `weights` and `n_rules` hold all runs, the rest only those still moving.

    Examples
    --------
    >>> runs = Runs.start(m=5, config=TrainingConfig(restarts=2, subrules=(1, 3)), seed=0)
    >>> runs.weights.shape, runs.n_rules.tolist()
    (torch.Size([4, 3, 5, 3]), [1, 1, 3, 3])
    """

    weights: Tensor  #: [K, n, m, 3]; those of moving runs as they were at the last look
    n_rules: Tensor  #: [K]
    moving: Tensor  #: places of the runs still moving, [k]
    current: Tensor  #: weights of the moving runs, [k, n, m, 3]
    mean: Tensor  #: Adam's first moment, [k, n, m, 3]
    square: Tensor  #: Adam's second moment, [k, n, m, 3]
    codes: Tensor  #: every run's subrules at the last look, [K, n, m]
    unchanged: Tensor  #: looks since they changed or said nothing, [K]
    step: int = 0

    @classmethod
    def start(cls, m: int, config: TrainingConfig, seed: int, device: torch.device | str = "cpu") -> Runs:
        """Fresh runs: `restarts` for every number of subrules, drawn from a seed."""
        n_rules = torch.tensor(config.subrules).repeat_interleave(config.restarts)
        shape = (len(n_rules), max(config.subrules), m, 3)
        # Drawn on the CPU, so that a seed gives the same runs on every device.
        weights = torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * config.init
        weights = weights.to(device)
        return cls(
            weights=weights,
            n_rules=n_rules.to(device),
            moving=torch.arange(len(n_rules), device=device),
            current=weights.clone(),
            mean=torch.zeros_like(weights),
            square=torch.zeros_like(weights),
            codes=torch.zeros(shape[:3], dtype=torch.int8, device=device),
            unchanged=torch.zeros(len(n_rules), dtype=torch.int64, device=device),
        )

    @property
    def mask(self) -> Tensor:
        """1 for the subrules that a run has, [K, n]."""
        return subrule_mask(self.n_rules, self.weights.shape[1])

    @property
    def moving_mask(self) -> Tensor:
        """The same for the runs still moving, [k, n]."""
        return self.mask[self.moving]

    @torch.no_grad()
    def descend(self, gradient: Tensor, rate: float, clip: float | None) -> None:
        """One step of Adam, every run's gradient clipped by its own norm.

        Written out because torch.optim brings in its compiler on first use,
        which takes longer than learning a small program.
        """
        self.step += 1
        if clip is not None:
            norm = gradient.flatten(1).norm(dim=1).clamp_min(1e-12)  # [k]
            gradient = gradient * (clip / norm).clamp_max(1)[:, None, None, None]
        first, second = _BETAS
        self.mean.lerp_(gradient, 1 - first)
        self.square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
        spread = (self.square / (1 - second**self.step)).sqrt_().add_(1e-8)
        self.current.addcdiv_(self.mean, spread, value=-rate / (1 - first**self.step))

    @torch.no_grad()
    def look(self, certainty: float, patience: int | None) -> None:
        """Write the moving runs back, and let those leave whose program stays the same.

        A run has converged once it has said the same, and something, at
        `patience` looks in a row.
        """
        self.weights[self.moving] = self.current
        mask = self.moving_mask
        codes = torch.as_tensor(extract(self.current, mask, (certainty,))[0], device=mask.device)
        same = (codes == self.codes[self.moving]).flatten(1).all(1) & codes.flatten(1).any(1)
        self.codes[self.moving] = codes
        self.unchanged[self.moving] = torch.where(same, self.unchanged[self.moving] + 1, 0)
        if patience is not None:
            stay = self.unchanged[self.moving] < patience
            if not stay.all():
                self.moving, self.current = self.moving[stay], self.current[stay]
                self.mean, self.square = self.mean[stay], self.square[stay]
