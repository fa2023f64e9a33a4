"""Opening any saved run, whatever was learned."""

from __future__ import annotations

from pathlib import Path

from andre.completion import Completion
from andre.errors import CheckpointError
from andre.learning import Result, Theory
from andre.runs.completions import load_completion
from andre.runs.results import load_result
from andre.runs.theories import load_theory

__all__ = ["Run", "load"]

#: What a saved run may hold: learned from rows, from facts, or a whole knowledge base completed.
Run = Result | Theory | Completion


def load(path: Path | str) -> Run:
    """What was saved in a folder: a `Result`, a `Theory` or a `Completion`."""
    folder = Path(path)
    for index, read in (("theory.json", load_theory), ("completion.json", load_completion)):
        if (folder / index).exists():
            return read(folder)
    if not folder.is_dir():
        raise CheckpointError(f"there is no saved run at {folder}: check the path")
    return load_result(folder)
