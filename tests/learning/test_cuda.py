"""The same programs on a CUDA device as on the CPU."""

from pathlib import Path

import numpy as np
import pytest
import torch

from andre.api import fit
from andre.evaluation import CrispSample
from andre.learning import Callback, Config, Guide, State
from andre.learning.descent.devices import find_device
from andre.learning.descent.trainer import Trainer
from andre.model import Inputs, Network, NetworkConfig
from andre.model.conjunction import Direct, coefficients, extremes, features, sum_terms
from andre.model.fused import Fused
from andre.model.operators import SoftminAttention
from andre.samples import SYNTHETIC_TASKS, random_task

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device"),
]


@pytest.mark.parametrize(
    ("name", "rows", "noise"),
    [("four", 100, 0.0), ("R2", 300, 0.0), ("R5", 1000, 0.1), ("grandparent", 1000, 0)],
)
def test_programs_are_recovered(name: str, rows: int, noise: float) -> None:
    task = SYNTHETIC_TASKS[name]
    result = fit(task.sample(rows, 0, noise), Config.preset("default", device="cuda"))
    assert result.program == task.program


@pytest.mark.parametrize("settings", [{}, {"batch": 64, "rounds": 1}])
def test_a_seed_gives_the_same_program_again(settings: dict) -> None:
    sample = SYNTHETIC_TASKS["R3"].sample(400, 0, noise=0.1)
    config = Config.preset("default", device="cuda", seed=2, **settings)
    one, two = fit(sample, config), fit(sample, config)
    assert str(one.program) == str(two.program)


@pytest.mark.parametrize("beta", [20.0, 200.0])
def test_values_and_gradients_are_the_cpus(beta: float) -> None:
    rng = np.random.default_rng(0)
    table = np.hstack((rng.random((900, 3)), rng.integers(0, 2, (900, 3)), np.round(rng.random((900, 3)), 1)))
    table[rng.random(table.shape) < 0.05] = np.nan
    start = torch.randn(3, 2, 9, 3, generator=torch.Generator().manual_seed(0))
    found = []
    for device in ("cpu", "cuda"):
        weights = start.to(device).requires_grad_()
        logits = Network(NetworkConfig(beta=beta))(weights, Inputs.encode(table, levels=None, device=device))
        (gradient,) = torch.autograd.grad(logits.square().sum(), weights)
        found.append((logits.detach().cpu(), gradient.cpu()))
    torch.testing.assert_close(found[0], found[1], rtol=1e-3, atol=1e-3)


def test_work_begun_on_the_cpu_ends_on_the_device(tmp_path: Path) -> None:
    class Stop(Callback):
        def on_step(self, state: State) -> None:
            if state.runs is not None and state.runs.step == 40:
                raise KeyboardInterrupt

    task = SYNTHETIC_TASKS["R1"]
    sample = task.sample(200, 0)
    fit(sample, Config.preset("default"), callbacks=[Stop()], checkpoint=tmp_path)
    assert fit(sample, Config.preset("default", device="cuda"), checkpoint=tmp_path).program == task.program


@pytest.mark.parametrize("beta", [0.01, 1.0, 20.0, 80.0, 200.0, 1000.0])
@pytest.mark.parametrize("unknown", [0.0, 0.1])
@pytest.mark.parametrize(
    ("rows", "columns", "runs"), [(1, 1, 1), (70, 5, 6), (1000, 17, 72), (4097, 200, 64)]
)
def test_fused_sums_are_those_in_double_precision(
    rows: int, columns: int, runs: int, unknown: float, beta: float
) -> None:
    """Values and gradients to 1e-5."""
    generator = torch.Generator("cuda").manual_seed(rows + columns)
    values = torch.rand(columns, rows, device="cuda", generator=generator)
    values[torch.rand(values.shape, device="cuda", generator=generator) < unknown] = float("nan")
    weights = torch.randn(runs, 1, columns, 3, device="cuda", generator=generator)
    upstream = torch.randn(rows, runs, device="cuda", generator=generator)
    coefs = coefficients(torch.softmax(2 * weights, dim=-1))
    op, every = SoftminAttention(beta), torch.arange(columns, device="cuda")
    found = []
    for double in (True, False):
        own = coefs.to(torch.float64 if double else torch.float32).detach().requires_grad_()
        if double:
            plain = Direct(every, features(values.double()), 1 << 24)
            shift = extremes(plain, own.detach(), op) if op.needs_origin else None
            sums = sum_terms(plain, own, op, rows, shift)
        else:
            fused = Fused(every, values, known=not unknown)
            shift = fused.least(own.detach()) if op.needs_origin else None
            sums = fused.sums(own, beta, shift)
        value = op.finish(sums, columns, shift)
        (gradient,) = torch.autograd.grad((value * upstream).sum(), own)
        found.append((value.detach().double(), gradient.double()))
    (value, gradient), (fused_value, fused_gradient) = found
    assert float((fused_value - value).abs().max()) < 1e-5
    assert float((fused_gradient - gradient).norm() / gradient.norm()) < 1e-5


def test_a_recorded_step_is_the_step() -> None:
    sample = SYNTHETIC_TASKS["R3"].sample(400, 0, noise=0.1)
    found = []
    for replay in (False, True):
        trainer = Trainer(sample, Config.preset(device="cuda", patience=None), Guide())
        runs, batches = trainer.start(0), trainer._train.every
        assert trainer.descent.may_replay(runs, batches)
        for _ in range(30):
            if replay:
                trainer.descent.replayed(runs, batches, 150)
            else:
                trainer.descent.step(runs, batches, 0.1 * (1 - 1e-4) ** runs.step, 150)
        assert runs.step == 30
        found.append(runs.current)
    torch.testing.assert_close(found[0], found[1], rtol=1e-3, atol=1e-3)


def test_a_card_counts_what_the_processor_counts() -> None:
    task = random_task(40, 3, 0)
    sample, codes = task.sample(70_000, 0), np.eye(40, dtype=np.int8)[:20]
    host, card = CrispSample.of(sample), CrispSample.of(sample, "cuda")
    assert np.array_equal(
        host.label_counts(host.row_extents(codes)), card.label_counts(card.row_extents(codes))
    )
    sets = host.extents(codes)
    assert np.array_equal(host.common_counts(sets), card.common_counts(sets))


def test_auto_takes_a_card_for_many_valuations() -> None:
    assert find_device("auto", 10**9).type == "cuda"
