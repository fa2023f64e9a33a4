"""The command line: `andre COMMAND`."""

from andre.cli import (
    census,
    datasets,
    facts,
    learn,
    predict,
    programs,
    rank,
    report,
    reuse,
    show,
    tables,
    tasks,
)
from andre.cli.app import main

__all__ = [
    "census",
    "datasets",
    "facts",
    "learn",
    "main",
    "predict",
    "programs",
    "rank",
    "report",
    "reuse",
    "show",
    "tables",
    "tasks",
]
