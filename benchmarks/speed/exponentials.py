"""How many exponentials a CUDA device computes in a second: a kernel that does nothing else."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

#: Numbers of a program, and how often each is raised.
_WIDTH, _TIMES = 1024, 4096


@triton.jit  # type: ignore[untyped-decorator]
def _raise(out, TIMES: tl.constexpr, WIDTH: tl.constexpr):  # type: ignore[no-untyped-def]
    """Four sums at once, so that none waits for the one before it."""
    place = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    x = place.to(tl.float32) * 1e-9
    a, b, c, d = x, x + 0.1, x + 0.2, x + 0.3
    for _ in range(TIMES // 4):
        a = tl.exp2(a) - 1.0
        b = tl.exp2(b) - 1.0
        c = tl.exp2(c) - 1.0
        d = tl.exp2(d) - 1.0
    tl.store(out + place, a + b + c + d)


def raise_all(programs: int) -> tuple[Tensor, int]:
    """Run it: what came out, and how many exponentials that took."""
    out = torch.empty(programs * _WIDTH, device="cuda")
    _raise[(programs,)](out, TIMES=_TIMES, WIDTH=_WIDTH)
    return out, out.numel() * _TIMES
