"""Constants as facts hold them: names and numbers, each with one code."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import TypeAlias, TypeVar

import numpy as np

from andre.errors import DataError

__all__ = ["Dictionary", "Value", "check_name", "checked", "key_of"]

#: A name or a number. 1, 1.0 and "1" are three constants.
Value: TypeAlias = str | int | float


def key_of(value: Value) -> Hashable:
    """What tells constants apart: Python holds 1 and 1.0 for equal, facts do not.

    Examples
    --------
    >>> len({key_of(1), key_of(1.0), key_of("1")})
    3
    """
    return (value,) if isinstance(value, float) else value


def checked(value: object) -> Value:
    """Take a value as a constant, or say why it cannot be one.

    Examples
    --------
    >>> checked(np.int64(3))
    3
    >>> checked(float("nan"))
    Traceback (most recent call last):
    ...
    andre.errors.DataError: nan cannot be a constant: only finite numbers and names can
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return check_name(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value + 0.0  # -0.0 and 0.0 are one number
    raise DataError(f"{value!r} cannot be a constant: only finite numbers and names can")


def check_name(name: str) -> str:
    """Refuse letters that no file can hold.

    Examples
    --------
    >>> check_name("a\\0b")
    Traceback (most recent call last):
    ...
    andre.errors.DataError: the name 'a\\x00b' has a NUL or half a character in it: take it out
    """
    if "\0" in name or not (name.isascii() or _is_encodable(name)):
        raise DataError(f"the name {name!r} has a NUL or half a character in it: take it out")
    return name


def _is_encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


K = TypeVar("K", bound=Hashable)


class Dictionary(dict[K, int]):
    """Numbers its keys in the order in which they are first asked for.

    Looking up a key that is not there gives it the next code, so that a long
    list is coded by `map(dictionary.__getitem__, keys)` at the speed of C.

    Examples
    --------
    >>> codes = Dictionary[str]()
    >>> list(map(codes.__getitem__, ["ann", "bob", "ann"]))
    [0, 1, 0]
    """

    def __missing__(self, key: K) -> int:
        code = self[key] = len(self)
        return code

    @staticmethod
    def of(values: Iterable[Value]) -> Dictionary[Hashable]:
        """Number these values, in their order."""
        return Dictionary((key_of(value), code) for code, value in enumerate(values))
