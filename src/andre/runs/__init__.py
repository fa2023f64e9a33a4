"""Everything saved: runs of every kind in one layout, checkpoints, and where runs come from."""

from andre.runs.checkpoint import Checkpoint, keepers
from andre.runs.origin import FactSource, Origin, TableSource, digest, versions
from andre.runs.saving import (
    DirectionFolder,
    Run,
    RunFolder,
    is_run,
    load,
    load_origin,
    program_of,
    prolog,
    save,
)

__all__ = [
    "Checkpoint",
    "DirectionFolder",
    "FactSource",
    "Origin",
    "Run",
    "RunFolder",
    "TableSource",
    "digest",
    "is_run",
    "keepers",
    "load",
    "load_origin",
    "program_of",
    "prolog",
    "save",
    "versions",
]
