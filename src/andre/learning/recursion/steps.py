"""Steps between goals: a literal of the target in a body leads from a head atom to further ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from andre.arrays import Bools, Floats, Ints, csr_entries, csr_starts
from andre.evaluation import ListedLabels
from andre.inference.coded import CodedAtom
from andre.learning.recursion.components import TARGET, Literals, Vocabulary, canonical
from andre.limits import check

#: The number of a variable that no literal has, for the column that says which goal a binding is of.
_GOAL = 1 << 20


@dataclass(frozen=True)
class ChainLimits:
    """How far chains are followed, and how many rules are tried."""

    links: int = 2  #: literals that lead from a goal to the next; one more where the goal has an answer
    tried: int = 1_000  #: pairs of links that are tried together
    goals: int = 100  #: for each example on average
    pairs: int = 200_000  #: of an example and a goal of its chain
    fan_out: int = 4  #: next goals for each goal, on average
    guards: int = 40  #: conditions on a step that are tried
    conditions: int = 150  #: that base cases are put together from
    led: float = 0.3  #: share of the true examples that must have a next goal
    batch: int = 64  #: rules whose goals are looked at together
    guarded: int = 4  #: rules to which conditions are added
    negatives: int = 400  #: that are drawn where false atoms are not listed


@dataclass(frozen=True, eq=False)
class Examples:
    """Head atoms with their weights."""

    atoms: Ints  #: [E, arity]
    weights: Floats  #: [E, 2], true and false

    @classmethod
    def of(cls, labels: ListedLabels, most: int, seed: int = 0) -> Examples:
        """The listed examples; where others are false too, some of them are drawn to stand for all."""
        weights = np.stack([labels.positive, labels.negative], axis=1)
        if labels.domains is None or not labels.n_unlisted:
            return cls(labels.atoms, weights)
        rng = np.random.default_rng(seed)
        drawn = np.stack([rng.choice(domain, most) for domain in labels.domains], axis=1)
        keys = labels.keys.of(drawn)
        drawn = drawn[np.unique(keys, return_index=True)[1]]
        drawn = drawn[~np.isin(labels.keys.of(drawn), labels.keys.of(labels.atoms))]
        each = np.array([[0.0, labels.n_unlisted / max(1, len(drawn))]])
        return cls(
            np.concatenate([labels.atoms, drawn]), np.concatenate([weights, each.repeat(len(drawn), 0)])
        )

    @cached_property
    def totals(self) -> Floats:
        """The weight of true and of false examples, [2]."""
        return np.asarray(self.weights.sum(axis=0))


@dataclass(frozen=True)
class Link:
    """Literals that lead from a goal to the next, and the terms of the next goal."""

    literals: Literals
    kinds: tuple[str, ...]  #: of all variables, the head's first
    goal: tuple[int, ...]  #: variables

    @property
    def recursive(self) -> CodedAtom:
        """The literal of the next goal."""
        return CodedAtom(TARGET, tuple(-1 - variable for variable in self.goal))


@dataclass(frozen=True)
class _Partial:
    """Literals of a link to be, in an order in which they can be run."""

    literals: Literals
    kinds: tuple[str, ...]
    bound: frozenset[int]  #: variables that are bound before the next goal
    owed: frozenset[int] = frozenset()  #: variables that literals need and that its answer binds
    later: frozenset[int] = frozenset()  #: variables that are bound after it


@dataclass(frozen=True, eq=False)
class Steps:
    """The goals that links lead to from all examples, and the steps between them, link by link."""

    goals: Ints  #: [G, arity]; the first are those of the examples
    starts: Ints  #: [E], the goal of each example
    bindings: tuple[
        Ints, ...
    ]  #: of each link, what its variables stand for in each step, [S_link, variables]
    source: Ints  #: [S], goals
    target: Ints  #: [S], goals

    def of_link(self, place: int) -> slice:
        """The steps of one link."""
        begins = sum(map(len, self.bindings[:place]))
        return slice(begins, begins + len(self.bindings[place]))

    def bags(self, kept: Bools, most: int) -> tuple[Ints, Ints] | None:
        """The goals of each example's chain along some steps, [S], as pairs; None where they are too many."""
        n, order = len(self.goals), np.argsort(self.source[kept], kind="stable")
        starts, target = csr_starts(self.source[kept], n), self.target[kept][order]
        pairs = delta = np.arange(len(self.starts)) * n + self.starts
        while len(delta):
            check()
            which, entry = csr_entries(starts, delta % n)
            found = np.unique(delta[which] // n * n + target[entry])
            delta = found[~np.isin(found, pairs)]
            pairs = np.concatenate([pairs, delta])
            if len(pairs) > most:
                return None
        pairs = np.sort(pairs)
        return pairs // n, pairs % n

    def derived(self, kept: Bools, truth: Bools) -> Bools:
        """The examples from which some steps, [S], lead to a goal of which something is true, [G] -> [E]."""
        found, source, target = truth.copy(), self.source[kept], self.target[kept]
        while True:
            check()
            new = np.unique(source[found[target] & ~found[source]])
            if not len(new):
                return np.asarray(found[self.starts])
            found[new] = True


class Walk:
    """Follows links from the examples.

    Parameters
    ----------
    words
        What bodies may hold.
    """

    def __init__(self, words: Vocabulary, examples: Examples, limits: ChainLimits) -> None:
        self.words, self.examples, self.limits = words, examples, limits
        self.target, self._variables = words.target, words.language.variables

    def links(self, size: int, *, loose: bool = False) -> Iterator[Link]:
        """Links of so many literals, those that the next goal's answer is needed for at the end.

        Parameters
        ----------
        loose
            Whether a condition on the step may bind what the head is to answer, for literals to need it.
        """
        arity, kinds, answers = self.target[1], self.words.kinds, self.words.answers
        states = [_Partial((), kinds, self.words.given)]
        seen = set()
        for _ in range(size):
            # What binds no variable is a condition on the step, and no part of the link.
            states = [
                made
                for state in states
                for atom, own in self.words.literals(state.kinds, self._variables, owing=bool(answers))
                if len(own) > len(state.kinds)
                and (made := self._extended(state, atom, own, loose)) is not None
            ]
        for state in states:
            places = [
                [
                    v
                    for v, kind in enumerate(state.kinds)
                    if kind == own and (place in answers or v in state.bound)
                ]
                for place, own in enumerate(kinds)
            ]
            for goal in product(*places):
                link = Link(state.literals, state.kinds, goal)
                if goal == tuple(range(arity)) or not state.owed <= {goal[place] for place in answers}:
                    continue
                key = canonical((*link.literals, link.recursive), arity, len(link.kinds))
                if key not in seen and not _singles(link.literals, goal, arity):
                    seen.add(key)
                    yield link

    def _extended(
        self, state: _Partial, atom: CodedAtom, kinds: tuple[str, ...], loose: bool
    ) -> _Partial | None:
        """A link with one literal more; None where it needs more than the next goal can answer."""
        inputs = self.words.inputs(atom)
        if loose and state.literals:
            inputs -= frozenset(self.words.answers)
        literals = (*state.literals, atom)
        if inputs <= state.bound and not state.owed:
            return _Partial(literals, kinds, state.bound.union(atom.variables))
        later = state.later.union(atom.variables)
        owed = state.owed | (inputs - state.bound - state.later)
        if len(owed) > len(self.words.answers) or not inputs & (owed | state.later):
            return None
        return _Partial(literals, kinds, state.bound, owed, later)

    def steps(self, links: Sequence[Link]) -> Steps | None:
        """The steps of links from all examples; None where few true ones have one, or there are too many."""
        arity, limits = self.target[1], self.limits
        numbers: dict[tuple[int, ...], int] = {}
        starts = np.array(
            [numbers.setdefault(row, len(numbers)) for row in map(tuple, self.examples.atoms.tolist())]
        )
        fresh = np.array(list(numbers), dtype=np.int64).reshape(-1, arity)
        parts: list[list[tuple[Ints, Ints, Ints]]] = [[] for _ in links]
        first = True
        while len(fresh):
            check()
            before = len(numbers)
            for link, found in zip(links, parts, strict=True):
                made = self._bindings(link, fresh, before - len(fresh))
                if made is None:
                    return None
                source, bindings = made
                nexts = map(tuple, bindings[:, link.goal].tolist())
                target = np.array([numbers.setdefault(row, len(numbers)) for row in nexts], dtype=np.int64)
                found.append((bindings, source, target))
            led = np.isin(starts, np.concatenate([found[0][1] for found in parts]))
            if first and led @ self.examples.weights[:, 0] < limits.led * self.examples.totals[0]:
                return None
            first = False
            if len(numbers) > limits.goals * len(starts):
                return None
            fresh = np.array(list(numbers)[before:], dtype=np.int64).reshape(-1, arity)
        goals = np.array(list(numbers), dtype=np.int64).reshape(-1, arity)
        whole = [tuple(map(np.concatenate, zip(*found, strict=True))) for found in parts]
        source, target = (np.concatenate([part[place] for part in whole]) for place in (1, 2))
        return Steps(goals, starts, tuple(part[0] for part in whole), source, target)

    def builds(self, links: Sequence[Link], steps: Steps) -> bool:
        """Whether a link leads to goals whose inputs have more parts, which has no end."""
        inputs = sorted(self.words.given)
        sizes = self._sizes[steps.goals[:, inputs]].sum(axis=1)  # [G]
        grown = sizes[steps.target] - sizes[steps.source]
        return any((grown[steps.of_link(place)] > 0).any() for place in range(len(links)))

    @cached_property
    def _sizes(self) -> Ints:
        """The number of parts that each constant has, [n]."""
        values = self.words.known.facts.constants
        return np.array(
            [value.count(",") + (value != "[]") if isinstance(value, str) else 1 for value in values]
        )

    def _bindings(self, link: Link, goals: Ints, first: int) -> tuple[Ints, Ints] | None:
        """The goal of each step from some goals, and what its variables stand for; None: they are too many.

        Parameters
        ----------
        first
            The number of the first of the goals.
        """
        made = np.concatenate([np.arange(first, first + len(goals))[:, None], goals], axis=1)
        bound: tuple[int, ...] = (_GOAL, *range(goals.shape[1]))
        for atom in link.literals:
            joined = self.words.joins.extend(made, bound, atom, self.limits.fan_out * len(goals) + 100)
            if joined is None:
                return None
            made = joined
            bound = (*bound, *(v for v in atom.variables if v not in bound))
        return made[:, 0], made[:, [bound.index(v) for v in range(len(link.kinds))]]


def _singles(literals: Literals, goal: Sequence[int], arity: int) -> bool:
    """Whether a variable that the head does not have occurs only once in a link and its goal."""
    times: dict[int, int] = {}
    for variable in (*goal, *(v for atom in literals for v in atom.variables)):
        times[variable] = times.get(variable, 0) + 1
    return any(count == 1 for variable, count in times.items() if variable >= arity)
