"""Fixtures that benchmarks share with the tests."""

from tests.conftest import datasets

__all__ = ["datasets"]
