"""Which head atoms a rule derives in one step from facts, by joins in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from andre.errors import LogicError
from andre.facts import FactBase
from andre.logic import Atom, Constant, Evidence, Literal, Rule, Variable

__all__ = ["Table", "count_evidence", "covered_heads"]


#: Rows [P, variables] of codes.
Table = NDArray[np.int64]

_ABSENT = -1  # the code of a constant that no fact has


def covered_heads(
    rule: Rule, facts: FactBase, *, identity: bool = False, block: int = 2_000_000
) -> NDArray[np.int64]:
    """Derive the head atoms of one rule in one step, from stated facts only.

    A head atom is never evidence for itself: a grounding whose body states the
    head it derives does not count.

    Parameters
    ----------
    rule
        A safe rule; its literals may be negated, compared by `\\=` or `=`, and hold constants.
    facts
        What is known. Probabilities and marks are not read; denied facts are not facts.
    identity
        Whether all variables of the rule stand for distinct constants.
    block
        The most rows that a join makes at once.

    Returns
    -------
    array
        [P, arity], the distinct heads as codes, in ascending order.

    Raises
    ------
    LogicError
        Where a variable of the head, or of a negated literal, is bound nowhere.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_program
    >>> base = FactBase.from_facts([parse_atom(f"p({a},{b})") for a, b in ("ab", "bc", "cb")])
    >>> (rule,) = parse_program("q(X, Y) :- p(X, Z), p(Z, Y).")
    >>> names = np.array(base.constants)
    >>> names[covered_heads(rule, base)].tolist()
    [['a', 'c'], ['b', 'b'], ['c', 'c']]
    >>> names[covered_heads(rule, base, identity=True)].tolist()
    [['a', 'c']]
    """
    join = _Join.of(rule, facts, identity, block)
    found = [np.unique(heads, axis=0) for heads in join.heads()]
    if not found:
        return np.zeros((0, rule.head.arity), dtype=np.int64)
    return np.unique(np.concatenate(found), axis=0)


def count_evidence(
    heads: NDArray[np.int64], split: str, stated: NDArray[np.int64], among: NDArray[np.int64] | None = None
) -> Evidence:
    """N_b and N_r of the heads that a rule derives.

    Parameters
    ----------
    heads
        [P, arity], what `covered_heads` gave.
    split
        The name of the split.
    stated
        [N, arity], the facts of the split.
    among
        [M, arity], heads to leave out: facts of another split, which the rule may derive too.

    Examples
    --------
    >>> heads = np.array([[0, 1], [0, 2], [1, 2]])
    >>> count_evidence(heads, "valid", np.array([[0, 2], [3, 3]]), among=np.array([[0, 1]]))
    Evidence(split='valid', n_b=2, n_r=1)
    """
    rows = set(map(tuple, heads.tolist()))
    if among is not None:
        rows -= set(map(tuple, among.tolist()))
    return Evidence(split, n_b=len(rows), n_r=len(rows & set(map(tuple, stated.tolist()))))


@dataclass(frozen=True)
class _Join:
    """The body of a rule as an order of joins."""

    rule: Rule
    facts: FactBase
    literals: tuple[Literal, ...]  #: positive ones, each sharing a variable with those before where it can
    filters: tuple[Literal, ...]  #: negated ones and comparisons
    identity: bool
    block: int

    @classmethod
    def of(cls, rule: Rule, facts: FactBase, identity: bool, block: int) -> _Join:
        positive = [literal for literal in rule.body if literal.binds]
        bound = {variable for literal in positive for variable in literal.variables}
        for variable in rule.variables:
            if variable not in bound:
                raise LogicError(f"{variable} is bound nowhere in {rule}: add a positive literal that has it")
        ordered: list[Literal] = []
        seen: set[Variable] = set()
        while positive:
            best = max(
                positive,
                key=lambda lit: (len(seen & set(lit.variables)), -_size(facts, lit.atom)),
            )
            positive.remove(best)
            ordered.append(best)
            seen |= set(best.variables)
        filters = tuple(literal for literal in rule.body if not literal.binds)
        return cls(rule, facts, tuple(ordered), filters, identity, block)

    def heads(self) -> Iterator[NDArray[np.int64]]:
        """The heads, block by block; a head may come more than once."""
        for names, table in self._extend((), np.zeros((1, 0), dtype=np.int64), 0):
            kept = self._tested(names, table)
            if len(kept):
                yield _instances(self.rule.head, names, kept, self.facts)

    def _extend(
        self, names: tuple[Variable, ...], table: Table, step: int
    ) -> Iterator[tuple[tuple[Variable, ...], Table]]:
        if step == len(self.literals):
            yield names, table
            return
        atom = self.literals[step].atom
        own, rows = _matches(atom, self.facts)
        shared = [variable for variable in own if variable in names]
        new = [variable for variable in own if variable not in names]
        size = len(self.facts.constants) + 1
        right = _keys(rows[:, [own.index(v) for v in shared]], size)
        order = np.argsort(right, kind="stable")
        right, rows = right[order], rows[order]
        left = _keys(table[:, [names.index(v) for v in shared]], size)
        first, last = np.searchsorted(right, left, "left"), np.searchsorted(right, left, "right")
        joined = (*names, *new)
        for start, stop in _blocks(last - first, self.block):
            count = (last - first)[start:stop]
            place = np.repeat(np.arange(start, stop), count)
            within = np.arange(len(place)) - np.repeat(np.cumsum(count) - count, count)
            added = rows[np.repeat(first[start:stop], count) + within][:, [own.index(v) for v in new]]
            wide = np.concatenate([table[place], added], axis=1)
            if self.identity:
                wide = wide[_distinct(wide, len(names))]
            if len(wide):
                yield from self._extend(joined, wide, step + 1)

    def _tested(self, names: tuple[Variable, ...], table: Table) -> Table:
        """The rows that pass negated literals and comparisons and do not support themselves."""
        for literal in self.filters:
            atom = literal.atom
            if atom.is_builtin:
                left, right = _instances(atom, names, table, self.facts).T
                if atom.predicate not in {"\\=", "="}:
                    raise LogicError(f"{atom} cannot be counted here: only \\= and = compare constants")
                table = table[(left == right) == ((atom.predicate == "=") != literal.negated)]
            else:
                table = table[~_stated(atom, names, table, self.facts)]
        head = self.rule.head
        for literal in self.literals:
            atom = literal.atom
            if (atom.predicate, atom.arity) == (head.predicate, head.arity):
                same = _instances(atom, names, table, self.facts) == _instances(
                    head, names, table, self.facts
                )
                table = table[~same.all(axis=1)]
        return table


def _size(facts: FactBase, atom: Atom) -> int:
    relation = facts.relations.get((atom.predicate, atom.arity))
    return 0 if relation is None else len(relation)


def _codes(atom: Atom, facts: FactBase) -> NDArray[np.int64]:
    relation = facts.relations.get((atom.predicate, atom.arity))
    if relation is None:
        return np.zeros((0, atom.arity), dtype=np.int64)
    codes = relation.codes if relation.negative is None else relation.codes[~relation.negative]
    return codes.astype(np.int64)


def _code(constant: Constant, facts: FactBase) -> int:
    code = facts.code(constant.value)
    return _ABSENT if code is None else code


def _matches(atom: Atom, facts: FactBase) -> tuple[list[Variable], Table]:
    """The variables of an atom, and what they stand for in the facts that match it."""
    codes = _codes(atom, facts)
    keep = np.ones(len(codes), dtype=np.bool_)
    place: dict[Variable, int] = {}
    for position, arg in enumerate(atom.args):
        if isinstance(arg, Constant):
            keep &= codes[:, position] == _code(arg, facts)
        else:
            keep &= codes[:, position] == codes[:, place.setdefault(arg, position)]
    return list(place), codes[keep][:, list(place.values())]


def _instances(atom: Atom, names: Sequence[Variable], table: Table, facts: FactBase) -> Table:
    """The arguments of an atom in every row."""
    columns = [
        np.full(len(table), _code(arg, facts)) if isinstance(arg, Constant) else table[:, names.index(arg)]
        for arg in atom.args
    ]
    return np.stack(columns, axis=1) if columns else np.zeros((len(table), 0), dtype=np.int64)


def _stated(atom: Atom, names: Sequence[Variable], table: Table, facts: FactBase) -> NDArray[np.bool_]:
    size = len(facts.constants) + 1
    return np.isin(_keys(_instances(atom, names, table, facts), size), _keys(_codes(atom, facts), size))


def _keys(columns: Table, size: int) -> NDArray[np.int64]:
    """One number per row; every row has 0 where there is no column."""
    keys = np.zeros(len(columns), dtype=np.int64)
    for column in columns.T:
        keys = keys * size + column + 1  # the absent constant is -1
    return keys


def _distinct(table: Table, old: int) -> NDArray[np.bool_]:
    """Which rows give every variable from `old` on a constant of its own."""
    keep = np.ones(len(table), dtype=np.bool_)
    for one, two in combinations(range(table.shape[1]), 2):
        if two >= old:
            keep &= table[:, one] != table[:, two]
    return keep


def _blocks(counts: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Runs of rows that together join to at most so many rows, or single rows that exceed it."""
    ends = np.cumsum(counts)
    start = 0
    while start < len(counts):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + most, "right")))
        yield start, stop
        start = stop
