"""Relations: the distinct facts of one predicate, as columns of codes over a dictionary of constants."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools, Floats, distinct_keys, row_keys
from andre.errors import DataError
from andre.logic import BUILTINS

#: The parts of a dataset; the mark of a fact is a position here.
MARKS = ("train", "valid", "test")

#: What a fact may have beside its arguments: the type of the column, and the value of most facts.
COLUMNS: Mapping[str, tuple[type[np.generic], float]] = MappingProxyType(
    {"probability": (np.float64, 1), "mark": (np.uint8, 0), "negative": (np.bool_, 0)}
)

Codes: TypeAlias = NDArray[np.int32]

#: Name and arity of a relation: p/1 and p/2 are different predicates.
Key: TypeAlias = tuple[str, int]

#: A name or a number. 1, 1.0 and "1" are three constants.
Value: TypeAlias = str | int | float


def key_of(value: Value) -> Hashable:
    """A dictionary key for a constant: 1 and 1.0 are equal in Python, but different constants.

    Examples
    --------
    >>> len({key_of(1), key_of(1.0), key_of("1")})
    3
    """
    return (value,) if isinstance(value, float) else value


def keys_of(values: Sequence[Value]) -> Sequence[Hashable]:
    """The `key_of` of many constants; if none is a float, the constants themselves.

    Examples
    --------
    >>> keys_of((1, "a", 1.0))
    [1, 'a', (1.0,)]
    """
    return [*map(key_of, values)] if any(issubclass(kind, float) for kind in {*map(type, values)}) else values


def check_value(value: object) -> Value:
    """The value as a plain name or number; DataError if it cannot be a constant.

    Examples
    --------
    >>> check_value(np.int64(3))
    3
    >>> check_value(float("nan"))
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
    """The name itself; DataError if it has characters that no file can contain.

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
    """A dictionary that numbers keys in the order of their first look-up.

    A key that is not there gets the next code, so a long list is factorized by
    `map(dictionary.__getitem__, keys)` at the speed of C.

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
        """The codes of these values, in their order."""
        return Dictionary(zip(keys_of(tuple(values)), count()))


def key_text(key: Key) -> str:
    """A relation as text: name and arity.

    Examples
    --------
    >>> key_text(("parent", 2))
    'parent/2'
    """
    return f"{key[0]}/{key[1]}"


