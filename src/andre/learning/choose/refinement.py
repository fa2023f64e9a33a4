"""Symbolic refinement: single edits of a program while its description gets shorter.

All edits of one kind are judged together. Adding any literal to a body only
intersects the rows the body covers with the literal's rows, so one matrix
product of the body's rows with the literals counts what all 2m edits cover.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from andre.arrays import Bools, Floats
from andre.evaluation import CrispSample, Extents, description_length, program_length, union
from andre.learning.bodies import literal_bodies, shorter_bodies
from andre.learning.choose.covering import information_gain
from andre.learning.choose.pool import RuleCoverage
from andre.learning.config import Floor
from andre.limits import check, out_of_time, stage, unhurried
from andre.samples import Codes, Form

#: Products larger than this are not worth a split.
_SPLIT_COST = 5e8
#: Literals that a search for splits looks at in pairs.
_SPLIT_LITERALS = 100
#: Rules of which is kept what was counted.
_REMEMBERED = 64
#: Bodies that are kept while a rule is grown, and literals that it is grown to.
_GROWN_BEAM, _GROWN_LITERALS = 4, 8


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

    @property
    def negated(self) -> NDArray[np.intp]:
        """How many literals of each program are negated, [edits]."""
        shared = 0 if self.base is None else max(1, self.added.shape[1]) * np.count_nonzero(self.base < 0)
        own = np.count_nonzero(self.added >= self.kept.shape[1], axis=1)
        return np.asarray(np.count_nonzero(self.kept < 0) + shared + own)

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

    Where no edit makes it shorter, a further rule is grown literal by literal. Of programs that say
    the same about every example, one with fewer negations is taken: a literal may then turn out to be
    one too many.

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
    _rules: dict[bytes, _Near] = field(default_factory=dict, init=False)

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
            if out_of_time("refining"):
                return program, length
        self._ends.update(dict.fromkeys(way, (program, length)))
        return program, length

    def _around(self, rule: Codes) -> _Near:
        """What is known of a rule: an edit changes one, and leaves the others to be judged again."""
        key = rule.tobytes()
        if key not in self._rules:
            if len(self._rules) >= _REMEMBERED:
                del self._rules[next(iter(self._rules))]
            self._rules[key] = _Near.of(self.sample, rule)
        return self._rules[key]

    def _best_edit(self, program: Codes, length: float) -> tuple[Codes | None, float]:
        """The edit whose description is the shortest and below a length, or None, and that length."""
        form = self.form or Form(self.sample.space, singletons=True)
        best, found, plainer = length, None, None
        grow = self.max_rules is None or len(program) < self.max_rules
        with stage("refining"):
            around = neighbours(
                self.sample, program, split=grow, floor=self.floor, below=length + 1e-9, around=self._around
            )
            for edits in around:
                check()
                place = _shortest(edits, form, self.floor, below=best - 1e-9)
                if place is not None:
                    best, found = float(edits.lengths[place]), edits.program(place)
                elif found is None and plainer is None:
                    plainer = self._plainer(edits, form, program, length)
            if self.pool is not None:
                swapped, shortest = _best_exchange(self.pool, program, self.floor, grow=grow)
                if shortest < best - 1e-9:
                    best, found = shortest, swapped
            if found is None and grow:
                longer, shortest = _grown(self.sample, program, form, self.floor)
                if shortest < best - 1e-9:
                    best, found = shortest, longer
        return (plainer if found is None else found), best

    def _plainer(self, edits: Edits, form: Form, program: Codes, length: float) -> Codes | None:
        """A program of the same length that covers the same examples with fewer negations, if any."""
        fewer = edits.negated < np.count_nonzero(program < 0)
        same = fewer & (np.abs(edits.lengths - length) <= 1e-9) & self.floor.passes(edits.own).all(axis=1)
        for place in map(int, np.flatnonzero(same)):
            check()
            edited = edits.program(place)
            if form.admits(edited[len(edits.kept) :]).all() and np.array_equal(
                union(self.sample.extents(edited)), union(self.sample.extents(program))
            ):
                return edited
        return None


def neighbours(
    sample: CrispSample,
    program: Codes,
    *,
    split: bool = False,
    floor: Floor | None = None,
    below: float = math.inf,
    around: Callable[[Codes], _Near] | None = None,
) -> Iterator[Edits]:
    """All programs one edit away: a literal dropped, added, flipped or replaced, a rule dropped.

    Parameters
    ----------
    split
        Also replace a rule by two that each have one literal more.
    floor
        Leave out splits whose rules do not reach this, and of very many literals
        those that are seldom right.
    below
        Leave out splits whose description is longer than this, where that is told by what both
        literals cover, each by itself.
    around
        What is known of a rule and of those with one literal less; counted by default.
    """
    covers = sample.extents(program)  # [rules, ...]
    for place, rule in enumerate(program):
        judge = _Judge(sample, np.delete(program, place, axis=0), union(np.delete(covers, place, axis=0)))
        yield judge.without()
        near = _Near.of(sample, rule) if around is None else around(rule)
        own, fresh = near.beside(sample, judge.rest)
        longer = judge.longer(near, own, fresh)
        yield next(longer)
        for body, alone in zip(near.bodies[1:], judge.alone(near.bodies[1:], near.held[1:]), strict=True):
            if body.any() or not sample.space.head_variables:  # `h(X).` would bind no variable
                yield alone
            yield next(longer)
        if split and len(sample.positives) * sample.literals.shape[1] ** 2 <= _SPLIT_COST:
            yield from judge.splits(near, own, fresh, floor, below)


@dataclass(frozen=True, eq=False)
class _Near:
    """A rule's body and all that have one literal less, and what they cover by themselves."""

    rule: Codes  #: [m]
    bodies: Codes  #: the rule's first, [bodies, m]
    held: Extents  #: rows that each covers, [bodies, ...]
    own: Floats | None  #: what each covers with one literal more, [bodies, 2, 2m], if it is counted apart

    @classmethod
    def of(cls, sample: CrispSample, rule: Codes) -> _Near:
        bodies = np.vstack((rule, shorter_bodies(rule[None])))
        held = sample.row_extents(bodies)
        return cls(rule, bodies, held, None if sample.planes is None else sample.label_counts(held))

    def beside(self, sample: CrispSample, rest: Extents) -> tuple[Floats, Floats]:
        """What each covers with one literal more, [bodies, 2m, 2], and what of it is not in `rest`."""
        if self.own is None:
            counts = sample.label_counts(self.held, rest)  # [bodies, 4, 2m]
            own, fresh = counts[:, :2], counts[:, 2:]
        else:
            own, fresh = self.own, sample.label_counts(self.held & ~rest)
        return own.transpose(0, 2, 1), fresh.transpose(0, 2, 1)


