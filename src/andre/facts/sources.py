"""Sources of facts by one word: a path, or the name of a built-in task."""

from __future__ import annotations

import os
from pathlib import Path

from andre.errors import DataError
from andre.facts.base import FactBase
from andre.facts.read import read_facts
from andre.facts.tasks import TASKS

__all__ = ["read_source"]


def read_source(source: str | Path, format: str | None = None) -> FactBase:
    """Read facts from a path or from a built-in task.

    A path that exists wins over a name that is known.

    Parameters
    ----------
    source
        A file, folder or database of facts, or a task (its training facts).
    format
        The name of the format, where a path and its content do not show it.

    Examples
    --------
    >>> read_source("grandparent")
    FactBase(254 facts, 3 relations, 63 constants)
    >>> read_source("grandpa")
    Traceback (most recent call last):
    ...
    andre.errors.DataError: there is no file grandpa and no task of that name: ...
    """
    name = str(source)
    if Path(source).exists() or format is not None:
        return read_facts(source, format)
    if name in TASKS:
        return TASKS[name].train()
    if Path(name).suffix or os.sep in name:  # meant as a path: its reader says what is wrong
        return read_facts(source)
    raise DataError(f"there is no file {name} and no task of that name: the tasks are {', '.join(TASKS)}")