@dataclass(frozen=True, eq=False)
class Relation:
    """The distinct facts of one predicate.

    A column whose values are all the default (certain, for training, not
    denied) is always None; `column` writes it out.

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
    probability: Floats | None = None  #: [N]; None: all certain
    mark: NDArray[np.uint8] | None = None  #: [N], positions in MARKS; None: all train
    negative: Bools | None = None  #: [N], stated to be false; None: none is

    def __post_init__(self) -> None:
        if not self.name:
            raise DataError("a relation needs a name, and this one is empty")
        if check_name(self.name) in BUILTINS:
            raise DataError(f"{self.name} compares two terms and cannot have facts: rename the relation")
        codes = np.asarray(self.codes, dtype=np.int32)
        if codes.ndim != 2:
            raise DataError(f"the codes of {self.name} need two dimensions, facts by arguments")
        self._set("codes", codes)
        for field, (dtype, default) in COLUMNS.items():
            if getattr(self, field) is not None:
                array = np.asarray(getattr(self, field), dtype=dtype)
                if array.shape != (len(self),):
                    raise DataError(f"{self} has {len(self)} facts but {array.size} values of {field}")
                self._set(field, None if (array == default).all() else array)
        if self.probability is not None:
            outside = ~((self.probability >= 0) & (self.probability <= 1))
            if outside.any():
                worst = self.probability[outside.argmax()]
                raise DataError(f"a fact of {self} has probability {worst:g}, which is outside [0, 1]")
            if self.negative is not None and (self.probability[self.negative] != 1).any():
                raise DataError(f"a denied fact of {self} has a probability: state it or deny it, not both")
        if self.mark is not None and self.mark.max(initial=0) >= len(MARKS):
            raise DataError(f"the marks of {self} must be 0 (train), 1 (valid) or 2 (test)")

    def _set(self, field: str, array: NDArray[Any] | None) -> None:
        if array is not None:
            array = array.view()
            array.flags.writeable = False
        object.__setattr__(self, field, array)

    @classmethod
    def concat(cls, parts: Sequence[Relation]) -> Relation:
        """The facts of several parts of a relation, including repeated ones.

        Examples
        --------
        >>> certain = Relation("p", np.array([[0]]))
        >>> likely = Relation("p", np.array([[1]]), probability=np.array([0.9]))
        >>> Relation.concat([certain, likely]).probability.tolist()
        [1.0, 0.9]
        """
        codes = np.concatenate([part.codes for part in parts])
        fields = [field for field in COLUMNS if any(getattr(part, field) is not None for part in parts)]
        columns: dict[str, Any] = {
            field: np.concatenate([part.column(field) for part in parts]) for field in fields
        }
        return cls(parts[0].name, codes, **columns)

    @property
    def arity(self) -> int:
        """How many arguments a fact has."""
        return int(self.codes.shape[1])

    @property
    def key(self) -> Key:
        """Name and arity."""
        return self.name, self.arity

    def column(self, field: str) -> NDArray[Any]:
        """The column probability, mark or negative written out, [N], where it is None too.

        Examples
        --------
        >>> Relation("p", np.array([[0], [1]])).column("probability").tolist()
        [1.0, 1.0]
        """
        dtype, default = COLUMNS[field]
        values: NDArray[Any] | None = getattr(self, field)
        return np.full(len(self), default, dtype=dtype) if values is None else values

    @property
    def n_negative(self) -> int:
        """The number of denied facts."""
        return int(self.column("negative").sum())

    @cached_property
    def impossible(self) -> Bools:
        """Which facts say that their atom is false: denied ones, and those of probability 0, [N].

        Examples
        --------
        >>> Relation("p", np.array([[0], [1]]), probability=np.array([0.0, 0.3])).impossible.tolist()
        [True, False]
        """
        false: Bools = self.column("negative") | (self.column("probability") == 0)
        return false

    def count(self, mark: str) -> int:
        """How many facts have this mark."""
        return int(self.marked(mark).sum())

    def marked(self, mark: str) -> Bools:
        """Which facts have this mark, [N]."""
        if mark not in MARKS:
            raise DataError(f"there is no mark {mark!r}: choose train, valid or test")
        has_mark: Bools = self.column("mark") == MARKS.index(mark)
        return has_mark

    def take(self, keep: NDArray[Any]) -> Relation:
        """The facts that a mask selects, or those at these positions."""
        columns = (getattr(self, field) for field in COLUMNS)
        return Relation(self.name, self.codes[keep], *(None if c is None else c[keep] for c in columns))

    def recoded(self, codes: NDArray[Any]) -> Relation:
        """The same facts over another dictionary: `codes[old] = new`."""
        return replace(self, codes=codes.astype(np.int32)[self.codes])

    def __len__(self) -> int:
        return len(self.codes)

    def __str__(self) -> str:
        return f"{self.name}/{self.arity}"

    def __repr__(self) -> str:
        return f"Relation({self}, {len(self)} facts)"


@dataclass(frozen=True)
class Merged:
    """Relations of distinct facts, and how many facts were merged."""

    relations: dict[Key, Relation]
    duplicates: int  #: rows that repeated a fact
    overlaps: int  #: facts that had several marks


def merge_equal(
    relations: Iterable[Relation], n_values: int, where: Callable[[Relation, int], str]
) -> Merged:
    """Keep each fact once, at its first place.

    A fact that has several marks keeps the last of train, valid, test, so that
    what is held out anywhere never reaches training. A fact with two
    probabilities, or one that is both stated and denied, is refused;
    `where(relation, row)` describes such a fact to the user.

    Examples
    --------
    >>> twice = Relation("p", np.array([[0], [1], [0]]), mark=np.array([0, 0, 2]))
    >>> merged = merge_equal([twice], 2, str)
    >>> merged.relations["p", 1].codes.tolist(), merged.relations["p", 1].mark.tolist(), merged.overlaps
    ([[0], [1]], [2, 0], 1)
    """
    merged: dict[Key, Relation] = {}
    duplicates = overlaps = 0
    for relation in relations:
        kept, several = _distinct(relation, n_values, where)
        merged[relation.key] = kept
        duplicates += len(relation) - len(kept) - several
        overlaps += several
    return Merged(merged, duplicates, overlaps)


def _distinct(
    relation: Relation, n_values: int, where: Callable[[Relation, int], str]
) -> tuple[Relation, int]:
    """The distinct facts of a relation, and how many repetitions have another mark."""
    keys = row_keys(relation.codes, n_values)
    if len(distinct_keys(keys)) == len(keys):
        return relation, 0
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    for column, quarrel in (
        (relation.negative, "is both stated and denied"),
        (relation.probability, "has two probabilities"),
    ):
        if column is not None:
            other = np.flatnonzero(column != column[first[group]])
            if other.size:
                one, two = where(relation, int(first[group[other[0]]])), where(relation, int(other[0]))
                raise DataError(f"{one} {quarrel}, see {two}: keep one of them")
    kept = relation.take(np.sort(first))
    if relation.mark is None:
        return kept, 0
    last = np.zeros(len(first), dtype=np.uint8)
    np.maximum.at(last, group, relation.mark)
    several = len(distinct_keys(group * len(MARKS) + relation.mark)) - len(first)
    return replace(kept, mark=last[np.argsort(first)]), several