@dataclass(frozen=True, eq=False)
class _Judge:
    """Judges what one changed rule adds to the rules that are kept."""

    sample: CrispSample
    kept: Codes
    rest: Extents  #: examples that the kept rules cover, [...]

    @cached_property
    def covered(self) -> Floats:
        """The weight of the positives and negatives that the kept rules cover, [2]."""
        covered: Floats = self.sample.counts(self.rest[None])[0]
        return covered

    def _lengths(self, covered: Floats, n_literals: ArrayLike, n_rules: int) -> Floats:
        """Description lengths where so much is covered, [..., 2], by so many rules beside those kept."""
        sample, size = self.sample, np.count_nonzero(self.kept) + np.asarray(n_literals)
        n_rules += len(self.kept)
        return description_length(covered, sample.totals, size, n_rules, m=sample.space.m)

    def without(self) -> Edits:
        """The rule is dropped."""
        covered, nothing = self.covered[None], np.zeros((1, 0), dtype=np.intp)
        return Edits(self.kept, None, nothing, covered, np.zeros((1, 0, 2)), self._lengths(covered, 0, 0))

    def alone(self, bodies: Codes, held: Extents) -> Iterator[Edits]:
        """Each of some bodies, [bodies, m], that cover these rows, stands as it is."""
        covers, nothing = self.sample.lift(held), np.zeros((1, 0), dtype=np.intp)
        own = self.sample.counts(covers)  # [bodies, 2]
        covered = self.covered + self.sample.counts(covers, self.rest)
        lengths = self._lengths(covered, np.count_nonzero(bodies, axis=1), 1)
        for place, body in enumerate(bodies):
            one = slice(place, place + 1)
            yield Edits(self.kept, body, nothing, covered[one], own[one, None], lengths[one])

    def longer(self, near: _Near, own: Floats, fresh: Floats) -> Iterator[Edits]:
        """Each of some bodies gets one more literal, any that it says nothing of yet.

        The rule that they are made from is no edit of itself.

        Parameters
        ----------
        own, fresh
            What each covers with one literal more, as `near` counts it, [bodies, 2m, 2].
        """
        bodies, rule = near.bodies, near.rule
        covered = self.covered + fresh
        lengths = self._lengths(covered, np.count_nonzero(bodies, axis=1)[:, None] + 1, 1)
        stated = np.hstack((rule > 0, rule < 0))
        for place, body in enumerate(bodies):
            free = np.flatnonzero(np.tile(body == 0, 2) & ~stated)
            yield Edits(
                self.kept,
                body,
                free[:, None],
                covered[place, free],
                own[place, free, None],
                lengths[place, free],
            )

    def splits(
        self, near: _Near, own: Floats, fresh: Floats, floor: Floor | None, below: float
    ) -> Iterator[Edits]:
        """Each of some bodies becomes two with one more literal each, where that may be short enough."""
        whole = self.sample.counts(self.sample.lift(near.held), self.rest)  # [bodies, 2]
        sizes = 2 * np.count_nonzero(near.bodies, axis=1) + 2
        hopeful = np.flatnonzero(self._least(whole * 0, whole, sizes) <= below)
        for place in map(int, hopeful):
            free = np.flatnonzero(np.tile(near.bodies[place] == 0, 2))
            if floor is not None:  # pairs are the square of what stays
                sure = free[floor.passes(own[place, free])]
                best = np.argsort(own[place, sure, 1] - own[place, sure, 0], kind="stable")
                free = sure[np.sort(best[:_SPLIT_LITERALS])]
            if len(free):
                single = fresh[place, free]
                most = np.minimum(single + single.max(axis=0), whole[place])
                free = free[self._least(single, most, sizes[place]) <= below]
            yield self._split(near.bodies[place], near.held[place], free, own[place, free])

    def _split(self, body: Codes, rows: Extents, free: NDArray[np.intp], own: Floats) -> Edits:
        """The body becomes two, each with one of some literals; what both cover is counted once."""
        sample = self.sample
        first, second = np.triu_indices(len(free), k=1)
        both = sample.common_counts(sample.with_literals(rows, free) & ~self.rest)  # [literals, literals, 2]
        single = np.diagonal(both).T
        covered = self.covered + single[first] + single[second] - both[first, second]
        pairs = np.stack((free[first], free[second]), axis=1)
        lengths = self._lengths(covered, 2 * np.count_nonzero(body) + 2, 2)
        return Edits(self.kept, body, pairs, covered, np.stack((own[first], own[second]), axis=1), lengths)

    def _least(self, low: Floats, high: Floats, n_literals: ArrayLike) -> Floats:
        """The shortest description where two rules add at least so much and at most so much, [k, 2] each.

        The cost of mistakes is concave in what is covered of one label, for any of the other, and so least
        in a corner.
        """
        ends = (low, high)
        corners = [np.stack((p[:, 0], n[:, 1]), axis=1) for p in ends for n in ends]  # [4, k, 2]
        return np.asarray(self._lengths(self.covered + np.stack(corners), n_literals, 2).min(axis=0))


