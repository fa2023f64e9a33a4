"""The order in which relations are computed: each after those it depends on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from andre.inference.coded import CodedRule

__all__ = ["Component", "components"]


@dataclass(frozen=True)
class Component:
    """Relations that depend on each other, with the rules that define them."""

    relations: frozenset[int]
    rules: tuple[CodedRule, ...]

    @property
    def is_recursive(self) -> bool:
        """Whether a rule reads what the component defines."""
        return any(
            atom.relation in self.relations
            for rule in self.rules
            for atom in (*rule.positive, *rule.negative)
        )

    @property
    def is_stratified(self) -> bool:
        """Whether no rule reads the negation of what the component defines."""
        return not any(atom.relation in self.relations for rule in self.rules for atom in rule.negative)


def components(rules: Iterable[CodedRule]) -> list[Component]:
    """Split rules by the relations that depend on each other, the first needed first.

    Examples
    --------
    >>> from andre.inference.coded import CodedProgram
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_program
    >>> text = "p(X) :- q(X), \\\\+ r(X). r(X) :- e(X, Y), r(Y). r(X) :- f(X)."
    >>> coded = CodedProgram.of(parse_program(text), FactBase.from_facts([]))
    >>> [[coded.keys[number][0] for number in part.relations] for part in components(coded.rules)]
    [['r'], ['p']]
    """
    defining: dict[int, list[CodedRule]] = {}
    for rule in rules:
        defining.setdefault(rule.head.relation, []).append(rule)
    needs = {
        head: sorted(
            {a.relation for rule in found for a in (*rule.positive, *rule.negative)} & defining.keys()
        )
        for head, found in defining.items()
    }
    return [
        Component(frozenset(part), tuple(rule for head in sorted(part) for rule in defining[head]))
        for part in _strongly_connected(needs)
    ]


def _strongly_connected(edges: Mapping[int, list[int]]) -> list[list[int]]:
    """Tarjan's algorithm with its own stack: parts come after all they lead to."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    open_nodes: list[int] = []
    is_open: set[int] = set()
    parts: list[list[int]] = []
    for root in edges:
        if root in index:
            continue
        work = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        open_nodes.append(root)
        is_open.add(root)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    open_nodes.append(successor)
                    is_open.add(successor)
                    work.append((successor, iter(edges[successor])))
                    break
                if successor in is_open:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = open_nodes[open_nodes.index(node) :]
                    del open_nodes[len(open_nodes) - len(part) :]
                    is_open.difference_update(part)
                    parts.append(part)
    return parts
