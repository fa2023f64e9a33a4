"""Learning one target from its census, in either of two ways.

`learn_definition` judges programs at their fixpoint over the background, as a
recursive definition must be. `learn_from_examples` judges them by one
application of their rules to what is known, which rows and completion need. A
third way is a third function here, chosen in `targets`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from andre.arrays import Bools, Floats, Ints, is_among
from andre.census import Census, head_domains
from andre.errors import ConfigError, DataError, LogicError
from andre.evaluation import (
    AtomKeys,
    Confusion,
    CrispSample,
    JoinedRules,
    JoinJudge,
    JoinLimits,
    Judge,
    ListedLabels,
    description_length,
    program_length,
)
from andre.evaluation.fixpoint import Labels, RuleBase, TableJudge
from andre.facts import FactBase, Key
from andre.inference import BodyEvaluator
from andre.inference.truth_tables import TruthTables
from andre.learning.callbacks import Callback
from andre.learning.choose.agreement import choose_definition
from andre.learning.choose.consistent import grown_bodies, shortest_consistent
from andre.learning.choose.definition import DefinitionChooser
from andre.learning.choose.pool import KEPT, RulePool, with_counts
from andre.learning.choose.refinement import Refiner
from andre.learning.choose.rejection import Weighing
from andre.learning.choose.revision import Beliefs, Revised, Reviser, choose_revised
from andre.learning.choose.selection import nothing, select
from andre.learning.components import Vocabulary
from andre.learning.config import SLACK, Config, Guide
from andre.learning.fitting import fit
from andre.learning.goal_chains import ChainSearch
from andre.learning.plan import Plan, encode_known, known_about, with_inequalities
from andre.learning.proposing import Effort, promising_columns, propose_bodies
from andre.learning.results import Counts, Definition, Result, judge
from andre.learning.short_bodies import best_short_bodies
from andre.learning.weak import Weak, unlabelled_heads, weakness
from andre.limits import check, limited, stage, time_left, unhurried
from andre.logic import Program, Rule
from andre.samples import Codes, Form, Language, RuleSpace, Sample, key_text

#: Constants over which products of truth tables are still quick.
_MOST_CONSTANTS = 512
#: Rows that the joins of one program may make: so many at the least, and so many for each true example.
_LEAST_ROWS, _ROWS_PER_EXAMPLE = 300_000, 20
#: Runs for a definition. Certain facts have few rows; uncertain ones have as many as groundings.
_FOR_DEFINITIONS = Effort(rows=20_000, rounds=2, time=Fraction(1, 3))
#: Runs for a definition that is known to be one short rule: they are made for what they show.
_FOR_SETTLED = Effort(
    rows=20_000, rounds=1, restarts=Fraction(1, 4), steps=Fraction(1, 3), time=Fraction(1, 3)
)
#: Nats that a definition which agrees with all examples may be longer than one with mistakes, at the least.
_TRUST = 10.0
#: Literals of a rule up to which none that is shorter is missed: all of one and two are counted.
_SHORTEST = 3
#: Runs on wide samples: what they propose is refined by the choice, so that more steps change nothing.
_FOR_WIDE_SAMPLES = Effort(
    rows=6_000, rounds=1, restarts=Fraction(1, 2), steps=Fraction(2, 3), time=Fraction(1, 2)
)
#: The share of the time that is left in which short bodies are counted.
_FOR_SHORT_BODIES = 0.5
#: The share of the time that is left in which chains of goals are followed, and the true examples up to
#: which they are: of many, base cases and what they lead to are among the examples.
_FOR_CHAINS, _FEW = 0.5, 500
#: What a step costs, rows times candidates, from which on runs see a part only.
_WIDE = 200_000
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
    given: Program | None = None,
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
        A program that is known to agree with all examples, and is taken.
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
        choice = _Choice(given.rules, _judge(background, key, labels, tabled=tabled), agrees=True)
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
        confusion=_confusion(covered * sides, labels.totals * sides),
        length=length + choice.cost,
        empty_length=empty_length,
        result=result,
        pool=pool.first(KEPT),
        rejected=tuple(weighing.rejected(choice.codes(space))),
        reason=None if len(program) else weighing.why_nothing(_stopped(result)),
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
) -> Iterator[Program]:
    """Programs of one recursive rule and its base cases that a language allows, the best first."""
    with limited(time_left().share(_FOR_CHAINS)), stage("following chains of goals"):
        for program in ChainSearch(Vocabulary(facts, language), labels, m).programs():
            longest = max(len(rule.body) for rule in program)
            widest = max(len(rule.variables) for rule in program)
            if (
                len(program) <= config.selection.max_rules
                and widest <= language.variables
                and (language.max_body is None or longest <= language.max_body)
            ):
                yield program


def recursive_program(facts: FactBase, language: Language, plan: Plan) -> Program | None:
    """The shortest linearly recursive program found that agrees with all examples; None where there is none.

    Examples may be few: base cases are looked for along the goals that a recursive rule leads to.
    """
    labels, key = listed_labels(facts, language), language.key(facts)
    if len(plan.known) or not 0 < labels.totals[0] <= _FEW:
        return None
    tabled = fits_tables(facts, plan.table_cells)
    # In a space that is not laid out, every relation may stand on every choice of variables.
    m = max(2, sum(language.variables**arity for _, arity in language.body_keys(facts)))
    ranker = _Ranker(_judge(background_of(facts, key), key, labels, tabled=tabled), m, plan.config)
    ranked = [
        (ranker(program.rules), place, program)
        for place, program in enumerate(_chain_programs(facts, language, labels, m, plan.config))
    ]
    return next((program for (mistaken, _), _, program in sorted(ranked) if not mistaken), None)


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


def _stopped(result: Result) -> str | None:
    """Why learning ended early, be it the runs or what followed."""
    return result.stopped or ("time" if time_left().passed else None)


def _confusion(covered: Floats, totals: Floats) -> Confusion:
    """The confusion of a program that covers so many positives and negatives, [2], of all, [2]."""
    held, every = (np.rint(counts).astype(int) for counts in (covered, totals))
    return Confusion(*held.tolist(), *(every - held).tolist())


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
        effort = _FOR_SETTLED if settled or (settles is not None and settles(short)) else effort
    runs = partial(propose_bodies, sample, plan.config, effort, callbacks=callbacks)
    result = runs(Guide(form, fixed=fixed, settles=settles))
    bodies, plain = [result.proposed], ~sample.space.recursive
    done = settled or (settles is not None and settles(np.concatenate((result.proposed, short))))
    if (
        not (done or plain.all())
        and (_stated(sample.space) & plain).any()
        and result.stopped != "interrupted"
    ):
        # Recursive rules look perfect in one step, and beside them base cases are worth nothing.
        bases = runs(Guide(replace(form, require=()), fixed=fixed), columns=plain)
        bodies.append(bases.proposed)
        result = replace(result, stopped=bases.stopped or result.stopped)
    return result, _pool(crisp, [*bodies, short], form).by_length(crisp.totals)


def _settles(crisp: CrispSample, form: Form, bodies: Codes) -> bool:
    """Whether one of the bodies, without recursion and as good as none shorter could be, gets all right."""
    bodies = bodies[np.count_nonzero(bodies, axis=1) <= _SHORTEST]
    bodies = bodies[form.admits(bodies) & ~bodies[:, crisp.space.recursive].any(axis=1)]
    return bool((crisp.body_counts(bodies) == [crisp.totals[0], 0]).all(axis=1).any())


def _pool(crisp: CrispSample, bodies: list[Codes], form: Form, *, identity: bool = False) -> RulePool:
    """The pool of these bodies; none where there is no time to count them."""
    with stage("pooling rules"):
        return RulePool.of(crisp, np.concatenate(bodies), form, identity=identity)
    none = np.zeros((0, crisp.space.m), dtype=np.int8)
    return RulePool(crisp.space, none, np.zeros((0, 2)), identity)


def _stated(space: RuleSpace) -> Bools:
    """Which candidates are read off facts, [m]; the others are comparisons."""
    return np.array([not atom.is_builtin for atom in space.atoms])


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


@dataclass(frozen=True, eq=False)
class Agreed:
    """A program that agrees with all examples."""

    codes: Codes  #: [rules, m]
    length: float  #: of the description of the labels by it
    empty_length: float  #: of a list of them


def agreeing_program(census: Census, language: Language, plan: Plan) -> Agreed | None:
    """The shortest program found that agrees with all examples of a census, without any runs.

    None where none is found, or where such a program is not asked for.
    """
    selection = plan.config.selection
    if selection.strict or selection.criterion != "description" or len(plan.known):
        return None
    crisp, form = CrispSample.of(census.to_sample()), language.form(census.space)
    none = np.zeros((0, census.space.m), dtype=np.int8)
    codes = shortest_consistent(crisp, none, form, max_rules=selection.max_rules)
    if codes is None or not _agrees(crisp, codes):
        return None
    with unhurried():
        return Agreed(codes, program_length(crisp, codes), nothing(crisp).length)


def learn_from_examples(
    census: Census,
    language: Language,
    plan: Plan,
    callbacks: tuple[Callback, ...],
    agreed: Codes | None = None,
) -> Definition:
    """The rules that describe the examples of a census shortest, applied once to what is known.

    Parameters
    ----------
    agreed
        A program that agrees with all examples, [rules, m], where one is known: it is taken unless a
        shorter one is found by a few runs.
    """
    sample = census.to_sample()
    space, head = sample.space, sample.space.head
    crisp, selection = CrispSample.of(sample), plan.config.selection
    form = replace(language.form(space), safe=selection.safe)
    if plan.mode == "complete" and not selection.negated_target:
        form = replace(form, unnegated=tuple(np.flatnonzero(space.recursive).tolist()))
    extra = np.zeros((0, space.m), dtype=np.int8)
    if plan.short_bodies:
        with limited(time_left().share(_FOR_SHORT_BODIES)):
            extra = best_short_bodies(crisp, form, selection)
            if space.links:  # further literals pay only together
                extra = np.concatenate([grown_bodies(crisp, form, most=selection.pool), extra])
    known = known_about(plan.known, head.key)
    fixed = encode_known(known, space, identity=plan.identity) if len(known) else None
    if agreed is not None:
        extra = np.concatenate([agreed, extra])
        result = fit_screened(sample, crisp, plan.config, form, extra, callbacks, effort=_FOR_SETTLED)
    elif fixed is None and selection.criterion == "description" and is_wide(sample):
        result = fit_screened(sample, crisp, plan.config, form, extra, callbacks)
    else:
        result = fit(sample, plan.config, callbacks=callbacks, guide=Guide(form, extra, fixed))
    pool = _pool(crisp, [result.proposed, result.codes, extra], form, identity=plan.identity)
    pool = pool.by_length(crisp.totals)
    weak = None
    if plan.mode == "define" and fixed is None:
        result, weak = _agreeing(result, crisp, pool, form, plan, agreed)
    with unhurried():
        covered = crisp.counts(crisp.predicts(result.codes)[None])[0]
    weighing = Weighing(pool, crisp.totals, selection.floor(crisp.totals[0]))
    rules = (with_inequalities(rule) if plan.identity else rule for rule in result.program)
    return Definition(
        target=key_text(head.key),
        program=Program(tuple(rule.tidy() for rule in rules)),
        counts=Counts.of(census),
        confusion=_confusion(covered, crisp.totals),
        length=result.length,
        empty_length=result.empty_length,
        result=result,
        pool=pool.first(KEPT),
        rejected=tuple(weighing.rejected(result.codes)),
        reason=None if len(result.program) else weighing.why_nothing(_stopped(result)),
        weak=weak,
    )


def _agreeing(
    result: Result, crisp: CrispSample, pool: RulePool, form: Form, plan: Plan, agreed: Codes | None
) -> tuple[Result, Weak | None]:
    """The result, or where it has no rule or examples are clean, one whose rules agree with all examples."""
    selection, totals = plan.config.selection, crisp.totals
    with unhurried():
        if selection.noise != 0 and (selection.strict or _agrees(crisp, result.codes)):
            return result, None
    codes = agreed
    if codes is None:  # a search of its own, which the time limit ends
        codes = shortest_consistent(crisp, pool.bodies, form, max_rules=selection.max_rules)
    with unhurried():
        if codes is None or not _agrees(crisp, codes):
            return result, None
        covered = np.array([totals[0], 0.0])
        program, scores = judge(crisp.space.program(codes), [("train", crisp)])
        length = program_length(crisp, codes)
    trusted = result.length + max(_TRUST, result.empty_length / 2)
    if len(result.program) and length > trusted and selection.noise != 0:
        return result, None  # it is so much longer that mistakes are likelier
    found = replace(result, program=program, length=length, scores=scores)
    if length < result.empty_length:
        return found, None
    if selection.strict:
        return result, None
    ties = 0
    if len(codes) == 1:  # every rule that covers the same in as many literals would do
        same = (pool.counts == covered).all(axis=1)
        sizes = np.count_nonzero(pool.bodies[same], axis=1)
        ties = max(0, int((sizes == np.count_nonzero(codes)).sum()) - 1)
    return found, Weak(float(covered[0]), length - result.empty_length, ties)


def wrongly_derived(program: Program, facts: FactBase, language: Language, most: int = 4_000) -> Ints:
    """Head atoms that a program derives in one step and that are not true, so many at the most, [N, arity].

    Parameters
    ----------
    facts
        What is known; in a closed world what the target's facts do not state is false.
    """
    derived = _derived(program, facts, language)
    found = np.concatenate([np.zeros((0, language.key(facts)[1]), dtype=np.int64), *derived])
    found = np.unique(found, axis=0)
    true = _true_heads(facts, language)
    wrong = found[~is_among(found, true, max(1, len(facts.constants)))]
    return wrong[:: max(1, len(wrong) // most)][:most]


def recounted(made: Definition, facts: FactBase, language: Language) -> Definition:
    """A definition that does not read itself, with the exact counts of its rules over all head atoms."""
    n, true = max(1, len(facts.constants)), _true_heads(facts, language)
    domains = head_domains(facts, language)
    total = int(np.prod([len(domain) for domain in domains], dtype=object))
    derived = _derived(made.program, facts, language)
    rules = []
    for rule, heads in zip(made.program, derived, strict=True):
        right = np.count_nonzero(is_among(heads, true, n))
        rules.append(with_counts(rule, np.array([right, len(heads) - right], dtype=np.float64)))
    every = np.unique(np.concatenate([true[:0], *derived]), axis=0)
    right = np.count_nonzero(is_among(every, true, n))
    covered, totals = np.array([right, len(every) - right]), np.array([len(true), total - len(true)])
    return replace(made, program=Program(tuple(rules)), confusion=_confusion(covered, totals))


def _true_heads(facts: FactBase, language: Language) -> Ints:
    relation = facts.select("train").relations[language.key(facts)]
    return relation.codes[~relation.column("negative") & (relation.column("probability") > 0.5)].astype(
        np.int64
    )


def _derived(program: Program, facts: FactBase, language: Language) -> list[Ints]:
    """The head atoms within the head's domains that each rule derives in one step, [N, arity] each."""
    bodies, domains = BodyEvaluator(facts, likely=True), head_domains(facts, language)
    found = []
    for rule in program:
        check()
        heads = bodies.cover(rule.unified()).heads
        inside = np.ones(len(heads), dtype=np.bool_)
        for domain, column in zip(domains, heads.T, strict=True):
            inside &= np.isin(column, domain)
        found.append(heads[inside])
    return found