def _best_exchange(pool: RuleCoverage, program: Codes, floor: Floor, *, grow: bool) -> tuple[Codes, float]:
    """The best program that has one rule of the pool in place of another or, to `grow`, one more."""
    sample = pool.sample
    sure = floor.passes(pool.own)
    if not sure.any():
        return program, math.inf
    mine = sample.extents(program)
    best, found = math.inf, program
    places = [*([None] if grow else []), *range(len(program))]
    rests = [union(mine if place is None else np.delete(mine, place, axis=0)) for place in places]
    for place, covered in zip(places, pool.beside(np.stack(rests)) if rests else (), strict=True):
        check()
        kept = program if place is None else np.delete(program, place, axis=0)
        size = np.count_nonzero(kept) + pool.sizes
        lengths = description_length(covered, sample.totals, size, len(kept) + 1, m=sample.space.m)
        lengths[~sure] = math.inf
        lengths[_among(pool.bodies, kept)] = math.inf
        if lengths.min() < best:
            best = float(lengths.min())
            found = np.vstack((kept, pool.bodies[lengths.argmin()]))
    return found, best


def _grown(sample: CrispSample, program: Codes, form: Form, floor: Floor) -> tuple[Codes, float]:
    """The best program with one rule more, found by a beam of bodies that grow literal by literal.

    Bodies are kept that tell most about the examples that the program does not cover yet.
    """
    judge = _Judge(sample, program, union(sample.extents(program)))
    bodies: Codes = np.zeros((1, sample.space.m), dtype=np.int8)
    best, found = math.inf, program
    for _ in range(min(_GROWN_LITERALS, sample.space.m)):
        held = sample.row_extents(bodies)
        fresh = sample.counts(sample.lift(held), judge.rest)  # [bodies, 2]
        gains, longer = [np.zeros(0)], [bodies[:0]]
        near = _Near(bodies[0] * 0, bodies, held, None)
        edited = judge.longer(near, *near.beside(sample, judge.rest))
        for body, edits, before in zip(bodies, edited, fresh, strict=True):
            check()
            place = _shortest(edits, form, floor, below=best - 1e-9)
            if place is not None:
                best, found = float(edits.lengths[place]), edits.program(place)
            gain = information_gain((edits.covered - judge.covered).T, *before)
            chosen = np.argsort(-gain, kind="stable")[:_GROWN_BEAM]
            chosen = chosen[gain[chosen] > -math.inf]
            gains.append(gain[chosen])
            longer.append(body + literal_bodies(edits.added[chosen], sample.space.m))
        bodies = np.concatenate(longer)[np.argsort(-np.concatenate(gains), kind="stable")]
        bodies = bodies[np.sort(np.unique(bodies, axis=0, return_index=True)[1])][:_GROWN_BEAM]
        if not len(bodies):
            break
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
