"""The groundings of one rule over facts, and how far the best of the others get."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from andre.facts import FactBase
from andre.facts.base import Key
from andre.inference.model import Model
from andre.logic import Atom, Constant, Literal, Rule, Term, Variable
from andre.logic.comparison import comparison_holds

__all__ = ["Bindings", "FactIndex", "Partial", "Search"]

#: What the variables of a rule stand for.
Bindings = dict[Variable, Constant]


class FactIndex:
    """Finds facts by some of their arguments."""

    def __init__(self, facts: FactBase) -> None:
        self.facts = facts
        self._orders: dict[tuple[Key, int], tuple[NDArray[np.intp], NDArray[np.int32]]] = {}

    def matches(self, atom: Atom) -> Iterator[Bindings]:
        """What the variables of an atom stand for in the facts that match it."""
        key = (atom.predicate, atom.arity)
        relation = self.facts.relations.get(key)
        if relation is None:
            return
        rows: NDArray[np.intp] | None = None
        for place, arg in enumerate(atom.args):
            if isinstance(arg, Constant):
                found = self._rows(key, place, arg)
                rows = found if rows is None or len(found) < len(rows) else rows
        for row in range(len(relation)) if rows is None else rows.tolist():
            if relation.negative is not None and relation.negative[row]:
                continue
            bindings = self._match(atom, relation.codes[row].tolist())
            if bindings is not None:
                yield bindings

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

    def _match(self, atom: Atom, codes: list[int]) -> Bindings | None:
        bindings: Bindings = {}
        for arg, code in zip(atom.args, codes, strict=True):
            constant = Constant(self.facts.constants[code])
            if (bindings.setdefault(arg, constant) if isinstance(arg, Variable) else arg) != constant:
                return None
        return bindings


@dataclass(frozen=True)
class Partial:
    """How far a rule gets: its first literals hold, and the next one does not."""

    rule: Rule
    bindings: Mapping[Variable, Constant]
    held: tuple[Literal, ...]  #: literals that hold, with the bindings put in
    failing: Literal  #: the literal that does not, with the bindings put in
    remaining: int  #: literals that are left, the failing one included


class Search:
    """Goes through the groundings of a rule, literal by literal as the rule is printed.

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

    def groundings(self, rule: Rule, bindings: Bindings, partials: list[Partial]) -> Iterator[Bindings]:
        """Yield what the variables stand for where the whole body holds.

        `partials` takes the partial grounding that gets furthest.
        """
        literals = sorted(rule.body, key=lambda literal: (literal.is_builtin, literal.negated))
        stack: list[Iterator[Bindings]] = [iter([bindings])]
        steps = 0
        while stack and steps < self.max_steps:
            current = next(stack[-1], None)
            if current is None:
                stack.pop()
                continue
            steps += 1
            depth = len(stack) - 1
            if depth == len(literals):
                yield current
                continue
            extended = self._extend(literals[depth], current)
            first = next(extended, None)
            if first is None:
                self._note(rule, literals, depth, current, partials)
            else:
                stack.append(_chain(first, extended))

    def _extend(self, literal: Literal, bindings: Bindings) -> Iterator[Bindings]:
        atom = literal.atom.substitute(_terms(bindings))
        if literal.is_builtin:
            if comparison_holds(atom) != literal.negated:
                yield bindings
        elif literal.negated:
            if self.model.probability(atom) < 1:
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
        ground = [
            Literal(item.atom.substitute(_terms(bindings)), item.negated) for item in literals[: depth + 1]
        ]
        partials[:] = [Partial(rule, dict(bindings), tuple(ground[:-1]), ground[-1], remaining)]


def _chain(first: Bindings, rest: Iterator[Bindings]) -> Iterator[Bindings]:
    yield first
    yield from rest


def _terms(bindings: Bindings) -> dict[Variable, Term]:
    return dict(bindings)
