"""Learning the rules of a target by one application of them to what is known.

So do examples that are rows, knowledge bases that are completed, and definitions that do not read themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from andre.arrays import Bools, Floats, Ints, is_among
from andre.census import Census, head_domains
from andre.errors import LogicError
from andre.evaluation import (
    Confusion,
    CrispSample,
    program_length,
)
from andre.facts import FactBase, key_text
from andre.inference import BodyEvaluator
from andre.learning.callbacks import Callback
from andre.learning.choose.consistent import grown_bodies, shortest_consistent
from andre.learning.choose.pool import KEPT, RulePool, with_counts
from andre.learning.choose.refinement import Refiner
from andre.learning.choose.rejection import Weighing
from andre.learning.choose.selection import nothing, select
from andre.learning.config import SLACK, Config, Guide, SelectionConfig
from andre.learning.fitting import fit
from andre.learning.plan import Plan, encode_known, known_about, with_inequalities
from andre.learning.proposing import Effort, promising_columns, propose_bodies
from andre.learning.results import Counts, Definition, Result, found_by_search, judge
from andre.learning.short_bodies import best_short_bodies
from andre.learning.weak import Weak
from andre.limits import check, limited, out_of_time, stage, stopped_by, time_left, unhurried
from andre.logic import Program
from andre.samples import Codes, Form, Language, RuleSpace, Sample

#: Runs for a definition that is known to be one short rule: they are made for what they show.
FOR_SETTLED = Effort(
    rows=20_000, rounds=1, restarts=Fraction(1, 4), steps=Fraction(1, 3), time=Fraction(1, 3)
)
#: Nats that a definition which agrees with all examples may be longer than one with mistakes, at the least.
_TRUST = 30.0
#: Runs on wide samples: what they propose is refined by the choice, so that more steps change nothing.
_FOR_WIDE_SAMPLES = Effort(
    rows=6_000, rounds=1, restarts=Fraction(1, 2), steps=Fraction(2, 3), time=Fraction(1, 2)
)
#: The share of the time that is left in which short bodies are counted.
_FOR_SHORT_BODIES = 0.5
#: What is said of rules that are counted on drawn head atoms alone.
ESTIMATES = "counts are estimates, and andre rescore counts anew"
#: How often a program that was learned from drawn head atoms is learned again with what it derives wrongly.
_CORRECTIONS = 2
#: What a step costs, rows times candidates, from which on runs see a part only.
_WIDE = 200_000


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
    longest = _longest_trusted(crisp, selection)
    codes = shortest_consistent(crisp, none, form, max_rules=selection.max_rules, longest=longest)
    if codes is None or not _agrees(crisp, codes, selection):
        return None
    with unhurried():
        return Agreed(codes, program_length(crisp, codes), nothing(crisp).length)


def learn_from_examples(
    census: Census,
    language: Language,
    plan: Plan,
    callbacks: tuple[Callback, ...],
    agreed: Codes | None = None,
    *,
    runs: bool = True,
) -> Definition:
    """The rules that describe the examples of a census shortest, applied once to what is known.

    Parameters
    ----------
    agreed
        A program that agrees with all examples, [rules, m], where one is known. A short one is taken as
        it is, without runs; another unless a few runs find one that is shorter.
    runs
        Whether runs propose where none is; else the shortest description is chosen that search finds.
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
    if agreed is not None and fixed is None and not plan.always_run and _is_settled(crisp, agreed):
        with unhurried():
            result = found_by_search(crisp, agreed, plan.config)
    elif not runs:
        extra = extra if agreed is None else np.concatenate([agreed, extra])
        chosen = select(crisp, [], selection, Guide(form, extra, fixed))
        with unhurried():
            result = found_by_search(crisp, chosen.codes, plan.config)
    elif agreed is not None:
        extra = np.concatenate([agreed, extra])
        result = fit_screened(sample, crisp, plan.config, form, extra, callbacks, effort=FOR_SETTLED)
    elif fixed is None and selection.criterion == "description" and is_wide(sample):
        result = fit_screened(sample, crisp, plan.config, form, extra, callbacks)
    else:
        result = fit(sample, plan.config, callbacks=callbacks, guide=Guide(form, extra, fixed))
    pool = pool_of(crisp, [result.proposed, result.codes, extra], form, identity=plan.identity)
    pool = pool.by_length(crisp.totals)
    weak = None
    searched = runs or agreed is not None  # else nothing that agrees was found before
    if searched and (plan.mode, plan.semantics) == ("define", "exists") and fixed is None:
        result, weak = _agreeing(result, crisp, pool, form, plan, agreed)
    with unhurried():
        covered = crisp.counts(crisp.predicts(result.codes)[None])[0]
    weighing = Weighing(pool, crisp.totals, selection.floor(crisp.totals[0]))
    rules = (with_inequalities(rule) if plan.identity else rule for rule in result.program)
    return Definition(
        target=key_text(head.key),
        program=Program(tuple(rule.tidy() for rule in rules)),
        counts=Counts.of(census),
        confusion=confusion_of(covered, crisp.totals),
        length=result.length,
        empty_length=result.empty_length,
        result=result,
        pool=pool.first(KEPT),
        rejected=tuple(weighing.rejected(result.codes)),
        reason=None if len(result.program) else weighing.why_nothing(stopped_early(result)),
        weak=weak if len(result.program) else None,
    )


