"""Everything saved: results, theories, completions, checkpoints and where they come from."""

from andre.runs.checkpoint import Checkpoint
from andre.runs.completions import load_completion, save_completion
from andre.runs.load import Run, load
from andre.runs.origin import FactSource, Origin, TableSource, digest, load_origin, save_origin, versions
from andre.runs.results import load_result, prolog, save_result
from andre.runs.theories import RunFolder, load_theory, save_theory

__all__ = [
    "Checkpoint",
    "FactSource",
    "Origin",
    "Run",
    "RunFolder",
    "TableSource",
    "digest",
    "load",
    "load_completion",
    "load_origin",
    "load_result",
    "load_theory",
    "prolog",
    "save_completion",
    "save_origin",
    "save_result",
    "save_theory",
    "versions",
]
