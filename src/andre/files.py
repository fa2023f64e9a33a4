"""Atomic writes, locks on folders, scratch folders, and the base class of results that can be saved."""

from __future__ import annotations

import importlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def write_whole(path: Path, data: bytes | str) -> None:
    """Write a file atomically: after a crash there is either the old file or the new one."""
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
    """Lock a folder, so that one process at a time changes it; without effect where there are no locks."""
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
    """A temporary folder for data that does not fit into memory; first deletes those of killed processes."""
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
    except OSError:  # another user's process, or a system without such signals
        return True
    return True


class Saveable:
    """A result that `andre.runs` can save."""

    def save(self, path: Path | str) -> None:
        """Save this in a folder, which `andre.load(path)` opens again."""
        # Imported by name: packages import only earlier ones, and `runs` comes late. The one call forward.
        importlib.import_module("andre.runs").save(self, path)
