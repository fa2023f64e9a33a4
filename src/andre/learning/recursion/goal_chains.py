"""Linear recursion from few examples: base cases are found along the goals that recursive rules lead to.

A recursive rule with one literal of the target leads from a head atom, a goal, to
other goals. An example is derived where a base case holds for some goal of its
chain, which need not be among the examples. So, given the recursive rule, each
example is a bag of goals, and base cases are bodies that hold somewhere in the
bags of the true examples and nowhere in those of the false ones.

Where one recursive rule is not enough, two are tried together: as a filter of a list goes on
with and without its first element, each under its own condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, product

import numpy as np

from andre.arrays import Bools
from andre.evaluation import ListedLabels, description_length
from andre.inference.coded import CodedAtom, variable_number
from andre.learning.recursion.base_cases import Bags, BaseCases, Conditions, choose_bases, covering_bases
from andre.learning.recursion.components import EQUAL, TARGET, Component, Growth, Literals, Vocabulary
from andre.learning.recursion.steps import ChainLimits, Examples, Link, Steps, Walk
from andre.limits import check, limited, stage, time_left
from andre.logic import Atom, Literal, Program, Rule, Variable

#: The share of the time that is left in which links of one length are tried.
_FOR_LINKS = 0.5


#: Literals of two links together, pairs of them that get conditions, and base cases of each of these.
_BOTH, _PAIRS, _BASES = 4, 50, 3
#: Conditions on the steps of one link, and of each of two.
_GUARDS = Growth(literals=3, extra=2)
_FEWER = Growth(literals=2, extra=1, states=300)


@dataclass(frozen=True, eq=False)
class Guarded:
    """A link with conditions on its step."""

    link: Link
    guards: tuple[Component, ...] = ()

    @property
    def size(self) -> int:
        """Literals of the rule."""
        return len(self.link.literals) + 1 + sum(len(guard.literals) for guard in self.guards)


@dataclass(frozen=True, eq=False)
class Found:
    """A program and its description length on the examples."""

    length: float
    bases: tuple[tuple[Component, ...], ...]
    rules: tuple[Guarded, ...]  #: the recursive ones
    flawless: bool
    n_literals: int  #: of all its rules


@dataclass(frozen=True, eq=False)
class _Unguarded:
    """A program without a condition on its step, and what one with such a condition is made from."""

    found: Found
    steps: Steps
    conditions: Conditions


class ChainSearch:
    """Looks for programs of one or two linear recursive rules and their base cases.

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
        self.walk = Walk(words, self.examples, limits)
        self._most = self.language.max_body or 6

    def programs(self, most: int = 8) -> list[Program]:
        """The best programs found, so many at the most.

        Those without a mistake come first, then those that describe the examples shortest.
        """
        tried: list[_Unguarded] = []
        for size in self._sizes:
            with limited(time_left().share(_FOR_LINKS)), stage("following chains of goals"):
                tried += self._of_size(size)
            if any(one.found.flawless for one in tried):  # longer links make longer programs
                break
        found = [one.found for one in tried]
        if not any(one.flawless for one in found):
            starts = {
                one.found.rules[0].link: one for one in sorted(tried, key=lambda one: -one.found.length)
            }
            with stage("following chains of goals"):
                best = sorted(starts.values(), key=lambda one: one.found.length)
                for start in best[: self.limits.guarded]:
                    found += self._guarded(start, found)
        if not any(one.flawless for one in found):
            with stage("following chains of goals"):
                found += self._by_two(loose=False) or self._by_two(loose=True)
        found.sort(key=lambda one: (not one.flawless, one.length))
        written = dict.fromkeys(self._program(one) for one in found[: 4 * most])
        return list(written)[:most]

    @property
    def _sizes(self) -> range:
        """The numbers of literals that links have."""
        most = self.limits.links + bool(self.words.answers)
        return range(1, min(most, self._most - 1) + 1)

    def _of_size(self, size: int) -> list[_Unguarded]:
        """The best programs whose links have so many literals, without a condition on the step."""
        tried: list[_Unguarded] = []
        links = self.walk.links(size)
        with stage("following chains of goals"):
            while batch := list(islice(links, self.limits.batch)):
                made = [(link, steps) for link in batch if (steps := self.walk.steps((link,))) is not None]
                for (link, steps), conditions in zip(
                    made, self._conditions([s for _, s in made]), strict=True
                ):
                    check()
                    found = self._with_guards(Guarded(link), steps, conditions)
                    tried += [_Unguarded(one, steps, conditions) for one in found]
                    tried = sorted(tried, key=lambda one: one.found.length)[: 2 * self.limits.guarded]
        return tried

    def _guarded(self, start: _Unguarded, before: Sequence[Found]) -> list[Found]:
        """Programs with one condition on the step more; none longer than one without a mistake."""
        link, steps, programs = start.found.rules[0].link, start.steps, list[Found]()
        guards = self._guards(link, steps, 0)
        least = min((one.n_literals for one in before if one.flawless), default=np.inf)
        with stage("following chains of goals"):
            for guard in self._telling(guards, steps)[: self.limits.guards]:
                if len(link.literals) + len(guard.literals) + 2 < least:
                    programs += self._with_guards(Guarded(link, (guard,)), steps, start.conditions)
                    least = min((one.n_literals for one in programs if one.flawless), default=least)
        return programs

    def _guards(self, link: Link, steps: Steps, place: int, most: Growth = _GUARDS) -> list[Component]:
        """Conditions on the steps of a link, which is the one at this place of those that make the steps."""
        left, free = self._most - len(link.literals) - 1, self.language.variables - len(link.kinds)
        if not left:
            return []
        growth = replace(most, literals=min(most.literals, left), extra=min(most.extra, free))
        return self.words.components(steps.bindings[place], link.kinds, growth)

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

    def _conditions(self, steps: Sequence[Steps], *, equal: bool = True) -> list[Conditions]:
        """Conditions on the goals of the steps of each link, grown for all of them together.

        Parameters
        ----------
        equal
            Whether arguments of a goal may be equated, too.
        """
        if not steps:
            return []
        arity, most = self.target[1], self.limits.conditions
        every, number = np.unique(np.concatenate([one.goals for one in steps]), axis=0, return_inverse=True)
        growth = Growth(min(3, self._most), min(2, self.language.variables - arity))
        free = frozenset(self.words.answers)
        components = self.words.components(every, self.words.kinds, growth, free)[:most]
        components += self.words.equalities(every) if equal else []
        parts = np.split(number.ravel(), np.cumsum([len(one.goals) for one in steps])[:-1])
        return [Conditions([replace(c, truth=c.truth[part]) for c in components], arity) for part in parts]

    def _with_guards(self, rule: Guarded, steps: Steps, conditions: Conditions) -> list[Found]:
        """The best programs of a recursive rule; none where it cannot be run."""
        if self._body(rule) is None:
            return []
        kept = np.ones(len(steps.source), dtype=np.bool_)
        for guard in rule.guards:
            kept &= guard.truth
        pairs = steps.bags(kept, self.limits.pairs)
        if pairs is None:
            return []
        bags, found = Bags(*pairs, self.examples.weights), list[Found]()
        by_two = bool(rule.guards)  # else longer links come first
        for bases in choose_bases(conditions, bags, self.language, self._most, self.m, by_two=by_two):
            own = [base_truth(base)[steps.starts] for base in bases.bodies]
            if np.any(own, axis=0) @ self.examples.weights[:, 0] >= bases.counts[0]:
                continue  # recursion derives nothing
            found.append(self._judged((rule,), bases))
        return found

    def _judged(self, rules: tuple[Guarded, ...], bases: BaseCases) -> Found:
        totals, counts = self.examples.totals, bases.counts
        parts = [part for base in bases.bodies for part in base]
        literals = sum(rule.size for rule in rules) + sum(len(part.literals) for part in parts)
        n_rules = len(rules) + len(bases.bodies)
        length = float(description_length(counts, totals, literals, n_rules, m=self.m))
        return Found(length, bases.bodies, rules, bool(counts[0] == totals[0] and not counts[1]), literals)

    def _by_two(self, *, loose: bool) -> list[Found]:
        """Programs without a mistake of two recursive rules with conditions on their steps and a base case.

        Without the conditions they cover all true examples, and neither does by itself.

        Parameters
        ----------
        loose
            Whether one link may do so by itself, as its conditions may leave some examples to the other,
            and whether conditions may bind what a link needs of the answer.
        """
        if not self.words.answers:  # then links are very many
            return []
        every = [(link, size) for size in self._sizes for link in self.walk.links(size, loose=loose)]
        both = [(one[1] + two[1], one[0], two[0]) for one, two in combinations(every, 2)]
        short = sorted((pair for pair in both if pair[0] <= _BOTH), key=lambda pair: pair[0])
        pairs = ((one, two) for _, one, two in short[: self.limits.tried])
        starts: list[tuple[int, float, int, tuple[Link, Link], Steps, BaseCases]] = []
        with limited(time_left().share(_FOR_LINKS)), stage("following chains of goals"):
            while batch := list(islice(pairs, self.limits.batch)):
                made = [(links, steps) for links in batch if (steps := self.walk.steps(links)) is not None]
                made = [(links, steps) for links, steps in made if not self.walk.builds(links, steps)]
                for (links, steps), conditions in zip(
                    made, self._conditions([s for _, s in made], equal=False), strict=True
                ):
                    for bases in self._covering(steps, conditions, loose=loose):
                        size = sum(len(link.literals) for link in links)
                        size += sum(len(part.literals) for part in bases.bodies[0])
                        starts.append((size, bases.counts[1], len(starts), links, steps, bases))
                starts = sorted(starts, key=lambda one: one[:3])[: _PAIRS * _BASES]
        found: list[Found] = []
        least = 0
        for size, _, _, links, steps, bases in starts:
            check()
            if found and size > least:  # it would be longer
                break
            found += islice(self._both_guarded(links, steps, bases), 1)
            least = size
        return found

    def _covering(self, steps: Steps, conditions: Conditions, *, loose: bool) -> list[BaseCases]:
        """Base cases that cover all true examples along all steps, those with the fewest false ones first."""
        pairs = steps.bags(np.ones(len(steps.source), dtype=np.bool_), self.limits.pairs)
        if pairs is None:
            return []
        bags = Bags(*pairs, self.examples.weights)
        found = list[BaseCases]()
        for bases in covering_bases(conditions, bags, self.language, self._most):
            if len(found) < _BASES and (loose or self._needs_both(steps, base_truth(bases.bodies[0]))):
                found.append(bases)
        return found

    def _needs_both(self, steps: Steps, truth: Bools) -> bool:
        """Whether without the steps of either link a true example is not derived by a base case, [G]."""
        for place in range(len(steps.bindings)):
            kept = np.ones(len(steps.source), dtype=np.bool_)
            kept[steps.of_link(place)] = False
            if steps.derived(kept, truth) @ self.examples.weights[:, 0] == self.examples.totals[0]:
                return False
        return True

    def _both_guarded(self, links: tuple[Link, Link], steps: Steps, bases: BaseCases) -> Iterator[Found]:
        """Programs without a mistake, with conditions on the steps of one link or of both, shortest first."""
        truth = np.any([base_truth(base) for base in bases.bodies], axis=0)
        weights, totals = self.examples.weights, self.examples.totals
        choices: list[list[tuple[Guarded, Bools]]] = []
        for place, link in enumerate(links):
            part, own = steps.of_link(place), list[tuple[Guarded, Bools]]()
            for guards in ((), *((guard,) for guard in self._guards(link, steps, place, _FEWER))):
                rule, kept = Guarded(link, guards), np.ones(len(steps.source), dtype=np.bool_)
                if guards:
                    kept[part] = guards[0].truth
                if self._body(rule) is not None and steps.derived(kept, truth) @ weights[:, 0] == totals[0]:
                    own.append((rule, kept))
            choices.append(own[: self.limits.guards])
        for (one, some), (two, others) in sorted(
            product(*choices), key=lambda pair: pair[0][0].size + pair[1][0].size
        ):
            check()
            counts = steps.derived(some & others, truth) @ weights
            if counts[0] == totals[0] and not counts[1]:
                yield self._judged((one, two), replace(bases, counts=counts))

    def _body(self, rule: Guarded) -> Literals | None:
        """A recursive rule, in an order in which Prolog can run it; None where there is none.

        None, too, where a variable of the head is not in it.
        """
        link = rule.link
        whole = (*link.literals, *_apart(rule.guards, len(link.kinds)), link.recursive)
        done, left = self.words.in_order(whole, self.words.given)
        about = frozenset(v for atom in whole for v in atom.variables)
        return None if left or not about >= set(range(self.target[1])) else done

    def _program(self, found: Found) -> Program:
        arity = self.target[1]
        bodies = [self.words.in_order(_apart(base, arity), self.words.given)[0] for base in found.bases]
        bodies += [self._body(rule) or () for rule in found.rules]
        head = Atom(self.target[0], tuple(Variable(f"X{place + 1}") for place in range(arity)))
        return Program(tuple(Rule(head, tuple(map(self._literal, body))).unified() for body in bodies))

    def _literal(self, atom: CodedAtom) -> Literal:
        names = {TARGET: self.target[0], EQUAL: "="}
        name = names.get(atom.relation) or self.words.known.coder.keys[atom.relation][0]
        return Literal(Atom(name, tuple(Variable(f"X{variable_number(term) + 1}") for term in atom.terms)))


def base_truth(base: tuple[Component, ...]) -> Bools:
    """Of which goals a base case is true, [G]."""
    return np.asarray(np.all([part.truth for part in base], axis=0))


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
