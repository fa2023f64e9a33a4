"""Judging recursive programs at their fixpoint by joins: any number of constants, heads of any arity.

By semi-naive evaluation: in each round a recursive rule is joined only with the atoms
that the previous round has added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from andre.arrays import Floats, Ints, among, distinct_keys
from andre.errors import MemoryLimitError
from andre.evaluation.judging import Affordable, AtomKeys, Judge, Keys, ListedLabels, Verdicts
from andre.facts import FactBase, Key
from andre.inference import alternating_fixpoint
from andre.inference.extensions import Extensions
from andre.inference.joins import JoinedBody
from andre.logic import Rule


@dataclass(frozen=True)
class JoinLimits:
    """Bounds on the work."""

    rows: int = 1_000_000  #: of all joins of one program
    block: int = 1 << 16  #: rows that one join makes at once
    cached: int = 1 << 24  #: atoms derived by single rules that are kept
    singles: int = 4_000  #: programs of one rule that there is time to judge
    pairs: int = 1_000  #: programs of two rules that there is time to judge


class _TooMuch(Exception):  # noqa: N818  (not an error: the program is given up)
    """A program has derived more false examples than it may."""


class _TooManyRows(_TooMuch):
    """Its joins have made more rows than they may."""


@dataclass
class _Meter:
    """What a program may still use."""

    rows: float  #: of joins
    wrong: float  #: false examples
    labels: ListedLabels | None = None  #: of the derived atoms; None if these do not count

    def joined(self, rows: int) -> None:
        """Count the rows of a join."""
        self.rows -= rows
        if self.rows < 0:
            raise _TooManyRows

    def derived(self, new: Keys) -> None:
        """Count newly derived atoms."""
        if self.labels is not None:
            self.wrong -= float(self.labels.counts(new)[1])
            if self.wrong < 0:
                raise _TooMuch


class JoinedRules:
    """Rules for one target over rows of codes, whose least models are made by semi-naive joins.

    Parameters
    ----------
    known
        The rows of the other relations.
    target
        The relation that the rules define; constants in heads are those of the facts.
    """

    def __init__(self, known: Extensions, target: Key, limits: JoinLimits = JoinLimits()) -> None:  # noqa: B008
        self.limits, self.keys = limits, AtomKeys(target[1], max(1, known.n))
        self._extensions, self._relation = known, known.coder.relation(target)
        self._bodies: list[JoinedBody] = []
        self._numbers: dict[Rule, int] = {}
        self._derived: dict[int, Keys] = {}  #: by rules without the target
        self._n_cached = 0
        #: The same rules with one half enough; None if no fact is at one half, as they would derive the same.
        self._weaker = None if known.weaker is None else JoinedRules(known.weaker, target, limits)

    @classmethod
    def of(cls, facts: FactBase, target: Key, limits: JoinLimits = JoinLimits()) -> JoinedRules:  # noqa: B008
        """Rules over a background whose facts are rounded to true or false."""
        return cls(Extensions(facts, likely=True), target, limits)

    def add(self, rule: Rule) -> int:
        """The number of a rule, which is added if it is new."""
        if rule not in self._numbers:
            if self._weaker is not None:
                self._weaker.add(rule)
            self._numbers[rule] = len(self._bodies)
            self._bodies.append(JoinedBody(self._extensions.code(rule), self._extensions, self._relation))
        return self._numbers[rule]

    def is_recursive(self, rule: int) -> bool:
        """Whether the body of the rule with this number has the target."""
        return bool(self._bodies[rule].open or self._bodies[rule].open_denied)

    def model(self, program: tuple[int, ...], meter: _Meter) -> tuple[Keys, bool]:
        """The well-founded model of a program, and whether it is total."""
        if not any(self._bodies[rule].open_denied for rule in program):
            return self._least(program, None, meter), True
        # Atoms above one half read negation from those of at least one half, and vice versa.
        levels = [self] if self._weaker is None else [self, self._weaker]
        # More atoms may hold than do, so false examples among these are no reason to stop.
        unlabelled = replace(meter, labels=None)

        def least(true: list[Keys] | None) -> list[Keys]:
            against = ([self.keys.none] * len(levels) if true is None else true)[::-1]
            pairs = zip(levels, against, strict=True)
            return [level._least(program, other, unlabelled) for level, other in pairs]

        def agree(more: list[Keys], less: list[Keys]) -> bool:
            if meter.labels is not None and meter.labels.counts(less[0])[1] > meter.wrong:
                raise _TooMuch  # the atoms that must hold only grow
            return _equal(more, less)

        lower, upper = alternating_fixpoint(least, agree)
        return lower[0], _equal(lower, upper)

    def possible(self, program: tuple[int, ...], model: Keys, meter: _Meter) -> Keys:
        """The atoms whose negation does not hold in the model of a program, including those at one half."""
        return model if self._weaker is None else self._weaker._least(program, model, meter)

    def step(self, rule: int, model: Keys, possible: Keys, meter: _Meter) -> Keys:
        """What a rule derives in one step from a model, or a part of it if that is too much."""
        return self._one_step(rule, self.keys.rows(model), self.keys.rows(possible), meter, cut=True)

    def _least(self, program: Iterable[int], against: Keys | None, meter: _Meter) -> Keys:
        """The least model if the negation of the target fails for `against`; None means everywhere."""
        denied = None if against is None else self.keys.rows(against)
        nothing, model, steps = self.keys.rows(self.keys.none), self.keys.none, []
        for rule in program:
            if self._bodies[rule].open:
                steps.append(self._bodies[rule])
                continue
            found = self._one_step(rule, nothing, denied, meter)
            new = found[~among(found, model)]
            meter.derived(new)
            model = _merged(model, new)
        delta = model
        while len(delta) and steps:
            true, fresh = self.keys.rows(model), self.keys.rows(delta)
            found_now = [self.keys.none]
            for body in steps:
                for heads in body.heads(true, denied, fresh, block=self.limits.block, on_rows=meter.joined):
                    found = self.keys.of(heads)
                    found_now.append(found[~among(found, model)])
            delta = distinct_keys(np.concatenate(found_now))
            meter.derived(delta)
            model = _merged(model, delta)
        return model

    def _one_step(
        self, rule: int, true: Ints, denied: Ints | None, meter: _Meter, *, cut: bool = False
    ) -> Keys:
        """What a rule derives in one step; with `cut`, a part of it if that is too much."""
        if rule in self._derived:
            return self._derived[rule]
        alone, found = replace(meter), self.keys.none
        try:
            body, block = self._bodies[rule], self.limits.block
            for heads in body.heads(true, denied, block=block, on_rows=meter.joined):
                new = self.keys.of(heads)
                new = new[~among(new, found)]
                found = _merged(found, new)
                alone.derived(new)
        except _TooMuch:
            if not cut:
                raise
            return found
        if not self.is_recursive(rule):
            self._remember(rule, found)
        return found

    def _remember(self, rule: int, found: Keys) -> None:
        if self._n_cached > self.limits.cached:
            self._derived.clear()
            self._n_cached = 0
        self._derived[rule] = found
        self._n_cached += len(found)


def _merged(one: Keys, two: Keys) -> Keys:
    """The union of two disjoint sets of keys."""
    if not len(one) or not len(two):
        return one if len(one) else two
    return np.sort(np.concatenate([one, two]), kind="stable")  # which merges sorted runs


def _equal(one: list[Keys], two: list[Keys]) -> bool:
    return all(map(np.array_equal, one, two))


@dataclass(frozen=True, eq=False)
class JoinJudge(Judge):
    """Judges programs over rows of codes, one after another.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_rule
    >>> facts = FactBase.from_facts(map(parse_atom, ["edge(a,b)", "edge(b,c)", "edge(c,d)"]))
    >>> rules, ones = JoinedRules.of(facts, ("path", 2)), np.ones(6)
    >>> paths = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
    >>> judge = JoinJudge(rules, ListedLabels(rules.keys, paths, ones, 1 - ones, (np.arange(4),) * 2))
    >>> base = judge.add(parse_rule("path(X,Y) :- edge(X,Y)."))
    >>> step = judge.add(parse_rule("path(X,Y) :- edge(X,Z), path(Z,Y)."))
    >>> judge.judge([(base,), (base, step)]).counts.tolist()
    [[3.0, 0.0], [6.0, 0.0]]
    """

    rules: JoinedRules
    labels: ListedLabels
    #: False examples that a program may derive before it is given up.
    most_wrong: float = np.inf
    _given_up: set[tuple[int, ...]] = field(default_factory=set, repr=False)

    @property
    def at_once(self) -> int:
        """How many programs are best judged together."""
        return 1

    @property
    def affordable(self) -> Affordable:
        """Roughly how many programs there is time to judge."""
        return Affordable(self.rules.limits.singles, self.rules.limits.pairs)

    @property
    def given_up(self) -> int:
        """How many programs were not judged, because they derive too much."""
        return len(self._given_up)

    def judge(self, programs: Sequence[tuple[int, ...]]) -> Verdicts:
        """The verdicts on some programs."""
        return _JoinVerdicts(self, tuple(programs), tuple(map(self._model, programs)))

    def stated(self) -> Verdicts:
        """The verdict on a fictitious program that derives exactly the true examples."""
        true = np.unique(self.labels.keys.of(self.labels.atoms[self.labels.positive > 0.5]))
        return _JoinVerdicts(self, ((),), (true,))

    def without(self, program: tuple[int, ...]) -> Judge:
        """The same judge without the labels of atoms that a program derives."""
        try:
            model, _ = self.rules.model(program, replace(self.meter(), labels=None))
        except _TooMuch:
            raise MemoryLimitError(
                f"the known rules make more than {self.rules.limits.rows:,} rows before they reach their "
                "fixpoint: leave some of them out"
            ) from None
        return replace(self, labels=self.labels.without(model))

    def within(self, most_wrong: float) -> Judge:
        """The same, but it need not judge programs that derive more false examples than that."""
        return replace(self, most_wrong=most_wrong)

    def meter(self) -> _Meter:
        """The budget of one program."""
        return _Meter(self.rules.limits.rows, self.most_wrong, self.labels)

    def _model(self, program: tuple[int, ...]) -> Keys | None:
        """The model of a program; None if it leaves atoms undefined or is given up."""
        try:
            model, total = self.rules.model(program, self.meter())
        except _TooManyRows:
            self._given_up.add(program)
            return None
        except _TooMuch:
            return None
        return model if total else None


class _JoinVerdicts(Verdicts):
    def __init__(
        self, judge: JoinJudge, programs: tuple[tuple[int, ...], ...], models: tuple[Keys | None, ...]
    ) -> None:
        self._judge, self._programs, self._models = judge, programs, models
        self.counts = np.array(
            [[np.nan] * 2 if model is None else judge.labels.counts(model) for model in models]
        ).reshape(-1, 2)

    def steps(self, place: int, rules: Sequence[int], *, beyond: bool = False) -> Floats:
        model, judge = self._model(place), self._judge
        possible = judge.rules.possible(self._programs[place], model, _Meter(np.inf, np.inf))
        labels = judge.labels.without(model) if beyond else judge.labels
        found = np.zeros((len(rules), 2))
        for row, rule in enumerate(rules):
            meter = replace(judge.meter(), labels=labels)
            found[row] = labels.counts(judge.rules.step(rule, model, possible, meter))
        return found

    def fingerprint(self, place: int) -> bytes:
        return self._model(place).tobytes()

    def _model(self, place: int) -> Keys:
        model = self._models[place]
        assert model is not None
        return model
