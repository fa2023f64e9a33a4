"""Groundings of a rule, one at a time: the bindings for which its body holds, or almost does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from andre.facts import FactBase, Key
from andre.inference.model import Model
from andre.logic import Atom, Constant, Literal, Rule, Term, Variable, comparison_holds

#: The partial groundings of a rule that are searched by default.
MOST_STEPS = 100_000

#: The constants that the variables of a rule are bound to.
Bindings = dict[Variable, Constant]


class FactIndex:
    """Finds facts by some of their arguments."""

    def __init__(self, facts: FactBase) -> None:
        self.facts = facts
        self._orders: dict[tuple[Key, int], tuple[NDArray[np.intp], NDArray[np.int32]]] = {}

    def matches(self, atom: Atom) -> Iterator[Bindings]:
        """The bindings of an atom's variables by each fact that matches it."""
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
        """An upper bound of the number of facts that match an atom, by the rarest of its constants."""
        relation = self.facts.relations.get(atom.key)
        if relation is None:
            return 0
        constants = [(place, arg) for place, arg in enumerate(atom.args) if isinstance(arg, Constant)]
        return min([len(relation), *(len(self._rows(atom.key, place, arg)) for place, arg in constants)])

    def _rows(self, key: Key, place: int, constant: Constant) -> NDArray[np.intp]:
        """The rows with a constant in some argument, by an order that is kept."""
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
    """The bindings that give an atom these arguments, or None if there are none."""
    bindings: Bindings = {}
    for arg, value in zip(atom.args, values, strict=True):
        assert isinstance(value, Constant)
        if (bindings.setdefault(arg, value) if isinstance(arg, Variable) else arg) != value:
            return None
    return bindings


@dataclass(frozen=True)
class Partial:
    """A grounding that fails: the first literals of a rule hold, but not the next one."""

    rule: Rule
    bindings: Mapping[Variable, Constant]
    held: tuple[Literal, ...]  #: the ground literals that hold
    failing: Literal  #: the literal that does not, with its variables bound
    remaining: int  #: the number of literals left, including the failing one
    is_unknown: bool = False  #: whether the failing literal negates an atom that is unknown in an open world

    def lines(self) -> Iterator[str]:
        """The grounding as lines of text."""
        yield f"nearest is {self.rule}"
        yield from binding_lines(self.bindings.items())
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
    """Finds the groundings of a rule, depth first: positive literals as written, then the others.

    If that takes too long, the literals with the fewest matches come first.

    Parameters
    ----------
    index, model
        The facts, and their probabilities.
    max_steps
        After how many partial groundings of a rule to stop: it may have more than
        anyone can read.
    """

    def __init__(self, index: FactIndex, model: Model, max_steps: int = MOST_STEPS) -> None:
        self.index, self.model, self.max_steps = index, model, max_steps
        self.steps = 0  # partial groundings of all searches so far

    def groundings(self, rule: Rule, bindings: Bindings, partials: list[Partial]) -> Iterator[Bindings]:
        """The bindings for which the whole body holds, one by one.

        Parameters
        ----------
        bindings
            Bindings of some of the variables.
        partials
            A list that receives the partial grounding that gets furthest.
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
        """The same groundings, searched with the literal with the fewest matches next."""
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
        """An upper bound of the matches of a literal; infinite for a test with unbound variables."""
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


def binding_lines(bindings: Iterable[tuple[Variable, Constant]]) -> Iterator[str]:
    """A line with the bindings of variables, if there are any."""
    if values := ", ".join(f"{variable} = {constant}" for variable, constant in bindings):
        yield f"  where {values}"