def with_moved_cuts(made: Definition, census: Census, language: Language, plan: Plan) -> Definition:
    """The definition with single edits of its rules over a census that has more cuts of numbers.

    Parameters
    ----------
    made
        What was learned over a census with the same candidates and fewer cuts.
    """
    selection, space = plan.config.selection, census.space
    crisp, form = CrispSample.of(census.to_sample()), language.form(space)
    try:
        codes = space.encode(made.result.program)
    except LogicError:  # a candidate that tells no more beside the finer ones
        return made
    floor = selection.floor(crisp.totals[0])
    codes, length = Refiner(crisp, None, floor, form, selection.max_rules).refine(codes)
    with unhurried():
        if length >= program_length(crisp, space.encode(made.result.program)) - 1e-9:
            return made
        program, scores = judge(space.program(codes), [("train", crisp)])
        covered = crisp.counts(crisp.predicts(codes)[None])[0]
    result = replace(made.result, space=space, program=program, length=length, scores=scores)
    return replace(
        made,
        program=Program(tuple(rule.tidy() for rule in program)),
        confusion=_confusion(covered, crisp.totals),
        length=length,
        result=result,
        pool=RulePool(space, np.zeros((0, space.m), dtype=np.int8), np.zeros((0, 2))),
    )


def _agrees(crisp: CrispSample, codes: Codes) -> bool:
    """Whether a program covers all positives and no negative; examples that look the same may have both."""
    with unhurried():
        covered = crisp.counts(crisp.predicts(codes)[None])[0]
    return bool(covered[0] >= crisp.totals[0] * SLACK and covered[1] == 0)


