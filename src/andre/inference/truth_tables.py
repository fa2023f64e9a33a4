"""Truth tables: facts over few constants, and bodies evaluated for many programs at once.

A body is read once; the tables of some relations, such as the one that is being
defined, are given at each evaluation, one for each of several programs or of
several states of the background.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from andre.arrays import Bools, Ints
from andre.facts import FactBase, Key
from andre.inference.coded import CodedAtom, CodedComparison, is_variable, scope_of, variable_number
from andre.inference.contraction import Contraction, Table, axes_of
from andre.inference.extensions import Extensions, term_grids
from andre.logic import Rule


@dataclass(frozen=True, eq=False)
class TruthTables:
    """Which literals hold for the N constants of some facts, rounded to true or false.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_rule
    >>> facts = FactBase.from_facts(map(parse_atom, ["edge(a,b)", "edge(b,c)"]))
    >>> tables = TruthTables.of(facts)
    >>> body = tables.body(parse_rule("h(X,Y) :- edge(X,Z), edge(Z,Y)."))
    >>> body.derives().astype(int)
    array([[0, 0, 1],
           [0, 0, 0],
           [0, 0, 0]])
    """

    known: Extensions
    #: Tables made so far: of literals and comparisons that differ in the names of variables only, one.
    _made: dict[tuple[CodedAtom | CodedComparison, bool], Table] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, facts: FactBase) -> TruthTables:
        """The tables of all relations, whatever the marks of their facts."""
        return cls(Extensions(facts, likely=True))

    @cached_property
    def weaker(self) -> TruthTables | None:
        """The same with one half enough for an atom and its negation; None if no fact is at one half."""
        return None if self.known.weaker is None else TruthTables(self.known.weaker)

    @property
    def n(self) -> int:
        """The number of constants."""
        return self.known.n

    def body(self, rule: Rule, given: Collection[Key] = ()) -> Body:
        """A rule's body, prepared for evaluation.

        Parameters
        ----------
        rule
            Its head may repeat a variable, hold constants, and have variables that the body lacks.
        given
            The relations whose tables are given at each evaluation.
        """
        coder = self.known.coder
        coded, open_keys = coder.rule(rule), {coder.relation(key): key for key in given}
        literals = [(atom, False) for atom in coded.positive] + [(atom, True) for atom in coded.negative]
        stated = [item for item in literals if item[0].relation not in open_keys]
        fixed = [(atom.scope, self._table(atom, negated)) for atom, negated in stated]
        fixed += [(item.scope, self._table(item, False)) for item in coded.comparisons]
        open_ = tuple(
            OpenLiteral(open_keys[atom.relation], atom, negated)
            for atom, negated in literals
            if atom.relation in open_keys
        )
        scopes = [*(scope for scope, _ in fixed), *(literal.atom.scope for literal in open_)]
        if not scopes:
            fixed = [((), np.ones((), dtype=np.float32))]
        return Body(coded.head.terms, self.n, tuple(fixed), open_)

    def _table(self, item: CodedAtom | CodedComparison, negated: bool) -> Table:
        numbers = {-1 - variable: -1 - place for place, variable in enumerate(item.scope)}
        key = replace(item, terms=tuple(numbers.get(term, term) for term in item.terms)), negated
        if key not in self._made:
            self._made[key] = self.known.table(item, negated=negated).astype(np.float32)
        return self._made[key]


@dataclass(frozen=True)
class OpenLiteral:
    """A literal whose table is given at each evaluation."""

    key: Key
    atom: CodedAtom
    negated: bool


@dataclass(frozen=True)
class Given:
    """Where the atoms of a relation hold, and where their negations do, in P cases, [P, N, ...] each."""

    true: Table
    false: Table

    @classmethod
    def crisp(cls, holds: Bools) -> Given:
        """Every atom that does not hold is false."""
        return cls(holds.astype(np.float32), (~holds).astype(np.float32))

    def take(self, cases: Ints) -> Given:
        """Some of the cases."""
        return Given(self.true[cases], self.false[cases])


@dataclass(frozen=True, eq=False)
class Body:
    """A body whose literals are tables; those of some relations are still open."""

    head: tuple[int, ...]  #: the terms of the head, whose variables have the first numbers
    n: int  #: how many constants there are
    fixed: tuple[tuple[tuple[int, ...], Table], ...]  #: variables and tables of all other literals
    open: tuple[OpenLiteral, ...]

    def reads(self, key: Key) -> bool:
        """Whether the body has a literal of a relation that is given at each evaluation."""
        return any(literal.key == key for literal in self.open)

    def negates(self, key: Key) -> bool:
        """Whether it has a negated one."""
        return any(literal.key == key and literal.negated for literal in self.open)

    @cached_property
    def _contraction(self) -> Contraction:
        scopes = [*(scope for scope, _ in self.fixed), *(literal.atom.scope for literal in self.open)]
        return Contraction.of(scopes, scope_of(self.head), batched=range(len(self.fixed), len(scopes)))

    def derives(self, given: Mapping[Key, Given] | None = None) -> Bools:
        """Where the body holds, [P, N, ...]; [N, ...] where no relation in it is open."""
        tables = [table for _, table in self.fixed]
        for literal in self.open:
            assert given is not None
            found = given[literal.key]
            tables.append(
                _batched(literal.atom, found.false if literal.negated else found.true, literal.negated)
            )
        holds = self._contraction.run(tables, lambda table: np.minimum(table, 1))
        return self._placed(holds > 0.5)

    def _placed(self, holds: Bools) -> Bools:
        """A table over the head's variables, [..., N, ...], as one over its arguments."""
        scope = scope_of(self.head)
        if self.head == tuple(-1 - variable for variable in scope):
            return holds
        lead = holds.shape[: holds.ndim - len(scope)]
        placed = np.zeros((*lead, *(self.n,) * len(self.head)), dtype=np.bool_)
        if all(term < self.n for term in self.head):  # else an atom of a constant that no fact has
            grids = term_grids(self.head, scope, self.n)
            where = [np.broadcast_to(grid, (self.n,) * len(scope)) for grid in grids]
            index: tuple[slice | Ints, ...] = (*(slice(None) for _ in lead), *where)
            placed[index] = holds
        return placed


def _batched(atom: CodedAtom, table: Table, negated: bool) -> Table:
    """The part of given tables, [P, N, ...], that an atom reads, over its distinct variables."""
    n = table.shape[-1] if atom.terms else 0
    part = table[:, *(slice(None) if is_variable(term) else min(term, n - 1) for term in atom.terms)]
    if any(term >= n for term in atom.terms):  # of a constant that no fact has nothing holds
        part = np.full_like(part, float(negated))
    kept = [variable_number(term) for term in atom.terms if is_variable(term)]
    axes = f"{axes_of(kept, batch=True)}->{axes_of(atom.scope, batch=True)}"
    return np.asarray(np.einsum(axes, part))
