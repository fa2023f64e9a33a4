"""A knowledge base as directed steps from constant to constant."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from andre.errors import DataError
from andre.facts import MARKS, FactBase

__all__ = ["Facts", "Graph"]


#: Rows of relation, first and second argument: [N, 3].
Facts = NDArray[np.int64]


def _none() -> Facts:
    return np.zeros((0, 3), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Graph:
    """The binary facts of a knowledge base, each relation walked both ways.

    Step d < R follows relation d from its first argument to its second, step
    d + R the other way. Asking for the second argument of relation d is asking
    where step d leads; asking for the first is asking where step d + R leads.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> graph = Graph.of(FactBase.from_facts([parse_atom("p(a, b)"), parse_atom("p(b, b)")]))
    >>> [step.toarray().tolist() for step in graph.steps]
    [[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]]]
    """

    relations: tuple[str, ...]
    n: int  #: constants
    train: Facts
    valid: Facts
    test: Facts
    denied: Facts = field(default_factory=_none)  #: training facts that are stated to be false
    #: Nobody stated them, but steps follow them like training facts.
    assumed: Facts = field(default_factory=_none)

    @classmethod
    def of(cls, facts: FactBase) -> Graph:
        """Take the binary relations of a fact base, with their marks."""
        binary = [relation for (_, arity), relation in facts.relations.items() if arity == 2]
        rows: dict[str, list[Facts]] = {part: [_none()] for part in (*MARKS, "denied")}
        for place, relation in enumerate(binary):
            codes = np.insert(relation.codes.astype(np.int64), 0, place, axis=1)
            false = np.zeros(len(codes), dtype=np.bool_) if relation.negative is None else relation.negative
            rows["denied"].append(codes[relation.marked("train") & false])
            for mark in MARKS:
                rows[mark].append(codes[relation.marked(mark) & ~false])
        parts = {part: np.concatenate(some) for part, some in rows.items()}
        if not len(parts["train"]):
            raise DataError("there are no binary facts to learn from: completion needs facts such as p(a, b)")
        graph = cls(tuple(relation.name for relation in binary), len(facts.constants), **parts)
        if facts.notes.overlaps:
            warnings.warn(
                f"{facts.notes.overlaps} of the facts stand in more than one of train, valid and test: "
                "such a fact counts for the last of these only",
                stacklevel=4,
            )
        return graph

    def part(self, mark: str) -> Facts:
        """The facts of one mark, or those that are denied."""
        if mark not in (*MARKS, "denied"):
            raise DataError(f"there is no mark {mark!r}: choose train, valid or test")
        found: Facts = getattr(self, mark)
        return found

    @property
    def n_steps(self) -> int:
        """Twice the relations."""
        return 2 * len(self.relations)

    def inverse(self, step: int) -> int:
        """The same relation walked the other way."""
        return (step + len(self.relations)) % self.n_steps

    @cached_property
    def steps(self) -> tuple[csr_matrix, ...]:
        """[n, n] for each step, from the training and assumed facts; loops are left out.

        The variables of a rule stand for distinct constants, so no loop is
        ever evidence.
        """
        made = []
        for step in range(self.n_steps):
            pairs = np.concatenate([self.pairs(step, "train"), self.follow(step, self.assumed)])
            x, y = pairs[pairs[:, 0] != pairs[:, 1]].T
            made.append(csr_matrix((np.ones(len(x), dtype=np.float32), (x, y)), shape=(self.n, self.n)))
        return tuple(made)

    @cached_property
    def ends(self) -> csr_matrix:
        """[n, S * n], all steps side by side."""
        return hstack(self.steps, format="csr")

    @cached_property
    def loops(self) -> frozenset[tuple[int, int]]:
        """Relation and constant of the training facts that lead nowhere else: p(a, a)."""
        looping = self.train[self.train[:, 1] == self.train[:, 2], :2]
        return frozenset(map(tuple, looping.tolist()))

    def pairs(self, step: int, mark: str) -> NDArray[np.int64]:
        """[N, 2], the facts of one mark that a step follows: from, to."""
        return self.follow(step, self.part(mark))

    def follow(self, step: int, facts: Facts) -> NDArray[np.int64]:
        """[N, 2], those of some facts that a step follows: from, to."""
        relation = step % len(self.relations)
        chosen = facts[facts[:, 0] == relation, 1:]
        return chosen if step < len(self.relations) else chosen[:, ::-1]

    def known(self, step: int, marks: tuple[str, ...]) -> csr_matrix:
        """[n, n], where the facts of these marks lead."""
        x, y = np.concatenate([self.pairs(step, mark) for mark in marks]).T
        return csr_matrix((np.ones(len(x), dtype=np.bool_), (x, y)), shape=(self.n, self.n))
