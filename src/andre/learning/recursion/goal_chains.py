"""Linear recursion from few examples: base cases are found along the goals that a recursive rule leads to.

A recursive rule with one literal of the target leads from a head atom, a goal, to
other goals. An example is derived where a base case holds for some goal of its
chain, which need not be among the examples. So, given the recursive rule, each
example is a bag of goals, and base cases are bodies that hold somewhere in the
bags of the true examples and nowhere in those of the false ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product

import numpy as np

from andre.arrays import Bools, Floats, Ints, csr_entries, csr_starts
from andre.evaluation import ListedLabels, description_length
from andre.inference.coded import CodedAtom, variable_number
from andre.learning.recursion.base_cases import Bags, Conditions, choose_bases
from andre.learning.recursion.components import Component, Growth, Literals, Vocabulary, canonical
from andre.limits import check, limited, stage, time_left
from andre.logic import Atom, Literal, Program, Rule, Variable

#: The number of a variable that no literal has, for the column that says which goal a binding is of.
_GOAL = 1 << 20
#: The share of the time that is left in which links of one length are tried.
_FOR_LINKS = 0.5


@dataclass(frozen=True)
class ChainLimits:
    """How far chains are followed, and how many rules are tried."""

    links: int = 3  #: literals that lead from a goal to the next
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
        return CodedAtom(-1, tuple(-1 - variable for variable in self.goal))


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
    """The goals that a link leads to from all examples, and the steps between them."""

    goals: Ints  #: [G, arity]; the first are those of the examples
    starts: Ints  #: [E], the goal of each example
    bindings: Ints  #: [S, variables], what the link's variables stand for in each step
    source: Ints  #: [S], goals
    target: Ints  #: [S], goals

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


@dataclass(frozen=True, eq=False)
class Found:
    """A program and its description length on the examples."""

    length: float
    bases: tuple[tuple[Component, ...], ...]
    link: Link
    guards: tuple[Component, ...]
    flawless: bool
    n_literals: int  #: of all its rules


@dataclass(frozen=True, eq=False)
class _Unguarded:
    """A program without a condition on its step, and what one with such a condition is made from."""

    found: Found
    steps: Steps
    conditions: Conditions


class ChainSearch:
    """Looks for programs of one linear recursive rule and its base cases.

    Parameters
    ----------
    words
        What bodies may hold.
    labels
        Of the target.
    m
        The number of candidate atoms, by which programs are described.
    """

    def __init__(
        self,
        words: Vocabulary,
        labels: ListedLabels,
        m: int,
        limits: ChainLimits = ChainLimits(),  # noqa: B008  (frozen)
    ) -> None:
        self.words, self.target, self.language = words, words.target, words.language
        self.limits, self.m = limits, m
        self.examples = Examples.of(labels, limits.negatives)
        self._most = self.language.max_body or 6

    def programs(self, most: int = 8) -> list[Program]:
        """The best programs found, so many at the most.

        Those without a mistake come first, then those that describe the examples shortest.
        """
        tried: list[_Unguarded] = []
        for size in range(1, min(self.limits.links, self._most - 1) + 1):
            with limited(time_left().share(_FOR_LINKS)), stage("following chains of goals"):
                tried += self._of_size(size)
            if any(one.found.flawless for one in tried):  # longer links make longer programs
                break
        found = [one.found for one in tried]
        if not any(one.flawless for one in found):
            starts = {one.found.link: one for one in sorted(tried, key=lambda one: -one.found.length)}
            with stage("following chains of goals"):
                best = sorted(starts.values(), key=lambda one: one.found.length)
                for start in best[: self.limits.guarded]:
                    found += self._guarded(start, found)
        found.sort(key=lambda one: (not one.flawless, one.length))
        written = dict.fromkeys(self._program(one) for one in found[: 4 * most])
        return list(written)[:most]

    def _of_size(self, size: int) -> list[_Unguarded]:
        """The best programs whose links have so many literals, without a condition on the step."""
        tried: list[_Unguarded] = []
        links = self._links(size)
        with stage("following chains of goals"):
            while batch := list(islice(links, self.limits.batch)):
                made = [(link, steps) for link in batch if (steps := self._steps(link)) is not None]
                for (link, steps), conditions in zip(
                    made, self._conditions([s for _, s in made]), strict=True
                ):
                    check()
                    found = self._with_guards(link, steps, (), conditions)
                    tried += [_Unguarded(one, steps, conditions) for one in found]
                    tried = sorted(tried, key=lambda one: one.found.length)[: 2 * self.limits.guarded]
        return tried

    def _guarded(self, start: _Unguarded, before: Sequence[Found]) -> list[Found]:
        """Programs with one condition on the step more; none longer than one without a mistake."""
        link, steps, programs = start.found.link, start.steps, list[Found]()
        left, free = self._most - len(link.literals) - 1, self.language.variables - len(link.kinds)
        if not left:
            return []
        guards = self.words.components(steps.bindings, link.kinds, Growth(min(3, left), min(2, free)))
        least = min((one.n_literals for one in before if one.flawless), default=np.inf)
        with stage("following chains of goals"):
            for guard in self._telling(guards, steps)[: self.limits.guards]:
                if len(link.literals) + len(guard.literals) + 2 < least:
                    programs += self._with_guards(link, steps, (guard,), start.conditions)
                    least = min((one.n_literals for one in programs if one.flawless), default=least)
        return programs

    def _telling(self, guards: Sequence[Component], steps: Steps) -> list[Component]:
        """Conditions that hold of true examples' steps rather than of false ones', the best first."""
        pairs = steps.bags(np.ones(len(steps.source), dtype=np.bool_), self.limits.pairs)
        if pairs is None:
            return list(guards)
        example, goal = pairs
        weights = np.stack(
            [np.bincount(goal, side[example], len(steps.goals)) for side in self.examples.weights.T]
        )
        own = weights[:, steps.source]  # [2, S]
        share = own / np.maximum(own.sum(axis=1, keepdims=True), 1e-12)
        gains = [round(float((share[0] - share[1]) @ guard.truth), 9) for guard in guards]
        order = sorted(range(len(guards)), key=lambda place: -gains[place])
        return [guards[place] for place in order if gains[place] > 0]

    def _links(self, size: int) -> Iterator[Link]:
        """Links of so many literals, those that the next goal's answer is needed for at the end."""
        arity, kinds, answers = self.target[1], self.words.kinds, self.words.answers
        states = [_Partial((), kinds, self.words.given)]
        seen = set()
        for _ in range(size):
            # What binds no variable is a condition on the step, and no part of the link.
            states = [
                made
                for state in states
                for atom, own in self.words.literals(
                    state.kinds, self.language.variables, owing=bool(answers)
                )
                if len(own) > len(state.kinds) and (made := self._extended(state, atom, own)) is not None
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

    def _extended(self, state: _Partial, atom: CodedAtom, kinds: tuple[str, ...]) -> _Partial | None:
        """A link with one literal more; None where it needs more than the next goal can answer."""
        inputs = self.words.inputs(atom)
        literals = (*state.literals, atom)
        if inputs <= state.bound and not state.owed:
            return _Partial(literals, kinds, state.bound.union(atom.variables))
        later = state.later.union(atom.variables)
        owed = state.owed | (inputs - state.bound - state.later)
        if len(owed) > len(self.words.answers) or not inputs & (owed | state.later):
            return None
        return _Partial(literals, kinds, state.bound, owed, later)

    def _steps(self, link: Link) -> Steps | None:
        """The steps of a link from all examples; None where few true ones have one, or there are too many."""
        arity, limits = self.target[1], self.limits
        numbers: dict[tuple[int, ...], int] = {}
        starts = np.array(
            [numbers.setdefault(row, len(numbers)) for row in map(tuple, self.examples.atoms.tolist())]
        )
        fresh = np.array(list(numbers), dtype=np.int64).reshape(-1, arity)
        first, bindings, sources, targets = True, [], [], []
        while len(fresh):
            check()
            at = np.arange(len(numbers) - len(fresh), len(numbers))
            made = np.concatenate([at[:, None], fresh], axis=1)
            bound: tuple[int, ...] = (_GOAL, *range(arity))
            for atom in link.literals:
                joined = self.words.joins.extend(made, bound, atom, limits.fan_out * len(fresh) + 100)
                if joined is None:
                    return None
                made = joined
                bound = (*bound, *(v for v in atom.variables if v not in bound))
            order = [bound.index(v) for v in range(len(link.kinds))]
            source, made = made[:, 0], made[:, order]
            led = self.examples.weights[np.isin(starts, source), 0].sum()
            if first and led < limits.led * self.examples.totals[0]:
                return None
            first, before = False, len(numbers)
            nexts = map(tuple, made[:, link.goal].tolist())
            targets.append(np.array([numbers.setdefault(row, len(numbers)) for row in nexts], dtype=np.int64))
            sources.append(source)
            bindings.append(made)
            if len(numbers) > limits.goals * len(starts):
                return None
            fresh = np.array(list(numbers)[before:], dtype=np.int64).reshape(-1, arity)
        goals = np.array(list(numbers), dtype=np.int64).reshape(-1, arity)
        return Steps(goals, starts, *map(np.concatenate, (bindings, sources, targets)))

    def _conditions(self, steps: Sequence[Steps]) -> list[Conditions]:
        """Conditions on the goals of the steps of each link, grown for all of them together."""
        if not steps:
            return []
        arity, most = self.target[1], self.limits.conditions
        every, number = np.unique(np.concatenate([one.goals for one in steps]), axis=0, return_inverse=True)
        growth = Growth(min(3, self._most), min(2, self.language.variables - arity))
        free = frozenset(self.words.answers)
        components = self.words.components(every, self.words.kinds, growth, free)[:most]
        parts = np.split(number.ravel(), np.cumsum([len(one.goals) for one in steps])[:-1])
        return [Conditions([replace(c, truth=c.truth[part]) for c in components], arity) for part in parts]

    def _with_guards(
        self, link: Link, steps: Steps, guards: tuple[Component, ...], conditions: Conditions
    ) -> list[Found]:
        """The best programs of a recursive rule; none where it cannot be run."""
        if self._body(link, guards) is None:
            return []
        kept = np.ones(len(steps.source), dtype=np.bool_)
        for guard in guards:
            kept &= guard.truth
        pairs = steps.bags(kept, self.limits.pairs)
        if pairs is None:
            return []
        bags = Bags(*pairs, self.examples.weights)
        totals, found = self.examples.totals, []
        for bases in choose_bases(conditions, bags, self.language, self._most, self.m):
            own = [np.all([part.truth for part in base], axis=0)[steps.starts] for base in bases.bodies]
            if np.any(own, axis=0) @ self.examples.weights[:, 0] >= bases.counts[0]:
                continue  # recursion derives nothing
            parts = [part for base in bases.bodies for part in base]
            literals = len(link.literals) + 1 + sum(len(part.literals) for part in (*parts, *guards))
            n_rules = 1 + len(bases.bodies)
            length = float(description_length(bases.counts, totals, literals, n_rules, m=self.m))
            flawless = bool(bases.counts[0] == totals[0] and not bases.counts[1])
            found.append(Found(length, bases.bodies, link, guards, flawless, literals))
        return found

    def _body(self, link: Link, guards: tuple[Component, ...]) -> Literals | None:
        """The recursive rule, in an order in which Prolog can run it; None where there is none.

        None, too, where a variable of the head is not in it.
        """
        whole = (*link.literals, *_apart(guards, len(link.kinds)), link.recursive)
        done, left = self.words.in_order(whole, self.words.given)
        about = frozenset(v for atom in whole for v in atom.variables)
        return None if left or not about >= set(range(self.target[1])) else done

    def _program(self, found: Found) -> Program:
        arity = self.target[1]
        bodies = [self.words.in_order(_apart(base, arity), self.words.given)[0] for base in found.bases]
        bodies.append(self._body(found.link, found.guards) or ())
        head = Atom(self.target[0], tuple(Variable(f"X{place + 1}") for place in range(arity)))
        return Program(tuple(Rule(head, tuple(map(self._literal, body))) for body in bodies))

    def _literal(self, atom: CodedAtom) -> Literal:
        name = self.target[0] if atom.relation < 0 else self.words.known.coder.keys[atom.relation][0]
        return Literal(Atom(name, tuple(Variable(f"X{variable_number(term) + 1}") for term in atom.terms)))


def _apart(parts: Sequence[Component], width: int) -> Literals:
    """The literals of components, each with further variables of its own."""
    literals: list[CodedAtom] = []
    used = width
    for part in parts:
        shift = used - width
        for atom in part.literals:
            terms = tuple(t if variable_number(t) < width else t - shift for t in atom.terms)
            literals.append(CodedAtom(atom.relation, terms))
        used += len(part.kinds) - width
    return tuple(literals)


def _singles(literals: Literals, goal: Sequence[int], arity: int) -> bool:
    """Whether a variable that the head does not have occurs only once in a link and its goal."""
    times: dict[int, int] = {}
    for variable in (*goal, *(v for atom in literals for v in atom.variables)):
        times[variable] = times.get(variable, 0) + 1
    return any(count == 1 for variable, count in times.items() if variable >= arity)