def is_wide(sample: Sample) -> bool:
    """Whether runs that saw all rows and candidates would take long."""
    entries = sample.n_rows if sample.members is None else max(sample.n_rows, len(sample.members.rows) // 8)
    return entries * sample.space.m > _WIDE


def fit_screened(
    sample: Sample,
    crisp: CrispSample,
    config: Config,
    form: Form,
    extra: Codes,
    callbacks: tuple[Callback, ...] = (),
    *,
    effort: Effort = _FOR_WIDE_SAMPLES,
) -> Result:
    """Learn a program from a wide sample: runs propose from a part of it, the choice is made on all.

    Parameters
    ----------
    sample, crisp
        The examples, and the same cut at one half.
    extra
        Bodies to pool, [bodies, m], which also say what candidates are promising; without any all are.
    effort
        What the runs see and do.
    """
    space = sample.space
    shown = promising_columns(extra, form)
    if not (shown & _stated(space)).any():  # no short body is any good: there is nothing to go by
        shown[:] = True
    found = propose_bodies(sample, config, effort, Guide(form), columns=shown, callbacks=callbacks)
    programs = [space.encode(run.program) for run in found.runs]
    pooled = Guide(form, np.concatenate([extra, found.proposed]))
    chosen = select(crisp, programs, config.selection, pooled)
    with unhurried():
        program, scores = judge(space.program(chosen.codes), [("train", crisp)])
        empty_length = nothing(crisp).length
    return replace(
        found,
        config=config,
        program=program,
        length=chosen.length,
        empty_length=empty_length,
        scores=scores,
    )


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
