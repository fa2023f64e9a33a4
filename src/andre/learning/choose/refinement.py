"""Symbolic refinement: single edits of a program while its description gets shorter.

All edits of one kind are judged together. Adding any literal to a body only
intersects the rows the body covers with the literal's rows, so one matrix
product of the body's rows with the literals counts what all 2m edits cover.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools, Floats
from andre.evaluation import CrispSample, description_length, program_length
from andre.learning.choose.pool import RuleCoverage
from andre.learning.config import Floor
from andre.learning.extraction import literal_bodies, shorter_bodies
from andre.limits import check, late, stage, unhurried
from andre.samples import Codes, Form

#: Products larger than this are not worth a split.
_SPLIT_COST = 5e8
#: Literals that a search for splits looks at in pairs.
_SPLIT_LITERALS = 100


@dataclass(frozen=True, eq=False)
class Edits:
    """Programs one edit away that share all rules but one.

    The changed rule is `base` with literal columns added: none, one each, or
    two rules with one each.
    """

    kept: Codes  #: the rules that stay, [rules - 1, m]
    base: Codes | None  #: the body that is added to, [m]; None where the rule is dropped
    added: NDArray[np.intp]  #: literal columns, [edits, 0 | 1 | 2]; two make two rules
    covered: Floats  #: what the programs cover, [edits, 2]
    own: Floats  #: positives and negatives that each changed rule covers, [edits, changed rules, 2]
    lengths: Floats  #: description lengths, [edits]

    def program(self, edit: int) -> Codes:
        """The program that an edit makes."""
        if self.base is None:
            return self.kept
        added = self.added[edit][:, None]  # a rule each
        changed = self.base + literal_bodies(added, len(self.base)) if len(added) else self.base
        return np.vstack((self.kept, changed))


@dataclass(frozen=True, eq=False)
class Refiner:
    """Takes the best edit of a program again and again, while its description gets shorter.

    Different starts often lead to the same program: what each program on the way came to is kept.

    Examples
    --------
    >>> from andre.samples import Sample
    >>> crisp = CrispSample.of(Sample.from_arrays([[1, 1], [1, 0], [0, 1], [0, 0]] * 9, [1, 0, 0, 0] * 9))
    >>> Refiner(crisp).refine(np.array([[1, 0]], dtype=np.int8))[0]
    array([[1, 1]], dtype=int8)
    """

    sample: CrispSample  #: the rows to describe
    pool: RuleCoverage | None = None  #: rules that may be added or put in another's place
    floor: Floor = field(default_factory=Floor)  #: what every changed rule must reach
    form: Form | None = None  #: what bodies must look like; by default, all variables are bound
    max_rules: int | None = None  #: how many rules the program may come to have
    _ends: dict[bytes, tuple[Codes, float]] = field(default_factory=dict, init=False)

    def refine(self, program: Codes) -> tuple[Codes, float]:
        """The program that edits make of a program, [rules, m], and its description length."""
        with unhurried():
            length = program_length(self.sample, program)
        way: list[bytes] = []
        while True:
            way.append(program.tobytes())
            if way[-1] in self._ends:
                program, length = self._ends[way[-1]]
                break
            edited, shorter = self._best_edit(program, length)
            if edited is None:
                break
            program, length = edited, shorter
            if late("refining"):
                return program, length
        self._ends.update(dict.fromkeys(way, (program, length)))
        return program, length

    def _best_edit(self, program: Codes, length: float) -> tuple[Codes | None, float]:
        """The edit whose description is the shortest and below a length, or None, and that length."""
        form = self.form or Form(self.sample.space, singletons=True)
        best, found = length, None
        grow = self.max_rules is None or len(program) < self.max_rules
        with stage("refining"):
            for edits in neighbours(self.sample, program, split=grow, floor=self.floor):
                check()
                place = _shortest(edits, form, self.floor, below=best - 1e-9)
                if place is not None:
                    best, found = float(edits.lengths[place]), edits.program(place)
            if self.pool is not None:
                swapped, shortest = _best_exchange(self.pool, program, self.floor, grow=grow)
                if shortest < best - 1e-9:
                    best, found = shortest, swapped
        return found, best


def neighbours(
    sample: CrispSample, program: Codes, *, split: bool = False, floor: Floor | None = None
) -> Iterator[Edits]:
    """All programs one edit away: a literal dropped, added, flipped or replaced, a rule dropped.

    Parameters
    ----------
    split
        Also replace a rule by two that each have one literal more.
    floor
        Leave out splits whose rules do not reach this, and of very many literals
        those that are seldom right.
    """
    held = sample.row_covers(program)  # [rules, U]
    covers = sample.lift(held)  # [rules, B]
    for place, rule in enumerate(program):
        kept = np.delete(program, place, axis=0)
        rest = np.asarray(np.delete(covers, place, axis=0).any(axis=0))
        judge = _Judge(sample, kept, rest)
        yield judge.without()
        yield judge.longer(rule, held[place])
        shorter = shorter_bodies(rule[None])
        for body, rows in zip(shorter, sample.row_covers(shorter), strict=True):
            if body.any() or not sample.space.head_variables:  # `h(X).` would bind no variable
                yield judge.alone(body, rows)
            yield judge.longer(body, rows, other_than=rule)
        if split and len(sample.positives) * sample.literals.shape[1] ** 2 <= _SPLIT_COST:
            for body, rows in ((rule, held[place]), *zip(shorter, sample.row_covers(shorter), strict=True)):
                yield judge.split(body, rows, floor)


@dataclass(frozen=True, eq=False)
class _Judge:
    """Judges what one changed rule adds to the rules that are kept."""

    sample: CrispSample
    kept: Codes
    rest: Bools  #: examples that the kept rules cover, [B]

    def _edits(self, base: Codes | None, added: NDArray[np.intp], new: Floats, own: Floats) -> Edits:
        """Edits from what each newly covers, [edits, 2], and what the changed rules cover by themselves."""
        sample = self.sample
        covered = sample.labels @ self.rest + new
        n_new = 0 if base is None else max(1, added.shape[1])
        size = np.count_nonzero(self.kept) + (0 if base is None else n_new * np.count_nonzero(base))
        lengths = description_length(
            covered, sample.totals, size + added.shape[1], len(self.kept) + n_new, m=sample.space.m
        )
        return Edits(self.kept, base, added, covered, own, lengths)

    def without(self) -> Edits:
        """The rule is dropped."""
        return self._edits(None, np.zeros((1, 0), dtype=np.intp), np.zeros((1, 2)), np.zeros((1, 0, 2)))

    def alone(self, body: Codes, rows: Bools) -> Edits:
        """The body, which covers these rows, stands as it is."""
        labels, covered = self.sample.labels, self.sample.lift(rows)
        new, own = labels @ (covered & ~self.rest), labels @ covered
        return self._edits(body, np.zeros((1, 0), dtype=np.intp), new[None], own[None, None])

    def longer(self, body: Codes, rows: Bools, other_than: Codes | None = None) -> Edits:
        """The body gets one more literal, any that it says nothing of yet.

        `other_than` is the rule that the body was made from, which is no edit of itself.
        """
        open_ = np.tile(body == 0, 2)
        if other_than is not None:
            open_ &= ~np.hstack((other_than > 0, other_than < 0))
        free = np.flatnonzero(open_)
        labels = self.sample.labels
        counts = self.sample.literal_counts(rows, np.vstack((labels, labels * ~self.rest)))[:, free].T
        return self._edits(body, free[:, None], counts[:, 2:], counts[:, None, :2])

    def split(self, body: Codes, rows: Bools, floor: Floor | None = None) -> Edits:
        """The body becomes two, each with one more literal; what both cover is counted once."""
        free = np.flatnonzero(np.tile(body == 0, 2))
        labels = self.sample.labels
        here, truth = self.sample.satisfying(rows, free)
        own = (labels[:, here] @ truth).T  # [literals, 2]
        if floor is not None:  # pairs are the square of what stays
            sure = np.flatnonzero(floor.passes(own))
            best = np.argsort(own[sure, 1] - own[sure, 0], kind="stable")[:_SPLIT_LITERALS]
            sure = sure[np.sort(best)]
            free, truth, own = free[sure], truth[:, sure], own[sure]
        first, second = np.triu_indices(len(free), k=1)
        fresh = labels[:, here] * ~self.rest[here]
        single = (fresh @ truth).T
        both = np.stack([(truth * weight[:, None]).T @ truth for weight in fresh], axis=-1)
        new = single[first] + single[second] - both[first, second]
        pairs = np.stack((free[first], free[second]), axis=1)
        return self._edits(body, pairs, new, np.stack((own[first], own[second]), axis=1))


def _best_exchange(pool: RuleCoverage, program: Codes, floor: Floor, *, grow: bool) -> tuple[Codes, float]:
    """The best program that has one rule of the pool in place of another or, to `grow`, one more."""
    sample = pool.sample
    sure = floor.passes(pool.own)
    if not sure.any():
        return program, math.inf
    mine = sample.covers(program)
    best, found = math.inf, program
    for place in (*([None] if grow else []), *range(len(program))):
        check()
        kept = program if place is None else np.delete(program, place, axis=0)
        rest = np.asarray((mine if place is None else np.delete(mine, place, axis=0)).any(axis=0))
        size = np.count_nonzero(kept) + pool.sizes
        lengths = description_length(pool.beside(rest), sample.totals, size, len(kept) + 1, m=sample.space.m)
        lengths[~sure] = math.inf
        lengths[_among(pool.bodies, kept)] = math.inf
        if lengths.min() < best:
            best = float(lengths.min())
            found = np.vstack((kept, pool.bodies[lengths.argmin()]))
    return found, best


def _shortest(edits: Edits, form: Form, floor: Floor, below: float) -> int | None:
    """The best edit whose changed rules reach the floor, are well-formed and new, if better than `below`."""
    lengths = np.where(floor.passes(edits.own).all(axis=1), edits.lengths, math.inf)
    for place in map(int, np.argsort(lengths, kind="stable")):
        if not lengths[place] < below:
            return None
        check()
        changed = edits.program(place)[len(edits.kept) :]
        if form.admits(changed).all() and not _among(changed, edits.kept).any():
            return place
    return None


def _among(bodies: Codes, kept: Codes) -> Bools:
    """Which bodies are among the kept ones, [bodies].

    A program is a set of rules, and its description is that of a set: to say a rule twice would
    seem to pay where a program has many rules.
    """
    return np.asarray((bodies[:, None] == kept).all(axis=2).any(axis=1))
