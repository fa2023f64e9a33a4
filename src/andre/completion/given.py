"""Rules from elsewhere (a file, a learner) as bodies to rank by: the pairs that each covers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from andre.completion.bodies import Covered
from andre.completion.graph import Graph
from andre.facts import FactBase
from andre.inference import BodyEvaluator
from andre.logic import Rule


class GivenRules:
    """Given rules with the pairs that each covers, evaluated once for both sides.

    Parameters
    ----------
    rules
        Those whose head is no binary relation of the graph are left out.
    graph, facts
        The same training facts, as steps and as relations.
    is_small
        Whether relations are multiplied as dense matrices.
    """

    def __init__(self, rules: Sequence[Rule], graph: Graph, facts: FactBase, *, is_small: bool) -> None:
        self._graph, self._bodies, self._is_small = graph, BodyEvaluator(facts), is_small
        place = {relation: step for step, relation in enumerate(graph.relations)}
        self._of: dict[int, list[tuple[Rule, Covered]]] = {}
        for rule in dict.fromkeys(rules):
            step = place.get(rule.head.predicate)
            if step is not None and rule.head.arity == 2:
                self._of.setdefault(step, []).append((rule, self._covered(rule)))

    def about(self, step: int) -> list[tuple[Rule, Covered]]:
        """The rules of a target, and what each covers seen from the side that the step asks from."""
        count, n = len(self._graph.relations), self._graph.n
        found = self._of.get(step % count, [])
        return found if step < count else [(rule, _turned(covered, n)) for rule, covered in found]

    def _covered(self, rule: Rule) -> Covered:
        """The pairs, and in how many ways the rule holds of each.

        Ways are counted where the body consists of known binary relations
        between distinct constants; any other rule counts once for a pair.
        """
        relations = set(self._graph.relations)
        known = all(item.is_builtin or item.atom.predicate in relations for item in rule.body)
        if known and self._bodies.is_product(rule):
            found = self._bodies.cover(rule, ("tables",) if self._is_small else ("products", "joins"))
        else:
            found = self._bodies.cover(rule, ("joins",))
        n = self._graph.n
        inside = (found.heads < n).all(axis=1)  # a constant that no fact has is no candidate
        keys = found.heads[inside] @ np.array([n, 1])
        ways = np.ones(len(keys)) if found.groundings is None else found.groundings[inside]
        return keys, ways.astype(np.float32)


def _turned(covered: Covered, n: int) -> Covered:
    """The same pairs seen from the other side."""
    keys, values = covered
    turned = keys % n * n + keys // n
    order = np.argsort(turned)
    return turned[order], values[order]
