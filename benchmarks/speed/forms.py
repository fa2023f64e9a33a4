"""The conjunction in three forms, at the size of a large knowledge base.

Run as a script with a form's name (plain, blocked, tabulated), it says how much memory one pass takes:

    python benchmarks/speed/forms.py tabulated
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from andre.model import Inputs
from andre.model.operators import SoftminAttention

BETA = 20.0
#: Rows, candidate atoms, subrules, runs.
LARGE = (30_000, 275, 4, 8)
GRADED = (5_000, 50, 3, 16)

Form = Callable[[Tensor], Tensor]


def plain(valuations: Tensor, weights: Tensor) -> Tensor:
    """The paper's formulas as they stand: every row, subrule and atom at once, [U, K * n]."""
    p1, p2, p3 = torch.softmax(weights, dim=-1).flatten(0, 1).unbind(-1)  # [R, m] each
    b = valuations[:, None, :]  # [U, 1, m]
    soft = 1 - (1 - p1 * b) * (1 - p2 * (1 - b)) * (1 - p3)  # [U, R, m]
    attention = torch.softmax(-BETA * soft, dim=-1)  # [U, R, m]
    return (attention * soft).sum(-1)  # [U, R]


def ours(inputs: Inputs, weights: Tensor) -> Tensor:
    """The library's conjunction, in whatever form the inputs have."""
    return inputs.conjunction(torch.softmax(weights, dim=-1), SoftminAttention(BETA))


def valuations(size: tuple[int, int, int, int], *, boolean: bool) -> NDArray[np.float64]:
    """Random truth values, [U, m]: 0 and 1, or on 64 levels."""
    table = np.random.default_rng(0).random(size[:2])
    return (table > 0.7).astype(np.float64) if boolean else np.rint(table * 63) / 63


def random_weights(size: tuple[int, int, int, int]) -> Tensor:
    """Weights of K runs of n subrules, [K, n, m, 3]."""
    _, m, n, runs = size
    return torch.randn(runs, n, m, 3, generator=torch.Generator().manual_seed(0))


def build(name: str, table: NDArray[np.float64]) -> Form:
    """A form, ready for use on a table: `plain`, `blocked` (the library's direct form) or `tabulated`.

    The tabulated form is the closed form where valuations are 0 and 1, and
    tables of levels where they are graded.
    """
    if name == "tabulated":
        inputs = Inputs.encode(table)
        return lambda weights: ours(inputs, weights)
    values = torch.as_tensor(table, dtype=torch.float32)
    if name == "blocked":
        inputs = Inputs.direct(values)
        return lambda weights: ours(inputs, weights)
    return lambda weights: plain(values, weights)


def forward_backward(form: Form, weights: Tensor) -> tuple[Tensor, Tensor]:
    """One pass: the truth values of all subrules, and the gradient of their sum."""
    weights = weights.clone().requires_grad_()
    value = form(weights)
    (gradient,) = torch.autograd.grad(value.sum(), weights)
    return value.detach(), gradient


def _status(field: str) -> int:
    """A memory figure of this process, in bytes (Linux)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {field}")


def main(name: str) -> None:
    """Print the bytes that a form needs for one pass, its inputs included."""
    table, weights = valuations(LARGE, boolean=True), random_weights(LARGE)
    # Loads what torch loads on the first pass, so that it does not count.
    forward_backward(build("tabulated", np.eye(4)), weights[:, :, :4])
    before = _status("VmRSS")
    form = build(name, table)
    # The high-water mark starts anew, so that what only the encoding took does not count.
    Path("/proc/self/clear_refs").write_text("5")
    forward_backward(form, weights)
    sys.stdout.write(f"{_status('VmHWM') - before}\n")


if __name__ == "__main__":
    main(sys.argv[1])
