"""All bodies of one or two literals, counted without writing them out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from andre.arrays import Bools, Floats, Ints
from andre.evaluation import CrispSample, description_length
from andre.learning.bodies import literal_bodies
from andre.learning.config import SLACK, Floor, SelectionConfig
from andre.limits import stage
from andre.samples import Codes, Form


@dataclass(frozen=True)
class Screening:
    """When pairs of literals are tried on a few examples before all are counted."""

    rows: int = 50_000  #: rows of a sample, those of all its bags, from which on that pays
    every: int = 16  #: one in so many of the examples without positives is tried

    def parts(self, sample: CrispSample) -> list[CrispSample]:
        """The few examples that rule out most pairs: those with positives, then a share of the others."""
        if len(sample.literals if sample.members is None else sample.members.rows) < self.rows:
            return []
        true = sample.positives > 0
        false = np.flatnonzero(~true)[:: self.every]
        return [sample.part(some) for some in (np.flatnonzero(true), false) if len(some)]


def best_short_bodies(
    sample: CrispSample, form: Form, config: SelectionConfig, screening: Screening | None = None
) -> Codes:
    """The bodies of one or two literals that are worth combining, the most promising first, [rules, m].

    They have the support and confidence that the settings ask of a rule; of more
    than a pool holds, those with the shortest description alone stay.

    Parameters
    ----------
    screening
        Which samples are screened; the bodies found are the same.

    Examples
    --------
    >>> from andre.samples import Sample
    >>> rows = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]])
    >>> crisp = CrispSample.of(Sample.from_arrays(rows, [1, 0, 0, 0]))
    >>> best_short_bodies(crisp, Form(crisp.space), SelectionConfig())
    array([[ 1,  1,  0],
           [ 1,  0, -1],
           [ 0,  1, -1]], dtype=int8)
    """
    m = sample.space.m
    pairs, counts = _counted(
        sample, form, config.floor(sample.totals[0]), (screening or Screening()).parts(sample)
    )
    sizes = 1 + (pairs[:, 0] != pairs[:, 1])
    lengths = description_length(counts, sample.totals, sizes, 1, m=m)
    chosen = pairs[np.argsort(lengths, kind="stable")[: config.pool]]
    return literal_bodies(chosen, m)


def _counted(sample: CrispSample, form: Form, floor: Floor, parts: list[CrispSample]) -> tuple[Ints, Floats]:
    """Pairs of literals that reach the floor, and what they cover, [R, 2] each."""
    m = sample.space.m
    kinds, both, alone = _well_formed(form)
    nearly = Floor(floor.support * SLACK, floor.confidence * SLACK)  # parts add up in another order
    pairs, counts = [np.zeros((0, 2), dtype=np.int64)], [np.zeros((0, 2))]
    every = np.arange(2 * m)
    with stage("counting short bodies"):
        for literal in every:
            partners = np.flatnonzero(
                both[kinds[literal]][kinds] & (every > literal) & (every != literal + m)
            )
            if alone[literal]:
                partners = np.append(partners, literal)  # with itself it is a body of one
            if not _hopeful(parts, int(literal), partners, nearly):
                continue
            held = sample.row_extents(literal_bodies(np.array([[literal]]), m))
            own = sample.label_counts(held)[0][:, partners].T  # [partners, 2]
            sure = floor.passes(own)
            pairs.append(np.stack((np.full(int(sure.sum()), literal), partners[sure]), axis=1))
            counts.append(own[sure])
    return np.concatenate(pairs), np.concatenate(counts)


def _hopeful(parts: list[CrispSample], literal: int, partners: Ints, floor: Floor) -> bool:
    """Whether a literal with any of its partners can reach the floor, going by parts of the examples.

    All positives are in the first part. A pair that is wrong too often there, or
    with a few negatives more, is wrong too often on all examples.
    """
    own = np.zeros((2, len(partners)))
    for part in parts if len(partners) else ():
        held = part.row_extents(literal_bodies(np.array([[literal]]), part.space.m))
        own += part.label_counts(held)[0][:, partners]
        if not floor.passes(own.T).any():
            return False
    return len(partners) > 0


def _well_formed(form: Form) -> tuple[Ints, Bools, Bools]:
    """Which pairs of literals make a well-formed body, without trying all pairs.

    A form tells literals apart by their variables, their sign and a few other
    traits. Literals that share these are of one kind, and one body for every two
    kinds says what holds of all.

    Returns
    -------
    The kind of each literal, [2m], which kinds make a body together, [kinds, kinds],
    and which literals make one alone, [2m].
    """
    m = form.space.m
    if form.space.links:
        return np.arange(2 * m), *form.pairs()
    numbers: dict[object, int] = {}
    kinds = np.empty(2 * m, dtype=np.int64)
    for literal in range(2 * m):
        column = literal % m
        atom = form.space.atoms[column]
        traits = (atom.args, atom.is_builtin, literal < m, column in form.unnegated)
        kinds[literal] = numbers.setdefault(
            (*traits, *(column in some for some in form.require)), len(numbers)
        )
    members = [np.flatnonzero(kinds == kind)[:2].tolist() for kind in range(len(numbers))]
    first, second = np.triu_indices(len(members))
    # Two literals of each two kinds, of different columns; where there are none, the same one twice.
    apart = [
        next((two for two in product(members[i], members[j]) if (two[0] - two[1]) % m), (0, 0))
        for i, j in zip(first, second, strict=True)
    ]
    pairs = np.array(apart, dtype=np.int64).reshape(-1, 2)
    both = np.zeros((len(members), len(members)), dtype=np.bool_)
    both[first, second] = (pairs[:, 0] != pairs[:, 1]) & form.admits(literal_bodies(pairs, m))
    return kinds, both | both.T, form.admits(literal_bodies(np.arange(2 * m)[:, None], m))
