"""Mode `define`: the rules whose fixpoint over the background describes a target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from andre.errors import DataError
from andre.evaluation.crisp import CrispSample
from andre.evaluation.description import description_length
from andre.evaluation.entailment import Confusion
from andre.evaluation.fixpoint import Labels, RuleBase
from andre.evaluation.tables import TruthTables
from andre.facts import FactBase
from andre.grounding import Census, Codes, Language, Sample
from andre.grounding.census import head_domains
from andre.grounding.form import Form
from andre.grounding.place import evidence_mask, key_text
from andre.learning.config import Config
from andre.learning.deadline import Deadline
from andre.learning.definer import Definer
from andre.learning.rejection import Weighing
from andre.learning.result import Result
from andre.learning.selection import with_shorter
from andre.learning.theory import Counts, Definition
from andre.logic import Evidence, Program

__all__ = ["define"]

#: Most numbers that one truth table may hold.
_MOST_CELLS = 1 << 26
#: Rows that the runs learn from at the most. Certain facts have fewer; uncertain ones have as many
#: as there are groundings, and runs that only propose need not see them all.
_MOST_ROWS = 20_000
#: How many of the pooled rules are kept in mind to tell why they were left out.
_REMEMBERED = 80

#: Learns a sample by gradient: the sample, what bodies must look like, settings.
Proposer = Callable[[Sample, Form, Config], Result]


@dataclass(frozen=True, eq=False)
class _Pool:
    """Bodies worth choosing from, the most promising in one step first."""

    bodies: Codes
    result: Result  #: of the runs with recursion; stopped where any run was


def define(
    facts: FactBase, language: Language, census: Census, propose: Proposer, config: Config, *, short: bool
) -> Definition:
    """Choose a definition among the rules that runs with and without recursion propose.

    Parameters
    ----------
    facts
        What is known; background rules have been run.
    census
        Of the target, in exists.
    propose
        Learns a sample by gradient.
    config
        Settings of the runs and of the choice.
    short
        Whether all bodies of one or two literals are pooled too.
    """
    key = language.key(facts)
    n = len(facts.constants)
    widest = max(key[1], *(arity for _, arity in facts.relations))
    if n**widest > _MOST_CELLS:
        raise DataError(
            f"a definition over {n:,} constants needs tables of {n**widest:,} cells, and {_MOST_CELLS:,} are "
            "the most: give fewer facts, or learn with mode 'complete'"
        )
    labels = _labels(facts, language)
    for count, kind in zip(labels.totals, ("true", "false"), strict=True):
        if not count:
            raise DataError(f"no atom of {key_text(key)} is more likely {kind} than not: give some that are")
    deadline = Deadline.after(config.time_limit)
    sample = census.to_sample()
    form = language.form(sample.space)
    pool = _pooled(sample, form, key, propose, _lean(config), short=short)
    rules = RuleBase(TruthTables.of(_background(facts, key)), key)
    definer = Definer(rules, labels, form, config.selection, deadline)
    codes, length = definer.define(pool.bodies)
    numbers = tuple(rules.add(sample.space.rule(body)) for body in codes)
    model = rules.models([numbers])[0]
    own = labels.counts(rules.steps(numbers, model[0]))
    evidence = [Evidence("train", float(right + wrong), float(right)) for right, wrong in own]
    program = sample.space.program(codes)
    some = pool.bodies[:_REMEMBERED]
    others = tuple(rules.add(sample.space.rule(body)) for body in some)
    at_end = labels.counts(rules.steps(others, model[0]))
    weighing = Weighing(sample.space, some, at_end, labels.totals, config.selection.min_confidence)
    covered, totals = labels.counts(model)[0].astype(int), labels.totals.astype(int)
    return Definition(
        target=key_text(key),
        program=Program(tuple(r.tidy().with_evidence(one) for r, one in zip(program, evidence, strict=True))),
        counts=Counts.of(census),
        confusion=Confusion(*covered.tolist(), *(totals - covered).tolist()),
        length=length,
        empty_length=definer.empty_length(),
        result=pool.result,
        rejected=tuple(weighing.rejected(codes)),
        reason=None if len(codes) else weighing.why_nothing(pool.result.stopped),
    )


def _lean(config: Config) -> Config:
    """Settings for runs that only propose: nobody reads the program of their one step."""
    training = config.training.model_copy(update={"rounds": min(2, config.training.rounds)})
    selection = config.selection.model_copy(update={"combine": False, "refine": False})
    limit = None if config.time_limit is None else config.time_limit / 3
    return config.model_copy(update={"training": training, "selection": selection, "time_limit": limit})


def _pooled(
    sample: Sample, form: Form, key: tuple[str, int], propose: Proposer, config: Config, *, short: bool
) -> _Pool:
    space = sample.space
    whole, sample = sample, sample.thinned(_MOST_ROWS, config.seed)
    result = propose(sample, form, config)
    bodies = [result.proposed]
    recursive = np.array([(atom.predicate, atom.arity) == key for atom in space.atoms])
    stated = np.array([not atom.is_builtin for atom in space.atoms])
    if recursive.any() and (stated & ~recursive).any() and result.stopped != "interrupted":
        # Recursive rules look perfect in one step, and beside them base cases are worth nothing.
        part = sample.columns(~recursive)
        apart = propose(part, replace(form, space=part.space, require=()), config)
        wide = np.zeros((len(apart.proposed), space.m), dtype=np.int8)
        wide[:, ~recursive] = apart.proposed
        bodies.append(wide)
        result = replace(result, stopped=apart.stopped or result.stopped)
    if short:
        bodies.append(form.short_bodies())
    pool = with_shorter(np.concatenate(bodies))
    pool = pool[form.admits(pool)]
    crisp = CrispSample.of(whole)
    own = crisp.body_counts(pool)
    lengths = description_length(own, crisp.totals, np.count_nonzero(pool, axis=1), 1, m=space.m)
    order = np.argsort(lengths, kind="stable")
    return _Pool(pool[order[own[order, 0] > 0]], result)


def _background(facts: FactBase, target: tuple[str, int]) -> FactBase:
    """What a definition may read: everything but the target and test facts."""
    kept = {
        key: relation.take(evidence_mask(relation, target))
        for key, relation in facts.relations.items()
        if key != target
    }
    return replace(facts, relations=kept)


def _labels(facts: FactBase, language: Language) -> Labels:
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
