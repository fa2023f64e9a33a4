"""The census by brute force: every grounding is visited, every atom looked up."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np

from andre.census import Census
from andre.facts import FactBase
from andre.logic import Atom, Variable
from andre.samples import Language

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Comparable:
    """What a census must say, in plain Python."""

    atoms: tuple[Atom, ...]
    groundings: int
    dropped: float
    #: Of each row, or of each bag (a set of rows): positives, negatives, and in exists head atoms.
    weights: dict[Any, tuple[float, ...]]


def level(p: float) -> float:
    """One half stays what it is: on either level beside it the atom or its negation would hold."""
    return 31.5 if p == 0.5 else max(0, math.ceil(p * 63 - 0.5))


class Brute:
    def __init__(self, facts: FactBase, language: Language) -> None:
        self.facts, self.language = facts, language
        self.key = language.key(facts)
        self.space = language.space(facts)
        self.evidence: dict[tuple[str, int], dict[tuple[int, ...], int]] = {}
        self.truth: dict[tuple[int, ...], float] = {}
        self.seen: set[int] = set(range(len(facts.constants))) if language.held_out else set()
        for key, relation in facts.relations.items():
            table = self.evidence.setdefault(key, {})
            for row, codes in enumerate(relation.codes.tolist()):
                mark = 0 if relation.mark is None else int(relation.mark[row])
                p = 1.0 if relation.probability is None else float(relation.probability[row])
                denied = relation.negative is not None and bool(relation.negative[row])
                if mark:
                    continue
                self.seen.update(codes)
                table[tuple(codes)] = 0 if denied else level(p)
                if key == self.key:
                    self.truth[tuple(codes)] = 0.0 if denied else p
        relation = facts.relations[self.key]
        train = relation.take(relation.marked("train"))
        self.train = [tuple(codes) for codes in train.codes.tolist()]
        self.stated_only = facts.world == "open" or train.negative is not None
        if not self.stated_only:  # there a probability of 0 says what silence says
            self.truth = {codes: p for codes, p in self.truth.items() if p}

    def cell(self, atom: Atom, codes: dict[Variable, int], head: tuple[int, ...] | None) -> int | str:
        args = tuple(
            codes[arg] if isinstance(arg, Variable) else self.facts.code(arg.value) for arg in atom.args
        )
        if atom.predicate == "\\=":
            return 63 if args[0] != args[1] else 0
        if atom.predicate == "<":
            one, two = (self.facts.constants[arg] for arg in args)
            return 63 if not isinstance(one, str) and not isinstance(two, str) and one < two else 0
        if (atom.predicate, atom.arity) == self.key and args == head:
            return UNKNOWN
        absent = UNKNOWN if self.facts.world == "open" else 0
        return self.evidence[atom.predicate, atom.arity].get(args, absent)

    def domains(self, semantics: str, mode: str) -> list[list[int]]:
        if semantics == "rows":
            return [sorted(set(column)) for column in zip(*self.train, strict=True)]
        if mode == "complete":
            return [sorted(self.seen)] * self.key[1]
        types = self.language.types_of(self.facts.select("train"))
        result = []
        for kind in types[self.key]:
            members = set()
            for key, relation in self.facts.select("train").relations.items():
                kept = relation.codes.tolist()
                members |= {c for row in kept for c, t in zip(row, types[key], strict=True) if t == kind}
            result.append(sorted(members))
        return result

    def negative(self, head: tuple[int, ...], mode: str) -> float:
        if head in self.truth:
            return 1 - self.truth[head]
        if self.stated_only:
            return 0
        if mode == "complete" and len(head) == 2:
            return sum((fact[0] == head[0]) + (fact[1] == head[1]) for fact in self.truth)
        return 1

    def take(
        self,
        semantics: str,
        mode: str = "define",
        identity: bool | None = None,
        times: Mapping[tuple[int, ...], int] | None = None,
    ) -> Comparable:
        """All that there is; in exists with `times` these head atoms, each standing for so many."""
        if identity is None:
            identity = semantics == "exists" and mode == "complete"
        variables = [Variable(f"X{i + 1}") for i in range(self.language.variables)]
        domains = self.domains(semantics, mode)
        domains += [sorted(self.seen)] * (len(variables) - len(domains))
        arity = self.key[1]
        listed: list[tuple[tuple[int, ...], tuple[Any, ...]]] = []
        for values in product(*domains):
            if identity and len(set(values)) < len(values):
                continue
            codes = dict(zip(variables, values, strict=True))
            head = values[:arity]
            guard = head if semantics == "exists" else None
            listed.append((head, tuple(self.cell(atom, codes, guard) for atom in self.space.atoms)))
        groundings = len(listed)
        if times is not None:
            listed = [(head, row) for head, row in listed if head in times]
        keep = [self._keeps(atom, [row[i] for _, row in listed]) for i, atom in enumerate(self.space.atoms)]
        listed = [(h, tuple(c for c, k in zip(row, keep, strict=True) if k)) for h, row in listed]
        atoms = tuple(atom for atom, kept in zip(self.space.atoms, keep, strict=True) if kept)
        dropped = 0.0
        if identity and arity == 2 and semantics == "exists":
            dropped = sum(p for head, p in self.truth.items() if head[0] == head[1])
        if semantics == "exists":
            return Comparable(atoms, groundings, dropped, self._bags(listed, mode, times))
        weights: dict[Any, list[float]] = {}
        for head, row in listed:
            blank = all(
                cell in (0, UNKNOWN) for cell, atom in zip(row, atoms, strict=True) if not atom.is_builtin
            )
            p = self.truth.get(head, 0.0)
            if blank:
                dropped += p
            entry = weights.setdefault(row, [0.0, 0.0])
            entry[0] += 0.0 if blank else p
            entry[1] += self.negative(head, "define")
        kept_rows = {row: tuple(entry) for row, entry in weights.items() if any(entry)}
        return Comparable(atoms, groundings, dropped, kept_rows)

    def _keeps(self, atom: Atom, column: list[Any]) -> bool:
        some = any(cell not in (0, UNKNOWN) for cell in column)
        return some and (not atom.is_builtin or len(set(column)) > 1)

    def _bags(
        self,
        listed: list[tuple[tuple[int, ...], tuple[Any, ...]]],
        mode: str,
        times: Mapping[tuple[int, ...], int] | None,
    ) -> dict[Any, tuple[float, ...]]:
        rows: dict[tuple[int, ...], set[Any]] = {}
        for head, row in listed:
            rows.setdefault(head, set()).add(row)
        weights: dict[Any, list[float]] = {}
        for head, bag in rows.items():
            entry = weights.setdefault(frozenset(bag), [0.0, 0.0, 0.0])
            count = 1 if times is None else times[head]
            entry[0] += count * self.truth.get(head, 0.0)
            entry[1] += count * self.negative(head, mode)
            entry[2] += count
        return {bag: tuple(entry) for bag, entry in weights.items()}


def comparable(census: Census) -> Comparable:
    """A census in the oracle's words."""
    rows = [
        tuple(UNKNOWN if np.isnan(value) else level(value) for value in row)
        for row in census.valuations.tolist()
    ]
    assert len(set(rows)) == len(rows), "rows are distinct"
    weights: dict[Any, tuple[float, ...]]
    if census.heads is None:
        weights = {
            row: (float(p), float(n))
            for row, p, n in zip(rows, census.positives, census.negatives, strict=True)
        }
    else:
        assert census.members is not None
        starts, members = census.members.starts, census.members.rows
        bags = [frozenset(rows[place] for place in members[a:b].tolist()) for a, b in pairwise(starts)]
        assert max(Counter(bags).values()) == 1, "bags are distinct"
        weights = {
            bag: (float(p), float(n), float(h))
            for bag, p, n, h in zip(bags, census.positives, census.negatives, census.heads, strict=True)
        }
    return Comparable(census.space.atoms, census.groundings, census.dropped, weights)
