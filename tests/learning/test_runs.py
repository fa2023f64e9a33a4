"""The runs' optimiser is Adam, clipped run by run; converged runs leave and nothing else changes."""

import numpy as np
import pytest
import torch

from andre.errors import ConfigError
from andre.learning import Config, Guide, Runs, TrainingConfig, fit
from andre.learning.descent.runs import Descent
from andre.learning.descent.trainer import Trainer
from andre.model import Objective
from andre.samples import SYNTHETIC_TASKS, Form, Membership, RuleSpace, Sample


def start(seed: int = 0, restarts: int = 2, **settings) -> Runs:
    config = TrainingConfig(restarts=restarts, subrules=(1, 2), **settings)
    return Runs.start(m=3, config=config, seed=seed)


def gradient(weights: torch.Tensor, step: int) -> torch.Tensor:
    """Of a bumpy function, a little different at every step."""
    return torch.sin(3 * weights + step) + 0.3 * weights


@pytest.mark.parametrize("rate", [0.1, 0.001])
def test_a_step_is_adams(rate: float) -> None:
    runs = start(init=1.0)
    theirs = runs.current.clone().requires_grad_()
    adam = torch.optim.Adam([theirs], lr=rate)
    for step in range(20):
        runs.descend(gradient(runs.current, step), rate, clip=None)
        theirs.grad = gradient(theirs.detach(), step)
        adam.step()
        torch.testing.assert_close(runs.current, theirs.detach(), rtol=1e-5, atol=1e-6)
    assert runs.step == 20


def test_every_run_is_clipped_by_its_own_norm() -> None:
    runs, clip = start(), 1.0
    raw = torch.randn(runs.current.shape, generator=torch.Generator().manual_seed(1))
    norms = raw.flatten(1).norm(dim=1)
    raw *= (torch.tensor([0.5, 4.0, 1e-3, 100.0]) / norms)[:, None, None, None]
    runs.descend(raw, rate=0.1, clip=clip)
    # After one step Adam's first moment is a tenth of the gradient it was given.
    given = runs.mean.flatten(1).norm(dim=1) * 10
    torch.testing.assert_close(given, torch.tensor([0.5, 1.0, 1e-3, 1.0]), rtol=1e-4, atol=1e-7)
    for k in range(4):  # and the direction is the gradient's
        cosine = torch.nn.functional.cosine_similarity(runs.mean[k].flatten(), raw[k].flatten(), dim=0)
        assert cosine == pytest.approx(1.0, abs=1e-5)


def test_a_gradient_of_zero_moves_nothing() -> None:
    runs = start()
    before = runs.current.clone()
    runs.descend(torch.zeros_like(before), rate=0.1, clip=1.0)
    assert torch.equal(runs.current, before)


def test_a_seed_draws_the_same_runs() -> None:
    assert torch.equal(start(3).weights, start(3).weights)
    assert not torch.equal(start(3).weights, start(4).weights)


def test_the_first_weights_have_the_spread_asked_for() -> None:
    config = TrainingConfig(restarts=50, subrules=(4,), init=0.7)
    weights = Runs.start(m=20, config=config, seed=0).weights
    assert weights.std().item() == pytest.approx(0.7, rel=0.05)
    assert weights.mean().item() == pytest.approx(0.0, abs=0.05)


def settle(runs: Runs, run: int, reading: int) -> None:
    """Let a run say something certain about its first atom, and leave the rest out."""
    runs.current[run] = 0
    runs.current[run, :, :, 2] = 20.0
    runs.current[run, 0, 0] = 0
    runs.current[run, 0, 0, reading] = 20.0


def test_a_run_leaves_after_saying_the_same_at_enough_looks() -> None:
    runs = start()
    settle(runs, 1, reading=0)
    runs.look(certainty=0.4, patience=2)  # the first time it says so
    assert runs.moving.tolist() == [0, 1, 2, 3]
    runs.look(certainty=0.4, patience=2)
    assert runs.moving.tolist() == [0, 1, 2, 3]
    runs.look(certainty=0.4, patience=2)
    assert runs.moving.tolist() == [0, 2, 3]
    assert len(runs.current) == len(runs.mean) == len(runs.square) == 3
    assert runs.codes[1, 0].tolist() == [1, 0, 0]


def test_a_run_that_changes_its_mind_or_says_nothing_stays() -> None:
    runs = start(restarts=1)
    for look in range(6):
        settle(runs, 0, reading=look % 2)
        settle(runs, 1, reading=2)  # leaves everything out: says nothing
        runs.look(certainty=0.4, patience=1)
    assert runs.moving.tolist() == [0, 1]


def test_without_patience_nobody_leaves() -> None:
    runs = start()
    settle(runs, 0, reading=0)
    for _ in range(9):
        runs.look(certainty=0.4, patience=None)
    assert len(runs.moving) == 4


def test_those_who_stay_go_on_as_before() -> None:
    """A run's path is the same whether others have left or not."""
    company, alone = start(init=1.0), start(init=1.0)
    settle(company, 1, reading=0)
    for step in range(6):
        for runs, patience in ((company, 1), (alone, None)):
            runs.descend(gradient(runs.current, step), 0.05, clip=1.0)
            if runs is company and 1 in runs.moving:
                settle(runs, 1, reading=0)
            runs.look(certainty=0.01, patience=patience)
    assert company.moving.tolist() == [0, 2, 3]
    torch.testing.assert_close(company.weights[[0, 2, 3]], alone.weights[[0, 2, 3]])
    assert company.weights[1, 0, 0].tolist() == [20, 0, 0]  # as it was when it left


