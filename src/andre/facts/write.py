"""Writing facts: whole or not at all, and never less than what was given."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from andre.errors import DataError
from andre.facts.base import FactBase
from andre.facts.formats import FORMATS, Format, format_named, format_to_write
from andre.facts.text import opening

__all__ = ["write_facts"]

_WORDS = {
    "probability": "probabilities",
    "mark": "train, valid and test marks",
    "negative": "denied facts",
    "rules": "rules",
    "bias": "a language bias",
}


def write_facts(base: FactBase, path: str | Path, format: str | None = None) -> None:
    """Write facts to a file or folder, so that `read_facts` gives them back.

    What the format cannot hold is refused, not left out. A file that is there
    is replaced when the new one is complete; a folder must be new or empty.
    The world is no part of what is written: it is said when reading.

    Parameters
    ----------
    base
        The facts.
    path
        Where to write them.
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
    if not len(base) and not len(base.rules):
        raise DataError("there are no facts to write")
    for feature in base.features:
        if feature not in chosen.holds:
            able = [item.name for item in FORMATS.values() if feature in item.holds]
            raise DataError(
                f"{chosen.title} cannot hold {_WORDS[feature]}: write {', '.join(able)}, "
                f"or leave them out (drop {feature})"
            )
    for check in chosen.checks:
        check(base, chosen.title)
