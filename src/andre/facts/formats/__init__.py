"""The registry of file formats of facts, and how the format of a path is recognised.

A new format is one module with a `Format`, and an entry in `FORMATS`.
"""

from __future__ import annotations

import re
from pathlib import Path

from andre.errors import DataError
from andre.facts.formats.csv_files import CSV, files_in
from andre.facts.formats.database_files import DUCKDB, PARQUET, SQLITE
from andre.facts.formats.format import Format
from andre.facts.formats.jsonl import JSONL
from andre.facts.formats.nl import NL
from andre.facts.formats.popper import POPPER
from andre.facts.formats.prolog import PROBLOG, PROLOG, aleph_files
from andre.facts.formats.rdf import RDF
from andre.facts.formats.text import opening, plain_suffix, sample
from andre.facts.formats.triples import TSV, TSV_SPLITS, split_files

__all__ = ["FORMATS", "Format", "format_named", "format_of", "format_to_write"]

#: All formats by name.
FORMATS = {
    item.name: item
    for item in (PROLOG, PROBLOG, NL, POPPER, TSV, TSV_SPLITS, CSV, PARQUET, DUCKDB, SQLITE, JSONL, RDF)
}

_BY_SUFFIX = {suffix: item for item in FORMATS.values() for suffix in item.suffixes}
_MAGIC = ((0, b"SQLite format 3\0", SQLITE), (8, b"DUCK", DUCKDB), (0, b"PAR1", PARQUET))
_LOOKS = (
    (re.compile(rb"\A\s*\{"), JSONL),
    (re.compile(rb"\A(?:\s|#.*\n)*(?:<[^<>\s]*>|_:\S+)[ \t]*<[^<>\s]*>[ \t]*[<_\"]"), RDF),
    (re.compile(rb"\)\s*\.\s*#TEST[ \t]*$", re.MULTILINE), NL),
    (re.compile(rb"^[^\t\n]+\t[^\t\n]+\t[^\t\n]+$", re.MULTILINE), TSV),
    (re.compile(rb"^[ \t]*[a-zA-Z0-9'_:][^\n]*\.[ \t]*(?:%.*)?$", re.MULTILINE), PROLOG),
)


def format_named(name: str) -> Format:
    """The format with this name."""
    if name not in FORMATS:
        raise DataError(f"there is no format {name!r}: choose from {', '.join(FORMATS)}")
    return FORMATS[name]


def format_of(path: Path) -> Format:
    """The format of a file or folder, by its first bytes, else by its suffix, else by its text."""
    with opening(path):
        if path.is_dir():
            return _format_of_folder(path)
        if path.exists() and not path.is_file():
            raise DataError(
                f"{path} is a pipe or device, and looking at it would empty it: name its format by --format"
            )
        start = sample(path)
    found = (
        next((item for place, magic, item in _MAGIC if start[place:].startswith(magic)), None)
        or _BY_SUFFIX.get(plain_suffix(path))
        or next((item for pattern, item in _LOOKS if pattern.search(start.replace(b"\r\n", b"\n"))), None)
    )
    if found is None:
        raise DataError(
            f"{path} does not look like facts of a known format: name one by --format, "
            f"of {', '.join(FORMATS)}"
        )
    return found


def _format_of_folder(folder: Path) -> Format:
    with opening(folder):
        if (folder / "exs.pl").is_file():
            return POPPER
        if aleph_files(folder):
            return PROLOG
        found = [TSV_SPLITS] if split_files(folder) else []
        found += [item for item in (CSV, PARQUET) if files_in(folder, item.suffixes[0])]
    if not found:
        raise DataError(
            f"{folder} has no facts: a folder needs exs.pl and bk.pl, or Aleph's .b and .f files, or "
            "train.txt, or a .csv or .parquet file for each relation"
        )
    if len(found) > 1:
        names = " and ".join(item.name for item in found)
        raise DataError(f"{folder} looks like {names}: name the one that is meant by --format")
    return found[0]


def format_to_write(path: Path) -> Format:
    """The format of a new file or folder, by its suffix."""
    known = _BY_SUFFIX.get(path.suffix.lower())
    if known is None:
        written = {name: item for name, item in FORMATS.items() if item.write is not None}
        endings = (suffix for item in written.values() for suffix in item.suffixes)
        raise DataError(
            f"{path} does not say by its ending what to write: end it in {', '.join(endings)}, "
            f"or name a format by --to, one of {', '.join(written)}"
        )
    return known
