"""Files that are written whole or not at all, and values that can be saved."""

from __future__ import annotations

import importlib
import os
import tempfile
from pathlib import Path


def write_whole(path: Path, data: bytes | str) -> None:
    """Put data in a file in one step: a crash leaves the old file, or the new one."""
    blob = data.encode() if isinstance(data, str) else data
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(blob)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


class Saveable:
    """What `andre.runs` can save."""

    def save(self, path: Path | str) -> None:
        """Write all of this into a folder, from which `andre.load(path)` reads it back."""
        # By name, because rooms import only those before them, and runs come last: the one call forward.
        importlib.import_module("andre.runs").save(self, path)
