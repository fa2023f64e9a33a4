"""Entailment: which head atoms a program derives, against which of them are true."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from andre.arrays import Bools
from andre.errors import DataError
from andre.facts import FactBase, Key, Relation
from andre.inference import Engine, Model, infer, is_among
from andre.logic import Program

__all__ = ["Confusion", "Entailment", "Examples", "Shares", "entailment"]


class Shares:
    """Shares of anything that counts the four cases of a judgement."""

    true_positives: float
    false_positives: float
    false_negatives: float
    true_negatives: float

    @property
    def total(self) -> float:
        """How many were judged."""
        return self.true_positives + self.false_positives + self.false_negatives + self.true_negatives

    @property
    def accuracy(self) -> float | None:
        """The share judged rightly; None where there are none."""
        return _share(self.true_positives + self.true_negatives, self.total)

    @property
    def precision(self) -> float | None:
        """The share of true ones among the derived; None where nothing is derived."""
        return _share(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float | None:
        """The share of derived ones among the true; None where nothing is true."""
        return _share(self.true_positives, self.true_positives + self.false_negatives)


@dataclass(frozen=True)
class Confusion(Shares):
    """Head atoms by what they are and what the program says.

    Examples
    --------
    >>> counts = Confusion(true_positives=6, false_positives=2, false_negatives=0, true_negatives=2)
    >>> counts.accuracy, counts.precision, counts.recall
    (0.8, 0.75, 1.0)
    """

    true_positives: int = 0
    false_positives: int = 0
    false_negatives: int = 0
    true_negatives: int = 0

    def __add__(self, other: Confusion) -> Confusion:
        return Confusion(
            self.true_positives + other.true_positives,
            self.false_positives + other.false_positives,
            self.false_negatives + other.false_negatives,
            self.true_negatives + other.true_negatives,
        )


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True)
class Examples:
    """The head atoms to judge, and what the program may read.

    Atoms of the heads that are marked are judged, and the program reads the
    rest; without marks all atoms of the heads are judged and it reads none.
    """

    heads: tuple[Key, ...]
    judged: Mapping[Key, Relation]
    evidence: FactBase
    mark: str | None  #: the mark that was judged, or None

    @classmethod
    def of(cls, facts: FactBase, heads: Iterable[Key], mark: str | None = None) -> Examples:
        """Split facts into what is judged and what is read.

        Parameters
        ----------
        facts
            All that is known, background rules included.
        heads
            The relations that the program defines.
        mark
            `test` or `valid`; by default `test` where a head has such facts,
            else none.

        Raises
        ------
        DataError
            Where no head has a fact to judge.
        """
        heads = tuple(dict.fromkeys(heads))
        found = {key: facts.relations[key] for key in heads if key in facts.relations}
        if mark is None and any(relation.count("test") for relation in found.values()):
            mark = "test"
        if mark is not None:
            judged = {key: relation.take(relation.marked(mark)) for key, relation in found.items()}
            evidence = facts.select("train")
        else:
            judged = found
            others = {key: relation for key, relation in facts.relations.items() if key not in found}
            evidence = replace(facts, relations=others)
        judged = {key: relation for key, relation in judged.items() if len(relation)}
        if not judged:
            names = ", ".join(f"{name}/{arity}" for name, arity in heads) or "no relation"
            which = f" marked {mark}" if mark else ""
            raise DataError(
                f"there is nothing to judge: the program defines {names}, of which no fact{which} is given"
            )
        return cls(heads, judged, evidence, mark)


@dataclass(frozen=True)
class Entailment:
    """How a program fares on head atoms, in all and for each head."""

    heads: Mapping[Key, Confusion]
    protocol: str  #: which atoms were judged, in words

    @property
    def overall(self) -> Confusion:
        """All heads together."""
        return sum(self.heads.values(), start=Confusion())

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain values, for JSON."""
        return {
            "protocol": self.protocol,
            **_figures(self.overall),
            "heads": {f"{name}/{arity}": _figures(counts) for (name, arity), counts in self.heads.items()},
        }


def _figures(counts: Confusion) -> dict[str, Any]:
    return {
        "accuracy": counts.accuracy,
        "precision": counts.precision,
        "recall": counts.recall,
        "true_positives": counts.true_positives,
        "false_positives": counts.false_positives,
        "false_negatives": counts.false_negatives,
        "true_negatives": counts.true_negatives,
    }


def entailment(
    program: Program,
    facts: FactBase,
    *,
    heads: Iterable[Key] = (),
    mark: str | None = None,
    engine: str | Engine = "auto",
) -> Entailment:
    """Judge a program by the head atoms that it derives.

    An atom counts as derived, and as true, where its probability is above 0.5.
    Where some atoms of a head are denied, only stated and denied atoms are
    judged. Otherwise the world is closed: every atom over the constants that
    stand in its place in some fact of the head, or that the program puts
    there, is judged, and false unless it is stated. Relations in `heads` are
    judged too where no rule of the program defines them.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_program
    >>> atoms = map(parse_atom, ["p(a, b)", "p(b, c)", "h(a, b)"])
    >>> facts = FactBase.from_facts(atoms, negatives=[parse_atom("h(b, c)")])
    >>> entailment(parse_program("h(X, Y) :- p(X, Y)."), facts).overall.accuracy
    0.5
    """
    defined = [(rule.head.predicate, rule.head.arity) for rule in program]
    examples = Examples.of(facts, [*defined, *heads], mark)
    model = infer(program, examples.evidence, engine=engine)
    counts, closed = {}, False
    for key, judged in examples.judged.items():
        known = facts.relations[key]
        if known.negative is not None:
            counts[key] = _judge(model, judged)
        else:
            counts[key], closed = _judge_closed(model, judged, known), True
    which = f"atoms marked {examples.mark}" if examples.mark else "all atoms given"
    world = "every other atom over the constants in their places is false" if closed else "with denied ones"
    return Entailment(counts, f"{which}, {world}")


def _judge(model: Model, judged: Relation) -> Confusion:
    derived = model.probabilities(judged.key, judged.codes) > 0.5
    true = _is_true(judged)
    return Confusion(
        int((derived & true).sum()),
        int((derived & ~true).sum()),
        int((~derived & true).sum()),
        int((~derived & ~true).sum()),
    )


def _is_true(relation: Relation) -> Bools:
    true = np.ones(len(relation), dtype=bool) if relation.probability is None else relation.probability > 0.5
    return true if relation.negative is None else true & ~relation.negative


def _judge_closed(model: Model, judged: Relation, known: Relation) -> Confusion:
    """Judge stated atoms one by one, and count the rest."""
    stated = _judge(model, judged)
    derived = model.derived.relations.get(judged.key)
    new = np.empty((0, judged.arity), dtype=np.int32)
    if derived is not None:
        likely = derived.codes if derived.probability is None else derived.codes[derived.probability > 0.5]
        new = likely[~is_among(likely, known.codes, len(model.facts.constants))]
    places = [np.union1d(known.codes[:, place], new[:, place]) for place in range(judged.arity)]
    others = prod(map(len, places)) - len(known)
    return stated + Confusion(false_positives=len(new), true_negatives=others - len(new))
