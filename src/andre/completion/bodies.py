"""Rule bodies as a few numbers each, and the rules that they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal as OneOf
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Ints
from andre.completion.graph import Graph
from andre.facts import FactBase
from andre.logic import Atom, Constant, Literal, Rule, Variable

__all__ = ["Body", "Covered", "Shape", "to_rule"]


#: The pairs that a body covers, as ascending keys x * n + y, and in how many ways each.
Covered: TypeAlias = tuple[Ints, NDArray[np.float32]]

#: A relational path from X to Y; two steps from X straight to Y; a constant at Y, or at X.
Shape: TypeAlias = OneOf["path", "both", "to", "from"]

_X, _Y, _Z, _W, _V = map(Variable, ("X", "Y", "Z", "W", "V"))
_ROUTES = {1: (_X, _Y), 2: (_X, _Z, _Y), 3: (_X, _Z, _W, _Y), 4: (_X, _Z, _W, _V, _Y)}


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a rule about X and Y, by steps of a `Graph`.

    `path` is a relational path: its steps lead from X to Y through other
    constants. `both` joins X and Y by each of its two steps. `to` has
    (step, e, c): the head's second argument is c, and the step leads from X to
    e. `from` is the same with c as the head's first argument, and Y in place of X.
    """

    shape: Shape
    steps: tuple[int, ...]

    def reversed(self, graph: Graph) -> Body:
        """The body that covers (y, x) wherever this one covers (x, y)."""
        if self.shape == "path":
            return Body("path", tuple(graph.inverse(step) for step in reversed(self.steps)))
        if self.shape == "both":
            return Body("both", tuple(sorted(map(graph.inverse, self.steps))))
        return Body("from" if self.shape == "to" else "to", self.steps)


def to_rule(body: Body, relation: str, graph: Graph, facts: FactBase) -> Rule:
    """The rule that a body stands for, with inequalities where two variables could be the same constant.

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> facts = FactBase.from_facts([parse_atom("p(a, b)"), parse_atom("q(b, c)")])
    >>> graph = Graph.of(facts)
    >>> print(to_rule(Body("path", (0, 3)), "h", graph, facts))
    h(X, Y) :- p(X, Z), q(Y, Z), X \\= Y, X \\= Z, Y \\= Z.
    >>> print(to_rule(Body("to", (0, 1, 2)), "h", graph, facts))
    h(X, c) :- p(X, b).
    """
    if body.shape in {"to", "from"}:
        step, end, head_end = body.steps
        end_, head_end_ = Constant(facts.constants[end]), Constant(facts.constants[head_end])
        free = _X if body.shape == "to" else _Y
        args = (_X, head_end_) if body.shape == "to" else (head_end_, _Y)
        # The free variable is another constant than both; that is said only where it makes a difference.
        apart = []
        if graph.steps[step][head_end, end]:
            apart.append(Literal(Atom("\\=", (free, head_end_))))
        if (step % len(graph.relations), end) in graph.loops:
            apart.append(Literal(Atom("\\=", (free, end_))))
        return Rule(Atom(relation, args), (_literal(graph, step, free, end_), *apart))
    if body.shape == "both":
        literals = [_literal(graph, step, _X, _Y) for step in body.steps]
        variables: tuple[Variable, ...] = (_X, _Y)
    else:
        route = _ROUTES[len(body.steps)]
        literals = [
            _literal(graph, step, *ends) for step, ends in zip(body.steps, pairwise(route), strict=True)
        ]
        variables = tuple(sorted(route, key=(_X, _Y, _Z, _W, _V).index))
    distinct = [Literal(Atom("\\=", two)) for two in combinations(variables, 2)]
    return Rule(Atom(relation, (_X, _Y)), (*literals, *distinct))


def _literal(graph: Graph, step: int, start: Variable, end: Variable | Constant) -> Literal:
    count = len(graph.relations)
    args = (start, end) if step < count else (end, start)
    return Literal(Atom(graph.relations[step % count], args))
