"""Constants as facts hold them: names and numbers, each with one code.

Relations: the facts of one predicate, as columns of codes.

Equal facts made one, and what they disagree in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from andre.errors import DataError
from andre.logic import BUILTINS

__all__ = [
    "MARKS",
    "Codes",
    "Dictionary",
    "Merged",
    "Relation",
    "Value",
    "by_kind",
    "check_name",
    "checked",
    "key_of",
    "merge_equal",
    "row_keys",
]


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


#: The parts of a dataset; the mark of a fact is a position here.
MARKS = ("train", "valid", "test")

Codes: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Relation:
    """The distinct facts of one predicate.

    A column that says nothing is None: all facts certain, all of them for
    training, none denied. It is made so whenever its values say nothing.

    Examples
    --------
    >>> edge = Relation("edge", np.array([[0, 1], [1, 2]]), mark=np.array([0, 2]))
    >>> edge
    Relation(edge/2, 2 facts)
    >>> edge.take(edge.marked("test")).codes.tolist()
    [[1, 2]]
    """

    name: str
    codes: Codes  #: [N, arity], positions in the dictionary of constants
    probability: NDArray[np.float64] | None = None  #: [N]; None: all certain
    mark: NDArray[np.uint8] | None = None  #: [N], positions in MARKS; None: all train
    negative: NDArray[np.bool_] | None = None  #: [N], stated to be false; None: none is

    def __post_init__(self) -> None:
        if not self.name:
            raise DataError("a relation needs a name, and this one is empty")
        if check_name(self.name) in BUILTINS:
            raise DataError(f"{self.name} compares two terms and cannot have facts: rename the relation")
        codes = np.asarray(self.codes, dtype=np.int32)
        if codes.ndim != 2:
            raise DataError(f"the codes of {self.name} need two dimensions, facts by arguments")
        self._set("codes", codes)
        self._column("probability", np.float64, nothing=1)
        self._column("mark", np.uint8, nothing=0)
        self._column("negative", np.bool_, nothing=0)
        if self.probability is not None:
            outside = ~((self.probability >= 0) & (self.probability <= 1))
            if outside.any():
                worst = self.probability[outside.argmax()]
                raise DataError(f"a fact of {self} has probability {worst:g}, which is outside [0, 1]")
            if self.negative is not None and (self.probability[self.negative] != 1).any():
                raise DataError(f"a denied fact of {self} has a probability: state it or deny it, not both")
        if self.mark is not None and self.mark.max(initial=0) >= len(MARKS):
            raise DataError(f"the marks of {self} must be 0 (train), 1 (valid) or 2 (test)")

    def _set(self, field: str, array: NDArray[Any]) -> None:
        array = array.view()
        array.flags.writeable = False
        object.__setattr__(self, field, array)

    def _column(self, field: str, dtype: Any, nothing: int) -> None:
        given = getattr(self, field)
        if given is None:
            return
        array = np.asarray(given, dtype=dtype)
        if array.shape != (len(self),):
            raise DataError(f"{self} has {len(self)} facts but {array.size} values of {field}")
        if (array == nothing).all():
            object.__setattr__(self, field, None)
        else:
            self._set(field, array)

    @classmethod
    def concat(cls, parts: Sequence[Relation]) -> Relation:
        """Join facts of one predicate, one part after the other; equal facts stay.

        Examples
        --------
        >>> certain = Relation("p", np.array([[0]]))
        >>> likely = Relation("p", np.array([[1]]), probability=np.array([0.9]))
        >>> Relation.concat([certain, likely]).probability.tolist()
        [1.0, 0.9]
        """

        def joined(field: str, nothing: float) -> NDArray[Any] | None:
            columns = [getattr(part, field) for part in parts]
            if all(column is None for column in columns):
                return None
            return np.concatenate(
                [np.full(len(p), nothing) if c is None else c for p, c in zip(parts, columns, strict=True)]
            )

        codes = np.concatenate([part.codes for part in parts])
        return cls(parts[0].name, codes, joined("probability", 1), joined("mark", 0), joined("negative", 0))

    @property
    def arity(self) -> int:
        """How many arguments a fact has."""
        return int(self.codes.shape[1])

    @property
    def key(self) -> tuple[str, int]:
        """Name and arity: p/1 and p/2 are different predicates."""
        return self.name, self.arity

    @property
    def n_negative(self) -> int:
        """How many facts are denied."""
        return 0 if self.negative is None else int(self.negative.sum())

    def count(self, mark: str) -> int:
        """How many facts carry a mark."""
        return int(self.marked(mark).sum())

    def marked(self, mark: str) -> NDArray[np.bool_]:
        """Which facts carry a mark."""
        if mark not in MARKS:
            raise DataError(f"there is no mark {mark!r}: choose train, valid or test")
        if self.mark is None:
            return np.full(len(self), mark == "train")
        return np.equal(self.mark, MARKS.index(mark))

    def take(self, keep: NDArray[Any]) -> Relation:
        """The facts at these places (a mask, or positions in order)."""
        return Relation(
            self.name,
            self.codes[keep],
            *(None if a is None else a[keep] for a in (self.probability, self.mark, self.negative)),
        )

    def recoded(self, codes: NDArray[Any]) -> Relation:
        """The same facts over another dictionary: `codes[old] = new`."""
        return Relation(
            self.name, codes.astype(np.int32)[self.codes], self.probability, self.mark, self.negative
        )

    def __len__(self) -> int:
        return len(self.codes)

    def __str__(self) -> str:
        return f"{self.name}/{self.arity}"

    def __repr__(self) -> str:
        return f"Relation({self}, {len(self)} facts)"


def row_keys(codes: NDArray[Any], n_values: int) -> NDArray[np.int64]:
    """One integer per row, equal exactly where rows are equal.

    Digits to the base `n_values`; where they would not fit into 64 bits, what
    is there so far is renumbered first.

    Examples
    --------
    >>> row_keys(np.array([[0, 1], [1, 0], [0, 1]]), 2).tolist()
    [1, 2, 1]
    """
    keys = np.zeros(len(codes), dtype=np.int64)
    top = 1  # keys are below it
    for column in codes.T:
        if top * n_values >= 2**63:
            unique, keys = np.unique(keys, return_inverse=True)
            top = len(unique)
        keys = keys * n_values + column
        top *= n_values
    return keys


def by_kind(kinds: NDArray[Any], n_kinds: int) -> list[NDArray[np.int64]]:
    """For each kind, the rows that are of it, in their order.

    Examples
    --------
    >>> [rows.tolist() for rows in by_kind(np.array([1, 0, 1]), 3)]
    [[1], [0, 2], []]
    """
    order = np.argsort(kinds, kind="stable")
    stops = np.cumsum(np.bincount(kinds, minlength=n_kinds))
    return np.split(order, stops[:-1]) if n_kinds else []


@dataclass(frozen=True)
class Merged:
    """A relation of distinct facts, and how many rows it lost on the way."""

    relation: Relation
    duplicates: int = 0  #: rows that said the same as another one
    overlaps: int = 0  #: facts that carried several marks


def merge_equal(relation: Relation, n_values: int, where: Callable[[int], str]) -> Merged:
    """Keep each fact once, where it stood first.

    A fact that carries several marks keeps the last of train, valid, test, so
    that what is held out anywhere never reaches training. A fact with two
    probabilities, or one that is both stated and denied, is refused;
    `where(row)` writes such a fact and its place.

    Examples
    --------
    >>> twice = Relation("p", np.array([[0], [1], [0]]), mark=np.array([0, 0, 2]))
    >>> merged = merge_equal(twice, 2, str)
    >>> merged.relation.codes.tolist(), merged.relation.mark.tolist(), merged.overlaps
    ([[0], [1]], [2, 0], 1)
    """
    keys = row_keys(relation.codes, n_values)
    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():
        return Merged(relation)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    for column, quarrel in (
        (relation.negative, "is both stated and denied"),
        (relation.probability, "has two probabilities"),
    ):
        if column is not None:
            other = np.flatnonzero(column != column[first[group]])
            if other.size:
                row = int(other[0])
                raise DataError(
                    f"{where(int(first[group[row]]))} {quarrel}, see {where(row)}: keep one of them"
                )
    overlaps = 0
    last = relation.mark
    if relation.mark is not None:
        last = np.zeros(len(first), dtype=np.uint8)
        np.maximum.at(last, group, relation.mark)
        pairs = len(np.unique(group * 4 + relation.mark))
        overlaps = pairs - len(first)
    order = np.argsort(first)
    kept = Relation(
        relation.name,
        relation.codes[first[order]],
        None if relation.probability is None else relation.probability[first[order]],
        None if last is None else last[order],
        None if relation.negative is None else relation.negative[first[order]],
    )
    return Merged(kept, duplicates=len(keys) - len(first) - overlaps, overlaps=overlaps)
