"""Entailment: which head atoms a program derives, against which of them are true.

Old rules on new facts: what each of them covers there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.errors import DataError
from andre.facts import FactBase, Key, Relation, row_keys
from andre.inference import Engine, Model, infer
from andre.logic import Atom, Evidence, Literal, Program, Rule, Variable

__all__ = ["Confusion", "Entailment", "Examples", "Shares", "entailment", "rescore"]


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


def _is_true(relation: Relation) -> NDArray[np.bool_]:
    true = np.ones(len(relation), dtype=bool) if relation.probability is None else relation.probability > 0.5
    return true if relation.negative is None else true & ~relation.negative


def _judge_closed(model: Model, judged: Relation, known: Relation) -> Confusion:
    """Judge stated atoms one by one, and count the rest."""
    stated = _judge(model, judged)
    derived = model.derived.relations.get(judged.key)
    new = np.empty((0, judged.arity), dtype=np.int32)
    if derived is not None:
        likely = derived.codes if derived.probability is None else derived.codes[derived.probability > 0.5]
        n_constants = len(model.facts.constants)
        keys = row_keys(np.concatenate([known.codes, likely]), n_constants)
        new = likely[~np.isin(keys[len(known) :], keys[: len(known)])]
    places = [np.union1d(known.codes[:, place], new[:, place]) for place in range(judged.arity)]
    others = prod(map(len, places)) - len(known)
    return stated + Confusion(false_positives=len(new), true_negatives=others - len(new))


def rescore(
    program: Program, facts: FactBase, split: str = "train", *, engine: str | Engine = "auto"
) -> Program:
    """Count N_b and N_r of every rule anew.

    A body is read off the facts in one step, those of the rule's own head
    among them, but no grounding counts the very atom it derives as evidence.
    Where some atoms of a head are denied, only stated and denied ones count.
    A rule's own probability says nothing about its body and is kept as it is.

    Parameters
    ----------
    facts
        The facts to count on, whatever their marks.
    split
        What the counts are called; counts of other splits stay.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_program
    >>> facts = FactBase.from_facts(map(parse_atom, ["p(a,b)", "p(b,c)", "p(a,c)", "p(c,d)"]))
    >>> rules = rescore(parse_program("p(X,Y) :- p(X,Z), p(Z,Y)."), facts)
    >>> print(rules.rules[0].on("train"))
    train: N_b=3, N_r=1, N_r/N_b=0.3333
    """
    heads = [f"{rule.head.predicate} by rule {number}" for number, rule in enumerate(program)]
    parts = [part for rule, name in zip(program, heads, strict=True) for part in _unsupported(rule, name)]
    model = infer(Program(tuple(parts)), facts, engine=engine)
    counted = []
    for rule, name in zip(program, heads, strict=True):
        found = model.derived.relations.get((name, rule.head.arity))
        rows = np.empty((0, rule.head.arity), dtype=np.int32) if found is None else found.codes
        if found is not None and found.probability is not None:
            rows = rows[found.probability > 0.5]
        key = rule.head.predicate, rule.head.arity
        rows = _judged(rows, model.stated.relations.get(key), len(model.stated.constants))
        right = int((model.probabilities(key, rows) > 0.5).sum())
        others = [item for item in rule.evidence if item.split != split]
        counted.append(rule.with_evidence(Evidence(split, float(len(rows)), float(right)), *others))
    return Program(tuple(counted))


def _judged(rows: NDArray[Any], known: Relation | None, n_constants: int) -> NDArray[Any]:
    """The rows that say anything about a rule: all in a closed world, else those that are stated."""
    if known is None or known.negative is None:
        return rows
    keys = row_keys(np.concatenate([known.codes, rows]), n_constants)
    kept: NDArray[Any] = rows[np.isin(keys[len(known) :], keys[: len(known)])]
    return kept


def _unsupported(rule: Rule, name: str) -> list[Rule]:
    """The rule under another head, so that no grounding reads the atom it derives: in parts, if need be."""
    key = (rule.head.predicate, rule.head.arity)
    own = [lit for lit in rule.body if (lit.atom.predicate, lit.atom.arity) == key]
    # An atom differs from the head where one of its arguments does.
    ways = []
    for literal in own:
        both = zip(literal.atom.args, rule.head.args, strict=True)
        ways.append([pair for pair in both if pair[0] != pair[1]])
    head = Atom(name, rule.head.args)
    parts = []
    for way in product(*ways):
        apart = tuple(
            Literal(Atom("\\=", pair))
            for pair in dict.fromkeys(way)
            if any(isinstance(t, Variable) for t in pair)
        )
        parts.append(Rule(head, rule.body + apart))
    return parts
