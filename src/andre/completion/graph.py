"""A knowledge base as a directed graph: every relation is an edge type, and so is its inverse.

Beside it stands what turns one set of known facts into another: validation facts
are split off and given back, assumed facts are added.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix, hstack

from andre.arrays import Bools, Floats, Ints
from andre.errors import DataError
from andre.evaluation import smoothed_confidence
from andre.facts import MARKS, FactBase, Key, Relation, in_canonical_order

if TYPE_CHECKING:
    from andre.completion.config import CompletionConfig

#: The c of the confidences N_r / (N_b + c) that `Graph.prior` joins.
_PRIOR_SMOOTHING = 2.0


def _none() -> Ints:
    return np.zeros((0, 3), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Graph:
    """The binary facts of a knowledge base; each of its R relations is numbered twice, once per direction.

    A *step* is a relation or its inverse: step d < R follows relation d from its
    first argument to its second, step d + R the other way. A query for the second
    argument of relation d asks where step d leads, one for the first argument
    where step d + R leads, so each step is also one target of ranking.
    Facts are rows of relation, first and second argument: [N, 3].

    Examples
    --------
    >>> from andre.logic import parse_atom
    >>> graph = Graph.of(FactBase.from_facts([parse_atom("p(a, b)"), parse_atom("p(b, b)")]))
    >>> [step.toarray().tolist() for step in graph.steps]
    [[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]]]
    """

    relations: tuple[str, ...]
    n: int  #: constants
    train: Ints
    valid: Ints
    test: Ints
    denied: Ints = field(default_factory=_none)  #: training facts that are stated to be false
    assumed: Ints = field(default_factory=_none)  #: not stated by anybody, but followed by steps

    @classmethod
    def of(cls, facts: FactBase) -> Graph:
        """Take the binary relations of a fact base, with their marks."""
        binary = [relation for (_, arity), relation in facts.relations.items() if arity == 2]
        rows: dict[str, list[Ints]] = {part: [_none()] for part in (*MARKS, "denied")}
        for place, relation in enumerate(binary):
            codes = np.insert(relation.codes.astype(np.int64), 0, place, axis=1)
            false = relation.impossible
            rows["denied"].append(codes[relation.marked("train") & false])
            for mark in MARKS:
                rows[mark].append(codes[relation.marked(mark) & ~false])
        parts = {part: np.concatenate(some) for part, some in rows.items()}
        if not len(parts["train"]):
            raise DataError("there are no binary facts to learn from: completion needs facts such as p(a, b)")
        return cls(tuple(relation.name for relation in binary), len(facts.constants), **parts)

    def part(self, mark: str) -> Ints:
        """The facts of one mark, or those that are denied, [N, 3]."""
        if mark not in (*MARKS, "denied"):
            raise DataError(f"there is no mark {mark!r}: choose train, valid or test")
        found: Ints = getattr(self, mark)
        return found

    @property
    def n_steps(self) -> int:
        """The number of relations and inverses together."""
        return 2 * len(self.relations)

    def inverse(self, step: int) -> int:
        """The same relation walked the other way."""
        return (step + len(self.relations)) % self.n_steps

    @cached_property
    def steps(self) -> tuple[csr_matrix, ...]:
        """The adjacency matrix of each step, [n, n], from training and assumed facts without loops.

        The variables of a rule stand for distinct constants, so no loop is
        ever evidence.
        """
        made = []
        for step in range(self.n_steps):
            pairs = np.concatenate([self.pairs(step, "train"), self.follow(step, self.assumed)])
            x, y = pairs[pairs[:, 0] != pairs[:, 1]].T
            made.append(csr_matrix((np.ones(len(x), dtype=np.float32), (x, y)), shape=(self.n, self.n)))
        return tuple(made)

    @cached_property
    def ends(self) -> csr_matrix:
        """The adjacency matrices of all steps side by side, [n, S * n]; columns ascend in every row."""
        made: csr_matrix = hstack(self.steps, format="csr")
        made.sort_indices()
        return made

    @cached_property
    def leads(self) -> csr_matrix:
        """Which steps lead on from each constant, as a sparse matrix: [n, S]."""
        starts = [np.flatnonzero(np.diff(step.indptr)) for step in self.steps]
        kinds = np.repeat(np.arange(self.n_steps), [len(some) for some in starts])
        entries = (np.concatenate(starts), kinds)
        ones = np.ones(len(kinds), dtype=np.float32)
        return csr_matrix((ones, entries), shape=(self.n, self.n_steps))

    @cached_property
    def degrees(self) -> Ints:
        """In how many ways steps lead on from each constant: [n]."""
        return np.asarray(np.diff(self.ends.indptr), dtype=np.int64)

    @cached_property
    def loops(self) -> frozenset[tuple[int, int]]:
        """Relation and constant of each training fact of the form p(a, a)."""
        looping = self.train[self.train[:, 1] == self.train[:, 2], :2]
        return frozenset(map(tuple, looping.tolist()))

    def pairs(self, step: int, mark: str) -> Ints:
        """The facts of one mark that a step follows, as rows (from, to): [N, 2]."""
        if mark not in self._by_relation:
            facts = self.part(mark)
            facts = facts[np.argsort(facts[:, 0], kind="stable")]
            first = np.searchsorted(facts[:, 0], np.arange(len(self.relations) + 1))
            self._by_relation[mark] = facts[:, 1:], first
        facts, first = self._by_relation[mark]
        relation = step % len(self.relations)
        chosen = facts[first[relation] : first[relation + 1]]
        return chosen if step < len(self.relations) else chosen[:, ::-1]

    @cached_property
    def _by_relation(self) -> dict[str, tuple[Ints, Ints]]:
        """Facts of the marks asked about so far, in order, and where those of each relation begin."""
        return {}

    def follow(self, step: int, facts: Ints) -> Ints:
        """Those of the given facts that a step follows, as rows (from, to): [N, 2]."""
        relation = step % len(self.relations)
        chosen = facts[facts[:, 0] == relation, 1:]
        return chosen if step < len(self.relations) else chosen[:, ::-1]

    def keys(self, step: int, mark: str, starts: Ints | None = None) -> Ints:
        """The same pairs, or those from some starts, as ascending keys from * n + to: [N]."""
        start, end = self.pairs(step, mark).T
        if starts is not None:
            asked = np.zeros(self.n, dtype=np.bool_)
            asked[starts] = True
            kept = asked[start]
            start, end = start[kept], end[kept]
        return np.sort(start * self.n + end)

    def has_answer(self, step: int) -> Bools:
        """Which constants a step leads on from in the training facts: [n]."""
        found = np.zeros(self.n, dtype=np.bool_)
        found[self.pairs(step, "train")[:, 0]] = True
        return found

    def prior(self, step: int) -> Floats:
        """The chance of each constant to be an answer of a step at all, by the relations it stands in: [n].

        It is the noisy-or of rules without X in the body, h(X, Y) :- s(Y, Z), counted over
        constants. They depend on the kind of a constant, not on its name, and so apply to
        constants that are not yet the answer of any fact.

        Examples
        --------
        >>> from andre.logic import parse_atom
        >>> rows = [f"{fact}{i})" for i in range(3) for fact in ("made_in(a, c", "flag(f, c", "eats(a, m")]
        >>> facts = FactBase.from_facts(map(parse_atom, [*rows, "flag(f, c3)"]))
        >>> graph = Graph.of(facts)
        >>> prior = graph.prior(graph.relations.index("made_in"))
        >>> [round(float(prior[facts.code(name)]), 2) for name in ("c0", "c3", "m0", "a")]
        [0.5, 0.5, 0.0, 0.0]
        """
        is_answer = np.zeros(self.n)
        is_answer[self.pairs(step, "train")[:, 1]] = 1.0
        members = np.asarray(self.leads.sum(axis=0), dtype=np.float64).ravel()  # [S]
        confidence = smoothed_confidence(members, is_answer @ self.leads, _PRIOR_SMOOTHING)
        confidence[self.inverse(step)] = 0.0  # being an answer already is popularity
        return np.asarray(0.0 - np.expm1(self.leads @ np.log1p(-confidence)))

    def known(self, step: int, marks: tuple[str, ...]) -> csr_matrix:
        """The adjacency matrix of a step by the facts of these marks, loops included: [n, n]."""
        x, y = np.concatenate([self.pairs(step, mark) for mark in marks]).T
        return csr_matrix((np.ones(len(x), dtype=np.bool_), (x, y)), shape=(self.n, self.n))


def with_validation(facts: FactBase, config: CompletionConfig) -> FactBase:
    """The same facts with validation facts: where none are marked, a share of each relation's training facts.

    Their order does not depend on the order of lines in a file.

    Examples
    --------
    >>> from andre.completion import CompletionConfig
    >>> edge = Relation("edge", np.array([[i, i + 1] for i in range(20)]))
    >>> base = FactBase.from_relations(map(str, range(21)), [edge])
    >>> with_validation(base, CompletionConfig()).relations["edge", 2].count("valid")
    2
    """
    facts = in_canonical_order(facts)
    sizes = split_off(facts, config)
    if not sizes:
        return facts
    rng = np.random.default_rng(config.seed)
    relations = dict(facts.relations)
    for key, size in sizes.items():
        relation = facts.relations[key]
        chosen = rng.choice(np.flatnonzero(relation.marked("train")), size, replace=False)
        mark = relation.column("mark").copy()
        mark[chosen] = 1
        relations[key] = replace(relation, mark=mark)
    return replace(facts, relations=relations)


def split_off(facts: FactBase, config: CompletionConfig) -> dict[Key, int]:
    """How many training facts of each binary relation choose; empty where validation facts are marked.

    Examples
    --------
    >>> from andre.completion import CompletionConfig
    >>> edge = Relation("edge", np.array([[i, i + 1] for i in range(20)]))
    >>> split_off(FactBase.from_relations(map(str, range(21)), [edge]), CompletionConfig())
    {('edge', 2): 2}
    """
    binary = [relation for (_, arity), relation in facts.relations.items() if arity == 2]
    if any(relation.count("valid") for relation in binary):
        return {}
    total = sum(relation.count("train") for relation in binary)
    share = min(config.valid_share, config.valid_most / max(1, total))
    return {relation.key: round(relation.count("train") * share) for relation in binary}


def validation_as_training(facts: FactBase) -> FactBase:
    """The same facts with every validation fact turned into a training fact.

    Examples
    --------
    >>> edge = Relation("edge", np.array([[0, 1], [1, 2]]), mark=np.array([0, 1], dtype=np.uint8))
    >>> validation_as_training(FactBase.from_relations("abc", [edge])).relations["edge", 2].count("train")
    2
    """
    relations = dict(facts.relations)
    for key, relation in facts.relations.items():
        if relation.mark is not None:
            mark = np.where(relation.marked("valid"), 0, relation.mark).astype(np.uint8)
            relations[key] = replace(relation, mark=mark)
    return replace(facts, relations=relations)


def with_assumed(facts: FactBase, graph: Graph) -> FactBase:
    """The training facts together with those that a graph assumes."""
    known = facts.select("train")
    for place, name in enumerate(graph.relations):
        if len(more := graph.assumed[graph.assumed[:, 0] == place, 1:].astype(np.int32)):
            known = known.with_relation(Relation.concat([known.relations[name, 2], Relation(name, more)]))
    return known