def _agreeing(
    result: Result, crisp: CrispSample, pool: RulePool, form: Form, plan: Plan, agreed: Codes | None
) -> tuple[Result, Weak | None]:
    """The result, or where it has no rule or examples are clean, one whose rules agree with all examples."""
    selection, totals = plan.config.selection, crisp.totals
    with unhurried():
        described = result.length < result.empty_length and _agrees(crisp, result.codes, selection)
        if selection.noise != 0 and (selection.strict or described):
            return result, None
    codes = agreed
    if codes is None:  # a search of its own, which the time limit ends
        longest = _longest_trusted(crisp, selection)
        codes = shortest_consistent(crisp, pool.bodies, form, max_rules=selection.max_rules, longest=longest)
    with unhurried():
        if codes is None or not _agrees(crisp, codes, selection):
            return result, None
        covered = np.array([totals[0], 0.0])
        program, scores = judge(crisp.space.program(codes), [("train", crisp)])
        length = program_length(crisp, codes)
    others = result.length if len(result.program) else result.empty_length
    if selection.noise != 0 and not is_trusted(length, others, result.empty_length):
        return result, None
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


def _is_settled(crisp: CrispSample, agreed: Codes) -> bool:
    """Whether a program that agrees with all examples is believed beside any with mistakes."""
    with unhurried():
        return is_trusted(program_length(crisp, agreed), 0.0, nothing(crisp).length)


def _longest_trusted(crisp: CrispSample, selection: SelectionConfig) -> float:
    """Nats above which no program that agrees with all examples is believed, whatever others there are."""
    with unhurried():
        empty_length = nothing(crisp).length
    return empty_length + max(_TRUST, empty_length / 2) if selection.noise == "auto" else np.inf


def is_trusted(length: float, mistaken: float, empty_length: float) -> bool:
    """Whether a definition that agrees with all examples is believed beside one with mistakes.

    Examples are stated for clean, so that it may be longer; where it is so by much, mistakes are likelier.
    Where it says no less than a list of the examples and the other one does, less is much.

    Parameters
    ----------
    length, mistaken, empty_length
        Of its description of the examples, of that by the other one, and of a list of them.

    Examples
    --------
    >>> is_trusted(50.0, 25.0, 30.0), is_trusted(500.0, 250.0, 300.0)
    (True, False)
    >>> is_trusted(90.0, 50.0, 100.0), is_trusted(110.0, 70.0, 100.0)
    (True, False)
    """
    is_list = mistaken < empty_length <= length
    return length <= mistaken + (_TRUST if is_list else max(_TRUST, empty_length / 2))


def _agrees(crisp: CrispSample, codes: Codes, selection: SelectionConfig) -> bool:
    """Whether a program covers all positives and no negative, by rules of the support that is asked for.

    Examples that look the same may be of both kinds.
    """
    with unhurried():
        covered = crisp.counts(crisp.predicts(codes)[None])[0]
        # Where nothing is wrong, a rule for one example is no chance among many; what is asked for holds.
        supported = selection.floor().supported(crisp.body_counts(codes)).all()
    return bool(supported and covered[0] >= crisp.totals[0] * SLACK and covered[1] == 0)


