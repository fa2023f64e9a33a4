"""Parcels: a value packed once, for all processes that read it."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.errors import AndreError

#: Arrays are aligned to multiples of this many bytes.
_ALIGNED = 64


@dataclass(frozen=True, eq=False)
class Parcel:
    """A value packed into bytes, to be sent; its arrays are used in place when it is unpacked.

    Examples
    --------
    >>> parcel = Parcel.of({"ends": np.arange(3)})
    >>> pickle.loads(pickle.dumps(parcel)).value
    {'ends': array([0, 1, 2])}
    """

    data: NDArray[np.uint8]
    parts: tuple[tuple[int, int], ...]  #: begin and end of the pickled value and of each array
    digest: str

    @classmethod
    def of(cls, value: object) -> Parcel:
        """Pack a value."""
        arrays: list[pickle.PickleBuffer] = []
        head = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
        pieces = [memoryview(head), *(array.raw() for array in arrays)]
        parts, end = [], 0
        for piece in pieces:
            begin = -(-end // _ALIGNED) * _ALIGNED
            end = begin + piece.nbytes
            parts.append((begin, end))
        data = np.zeros(end, dtype=np.uint8)
        for piece, (begin, stop) in zip(pieces, parts, strict=True):
            data[begin:stop] = piece
        return cls(data, tuple(parts), hashlib.sha256(data.data).hexdigest())

    @cached_property
    def value(self) -> Any:
        """The value; its arrays are read-only."""
        data = self.data
        if data.ctypes.data % 16:  # received in a message, it may be at any address
            data = data.copy()
        view = data.data.toreadonly()
        head, *arrays = [view[begin:end] for begin, end in self.parts]
        return pickle.loads(head, buffers=arrays)

    def written(self, path: Path) -> ParcelFile:
        """The parcel written to a file."""
        self.data.tofile(path)
        return ParcelFile(path, self.parts, self.digest)

    def __reduce__(self) -> tuple[type[Parcel], tuple[Any, ...]]:
        return Parcel, (self.data, self.parts, self.digest)  # without the cached value

    def __sizeof__(self) -> int:
        return self.data.nbytes


@dataclass(frozen=True)
class ParcelFile:
    """A parcel in a file, which all processes of a machine map into shared memory."""

    path: Path
    parts: tuple[tuple[int, int], ...]
    digest: str

    @property
    def value(self) -> Any:
        """The value; each process unpacks it once."""
        return _mapped(self).value


@lru_cache(maxsize=1)
def _mapped(file: ParcelFile) -> Parcel:
    try:
        return Parcel(np.memmap(file.path, dtype=np.uint8, mode="r"), file.parts, file.digest)
    except OSError as error:
        raise AndreError(
            f"a worker cannot read the facts in {file.path} ({error.strerror}): where workers are on other "
            "machines, let TMPDIR be a folder that all of them see, or use a dask cluster"
        ) from None
