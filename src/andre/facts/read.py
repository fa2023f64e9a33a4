"""Reading facts, whatever they are kept in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from andre.errors import DataError
from andre.facts.base import FactBase, World
from andre.facts.formats import format_named, format_of
from andre.facts.frames import from_frames, from_triples_factories, is_frame, is_triples_factory
from andre.facts.text import opening

__all__ = ["read_facts"]


def read_facts(source: Any, format: str | None = None, world: World = "closed") -> FactBase:
    """Read facts from a file, a folder, DataFrames or a triples factory.

    Parameters
    ----------
    source
        A path: Prolog or ProbLog, `.nl`, a Popper folder, triples (one file, or
        a folder with train, valid and test), CSV or Parquet (a file, or a
        folder with one for each relation), a DuckDB or SQLite database, or JSON
        Lines. Or a DataFrame of triples, a dict of DataFrames by relation, a
        PyKEEN TriplesFactory, or a dict of these by train, valid and test.
    format
        The name of the format, where path and content do not show it.
    world
        Whether what is neither stated nor denied is false ("closed") or
        unknown ("open").

    Raises
    ------
    DataError, LogicError
        Naming file and line.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "family.pl")
    ...     _ = path.write_text("parent(ann, bob). 0.9::parent(bob, cy).")
    ...     read_facts(path)
    FactBase(2 facts, 1 relations, 3 constants)
    """
    base = _read(source, format)
    return base if world == "closed" else replace(base, world=world)


def _read(source: Any, name: str | None) -> FactBase:
    if isinstance(source, str | Path):
        path = Path(source)
        found = format_of(path) if name is None else format_named(name)
        try:
            with opening(path):
                return replace(found.read(path), origin=found.name)
        except DataError as error:
            if str(error) == "there are no facts in it":
                raise DataError(f"{path} has no facts: check the path, or name the format") from None
            raise
    if is_triples_factory(source):
        return from_triples_factories({"train": source})
    if isinstance(source, Mapping) and source and all(map(is_triples_factory, source.values())):
        return from_triples_factories(source)
    if is_frame(source) or isinstance(source, Mapping):
        return from_frames(source)
    raise DataError(f"facts cannot be read from a {type(source).__name__}: give a path or a DataFrame")
