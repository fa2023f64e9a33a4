"""Learning a definition: programs are judged at their fixpoint over the background, as recursion must be."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from andre.census import Census, head_domains
from andre.errors import ConfigError, DataError
from andre.evaluation import (
    AtomKeys,
    CrispSample,
    JoinedRules,
    JoinJudge,
    JoinLimits,
    Judge,
    ListedLabels,
    description_length,
)
from andre.evaluation.fixpoint import Labels, RuleBase, TableJudge
from andre.facts import FactBase, Key
from andre.inference.truth_tables import TruthTables
from andre.learning.callbacks import Callback
from andre.learning.choose.agreement import choose_definition
from andre.learning.choose.definition import DefinitionChooser
from andre.learning.choose.pool import KEPT, RulePool, with_counts
from andre.learning.choose.rejection import Weighing
from andre.learning.choose.revision import Beliefs, Revised, Reviser, choose_revised
from andre.learning.components import Vocabulary
from andre.learning.config import Config, Guide
from andre.learning.from_examples import FOR_SETTLED, confusion_of, pool_of, stated_columns, stopped_early
from andre.learning.goal_chains import ChainSearch
from andre.learning.plan import Plan, encode_known, known_about
from andre.learning.proposing import Effort, propose_bodies
from andre.learning.results import Counts, Definition, Result
from andre.learning.weak import unlabelled_heads, weakness
from andre.limits import limited, stage, time_left, unhurried
from andre.logic import Program, Rule
from andre.samples import Codes, Form, Language, RuleSpace, Sample, key_text

#: Constants over which products of truth tables are still quick.
_MOST_CONSTANTS = 512
#: Rows that the joins of one program may make: so many at the least, and so many for each true example.
_LEAST_ROWS, _ROWS_PER_EXAMPLE = 300_000, 20
#: Runs for a definition. Certain facts have few rows; uncertain ones have as many as groundings.
_FOR_DEFINITIONS = Effort(rows=20_000, rounds=2, time=Fraction(1, 3))
#: Literals of a rule up to which none that is shorter is missed: all of one and two are counted.
_SHORTEST = 3
#: The share of the time that is left in which chains of goals are followed, and the true examples up to
#: which they are: of many, base cases and what they lead to are among the examples.
_FOR_CHAINS, _FEW = 0.5, 500
#: How many of the pooled rules are kept in mind to tell why they were left out.
_REMEMBERED = 80


def learn_definition(
    facts: FactBase,
    language: Language,
    census: Census,
    plan: Plan,
    callbacks: tuple[Callback, ...],
    *,
    stated: FactBase | None = None,
    given: Recursion | None = None,
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
    """
    key, config = language.key(facts), plan.config
    labels = listed_labels(facts, language)
    _refuse_one_kind(labels, key)
    sample = census.to_sample()
    space, form = sample.space, language.form(sample.space)
    known = known_about(plan.known, key)
    settled = given is not None
    result, pool = _proposed(sample, form, _expressible(known, space), plan, callbacks, settled=settled)
    background, tabled = background_of(facts, key), fits_tables(facts, plan.table_cells)
    # Over many constants facts are certain, or `targets` would have gone another way.
    beliefs = Beliefs.of(background, stated and background_of(stated, key)) if tabled else None
    if given is not None:
        judge = _judge(background, key, labels, tabled=tabled)
        choice = _Choice(given.program.rules, judge, agrees=given.agrees)
    elif beliefs is None:
        choice = _choose(
            _judge(background, key, labels, tabled=tabled), known, pool.bodies, form, plan, facts
        )
        if language.recursion and not len(known) and 0 < labels.totals[0] <= _FEW:
            choice = _along_chains(choice, facts, language, labels, space.m, config)
    else:
        choice = _choose_revised(beliefs, labels, known, pool.bodies, form, config)
    judge, n_known = choice.judge, len(known)
    rules = (*known, *choice.rules)
    numbers = tuple(map(judge.add, rules))
    with unhurried():
        verdict = judge.judge([numbers])
        counts = verdict.steps(0, numbers)
    own = np.argsort(-counts[n_known:, 0], kind="stable") + n_known
    order = [*range(n_known), *own.tolist()]
    program = Program(tuple(with_counts(rules[place].tidy(), counts[place]) for place in order))
    at_end = pool.first(0)
    with stage("giving reasons"):
        some = pool.leading(labels.totals, _REMEMBERED)
        others = tuple(judge.add(space.rule(body)) for body in some.bodies)
        at_end = replace(some, counts=verdict.steps(0, others))
    weighing = Weighing(at_end, labels.totals, config.selection.floor())
    covered = verdict.counts[0]
    length, empty_length = description_length(
        np.array([covered, [0, 0]]), labels.totals, [program.n_literals, 0], [len(program), 0], m=space.m
    ).tolist()
    weak = None
    if choice.agrees and length >= empty_length:
        rivals = [Program((*known, *rival)) for rival in choice.rivals]
        unlabelled = unlabelled_heads(facts, language, closed=choice.closed)
        weak = weakness(
            program, rivals, background, unlabelled, support=float(covered[0]), excess=length - empty_length
        )
    sides = np.array([1, int(choice.closed)])  # what is unknown is no mistake
    return Definition(
        target=key_text(key),
        program=program,
        counts=Counts.of(census),
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


def _along_chains(
    choice: _Choice, facts: FactBase, language: Language, labels: ListedLabels, m: int, config: Config
) -> _Choice:
    """The same choice, or a program of one recursive rule and its base cases that is better.

    Better is one that makes no mistake, then one that describes the labels shorter. Where the
    choice makes none itself, nothing else is looked for.
    """
    ranker = _Ranker(choice.judge, m, config)
    with unhurried():
        best = before = ranker(choice.rules)
    if not best[0] or not choice.closed:
        return choice
    for program in _chain_programs(facts, language, labels, m, config):
        found = ranker(program.rules)
        if found[0] < best[0] or (found[0] == best[0] and found[1] < best[1] - 1e-9):
            best, choice = found, replace(choice, rules=program.rules)
    return replace(choice, agrees=not best[0], rivals=() if best != before else choice.rivals)


@dataclass(frozen=True)
class Recursion:
    """A program with a recursive rule."""

    program: Program
    agrees: bool  #: with all examples


@dataclass(frozen=True, eq=False)
class _Ranker:
    """Ranks programs by their fixpoint: those without a mistake first, then by description length."""

    judge: Judge
    m: int  #: candidate atoms
    config: Config

    def __call__(self, rules: tuple[Rule, ...]) -> tuple[bool, float]:
        floor, totals = self.config.selection.floor(), self.judge.totals
        numbers = tuple(map(self.judge.add, rules))
        verdict = self.judge.judge([numbers])
        counts = verdict.counts
        if rules and not (floor.passes(counts[0]) and floor.supported(verdict.steps(0, numbers)).all()):
            return True, np.inf
        n_literals = sum(len(rule.body) for rule in rules)
        length = description_length(counts, totals, n_literals, len(rules), m=self.m)[0]
        return bool((counts[0] != [totals[0], 0]).any()), float(length)


def _chain_programs(
    facts: FactBase, language: Language, labels: ListedLabels, m: int, config: Config
) -> list[Program]:
    """Programs of one recursive rule and its base cases that a language allows, the best first."""
    found: list[Program] = []
    with limited(time_left().share(_FOR_CHAINS)), stage("following chains of goals"):
        found = ChainSearch(Vocabulary(facts, language), labels, m).programs()
    return [
        program
        for program in found
        if len(program) <= config.selection.max_rules
        and all(language.allows(rule.tidy(), facts) for rule in program)
    ]


def recursive_program(facts: FactBase, language: Language, plan: Plan) -> Recursion | None:
    """The linearly recursive program that describes the examples shortest; None where none is found.

    One that agrees with all examples comes before any other. Examples may be few: base cases
    are looked for along the goals that a recursive rule leads to.
    """
    labels, key = listed_labels(facts, language), language.key(facts)
    if len(plan.known) or not 0 < labels.totals[0] <= _FEW:
        return None
    tabled = fits_tables(facts, plan.table_cells)
    # In a space that is not laid out, every relation may stand on every choice of variables.
    m = max(2, sum(language.variables**arity for _, arity in language.body_keys(facts)))
    ranker = _Ranker(_judge(background_of(facts, key), key, labels, tabled=tabled), m, plan.config)
    found: list[tuple[tuple[bool, float], int, Program]] = []
    with stage("judging programs at their fixpoint"):
        for place, program in enumerate(_chain_programs(facts, language, labels, m, plan.config)):
            found.append((ranker(program.rules), place, program))
    if not found:
        return None
    (mistaken, length), _, program = min(found)
    empty = ranker(())[1]
    return None if mistaken and length >= empty else Recursion(program, not mistaken)


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
    judge = _judge(beliefs.background(state), key, labels, tabled=True)
    rules = form.space.program(codes).rules
    return _Choice(rules, judge, beliefs.revised(state), float(beliefs.cost(state)))


def _judge(background: FactBase, key: Key, labels: ListedLabels, *, tabled: bool) -> Judge:
    """Whatever judges programs at their fixpoint over a background: on truth tables or by joins."""
    if tabled:
        return TableJudge(RuleBase(TruthTables.of(background), key), Labels.of(labels))
    limits = JoinLimits(rows=max(_LEAST_ROWS, int(_ROWS_PER_EXAMPLE * labels.totals[0])))
    return JoinJudge(JoinedRules.of(background, key, limits), labels)


def _refuse_one_kind(labels: ListedLabels, key: Key) -> None:
    """Raise an error where no example is true, or none false."""
    negative = np.append(labels.negative, [1.0] * (labels.n_unlisted > 0))
    for chances, kind in ((labels.positive, "true"), (negative, "false")):
        if not (chances > 0.5).any():
            raise DataError(
                f"no atom of {key_text(key)} is more likely {kind} than not: of all, one is {kind} with "
                f"probability {chances.max(initial=0):.3g} at the most, and an example needs more than 0.5"
            )


def _proposed(
    sample: Sample,
    form: Form,
    fixed: Codes | None,
    plan: Plan,
    callbacks: tuple[Callback, ...],
    *,
    settled: bool = False,
) -> tuple[Result, RulePool]:
    """The result of runs with recursion, and the bodies of runs with and without, and of enumeration.

    Parameters
    ----------
    settled
        Whether a program is known already, so that a few runs are enough.
    """
    crisp, short = CrispSample.of(sample), np.zeros((0, sample.space.m), dtype=np.int8)
    if plan.short_bodies:
        with stage("counting short bodies"):
            short = form.short_bodies()
    settles = partial(_settles, crisp, form) if plan.short_bodies and fixed is None else None
    effort = _FOR_DEFINITIONS
    with stage("counting short bodies"):
        effort = FOR_SETTLED if settled or (settles is not None and settles(short)) else effort
    runs = partial(propose_bodies, sample, plan.config, effort, callbacks=callbacks)
    result = runs(Guide(form, fixed=fixed, settles=settles))
    bodies, plain = [result.proposed], ~sample.space.recursive
    done = settled
    with stage("counting short bodies"):
        done = settled or (settles is not None and settles(np.concatenate((result.proposed, short))))
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
    bodies = bodies[np.count_nonzero(bodies, axis=1) <= _SHORTEST]
    bodies = bodies[form.admits(bodies) & ~bodies[:, crisp.space.recursive].any(axis=1)]
    return bool((crisp.body_counts(bodies) == [crisp.totals[0], 0]).all(axis=1).any())


def _expressible(known: Program, space: RuleSpace) -> Codes | None:
    """The known rules that consist of candidate atoms, [rules, m]; others count at the fixpoint only."""
    found = []
    for rule in known:
        with suppress(ConfigError):
            found.append(encode_known(Program((rule,)), space, identity=False))
    return np.concatenate(found) if found else None


def fits_tables(facts: FactBase, cells: int) -> bool:
    """Whether programs are judged at their fixpoint on truth tables, of so many cells at the most."""
    n, widest = len(facts.constants), max([2, *(arity for _, arity in facts.relations)])
    return n <= _MOST_CONSTANTS and n**widest <= cells


def background_of(facts: FactBase, target: Key) -> FactBase:
    """What a definition may read: the training facts of everything but the target."""
    known = facts.select("train")
    kept = {key: relation for key, relation in known.relations.items() if key != target}
    return replace(known, relations=kept)


def listed_labels(facts: FactBase, language: Language) -> ListedLabels:
    """The atoms that a definition is judged by: stated ones, and in a closed world all others."""
    key = language.key(facts)
    train = facts.select("train").relations[key]
    closed = train.negative is None and facts.world == "closed"
    value = np.where(train.column("negative"), 0.0, train.column("probability"))
    return ListedLabels(
        AtomKeys(key[1], max(1, len(facts.constants))),
        train.codes.astype(np.int64),
        value,
        1 - value,
        tuple(head_domains(facts, language)) if closed else None,
    )


def labels_of(facts: FactBase, language: Language) -> Labels:
    """The same as truth tables."""
    return Labels.of(listed_labels(facts, language))