def corrected(
    made: Definition,
    facts: FactBase,
    language: Language,
    plan: Plan,
    again: Callable[[Ints], Definition],
    *,
    suspects: int = 0,
    most: int = 4_000,
) -> Definition:
    """A definition from drawn head atoms, learned again beside what it derives wrongly, and counted on all.

    A rule that is wrong about some of very many head atoms looks flawless by those that were drawn.

    Parameters
    ----------
    facts
        What is known; background rules have been run.
    again
        Learns from a sample that has these head atoms, too, [N, arity].
    suspects
        So many rules of the pool, too, are asked for what they derive wrongly.
    most
        How many wrong head atoms of one turn are looked at.
    """
    labels, n = HeadLabels.of(facts, language, plan), max(1, len(facts.constants))
    known = labels.true[:0]
    with stage("correcting by what is derived wrongly"):
        for _ in range(_CORRECTIONS):
            rules = Program(tuple(dict.fromkeys((*made.program, *made.pool.first(suspects).rules))))
            derived = derived_heads(rules, facts, language, plan)
            wrong = np.unique(np.concatenate([known[:0], *derived]), axis=0)
            wrong = wrong[labels.wrong(wrong, n)]
            fresh = wrong[~is_among(wrong, known, n)]
            if not len(fresh) or out_of_time("correcting by what is derived wrongly"):
                break
            known = np.concatenate([known, fresh[:: max(1, len(fresh) // most)][:most]])
            made = again(known)
    with stage("counting on all head atoms"):
        return _recounted(made, facts, language, plan)
    return replace(made, notes=(*made.notes, ESTIMATES))


def _recounted(made: Definition, facts: FactBase, language: Language, plan: Plan) -> Definition:
    """A definition that does not read itself, with the exact counts of its rules over all head atoms.

    Rules that are then found to be right less often than is asked for are left out.
    """
    labels, n = HeadLabels.of(facts, language, plan), max(1, len(facts.constants))

    def counts(heads: Ints) -> Floats:
        right = np.count_nonzero(is_among(heads, labels.true, n))
        return np.array([right, np.count_nonzero(labels.wrong(heads, n))], dtype=np.float64)

    derived = derived_heads(made.program, facts, language, plan)
    counted = [counts(heads) for heads in derived]
    least = plan.config.selection.min_confidence
    kept = [
        place
        for place, (rule, (right, wrong)) in enumerate(zip(made.program, counted, strict=True))
        if right > least * (right + wrong) or rule in plan.known
    ]
    rules = [with_counts(made.program.rules[place], counted[place]) for place in kept]
    every = np.unique(np.concatenate([labels.true[:0], *(derived[place] for place in kept)]), axis=0)
    totals = np.array([len(labels.true), labels.n_false], dtype=np.float64)
    reason = made.reason
    if made.program and not kept:
        reason = f"no rule of the drawn head atoms is right more often than {least:g} about all of them"
    result = replace(made.result, program=Program(tuple(made.result.program.rules[place] for place in kept)))
    confusion = confusion_of(counts(every), totals)
    return replace(made, program=Program(tuple(rules)), confusion=confusion, result=result, reason=reason)


@dataclass(frozen=True, eq=False)
class HeadLabels:
    """The head atoms that are true, and those that are denied; None: all are false that are not true."""

    true: Ints  #: [N, arity]
    denied: Ints | None
    n_false: int

    @classmethod
    def of(cls, facts: FactBase, language: Language, plan: Plan) -> HeadLabels:
        """Those of the target of a language, by the facts that teach."""
        relation = facts.select("train").relations[language.key(facts)]
        codes, likely = relation.codes.astype(np.int64), relation.column("probability") > 0.5
        distinct = plan.identity and relation.arity == 2
        looked_at = codes[:, 0] != codes[:, -1] if distinct else np.ones(len(codes), dtype=np.bool_)
        true = codes[~relation.column("negative") & likely & looked_at]
        if relation.negative is not None or facts.world == "open":
            denied = codes[(relation.column("negative") | ~likely) & looked_at]
            return cls(true, denied, len(denied))
        domains = head_domains(facts, language, mode=plan.mode)
        total = int(np.prod([len(domain) for domain in domains], dtype=object))
        loops = len(np.intersect1d(domains[0], domains[-1])) if distinct else 0
        return cls(true, None, total - loops - len(true))

    def wrong(self, heads: Ints, n: int) -> Bools:
        """Which head atoms are false, given the number of constants."""
        if self.denied is None:
            return ~is_among(heads, self.true, n)
        return is_among(heads, self.denied, n)


def derived_heads(program: Program, facts: FactBase, language: Language, plan: Plan) -> list[Ints]:
    """The head atoms within the head's domains that each rule derives in one step, [N, arity] each."""
    bodies = BodyEvaluator(facts, likely=True)
    domains = head_domains(facts, language, mode=plan.mode)
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

    One that agrees with all examples goes on to do so.

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
    if made.flawless and (covered != [crisp.totals[0], 0.0]).any():  # few clean examples may cost more
        return made
    result = replace(made.result, space=space, program=program, length=length, scores=scores)
    return replace(
        made,
        program=Program(tuple(rule.tidy() for rule in program)),
        confusion=confusion_of(covered, crisp.totals),
        length=length,
        result=result,
        pool=RulePool(space, np.zeros((0, space.m), dtype=np.int8), np.zeros((0, 2))),
    )


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
    if not (shown & stated_columns(space)).any():  # no short body is any good: there is nothing to go by
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


def pool_of(crisp: CrispSample, bodies: list[Codes], form: Form, *, identity: bool = False) -> RulePool:
    """The pool of these bodies; none where there is no time to count them."""
    with stage("pooling rules"):
        check()
        return RulePool.of(crisp, np.concatenate(bodies), form, identity=identity)
    none = np.zeros((0, crisp.space.m), dtype=np.int8)
    return RulePool(crisp.space, none, np.zeros((0, 2)), identity)


def stated_columns(space: RuleSpace) -> Bools:
    """Which candidates are read off facts, [m]; the others are comparisons."""
    return np.array([not atom.is_builtin for atom in space.atoms])


def confusion_of(covered: Floats, totals: Floats) -> Confusion:
    """The confusion of a program that covers so many positives and negatives, [2], of all, [2]."""
    held, every = (np.rint(counts).astype(int) for counts in (covered, totals))
    return Confusion(*held.tolist(), *(every - held).tolist())


def stopped_early(result: Result) -> str | None:
    """Why learning ended early, be it the runs or what followed."""
    return result.stopped or (stopped_by() if time_left().passed else None)
