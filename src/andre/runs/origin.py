"""Where a saved model comes from: the command, the versions, the table it was learned from.

It lies beside the model in `origin.json`, which a model may do without.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import andre
from andre.errors import CheckpointError
from andre.files import write_whole

__all__ = ["FactSource", "Origin", "TableSource", "load_origin", "save_origin", "versions"]


_FILE = "origin.json"


def versions() -> dict[str, str]:
    """What learning ran on.

    Examples
    --------
    >>> sorted(versions())
    ['andre', 'cores', 'numpy', 'python', 'torch']
    """
    return {
        "andre": andre.__version__,
        "python": platform.python_version(),
        "torch": version("torch"),
        "numpy": version("numpy"),
        "cores": f"{os.cpu_count()} ({platform.machine()})",
    }


@dataclass(frozen=True)
class TableSource:
    """A table, and what its columns were taken for."""

    path: str
    sha256: str
    label: str = "h"
    weight: str | None = None
    ignore: tuple[str, ...] = ()
    validation: str | None = None  #: a share of the rows, or a second table
    seed: int = 0  #: draws the rows that are held out

    @classmethod
    def of(cls, path: Path, label: str, weight: str | None, ignore: tuple[str, ...]) -> TableSource:
        """A table that is there now."""
        return cls(str(path.resolve()), digest(path), label, weight, ignore)

    @property
    def is_there(self) -> bool:
        """Whether the table is still where it was, and the same."""
        path = Path(self.path)
        return path.is_file() and digest(path) == self.sha256


@dataclass(frozen=True)
class FactSource:
    """Where facts were read: a file, a folder, or the name of something built in."""

    name: str
    format: str | None = None  #: where it was given
    sha256: str = ""  #: of a file

    @classmethod
    def of(cls, name: str, format: str | None = None) -> FactSource:
        """A source as it is named now.

        Examples
        --------
        >>> FactSource.of("even").name
        'even'
        """
        path = Path(name)
        if not path.exists():
            return cls(name, format)
        return cls(str(path.resolve()), format, digest(path) if path.is_file() else "")

    @property
    def is_there(self) -> bool:
        """Whether a file is still where it was, and the same; a folder or a name is taken at its word."""
        path = Path(self.name)
        if self.sha256:
            return path.is_file() and digest(path) == self.sha256
        return path.exists() or not path.is_absolute()


@dataclass(frozen=True)
class Origin:
    """How a model came to be.

    Examples
    --------
    >>> Origin(("andre", "fit", "my birds.csv")).line
    "andre fit 'my birds.csv'"
    """

    command: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=versions)
    started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    table: TableSource | None = None
    facts: FactSource | None = None

    @property
    def line(self) -> str:
        """The command as it is typed."""
        return shlex.join(self.command)


def save_origin(origin: Origin, folder: Path | str) -> None:
    """Put an origin beside a saved model."""
    write_whole(Path(folder) / _FILE, json.dumps(asdict(origin), indent=1))


def load_origin(folder: Path | str) -> Origin | None:
    """The origin of a saved model, or None where it was not kept.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> load_origin(folder) is None
    True
    >>> save_origin(Origin(("andre", "fit", "birds.csv")), folder)
    >>> load_origin(folder).command
    ('andre', 'fit', 'birds.csv')
    """
    path = Path(folder) / _FILE
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_bytes())
        table = found["table"]
        if table is not None:
            table = TableSource(**{**table, "ignore": tuple(table["ignore"])})
        facts = found.get("facts")
        return Origin(
            tuple(found["command"]),
            dict(found["versions"]),
            found["started"],
            table,
            None if facts is None else FactSource(**facts),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} is damaged ({error}): delete it, and the model still loads") from None


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
