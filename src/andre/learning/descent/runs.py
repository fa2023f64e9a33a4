"""Descending: the weights of K runs, and the steps that they take together.

A step on few rows is a hundred kernels of a few microseconds, and a card would
wait for each to be launched. So a step is recorded once, as a CUDA graph, and
replayed; what changes from step to step is read from a table on the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from andre.learning.config import TrainingConfig
from andre.learning.descent.extraction import extract
from andre.model import Inputs, Network, Number, Objective, Pooling, Terms, cross_entropy, subrule_mask

_BETAS = (0.9, 0.999)  # Adam's usual decay rates
#: The weight of a reading that must not be.
_NEVER = -20.0
#: Numbers of a step up to which launching it takes longer than computing it.
_LAUNCHED = 1 << 28


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
        first, second = _BETAS
        self.move(gradient, rate / (1 - first**self.step), 1 - second**self.step, clip)

    @torch.no_grad()
    def move(self, gradient: Tensor, rate: Number, bias: Number, clip: float | None) -> None:
        """The same where the bias of the moments is worked out.

        Parameters
        ----------
        rate
            How far to go, the bias of the first moment taken out.
        bias
            What the second moment is divided by.
        """
        if clip is not None:
            norm = gradient.flatten(1).norm(dim=1).clamp_min(1e-12)  # [k]
            gradient = gradient * (clip / norm).clamp_max(1)[:, None, None, None]
        first, second = _BETAS
        self.mean.lerp_(gradient, 1 - first)
        self.square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
        spread = (self.square / bias).sqrt_().add_(1e-8)
        self.current.addcdiv_(self.mean * -rate, spread)

    @torch.no_grad()
    def look(self, certainty: float, patience: int | None) -> None:
        """Note the programs of the moving runs, and stop runs whose program stays the same.

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


@dataclass(frozen=True, eq=False)
class Batch:
    """Examples that are seen together: their rows, and the weights of their labels."""

    inputs: Inputs
    labels: tuple[Tensor, Tensor]  #: weights of the positive and of the negative label, [B] each
    pooling: Pooling | None = None  #: the rows of each example; None: every row is one


