"""Bodies grown by a beam search, and the shortest program of them that agrees with all examples.

Such a program has rules that cover no negative, and together all positives: a set cover of least
length, which an integer program finds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools, Floats
from andre.evaluation import CrispSample, description_length, program_cost
from andre.learning.bodies import literal_bodies
from andre.learning.choose.covering import information_gain
from andre.learning.choose.set_cover import least_cover
from andre.learning.config import SLACK
from andre.limits import check, out_of_time, stage, unhurried
from andre.samples import Codes, Form

#: Bodies that are grown further at each length: so many by information, and so many that keep all positives.
_BEAM = 60
#: How often bodies are grown for a description, each time for the positives that the best body so far leaves.
_ROUNDS = 2
#: Literals that a body is grown to.
_LONGEST = 8
#: How many bodies are looked at for each that is wanted: others are the same but for names of variables.
_ALIKE = 8
#: Bodies that programs are put together from at the most.
_MOST = 4_000
#: Longer bodies that are written out at each length: of more, the most promising are.
_WRITTEN = 8_000


def shortest_consistent(
    sample: CrispSample,
    pool: Codes,
    form: Form,
    *,
    max_rules: int,
    longest: float = np.inf,
    beam: int = _BEAM,
) -> Codes | None:
    """A program that covers all positives and no negative, [rules, m], in as few literals as is found.

    None where no such program is found.

    Parameters
    ----------
    sample
        The examples; each is mostly true or mostly false, and should be covered or not.
    pool
        Bodies that are known, [rules, m].
    form
        What bodies must look like.
    max_rules
        How many rules the program may have.
    longest
        Nats above which the description of a program is too long to be of use: then the search ends early.
    beam
        How many bodies are grown further at each length, by each of two criteria.

    Examples
    --------
    >>> from andre.samples import Sample
    >>> rows = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]])
    >>> crisp = CrispSample.of(Sample.from_arrays(rows, [1, 0, 0, 1]))
    >>> none = np.zeros((0, 3), dtype=np.int8)
    >>> print(crisp.space.program(shortest_consistent(crisp, none, Form(crisp.space), max_rules=3)))
    h :- \\+ b3.
    """
    search = _Search(sample, form, beam)
    with unhurried():
        bodies = _pure(sample, pool[form.admits(pool)], search.mostly[1])
    grown = search.grown(max_rules, longest)
    return None if grown is None else _cover(search, np.concatenate([bodies, grown]), max_rules)


def sound_bodies(sample: CrispSample, form: Form, *, max_rules: int, most: int) -> Codes:
    """Bodies that cover positives and no negative, short ones first, so many at the most, [bodies, m].

    Together they cover all positives, where such are found by growing so many rules one after another.

    Examples
    --------
    >>> from andre.samples import Sample
    >>> rows = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]])
    >>> crisp = CrispSample.of(Sample.from_arrays(rows, [1, 0, 0, 1]))
    >>> print(crisp.space.program(sound_bodies(crisp, Form(crisp.space), max_rules=2, most=1)))
    h :- \\+ b3.
    """
    bodies = _Search(sample, form, _BEAM).grown(max_rules, np.inf)
    assert bodies is not None  # nothing is too long
    first = np.sort(np.unique(bodies, axis=0, return_index=True)[1])
    return bodies[first[np.argsort(sample.space.sizes(bodies[first]), kind="stable")][:most]]


def grown_bodies(sample: CrispSample, form: Form, *, most: int, beam: int = _BEAM) -> Codes:
    """Bodies that a beam search comes to, those with the shortest description alone first, [bodies, m].

    Parameters
    ----------
    most
        How many are given.

    Examples
    --------
    >>> from andre.samples import Sample
    >>> rows = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]] * 5)
    >>> crisp = CrispSample.of(Sample.from_arrays(rows, [1, 0, 0, 0] * 5))
    >>> grown_bodies(crisp, Form(crisp.space, negation=False), most=1)
    array([[1, 1, 0]], dtype=int8)
    """
    search, parts = _Search(sample, form, beam), list[Codes]()
    rest = search.mostly[0] > 0
    for _ in range(_ROUNDS):
        bodies = search.telling(rest, most)
        parts.append(bodies)
        left = rest & ~sample.covers(bodies[:1]).any(axis=0)
        if np.array_equal(left, rest) or not left.any() or out_of_time("growing rules"):
            break
        rest = left
    share = max(1, most // len(parts))
    found = np.concatenate([part[:share] for part in parts])
    return np.asarray(found[np.sort(np.unique(found, axis=0, return_index=True)[1])][:most])


def _pure(sample: CrispSample, bodies: Codes, wrong: Floats) -> Codes:
    """The bodies that cover no example that is mostly false."""
    return bodies[~(sample.covers(bodies) & (wrong > 0)).any(axis=1)]


@dataclass(frozen=True, eq=False)
class _Search:
    """A beam search for bodies that cover no negative."""

    sample: CrispSample
    form: Form
    beam: int

    @property
    def mostly(self) -> Floats:
        """By how much each example is mostly true, and mostly false, [2, B]."""
        surplus = self.sample.positives - self.sample.negatives
        return np.stack((surplus, -surplus)).clip(min=0)

    @property
    def _allowed(self) -> Bools:
        """The literals that bodies may have, [2m]."""
        space, m = self.form.space, self.form.space.m
        negated = np.full(m, self.form.negation)
        negated[[*self.form.unnegated, *space.link_columns.tolist()]] = False
        return np.concatenate([np.ones(m, dtype=np.bool_), negated])

    @cached_property
    def _binds(self) -> Bools:
        """The head variables that each literal binds, [2m, head variables]."""
        m = self.form.space.m
        return self.form.space.bound(literal_bodies(np.arange(2 * m)[:, None], m))

    def _completes(self, bodies: Codes) -> Bools:
        """Literals that each body lacks to be well-formed, [bodies, 2m]: they may hold of all examples."""
        m = self.form.space.m
        found = np.zeros((len(bodies), 2 * m), dtype=np.bool_)
        if self.form.safe:
            lacks = ~self.form.space.bound(bodies)
            with np.errstate(invalid="ignore"):  # kernels of BLAS may touch what lies beside small matrices
                found |= lacks.astype(np.float32) @ self._binds.T.astype(np.float32) > 0
        for columns in self.form.require:
            missing = ~np.logical_or.reduce(self.form.space.atoms_of(bodies)[:, list(columns)], axis=1)
            found |= missing[:, None] & np.isin(np.arange(2 * m) % m, columns)
        return found

    def grown(self, max_rules: int, longest: float) -> Codes | None:
        """Bodies that cover no negative, grown for the positives that earlier ones leave, [bodies, m].

        None where every program of them has a description above so many nats.
        """
        found = [np.zeros((0, self.sample.space.m), dtype=np.int8)]
        rest = self.mostly[0] > 0
        with stage("growing rules that cover no negative"):
            for _ in range(max_rules):
                found.append(self.pure(rest))
                covers = self.sample.covers(found[-1])[:, rest]
                if self._least_length(found[-1], covers) > longest + math.lgamma(
                    max_rules + 1
                ):  # in any order
                    return None
                left = rest.copy()
                left[rest] = ~covers.any(axis=0)
                if np.array_equal(left, rest) or not left.any():
                    break
                rest = left
        return np.concatenate(found)

    def _least_length(self, bodies: Codes, covers: Bools) -> float:
        """Nats that bodies take in some order at the least to cover all of some examples, [bodies, examples].

        None covers an example for less than the one with the least nats for each.
        """
        n, m = covers.shape[1], self.form.space.m
        sizes = np.count_nonzero(bodies, axis=1)
        each = program_cost(sizes, np.ones(len(bodies), dtype=np.intp), m) / np.maximum(covers.sum(axis=1), 1)
        return float(n * each.min()) if len(bodies) else 0.0

    def pure(self, wanted: Bools) -> Codes:
        """Bodies that cover some of the wanted positives, [B], and no negative, [bodies, m]."""
        found = [np.zeros((0, self.sample.space.m), dtype=np.int8)]
        for bodies, covered in self.levels(wanted, until_whole=True):
            clean = bodies[covered[:, 1] == 0]
            found.append(clean[self.form.admits(clean)])
        return np.concatenate(found)

    def telling(self, wanted: Bools, most: int) -> Codes:
        """Bodies that describe wanted positives, [B], and all negatives shorter than a list, the best first.

        Parameters
        ----------
        most
            How many are given at the most.
        """
        sample = self.sample
        levels = [(np.zeros((0, sample.space.m), dtype=np.int8), np.zeros((0, 2)))]
        with stage("growing rules"):
            levels += self.levels(wanted)
        bodies, covered = (np.concatenate(part) for part in zip(*levels, strict=True))
        right, wrong = totals = np.array([self.mostly[0] @ wanted, sample.totals[1]])
        good = covered[:, 0] * wrong > covered[:, 1] * right  # they speak for it
        good[good] = self.form.admits(bodies[good])
        bodies, covered = bodies[good], covered[good]
        sizes = np.count_nonzero(bodies, axis=1)
        lengths = description_length(covered, totals, sizes, 1, m=sample.space.m)
        order = np.argsort(lengths, kind="stable")
        return np.asarray(bodies[self.different(bodies, order, most)])

    def levels(self, wanted: Bools, *, until_whole: bool = False) -> Iterator[tuple[Codes, Floats]]:
        """Bodies of one literal, of two, ... and the weight of wanted positives and of negatives they cover.

        The most promising of those that cover a negative, or are not well-formed yet, are grown further.

        Parameters
        ----------
        until_whole
            Whether the search ends with a body that covers all wanted positives and no negative.
        """
        sample, m, allowed = self.sample, self.sample.space.m, self._allowed
        mostly = self.mostly * np.stack((wanted, np.ones_like(wanted)))
        loose = replace(self.form, safe=False, singletons=True, require=(), directions=())
        right, wrong = mostly.sum(axis=1)
        bodies: Codes = np.zeros((1, m), dtype=np.int8)
        seen = {bodies[0].tobytes()}
        for _ in range(min(_LONGEST, self.form.max_body or _LONGEST)):
            parents, added, counts, tells = [], [], [], []
            every = zip(bodies, sample.row_covers(bodies), self._completes(bodies), strict=True)
            for place, (body, held, completes) in enumerate(every):
                check()
                own = sample.literal_counts(held, mostly)  # [2, 2m]
                before = sample.lift(held[None])[0] @ mostly.T
                telling = (own.sum(axis=0) < before.sum()) | completes
                free = allowed & ~np.tile(body != 0, 2) & (own[0] > 0)
                # What holds of all examples, of some row each, may tell them apart beside a further literal.
                literals = np.flatnonzero(free & (telling | ~sample.shared_literals(held)))
                parents.append(np.full(len(literals), place))
                added.append(literals)
                counts.append(own[:, literals].T)
                tells.append(telling[literals])
            parent, literal, covered, telling = map(np.concatenate, (parents, added, counts, tells))
            first = self._first(bodies, parent, literal, covered, telling)
            made = bodies[parent[first]] + literal_bodies(literal[first][:, None], m)
            covered, telling = covered[first], telling[first]
            new = np.array([one.tobytes() not in seen for one in made], dtype=np.bool_)
            new[new] = loose.admits(made[new])
            made, covered, telling = made[new], covered[new], telling[new]
            if not len(made):
                break
            seen.update(one.tobytes() for one in made)
            yield made, covered
            done = covered[:, 1] == 0
            done[done] = self.form.admits(made[done])
            if until_whole and (done & (covered[:, 0] >= right * SLACK)).any():
                break
            rest = made[~done]
            bodies = rest[self._best(rest, covered[~done], telling[~done], right, wrong)]
            if not len(bodies) or out_of_time("growing rules"):
                break

    @cached_property
    def _names(self) -> NDArray[np.uint64]:
        """A random number for each literal, [2m]: the sum over those of a body tells it from all others."""
        rng = np.random.default_rng(0)
        return rng.integers(1, 1 << 63, 2 * self.form.space.m, dtype=np.uint64)

    def _first(
        self,
        bodies: Codes,
        parent: NDArray[np.intp],
        literal: NDArray[np.intp],
        covered: Floats,
        telling: Bools,
    ) -> NDArray[np.intp]:
        """Which longer bodies are written out: each once, those that tell something first.

        Parameters
        ----------
        parent, literal
            The body and the literal that each consists of, [longer].
        covered
            The positives and negatives that each covers, [longer, 2].
        """
        literals = np.concatenate([bodies > 0, bodies < 0], axis=1)
        with np.errstate(over="ignore"):
            names = (literals * self._names).sum(axis=1, dtype=np.uint64)[parent] + self._names[literal]
        order = np.argsort(~telling, kind="stable")
        first = order[np.sort(np.unique(names[order], return_index=True)[1])]
        if len(first) <= _WRITTEN:
            return first
        right, wrong = self.mostly.sum(axis=1)
        keeps = np.lexsort((covered[first, 1], -covered[first, 0]))
        tells = np.argsort(-information_gain(covered[first].T, right, wrong), kind="stable")
        pure = keeps[covered[first[keeps], 1] == 0]
        chosen = np.concatenate([part[: _WRITTEN // 3] for part in (keeps, tells, pure)])
        return np.asarray(first[np.unique(chosen)])

    def _best(
        self, bodies: Codes, covered: Floats, telling: Bools, right: float, wrong: float
    ) -> NDArray[np.intp]:
        """The bodies to grow further: those that tell most, and those that keep most positives.

        Of those that cover the same examples as without their last literal there are fewer.
        """
        gain = np.where(telling, information_gain(covered.T, right, wrong), -1.0)
        n, silent = int(telling.sum()), self.beam // 4
        keeps = np.lexsort((covered[:, 1], -covered[:, 0], ~telling))
        tells = np.argsort(-gain, kind="stable")
        some = [
            self.different(bodies, order, most)
            for order, most in ((keeps[:n], self.beam), (keeps[n:], silent), (tells[:n], self.beam))
        ]
        return np.unique(np.concatenate(some))

    def different(self, bodies: Codes, order: NDArray[np.intp], most: int) -> NDArray[np.intp]:
        """The first bodies in an order, so many, of which none is another but for names of variables."""
        if not self.form.space.links:  # variables are not interchangeable
            return order[:most]
        first = order[: _ALIKE * most]
        _, places = np.unique(self.form.space.fingerprints(bodies[first]), return_index=True)
        return np.asarray(first[np.sort(places)[:most]])


def _cover(search: _Search, bodies: Codes, max_rules: int) -> Codes | None:
    """The bodies of least length that together cover all positives; None where these do not."""
    sample = search.sample
    wanted = search.mostly[0] > 0
    with unhurried():
        sizes = sample.space.sizes(bodies)
        order = np.argsort(sizes, kind="stable")
        bodies, sizes = bodies[order], sizes[order]
        covers = sample.covers(bodies)[:, wanted]  # [bodies, positives]
        bodies, sizes, covers = _undominated(bodies, sizes, covers)
        if not len(bodies) or not covers.any(axis=0).all():
            return None
        chosen = least_cover(covers, sizes, max_rules)
    return None if chosen is None else bodies[chosen]


def _undominated(
    bodies: Codes, sizes: NDArray[np.intp], covers: Bools
) -> tuple[Codes, NDArray[np.intp], Bools]:
    """Of the bodies that cover the same positives the shortest, and so many of them at the most."""
    _, first = np.unique(np.packbits(covers, axis=1), axis=0, return_index=True)
    first = np.sort(first)
    best = first[np.lexsort((sizes[first], -covers[first].sum(axis=1)))][:_MOST]
    return bodies[best], sizes[best], covers[best]
