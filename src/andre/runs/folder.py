"""A folder of one JSON index and one file of tensors, written whole or not at all.

Everything that is saved lies in such folders. The tensors get a new name, with
their digest in it, before the index that names them is replaced: a crash leaves
what was there before or what is new, never half of each.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from safetensors.numpy import load, save

import andre
from andre.errors import AndreWarning, CheckpointError
from andre.files import locked, write_whole
from andre.runs.codec import Tensors, decode, encode

ValueT = TypeVar("ValueT")

#: Raised whenever what is saved changes.
_FORMAT = 2


def warn_of(error: OSError, folder: Path) -> None:
    """Say that a folder cannot be written to, while the work goes on."""
    reason = error.strerror or str(error)
    warnings.warn(
        AndreWarning(f"{folder} cannot be written to ({reason}): nothing is saved there"), stacklevel=2
    )


@dataclass(frozen=True)
class IndexedFolder:
    """A folder with an index and tensors, and one way to say that it is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from andre.logic import Atom
    >>> folder = IndexedFolder(Path(tempfile.mkdtemp()))
    >>> folder.write(Atom("h"), kind="atom")
    >>> index = folder.read()
    >>> index["kind"], folder.content(index, Atom)
    ('atom', Atom(predicate='h', args=()))
    """

    path: Path
    name: str = "run"  #: of the index, and what messages call the content
    advice: str = "learn and save it again"  #: what to do about damage

    @property
    def index(self) -> Path:
        """The index file."""
        return self.path / f"{self.name}.json"

    def write(self, content: Any, program: str | None = None, **entries: Any) -> None:
        """Replace all that the folder holds.

        Parameters
        ----------
        content
            A value that `encode` takes.
        program
            The text of `program.pl`, which is there for people.
        entries
            More entries of the index, which are read without the content.
        """
        self.check_path()
        self.path.mkdir(parents=True, exist_ok=True)
        tensors: Tensors = {}
        plain = encode(content, tensors)
        data = save(tensors)
        digest = hashlib.sha256(data).hexdigest()
        version = {"format": _FORMAT, "andre": andre.__version__}
        index = {**version, **encode(entries, {}), "tensors": digest, "content": plain}
        # A line for each entry, so that a person sees what kind of run it is without scrolling.
        lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in index.items()]
        with locked(self.path):  # else another process would delete these tensors, taking them for old ones
            write_whole(self._file(digest), data)
            # Between two programs there is none, so that none stands beside the index of another.
            (self.path / "program.pl").unlink(missing_ok=True)
            write_whole(self.index, "{\n" + ",\n".join(lines) + "\n}\n")
            if program is not None:
                write_whole(self.path / "program.pl", program)
            self._delete_tensors(keep=self._file(digest))

    def delete(self) -> None:
        """Delete the index, the program and the tensors, and no other file."""
        self.index.unlink(missing_ok=True)
        (self.path / "program.pl").unlink(missing_ok=True)
        self._delete_tensors()

    def read(self) -> dict[str, Any]:
        """The index, if it is of the format that this version writes."""
        with self.decoding():
            index: dict[str, Any] = json.loads(self.index.read_bytes())
            if index["format"] != _FORMAT:
                raise CheckpointError(
                    f"the {self.name} in {self.path} has format {index['format']}, which this version cannot "
                    f"read: use andre {index['andre']}, or {self.advice}"
                )
        return index

    def content(self, index: Mapping[str, Any], kind: type[ValueT]) -> ValueT:
        """The content that an index describes; any change to the tensors is damage."""
        with self.decoding():
            if not self._file(index["tensors"]).is_file():  # a pipe would be waited for
                raise ValueError(f"there is no file {self._file(index['tensors']).name}")
            data = self._file(index["tensors"]).read_bytes()
            if hashlib.sha256(data).hexdigest() != index["tensors"]:
                raise ValueError(f"{self._file(index['tensors']).name} has changed")
            value: ValueT = decode(kind, index["content"], load(data))
        return value

    @contextmanager
    def decoding(self) -> Iterator[None]:
        """A context in which any failure is said, in one sentence, to be damage of the folder."""
        try:
            yield
        except (CheckpointError, MemoryError):
            raise
        except Exception as error:  # changed content can fail in any way
            reason = " ".join(str(error).split()) or type(error).__name__
            message = f"the {self.name} in {self.path} is damaged ({reason}): {self.advice}"
            raise CheckpointError(message) from None

    def check_path(self) -> None:
        """Refuse a path that is a file."""
        if self.path.exists() and not self.path.is_dir():
            raise CheckpointError(f"{self.path} is a file: name a folder, or a new one")

    def _file(self, digest: str) -> Path:
        return self.path / f"{self.name}-{digest[:16]}.safetensors"

    def _delete_tensors(self, keep: Path | None = None) -> None:
        for path in self.path.glob(f"{self.name}-{'[0-9a-f]' * 16}.safetensors"):
            if path != keep:
                path.unlink(missing_ok=True)