@dataclass(eq=False)
class Descent:
    """Takes steps of gradient descent.

    What is seen in one step may come in several batches, whose losses are added
    up: the memory that a step takes is then that of one of them.
    """

    training: TrainingConfig
    network: Network
    objective: Objective
    fixed: Tensor | None  #: weights of known rules, which every run has, [fixed, m, 3]
    unnegated: Tensor  #: atoms that must not be negated, [c]
    _recorded: _Recorded | None = None

    def step(self, runs: Runs, batches: Sequence[Batch], rate: float, steps: int) -> tuple[Terms, Tensor]:
        """One step of every moving run: its losses, and logits before it, [B, k].

        Parameters
        ----------
        batches
            What is seen.
        rate
            The learning rate.
        steps
            Of the round.
        """
        terms, logits, gradient = self._gradient(runs, runs.moving_mask, batches, runs.step / steps)
        runs.descend(gradient, rate, self.training.clip)
        self.refuse(runs)
        return terms, logits

    def refuse(self, runs: Runs) -> None:
        """Put readings that must not be where they were: Adam moves even by the smallest of gradients."""
        if len(self.unnegated):
            runs.current[..., 1].index_fill_(2, self.unnegated, _NEVER)

    def replayed(self, runs: Runs, batches: Sequence[Batch], steps: int) -> tuple[Terms, Tensor]:
        """The same on a CUDA device, where the same is seen in every step: recorded once, then replayed.

        What is handed back is overwritten by the next step.
        """
        training, recorded = self.training, self._recorded
        if recorded is not None and recorded.current is runs.current and recorded.batches is batches:
            recorded.graph.replay()
            runs.step += 1
            return recorded.found
        # What a step needs is made ready by taking one; recording takes none.
        found = self.step(runs, batches, rate_at(training, runs.step), steps)
        self._recorded = self._record(runs, batches, steps) if runs.step < steps else None
        return found

    def _record(self, runs: Runs, batches: Sequence[Batch], steps: int) -> _Recorded:
        first, second = _BETAS
        rates = [rate_at(self.training, step) / (1 - first ** (step + 1)) for step in range(steps)]
        clock = [[step / steps, rate, 1 - second ** (step + 1)] for step, rate in enumerate(rates)]
        table = torch.tensor(clock, dtype=torch.float64).to(runs.current.device)  # [steps, 3]
        place = torch.full((1,), runs.step, device=table.device)
        graph, mask = torch.cuda.CUDAGraph(), runs.moving_mask
        with torch.cuda.graph(graph):
            progress, rate, bias = table.index_select(0, place)[0].unbind()
            terms, logits, gradient = self._gradient(runs, mask, batches, progress)
            runs.move(gradient, rate, bias, self.training.clip)
            self.refuse(runs)
            place += 1
        return _Recorded(graph, runs.current, batches, (table, place, mask), (terms, logits))

    def may_replay(self, runs: Runs, batches: Sequence[Batch]) -> bool:
        """Whether launching the kernels of a step takes longer than they do, and all can be recorded."""
        if runs.current.device.type != "cuda" or len(batches) > 1:
            return False
        (batch,) = batches
        sharp = batch.pooling is not None and self.network.disjunction.needs_origin
        return not sharp and batch.inputs.n_visited * runs.current.shape[:2].numel() < _LAUNCHED

    def _gradient(
        self, runs: Runs, mask: Tensor, batches: Sequence[Batch], progress: Number
    ) -> tuple[Terms, Tensor, Tensor]:
        """Losses, logits, [B, k], and the gradient of every run, [k, n, m, 3]."""
        weights = runs.current.detach().requires_grad_()
        if len(batches) == 1:
            logits = self.soft(weights, mask, batches[0])
            terms = self.objective(logits, batches[0].labels, weights, mask, progress)
            (gradient,) = torch.autograd.grad(terms.total.sum(), weights)
            return terms, logits.detach(), gradient
        terms = self.objective(None, None, weights, mask, progress)
        (gradient,) = torch.autograd.grad(terms.total.sum(), weights)
        seen: list[Tensor] = []
        for batch in batches:
            logits = self.soft(weights, mask, batch)
            loss = cross_entropy(logits, *batch.labels)  # [k]
            gradient += torch.autograd.grad(loss.sum(), weights)[0]
            terms.add("cross_entropy", loss.detach())
            seen.append(logits.detach())
        return terms, torch.cat(seen), gradient

    def soft(self, weights: Tensor, mask: Tensor, batch: Batch) -> Tensor:
        """The head's logits, [B, k], the known rules put beside the subrules of every run."""
        if self.fixed is None:
            return self.network(weights, batch.inputs, mask, batch.pooling)
        known = self.fixed.expand(len(weights), -1, -1, -1)  # [k, fixed, m, 3]
        ones = mask.new_ones(len(mask), known.shape[1])
        weights, mask = torch.cat((weights, known), dim=1), torch.cat((mask, ones), dim=1)
        return self.network(weights, batch.inputs, mask, batch.pooling)


@dataclass(frozen=True, eq=False)
class _Recorded:
    """A step as a CUDA graph, and what it reads and writes, which must not go."""

    graph: torch.cuda.CUDAGraph
    current: Tensor  #: the weights that it moves
    batches: Sequence[Batch]
    kept: tuple[Tensor, ...]  #: what else it reads
    found: tuple[Terms, Tensor]


def rate_at(training: TrainingConfig, epoch: int) -> float:
    """The learning rate of an epoch.

    Examples
    --------
    >>> rate_at(TrainingConfig(learning_rate=0.1, learning_rate_decay=0.5), 2)
    0.025
    """
    return float(training.learning_rate * (1 - training.learning_rate_decay) ** epoch)
