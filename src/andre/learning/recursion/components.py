"""Conditions on tuples of constants: conjunctions that hang together through variables of their own.

A body is a set of such conditions, each true or false of a tuple by itself: so
bodies of many literals are put together from the truth of a few hundred conditions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product

import numpy as np

from andre.arrays import Bools, Ints
from andre.facts import FactBase, Key
from andre.inference.coded import CodedAtom, variable_number
from andre.inference.extensions import Extensions
from andre.inference.joins import LiteralJoins
from andre.limits import check
from andre.samples import Language

Literals = tuple[CodedAtom, ...]

#: The numbers of the target and of equality, which are no relations of the background.
TARGET, EQUAL = -1, -2


@dataclass(frozen=True, eq=False)
class Component:
    """Literals about the variables of a tuple, which have the first numbers, and further variables."""

    literals: Literals
    kinds: tuple[str, ...]  #: the types of all variables, the tuple's first
    truth: Bools  #: of which tuples it is true, [N]
    needs: frozenset[int] = frozenset()  #: variables of the tuple that other literals must bind before it

    @property
    def variables(self) -> frozenset[int]:
        """The variables that occur."""
        return frozenset(variable for atom in self.literals for variable in atom.variables)


@dataclass(frozen=True)
class Growth:
    """How far components are grown."""

    literals: int  #: of one component at the most
    extra: int  #: variables of its own
    states: int = 1_500  #: that are looked at in all
    fan_out: int = 4  #: bindings for each tuple on average, above which a literal is not added


class Vocabulary:
    """The literals that a language allows over a background, which components are grown from.

    Parameters
    ----------
    facts
        What is known, the target's facts among it; the background is all else that may teach.
    language
        What bodies may hold. Argument types, declared or inferred, keep variables apart, and the
        directions of a bias say which arguments must be bound before.
    """

    def __init__(self, facts: FactBase, language: Language) -> None:
        self.language, self.target = language, language.key(facts)
        facts = facts.select("train")
        self.known = Extensions(facts, likely=True)
        self.joins = LiteralJoins(self.known)
        self._types = language.types_of(facts)
        self.kinds = tuple(self._types[self.target])
        directions = {} if facts.bias is None else dict(facts.bias.directions)
        #: The places of the target that hold what it answers.
        self.answers = tuple(
            place for place, way in enumerate(directions.get(self.target[0], ())) if way == "out"
        )
        named = None if language.relations is None else set(language.relations)
        self._needs = {self.target: tuple(place not in self.answers for place in range(self.target[1]))}
        self._relations: list[tuple[Key, tuple[bool, ...]]] = []  #: and which arguments must be bound
        for name, arity in facts.relations:
            allowed = named is None or bool({name, f"{name}/{arity}"} & named)
            if (name, arity) != self.target and arity and allowed:
                ways = directions.get(name, ("out",) * arity)
                self._relations.append(((name, arity), tuple(way == "in" for way in ways)))
        self._needs.update(self._relations)

    def literals(
        self, kinds: Sequence[str], most: int, *, owing: bool = False
    ) -> Iterator[tuple[CodedAtom, tuple[str, ...]]]:
        """Every literal that shares a variable with those of these types, and the types with its new ones.

        Parameters
        ----------
        most
            How many variables there may be.
        owing
            Whether an argument that must be bound may be a new variable, which another literal then binds.
        """
        for key, needs in self._relations:
            number = self.known.coder.relation(key)
            musts = (False,) * len(needs) if owing else needs
            yield from _arguments(
                number, tuple(zip(self._types[key], musts, strict=True)), tuple(kinds), most
            )

    def inputs(self, atom: CodedAtom) -> frozenset[int]:
        """The variables that must be bound before a literal; an equality binds one of its own."""
        if atom.relation == EQUAL:
            return frozenset()
        needs = self._needs[self.target if atom.relation == TARGET else self.known.coder.keys[atom.relation]]
        return frozenset(variable_number(term) for term, must in zip(atom.terms, needs, strict=True) if must)

    @property
    def given(self) -> frozenset[int]:
        """The variables of the head that are bound before the body."""
        return frozenset(range(self.target[1])).difference(self.answers)

    def in_order(self, literals: Literals, bound: frozenset[int]) -> tuple[Literals, Literals]:
        """The literals in an order in which each has its inputs, as far as there is one, and those left over.

        Parameters
        ----------
        bound
            The variables that are bound before.
        """
        done, left = list[CodedAtom](), list(literals)
        while True:
            ready = next((atom for atom in left if self.inputs(atom) <= bound), None)
            if ready is None:
                return tuple(done), tuple(left)
            left.remove(ready)
            done.append(ready)
            bound = bound.union(ready.variables)

    def _lacks(self, literals: Literals, width: int, free: frozenset[int]) -> frozenset[int] | None:
        """The variables among some of a tuple's that literals need others to bind; None: it is not enough."""
        own = frozenset(range(width)).difference(free)
        for size in range(len(free) + 1):
            for chosen in combinations(sorted(free), size):
                if not self.in_order(literals, own.union(chosen))[1]:
                    return frozenset(chosen)
        return None

    def equalities(self, tuples: Ints) -> list[Component]:
        """The equalities of two variables of the head, one of them given, that hold of some tuples."""
        found = []
        for one, two in combinations(range(self.target[1]), 2):
            truth: Bools = np.asarray(tuples[:, one] == tuples[:, two])
            if self.kinds[one] == self.kinds[two] and self.given & {one, two} and truth.any():
                found.append(Component((CodedAtom(EQUAL, (-1 - one, -1 - two)),), self.kinds, truth))
        return found

    def components(
        self, tuples: Ints, kinds: Sequence[str], growth: Growth, free: frozenset[int] = frozenset()
    ) -> list[Component]:
        """The components that are true of some tuples, [N, variables].

        Short ones come first, and of these those with few bindings, as functions have. Of those
        that are true of the same tuples, about the same variables and bind the same, one is given.

        Parameters
        ----------
        free
            Variables of the tuple that are not bound before, for the literals to bind.
        """
        n, width = tuples.shape
        start = np.concatenate([np.arange(n)[:, None], tuples], axis=1)
        found: dict[tuple[bytes, frozenset[int], frozenset[int]], tuple[int, int, Component]] = {}
        states: list[tuple[Literals, tuple[str, ...], Ints]] = [((), tuple(kinds), start)]
        seen: set[frozenset[tuple[int, tuple[int, ...]]]] = set()
        looked = 0
        for size in range(1, growth.literals + 1):
            grown = []
            for literals, own, bindings in states:
                for atom, made in self.literals(own, width + growth.extra):
                    if atom in literals or (literals and max(atom.variables) < width):
                        continue  # what is about the tuple alone is a component by itself
                    whole = (*literals, atom)
                    alike = canonical(whole, width, len(made))
                    loose = _loose(whole, width)
                    if alike in seen or loose > 2 * (growth.literals - size) or looked > growth.states:
                        continue
                    check()
                    seen.add(alike)
                    looked += 1
                    bound = (_ROW, *range(len(own)))
                    joined = self.joins.extend(bindings, bound, atom, growth.fan_out * n + 50)
                    if joined is None or not len(joined):
                        continue
                    needs = None if loose else self._lacks(whole, width, free)
                    if needs is not None:
                        truth = np.zeros(n, dtype=np.bool_)
                        truth[joined[:, 0]] = True
                        component = Component(whole, made, truth, needs)
                        about = frozenset(v for v in component.variables if v < width)
                        found.setdefault((truth.tobytes(), about, needs), (size, len(joined), component))
                    if len(made) > width:
                        grown.append((whole, made, joined))
            states = grown
        return [component for _, _, component in sorted(found.values(), key=lambda entry: entry[:2])]


