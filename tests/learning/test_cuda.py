"""The same programs on a CUDA device as on the CPU."""

from pathlib import Path

import numpy as np
import pytest
import torch

from andre.api import fit
from andre.learning import Callback, Config, State
from andre.model import Inputs, Network, NetworkConfig
from andre.samples import SYNTHETIC_TASKS

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
