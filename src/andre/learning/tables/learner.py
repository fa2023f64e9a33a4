"""Learning a classifier from a table: columns, proposals by gradient descent, weights."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats
from andre.errors import ConfigError
from andre.evaluation import CrispSample
from andre.facts import LabelledRows, Schema
from andre.learning.callbacks import Callback, ProgressKeeper
from andre.learning.choose.selection import select
from andre.learning.config import Guide
from andre.learning.descent.devices import find_device
from andre.learning.ensemble import (
    LabelledTable,
    Labels,
    Proposals,
    RulePath,
    RuleWeighing,
    WeightedRules,
    codes_of,
    costs_of,
    with_moved_cuts,
)
from andre.learning.fitting import fit
from andre.learning.results import Result
from andre.learning.tables.classifier import RuleClassifier, Rules, Split, judge_rules, with_evidence
from andre.learning.tables.config import ClassifierConfig
from andre.learning.tables.crisp import CrispRules
from andre.limits import Deadline, check, limited, stage, time_left, was_interrupted
from andre.logic import Atom, Program, Rule
from andre.progress import doing
from andre.samples import Codes, Encoding, Form, RuleSpace, Sample

#: The share of a time limit that runs of gradient descent may take where weights are learned after them.
_PROPOSING_SHARE = 0.4
#: Seconds in which the best so far is weighed after Ctrl-C.
_AFTER_INTERRUPT = 1.0
#: Truth values of atoms on rows that are held at once.
_MOST_CELLS = 20_000_000


def learn_encoding(
    rows: LabelledRows, config: ClassifierConfig | None = None, validation: LabelledRows | None = None
) -> Encoding:
    """What the columns of a table become, before anything is learned from them.

    All that `learn_classifier` would refuse is refused here, before it takes any time.

    Examples
    --------
    >>> from andre.facts import RawTable
    >>> table = RawTable.read({"age": [31, 44, 58] * 5, "rich": ["no", "yes", "yes"] * 5})
    >>> print(learn_encoding(LabelledRows.read(table, "rich")))
    column  kind    missing  values  becomes
    age     number       0%       3  2 cuts: 40, 50
    """
    return _Learner.prepared(rows, config or ClassifierConfig.of(), validation).encoding


def encoding_notes(encoding: Encoding, config: ClassifierConfig) -> tuple[str, ...]:
    """What a user should know about how columns were read, and why some were left out."""
    notes = [
        f"{one.name} is left out: {one.left_out}"
        for one in encoding.schema.columns
        if one.left_out and one.left_out != "ignored"
    ]
    return (*notes, *guess_notes(encoding, config), *encoding.notes)


def guess_notes(encoding: Encoding, config: ClassifierConfig) -> tuple[str, ...]:
    """What was guessed of all columns together, and may be wrong."""
    truth = [column.name for column in encoding.columns if column.kind == "truth"]
    guessed = [name for name in truth if config.columns.get(name) != "truth"]
    if not guessed or config.truth_values is not None:
        return ()
    return (
        f"all numbers lie between 0 and 1, and are taken for truth values: say of a measurement such as "
        f"{guessed[0]} that it is a number",
    )


def learn_classifier(
    rows: LabelledRows,
    config: ClassifierConfig | None = None,
    *,
    validation: LabelledRows | None = None,
    callbacks: Sequence[Callback] = (),
    keeper: Callable[[int], ProgressKeeper] | None = None,
) -> RuleClassifier:
    """Learn rules that tell the classes of rows apart.

    Columns become atoms, weighted rules are grown from these, and a program
    for each class is made of what they consist of. Where nothing is found, or
    if they are asked for, there are runs of gradient descent, too. For rules
    without weights the program of runs is taken as it is.

    Parameters
    ----------
    rows
        The rows to learn from.
    config
        All settings; by default `ClassifierConfig.of()`.
    validation
        Rows on which every rule is counted too; nothing is learned from them.
    callbacks
        Watch the runs; see `andre.learning.Callback`.
    keeper
        Keeps the progress of the runs of each class.

    Examples
    --------
    >>> from andre.facts import RawTable
    >>> ages = [*range(20, 60)] * 3
    >>> table = RawTable.read({"age": ages, "rich": [age > 39 for age in ages]})
    >>> print(learn_classifier(LabelledRows.read(table, "rich")).program)
    rich :- age > 39.5.
    """
    config = config or ClassifierConfig.of()
    began = time.monotonic()
    with limited(Deadline.after(config.time_limit)) as watch:
        with doing("looking at the columns"):
            # What is drawn and how ties end must not hang on the order of rows and columns.
            learner = _Learner.prepared(rows.in_canonical_order(), config, validation)
        runs: list[Result] = []
        path = learner.searched_path() if config.rules == "weighted" else None
        if path is None or learner.wants_runs(path):
            # Of a very wide table there may be none in their share of the time: then rules stay as they are.
            with (
                limited(time_left().share(1.0 if path is None else _PROPOSING_SHARE)),
                stage("gradient descent"),
            ):
                learner.run(runs, callbacks, keeper)
        interrupted = was_interrupted() or any(run.stopped == "interrupted" for run in runs)
        if path is None:
            if not runs:
                check()
            rules: Rules = learner.crisp_rules(runs)
        else:
            if runs:
                with limited(Deadline.after(_AFTER_INTERRUPT if interrupted else None)):
                    path = learner.path(runs)
            rules = path.rules
    stopped = "interrupted" if interrupted else watch.why
    made = RuleClassifier(
        encoding=learner.encoding,
        label=rows.labels.name,
        classes=learner.classes,
        heads=learner.heads,
        config=config,
        rules=rules,
        program=with_evidence(learner.program(rules), learner.heads, rules.codes, learner.split),
        scores=(judge_rules(rules, learner.split),),
        path=path,
        runs=tuple(runs),
        notes=(*rows.notes, *encoding_notes(learner.encoding, config)),
        seconds=time.monotonic() - began,
        stopped=stopped,
        cut=() if interrupted else tuple(watch.cut),
    )
    return made if validation is None else made.judged(validation, "validation")


@dataclass(frozen=True, eq=False)
class _Learner:
    """Rows as bins, with what is learned from them step by step."""

    rows: LabelledRows
    config: ClassifierConfig
    encoding: Encoding

    @classmethod
    def prepared(
        cls, rows: LabelledRows, config: ClassifierConfig, validation: LabelledRows | None
    ) -> _Learner:
        """What columns become, and a refusal of all that cannot be learned from, or not so."""
        rows.require_two_classes()
        if config.gradient.device != "cpu":  # which is always there, and torch takes long to load
            find_device(config.gradient.device)
        truth = rows.table.holds_truth_values() if config.truth_values is None else config.truth_values
        schema = Schema.learn(rows.table, kinds=config.columns, ignore=config.ignore, truth_values=truth)
        made = cls(rows, config, Encoding.learn(rows.table, rows.weights, schema=schema))
        costs_of(config.objective, made.classes, made.labels)
        for place in made.scored:
            made.encoding.space(made.heads[place])
        if validation is not None:
            made.encoding.read(validation.table)
        return made

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The classes; of two, the one that rules are about comes second."""
        found, positive = self.rows.labels.classes, self.rows.labels.positive
        return found[::-1] if len(found) == 2 and positive == 0 else found

    @cached_property
    def heads(self) -> tuple[Atom, ...]:
        return tuple(map(self.rows.labels.head, self.classes))

    @cached_property
    def split(self) -> Split:
        return Split.of(self.encoding.binned(self.rows.table), self.classes, self.rows, "train")

    @property
    def scored(self) -> tuple[int, ...]:
        """The classes that have a score, and a program, of their own."""
        return (1,) if len(self.classes) == 2 else tuple(range(len(self.classes)))

    @cached_property
    def space(self) -> RuleSpace:
        return self.encoding.space(self.heads[self.scored[0]])

    @cached_property
    def labels(self) -> Labels:
        """Classes, and weights with what rows of each class are to weigh."""
        given, totals = self.config.class_weight, np.bincount(self.split.codes, self.split.weights)
        factors = np.ones(len(self.classes))
        if given == "balanced":
            factors = totals.sum() / (len(totals) * np.maximum(totals, 1e-12))
        elif given is not None:
            if strange := sorted(set(given) - set(self.classes)):
                raise ConfigError(
                    f"class_weight has {strange[0]!r}, which is none of the classes {', '.join(self.classes)}"
                )
            factors = np.array([given.get(name, 1.0) for name in self.classes])
        weights = self.split.weights * factors[self.split.codes]
        # Whole weights say how often a row was seen; others only how much it matters beside the rest.
        whole = bool((self.split.weights == np.rint(self.split.weights)).all())
        copies = self.split.weights if whole else None
        return Labels(self.split.codes, weights, len(self.classes), copies)

    def run(
        self,
        results: list[Result],
        callbacks: Sequence[Callback],
        keeper: Callable[[int], ProgressKeeper] | None,
    ) -> None:
        """Add runs of gradient descent on the coarse atoms, for each class that has a score in turn."""
        rows = self._shown(len(self.encoding.coarse))
        valuations = self.encoding.valuations(self.rows.table.take(rows))
        for number, place in enumerate(self.scored):
            space = self.encoding.coarse_space(self.heads[place])
            sample, guide = self._sample(space, place, rows, valuations), self._guide(space)
            keeps = None if keeper is None else keeper(number)
            shares = len(self.scored) - number
            with limited(time_left().share(1 / shares)):
                results.append(
                    fit(sample, self.config.gradient, callbacks=callbacks, checkpoint=keeps, guide=guide)
                )
            if results[-1].stopped == "interrupted":
                break

    def _guide(self, space: RuleSpace) -> Guide:
        """What the bodies of a program may look like."""
        most, safe = self.config.max_literals, self.config.gradient.selection.safe
        return Guide() if most is None else Guide(Form(space, safe=safe, max_body=most))

    def _sample(self, space: RuleSpace, place: int, rows: NDArray[np.intp], valuations: Floats) -> Sample:
        """What the program of one class is chosen by: with many classes fewer rows, as there are more."""
        positive = self.labels.classes[rows] == place
        sample = Sample.from_arrays(valuations, positive, self.labels.weights[rows], space=space)
        most = self.config.gradient.training.rows
        if most is None or self.config.rules == "crisp":
            return sample
        return sample.thinned(max(min(300, most), most // len(self.scored)), self.config.seed)

    def _shown(self, atoms: int) -> NDArray[np.intp]:
        """Rows on which the truth values of so many atoms can be held at once."""
        n, most = len(self.rows), max(1, _MOST_CELLS // max(1, atoms))
        if n <= most:
            return np.arange(n)
        rng = np.random.default_rng(self.config.seed)
        firsts = np.unique(self.split.codes, return_index=True)[1]  # every class stays
        return np.union1d(rng.choice(n, most, replace=False), firsts)

    @cached_property
    def _weighing(self) -> RuleWeighing:
        table = LabelledTable(self.space, self.split.bins, self.labels, self.classes)
        return RuleWeighing(table, self.config.weighing)

    def searched_path(self) -> RulePath:
        """Weighted rules of every size, and a program for each class made of what these consist of."""
        programs = [] if self.config.weighing.takes_best else self._searched_programs()
        return self._weighing.path(Proposals(programs=programs if self._fit_limits(programs) else ()))

    def _searched_programs(self) -> list[Codes]:
        """For each class that has a score, the program with the shortest description that search comes to."""
        rules = self._weighing.sets[-1]
        codes, weights = codes_of(rules.bodies, self.space.m), rules.weights[self.labels.n_outputs :]
        alone = (np.count_nonzero(codes, axis=1) == 1) & (weights < 0)
        codes[alone] *= -1  # what speaks against a class where it holds speaks for it where it does not
        own = np.union1d(self.encoding.coarse, np.flatnonzero(codes.any(axis=0)))
        rows = self._shown(len(own))
        literals = self.split.bins.take(rows).of_atoms(own).literals()
        holds, fails = literals[:, : len(own)], literals[:, len(own) :]
        valuations = np.where(holds, 1.0, np.where(fails, 0.0, np.nan))
        programs = []
        for number, place in enumerate(self.scored):
            space = RuleSpace(self.heads[place], tuple(self.space.atoms[atom] for atom in own))
            sample = CrispSample.of(self._sample(space, place, rows, valuations))
            bodies = codes[(rules.owners == number) & ((weights > 0) | alone)][:, own]
            guide = replace(self._guide(space), extra=bodies)
            chosen = bodies[:0]
            with stage("choosing a program"):
                chosen = select(sample, [bodies], self.config.gradient.selection, guide).codes
            found = np.zeros((len(chosen), self.space.m), dtype=np.int8)
            found[:, own] = chosen
            programs.append(self._with_best_cuts(found, place))
        return programs

    def wants_runs(self, path: RulePath) -> bool:
        """Whether runs are asked for, or nothing was found that is better than no rule."""
        return self.config.always_run or not path.chosen.n_rules

    def path(self, runs: Sequence[Result]) -> RulePath:
        """Weighted rules of every size, with what runs came to."""
        pool = np.concatenate([codes for run in runs for codes in (run.proposed, run.codes)])
        programs = self._programs(runs)
        return self._weighing.path(
            Proposals(self._lifted(pool), programs if self._fit_limits(programs) else ())
        )

    def _programs(self, runs: Sequence[Result]) -> list[Codes]:
        """The program of each run over all atoms."""
        return [
            self._with_best_cuts(self.encoding.lifted(run.codes), place)
            for run, place in zip(runs, self.scored, strict=False)
        ]

    def _with_best_cuts(self, codes: Codes, place: int) -> Codes:
        """A program, its cuts moved to where they describe the class best."""
        labels = self.labels.weights * np.stack((self.labels.classes == place, self.labels.classes != place))
        codes = self.encoding.tidied(codes)
        with stage("moving cuts"):
            codes = self.encoding.tidied(with_moved_cuts(codes, self.split.bins, labels))
        return codes

    def _lifted(self, codes: Codes) -> Codes:
        return self.encoding.tidied(self.encoding.lifted(codes))

    def _fit_limits(self, programs: Sequence[Codes]) -> bool:
        """Whether there is a program for each score, and they are no longer than they may be together."""
        most = self.config.max_literals
        if len(programs) != len(self.scored) or sum(map(len, programs)) > self.config.max_rules:
            return False
        return most is None or all((np.count_nonzero(codes, axis=1) <= most).all() for codes in programs)

    def crisp_rules(self, runs: Sequence[Result]) -> CrispRules:
        """The programs of all runs, counted on all rows."""
        programs = self._programs(runs)
        codes = np.concatenate([np.zeros((0, self.space.m), dtype=np.int8), *programs])
        owners = np.repeat(np.arange(len(programs)), [len(one) for one in programs]).astype(np.intp)
        fires, weights = self.split.bins.covers(codes), self.labels.weights
        own = self.labels.classes == np.array(self.scored, dtype=np.intp)[owners][:, None]  # [rules, rows]
        uncovered = np.zeros((len(self.scored), 2))
        for number, place in enumerate(self.scored):
            silent = ~fires[owners == number].any(axis=0)
            uncovered[number] = silent @ weights, (silent & (self.labels.classes == place)) @ weights
        return CrispRules(
            space=self.space,
            classes=self.classes,
            codes=codes,
            owners=owners,
            evidence=np.stack((fires @ weights, (fires & own) @ weights), axis=1),
            uncovered=uncovered,
            costs=costs_of(self.config.objective, self.classes, self.labels),
        )

    def program(self, rules: Rules) -> Program:
        """The rules in their order; of two classes, each has the head of the class that it speaks for."""
        found = []
        for place, (code, owner) in enumerate(zip(rules.codes, rules.owners.tolist(), strict=True)):
            head = self.heads[self.scored[owner]]
            if isinstance(rules, WeightedRules) and len(self.classes) == 2 and rules.weights[place] < 0:
                head = self.heads[0]
            found.append(Rule(head, self.space.rule(code).body))
        return Program(tuple(found))
