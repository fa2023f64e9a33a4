"""Models: the stated facts, and those that a program adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats, Ints, is_among, row_keys
from andre.facts import FactBase, Key, Relation
from andre.inference.coded import CodedProgram, Rows, doubted
from andre.logic import Atom, Constant


@dataclass(frozen=True, eq=False)
class Model:
    """All that holds: stated facts and derived ones, each with its probability.

    Examples
    --------
    >>> from andre.inference.run import infer
    >>> from andre.logic import Program, parse_atom, parse_program
    >>> facts = FactBase.from_facts([parse_atom("p(a)")], probabilities=[0.8])
    >>> model = infer(parse_program("q(X) :- p(X), \\\\+ r(X)."), facts)
    >>> model.probability(parse_atom("q(a)")), parse_atom("r(a)") in model
    (0.8, False)
    >>> print(*model)
    q(a)
    >>> unstated, opened = parse_atom("r(a)"), infer(Program(), replace(facts, world="open"))
    >>> model.truth(unstated), opened.truth(unstated)
    (False, None)
    """

    stated: FactBase  #: the given facts, and those that their background rules derive
    derived: FactBase  #: the atoms that were not stated, or stated with a lower probability
    engine: str  #: the name of the engine that computed it
    _orders: dict[Key, tuple[Ints, NDArray[np.intp]]] = field(default_factory=dict, init=False, repr=False)
    _doubted: dict[Key, frozenset[tuple[int, ...]]] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, program: CodedProgram, facts: FactBase, found: Mapping[int, Rows], engine: str) -> Model:
        """The model from the rows of an engine."""
        relations = [Relation(program.keys[n][0], rows.codes, rows.values) for n, rows in found.items()]
        by_key = {relation.key: relation for relation in relations if len(relation)}
        if len(program.constants) > len(facts.constants):
            facts = replace(facts, constants=program.constants)
        return cls(facts, FactBase(facts.constants, by_key, world=facts.world), engine)

    @cached_property
    def facts(self) -> FactBase:
        """All that holds, as facts without rules."""
        relations = dict(self.stated.relations)
        for key, added in self.derived.relations.items():
            relations[key] = added
            if known := self.stated.relations.get(key):
                raised = is_among(known.codes, added.codes, len(self.stated.constants))
                relations[key] = Relation.concat([known.take(~raised), added])
        return replace(self.stated, relations=relations)

    def probability(self, atom: Atom) -> float:
        """The probability of a ground atom; 0 if it is neither stated nor derived."""
        codes = self._codes(atom)
        if codes is None:
            return 0.0
        row = np.array([codes], dtype=np.int32).reshape(1, atom.arity)
        return float(self.probabilities(atom.key, row)[0])

    def negation(self, atom: Atom) -> float:
        """The probability of the negation of a ground atom: 1 minus that of the atom.

        In an open world it is 0 unless a fact denies the atom or states it with
        less than certainty: an unknown atom is not false.
        """
        return 0.0 if self._is_beyond_doubt(atom) else 1 - self.probability(atom)

    def truth(self, atom: Atom) -> bool | None:
        """Whether a ground atom holds (True), its negation does (False), or neither (None).

        Neither holds for an atom that is unknown in an open world, or at a probability
        of exactly one half.
        """
        if self.probability(atom) > 0.5:
            return True
        return False if self.negation(atom) > 0.5 else None

    def _is_beyond_doubt(self, atom: Atom) -> bool:
        """Whether the world is open and no fact doubts an atom."""
        if self.stated.world == "closed":
            return False
        if atom.key not in self._doubted:
            relation = self.stated.relations.get(atom.key)
            rows = [] if relation is None else relation.codes[doubted(relation)].tolist()
            self._doubted[atom.key] = frozenset(map(tuple, rows))
        return self._codes(atom) not in self._doubted[atom.key]

    def _codes(self, atom: Atom) -> tuple[int, ...] | None:
        """The codes of an atom's constants; None if one of them occurs in no fact or rule."""
        codes = [self.facts.code(arg.value) if isinstance(arg, Constant) else None for arg in atom.args]
        return None if None in codes else tuple(code for code in codes if code is not None)

    def probabilities(self, key: Key, rows: NDArray[Any]) -> Floats:
        """The probabilities of atoms of one relation, given as rows of codes."""
        result = np.zeros(len(rows))
        relation = self.facts.relations.get(key)
        if relation is None or not len(relation) or not len(rows):
            return result
        known, order, asked = self._lookup(relation, rows)
        place = order[np.searchsorted(known, asked, sorter=order).clip(max=len(known) - 1)]
        hit = known[place] == asked
        if relation.negative is not None:
            hit &= ~relation.negative[place]
        result[hit] = 1.0 if relation.probability is None else relation.probability[place[hit]]
        return result

    def _lookup(self, relation: Relation, rows: NDArray[Any]) -> tuple[Ints, NDArray[np.intp], Ints]:
        """Keys of the known rows with their order, and of the rows asked for."""
        n_constants = len(self.facts.constants)
        if n_constants**relation.arity >= 2**63:  # keys then depend on what they are made with
            keys = row_keys(np.concatenate([relation.codes, rows]), n_constants)
            known = keys[: len(relation)]
            return known, np.argsort(known), keys[len(relation) :]
        if relation.key not in self._orders:
            known = row_keys(relation.codes, n_constants)
            self._orders[relation.key] = known, np.argsort(known)
        return *self._orders[relation.key], row_keys(rows, n_constants)

    def __contains__(self, atom: Atom) -> bool:
        return self.probability(atom) > 0.5

    def __iter__(self) -> Iterator[Atom]:
        """The derived atoms."""
        for name, arity in self.derived.relations:
            yield from self.derived.atoms(name, arity)

    def __len__(self) -> int:
        return len(self.derived)
