"""Learning a definition: programs are judged at their fixpoint over the background, as recursion must be."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

import numpy as np

from andre.arrays import Bools
from andre.census import Census
from andre.errors import ConfigError
from andre.evaluation import CrispSample, Judge, Labels, ListedLabels, RuleBase, description_length
from andre.facts import FactBase, Key, key_text
from andre.inference import TruthTables
from andre.learning.callbacks import Callback
from andre.learning.choose.agreement import (
    are_positives_apart,
    choose_definition,
    on_closed_world,
    restating,
)
from andre.learning.choose.consistent import shortest_consistent, sound_bodies
from andre.learning.choose.definition import DefinitionChooser
from andre.learning.choose.pool import KEPT, RulePool, with_counts
from andre.learning.choose.rejection import Weighing
from andre.learning.choose.revision import Beliefs, Revised, Reviser, choose_revised
from andre.learning.config import Config, Guide
from andre.learning.judged_by import (
    background_of,
    fits_tables,
    judge_over,
    listed_labels,
    refuse_one_kind,
)
from andre.learning.plan import Plan, encode_known, known_about
from andre.learning.proposing import Effort, narrowed, propose_bodies
from andre.learning.recursion.programs import FEW, Recursion, along_chains
from andre.learning.relational.from_examples import (
    FOR_SETTLED,
    confusion_of,
    pool_of,
    stated_columns,
    stopped_early,
)
from andre.learning.results import Counts, Definition, Result, found_by_search
from andre.learning.weak import unlabelled_heads, weakness
from andre.limits import check, limited, out_of_time, stage, time_left, unhurried
from andre.logic import Program, Rule
from andre.samples import Codes, Form, Language, RuleSpace, Sample

#: Runs for a definition. Certain facts have few rows; uncertain ones have as many as groundings.
_FOR_DEFINITIONS = Effort(rows=20_000, rounds=2, time=Fraction(1, 3))
#: Literals of a rule up to which none that is shorter is missed: all of one and two are counted.
_SHORTEST = 3
_AT_ONCE = 1 << 13  # bodies that are looked at between two looks at the clock
#: Literals of a program without a mistake up to which no runs are asked for a shorter one, and the share of
#: the time that is left in which one is looked for without them.
_SEARCHED, _FOR_SEARCH = 6, 0.25
#: Rules that a program with recursion is put together from.
_GROWN = 300
#: What is said of work that the time limit cuts short.
_WITHOUT_RUNS = "choosing a definition without runs"
#: How many of the pooled rules are kept in mind to tell why they were left out.
_REMEMBERED = 80


def learn_definition(  # noqa: PLR0913  (each says what it is)
    facts: FactBase,
    language: Language,
    census: Census,
    plan: Plan,
    callbacks: tuple[Callback, ...],
    *,
    stated: FactBase | None = None,
    given: Recursion | None = None,
    instead: Callable[[], Definition | None] | None = None,
) -> Definition:
    """The rules whose fixpoint over the background describes a target shortest.

    Parameters
    ----------
    facts
        What is known; background rules have been run.
    census
        Of the target, where examples are head atoms.
    stated
        The facts as they were stated, where `facts` have calibrated probabilities.
    given
        A program that is known, and is taken.
    instead
        What else search finds, of few examples, before runs are made.
    """
    task = _Defining(facts, language, census, plan, stated, few=given is not None)
    refuse_one_kind(task.labels, task.key)
    choice, bodies = task.without_runs(given)
    if choice is None and instead is not None and task.is_small and not plan.always_run:
        other = instead()
        if other is not None:
            return other
    if choice is None or plan.always_run:
        result, pool = _proposed(task.sample, task.form, task.fixed, plan, callbacks)
        return task.definition(choice or task.chosen(pool.bodies), result, pool)
    return task.settled(choice, bodies)


def settled_definition(facts: FactBase, language: Language, census: Census, plan: Plan) -> Definition | None:
    """A definition without mistakes that search finds without runs; None where it finds none."""
    task = _Defining(facts, language, census, plan, None)
    refuse_one_kind(task.labels, task.key)
    choice, bodies = task.without_runs(None)
    return None if choice is None or plan.always_run else task.settled(choice, bodies)


@dataclass(frozen=True, eq=False)
class _Defining:
    """One target, and all that a definition of it is chosen by."""

    facts: FactBase
    language: Language
    census: Census
    plan: Plan
    stated: FactBase | None
    few: bool = False  #: whether a program is given, so that few others are judged

    @property
    def key(self) -> Key:
        return self.language.key(self.facts)

    @cached_property
    def labels(self) -> ListedLabels:
        return listed_labels(self.facts, self.language)

    @cached_property
    def sample(self) -> Sample:
        return self.census.to_sample()

    @cached_property
    def form(self) -> Form:
        return self.language.form(self.sample.space)

    @cached_property
    def known(self) -> Program:
        """The rules of the target that are known."""
        return known_about(self.plan.known, self.key)

    @property
    def fixed(self) -> Codes | None:
        """Those of them that consist of candidate atoms, [rules, m]."""
        return _expressible(self.known, self.form.space)

    @cached_property
    def background(self) -> FactBase:
        return background_of(self.facts, self.key)

    @property
    def tabled(self) -> bool:
        """Whether programs are judged on truth tables."""
        return fits_tables(self.facts, self.plan.table_cells)

    @cached_property
    def judge(self) -> Judge:
        return judge_over(self.background, self.key, self.labels, tabled=self.tabled, few=self.few)

    @cached_property
    def beliefs(self) -> Beliefs | None:
        # Over many constants facts are certain, or `targets` would have gone another way.
        stated = self.stated and background_of(self.stated, self.key)
        return Beliefs.of(self.background, stated) if self.tabled else None

    @property
    def is_small(self) -> bool:
        """Whether there are few examples, of certain facts, and no known rule."""
        return not len(self.known) and 0 < self.labels.totals[0] <= FEW and self.beliefs is None

    def without_runs(self, given: Recursion | None) -> tuple[_Choice | None, Codes]:
        """The program that is given, or a short one without a mistake that search finds; or None.

        Searched are all bodies of one and two literals, and longer ones that a beam search grows without
        recursion; they are given too, [bodies, m]. Where these do not agree with all examples, a program is
        grown with recursion.
        """
        space, recursive = self.form.space, self.form.space.recursive
        bodies = np.zeros((0, space.m), dtype=np.int8)
        if given is not None:
            return _Choice(given.program.rules, self.judge, agrees=given.agrees), bodies
        # Along links all that agrees was looked for before (`reaching`), and short bodies are very many.
        searched = not self.plan.short_bodies or bool(space.links)
        if searched or not self.is_small or out_of_time(_WITHOUT_RUNS):
            return None, bodies
        with limited(time_left().share(_FOR_SEARCH)), stage("counting short bodies"):
            bodies = self.form.short_bodies()
            # Where all else may be true, long rules that are right about few examples mislead.
            if not (recursive.all() or are_positives_apart(self.facts, self.plan, self.key)):
                bodies = np.concatenate([self._grown(~recursive), bodies])
        choice: _Choice | None = None
        if out_of_time(_WITHOUT_RUNS):
            return None, bodies
        if recursive.any() and not recursive.all():
            with limited(time_left().share(_FOR_SEARCH)), stage(_WITHOUT_RUNS):
                choice = self._grown_with_recursion()
        if out_of_time(_WITHOUT_RUNS):
            return choice, bodies
        with limited(time_left().share(_FOR_SEARCH)), stage(_WITHOUT_RUNS):
            crisp = CrispSample.of(self.sample)
            found = self._choose(pool_of(crisp, [bodies], self.form).by_length(crisp.totals).bodies)
            literals = sum(len(rule.body) for rule in found.rules)
            # Of recursive rules of more than two literals none was looked at.
            right = found.closed and self._is_right(found.rules)
            if right and (literals <= _SEARCHED or not recursive.any()):
                choice = found
        return choice, bodies

    def _is_right(self, rules: tuple[Rule, ...]) -> bool:
        """Whether rules derive all true examples and no false one at their fixpoint."""
        counts = self.judge.judge([tuple(map(self.judge.add, rules))]).counts[0]
        return bool((counts == [self.judge.totals[0], 0]).all())

    def _grown_with_recursion(self) -> _Choice | None:
        """A program without a mistake whose rules were grown as if the target's facts could be read; or None.

        Such rules derive nothing that is false. It says less than a list of the examples.
        """
        selection = self.plan.config.selection
        if selection.strict or selection.criterion != "description":
            return None
        # One of its own: which of equally short programs is chosen otherwise must not hang on it.
        judge = judge_over(self.background, self.key, self.labels, tabled=self.tabled)
        most, crisp = selection.max_rules, CrispSample.of(self.sample)
        bodies = sound_bodies(crisp, self.form, max_rules=most, most=_GROWN)
        bodies = bodies[selection.floor().passes(crisp.body_counts(bodies))]
        numbers = [judge.add(self.form.space.rule(body)) for body in bodies]
        sizes, chosen, derived = np.count_nonzero(bodies, axis=1), list[int](), 0.0
        while derived < judge.totals[0] and len(chosen) < most:
            programs = [tuple(numbers[place] for place in (*chosen, other)) for other in range(len(bodies))]
            counts = judge.judge(programs).counts
            gains = np.where(counts[:, 1] == 0, counts[:, 0] - derived, 0) / (1 + sizes)
            best = int(np.argmax(gains)) if len(gains) else 0
            if not len(gains) or not gains[best] > 0:
                return None
            chosen.append(best)
            derived = float(counts[best, 0])
        literals = int(sizes[chosen].sum())
        if literals > 2 * _SEARCHED or literals + len(chosen) >= restating(judge.totals[0], self.key):
            return None
        notes = on_closed_world(self.facts, self.plan, self.key)
        return _Choice(self.form.space.program(bodies[chosen]).rules, judge, agrees=True, notes=notes)

    def _grown(self, columns: Bools) -> Codes:
        """The bodies of a program of some candidates, [m], that agrees with all examples; none: no bodies."""
        part = self.sample.columns(columns)
        none = np.zeros((0, part.space.m), dtype=np.int8)
        form = narrowed(replace(self.form, require=()), part.space, columns)
        most = self.plan.config.selection.max_rules
        found = shortest_consistent(CrispSample.of(part), none, form, max_rules=most)
        bodies = np.zeros((0 if found is None else len(found), self.form.space.m), dtype=np.int8)
        if found is not None:
            bodies[:, columns] = found
        return bodies

    def chosen(self, pool: Codes) -> _Choice:
        """The program that is chosen among bodies, the most promising first, [bodies, m]."""
        config, m = self.plan.config, self.form.space.m
        if self.beliefs is not None:
            return _choose_revised(self.beliefs, self.labels, self.known, pool, self.form, config)
        choice = self._choose(pool)
        chained = self.plan.short_bodies and self.is_small and self.language.recursion
        if not (chained and choice.closed):  # without short bodies, runs alone propose
            return choice
        found = along_chains(choice.rules, self.judge, self.facts, self.language, self.plan.config, m)
        if found is None:
            return choice
        rivals = choice.rivals if found.program.rules == choice.rules else ()
        return replace(choice, rules=found.program.rules, agrees=found.agrees, rivals=rivals)

    def _choose(self, pool: Codes) -> _Choice:
        return _choose(self.judge, self.known, pool, self.form, self.plan, self.facts)

    def settled(self, choice: _Choice, bodies: Codes) -> Definition:
        """The definition by a program that was found without runs, among some bodies, [bodies, m]."""
        crisp = CrispSample.of(self.sample)
        with unhurried():
            result = found_by_search(crisp, choice.codes(self.form.space), self.plan.config)
            pool = pool_of(crisp, [bodies], self.form).by_length(crisp.totals)
        return self.definition(choice, result, pool)

    def definition(self, choice: _Choice, result: Result, pool: RulePool) -> Definition:
        """The chosen program with the known rules, its counts, and why others were left out."""
        labels, selection, space = self.labels, self.plan.config.selection, self.form.space
        judge, n_known = choice.judge, len(self.known)
        rules = (*self.known, *choice.rules)
        numbers = tuple(map(judge.add, rules))
        with unhurried():
            verdict = judge.judge([numbers])
            counts = verdict.steps(0, numbers)
        own = np.argsort(-counts[n_known:, 0], kind="stable") + n_known
        order = [*range(n_known), *own.tolist()]
        written = [*self.known.rules, *(rule.unified() for rule in choice.rules)]
        program = Program(tuple(with_counts(written[place].tidy(), counts[place]) for place in order))
        at_end = pool.first(0)
        with stage("giving reasons"):
            some = pool.leading(labels.totals, _REMEMBERED)
            others = tuple(judge.add(space.rule(body)) for body in some.bodies)
            at_end = replace(some, counts=verdict.steps(0, others))
        weighing = Weighing(at_end, labels.totals, selection.floor())
        covered = verdict.counts[0]
        length, empty_length = description_length(
            np.array([covered, [0, 0]]), labels.totals, [program.n_literals, 0], [len(program), 0], m=space.m
        ).tolist()
        weak = None
        if choice.agrees and len(program) and length >= empty_length:
            rivals = [Program((*self.known, *rival)) for rival in choice.rivals]
            heads = unlabelled_heads(self.facts, self.language, closed=choice.closed)
            excess = length - empty_length
            weak = weakness(program, rivals, self.background, heads, support=float(covered[0]), excess=excess)
        sides = np.array([1, int(choice.closed)])  # what is unknown is no mistake
        return Definition(
            target=key_text(self.key),
            program=program,
            counts=Counts.of(self.census),
            confusion=confusion_of(covered * sides, labels.totals * sides),
            length=length + choice.cost,
            empty_length=empty_length,
            result=result,
            pool=pool.first(KEPT),
            rejected=tuple(weighing.rejected(choice.codes(space))),
            reason=None if len(program) else weighing.why_nothing(stopped_early(result)),
            revised=choice.revised,
            notes=choice.notes,
            weak=weak,
        )


@dataclass(frozen=True, eq=False)
class _Choice:
    """A program without the known rules, and the judge of the background that it was chosen for."""

    rules: tuple[Rule, ...]
    judge: Judge
    revised: tuple[Revised, ...] = ()  #: facts of the background that were revised
    cost: float = 0.0  #: of revising them
    notes: tuple[str, ...] = ()
    rivals: tuple[Program, ...] = ()  #: further programs as short that agree with all examples
    agrees: bool = False  #: whether it was chosen because it agrees with all examples
    closed: bool = True  #: whether head atoms without label were taken to be false

    def codes(self, space: RuleSpace) -> Codes:
        """The bodies of those rules that consist of candidate atoms, [rules, m]."""
        codes = _expressible(Program(self.rules), space)
        return np.zeros((0, space.m), dtype=np.int8) if codes is None else codes


def _choose(judge: Judge, known: Program, pool: Codes, form: Form, plan: Plan, facts: FactBase) -> _Choice:
    """The program for a background that is as it is; `known` rules are part of it."""
    selection, space = plan.config.selection, form.space
    fixed = tuple(map(judge.add, known))
    with unhurried():
        # What known rules derive by themselves is settled: what is added is judged on the rest.
        left = judge.without(fixed) if fixed else judge
    left = left.within(selection.floor().most_wrong(left.totals[0]))
    chosen = choose_definition(
        DefinitionChooser(left, form, selection, fixed), pool, plan, facts, space.head.key
    )
    notes = chosen.notes
    if left.given_up:
        notes += (
            f"{left.given_up:,} programs were not judged: joins made too many rows before their fixpoint",
        )
    return _Choice(
        space.program(chosen.codes).rules,
        judge,
        notes=notes,
        rivals=tuple(map(space.program, chosen.rivals)),
        agrees=chosen.agrees,
        closed=chosen.closed,
    )


def _choose_revised(
    beliefs: Beliefs, labels: ListedLabels, known: Program, pool: Codes, form: Form, config: Config
) -> _Choice:
    """The program together with the background that goes best with it."""
    key = form.space.head.key
    likely, left = RuleBase(TruthTables.of(beliefs.facts), key), Labels.of(labels)
    if len(known):
        with unhurried():
            left = left.without(likely.models([tuple(map(likely.add, known))])[0][0])
    reviser = Reviser(beliefs, key, left, form.space.m, known)
    codes, state = choose_revised(reviser, pool, form, config.selection)
    judge = judge_over(beliefs.background(state), key, labels, tabled=True)
    rules = form.space.program(codes).rules
    return _Choice(rules, judge, beliefs.revised(state), float(beliefs.cost(state)))


def _proposed(
    sample: Sample,
    form: Form,
    fixed: Codes | None,
    plan: Plan,
    callbacks: tuple[Callback, ...],
) -> tuple[Result, RulePool]:
    """The result of runs with recursion, and the bodies of runs with and without, and of enumeration."""
    crisp, short = CrispSample.of(sample), np.zeros((0, sample.space.m), dtype=np.int8)
    if plan.short_bodies:
        with stage("counting short bodies"):
            short = form.short_bodies()
    settles = partial(_settles, crisp, form) if plan.short_bodies and fixed is None else None
    done = False
    with stage("counting short bodies"):
        done = settles is not None and settles(short)
    effort = FOR_SETTLED if done else _FOR_DEFINITIONS
    runs = partial(propose_bodies, sample, plan.config, effort, callbacks=callbacks)
    result = runs(Guide(form, fixed=fixed, settles=settles))
    bodies, plain = [result.proposed], ~sample.space.recursive
    with stage("counting short bodies"):
        done = done or (settles is not None and settles(result.proposed))
    if (
        not (done or plain.all())
        and (stated_columns(sample.space) & plain).any()
        and result.stopped != "interrupted"
    ):
        # Recursive rules look perfect in one step, and beside them base cases are worth nothing.
        bases = runs(Guide(replace(form, require=()), fixed=fixed), columns=plain)
        bodies.append(bases.proposed)
        result = replace(result, stopped=bases.stopped or result.stopped)
    return result, pool_of(crisp, [*bodies, short], form).by_length(crisp.totals)


def _settles(crisp: CrispSample, form: Form, bodies: Codes) -> bool:
    """Whether one of the bodies, without recursion and as good as none shorter could be, gets all right."""
    for begin in range(0, len(bodies), _AT_ONCE):
        if begin:  # few bodies are looked at in any case
            check()
        some = bodies[begin : begin + _AT_ONCE]
        some = some[np.count_nonzero(some, axis=1) <= _SHORTEST]
        some = some[~some[:, crisp.space.recursive].any(axis=1)]
        counts = crisp.body_counts(some[form.admits(some)])  # [bodies, 2]
        if (counts == [crisp.totals[0], 0]).all(axis=1).any():
            return True
    return False


def _expressible(known: Program, space: RuleSpace) -> Codes | None:
    """The known rules that consist of candidate atoms, [rules, m]; others count at the fixpoint only."""
    found = []
    for rule in known:
        with suppress(ConfigError):
            found.append(encode_known(Program((rule,)), space, identity=False))
    return np.concatenate(found) if found else None
