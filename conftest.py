"""Threads and hypothesis, for tests, the examples of docstrings and speed benchmarks alike."""

from __future__ import annotations

from importlib.util import find_spec

import torch
from hypothesis import settings

# Tests work on tiny tensors, which several threads only slow down.
torch.set_num_threads(1)

# The same examples every time, and no clock: a test fails for what it tests or not at all.
settings.register_profile("andre", deadline=None, derandomize=True)
settings.load_profile("andre")

# Kernels are read where they can be compiled.
collect_ignore = [] if find_spec("triton") else ["src/andre/model/kernels.py"]
