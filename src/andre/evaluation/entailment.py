"""Entailment: which head atoms a program derives, against which of them are true."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, astuple, dataclass, replace
from math import prod
from typing import Any

import numpy as np

from andre.arrays import Ints, is_among
from andre.errors import DataError
from andre.facts import FactBase, Key, Relation, argument_domains
from andre.inference import Engine, Model, infer, tabled
from andre.logic import Program


class Shares:
    """Accuracy, precision and recall of anything that counts true and false positives and negatives."""

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
    """How many head atoms are true or false positives or negatives.

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
        return Confusion(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


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
    names = ("accuracy", "precision", "recall")
    return {**{name: getattr(counts, name) for name in names}, **asdict(counts)}


def entailment(
    program: Program,
    facts: FactBase,
    *,
    heads: Iterable[Key] = (),
    mark: str | None = None,
    engine: str | Engine = "auto",
) -> Entailment:
    """Judge a program by the head atoms that it derives.

    Head atoms that are marked are judged, and the program reads the training
    facts; without marks all atoms of the heads are judged and it reads none of them.

    An atom counts as derived, and as true, where its probability is above 0.5,
    and as false where it is denied or below 0.5; at exactly 0.5 it is neither,
    and is not judged. Where some atoms of a head are denied, or the world is
    open, only stated and denied atoms are judged. Otherwise every atom over the
    constants of its arguments' types, or that the program puts there, is judged,
    and false unless it is stated: the examples that `learn` counts in mode
    `define`; see `andre.facts.argument_domains`.

    Parameters
    ----------
    facts
        All that is known, background rules included.
    heads
        Relations to judge though no rule of the program may define them.
    mark
        `test` or `valid`; by default `test` where a head has such facts, else none.

    Raises
    ------
    DataError
        Where no head has a fact to judge.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_program
    >>> atoms = map(parse_atom, ["p(a, b)", "p(b, c)", "h(a, b)"])
    >>> facts = FactBase.from_facts(atoms, negatives=[parse_atom("h(b, c)")])
    >>> entailment(parse_program("h(X, Y) :- p(X, Y)."), facts).overall.accuracy
    0.5

    Without denied atoms, those that are not stated are false:

    >>> atoms = ["smart(a)", "reads(a)", "person(a)", "person(b)", "person(c)"]
    >>> people = FactBase.from_facts(map(parse_atom, atoms))
    >>> entailment(parse_program("smart(X) :- reads(X)."), people).overall.true_negatives
    2
    """
    # What Prolog says begins at the terms of the examples, of which the program reads none.
    facts = tabled(facts)
    defined = (rule.head.key for rule in program)
    keys = tuple(dict.fromkeys([*defined, *heads]))
    found = {key: facts.relations[key] for key in keys if key in facts.relations}
    if mark is None and any(relation.count("test") for relation in found.values()):
        mark = "test"
    evidence = facts.select("train")
    if mark is None:
        others = {key: relation for key, relation in evidence.relations.items() if key not in found}
        evidence = replace(evidence, relations=others)
    judged = {key: known if mark is None else known.take(known.marked(mark)) for key, known in found.items()}
    judged = {key: relation for key, relation in judged.items() if len(relation)}
    if not judged:
        names = ", ".join(f"{name}/{arity}" for name, arity in keys) or "no relation"
        which = f" marked {mark}" if mark else ""
        raise DataError(
            f"there is nothing to judge: the program defines {names}, of which no fact{which} is given"
        )
    model = infer(program, evidence, engine=engine)
    counts = {key: _judge(model, relation) for key, relation in judged.items()}
    closed = [key for key in judged if found[key].negative is None and facts.world == "closed"]
    if closed:
        # What background rules derive tells of types, too.
        known = replace(model.stated, relations={**model.stated.relations, **found})
        for key in closed:
            counts[key] += _unstated(model, found[key], argument_domains(known, key))
    which = f"atoms marked {mark}" if mark else "all atoms given"
    if closed:
        rest = "every other atom over the constants of their types is false"
    else:
        rest = "with denied ones" if facts.world == "closed" else "with denied ones: the world is open"
    return Entailment(counts, f"{which}, {rest}")


def _judge(model: Model, judged: Relation) -> Confusion:
    """Stated and denied atoms against what is derived."""
    derived = model.probabilities(judged.key, judged.codes) > 0.5
    chance = np.where(judged.column("negative"), 0.0, judged.column("probability"))
    true, false = chance > 0.5, chance < 0.5
    cases = (derived & true, derived & false, ~derived & true, ~derived & false)
    return Confusion(*(int(case.sum()) for case in cases))


def _unstated(model: Model, known: Relation, domains: Iterable[Ints]) -> Confusion:
    """The atoms of a relation that are not stated, all false: how many are derived, and how many are not."""
    derived = model.derived.relations.get(known.key)
    new = known.codes[:0]
    if derived is not None:
        likely = derived.codes[derived.column("probability") > 0.5]
        new = likely[~is_among(likely, known.codes, len(model.facts.constants))]
    places = [np.union1d(domain, new[:, place]) for place, domain in enumerate(domains)]
    others = prod(map(len, places)) - len(known)
    return Confusion(false_positives=len(new), true_negatives=others - len(new))
