"""What all tests share: those of tests/, the examples of docstrings, and the speed benchmarks."""

from __future__ import annotations

import os
from pathlib import Path

# Tests work on tiny arrays, which several threads only slow down, and tests run side by side. Set before
# numpy and torch are loaded, for processes that tests start too.
for library in ("OMP", "MKL", "OPENBLAS"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import pytest
import torch
from hypothesis import settings

torch.set_num_threads(1)

# The same examples every time, and no clock: a test fails for what it tests or not at all.
settings.register_profile("andre", deadline=None, derandomize=True)
settings.load_profile("andre")


@pytest.fixture(scope="session")
def datasets() -> Path:
    """The folder of the public datasets, which are not part of the repository."""
    given = os.environ.get("ANDRE_DATA")
    folder = Path(given) if given else Path(__file__).parents[1] / "shared" / "datasets"
    if not folder.is_dir():
        pytest.skip(f"no datasets at {folder}: set ANDRE_DATA to their folder")
    return folder
