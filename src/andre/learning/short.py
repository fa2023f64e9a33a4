"""All bodies of one or two literals, counted without writing them out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from andre.evaluation.crisp import CrispSample
from andre.evaluation.description import description_length
from andre.grounding import Codes
from andre.grounding.form import Form
from andre.learning.config import SelectionConfig
from andre.learning.floor import Floor

__all__ = ["best_short_bodies"]

Ints = NDArray[np.int64]

#: Rows of examples, bags counted with all theirs, from which on a part of them is looked at first, and
#: how many examples without positives there are for one in that part.
_MANY, _SHARE = 50_000, 16
_SLACK = 1 - 1e-9


def best_short_bodies(sample: CrispSample, form: Form, config: SelectionConfig) -> Codes:
    """The bodies of one or two literals that are worth combining, the most promising first, [rules, m].

    They have the support and confidence that the settings ask of a rule; of more
    than a pool holds, those with the shortest description alone stay.

    Examples
    --------
    >>> from andre.grounding import Sample
    >>> rows = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]])
    >>> crisp = CrispSample.of(Sample.from_arrays(rows, [1, 0, 0, 0]))
    >>> best_short_bodies(crisp, Form(crisp.space), SelectionConfig())
    array([[ 1,  1,  0],
           [ 1,  0, -1],
           [ 0,  1, -1]], dtype=int8)
    """
    m = sample.space.m
    pairs, counts = _counted(sample, form, config.floor(sample.totals[0]))
    sizes = 1 + (pairs[:, 0] != pairs[:, 1])
    lengths = description_length(counts, sample.totals, sizes, 1, m=m)
    chosen = pairs[np.argsort(lengths, kind="stable")[: config.pool]]
    codes = np.zeros((len(chosen), m), dtype=np.int8)
    for literal in chosen.T:
        codes[np.arange(len(chosen)), literal % m] = np.where(literal < m, 1, -1)
    return codes


def _counted(sample: CrispSample, form: Form, floor: Floor) -> tuple[Ints, NDArray[np.float64]]:
    """Pairs of literals that reach the floor, and what they cover, [R, 2] each."""
    m = sample.space.m
    kinds, both, alone = _well_formed(form)
    parts = _parts(sample)
    # Weights that are not whole may add up to a little less in another order.
    nearly = Floor(floor.support * _SLACK, floor.confidence * _SLACK)
    pairs, counts = [np.zeros((0, 2), dtype=np.int64)], [np.zeros((0, 2))]
    every = np.arange(2 * m)
    for literal in every:
        partners = np.flatnonzero(both[kinds[literal]][kinds] & (every > literal) & (every != literal + m))
        if alone[literal]:
            partners = np.append(partners, literal)  # with itself it is a body of one
        if not _hopeful(parts, int(literal), partners, nearly):
            continue
        held = sample.literal_rows(int(literal))
        own = sample.literal_counts(held, sample.labels)[:, partners].T  # [partners, 2]
        sure = floor.passes(own)
        pairs.append(np.stack((np.full(int(sure.sum()), literal), partners[sure]), axis=1))
        counts.append(own[sure])
    return np.concatenate(pairs), np.concatenate(counts)


def _parts(sample: CrispSample) -> list[CrispSample]:
    """The few examples that rule out most pairs: those with positives, then a share of the others."""
    if len(sample.literals if sample.members is None else sample.members.rows) < _MANY:
        return []
    true = sample.positives > 0
    false = np.flatnonzero(~true)[::_SHARE]
    return [sample.part(some) for some in (np.flatnonzero(true), false) if len(some)]


def _hopeful(parts: list[CrispSample], literal: int, partners: Ints, floor: Floor) -> bool:
    """Whether a pair can reach the floor, going by the examples of some parts.

    All positives are in the first part. What is wrong already there, or with
    some negatives more, is no better on all examples.
    """
    own = np.zeros((2, len(partners)))
    for part in parts if len(partners) else ():
        own += part.literal_counts(part.literal_rows(literal), part.labels)[:, partners]
        if not floor.passes(own.T).any():
            return False
    return len(partners) > 0


def _well_formed(form: Form) -> tuple[Ints, NDArray[np.bool_], NDArray[np.bool_]]:
    """Kinds of literals, [2m]; which kinds make a body together, and which literals make one alone.

    A form tells literals apart by their variables, their sign and a few other
    traits. One body for every two kinds says what holds of all.
    """
    m = form.space.m
    numbers: dict[object, int] = {}
    kinds = np.empty(2 * m, dtype=np.int64)
    members: list[list[int]] = []
    for literal in range(2 * m):
        column = literal % m
        atom = form.space.atoms[column]
        traits = (atom.args, atom.is_builtin, literal < m, column in form.unnegated)
        kind = numbers.setdefault((*traits, *(column in some for some in form.require)), len(numbers))
        kinds[literal] = kind
        if kind == len(members):
            members.append([])
        members[kind].append(column)
    signs = np.array([1 if kinds[columns[0]] == kind else -1 for kind, columns in enumerate(members)])
    first, second = np.triu_indices(len(members))
    bodies = np.zeros((len(first), m), dtype=np.int8)
    possible = np.ones(len(first), dtype=np.bool_)
    for row, (one, two) in enumerate(zip(first, second, strict=True)):
        column = members[one][0]
        other = next((c for c in members[two] if c != column), None)
        if other is None:  # the same column twice: try another for the first
            column, other = next((c for c in members[one] if c != column), column), members[two][0]
        possible[row] = column != other
        bodies[row, column], bodies[row, other] = signs[one], signs[two]
    both = np.zeros((len(members), len(members)), dtype=np.bool_)
    both[first, second] = possible & form.admits(bodies)
    single = np.vstack((np.eye(m, dtype=np.int8), -np.eye(m, dtype=np.int8)))
    return kinds, both | both.T, form.admits(single)
