"""Judging many recursive programs at once, at their fixpoint over the background, on truth tables."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from andre.arrays import Bools, Floats, Ints
from andre.evaluation.judging import Affordable, Judge, ListedLabels, Verdicts
from andre.facts import Key
from andre.inference import Body, Given, Table, TruthTables, alternating_fixpoint
from andre.limits import check
from andre.logic import Rule

#: Multiplications that judging pairs of rules may take; with more constants, fewer pairs are judged.
_WORK = 1e11
#: Roughly how often a rule is applied until a fixpoint is reached.
_ROUNDS = 6


@dataclass(frozen=True, eq=False)
class Labels:
    """How likely atoms of the target are true, and false; both are 0 for an atom that is no example."""

    positive: Floats  #: [N, ...]
    negative: Floats  #: [N, ...]

    @classmethod
    def of(cls, listed: ListedLabels) -> Labels:
        """Listed labels as tables."""
        positive, negative = (np.zeros((listed.keys.base,) * listed.keys.arity) for _ in range(2))
        if listed.domains is not None:
            negative[np.ix_(*listed.domains)] = 1.0
        places = tuple(listed.atoms.T)
        positive[places], negative[places] = listed.positive, listed.negative
        return cls(positive, negative)

    @property
    def totals(self) -> Floats:
        """The expected numbers of true and of false examples, [2]."""
        return np.array([self.positive.sum(), self.negative.sum()], dtype=np.float64)

    def without(self, settled: Bools) -> Labels:
        """The labels of all atoms but those that are settled, [N, ...]."""
        return Labels(self.positive * ~settled, self.negative * ~settled)

    def counts(self, derived: Bools) -> Floats:
        """The expected numbers of true and of false examples in each of P models, [P, 2]."""
        flat = derived.reshape(len(derived), self.positive.size).astype(self._weights.dtype)
        with np.errstate(invalid="ignore"):  # BLAS may read memory beside small matrices
            return np.asarray(flat @ self._weights, dtype=np.float64)

    @cached_property
    def _weights(self) -> Table:
        """Both as columns, [N * ..., 2]; in single precision if sums are exact in it."""
        weights = np.stack((self.positive.ravel(), self.negative.ravel()), axis=1)
        whole = (weights == np.rint(weights)).all() and len(weights) < 2**24
        return weights.astype(np.float32 if whole else np.float64)


class RuleBase:
    """Rules for one target over truth tables; programs are sets of their numbers.

    An atom that depends on a fact of probability one half is not derived, but its
    negation does not hold either, as in the engines.

    Parameters
    ----------
    tables
        The tables of the other relations.
    target
        The relation that the rules define.
    revisable
        Relations of the background whose tables may be given for each program.
    block
        The size of the tables of programs that are evaluated together.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_atom, parse_rule
    >>> facts = FactBase.from_facts(map(parse_atom, ["edge(a,b)", "edge(b,c)", "edge(c,d)"]))
    >>> rules = RuleBase(TruthTables.of(facts), ("path", 2))
    >>> base = rules.add(parse_rule("path(X,Y) :- edge(X,Y)."))
    >>> step = rules.add(parse_rule("path(X,Y) :- edge(X,Z), path(Z,Y)."))
    >>> models, total = rules.models([(base,), (base, step)])
    >>> models.sum(axis=(1, 2)).tolist(), total.tolist()
    ([3, 6], [True, True])
    """

    def __init__(
        self, tables: TruthTables, target: Key, revisable: Collection[Key] = (), *, block: int = 1 << 24
    ) -> None:
        self.tables, self.target, self.revisable, self._block = tables, target, tuple(revisable), block
        self.rules: list[Rule] = []
        self._bodies: list[Body] = []
        self._known: dict[Rule, int] = {}
        self._derived: dict[int, Bools] = {}  #: what rules without the target derive, [N, ...]
        #: The same rules with one half enough; None if no fact is at one half, as they would derive the same.
        self._weaker = (
            None if tables.weaker is None else RuleBase(tables.weaker, target, revisable, block=block)
        )

    def add(self, rule: Rule) -> int:
        """The number of a rule, which is added if it is new."""
        if rule not in self._known:
            if self._weaker is not None:
                self._weaker.add(rule)
            self._known[rule] = len(self.rules)
            self.rules.append(rule)
            self._bodies.append(self.tables.body(rule, (self.target, *self.revisable)))
        return self._known[rule]

    def is_recursive(self, rule: int) -> bool:
        """Whether the body of the rule with this number has the target."""
        return self._bodies[rule].reads(self.target)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a table of the target."""
        return (self.tables.n,) * self.target[1]

    @property
    def _axes(self) -> tuple[int, ...]:
        """The axes of the target in a table of several programs."""
        return tuple(range(1, self.target[1] + 1))

    @property
    def at_once(self) -> int:
        """How many programs are evaluated together."""
        numbers: int = self.tables.n ** max(3, self.target[1])
        return max(1, self._block // numbers)

    def models(
        self, programs: Sequence[tuple[int, ...]], background: Mapping[Key, Bools] | None = None
    ) -> tuple[Bools, Bools]:
        """The well-founded models of programs, [P, N, ...], and whether each leaves nothing undefined.

        Programs are computed together, by the alternating fixpoint where one
        of their rules negates the target.

        Parameters
        ----------
        background
            For each program, where the atoms of every revisable relation hold, [P, N, ...].
        """
        found, total = [np.zeros((0, *self.shape), dtype=np.bool_)], [np.zeros(0, dtype=np.bool_)]
        step = self.at_once
        for at in range(0, len(programs), step):
            some = {key: Given.crisp(table[at : at + step]) for key, table in (background or {}).items()}
            model, whole = self._models(programs[at : at + step], some)
            found.append(model)
            total.append(whole)
        return np.concatenate(found), np.concatenate(total)

    def false(self, program: tuple[int, ...], model: Bools) -> Bools:
        """Where the negation of the target holds in the model of a program, [N, ...]; never at one half."""
        return ~(model if self._weaker is None else self._weaker._least([program], ~model[None], {})[0])

    def steps(self, program: tuple[int, ...], model: Bools, false: Bools | None = None) -> Bools:
        """What each rule of a program derives in one step from a model, [rules, N, ...].

        Parameters
        ----------
        false
            Where the negation of the target holds; by default wherever the model does not.
        """
        denied = ~model if false is None else false
        given = {self.target: Given(model[None].astype(np.float32), denied[None].astype(np.float32))}
        found = [np.broadcast_to(self._derive(rule, given), (1, *self.shape)) for rule in program]
        return np.concatenate([np.zeros((0, *self.shape), dtype=np.bool_), *found])

    def _models(
        self, programs: Sequence[tuple[int, ...]], background: Mapping[Key, Given]
    ) -> tuple[Bools, Bools]:
        model, total = self._least(programs, None, background), np.ones(len(programs), dtype=np.bool_)
        chosen = [
            place
            for place, program in enumerate(programs)
            if any(self._bodies[rule].negates(self.target) for rule in program)
        ]
        if chosen:
            some, index = [programs[place] for place in chosen], np.array(chosen)
            theirs = {key: table.take(index) for key, table in background.items()}
            # Atoms above one half read negation from those of at least one half, and vice versa.
            levels = [self] if self._weaker is None else [self, self._weaker]
            nothing = np.zeros((len(levels), len(some), *self.shape), dtype=np.bool_)

            def least(true: Bools | None) -> Bools:
                against = (nothing if true is None else true)[::-1]
                pairs = zip(levels, against, strict=True)
                return np.stack([level._least(some, ~other, theirs) for level, other in pairs])

            lower, upper = alternating_fixpoint(least, np.array_equal)
            model[index] = lower[0]
            total[chosen] = (lower == upper).all(axis=(0, *(axis + 1 for axis in self._axes)))
        return model, total

    def _least(
        self, programs: Sequence[tuple[int, ...]], false: Bools | None, background: Mapping[Key, Given]
    ) -> Bools:
        """Least models with negations of the target read from `false`, [P, N, ...]; None means all fail."""
        model = np.zeros((len(programs), *self.shape), dtype=np.bool_)
        users: dict[int, list[int]] = {}
        for place, program in enumerate(programs):
            for rule in program:
                users.setdefault(rule, []).append(place)
        again: dict[int, Ints] = {}
        for rule, places in users.items():
            index = np.array(places)
            if self.is_recursive(rule):
                again[rule] = index
            else:
                model[index] |= self._derive(rule, {key: t.take(index) for key, t in background.items()})
        moving = np.ones(len(programs), dtype=np.bool_)
        while moving.any() and again:
            before = model.copy()
            for rule, whose in again.items():
                index = whose[moving[whose]]
                if len(index):
                    denied = np.zeros_like(model[index]) if false is None else false[index]
                    given = {key: table.take(index) for key, table in background.items()}
                    given[self.target] = Given(model[index].astype(np.float32), denied.astype(np.float32))
                    model[index] |= self._derive(rule, given)
            moving = (model != before).any(axis=self._axes)
        return model

    def _derive(self, rule: int, given: Mapping[Key, Given]) -> Bools:
        check()
        body = self._bodies[rule]
        if body.open:
            return body.derives(given)
        if rule not in self._derived:
            self._derived[rule] = body.derives()
        return self._derived[rule]


@dataclass(frozen=True, eq=False)
class TableJudge(Judge):
    """Judges many programs at once on truth tables, for domains of few constants."""

    rules: RuleBase
    labels: Labels

    @property
    def at_once(self) -> int:
        """How many programs are best judged together."""
        return self.rules.at_once

    @property
    def affordable(self) -> Affordable:
        """Roughly how many programs there is time to judge."""
        return Affordable(singles=math.inf, pairs=_WORK / (_ROUNDS * self.rules.tables.n**3))

    def judge(self, programs: Sequence[tuple[int, ...]]) -> Verdicts:
        """The verdicts on some programs."""
        return _TableVerdicts(self, tuple(programs))

    def stated(self) -> Verdicts:
        """The verdict on a fictitious program that derives exactly the true examples."""
        verdicts = _TableVerdicts(self, ((),))
        verdicts.assume((self.labels.positive > 0.5)[None])
        return verdicts

    def without(self, program: tuple[int, ...]) -> Judge:
        """The same judge without the labels of atoms that a program derives."""
        return replace(self, labels=self.labels.without(self.rules.models([program])[0][0]))


class _TableVerdicts(Verdicts):
    def __init__(self, judge: TableJudge, programs: tuple[tuple[int, ...], ...]) -> None:
        self._judge, self._programs = judge, programs
        models, total = judge.rules.models(programs)
        self.assume(models)
        self.counts[~total] = np.nan

    def assume(self, models: Bools) -> None:
        """Set the models of the programs."""
        self._models, self.counts = models, self._judge.labels.counts(models)

    def steps(self, place: int, rules: Sequence[int], *, beyond: bool = False) -> Floats:
        model, judge = self._models[place], self._judge
        false = judge.rules.false(self._programs[place], model)
        labels = judge.labels.without(model) if beyond else judge.labels
        return labels.counts(judge.rules.steps(tuple(rules), model, false))

    def fingerprint(self, place: int) -> bytes:
        return bytes(self._models[place].tobytes())
