"""Fast reading of numbers from the bytes of a CSV file without quotes.

DuckDB takes quadratic time to plan a query over thousands of columns. Here a block of lines is divided
into cells at its delimiters, and the digits of all cells are added up position by position.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats
from andre.facts.tables.cells import is_code, is_missing, is_no_number, plain_number
from andre.limits import check
from andre.progress import advance

_BLOCK = 1 << 21  # bytes
_LONGEST = 32  # bytes of a number that is read here; longer ones are read one by one
#: Digits of a number that a float holds, as it does powers of ten to 22: their quotient is rounded once.
_EXACT_DIGITS = 15
_MINUS, _DOT, _ZERO, _NEWLINE = b"-.0\n"


def plain_columns(
    path: Path, width: int, delimiter: str, as_text: Collection[int], *, block: int = _BLOCK
) -> dict[int, Floats]:
    """The columns of numbers by index; none for a file with quotes, or with lines of other widths.

    Parameters
    ----------
    path
        A file whose first line names the columns.
    width
        How many columns there are.
    as_text
        Indices of columns that are not wanted.
    block
        Bytes to read at a time.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "table.csv")
    ...     _ = file.write_text("age,name,size\\n42,ann,1.5\\n,bo,NA\\n")
    ...     plain_columns(file, 3, ",", ())
    {0: array([42., nan]), 2: array([1.5, nan])}
    """
    rows = _count_lines(path) - 1
    wanted = np.array([place for place in range(width) if place not in as_text], dtype=np.int64)
    if rows < 1 or not len(wanted):
        return {}
    values = np.empty((width, rows))  # [columns, rows]
    first = 0
    for lines in _blocks(path, block):
        check()
        advance(first, rows)
        found = _cells(lines, width, ord(delimiter))
        if found is None or first + len(found[0]) > rows:
            return {}
        bytes_, starts, lengths = found[1], found[0][:, wanted], found[2][:, wanted]
        numbers, is_odd = _numbers(bytes_, starts, lengths)
        text = _read_odd(lines, numbers, is_odd, starts, lengths)
        values[wanted, first : first + len(numbers)] = numbers.T
        wanted = wanted[~text]
        first += len(starts)
    return {} if first != rows else {place: values[place] for place in wanted.tolist()}


def _count_lines(path: Path) -> int:
    lines, last = 0, b"\n"
    with path.open("rb") as file:
        while part := file.read(_BLOCK):
            lines += part.count(b"\n")
            last = part[-1:]
    return lines + (last != b"\n")


def _blocks(path: Path, size: int) -> Iterator[bytes]:
    """The lines after the first in blocks of about so many bytes, each line with its end."""
    with path.open("rb") as file:
        if file.readline().count(b'"') % 2:  # a name that goes on in the next line
            yield b'"'
            return
        left = b""
        while part := file.read(size):
            whole, newline, rest = (left + part).rpartition(b"\n")
            if newline:
                yield (whole + newline).replace(b"\r\n", b"\n")
            left = rest
        if left:
            yield left + b"\n"


def _cells(
    block: bytes, width: int, delimiter: int
) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.int64]] | None:
    """Where cells begin, the bytes, and the lengths of cells; None if the lines are not of this form."""
    if b'"' in block or b"\r" in block:
        return None
    # Padded with zeros, so that bytes beyond the end of the last cell can be read.
    data = np.frombuffer(block + bytes(_LONGEST + 1), dtype=np.uint8)
    ends = np.flatnonzero((data == delimiter) | (data == _NEWLINE))
    lines = np.count_nonzero(data == _NEWLINE)
    if len(ends) != lines * width or not (data[ends[width - 1 :: width]] == _NEWLINE).all():
        return None
    starts = np.empty_like(ends)
    starts[0], starts[1:] = 0, ends[:-1] + 1
    return starts.reshape(lines, width), data, (ends - starts).reshape(lines, width)


def _numbers(
    data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Cells as numbers, NaN if empty, and which of them are not plain numbers of few digits."""
    longest = int(lengths.max(initial=0))
    if longest <= 1:
        digits = data[starts] - np.uint8(_ZERO)  # other bytes than digits are 10 and more
        numbers = digits.astype(np.float64)
        numbers[lengths == 0] = np.nan
        return numbers, (digits > 9) & (lengths > 0)
    is_negative = data[starts] == _MINUS
    at, left = starts + is_negative, lengths - is_negative
    after_zero = (left > 1) & (data[at] == _ZERO) & (data[at + 1] != _DOT)
    is_odd = after_zero | (left > _LONGEST) | (is_negative & (left == 0))
    mantissa, decimals = np.zeros(starts.shape, dtype=np.int64), np.zeros(starts.shape, dtype=np.int8)
    seen = np.zeros(starts.shape, dtype=np.bool_)
    for place in range(min(longest, _LONGEST)):
        inside = left > place
        byte = data[np.where(inside, at + place, 0)]
        digit = byte - np.uint8(_ZERO)
        is_digit = inside & (digit <= 9)
        is_dot = inside & (byte == _DOT) & ~seen & (left > place + 1) & (place > 0)
        is_odd |= inside & ~is_digit & ~is_dot
        np.multiply(mantissa, 10, out=mantissa, where=is_digit)
        np.add(mantissa, digit, out=mantissa, where=is_digit)
        decimals += is_digit & seen
        seen |= is_dot
    is_odd |= left - seen > _EXACT_DIGITS
    numbers = mantissa / np.power(10.0, np.minimum(decimals, _EXACT_DIGITS + 1))
    numbers[is_negative] *= -1
    numbers[lengths == 0] = np.nan
    return numbers, is_odd


def _read_odd(
    block: bytes,
    numbers: Floats,
    is_odd: NDArray[np.bool_],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Read cells that are not plain numbers of few digits one by one; returns which columns are text."""
    is_text = np.zeros(numbers.shape[1], dtype=np.bool_)
    for place in np.flatnonzero(is_odd.any(axis=0)).tolist():
        for number, row in enumerate(np.flatnonzero(is_odd[:, place]).tolist()):
            if not number % 1024:
                check()
            start = int(starts[row, place])
            value = _number(block[start : start + int(lengths[row, place])])
            if value is None:
                is_text[place] = True
                break
            numbers[row, place] = value
    return is_text


def _number(cell: bytes) -> float | None:
    """The number in a cell, NaN if it counts as missing; None if it is text."""
    try:
        text = cell.decode().strip()
    except UnicodeDecodeError:
        return None
    if is_missing(text) or is_no_number(text):
        return np.nan
    return None if is_code(text) else plain_number(text)
