"""Reading facts from any source, and writing them to files atomically."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from andre.errors import DataError, type_of
from andre.facts.base import FactBase, World
from andre.facts.formats import FORMATS, format_named, format_of, format_to_write
from andre.facts.formats.databases.addresses import file_of_address, is_address, open_address
from andre.facts.formats.databases.reading import read_database
from andre.facts.formats.databases.selection import Selection
from andre.facts.formats.format import Format
from andre.facts.formats.text import opening
from andre.facts.frames import from_frames, from_triples_factories, is_frame, is_rows, is_triples_factory
from andre.facts.graphs import from_graph, is_graph
from andre.progress import doing

_WORDS = {
    "probability": "probabilities",
    "mark": "train, valid and test marks",
    "negative": "denied facts",
    "rules": "rules",
    "bias": "a language bias",
}


def read_facts(
    source: Any, format: str | None = None, world: World = "closed", selection: Selection | None = None
) -> FactBase:
    """Read facts from a file, a folder, a database, DataFrames or a triples factory.

    Parameters
    ----------
    source
        A path: Prolog or ProbLog, `.nl`, a Popper folder, Aleph's files, triples (one file, or
        a folder with train, valid and test), CSV or Parquet (a file, or a
        folder with one for each relation), a DuckDB or SQLite database, RDF, or JSON
        Lines. Or the address of a database, as postgresql://user@host/shop. Or a DataFrame of
        triples, a dict of DataFrames by relation, either of which may be lists of rows or arrays, a
        list of facts such as "parent(ann, bob)", a graph of networkx, a
        PyKEEN TriplesFactory, or a dict of these by train, valid and test. In `.nl`
        files that are binary throughout p(a,a) may stand for p(a), and the notes
        say where it is read so; triples are always binary.
    format
        The name of the format, where path and content do not show it.
    world
        Whether what is neither stated nor denied is false ("closed") or
        unknown ("open").
    selection
        What of a database is read; all of it by default.

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
    with doing(f"reading {source}" if isinstance(source, str | Path) else "reading"):
        facts = _read(source, format, selection or Selection())
    if not len(facts) and "rules" not in facts.features:
        if isinstance(source, str | Path):
            raise DataError(f"{Path(source)} has no facts: check the path, or name the format by --format")
        raise DataError("there are no facts in it")
    return facts if world == "closed" else replace(facts, world=world)


def is_database(source: str | Path, format: str | None = None) -> bool:
    """Whether a source is a database, so that a selection of its tables can be read.

    Examples
    --------
    >>> is_database("postgresql://localhost/shop"), is_database("family.pl")
    (True, False)
    """
    if is_address(str(source)):
        return True
    if format is None and not Path(source).exists():
        return False
    found = format_of(Path(source)) if format is None else format_named(format)
    return found.read_selected is not None


def _read(source: Any, name: str | None, selection: Selection) -> FactBase:
    if isinstance(source, str) and is_address(source):
        if (file := file_of_address(source)) is not None:
            return _read(file, name, selection)
        with open_address(source) as database:
            return replace(read_database(database, selection), origin="address")
    if isinstance(source, str | Path):
        path = Path(source)
        found = format_of(path) if name is None else format_named(name)
        if selection and found.read_selected is None:
            raise DataError(f"tables and columns are chosen from a database, and {path} is {found.title}")
        with opening(path):
            read = found.read(path) if found.read_selected is None else found.read_selected(path, selection)
            return replace(read, origin=found.name)
    return _from_memory(source)


def _from_memory(source: Any) -> FactBase:
    """The facts of an object: a triples factory, a DataFrame, rows, or facts one by one."""
    if is_triples_factory(source):
        return from_triples_factories({"train": source})
    if isinstance(source, Mapping) and source and all(map(is_triples_factory, source.values())):
        return from_triples_factories(source)
    if is_frame(source) or is_rows(source) or isinstance(source, Mapping):
        return from_frames(source)
    if is_graph(source):
        return from_graph(source)
    if isinstance(source, list | tuple):
        return FactBase.from_facts(source)
    told = "give a path, a DataFrame or a list of facts"
    if hasattr(source, "cursor") or hasattr(source, "connect"):
        told = "give the database by its path or address, as 'shop.sqlite' or 'postgresql://localhost/shop'"
    raise DataError(f"facts cannot be read from {type_of(source)}: {told}")


def write_facts(base: FactBase, path: str | Path, format: str | None = None) -> None:
    """Write facts to a file or folder, from which `read_facts` reads them back.

    What the format cannot hold is refused, not left out. A file that is there
    is replaced when the new one is complete; a folder must be new or empty. CSV and
    Parquet are folders with a file for each relation, and so are `facts.csv` and `facts.parquet`.
    Whether the world is closed or open is not written: say it when reading.

    Parameters
    ----------
    format
        The name of the format, where the ending of the path does not say it.

    Examples
    --------
    >>> from andre.logic import Atom, Constant
    >>> facts = FactBase.from_facts([Atom("p", (Constant("a"),))], probabilities=[0.5])
    >>> write_facts(facts, "facts.pl")
    Traceback (most recent call last):
    ...
    andre.errors.DataError: a Prolog file cannot hold probabilities: write problog, csv, ... or leave ...
    """
    path = Path(path)
    chosen = format_to_write(path) if format is None else format_named(format)
    if chosen.write is None:
        raise DataError(f"{chosen.title} is read, not written: write another format")
    _check(base, chosen)
    if chosen.folder and path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise DataError(f"{path} is there already: {chosen.name} writes a new folder, so name another one")
    with opening(path):
        if not path.parent.is_dir():
            raise DataError(f"there is no folder {path.parent} to write into: make it first")
        # Beside the target, so that the last step is a move within one file system.
        scratch = Path(tempfile.mkdtemp(prefix=".andre-", dir=path.parent))
        try:
            chosen.write(base, scratch / "facts")
            if chosen.folder and path.is_dir():
                path.rmdir()
            (scratch / "facts").replace(path)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _check(base: FactBase, chosen: Format) -> None:
    for relation in base.relations.values():
        if not len(relation):
            raise DataError(f"{relation} has no facts, and no reader takes an empty relation: leave it out")
    if not len(base) and "rules" not in base.features:
        raise DataError("there are no facts to write")
    for feature in base.features:
        if feature not in chosen.holds:
            able = [item.name for item in FORMATS.values() if feature in item.holds]
            raise DataError(
                f"{chosen.title} cannot hold {_WORDS[feature]}: write {', '.join(able)}, "
                f"or leave them out (--drop {feature})"
            )
    for check in chosen.checks:
        check(base, chosen.title)
