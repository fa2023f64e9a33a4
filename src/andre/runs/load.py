"""Opening any saved run, whatever was learned."""

from __future__ import annotations

from pathlib import Path

from andre.completion import Completion
from andre.errors import CheckpointError
from andre.learning import Result, Theory
from andre.logic import Program
from andre.runs.completions import load_completion, save_completion
from andre.runs.origin import Origin, save_origin
from andre.runs.results import load_result, save_result
from andre.runs.theories import load_theory, save_theory

__all__ = ["Run", "is_run", "load", "program_of", "save"]

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


def save(run: Run, path: Path | str, origin: Origin | None = None) -> None:
    """Write a run of any kind into a folder, with where it comes from."""
    if isinstance(run, Theory):
        save_theory(run, path)
    elif isinstance(run, Completion):
        save_completion(run, path)
    else:
        save_result(run, path)
    if origin is not None:
        save_origin(origin, path)


def is_run(path: Path | str) -> bool:
    """Whether a path is the folder of a run."""
    folder = Path(path)
    names = ("result.json", "theory.json", "completion.json", "targets")
    return any((folder / name).exists() for name in names)


def program_of(run: Run) -> Program:
    """The rules of a run of any kind."""
    return run.rules if isinstance(run, Completion) else run.program
