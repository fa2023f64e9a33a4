"""The interface of judges of programs at their fixpoint, and labels as lists of atoms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools, Floats, Ints, among
from andre.logic import Rule

#: Atoms of one relation as keys that sort and compare, ascending and distinct.
Keys = NDArray[Any]


@dataclass(frozen=True)
class Affordable:
    """How many programs of one and of two rules there is time to judge."""

    singles: float
    pairs: float


class Verdicts(ABC):
    """The verdicts on some programs: the labels of what they derive at their fixpoint."""

    #: Derived true and false examples, [P, 2]; NaN for a program that leaves atoms undefined or is given up.
    counts: Floats

    @abstractmethod
    def steps(self, place: int, rules: Sequence[int], *, beyond: bool = False) -> Floats:
        """What each of some rules derives in one step from the model of the program at an index, [rules, 2].

        For a rule that derives too much, a part is counted.

        Parameters
        ----------
        beyond
            Whether only atoms that are not in the model count.
        """

    @abstractmethod
    def fingerprint(self, place: int) -> bytes:
        """A value that is equal for programs that derive the same atoms."""


class NumberedRules(Protocol):
    """Rules for one target that are known by their numbers."""

    def add(self, rule: Rule) -> int:
        """The number of a rule, which is added if it is new."""

    def is_recursive(self, rule: int) -> bool:
        """Whether the body of the rule with this number has the target."""


class ExampleLabels(Protocol):
    """How likely each example is true."""

    @property
    def totals(self) -> Floats:
        """The expected numbers of true and of false examples, [2]."""


class Judge(ABC):
    """Judges programs, given as sets of numbers of rules for one target, by what they derive.

    A program reads only the background, and is run to its fixpoint, or to its
    well-founded model if it negates the target. How that is computed is left to
    the subclasses.
    """

    rules: NumberedRules
    labels: ExampleLabels

    @property
    def totals(self) -> Floats:
        """The expected numbers of true and of false examples, [2]."""
        return self.labels.totals

    def add(self, rule: Rule) -> int:
        """The number of a rule, which is added if it is new."""
        return self.rules.add(rule)

    def is_recursive(self, rule: int) -> bool:
        """Whether the body of the rule with this number has the target."""
        return self.rules.is_recursive(rule)

    @property
    @abstractmethod
    def at_once(self) -> int:
        """How many programs are best judged together."""

    @property
    @abstractmethod
    def affordable(self) -> Affordable:
        """Roughly how many programs there is time to judge."""

    @property
    def given_up(self) -> int:
        """How many programs were not judged, because they derive too much."""
        return 0

    @abstractmethod
    def judge(self, programs: Sequence[tuple[int, ...]]) -> Verdicts:
        """The verdicts on some programs."""

    @abstractmethod
    def stated(self) -> Verdicts:
        """The verdict on a fictitious program that derives exactly the true examples."""

    @abstractmethod
    def without(self, program: tuple[int, ...]) -> Judge:
        """The same judge without the labels of atoms that a program derives.

        Raises
        ------
        MemoryLimitError
            If it derives too much to be run to its fixpoint.
        """

    def within(self, most_wrong: float) -> Judge:
        """The same, but it need not judge programs that derive more false examples than that."""
        return self


@dataclass(frozen=True)
class AtomKeys:
    """Atoms of one arity as keys: integers if 64 bits are enough, else the bytes of the row.

    Examples
    --------
    >>> pairs, rows = AtomKeys(2, 10), np.array([[3, 4], [0, 7]])
    >>> pairs.of(rows).tolist(), pairs.rows(pairs.of(rows)).tolist()
    ([34, 7], [[3, 4], [0, 7]])
    >>> many = AtomKeys(6, 1 << 20)
    >>> many.rows(many.of(np.arange(6)[None])).tolist()
    [[0, 1, 2, 3, 4, 5]]
    """

    arity: int
    base: int  #: codes are below it

    @property
    def _packed(self) -> bool:
        return bool(max(1, self.base) ** self.arity < 2**63)

    @property
    def none(self) -> Keys:
        """The keys of no atoms."""
        return self.of(np.zeros((0, self.arity), dtype=np.int64))

    def of(self, rows: Ints) -> Keys:
        """The key of every row, [N, arity], in the order of the rows."""
        if self._packed:
            return np.asarray(rows @ np.array([self.base**k for k in reversed(range(self.arity))], np.int64))
        wide = np.ascontiguousarray(rows, dtype=np.int64)
        return wide.view(np.dtype((np.void, self.arity * wide.itemsize))).ravel()

    def rows(self, keys: Keys) -> Ints:
        """The rows of keys, [N, arity]."""
        if self._packed:
            shape = (max(1, self.base),) * self.arity
            return np.stack(np.unravel_index(keys, shape), axis=1).astype(np.int64)
        return np.ascontiguousarray(keys).view(np.int64).reshape(-1, self.arity)


@dataclass(frozen=True, eq=False)
class ListedLabels:
    """Labels of a target as a list of atoms, for domains over which a table of all atoms would be too large.

    Examples
    --------
    >>> atoms, chances = np.array([[0, 1], [1, 2]]), np.array([1.0, 0.75])
    >>> labels = ListedLabels(AtomKeys(2, 3), atoms, chances, 1 - chances, domains=(np.arange(3),) * 2)
    >>> labels.totals.tolist()  # the seven atoms that are not listed are false
    [1.75, 7.25]
    >>> labels.counts(np.array([1, 2])).tolist()  # p(0, 1), and p(0, 2)
    [1.0, 1.0]
    """

    keys: AtomKeys
    atoms: Ints  #: [B, arity], all of them different
    positive: Floats  #: [B], how likely each is true
    negative: Floats  #: [B], how likely each is false
    #: In a closed world, the codes that each argument ranges over: other atoms over these are false.
    domains: tuple[Ints, ...] | None = None
    settled: Keys = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  #: atoms that are no examples

    @cached_property
    def totals(self) -> Floats:
        """The expected numbers of true and of false examples, [2]."""
        _, positive, negative = self._sorted
        return np.array([positive.sum(), negative.sum() + self.n_unlisted])

    @cached_property
    def n_unlisted(self) -> int:
        """The number of false atoms that are not listed."""
        if self.domains is None:
            return 0
        every = int(np.prod([len(domain) for domain in self.domains], dtype=object))
        listed = int(self._within(self.atoms).sum())
        others = self.settled[~among(self.settled, self._listed)]
        return every - listed - int(self._within(self.keys.rows(others)).sum())

    def counts(self, derived: Keys) -> Floats:
        """How many true and false examples are among some atoms, given by their keys, [2]."""
        listed, positive, negative = self._sorted
        place = np.searchsorted(listed, derived)
        hit = among(derived, listed)
        place = place[hit]
        right, wrong = float(positive[place].sum()), float(negative[place].sum())
        if self.domains is not None:
            others = derived[~hit]
            if len(self.settled):
                others = others[~among(others, self.settled)]
            wrong += int(self._within(self.keys.rows(others)).sum())
        return np.array([right, wrong])

    def without(self, settled: Keys) -> ListedLabels:
        """The labels of all atoms but those that are settled."""
        kept = np.unique(np.concatenate([self.settled.astype(settled.dtype), settled]))
        return replace(self, settled=kept)

    @cached_property
    def _listed(self) -> Keys:
        return np.sort(self.keys.of(self.atoms))

    @cached_property
    def _sorted(self) -> tuple[Keys, Floats, Floats]:
        """Keys of the listed atoms, ascending, and the weights of those that are not settled."""
        keys = self.keys.of(self.atoms)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        kept = ~among(keys, self.settled) if len(self.settled) else np.ones(len(keys), dtype=np.bool_)
        return keys, self.positive[order] * kept, self.negative[order] * kept

    @cached_property
    def _ranges(self) -> list[Bools]:
        """For each argument, a mask of the codes that it ranges over."""
        masks = []
        for domain in self.domains or ():
            mask = np.zeros(self.keys.base, dtype=np.bool_)
            mask[domain] = True
            masks.append(mask)
        return masks

    def _within(self, rows: Ints) -> Bools:
        """Which atoms are within the domains."""
        inside = np.ones(len(rows), dtype=np.bool_)
        for mask, column in zip(self._ranges, rows.T, strict=True):
            inside &= mask[column]
        return inside
