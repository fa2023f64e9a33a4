"""Training: K independent runs of gradient descent, all in one set of tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from andre.errors import ConfigError
from andre.evaluation import CrispSample
from andre.learning.callbacks import Callback, Finished, Look, State, tell
from andre.learning.choose.selection import Pruner
from andre.learning.config import Config, Guide, TrainingConfig
from andre.learning.extraction import extract, settled_weights
from andre.limits import sized_threads, stage, unhurried
from andre.model import LOSSES, Inputs, Network, Objective, Pooling, Terms, row_weights, subrule_mask
from andre.samples import Membership, Sample

_BETAS = (0.9, 0.999)  # Adam's usual decay rates
#: Rows are drawn where there are more than so many times those that a round is to show.
_MANY = 5
#: The weight of a reading that must not be.
_NEVER = -20.0


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


class Trainer:
    """Trains rounds of runs on a sample.

    Parameters
    ----------
    sample
        The rows to learn from.
    config
        All settings.
    guide
        What must not be negated, and known rules: subrules that every run has and no run changes.
    validation
        Rows on which accuracy is watched, never learned from.
    """

    def __init__(
        self, sample: Sample, config: Config, guide: Guide, validation: Sample | None = None
    ) -> None:
        fixed, form = guide.fixed, guide.form
        self.config = config
        self.device = find_device(config.device)
        crisp = CrispSample.of(sample)
        #: What the learned rules are judged on: where a known rule fires, they have no say.
        self.crisp = crisp if fixed is None else crisp.settled(fixed)
        #: Shared by all that reads the runs' programs, so that each is pruned once.
        self.pruner = Pruner(self.crisp, config.selection.floor(self.crisp.totals[0]))
        self._fixed = None if fixed is None or not len(fixed) else settled_weights(fixed).to(self.device)
        columns = () if form is None else form.unnegated if form.negation else range(sample.space.m)
        self._unnegated = torch.as_tensor(list(columns), dtype=torch.long, device=self.device)
        self.network = Network(config.network)
        self.objective = Objective.of(sample.space, config.loss, self.device)
        self._sample, self._shown = sample, 0
        self._train = self._examples(0)
        self._validation = None if validation is None else _Examples(validation, config, self.device)

    def _examples(self, round_: int) -> _Examples:
        """What a round shows to its runs: all examples, or rows drawn anew where there are very many."""
        sample, most = self._sample, self.config.training.rows
        # What an example of several rows costs depends on its rows: those are thinned where they are counted.
        if (
            most is not None
            and sample.members is None
            and sample.heads is None
            and sample.n_rows > _MANY * most
        ):
            seed = np.random.SeedSequence([self.config.seed, round_, most]).generate_state(1)[0]
            sample = sample.thinned(most, int(seed)).weighing(sample.positives.sum(), sample.negatives.sum())
        return _Examples(sample, self.config, self.device)

    @property
    def steps(self) -> int:
        """Steps of a round: epochs, times batches in an epoch."""
        return self.config.training.steps * self._train.n_batches

    def start(self, round_: int) -> Runs:
        """Fresh runs for a round, as many as all rounds before it had."""
        training = self.config.training
        doubled = training.model_copy(update={"restarts": training.restarts * 2 ** max(0, round_ - 1)})
        seed = int(np.random.SeedSequence([self.config.seed, round_]).generate_state(1)[0])
        runs = Runs.start(self.crisp.space.m, doubled, seed, self.device)
        runs.current[:, :, self._unnegated, 1] = _NEVER
        return runs

    def train(self, state: State, callbacks: Sequence[Callback], stop: Callable[[], str | None]) -> None:
        """Run the round under way to its end, or until `stop` gives a reason."""
        runs = state.runs
        if runs is None:
            raise ValueError("a round is started before it is trained")
        if state.round != self._shown:
            self._shown, self._train = state.round, self._examples(state.round)
        check_every = self.config.training.check_every
        with sized_threads(self._train.inputs.n_visited * runs.current.shape[:2].numel()):
            while runs.step < state.steps and len(runs.moving) and state.stopped is None:
                with stage("training"):
                    terms, logits = self._step(runs, state.round, state.steps)
                    if runs.step % check_every == 0 or runs.step == state.steps:
                        self._look(state, runs, terms, logits)
                        tell(callbacks, "on_extract", state)
                    tell(callbacks, "on_step", state)
                state.stopped = state.stopped or stop()
        runs.weights[runs.moving] = runs.current  # wherever training stopped

    def finish(self, runs: Runs) -> Finished:
        """What the runs of a round came to."""
        return Finished(
            weights=runs.weights.cpu().numpy(),
            n_rules=runs.n_rules.cpu().numpy(),
            codes=extract(runs.weights, runs.mask, self.config.selection.certainties),
        )

    def _step(self, runs: Runs, round_: int, steps: int) -> tuple[Terms, Tensor]:
        """One step of gradient descent for every moving run."""
        training = self.config.training
        rate = training.learning_rate * (1 - training.learning_rate_decay) ** (
            runs.step // self._train.n_batches
        )
        inputs, pooling, labels = self._train.batch((self.config.seed, round_, runs.step))
        weights, mask = runs.current.requires_grad_(), runs.moving_mask
        try:
            logits = self.network(*self._with_fixed(weights, mask, inputs), pooling)  # [B, k]
            terms = self.objective(logits, labels, weights, mask, runs.step / steps)
            (gradient,) = torch.autograd.grad(terms.total.sum(), weights)
        finally:  # also where time runs out in the midst of a step
            runs.current.requires_grad_(False)
        runs.descend(gradient, rate, training.clip)
        runs.current[:, :, self._unnegated, 1] = _NEVER  # Adam moves even by the smallest of gradients
        return terms, logits.detach()

    def _look(self, state: State, runs: Runs, terms: Terms, logits: Tensor) -> None:
        """Note how the runs fare, read their programs, and let converged runs go."""
        everyone, moving = len(runs.weights), runs.moving.cpu().numpy()
        losses = np.full((len(LOSSES), everyone), np.nan, dtype=np.float32)
        losses[:, moving] = terms.stacked.detach().cpu().numpy()
        train, validation = (np.full(everyone, np.nan, dtype=np.float32) for _ in range(2))
        with unhurried():
            whole = logits if self._train.size is None else self._soft(runs, self._train)
            train[moving] = self._train.accuracy(whole)
            if self._validation is not None:
                validation[moving] = self._validation.accuracy(self._soft(runs, self._validation))
        state.history.append(Look(state.round, runs.step, losses, train, validation))
        before = runs.codes.clone()
        runs.look(min(self.config.selection.certainties), self.config.training.patience)
        news = runs.codes[(runs.codes != before).flatten(1).any(1)]  # most runs say what they said before
        with unhurried():  # a look is taken whole, so that work that goes on from it ends the same
            for codes in torch.unique(news, dim=0).cpu().numpy():
                candidate = self.pruner(codes)
                if candidate.rank < state.best.rank:
                    state.best = candidate

    @torch.no_grad()
    def _soft(self, runs: Runs, seen: _Examples) -> Tensor:
        return self.network(*self._with_fixed(runs.current, runs.moving_mask, seen.inputs), seen.pooling)

    def _with_fixed(self, weights: Tensor, mask: Tensor, inputs: Inputs) -> tuple[Tensor, Inputs, Tensor]:
        """The arguments of the network, the known rules put beside the subrules of every run."""
        if self._fixed is None:
            return weights, inputs, mask
        known = self._fixed.expand(len(weights), -1, -1, -1)  # [k, fixed, m, 3]
        ones = mask.new_ones(len(mask), known.shape[1])
        return torch.cat((weights, known), dim=1), inputs, torch.cat((mask, ones), dim=1)


class _Examples:
    """A sample on the device: inputs, the rows of its examples, and the weights of their labels."""

    def __init__(self, sample: Sample, config: Config, device: torch.device) -> None:
        batch = config.training.batch
        #: Examples of a batch; None: every step sees all.
        self.size = None if batch is None or batch >= sample.n_examples else batch
        self._members = sample.members
        self._n = sample.n_examples
        # A batch of examples has a varying number of rows, several each.
        seen = self.size if sample.members is None else None
        self.inputs = Inputs.encode(
            sample.valuations, levels=config.network.levels, batch=seen, device=device
        )
        self.pooling = None if sample.members is None else Pooling.of(sample.members, sample.n_rows, device)
        self._raw = np.stack(sample.counted)  # [2, B]
        balanced = torch.stack(row_weights(sample, config.loss))  # [2, B] in float64
        self._draw = balanced.sum(0)  # [B]
        if self.size is not None:
            # A batch weighs as much as it has examples, or 1 in all where losses are means.
            balanced = balanced / self._draw * (1 if config.loss.reduction == "sum" else 1 / self.size)
        elif batch is not None and config.loss.reduction == "sum":
            # So does one that holds every distinct example, however often these occur.
            balanced = balanced * min(1.0, batch / float(self._draw.sum()))
        self._labels = balanced.float().to(device)

    @property
    def n_batches(self) -> int:
        """Batches that make an epoch."""
        return 1 if self.size is None else math.ceil(self._n / self.size)

    def batch(self, seed: tuple[int, ...]) -> tuple[Inputs, Pooling | None, tuple[Tensor, Tensor]]:
        """All examples, or some drawn by their weights; the same for the same seed."""
        labels = self._labels
        if self.size is None:
            return self.inputs, self.pooling, (labels[0], labels[1])
        state = int(np.random.SeedSequence(seed).generate_state(1)[0])
        generator = torch.Generator().manual_seed(state)
        index = torch.multinomial(self._draw, self.size, replacement=True, generator=generator)
        chosen = index.to(labels.device)
        drawn = labels[0, chosen], labels[1, chosen]
        if self._members is None:
            return self.inputs.rows(chosen), None, drawn
        members = self._members.take(index.numpy())
        rows, place = np.unique(members.rows, return_inverse=True)
        pooling = Pooling.of(Membership(members.starts, place.ravel()), len(rows), labels.device)
        return self.inputs.rows(torch.as_tensor(rows, device=labels.device)), pooling, drawn

    def accuracy(self, logits: Tensor) -> np.ndarray:
        """The share of labels that the soft programs get right, [k]."""
        fires = (logits > 0).cpu().numpy().astype(np.float64)  # [B, k]
        right = self._raw[0] @ fires + self._raw[1] @ (1 - fires)
        return np.asarray(right / self._raw.sum(), dtype=np.float32)


def find_device(name: str) -> torch.device:
    """The device of a name, refused where torch has none such."""
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ConfigError(f"there is no device {name!r}: use cpu or cuda") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError("the device is cuda, but torch sees no CUDA device here: use device=cpu")
    return device
