"""Where a run comes from: the command, the versions, and the table or facts it was learned from."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import andre
from andre.facts import (
    FactBase,
    LabelledRows,
    RawTable,
    Selection,
    TruthRows,
    World,
    read_examples,
    read_source,
    table_parts,
    without_password,
)
from andre.samples import RuleSpace


def versions() -> dict[str, str]:
    """The versions of Python and of the libraries that learning depends on, and the processor.

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
    """A table of examples, and how its columns were read."""

    path: str  #: of a file, or of a database with the name of the table after a #
    sha256: str
    label: str = "h"
    weight: str | None = None
    ignore: tuple[str, ...] = ()
    validation: str | None = None  #: a share of the rows, or a second table
    seed: int = 0  #: draws the rows that are held out
    positive: str | None = None  #: the class that rules are about, as for `Labels.read`

    @property
    def is_there(self) -> bool:
        """Whether the table, or the database that it is of, is still at its path, unchanged."""
        path = Path(table_parts(self.path)[0])
        return path.is_file() and digest(path) == self.sha256

    def rows(self) -> tuple[LabelledRows, LabelledRows | None]:
        """The rows to learn from, and those held out, their columns as they were found."""
        return read_examples(
            self.path,
            self.label,
            self.validation,
            weight=self.weight,
            positive=self.positive,
            seed=self.seed,
        )

    def truth_rows(self, space: RuleSpace) -> TruthRows:
        """All rows as truth values of the atoms of a rule space, with their labels and weights."""
        return TruthRows.read(RawTable.read(self.path), space.names, self.label, self.weight)


@dataclass(frozen=True)
class FactSource:
    """Where facts were read: a file, folder or database, or the name of a built-in task or dataset."""

    name: str
    format: str | None = None  #: if the user named it
    sha256: str = ""  #: of a file
    world: World = "closed"  #: what no file says of itself
    selection: Selection = field(default_factory=Selection)  #: of a database: what is read

    @classmethod
    def of(
        cls,
        name: str,
        format: str | None = None,
        world: World = "closed",
        selection: Selection | None = None,
    ) -> FactSource:
        """The source that `name` means now: a path is made absolute, a file gets its digest.

        The password of an address is not kept.

        Examples
        --------
        >>> FactSource.of("even").name
        'even'
        """
        path = Path(name)
        if not path.exists():
            return cls(without_password(name), format, "", world, selection or Selection())
        known = digest(path) if path.is_file() else ""
        return cls(str(path.resolve()), format, known, world, selection or Selection())

    @property
    def is_there(self) -> bool:
        """Whether a file is still at its path, unchanged, or a folder exists; a name always is there."""
        path = Path(self.name)
        if self.sha256:
            return path.is_file() and digest(path) == self.sha256
        return path.exists() or not path.is_absolute()

    def read(self) -> FactBase:
        """The facts."""
        return read_source(self.name, self.format, self.world, self.selection)


@dataclass(frozen=True)
class Origin:
    """How a run came to be; the password of a database is not kept.

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "command", tuple(map(without_password, self.command)))

    @property
    def line(self) -> str:
        """The command as it is typed in a shell."""
        return shlex.join(self.command)


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
