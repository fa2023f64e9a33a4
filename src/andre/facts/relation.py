"""Relations: the facts of one predicate, as columns of codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from andre.errors import DataError
from andre.facts.values import check_name
from andre.logic.atom import BUILTINS

__all__ = ["MARKS", "Codes", "Relation"]

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
