"""Sums of the numbers in facts, as Prolog's relation plus/3: plus(A, B, C) for A + B = C."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from andre.arrays import Floats, Ints
from andre.facts.base import FactBase
from andre.facts.relation import Key, Relation, Value

#: The relation of sums.
PLUS: Key = ("plus", 3)
#: Digits after the point to which sums are compared: 0.1 + 0.2 is 0.3.
_DIGITS = 9


def numbers_in(facts: FactBase) -> Ints:
    """The codes of the constants that are numbers.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> numbers_in(FactBase.from_facts([parse_atom("age(ann, 31)")])).tolist()
    [1]
    """
    found = [code for code, value in enumerate(facts.constants) if not isinstance(value, str)]
    return np.array(found, dtype=np.int64)


def with_sums(facts: FactBase, added: Collection[float] | None = None, *, known: bool = False) -> FactBase:
    """The facts with plus(A, B, C) for all their numbers A <= C; B is the difference.

    Parameters
    ----------
    added
        The differences that are wanted; by default all.
    known
        Whether B must be one of the numbers, too, so that there are no constants more.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> facts = FactBase.from_facts([parse_atom("age(ann, 31)"), parse_atom("age(bob, 33)")])
    >>> print(*with_sums(facts).atoms("plus", 3), sep="; ")
    plus(31, 0, 31); plus(31, 2, 33); plus(33, 0, 33)
    >>> print(*with_sums(facts, added=[2.0]).atoms("plus", 3))
    plus(31, 2, 33)
    """
    codes = numbers_in(facts)
    values = np.array([float(facts.constants[code]) for code in codes.tolist()])
    order = np.argsort(values, kind="stable")
    codes, values = codes[order], values[order]
    if added is None:
        first, last = np.triu_indices(len(values))
        by = np.round(values[last] - values[first], _DIGITS)
    else:
        first, last, by = _apart(values, np.unique(np.array(sorted(added), dtype=np.float64)))
    steps, place = np.unique(by, return_inverse=True)
    step_codes, new = _coded(steps, codes, values, len(facts.constants))
    rows = np.stack((codes[first], step_codes[place], codes[last]), axis=1)  # [sums, 3]
    if known:
        rows, new = rows[rows[:, 1] < len(facts.constants)], []
    made = replace(facts, constants=(*facts.constants, *new))
    return replace(made, relations={**facts.relations, PLUS: Relation(PLUS[0], rows.astype(np.int32))})


def _apart(values: Floats, steps: Floats) -> tuple[Ints, Ints, Floats]:
    """Pairs of ascending values at one of the given distances: their indices, and the distances."""
    found: list[tuple[Ints, Ints, Floats]] = []
    rounded = np.round(values, _DIGITS)
    for step in steps:
        wanted = np.round(values + step, _DIGITS)
        place = np.searchsorted(rounded, wanted).clip(max=max(0, len(values) - 1))
        here = np.flatnonzero(rounded[place] == wanted) if len(values) else np.zeros(0, dtype=np.int64)
        found.append((here, place[here], np.full(len(here), step)))
    none = np.zeros(0, dtype=np.int64)
    first, last, by = zip(*found, strict=True) if found else ([none], [none], [np.zeros(0)])
    return np.concatenate(first), np.concatenate(last), np.concatenate(by)


def _coded(steps: Floats, codes: Ints, values: Floats, n: int) -> tuple[Ints, list[Value]]:
    """The codes of differences, [steps], and the new constants among them, numbered from n on."""
    known = dict(zip(np.round(values, _DIGITS).tolist(), codes.tolist(), strict=True))
    found: list[int] = []
    new: list[Value] = []
    for step in steps.tolist():
        if step not in known:
            known[step] = n + len(new)
            new.append(int(step) if step.is_integer() else step)
        found.append(known[step])
    return np.array(found, dtype=np.int64), new
