"""Fixtures that several rooms' tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def datasets() -> Path:
    """The folder of the public datasets, which are not part of the repository."""
    given = os.environ.get("ANDRE_DATA")
    folder = Path(given) if given else Path(__file__).parents[1].parent / "shared" / "datasets"
    if not folder.is_dir():
        pytest.skip(f"no datasets at {folder}: set ANDRE_DATA to their folder")
    return folder
