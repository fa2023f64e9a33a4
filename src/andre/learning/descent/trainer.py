"""Training: K independent runs of gradient descent, all in one set of tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from andre.errors import ConfigError
from andre.evaluation import CrispSample
from andre.learning.callbacks import Callback, Finished, Look, State, tell
from andre.learning.choose.selection import Pruner
from andre.learning.config import Config, Guide
from andre.learning.descent.devices import find_device
from andre.learning.descent.extraction import extract, settled_weights
from andre.learning.descent.runs import Batch, Descent, Runs, rate_at
from andre.limits import stage, unhurried
from andre.model import LOSSES, Inputs, Network, Objective, Pooling, Terms, row_weights
from andre.samples import Membership, Sample

#: Rows are drawn where there are more than so many times those that a round is to show.
_MANY = 5
#: Rows that are seen together: what a step takes in memory is bounded by them.
_TOGETHER = 1 << 16
#: Rows that are not shared out further where memory is short.
_FEWEST = 256
#: From this many numbers computed at a time, several threads pay.
_WORTH_SHARING = 1_000_000


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
        self.device = find_device(config.device, sample.valuations.size)
        #: All settings, the device that was found among them.
        self.config = config = config.model_copy(update={"device": str(self.device)})
        crisp = CrispSample.of(sample, None if self.device.type == "cpu" else str(self.device))
        #: What the learned rules are judged on: where a known rule fires, they have no say.
        self.crisp = crisp if fixed is None else crisp.settled(fixed)
        #: Shared by all that reads the runs' programs, so that each is pruned once.
        self.pruner = Pruner(self.crisp, config.selection.floor(self.crisp.totals[0]))
        columns = () if form is None else form.unnegated if form.negation else range(sample.space.m)
        self.descent = Descent(
            config.training,
            Network(config.network),
            Objective.of(sample.space, config.loss, self.device),
            fixed=None if fixed is None or not len(fixed) else settled_weights(fixed).to(self.device),
            unnegated=torch.as_tensor(list(columns), dtype=torch.long, device=self.device),
        )
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
        self.descent.refuse(runs)
        return runs

    def train(self, state: State, callbacks: Sequence[Callback], stop: Callable[[], str | None]) -> None:
        """Run the round under way to its end, or until `stop` gives a reason."""
        runs = state.runs
        if runs is None:
            raise ValueError("a round is started before it is trained")
        if state.round != self._shown:
            self._shown, self._train = state.round, self._examples(state.round)
        check_every = self.config.training.check_every
        with sized_threads(self._train.n_visited * runs.current.shape[:2].numel()):
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
        while True:
            batches = self._train.batches((self.config.seed, round_, runs.step))
            try:
                if self._train.size is None and self.descent.may_replay(runs, batches):
                    return self.descent.replayed(runs, batches, steps)
                rate = rate_at(self.config.training, runs.step // self._train.n_batches)
                return self.descent.step(runs, batches, rate, steps)
            except torch.OutOfMemoryError:  # the runs have not moved yet
                if not self._train.halve():
                    raise ConfigError(
                        f"a step of {len(runs.moving)} runs does not fit into the memory of {self.device}, "
                        f"however few rows are seen at a time: use device=cpu, or fewer restarts"
                    ) from None

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
        mask = runs.moving_mask
        return torch.cat([self.descent.soft(runs.current, mask, batch) for batch in seen.every])


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
        self._inputs = Inputs.encode(
            sample.valuations, levels=config.network.levels, batch=seen, device=device
        )
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
        #: All examples, so many rows at a time; together, as long as memory lasts, where they share rows.
        self.every: tuple[Batch, ...]
        self._share_out(_TOGETHER if sample.members is None else sample.n_rows)

    def _share_out(self, most: int) -> None:
        """See so many rows at a time; a row that examples of several parts share is seen with each."""
        labels, members = self._labels, self._members
        if members is None:
            pieces = self._inputs.pieces(most)
            self.every = tuple(Batch(part, (labels[0, rows], labels[1, rows])) for rows, part in pieces)
        elif self._inputs.n_rows <= most:
            pooling = Pooling.of(members, self._inputs.n_rows, labels.device)
            self.every = (Batch(self._inputs, (labels[0], labels[1]), pooling),)
        else:
            self.every = tuple(self._batch(torch.arange(run.start, run.stop)) for run in members.runs(most))

    def halve(self) -> bool:
        """See half as many rows at a time, if that can be: whether there is less to hold in memory now."""
        rows, parts = max(batch.inputs.n_rows for batch in self.every), len(self.every)
        if self.size is not None or rows <= _FEWEST or parts == self._n:
            return False
        self._share_out(rows // 2)
        return True

    @property
    def n_visited(self) -> int:
        """How many values a pass works through for one subrule."""
        return self._inputs.n_visited

    @property
    def n_batches(self) -> int:
        """Batches that make an epoch."""
        return 1 if self.size is None else math.ceil(self._n / self.size)

    def batches(self, seed: tuple[int, ...]) -> tuple[Batch, ...]:
        """All examples, or some drawn by their weights; the same for the same seed."""
        if self.size is None:
            return self.every
        state = int(np.random.SeedSequence(seed).generate_state(1)[0])
        generator = torch.Generator().manual_seed(state)
        index = torch.multinomial(self._draw, self.size, replacement=True, generator=generator)
        return (self._batch(index),)

    def _batch(self, index: Tensor) -> Batch:
        """Some examples and the rows that they have."""
        device = self._labels.device
        chosen = index.to(device)
        labels = self._labels[0, chosen], self._labels[1, chosen]
        if self._members is None:
            return Batch(self._inputs.rows(chosen), labels)
        members = self._members.take(index.numpy())
        rows, place = np.unique(members.rows, return_inverse=True)
        pooling = Pooling.of(Membership(members.starts, place.ravel()), len(rows), device)
        return Batch(self._inputs.rows(torch.as_tensor(rows, device=device)), labels, pooling)

    def accuracy(self, logits: Tensor) -> np.ndarray:
        """The share of labels that the soft programs get right, [k]."""
        fires = (logits > 0).cpu().numpy().astype(np.float64)  # [B, k]
        right = self._raw[0] @ fires + self._raw[1] @ (1 - fires)
        return np.asarray(right / self._raw.sum(), dtype=np.float32)


@contextmanager
def sized_threads(work: int) -> Iterator[None]:
    """Use a single thread of torch for little work: distributing small pieces costs more than it saves.

    Parameters
    ----------
    work
        How many numbers are computed at a time.

    Examples
    --------
    >>> with sized_threads(100):
    ...     torch.get_num_threads()
    1
    """
    before = torch.get_num_threads()
    if work < _WORTH_SHARING:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
