"""Entailment: the head atoms that a program derives, compared with those that are true."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from andre.arrays import Bools, Ints, is_among
from andre.errors import DataError
from andre.facts import FactBase, Key, Relation, argument_domains
from andre.inference import BodyEvaluator, Engine, Model, built_terms, infer, tabled
from andre.logic import Atom, Constant, Program, format_count

#: The most atoms that are listed for each kind of mistake.
_LISTED = 100


class Shares:
    """Accuracy, precision and recall, from the numbers of true and false positives and negatives."""

    true_positives: float
    false_positives: float
    false_negatives: float
    true_negatives: float

    @property
    def total(self) -> float:
        """The number of judged examples."""
        return self.true_positives + self.false_positives + self.false_negatives + self.true_negatives

    @property
    def accuracy(self) -> float | None:
        """The share of right judgements; None if there are none."""
        return _share(self.true_positives + self.true_negatives, self.total)

    @property
    def precision(self) -> float | None:
        """The share of derived examples that are true; None if none is derived."""
        return _share(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float | None:
        """The share of true examples that are derived; None if none is true."""
        return _share(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def summary(self) -> str:
        """Precision and recall in words, with the counts behind them."""
        true = self.true_positives + self.false_negatives
        derived = f"{format_count(self.true_positives, ',')} of {format_count(true, ',')} derived"
        wrong = f"{format_count(self.false_positives, ',')} wrong" if self.false_positives else "none wrong"
        precision, recall = (
            "-" if share is None else f"{share:.4f}" for share in (self.precision, self.recall)
        )
        return f"precision {precision}, recall {recall} ({derived}, {wrong})"

    def shares(self) -> dict[str, float | None]:
        """Accuracy, precision and recall by their names."""
        return {"accuracy": self.accuracy, "precision": self.precision, "recall": self.recall}


@dataclass(frozen=True)
class Confusion(Shares):
    """The numbers of head atoms that are true or false positives or negatives.

    Examples
    --------
    >>> counts = Confusion(true_positives=6, false_positives=2, false_negatives=0, true_negatives=2)
    >>> counts.accuracy, counts.precision, counts.recall
    (0.8, 0.75, 1.0)
    >>> counts.summary
    'precision 0.7500, recall 1.0000 (6 of 6 derived, 2 wrong)'
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
class Misjudged:
    """Atoms that a program is wrong about: all of them if they are few, else the first ones.

    Examples
    --------
    >>> print(Misjudged.of("h", ["a", "b"], np.array([[0], [1]]), np.zeros((0, 1), dtype=int)).missed[1])
    h(b)
    """

    missed: tuple[Atom, ...] = ()  #: true, and not derived
    wrong: tuple[Atom, ...] = ()  #: derived, and not true

    @classmethod
    def of(cls, name: str, constants: Sequence[Any], missed: Ints, wrong: Ints) -> Misjudged:
        """The atoms of a relation by the codes of their constants, [atoms, arity] each."""
        return cls(*(_atoms(name, constants, codes[:_LISTED]) for codes in (missed, wrong)))


def _atoms(name: str, constants: Sequence[Any], codes: Ints) -> tuple[Atom, ...]:
    return tuple(Atom(name, tuple(Constant(constants[code]) for code in row)) for row in codes.tolist())


