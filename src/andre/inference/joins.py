"""Rule bodies as joins of the rows that match their literals, in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from andre.arrays import Bools, Ints, among, blocks_of, distinct_keys, is_among, ranges, row_keys
from andre.inference.coded import CodedAtom, CodedRule, is_variable, variable_number
from andre.inference.extensions import Extensions, matching
from andre.limits import check

#: Called with the number of rows that a join has made.
OnRows: TypeAlias = Callable[[int], None]


def _ignore(rows: int) -> None:
    """Ignore the number of rows."""


def join_heads(rule: CodedRule, known: Extensions, *, denied: bool, block: int) -> Ints:
    """The distinct head atoms that a rule derives in one step, [P, arity], ascending.

    Parameters
    ----------
    rule
        A rule that `known` has coded.
    denied
        Whether negated literals must not be about the derived atom itself either.
    block
        The most rows that one join makes at once.
    """
    found = [np.zeros((0, len(rule.head.terms)), dtype=np.int64)]
    for order, bindings in JoinedBody(rule, known).bindings(block=block):
        kept = bindings
        for own, head in rule.self_support(denied=denied):
            differs = instances(own, order, kept) != instances(head, order, kept)
            kept = kept[differs.any(axis=1)]
        found.append(distinct_atoms(instances(rule.head.terms, order, kept), known.n_codes))
    return found[1] if len(found) == 2 else distinct_atoms(np.concatenate(found), known.n_codes)


class JoinedBody:
    """A rule's body, joined literal by literal; the rows of one relation may be given later.

    The rows of the open relation are given at each evaluation. The rows of the other
    literals are sorted once.

    Parameters
    ----------
    rule
        A rule that `known` has coded.
    open_relation
        The number of the open relation, if there is one.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom, parse_rule
    >>> known = Extensions(FactBase.from_facts(map(parse_atom, ["edge(a,b)", "edge(b,c)", "edge(c,d)"])))
    >>> rule = known.code(parse_rule("path(X,Y) :- edge(X,Z), path(Z,Y)."))
    >>> body = JoinedBody(rule, known, open_relation=rule.head.relation)
    >>> [heads.tolist() for heads in body.heads(np.array([[1, 2], [2, 3]]))]
    [[[0, 2], [1, 3]]]
    """

    def __init__(self, rule: CodedRule, known: Extensions, open_relation: int | None = None) -> None:
        self.rule, self.known = rule, known
        #: Places of the positive literals that are open.
        self.open = tuple(i for i, atom in enumerate(rule.positive) if atom.relation == open_relation)
        #: Negated literals that are open.
        self.open_denied = tuple(atom for atom in rule.negative if atom.relation == open_relation)
        self._fixed_denied = tuple(atom for atom in rule.negative if atom.relation != open_relation)
        self._plans: dict[tuple[int | None, int], tuple[_Layout, ...]] = {}
        self._sorted: dict[_Layout, _Step] = {}  #: of literals that are not open
        self._denied: dict[int, _RowSet] = {}  #: by relation, the atoms whose negation does not hold

    def heads(
        self,
        true: Ints | None = None,
        against: Ints | None = None,
        delta: Ints | None = None,
        *,
        block: int = 1 << 18,
        on_rows: OnRows = _ignore,
    ) -> Iterator[Ints]:
        """The head atoms that the body derives, block by block, [P, arity], distinct within a block.

        Parameters
        ----------
        true
            The atoms of the open relation that hold, [N, arity].
        against
            The atoms of the open relation whose negation does not hold, [N, arity]; None means all.
        delta
            If given, only heads that at least one of these atoms helps to derive,
            all of them in `true`.
        block
            The most rows that one join makes at once.
        on_rows
            Called with the number of rows of every block that a join makes.
        """
        for first in (None,) if delta is None else self.open:
            for order, bindings in self.bindings(true, against, delta, first, block=block, on_rows=on_rows):
                made = instances(self.rule.head.terms, order, bindings)
                yield distinct_atoms(made, self.known.n_codes)

    def bindings(
        self,
        true: Ints | None = None,
        against: Ints | None = None,
        delta: Ints | None = None,
        first: int | None = None,
        *,
        block: int,
        on_rows: OnRows = _ignore,
    ) -> Iterator[tuple[list[int], Ints]]:
        """The bindings for which the body holds: the order of variables, and blocks of rows of codes.

        Parameters
        ----------
        true, against, delta, block, on_rows
            As for `heads`.
        first
            The place of the open literal that reads `delta`.
        """
        if self.open_denied and against is None:
            return
        given: dict[int, Ints] = {}
        for place in self.open:
            rows = delta if place == first else true
            assert rows is not None
            given[place] = rows
        layouts = self._plan(first)
        order = [variable for layout in layouts for variable in layout.new]
        steps = [self._step(layout, given) for layout in layouts]
        denied = [(atom, self._fixed(atom.relation)) for atom in self._fixed_denied]
        if against is not None:
            denied += [(atom, _RowSet(against, self.known.n_codes)) for atom in self.open_denied]
        for bindings in _extend(steps, np.zeros((1, 0), dtype=np.int64), block, on_rows):
            check()
            yield order, self._tested(order, bindings, denied)

    def _plan(self, first: int | None) -> tuple[_Layout, ...]:
        """The literals in an order in which each shares variables with earlier ones, if possible."""
        key = first, self.known.n_codes
        if key not in self._plans:
            most = _key_columns(self.known.n_codes)
            left, bound, layouts = dict(enumerate(self.rule.positive)), list[int](), []
            while left:
                chosen = max(left, key=lambda place: (place == first, *self._promise(place, bound)))
                layouts.append(_Layout.of(chosen, left.pop(chosen), bound, most))
                bound += layouts[-1].new
            self._plans[key] = tuple(layouts)
        return self._plans[key]

    def _promise(self, place: int, bound: Sequence[int]) -> tuple[int, float]:
        """The priority of a literal: the number of variables that it shares, then its lack of rows."""
        atom = self.rule.positive[place]
        rows = np.inf if place in self.open else len(self.known.rows(atom.relation))
        return len(set(bound) & set(atom.variables)), -rows

    def _step(self, layout: _Layout, given: Mapping[int, Ints]) -> _Step:
        base, atom = self.known.n_codes, self.rule.positive[layout.place]
        if layout.place in given:
            return _Step.of(layout, matching(atom, given[layout.place]), base)
        if layout not in self._sorted or self._sorted[layout].base != base:
            self._sorted[layout] = _Step.of(layout, self.known.matches(atom), base)
        return self._sorted[layout]

    def _fixed(self, relation: int) -> _RowSet:
        """The atoms whose negation does not hold, of a relation that is not open."""
        base = self.known.n_codes
        if relation not in self._denied or self._denied[relation].base != base:
            self._denied[relation] = _RowSet(self.known.rows(relation, negated=True), base)
        return self._denied[relation]

    def _tested(self, order: list[int], bindings: Ints, denied: Sequence[tuple[CodedAtom, _RowSet]]) -> Ints:
        """The bindings that satisfy comparisons and negated literals, given the atoms that violate each."""
        for item in self.rule.comparisons:
            bindings = bindings[self.known.holds(item, *instances(item.terms, order, bindings).T)]
        for atom, rows in denied:
            bindings = bindings[~rows.holds(instances(atom.terms, order, bindings))]
        return bindings


class _RowSet:
    """A set of rows of codes below a number, for many membership tests."""

    def __init__(self, rows: Ints, base: int) -> None:
        self.base, self._rows = base, rows
        self._keys: Ints | None = None
        if rows.shape[1] <= _key_columns(base):
            keys = row_keys(rows, base)
            self._keys = keys if (keys[1:] > keys[:-1]).all() else distinct_keys(keys)

    def holds(self, rows: Ints) -> Bools:
        """Which rows are in the set, [N]."""
        if self._keys is None:  # keys of different arrays cannot be compared
            return is_among(rows, self._rows, self.base)
        return among(row_keys(rows, self.base), self._keys)


class LiteralJoins:
    """Joins bindings with positive literals, one after another in any order.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom
    >>> known = Extensions(FactBase.from_facts(map(parse_atom, ["edge(a,b)", "edge(a,c)", "edge(c,d)"])))
    >>> edge = CodedAtom(known.coder.relation(("edge", 2)), (-1, -2))
    >>> LiteralJoins(known).extend(np.array([[0], [1]]), (0,), edge, most=9).tolist()
    [[0, 1], [0, 2]]
    """

    def __init__(self, known: Extensions) -> None:
        self.known = known
        self._steps: dict[tuple[CodedAtom, _Layout], _Step] = {}

    def extend(self, bindings: Ints, bound: Sequence[int], atom: CodedAtom, most: int) -> Ints | None:
        """The bindings that satisfy a literal, with columns for its new variables; None beyond `most` rows.

        Parameters
        ----------
        bindings
            Codes of the variables, [N, variables].
        bound
            The number of the variable of each column.
        """
        base = self.known.n_codes
        layout = _Layout.of(0, atom, bound, _key_columns(base))
        names = {-1 - variable: -1 - place for place, variable in enumerate(atom.variables)}
        alike = CodedAtom(atom.relation, tuple(names.get(term, term) for term in atom.terms))
        key = alike, replace(layout, shared=(), same=(), new=())
        if key not in self._steps or self._steps[key].base != base:
            self._steps[key] = _Step.of(layout, self.known.matches(alike), base)
        step = replace(self._steps[key], layout=layout)
        made = 0

        def on_rows(rows: int) -> None:
            nonlocal made
            made += rows

        found = [np.zeros((0, len(bound) + len(layout.new)), dtype=np.int64)]
        for block in _extend([step], bindings, max(1, most), on_rows):
            if made > most:
                return None
            found.append(block)
        return np.concatenate(found)


@dataclass(frozen=True)
class _Layout:
    """How one positive literal is joined to the bindings of earlier ones."""

    place: int  #: of the literal among the positive ones
    shared: tuple[int, ...]  #: columns of the bindings that the join is on
    key: tuple[int, ...]  #: the same columns of the literal's rows
    same: tuple[tuple[int, int], ...]  #: further columns of the bindings that must equal columns of the rows
    new: tuple[int, ...]  #: variables that the literal binds
    columns: tuple[int, ...]  #: where they stand in its rows

    @classmethod
    def of(cls, place: int, atom: CodedAtom, bound: Sequence[int], most: int) -> _Layout:
        """The layout when some variables are bound; a key has at most so many columns."""
        own = atom.variables
        both = [variable for variable in own if variable in bound]
        new = tuple(variable for variable in own if variable not in bound)
        return cls(
            place=place,
            shared=tuple(bound.index(v) for v in both[:most]),
            key=tuple(own.index(v) for v in both[:most]),
            same=tuple((bound.index(v), own.index(v)) for v in both[most:]),
            new=new,
            columns=tuple(own.index(v) for v in new),
        )


@dataclass(frozen=True, eq=False)
class _Step:
    """A layout with the rows of its literal."""

    layout: _Layout
    rows: Ints  #: the bindings of the literal's variables, sorted by key
    keys: Ints  #: of the shared columns
    base: int

    @classmethod
    def of(cls, layout: _Layout, rows: Ints, base: int) -> _Step:
        """The step that joins these rows."""
        keys = row_keys(rows[:, layout.key], base)
        order = np.argsort(keys, kind="stable")
        return cls(layout, rows[order], keys[order], base)


def _extend(steps: Sequence[_Step], bindings: Ints, block: int, on_rows: OnRows) -> Iterator[Ints]:
    """All bindings of the variables that satisfy the positive literals, block by block."""
    if not steps:
        yield bindings
        return
    step, *rest = steps
    layout = step.layout
    wanted = row_keys(bindings[:, layout.shared], step.base)
    first, last = np.searchsorted(step.keys, wanted, "left"), np.searchsorted(step.keys, wanted, "right")
    for start, stop in blocks_of(last - first, block):
        which, row = ranges(first[start:stop], last[start:stop])
        place = start + which
        on_rows(len(place))
        for mine, theirs in layout.same:
            keep = bindings[place, mine] == step.rows[row, theirs]
            place, row = place[keep], row[keep]
        if len(place):
            added = step.rows[row][:, layout.columns]
            yield from _extend(rest, np.concatenate([bindings[place], added], axis=1), block, on_rows)


def instances(terms: Sequence[int], order: Sequence[int], bindings: Ints) -> Ints:
    """The codes of some terms in every row of bindings, [P, terms]."""
    found = np.empty((len(bindings), len(terms)), dtype=np.int64)
    for place, term in enumerate(terms):
        found[:, place] = bindings[:, order.index(variable_number(term))] if is_variable(term) else term
    return found


def distinct_atoms(rows: Ints, base: int) -> Ints:
    """The distinct rows of codes below `base`, ascending.

    Examples
    --------
    >>> distinct_atoms(np.array([[1, 0], [0, 2], [1, 0]]), 3).tolist()
    [[0, 2], [1, 0]]
    """
    keys, width = row_keys(rows, base), rows.shape[1]
    if not 0 < width <= _key_columns(base):
        return rows[np.unique(keys, return_index=True)[1]]
    # A sort of the keys alone is faster than one that says where each comes from.
    return np.stack(np.unravel_index(distinct_keys(keys), (max(1, base),) * width), axis=1)


def _key_columns(base: int) -> int:
    """How many columns of codes fit into one key of 64 bits."""
    return max(1, int(62 / np.log2(max(base, 2))))
