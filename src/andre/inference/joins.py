"""Rule bodies as joins of the rows that match their literals, in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from andre.arrays import Ints, blocks_of, distinct_keys, is_among, ranges, row_keys
from andre.inference.coded import CodedRule, is_variable, variable_number
from andre.inference.extensions import Extensions


def join_heads(rule: CodedRule, known: Extensions, *, denied: bool, block: int) -> Ints:
    """The distinct head atoms that a rule derives in one step, [P, arity], ascending.

    Parameters
    ----------
    rule
        A rule that `known` has coded.
    denied
        Whether a negated literal may not be about the derived atom itself either.
    block
        The most rows that one join makes at once.
    """
    steps = _plan(rule, known)
    order = [variable for step in steps for variable in step.new]
    found = [np.zeros((0, len(rule.head.terms)), dtype=np.int64)]
    for bindings in _extend(steps, np.zeros((1, 0), dtype=np.int64), block):
        kept = _tested(rule, known, order, bindings, denied)
        found.append(_distinct(instances(rule.head.terms, order, kept), known.n_codes))
    return found[1] if len(found) == 2 else _distinct(np.concatenate(found), known.n_codes)


@dataclass(frozen=True, eq=False)
class _Step:
    """One positive literal, joined to the bindings made by those before it."""

    shared: tuple[int, ...]  #: columns of the bindings that the join is on
    same: tuple[tuple[int, int], ...]  #: further columns of the bindings that must equal columns of the rows
    new: tuple[int, ...]  #: variables that the literal binds
    columns: tuple[int, ...]  #: where they stand in its rows
    rows: Ints  #: what the literal's variables stand for, sorted by key
    keys: Ints  #: of the shared columns
    base: int


def _plan(rule: CodedRule, known: Extensions) -> list[_Step]:
    """Literals in an order in which each shares variables with those before, where it can."""
    base = known.n_codes
    most = _key_columns(base)
    left, bound = list(rule.positive), list[int]()
    steps = []
    while left:
        atom = max(left, key=lambda a: (len(set(bound) & set(a.variables)), -len(known.rows(a.relation))))
        left.remove(atom)
        own, rows = atom.variables, known.matches(atom)
        both = [variable for variable in own if variable in bound]
        keys = row_keys(rows[:, [own.index(v) for v in both[:most]]], base)
        order = np.argsort(keys, kind="stable")
        new = tuple(variable for variable in own if variable not in bound)
        steps.append(
            _Step(
                shared=tuple(bound.index(v) for v in both[:most]),
                same=tuple((bound.index(v), own.index(v)) for v in both[most:]),
                new=new,
                columns=tuple(own.index(v) for v in new),
                rows=rows[order],
                keys=keys[order],
                base=base,
            )
        )
        bound += new
    return steps


def _extend(steps: Sequence[_Step], bindings: Ints, block: int) -> Iterator[Ints]:
    """All bindings of the variables that satisfy the positive literals, block by block."""
    if not steps:
        yield bindings
        return
    step, *rest = steps
    wanted = row_keys(bindings[:, step.shared], step.base)
    first, last = np.searchsorted(step.keys, wanted, "left"), np.searchsorted(step.keys, wanted, "right")
    for start, stop in blocks_of(last - first, block):
        which, row = ranges(first[start:stop], last[start:stop])
        place = start + which
        for mine, theirs in step.same:
            keep = bindings[place, mine] == step.rows[row, theirs]
            place, row = place[keep], row[keep]
        if len(place):
            added = step.rows[row][:, step.columns]
            yield from _extend(rest, np.concatenate([bindings[place], added], axis=1), block)


def _tested(rule: CodedRule, known: Extensions, order: list[int], bindings: Ints, denied: bool) -> Ints:
    """The bindings that pass comparisons and negated literals and do not support themselves."""
    for item in rule.comparisons:
        bindings = bindings[known.holds(item, *instances(item.terms, order, bindings).T)]
    for atom in rule.negative:
        stated = known.rows(atom.relation, negated=True)
        bindings = bindings[~is_among(instances(atom.terms, order, bindings), stated, known.n_codes)]
    for own, head in rule.self_support(denied=denied):
        differs = instances(own, order, bindings) != instances(head, order, bindings)
        bindings = bindings[differs.any(axis=1)]
    return bindings


def instances(terms: Sequence[int], order: Sequence[int], bindings: Ints) -> Ints:
    """What terms stand for in every row of bindings, [P, terms]."""
    found = np.empty((len(bindings), len(terms)), dtype=np.int64)
    for place, term in enumerate(terms):
        found[:, place] = bindings[:, order.index(variable_number(term))] if is_variable(term) else term
    return found


def _distinct(rows: Ints, base: int) -> Ints:
    """The distinct rows, ascending."""
    keys, width = row_keys(rows, base), rows.shape[1]
    if not 0 < width <= _key_columns(base):
        return rows[np.unique(keys, return_index=True)[1]]
    # A sort of the keys alone is faster than one that says where each comes from.
    return np.stack(np.unravel_index(distinct_keys(keys), (max(1, base),) * width), axis=1)


def _key_columns(base: int) -> int:
    """How many columns of codes fit into one key of 64 bits."""
    return max(1, int(62 / np.log2(max(base, 2))))
