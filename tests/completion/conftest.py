"""Completions that many tests look at, each learned once."""

import pytest
from tests.completion.bases import FAST, family, islands

from andre.completion import complete


@pytest.fixture(scope="session")
def done():
    """The family, with its own validation and test facts."""
    return complete(family(), FAST)


@pytest.fixture(scope="session")
def chained():
    """The islands, where facts are assumed."""
    return complete(islands(), FAST.model_copy(update={"chained": (True,)}))
