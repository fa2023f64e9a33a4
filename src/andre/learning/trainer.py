"""The trainer: all runs descend together, in one tensor program."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from andre.errors import ConfigError
from andre.evaluation.crisp import CrispSample
from andre.evaluation.description import program_length
from andre.grounding import Membership, Sample
from andre.learning.callbacks import Callback
from andre.learning.config import Config
from andre.learning.extraction import distinct_bodies, extract, settled_weights
from andre.learning.guide import Guide
from andre.learning.runs import Runs
from andre.learning.selection import Candidate, prune
from andre.learning.state import Finished, Look, State
from andre.learning.threads import sized_threads
from andre.model import Inputs, Network, Objective, Pooling, Terms, row_weights

__all__ = ["Trainer", "tell"]

#: The weight of a reading that must not be.
_NEVER = -20.0


class Trainer:
    """Trains rounds of runs on a sample.

    Parameters
    ----------
    sample
        The rows to learn from.
    config
        All settings.
    validation
        Rows on which accuracy is watched, never learned from.
    guide
        What must not be negated, and known rules: subrules that every run has and
        none changes.
    """

    def __init__(
        self,
        sample: Sample,
        config: Config,
        validation: Sample | None = None,
        guide: Guide | None = None,
    ) -> None:
        fixed, form = (None, None) if guide is None else (guide.fixed, guide.form)
        self.config = config
        self.device = _device(config.device)
        crisp = CrispSample.of(sample)
        #: What the learned rules are judged on: where a known rule fires, they have no say.
        self.crisp = crisp if fixed is None else crisp.settled(fixed)
        self.floor = config.selection.floor(self.crisp.totals[0])  #: what their rules must reach
        self._fixed = None if fixed is None or not len(fixed) else settled_weights(fixed).to(self.device)
        columns = () if form is None else form.unnegated if form.negation else range(sample.space.m)
        self._unnegated = torch.as_tensor(list(columns), dtype=torch.long, device=self.device)
        self.network = Network(config.network)
        self.objective = Objective.of(sample.space, config.loss, self.device)
        self._train = _Examples(sample, config, self.device)
        self._validation = None if validation is None else _Examples(validation, config, self.device)

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
        check_every = self.config.training.check_every
        with sized_threads(self._train.inputs.n_visited * runs.current.shape[:2].numel()):
            while runs.step < state.steps and len(runs.moving) and state.stopped is None:
                terms, logits = self._step(runs, state.round, state.steps)
                if runs.step % check_every == 0 or runs.step == state.steps:
                    self._look(state, runs, terms, logits)
                    tell(callbacks, "on_extract", state)
                tell(callbacks, "on_step", state)
                state.stopped = state.stopped or stop()
        runs.weights[runs.moving] = runs.current  # wherever training stopped

    def finish(self, runs: Runs) -> Finished:
        """What a round has come to."""
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
        logits = self.network(*self._with_fixed(weights, mask, inputs), pooling)  # [B, k]
        terms = self.objective(logits, labels, weights, mask, runs.step / steps)
        (gradient,) = torch.autograd.grad(terms.total.sum(), weights)
        runs.current.requires_grad_(False)
        runs.descend(gradient, rate, training.clip)
        runs.current[:, :, self._unnegated, 1] = _NEVER  # Adam moves even by the smallest of gradients
        return terms, logits.detach()

    def _look(self, state: State, runs: Runs, terms: Terms, logits: Tensor) -> None:
        """Note how the runs fare, read their programs, and let converged runs go."""
        everyone, moving = len(runs.weights), runs.moving.cpu().numpy()
        losses = np.full((6, everyone), np.nan, dtype=np.float32)
        losses[:, moving] = torch.stack(list(vars(terms).values())).detach().cpu().numpy()
        train, validation = (np.full(everyone, np.nan, dtype=np.float32) for _ in range(2))
        if self._train.whole:
            train[moving] = self._train.accuracy(logits)
        else:
            train[moving] = self._train.accuracy(self._soft(runs, self._train))
        if self._validation is not None:
            validation[moving] = self._validation.accuracy(self._soft(runs, self._validation))
        state.history.append(Look(state.round, runs.step, losses, train, validation))
        before = runs.codes.clone()
        runs.look(min(self.config.selection.certainties), self.config.training.patience)
        news = runs.codes[(runs.codes != before).flatten(1).any(1)]  # most runs say what they said before
        for codes in torch.unique(news, dim=0).cpu().numpy():
            sound = prune(self.crisp, distinct_bodies(codes), self.floor)
            candidate = Candidate(sound, program_length(self.crisp, sound))
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
        # A batch weighs as much as it has examples, or 1 in all where losses are means.
        share = balanced / self._draw * (1 if config.loss.reduction == "sum" else 1 / (self.size or 1))
        whole = self.size is None
        self._labels = (balanced if whole else share).float().to(device)

    @property
    def whole(self) -> bool:
        """Whether every step sees all examples."""
        return self.size is None

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


def tell(callbacks: Sequence[Callback], hook: str, state: State) -> None:
    """Call a hook of every callback; a KeyboardInterrupt from one asks learning to stop."""
    for callback in callbacks:
        try:
            getattr(callback, hook)(state)
        except KeyboardInterrupt:
            state.stopped = "interrupted"


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ConfigError(f"there is no device {name!r}: use cpu or cuda") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError("the device is cuda, but torch sees no CUDA device here: use device=cpu")
    return device
