"""The extensions of atoms and comparisons: where they hold, as rows of codes and as dense tables."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from andre.arrays import Bools, Floats, Ints
from andre.facts import FactBase
from andre.inference.coded import (
    CodedAtom,
    CodedComparison,
    CodedRule,
    Coder,
    compare,
    doubted,
    is_variable,
    number_ranks,
)
from andre.logic import Rule, check_runnable


class Extensions:
    """The rows of every relation: the atoms that hold, and those whose negation does not.

    Parameters
    ----------
    facts
        What is known; marks are not read, and denied facts do not hold. In an
        open world rules are coded so that what is unknown is not false.
    likely
        Whether a fact holds only where its probability is above one half. Then
        at exactly one half neither the atom nor its negation holds. Otherwise
        every stated fact holds that is not impossible.
    weakly
        Whether, where facts are cut so, one half is enough: at exactly one half
        both the atom and its negation hold.
    """

    def __init__(self, facts: FactBase, *, likely: bool = False, weakly: bool = False) -> None:
        self.facts, self.likely, self.weakly = facts, likely, weakly
        self.coder = Coder(facts)
        self._rows: dict[tuple[int, bool], Ints] = {}
        self._ranks: Ints = np.zeros(0, dtype=np.int64)

    @cached_property
    def weaker(self) -> Extensions | None:
        """The same facts with one half enough for an atom and its negation; None if none is at one half."""
        halves = ((relation.column("probability") == 0.5).any() for relation in self.facts.relations.values())
        if self.weakly or not any(halves):
            return None
        return Extensions(self.facts, likely=True, weakly=True)

    def code(self, rule: Rule) -> CodedRule:
        """The rule over codes.

        Raises
        ------
        LogicError
            Where a variable is neither in the head nor in a positive literal of the body.
        """
        check_runnable(rule)
        return self.coder.rule(rule)

    @property
    def n(self) -> int:
        """The number of constants of the facts."""
        return len(self.facts.constants)

    @property
    def n_codes(self) -> int:
        """The number of codes, for the constants of the facts and of the rules so far."""
        return len(self.coder)

    def holds(self, item: CodedComparison, left: Ints, right: Ints) -> Bools:
        """Where a comparison holds between constants, given by their codes."""
        if item.is_order and len(self._ranks) != self.n_codes:
            self._ranks = number_ranks(self.coder.constants)
        return np.asarray(compare(item.sign, left, right, self._ranks) != item.negated)

    def rows(self, relation: int, *, negated: bool = False) -> Ints:
        """The atoms of a relation that hold or, with `negated`, those whose negation does not, [N, arity]."""
        if (relation, negated) not in self._rows:
            self._rows[relation, negated] = self._select(relation, negated)
        return self._rows[relation, negated]

    def _select(self, relation: int, negated: bool) -> Ints:
        if relation in self.coder.domains:
            return self.coder.domains[relation]
        name, arity = self.coder.keys[relation]
        found = self.facts.relations.get((name, arity))
        if found is None:
            return np.zeros((0, arity), dtype=np.int64)
        if self.coder.is_of_doubts(relation):
            return found.codes[doubted(found)].astype(np.int64)
        keep: Bools = ~found.column("negative")
        if found.probability is not None:
            if not self.likely:
                keep &= found.probability > 0
            elif negated != self.weakly:
                keep &= found.probability >= 0.5
            else:
                keep &= found.probability > 0.5
        return found.codes[keep].astype(np.int64)

    def matches(self, atom: CodedAtom, *, negated: bool = False) -> Ints:
        """The bindings of an atom's variables by the rows that match it, [N, variables]."""
        return matching(atom, self.rows(atom.relation, negated=negated))

    def table(self, item: CodedAtom | CodedComparison, *, negated: bool = False) -> Floats:
        """1 where a literal or comparison holds, else 0; one axis of n constants per variable, ascending."""
        if isinstance(item, CodedComparison):
            return self.holds(item, *term_grids(item.terms, item.scope, self.n)).astype(float)
        rows = self.matches(item, negated=negated)[:, np.argsort(item.variables)]
        table = np.full((self.n,) * rows.shape[1], float(negated))
        table[tuple(rows.T)] = float(negated != (len(rows) > 0))
        return table


def matching(atom: CodedAtom, rows: Ints) -> Ints:
    """The bindings of an atom's variables by those of the given rows that match it, [N, variables].

    Examples
    --------
    >>> matching(CodedAtom(0, (-1, -1, 5)), np.array([[2, 2, 5], [2, 3, 5], [4, 4, 6]])).tolist()
    [[2]]
    """
    keep = np.ones(len(rows), dtype=np.bool_)
    place: dict[int, int] = {}
    for position, term in enumerate(atom.terms):
        column = rows[:, position]
        keep &= column == (rows[:, place.setdefault(term, position)] if is_variable(term) else term)
    return rows[keep][:, list(place.values())]


def term_grids(terms: Iterable[int], scope: tuple[int, ...], n: int) -> list[Ints]:
    """The code of each term in every cell of a table with one axis of n constants per variable.

    Examples
    --------
    >>> [grid.tolist() for grid in term_grids((-2, 7), (0, 1), 3)]
    [[[0, 1, 2]], 7]
    """
    axes = np.ogrid[(slice(n),) * len(scope)]
    return [np.asarray(axes[scope.index(-1 - term)] if is_variable(term) else term) for term in terms]