#: The number of a variable that no literal has, for the column that says which tuple a binding is of.
_ROW = 1 << 20


def _arguments(
    relation: int, wanted: Sequence[tuple[str, bool]], kinds: tuple[str, ...], most: int
) -> Iterator[tuple[CodedAtom, tuple[str, ...]]]:
    """The literals of one relation, by the type of each argument and whether it must be bound."""
    choices: list[list[int | None]] = []
    for kind, must in wanted:
        bound: list[int | None] = [place for place, own in enumerate(kinds) if own == kind]
        choices.append(bound if must else [*bound, None])
    for chosen in product(*choices):
        stated = [place for place in chosen if place is not None]
        if not stated or len(set(stated)) < len(stated):
            continue
        made, terms = kinds, list[int]()
        for place, (kind, _) in zip(chosen, wanted, strict=True):
            terms.append(-1 - (len(made) if place is None else place))
            made = (*made, kind) if place is None else made
        if len(made) <= most:
            yield CodedAtom(relation, tuple(terms)), made


def _loose(literals: Literals, width: int) -> int:
    """How many variables that the tuple does not have occur only once."""
    times: dict[int, int] = {}
    for atom in literals:
        for term in atom.terms:
            times[variable_number(term)] = times.get(variable_number(term), 0) + 1
    return sum(count == 1 for variable, count in times.items() if variable >= width)


def canonical(literals: Literals, width: int, n: int) -> frozenset[tuple[int, tuple[int, ...]]]:
    """The same for literals that differ in the names of the variables that the tuple does not have."""
    every = []
    for order in permutations(range(width, n)):
        names = dict(zip(range(width, n), order, strict=True))
        every.append(
            sorted(
                (atom.relation, tuple(names.get(variable_number(t), variable_number(t)) for t in atom.terms))
                for atom in literals
            )
        )
    return frozenset(min(every))