def test_the_rate_falls_epoch_by_epoch_and_the_schedule_goes_on_step_by_step(monkeypatch) -> None:
    rates, shares = [], []
    descend, judge = Runs.descend, Objective.__call__
    monkeypatch.setattr(Runs, "descend", lambda *args: (rates.append(args[2]), descend(*args))[1])
    monkeypatch.setattr(Objective, "__call__", lambda *args: (shares.append(args[-1]), judge(*args))[1])
    settings = {"restarts": 1, "rounds": 1, "subrules": (2,), "steps": 4, "batch": 10, "patience": None}
    config = Config.preset(**settings, learning_rate=0.1, learning_rate_decay=0.5)
    fit(SYNTHETIC_TASKS["four"].sample(25, seed=0), config)
    assert rates == pytest.approx([0.1 * 0.5 ** (step // 3) for step in range(12)])  # three batches an epoch
    assert shares == pytest.approx([step / 12 for step in range(12)])


@pytest.mark.parametrize(("negation", "columns"), [(True, [1]), (False, [0, 1, 2, 3])])
def test_what_must_not_be_negated_is_held_there_at_every_step(monkeypatch, negation, columns) -> None:
    """However small its gradient is, Adam would move it."""
    seen, judge = [], Objective.__call__
    monkeypatch.setattr(
        Objective, "__call__", lambda *args: (seen.append(args[3].detach().clone()), judge(*args))[1]
    )
    sample = SYNTHETIC_TASKS["four"].sample(50, seed=0)
    form = Form(sample.space, negation=negation, unnegated=(1,))
    fit(sample, Config.preset(restarts=2, rounds=1, steps=30), guide=Guide(form))
    assert len(seen) == 30
    assert torch.softmax(seen[0], -1)[:, :, columns, 1].max() < 1e-6
    for weights in seen:
        assert torch.equal(weights[:, :, columns, 1], seen[0][: len(weights), :, columns, 1])
    assert not torch.equal(seen[-1], seen[0][: len(seen[-1])])


def bags(n_rows: int = 900, n_examples: int = 400) -> Sample:
    """Examples of one to five rows each, many of which have rows in common."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 6, n_examples)
    rows = np.concatenate([rng.choice(n_rows, size, replace=False) for size in sizes])
    members = Membership(np.append(0, sizes.cumsum()), rows)
    table = rng.random((n_rows, 6)) > 0.5
    covered = members.lift(table[:, 0] & ~table[:, 3])
    space = RuleSpace.from_names([f"b{j}" for j in range(6)])
    return Sample(space, table.astype(float), covered.astype(int), (~covered).astype(int), members=members)


@pytest.mark.parametrize("sample", [SYNTHETIC_TASKS["R2"].sample(300, seed=0), bags()], ids=["rows", "bags"])
@pytest.mark.parametrize("halvings", [1, 3])
def test_what_is_seen_in_pieces_adds_up_to_the_same_step(sample: Sample, halvings: int) -> None:
    """Losses are sums over examples: what is seen piece by piece moves the runs as what is seen together."""
    found, seen = [], []
    for times in (0, halvings):
        trainer = Trainer(sample, Config.preset(restarts=1), Guide())
        runs = trainer.start(0)
        for _ in range(times):
            trainer._train.halve()
        batches = trainer._train.batches((0,))
        assert sum(len(batch.labels[0]) for batch in batches) == sample.n_examples
        seen.append(max(batch.inputs.n_rows for batch in batches))
        terms, logits = trainer.descent.step(runs, batches, 0.1, 10)
        found.append((terms.stacked, logits, runs.current))
    assert seen[1] <= max(256, (seen[0] + 1) // 2)
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one.detach(), other.detach(), rtol=1e-4, atol=1e-5)


def test_less_is_seen_at_a_time_where_memory_is_short(monkeypatch) -> None:
    seen, step = [], Descent.step

    def short(self, runs, batches, *others):
        seen.append(max(batch.inputs.n_rows for batch in batches))
        if seen[-1] > 300:
            raise torch.OutOfMemoryError
        return step(self, runs, batches, *others)

    monkeypatch.setattr(Descent, "step", short)
    task = SYNTHETIC_TASKS["R1"]
    sample = task.sample(1000, seed=0)
    result = fit(sample, Config.preset(restarts=1, rounds=1, steps=60))
    assert seen[:4] == [sample.n_rows, sample.n_rows // 2, sample.n_rows // 4, sample.n_rows // 4]
    assert result.program == task.program


def test_memory_that_is_never_enough_is_said(monkeypatch) -> None:
    def never(self, *others):
        raise torch.OutOfMemoryError

    monkeypatch.setattr(Descent, "step", never)
    with pytest.raises(ConfigError, match="device=cpu"):
        fit(SYNTHETIC_TASKS["R1"].sample(400, seed=0), Config.preset(restarts=1, rounds=1))


def test_auto_says_where_runs_were_trained() -> None:
    sample = SYNTHETIC_TASKS["R1"].sample(100, seed=0)
    result = fit(sample, Config.preset(restarts=1, rounds=1, steps=5, device="auto"))
    if not torch.cuda.is_initialized():
        assert result.config.device == "cpu"
