"""Groundings of a rule, one at a time: what its variables stand for where its body holds, or nearly does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from andre.facts import FactBase, Key
from andre.inference.model import Model
from andre.logic import Atom, Constant, Literal, Rule, Term, Variable, comparison_holds

#: What the variables of a rule stand for.
Bindings = dict[Variable, Constant]


class FactIndex:
    """Finds facts by some of their arguments."""

    def __init__(self, facts: FactBase) -> None:
        self.facts = facts
        self._orders: dict[tuple[Key, int], tuple[NDArray[np.intp], NDArray[np.int32]]] = {}

    def matches(self, atom: Atom) -> Iterator[Bindings]:
        """What the variables of an atom stand for in the facts that match it."""
        relation = self.facts.relations.get(atom.key)
        if relation is None:
            return
        rows, false = None, relation.impossible
        for place, arg in enumerate(atom.args):
            if isinstance(arg, Constant):
                found = self._rows(atom.key, place, arg)
                rows = found if rows is None or len(found) < len(rows) else rows
        for row in range(len(relation)) if rows is None else rows.tolist():
            if not false[row]:
                codes = relation.codes[row].tolist()
                bindings = bind(atom, [Constant(self.facts.constants[code]) for code in codes])
                if bindings is not None:
                    yield bindings

    def count(self, atom: Atom) -> int:
        """How many facts may match an atom, by the rarest of its constants."""
        relation = self.facts.relations.get(atom.key)
        if relation is None:
            return 0
        constants = [(place, arg) for place, arg in enumerate(atom.args) if isinstance(arg, Constant)]
        return min([len(relation), *(len(self._rows(atom.key, place, arg)) for place, arg in constants)])

    def _rows(self, key: Key, place: int, constant: Constant) -> NDArray[np.intp]:
        """The rows with this constant in this place, by an order made once."""
        if (key, place) not in self._orders:
            column = self.facts.relations[key].codes[:, place]
            order = np.argsort(column, kind="stable")
            self._orders[key, place] = order, column[order]
        order, ordered = self._orders[key, place]
        code = self.facts.code(constant.value)
        if code is None:
            return order[:0]
        return order[np.searchsorted(ordered, code, "left") : np.searchsorted(ordered, code, "right")]


def bind(atom: Atom, values: Iterable[Term]) -> Bindings | None:
    """What the variables of an atom stand for where its arguments are these constants, or None."""
    bindings: Bindings = {}
    for arg, value in zip(atom.args, values, strict=True):
        assert isinstance(value, Constant)
        if (bindings.setdefault(arg, value) if isinstance(arg, Variable) else arg) != value:
            return None
    return bindings


@dataclass(frozen=True)
class Partial:
    """A grounding that fails: the first literals of a rule hold, and the next one does not."""

    rule: Rule
    bindings: Mapping[Variable, Constant]
    held: tuple[Literal, ...]  #: literals that hold, with the bindings put in
    failing: Literal  #: the literal that does not, with the bindings put in
    remaining: int  #: literals that are left, the failing one included
    is_unknown: bool = False  #: whether the failing literal negates what an open world leaves unknown

    def lines(self) -> Iterator[str]:
        """The grounding for a person to read."""
        yield f"nearest is {self.rule}"
        yield from told_bindings(self.bindings.items())
        for literal in self.held:
            yield f"    {literal}  holds"
        if self.failing.is_builtin:
            why = "it is not so"
        elif self.is_unknown:
            why = "the world is open, and no fact denies the atom"
        elif self.failing.negated:
            why = "it does hold"
        else:
            why = "no fact states it and no rule derives it"
        yield f"    {self.failing}  fails: {why}"


class Search:
    """Finds the groundings of a rule, depth first: its atoms as written, then negations and comparisons.

    Where that takes too long, the literals with the fewest matches come first.

    Parameters
    ----------
    index, model
        The facts, and how probable each is.
    max_steps
        After how many partial groundings to give up: a rule may have more than
        anyone can look at.
    """

    def __init__(self, index: FactIndex, model: Model, max_steps: int = 100_000) -> None:
        self.index, self.model, self.max_steps = index, model, max_steps
        self.steps = 0  # of all searches so far

    def groundings(self, rule: Rule, bindings: Bindings, partials: list[Partial]) -> Iterator[Bindings]:
        """What the variables stand for where the whole body holds, one grounding at a time.

        Parameters
        ----------
        bindings
            What some of the variables stand for.
        partials
            The list that the partial grounding which gets furthest is put into.
        """
        literals = sorted(rule.body, key=lambda literal: (literal.is_builtin, literal.negated))
        stack: list[Iterator[Bindings]] = [iter([bindings])]
        steps, found = 0, False
        while stack and steps < self.max_steps:
            current = next(stack[-1], None)
            if current is None:
                stack.pop()
                continue
            steps += 1
            self.steps += 1
            depth = len(stack) - 1
            if depth == len(literals):
                found = True
                yield current
                continue
            extended = self._extend(literals[depth], current)
            first = next(extended, None)
            if first is None:
                self._note(rule, literals, depth, current, partials)
            else:
                stack.append(chain([first], extended))
        if stack and not found:
            yield from self._rarest_first(rule, bindings)

    def _rarest_first(self, rule: Rule, bindings: Bindings) -> Iterator[Bindings]:
        """The same groundings, by a search in which the literal with the fewest matches is always next."""
        stack: list[tuple[tuple[Literal, ...], Iterator[Bindings]]] = [(rule.body, iter([bindings]))]
        for _ in range(self.max_steps):
            self.steps += 1
            left, found = stack[-1]
            current = next(found, None)
            if current is None:
                stack.pop()
                if not stack:
                    return
                continue
            if not left:
                yield current
                continue
            costs = [self._matches(literal, current) for literal in left]
            place = costs.index(min(costs))
            stack.append((left[:place] + left[place + 1 :], self._extend(left[place], current)))

    def _matches(self, literal: Literal, bindings: Bindings) -> float:
        """How many ways there are to go on by a literal, at the most; a test waits for its variables."""
        if literal.binds:
            return self.index.count(literal.atom.substitute(bindings))
        return 0 if bindings.keys() >= set(literal.variables) else float("inf")

    def _extend(self, literal: Literal, bindings: Bindings) -> Iterator[Bindings]:
        atom = literal.atom.substitute(bindings)
        if literal.is_builtin:
            if comparison_holds(atom) != literal.negated:
                yield bindings
        elif literal.negated:
            if self.model.negation(atom) > 0:
                yield bindings
        else:
            for found in self.index.matches(atom):
                yield {**bindings, **found}

    def _note(
        self, rule: Rule, literals: list[Literal], depth: int, bindings: Bindings, partials: list[Partial]
    ) -> None:
        remaining = len(literals) - depth
        if partials and (partials[0].remaining, -len(partials[0].held)) <= (remaining, -depth):
            return
        ground = [Literal(item.atom.substitute(bindings), item.negated) for item in literals[: depth + 1]]
        failing = ground[-1]
        unknown = failing.negated and not failing.is_builtin and self.model.probability(failing.atom) < 1
        partials[:] = [Partial(rule, dict(bindings), tuple(ground[:-1]), failing, remaining, unknown)]


def told_bindings(bindings: Iterable[tuple[Variable, Constant]]) -> Iterator[str]:
    """The line that says what variables stand for, if there are any."""
    if values := ", ".join(f"{variable} = {constant}" for variable, constant in bindings):
        yield f"  where {values}"
