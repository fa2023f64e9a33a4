"""Base cases: bodies that hold somewhere in the bags of true examples, and nowhere in those of false ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools, Floats, Ints, distinct_keys, distinct_rows
from andre.evaluation import description_length
from andre.learning.recursion.components import Component
from andre.limits import check
from andre.samples import Language

#: Bodies of two conditions that are kept, and of these, how many get a third.
_PAIRS, _GROWN = 300, 30
#: Base cases of a program at the most.
_MOST = 3
#: Bodies of which two are looked for that cover all true examples together.
_COVERING = 500
#: Bodies whose truth is looked at together.
_BLOCK = 256


@dataclass(frozen=True, eq=False)
class Conditions:
    """Conditions on goals, of which base cases are put together."""

    components: Sequence[Component]
    arity: int  #: of a goal

    @cached_property
    def truth(self) -> Bools:
        """Of which goals each is true, [C, G]."""
        return np.array([component.truth for component in self.components], dtype=np.bool_)

    @cached_property
    def _measures(self) -> tuple[Ints, Ints, Bools, Bools]:
        """Literals and further variables of each, [C], and which of the goal it has and needs, [C, arity]."""
        sizes = np.array([len(component.literals) for component in self.components])
        extra = np.array([len(component.kinds) - self.arity for component in self.components])
        about = np.array([[v in c.variables for v in range(self.arity)] for c in self.components])
        needs = np.array([[v in c.needs for v in range(self.arity)] for c in self.components])
        return sizes, extra, about, needs

    def admitted(self, bodies: Ints, language: Language, most: int) -> tuple[Bools, Ints]:
        """Which bodies a language has, and how many literals each has, [B].

        Every variable of the head must occur, and what conditions need must be bound by others before.

        Parameters
        ----------
        bodies
            The conditions of each body, [B, conditions]; the same one twice counts once.
        most
            The literals that a body may have.
        """
        sizes, extra, about, needs = self._measures
        new = np.ones(bodies.shape, dtype=np.bool_)
        for place in range(1, bodies.shape[1]):
            new[:, place] = np.all(bodies[:, :place] != bodies[:, place, None], axis=1)
        literals = (sizes[bodies] * new).sum(axis=1)
        variables = self.arity + (extra[bodies] * new).sum(axis=1)
        about, needs = about[bodies], needs[bodies]  # [B, conditions, arity]
        bound: Bools = np.asarray(~needs.any(axis=1))  # [B, arity]
        for _ in range(bodies.shape[1]):  # those whose needs are met bind what they are about
            met = ~np.any(needs & ~bound[:, None], axis=2)
            bound = bound | np.any(about & met[:, :, None], axis=1)
        safe = np.all(np.any(about, axis=1), axis=1) & np.all(bound, axis=1)
        return safe & (literals <= most) & (variables <= language.variables), literals


@dataclass(frozen=True, eq=False)
class Bags:
    """The goals of every example's chain, and the weights of the examples."""

    example: Ints  #: of each goal, ascending, [P]; every example has one at least
    goal: Ints  #: [P]
    weights: Floats  #: of true and false examples, [E, 2]

    def covered(self, truth: Bools) -> Bools:
        """The examples that have a goal of which something is true, [..., P] -> [..., E]."""
        begins = np.flatnonzero(np.diff(self.example, prepend=-1))
        return np.asarray(np.logical_or.reduceat(truth, begins, axis=-1))

    def merged(self, truth: Bools) -> Bags:
        """The same with one goal for all in a bag of which the same conditions are true, [C, G]."""
        first, kind = distinct_rows(np.packbits(truth, axis=0).T)
        pairs = distinct_keys(self.example * len(first) + kind[self.goal])
        return replace(self, example=pairs // len(first), goal=first[pairs % len(first)])

    def covered_by(self, bodies: Ints, truth: Bools) -> Bools:
        """The examples with a goal of which all conditions of a body are true, [B, conditions] -> [B, E].

        Parameters
        ----------
        truth
            Of which of the goals each condition is true, [C, P].
        """
        bits, begins = self._packed(truth)
        found = [np.zeros((0, len(self.weights)), dtype=np.bool_)]
        for start in range(0, len(bodies), _BLOCK):
            check()
            some = bodies[start : start + _BLOCK]
            held = bits[some[:, 0]]  # [b, bytes]
            for column in some.T[1:]:
                held &= bits[column]
            if len(begins) < bits.shape[1]:
                held = np.bitwise_or.reduceat(held, begins, axis=1)
            found.append(held != 0)
        return np.concatenate(found)

    def _packed(self, truth: Bools) -> tuple[NDArray[np.uint8], Ints]:
        """The truth of goals as bits, [C, bytes], and the byte at which those of each example begin."""
        sizes = np.bincount(self.example)
        n_bytes = -(-sizes // 8)
        begins = np.cumsum(n_bytes) - n_bytes
        first = 8 * begins - (np.cumsum(sizes) - sizes)  # the place of a goal less its number
        spread = np.zeros((len(truth), 8 * int(n_bytes.sum())), dtype=np.bool_)
        spread[:, first[self.example] + np.arange(len(self.example))] = truth
        return np.packbits(spread, axis=1), begins


@dataclass(frozen=True, eq=False)
class BaseCases:
    """Base cases by their conditions, and the weights of the true and false examples that they cover."""

    bodies: tuple[tuple[Component, ...], ...]
    counts: Floats  #: [2]


def choose_bases(
    conditions: Conditions, bags: Bags, language: Language, most: int, m: int, *, by_two: bool = False
) -> list[BaseCases]:
    """Base cases: those that describe examples shortest, of all and of those that cover no false example.

    They are taken one after another, the best first. Where one covers all true examples and no false
    one, the shortest of such is given too.

    Parameters
    ----------
    most
        The literals that a body may have.
    m
        The number of candidate atoms, by which bodies are described.
    by_two
        Whether two are given, too, that do so together, be the description longer by the second.
    """
    made = _bodies(conditions, bags, language, most)
    if made is None:
        return []
    every, sizes, covers = made
    weights = bags.weights
    pure = np.flatnonzero(covers @ weights[:, 1] == 0)
    whole = pure[covers[pure] @ weights[:, 0] == weights[:, 0].sum()]
    chosen = [
        _taken(covers, sizes, weights, m),
        pure[_taken(covers[pure], sizes[pure], weights, m)].tolist(),
        whole[np.argsort(sizes[whole], kind="stable")[:1]].tolist(),
    ]
    if by_two and not len(whole):
        chosen.append(pure[_covering_pair(covers[pure], sizes[pure], weights)].tolist())
    found: dict[tuple[float, ...], BaseCases] = {}
    for places in filter(None, chosen):
        counts = covers[places].any(axis=0) @ weights
        cases = _cases(conditions, every[places])
        found.setdefault(tuple(counts.tolist()), BaseCases(cases, np.asarray(counts)))
    return list(found.values())


def covering_bases(conditions: Conditions, bags: Bags, language: Language, most: int) -> list[BaseCases]:
    """Single base cases that cover all true examples, those with the fewest false ones and literals first."""
    made = _bodies(conditions, bags, language, most)
    if made is None:
        return []
    every, sizes, covers = made
    counts = covers @ bags.weights  # [B, 2]
    whole = np.flatnonzero(counts[:, 0] == bags.weights[:, 0].sum())
    order = whole[np.lexsort((sizes[whole], counts[whole, 1]))]
    different = {frozenset(every[place].tolist()): place for place in order[::-1]}
    kept = set(different.values())
    return [BaseCases(_cases(conditions, every[[place]]), counts[place]) for place in order if place in kept]


def _cases(conditions: Conditions, bodies: Ints) -> tuple[tuple[Component, ...], ...]:
    """The conditions of each body."""
    return tuple(
        tuple(conditions.components[place] for place in dict.fromkeys(body)) for body in bodies.tolist()
    )


def _bodies(
    conditions: Conditions, bags: Bags, language: Language, most: int
) -> tuple[Ints, Ints, Bools] | None:
    """Bodies of up to three conditions, [B, 3], their literals, [B], and what they cover, [B, E].

    None where there are none.
    """
    if not len(conditions.components):
        return None
    bags, weights = bags.merged(conditions.truth), bags.weights
    truth = conditions.truth[:, bags.goal]  # [C, P]
    useful = np.flatnonzero(bags.covered(truth) @ weights[:, 0] > 0)
    if not len(useful):
        return None
    bodies = [np.repeat(useful[:, None], 3, axis=1)]
    one, two = (useful[places] for places in np.triu_indices(len(useful), 1))
    counts = bags.covered_by(np.stack([one, two], axis=1), truth) @ weights
    better = np.lexsort((counts[:, 1], -counts[:, 0]))[:_PAIRS]
    better = better[counts[better, 0] > 0]
    bodies.append(np.stack([one, two, two], axis=1)[better])
    # A third condition goes to those that cover most true examples, and of these fewest false ones.
    for place in better[:_GROWN]:
        pair = np.tile([one[place], two[place]], (len(useful), 1))
        bodies.append(np.concatenate([pair, useful[:, None]], axis=1))
    every = np.concatenate(bodies)
    good, sizes = conditions.admitted(every, language, most)
    every, sizes = every[good], sizes[good]
    if not len(every):
        return None
    return every, sizes, bags.covered_by(every, truth)


def _covering_pair(covers: Bools, sizes: Ints, weights: Floats) -> list[int]:
    """The two bodies with the fewest literals that together cover all true examples, [B, E]; none: no two."""
    true = covers[:, weights[:, 0] > 0]
    best = np.argsort(-true.sum(axis=1), kind="stable")[:_COVERING]
    lacks = (~true[best]).astype(np.float32)
    both = np.argwhere(lacks @ lacks.T == 0)
    if not len(both):
        return []
    one, two = best[both[np.argmin(sizes[best[both]].sum(axis=1))]].tolist()
    return [one, two]


def _taken(covers: Bools, sizes: Ints, weights: Floats, m: int) -> list[int]:
    """The bodies that describe examples shortest, taken one after another, by what each covers, [B, E]."""
    covered, chosen, best, literals = np.zeros(covers.shape[1], dtype=np.bool_), list[int](), np.inf, 0
    totals = weights.sum(axis=0)
    for n_rules in range(1, _MOST + 1 if len(covers) else 0):
        counts = (covers | covered) @ weights
        lengths = description_length(counts, totals, literals + sizes, n_rules, m=m)
        place = int(np.lexsort((sizes, np.round(lengths, 9)))[0])
        if lengths[place] >= best - 1e-9:
            break
        best, covered = float(lengths[place]), covered | covers[place]
        literals += int(sizes[place])
        chosen.append(place)
    return chosen
