"""Given rules as bodies of the pool: what each covers, counted once for both sides."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from andre.completion.bodies import Covered
from andre.completion.graph import Graph
from andre.completion.pool import is_small
from andre.facts import FactBase
from andre.inference import covered_heads
from andre.logic import Constant, Literal, Rule, Variable

__all__ = ["GivenRules"]


Matrix = NDArray[np.float32]
Term: TypeAlias = Variable | Constant

_MOST_WALKS = 20_000_000  # over a third variable, up to which they are counted at once


class GivenRules:
    """Rules from any source, with the pairs that each covers.

    Parameters
    ----------
    rules
        Those whose head is no binary relation of the graph are passed over.
    graph, facts
        The same training facts, as steps and as relations.
    """

    def __init__(self, rules: Sequence[Rule], graph: Graph, facts: FactBase) -> None:
        self._graph, self._facts = graph, facts
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
        """The pairs by products of whole or sparse matrices where that can be, else by joins."""
        if _is_plain(rule, self._graph.relations):
            if is_small(self._graph):
                found = self._groundings(rule)
                keys = np.flatnonzero(found)
                return keys, found.ravel()[keys]
            if (sparse := self._sparse(rule)) is not None:
                return sparse
        one, two = covered_heads(rule, self._facts).T
        return np.sort(one * self._graph.n + two), np.ones(len(one), dtype=np.float32)

    @cached_property
    def _matrices(self) -> Mapping[str, Matrix]:
        """[n, n], 1 where a fact is stated, by relation."""
        steps = self._graph.steps[: len(self._graph.relations)]
        stated = (step.toarray() for step in steps)
        return dict(zip(self._graph.relations, stated, strict=True))

    def _groundings(self, rule: Rule) -> Matrix:
        """[n, n], in how many ways a rule over at most three distinct variables holds."""
        one, two = rule.head.args
        inner = next((v for v in rule.variables if v not in (one, two)), None)
        whole = np.ones((self._graph.n, self._graph.n), dtype=np.float32)
        np.fill_diagonal(whole, 0)
        between: dict[tuple[Term | None, ...], Matrix] = {
            pair: whole.copy() for pair in ((one, two), (one, inner), (inner, two))
        }
        for literal in rule.body:
            if literal.is_builtin:
                continue
            stated = self._matrices[literal.atom.predicate]
            held = 1 - stated if literal.negated else stated  # [n, n]; diagonals are 0 in `between`
            args = literal.atom.args
            if args in between:
                between[args] *= held
            else:
                between[args[::-1]] *= held.T
        found = between[one, two]
        if inner is not None:
            found = found * (between[one, inner] @ between[inner, two])
        return found

    def _sparse(self, rule: Rule) -> Covered | None:
        """The same by sparse matrices; None where a step is free, or walks are too many."""
        one, two = rule.head.args
        inner = next((v for v in rule.variables if v not in (one, two)), None)
        place = {relation: step for step, relation in enumerate(self._graph.relations)}
        between: dict[tuple[Term | None, ...], tuple[list[csr_matrix], list[csr_matrix]]] = {
            pair: ([], []) for pair in ((one, two), (one, inner), (inner, two))
        }
        for literal in rule.body:
            if literal.is_builtin:
                continue
            step, args = place[literal.atom.predicate], literal.atom.args
            if args not in between:
                step, args = self._graph.inverse(step), args[::-1]
            between[args][literal.negated].append(self._graph.steps[step])
        stated, denied = between[one, two]
        if inner is None:
            return _covered_of(_held(stated[0], stated[1:], denied))
        (first, not_first), (last, not_last) = between[one, inner], between[inner, two]
        if not first or not last:
            return None
        out, back = _held(first[0], first[1:], not_first), _held(last[0], last[1:], not_last)
        if np.asarray(out.sum(axis=0)).ravel() @ np.asarray(back.sum(axis=1)).ravel() > _MOST_WALKS:
            return None
        return _covered_of(_held(out @ back, stated, denied))


def _held(start: csr_matrix, stated: Sequence[csr_matrix], denied: Sequence[csr_matrix]) -> csr_matrix:
    """What of a matrix is left where some facts are stated and others are not."""
    for matrix in stated:
        start = start.multiply(matrix)
    for matrix in denied:
        start = start - start.multiply(matrix)
    return csr_matrix(start)


def _covered_of(matrix: csr_matrix) -> Covered:
    coo = matrix.tocoo()
    keep = (coo.row != coo.col) & (coo.data > 0)
    keys = coo.row[keep].astype(np.int64) * matrix.shape[0] + coo.col[keep]
    order = np.argsort(keys)
    return keys[order], coo.data[keep][order].astype(np.float32)


def _is_plain(rule: Rule, relations: Collection[str]) -> bool:
    """Whether all variables are apart, three at most, and stand in known binary relations.

    The head atom itself is no evidence, so it must not be in the body.
    """
    variables = rule.variables
    apart = {frozenset(literal.atom.args) for literal in rule.body if _tells_apart(literal)}
    plain = [literal for literal in rule.body if not _tells_apart(literal)]
    return (
        len(variables) <= 3
        and all(isinstance(arg, Variable) for arg in rule.head.args)
        and len(set(rule.head.args)) == 2
        and all(frozenset(pair) in apart for pair in combinations(variables, 2))
        and all(
            literal.atom.predicate in relations
            and len(literal.atom.variables) == 2
            and literal.atom.arity == 2
            and literal.atom != rule.head
            for literal in plain
        )
        and _is_bound(rule, plain)
    )


def _is_bound(rule: Rule, plain: Sequence[Literal]) -> bool:
    """Whether the rule is safe; joins say what is wrong where it is not."""
    bound = {v for literal in plain if not literal.negated for v in literal.atom.variables}
    return bound >= set(rule.variables)


def _tells_apart(literal: Literal) -> bool:
    return literal.atom.predicate == "\\=" and not literal.negated and len(literal.atom.variables) == 2


def _turned(covered: Covered, n: int) -> Covered:
    keys, values = covered
    turned = keys % n * n + keys // n
    order = np.argsort(turned)
    return turned[order], values[order]
