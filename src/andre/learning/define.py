"""Mode `define`: the rules whose fixpoint over the background describes a target."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from andre.census import Census, head_domains
from andre.errors import ConfigError, DataError
from andre.evaluation import Confusion, CrispSample, description_length
from andre.evaluation.fixpoint import Labels, RuleBase
from andre.facts import FactBase
from andre.inference.truth_tables import TruthTables
from andre.learning.callbacks import Callback
from andre.learning.choose.definition import Definer
from andre.learning.choose.rejection import KEPT, RulePool, Weighing
from andre.learning.choose.select import with_shorter
from andre.learning.config import Config, Guide
from andre.learning.fit import fit
from andre.learning.plan import Plan, encode_known, known_about
from andre.learning.result import Result
from andre.learning.theory import Counts, Definition
from andre.limits import Deadline
from andre.logic import Evidence, Program
from andre.samples import Codes, Form, Language, RuleSpace, Sample, evidence_mask, key_text

__all__ = ["background_of", "define", "fits_tables", "labels_of"]


#: Most numbers that one truth table may hold, and constants over which products are still quick.
_MOST_CELLS, _MOST_CONSTANTS = 1 << 26, 512
#: Rows that the runs learn from at the most. Certain facts have fewer; uncertain ones have as many
#: as there are groundings, and runs that only propose need not see them all.
_MOST_ROWS = 20_000
#: How many of the pooled rules are kept in mind to tell why they were left out.
_REMEMBERED = 80


@dataclass(frozen=True, eq=False)
class _Pool:
    """Bodies worth choosing from, the most promising in one step first."""

    bodies: Codes
    counts: NDArray[np.float64]  #: positives and negatives that each covers in one step, [rules, 2]
    result: Result  #: of the runs with recursion; stopped where any run was


def define(
    facts: FactBase, language: Language, census: Census, plan: Plan, callbacks: tuple[Callback, ...]
) -> Definition:
    """Choose a definition among the rules that runs with and without recursion propose.

    Parameters
    ----------
    facts
        What is known; background rules have been run.
    census
        Of the target, in exists.
    """
    key, config = language.key(facts), plan.config
    labels = labels_of(facts, language)
    for count, kind in zip(labels.totals, ("true", "false"), strict=True):
        if not count:
            raise DataError(f"no atom of {key_text(key)} is more likely {kind} than not: give some that are")
    deadline = Deadline.after(config.time_limit)
    sample = census.to_sample()
    space, form = sample.space, language.form(sample.space)
    known = known_about(plan.known, key)
    pool = _pooled(_Proposer(sample, form, _lean(config), callbacks, known), short=plan.short_bodies)
    rules = RuleBase(TruthTables.of(background_of(facts, key)), key)
    fixed = tuple(map(rules.add, known))
    # What known rules derive by themselves is settled: what is added is judged on the rest.
    left = labels.without(rules.models([fixed])[0][0]) if fixed else labels
    definer = Definer(rules, left, form, config.selection, deadline, fixed)
    codes, _ = definer.define(pool.bodies)
    numbers = fixed + tuple(rules.add(space.rule(body)) for body in codes)
    model = rules.models([numbers])[0]
    program = []
    for rule, (right, wrong) in zip(
        (*known, *space.program(codes)), labels.counts(rules.steps(numbers, model[0])), strict=True
    ):
        program.append(rule.tidy().with_evidence(Evidence("train", float(right + wrong), float(right))))
    some = pool.bodies[:_REMEMBERED]
    others = tuple(rules.add(space.rule(body)) for body in some)
    at_end = labels.counts(rules.steps(others, model[0]))
    weighing = Weighing(space, some, at_end, labels.totals, config.selection.floor())
    covered, totals = labels.counts(model)[0].astype(int), labels.totals.astype(int)
    n_literals = sum(len(rule.body) for rule in program)
    lengths = description_length(
        np.array([covered, [0, 0]]), totals, [n_literals, 0], [len(program), 0], m=space.m
    )
    return Definition(
        target=key_text(key),
        program=Program(tuple(program)),
        counts=Counts.of(census),
        confusion=Confusion(*covered.tolist(), *(totals - covered).tolist()),
        length=float(lengths[0]),
        empty_length=float(lengths[1]),
        result=pool.result,
        pool=RulePool(space, pool.bodies[:KEPT], pool.counts[:KEPT]),
        rejected=tuple(weighing.rejected(codes)),
        reason=None if program else weighing.why_nothing(pool.result.stopped),
    )


def fits_tables(facts: FactBase) -> bool:
    """Whether there are so few constants that programs can be judged at their fixpoint on truth tables."""
    n, widest = len(facts.constants), max([2, *(arity for _, arity in facts.relations)])
    return n <= _MOST_CONSTANTS and n**widest <= _MOST_CELLS


def _lean(config: Config) -> Config:
    """Settings for runs that only propose: nobody reads the program of their one step, or its support."""
    training = config.training.model_copy(update={"rounds": min(2, config.training.rounds)})
    selection = config.selection.model_copy(update={"combine": False, "refine": False, "min_support": 0.0})
    limit = None if config.time_limit is None else config.time_limit / 3
    return config.model_copy(update={"training": training, "selection": selection, "time_limit": limit})


@dataclass(frozen=True, eq=False)
class _Proposer:
    """Lets runs propose bodies for a sample."""

    sample: Sample
    form: Form
    config: Config
    callbacks: tuple[Callback, ...]
    known: Program

    def propose(self, columns: NDArray[np.bool_] | None = None) -> Result:
        """What runs come to, with all candidates or some of them only."""
        sample = self.sample.thinned(_MOST_ROWS, self.config.seed)
        form = self.form
        if columns is not None:
            sample = sample.columns(columns)
            form = replace(form, space=sample.space, require=())
        guide = Guide(form, fixed=self._fixed(sample.space))
        return fit(sample, self.config, callbacks=self.callbacks, guide=guide)

    def _fixed(self, space: RuleSpace) -> Codes | None:
        """The known rules that can be said with these candidates; others count at the fixpoint only."""
        found = []
        for rule in self.known:
            with suppress(ConfigError):
                found.append(encode_known(Program((rule,)), space, identity=False))
        return np.concatenate(found) if found else None


def _pooled(proposer: _Proposer, *, short: bool) -> _Pool:
    space, form = proposer.sample.space, proposer.form
    result = proposer.propose()
    bodies, recursive = [result.proposed], space.recursive
    stated = np.array([not atom.is_builtin for atom in space.atoms])
    if recursive.any() and (stated & ~recursive).any() and result.stopped != "interrupted":
        # Recursive rules look perfect in one step, and beside them base cases are worth nothing.
        apart = proposer.propose(~recursive)
        wide = np.zeros((len(apart.proposed), space.m), dtype=np.int8)
        wide[:, ~recursive] = apart.proposed
        bodies.append(wide)
        result = replace(result, stopped=apart.stopped or result.stopped)
    if short:
        bodies.append(form.short_bodies())
    pool = with_shorter(np.concatenate(bodies))
    pool = pool[form.admits(pool)]
    crisp = CrispSample.of(proposer.sample)
    own = crisp.body_counts(pool)
    lengths = description_length(own, crisp.totals, np.count_nonzero(pool, axis=1), 1, m=space.m)
    order = np.argsort(lengths, kind="stable")
    order = order[own[order, 0] > 0]
    return _Pool(pool[order], own[order], result)


def background_of(facts: FactBase, target: tuple[str, int]) -> FactBase:
    """What a definition may read: everything but the target and test facts."""
    kept = {
        key: relation.take(evidence_mask(relation, target))
        for key, relation in facts.relations.items()
        if key != target
    }
    return replace(facts, relations=kept)


def labels_of(facts: FactBase, language: Language) -> Labels:
    """The atoms that a definition is judged by: stated ones, and in a closed world all others."""
    key = language.key(facts)
    relation = facts.relations[key]
    train = relation.take(relation.marked("train"))
    shape = (len(facts.constants),) * key[1]
    positive, negative = (np.zeros(shape, dtype=np.bool_) for _ in range(2))
    if train.negative is None and facts.world == "closed":
        negative[np.ix_(*head_domains(facts, language))] = True
    value = np.ones(len(train)) if train.probability is None else np.array(train.probability)
    if train.negative is not None:
        value[train.negative] = 0.0
    places = tuple(train.codes.T)
    negative[places] = value < 0.5
    positive[places] = value > 0.5
    return Labels(positive, negative)
