"""Text files in blocks of whole lines, compressed or not: bounded memory, and errors with file and line."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from andre.errors import DataError
from andre.limits import check
from andre.progress import advance

#: No line of facts is longer than this many bytes.
MAX_LINE = 1 << 24
#: How a file that gzip packed begins. The third byte names its one method; the checksum that a DuckDB file
#: begins with may have the first two.
GZIP = b"\x1f\x8b\x08"

_BLOCK = 1 << 22
_FOREIGN = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


@dataclass(frozen=True)
class Block:
    """Whole lines of a file, each with its newline."""

    text: str
    first_line: int


def fail_at(path: Path | str, line: int, message: str) -> DataError:
    """An error about a line of a file."""
    return DataError(f"{path}, line {line}: {message}")


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """Turn an error of the operating system about a file into an error for users."""
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"there is no file {path}: check the path") from None
    except OSError as error:
        raise DataError(f"{path} cannot be opened: {error.strerror or error}") from None


def sample(path: Path, size: int = 1 << 16) -> bytes:
    """The first bytes of a file, which show its format."""
    with _bytes(path) as file:
        return file.read(size)


def plain_suffix(path: Path) -> str:
    """The ending of a file's name in lower case, less one that says that it is compressed.

    Examples
    --------
    >>> plain_suffix(Path("graph.nt.gz")), plain_suffix(Path("Graph.NT"))
    ('.nt', '.nt')
    """
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


@contextmanager
def _bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to read its bytes, decompressed if it is gzipped."""
    with opening(path), path.open("rb") as file:
        if not file.peek(len(GZIP)).startswith(GZIP):
            yield file
            return
        try:
            with gzip.open(file) as unpacked:
                yield unpacked  # type: ignore[misc]  # it reads bytes, which is all that is asked of it
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(f"{path} is compressed by gzip, and damaged: {error}") from None


def blocks(path: Path, *, max_line: int = MAX_LINE, size: int = _BLOCK) -> Iterator[Block]:
    """Read UTF-8 text in blocks of whole lines, each ending in a newline.

    A byte-order mark and Windows line ends are taken off. What is no text is
    refused, and so is a line longer than `max_line` bytes, before it is read.

    Raises
    ------
    DataError
        Naming file and line.
    """
    first_line = 1
    rest = b""
    with _bytes(path) as file:
        size_of_all = path.stat().st_size
        while True:
            check()
            advance(min(size_of_all, _place(file)), size_of_all)
            piece = file.read(size)
            data = rest + piece
            cut = data.rfind(b"\n") + 1 if piece else len(data)
            whole, rest = data[:cut], data[cut:]
            if first_line == 1:
                whole = _without_mark(path, whole)
            if whole:
                yield _decode(path, whole, first_line, max_line)
                first_line += whole.count(b"\n")
            if len(rest) > max_line:
                raise _too_long(path, first_line, max_line)
            if not piece:
                return


def _place(file: IO[bytes]) -> int:
    """How much of a file has been read, as far as that is known."""
    packed = getattr(file, "fileobj", file)
    return int(packed.tell()) if packed.seekable() else 0


def _without_mark(path: Path, data: bytes) -> bytes:
    for mark, encoding in _FOREIGN:
        if data.startswith(mark):
            raise DataError(
                f"{path} is encoded in {encoding}: save it as UTF-8, as with iconv -f {encoding} -t UTF-8"
            )
    return data.removeprefix(codecs.BOM_UTF8)


def _decode(path: Path, data: bytes, first_line: int, max_line: int) -> Block:
    if len(data) > max_line:
        line = first_line
        for row in data.split(b"\n"):
            if len(row) > max_line:
                raise _too_long(path, line, max_line)
            line += 1
    if (nul := data.find(b"\0")) >= 0:
        line = first_line + data.count(b"\n", 0, nul)
        raise fail_at(path, line, "there is a NUL byte, so this is no text file: check the path")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = first_line + data.count(b"\n", 0, error.start)
        guess = _encoding_of(data[error.start])
        raise fail_at(
            path, line, f"this is not UTF-8 but looks like {guess}: convert it with iconv -f {guess} -t UTF-8"
        ) from None
    text = text.replace("\r\n", "\n")
    return Block(text if text.endswith("\n") else text + "\n", first_line)


def _encoding_of(byte: int) -> str:
    # Latin-1 has no printable characters from 0x80 to 0x9f; Windows puts its quotes and dashes there.
    return "WINDOWS-1252" if 0x80 <= byte < 0xA0 else "LATIN1"


def _too_long(path: Path, line: int, max_line: int) -> DataError:
    return fail_at(path, line, f"the line is longer than {max_line:,} bytes: no fact is, so check the file")
