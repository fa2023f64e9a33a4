"""Everything saved: runs of every kind in one layout, checkpoints, and where runs come from."""

from typing import TYPE_CHECKING

from andre.lazy import lazily
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

if TYPE_CHECKING:  # the same names again, for type checkers and editors
    from andre.runs.checkpoint import Checkpoint, keepers
else:  # a checkpoint holds tensors, and torch is slow to load
    __getattr__ = lazily(__name__, {"andre.runs.checkpoint": ("Checkpoint", "keepers")})

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
