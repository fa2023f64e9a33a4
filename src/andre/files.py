"""Files that are written whole or not at all, and values that can be saved."""

from __future__ import annotations

import importlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one process at a time change what a folder holds; without locks nothing is done."""
    try:
        import fcntl  # noqa: PLC0415  (Windows has no such module)
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def scratch_folder() -> Iterator[str]:
    """A folder for what does not fit into memory; those that killed processes have left are deleted first."""
    shared = Path(tempfile.gettempdir())
    for left in shared.glob("andre-scratch-*"):
        owner = left.name.split("-")[2]
        if owner.isdigit() and not _is_alive(int(owner)):
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"andre-scratch-{os.getpid()}-") as folder:
        yield folder


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user, or a system without such signals
        return True
    return True


class Saveable:
    """What `andre.runs` can save."""

    def save(self, path: Path | str) -> None:
        """Write all of this into a folder, from which `andre.load(path)` reads it back."""
        # By name, because rooms import only those before them, and runs come last: the one call forward.
        importlib.import_module("andre.runs").save(self, path)
