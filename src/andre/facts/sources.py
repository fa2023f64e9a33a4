"""Sources of facts by one word: a path, a built-in task or a public dataset."""

from __future__ import annotations

import os
from pathlib import Path

from andre.errors import DataError
from andre.facts.base import FactBase
from andre.facts.datasets import DATASETS, load
from andre.facts.read import read_facts
from andre.facts.tasks import TASKS

__all__ = ["read_source"]


def read_source(source: str | Path, format: str | None = None) -> FactBase:
    """Read facts from a path, a built-in task or a public dataset.

    A path that exists wins over a name that is known.

    Parameters
    ----------
    source
        A file, folder or database of facts, or the name of a task (its training facts) or
        of a dataset (downloaded if need be).
    format
        The name of the format, where a path and its content do not show it.

    Examples
    --------
    >>> read_source("grandparent")
    FactBase(254 facts, 3 relations, 63 constants)
    >>> read_source("grandpa")
    Traceback (most recent call last):
    ...
    andre.errors.DataError: there is no file, task or dataset grandpa: ...
    """
    name = str(source)
    if Path(source).exists() or format is not None:
        return read_facts(source, format)
    if name in TASKS:
        return TASKS[name].train()
    if name in DATASETS:
        return load(name)
    if Path(name).suffix or os.sep in name:  # meant as a path: its reader says what is wrong
        return read_facts(source)
    raise DataError(
        f"there is no file, task or dataset {name}: tasks are {', '.join(TASKS)}; "
        f"datasets are {', '.join(DATASETS)}"
    )