@dataclass(frozen=True)
class Entailment:
    """The results of a program on head atoms, overall and for each head."""

    heads: Mapping[Key, Confusion]
    protocol: str  #: which atoms were judged, in words
    misjudged: Mapping[Key, Misjudged] = field(default_factory=dict)  #: some for each head

    @property
    def overall(self) -> Confusion:
        """All heads together."""
        return sum(self.heads.values(), start=Confusion())

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain values, for JSON."""
        return {
            "protocol": self.protocol,
            **_figures(self.overall),
            "heads": {
                f"{key[0]}/{key[1]}": {
                    **_figures(counts),
                    **{kind: list(map(str, atoms)) for kind, atoms in vars(self._misjudged(key)).items()},
                }
                for key, counts in self.heads.items()
            },
        }

    def _misjudged(self, key: Key) -> Misjudged:
        return self.misjudged.get(key, Misjudged())


def _figures(counts: Confusion) -> dict[str, Any]:
    return {**counts.shares(), **asdict(counts)}


def entailment(
    program: Program,
    facts: FactBase,
    *,
    heads: Iterable[Key] = (),
    mark: str | None = None,
    engine: str | Engine = "auto",
    completes: bool = False,
) -> Entailment:
    """Judge a program by the head atoms that it derives.

    If some head atoms are marked, these are judged, and the program reads the training
    facts. Without marks all atoms of the heads are judged, and it reads none of them,
    unless it `completes`.

    An atom counts as derived, and as true, if its probability is above 0.5,
    and as false if it is denied or below 0.5; at exactly 0.5 it is neither,
    and is not judged. If some atoms of a head are denied, or the world is
    open, only stated and denied atoms are judged. Otherwise every atom over the
    constants of its arguments' types, or derived by the program, is judged,
    and false unless it is stated: the examples that `learn` counts in mode
    `define`; see `andre.facts.argument_domains`. Terms that only a background in Prolog
    builds, such as the rest of a list, are left out, unless no other atom would be false.

    Parameters
    ----------
    facts
        All facts, including background rules.
    heads
        Further relations to judge, even if no rule of the program defines them.
    mark
        `test` or `valid`; by default `test` if a head has such facts, else none.
    completes
        Whether, without marks, the rules are applied once to all facts, where
        only an atom's own fact is no evidence for it, as `learn` counts in mode `complete`.

    Raises
    ------
    DataError
        If no head has a fact to judge.

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

    A rule that reads what it is judged by:

    >>> ways = FactBase.from_facts(map(parse_atom, ["to(a, b)", "to(b, a)", "to(b, c)"]))
    >>> back = parse_program("to(X, Y) :- to(Y, X).")
    >>> [entailment(back, ways, completes=one).overall.true_positives for one in (False, True)]
    [0, 2]
    """
    # Tabling starts from the terms of the examples, too, though the program reads none of these.
    given, facts = facts, tabled(facts)
    keys = tuple(dict.fromkeys([*(rule.head.key for rule in program), *heads]))
    found = {key: facts.relations[key] for key in keys if key in facts.relations}
    if mark is None and any(relation.count("test") for relation in found.values()):
        mark = "test"
    completes = completes and mark is None
    judged = _marked(found, mark)
    if not judged:
        raise DataError(_nothing_to_judge(keys, mark))
    # Rules that are applied once follow all other rules.
    first = Program(tuple(rule for rule in program if rule.head.key not in keys)) if completes else program
    hidden = found if mark is None and not completes else {}
    model = infer(first, _without(facts.select("train"), hidden), engine=engine)
    constants = model.facts.constants
    if completes:
        derived = _derived_once(program, model, judged)
        holds = {key: is_among(known.codes, derived[key], len(constants)) for key, known in judged.items()}
    else:
        derived = _derived(model, judged)
        holds = {key: model.probabilities(key, known.codes) > 0.5 for key, known in judged.items()}
    verdicts = {key: _judge(holds[key], known) for key, known in judged.items()}
    closed = [key for key in judged if found[key].negative is None and facts.world == "closed"]
    if closed:
        # Atoms that background rules derive determine types, too.
        known = replace(model.stated, relations={**model.stated.relations, **found})
        built = built_terms(facts, given)
        for key in closed:
            domains = argument_domains(known, key)
            verdicts[key] += _unstated(derived[key], found[key], domains, built, len(constants))
    return Entailment(
        {key: verdict.counts for key, verdict in verdicts.items()},
        _protocol(mark, completes, bool(closed), facts.world),
        {
            key: Misjudged.of(key[0], constants, verdict.missed, verdict.wrong)
            for key, verdict in verdicts.items()
        },
    )


def _marked(found: Mapping[Key, Relation], mark: str | None) -> dict[Key, Relation]:
    """The facts of one mark, or all without one, of those relations that have any."""
    chosen = {key: known if mark is None else known.take(known.marked(mark)) for key, known in found.items()}
    return {key: relation for key, relation in chosen.items() if len(relation)}


def _without(facts: FactBase, hidden: Mapping[Key, Relation]) -> FactBase:
    """The facts without some relations."""
    kept = {key: relation for key, relation in facts.relations.items() if key not in hidden}
    return replace(facts, relations=kept)


def _nothing_to_judge(keys: Iterable[Key], mark: str | None) -> str:
    names = ", ".join(f"{name}/{arity}" for name, arity in keys) or "no relation"
    which = f" marked {mark}" if mark else ""
    return f"there is nothing to judge: the program defines {names}, of which no fact{which} is given"


def _protocol(mark: str | None, completes: bool, closed: bool, world: str) -> str:
    """Which atoms are judged, and how, in words."""
    which = f"atoms marked {mark}" if mark else "all atoms given"
    if completes:
        which += ", each by rules that read all others"
    if closed:
        return f"{which}, every other atom over the constants of their types is false"
    return f"{which}, with denied ones" + ("" if world == "closed" else ": the world is open")


@dataclass(frozen=True, eq=False)
class _Verdict:
    """The counts for a head, with the codes of the atoms that it is wrong about."""

    counts: Confusion
    missed: Ints  #: [atoms, arity]
    wrong: Ints  #: [atoms, arity]

    def __add__(self, other: _Verdict) -> _Verdict:
        return _Verdict(
            self.counts + other.counts,
            np.concatenate((self.missed, other.missed)),
            np.concatenate((self.wrong, other.wrong)),
        )


def _derived(model: Model, keys: Iterable[Key]) -> dict[Key, Ints]:
    """The codes of the derived atoms of some relations with a probability above one half, [atoms, arity]."""
    found = {}
    for key in keys:
        relation = model.derived.relations.get(key)
        found[key] = np.zeros((0, key[1]), dtype=np.int64)
        if relation is not None:
            found[key] = relation.codes[relation.column("probability") > 0.5].astype(np.int64)
    return found


def _derived_once(program: Program, model: Model, keys: Iterable[Key]) -> dict[Key, Ints]:
    """The codes of the atoms that one application of the rules derives from all that holds."""
    bodies = BodyEvaluator(model.facts, likely=True)
    found = {key: [np.zeros((0, key[1]), dtype=np.int64)] for key in keys}
    for rule in program:
        if rule.head.key in found:
            found[rule.head.key].append(bodies.cover(rule.unified()).heads)
    return {key: np.unique(np.concatenate(heads), axis=0) for key, heads in found.items()}


def _judge(holds: Bools, judged: Relation) -> _Verdict:
    """The verdict on stated and denied atoms, given which of them are derived, [atoms]."""
    chance = np.where(judged.column("negative"), 0.0, judged.column("probability"))
    true, false = chance > 0.5, chance < 0.5
    cases = (holds & true, holds & false, ~holds & true, ~holds & false)
    _, wrong, missed, _ = (judged.codes[case].astype(np.int64) for case in cases)
    return _Verdict(Confusion(*(int(case.sum()) for case in cases)), missed, wrong)


def _unstated(derived: Ints, known: Relation, domains: Sequence[Ints], built: Ints, n: int) -> _Verdict:
    """The verdict on the atoms of a relation that are not stated, all of them false.

    Atoms about terms that only a background builds are left out, unless there are no others.
    """
    stated = [np.setdiff1d(domain, built) for domain in domains]
    if prod(map(len, stated)) > len(known):
        domains = stated
    else:
        built = built[:0]
    new = derived[~is_among(derived, known.codes, n)]
    new = new[~np.isin(new, built).any(axis=1)]
    places = [np.union1d(domain, new[:, place]) for place, domain in enumerate(domains)]
    others = prod(map(len, places)) - len(known)
    counts = Confusion(false_positives=len(new), true_negatives=others - len(new))
    return _Verdict(counts, known.codes[:0].astype(np.int64), new.astype(np.int64))
