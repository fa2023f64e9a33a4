"""From facts to rules: census, runs with and without recursion, and the choice of a program."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from andre.errors import ConfigError
from andre.evaluation.crisp import CrispSample
from andre.evaluation.description import description_length
from andre.evaluation.entailment import Confusion
from andre.evaluation.fixpoint import Labels, RuleBase
from andre.evaluation.tables import TruthTables
from andre.facts import FactBase
from andre.grounding import Census, Codes, Language, Sample, take_census
from andre.grounding.census import head_domains
from andre.grounding.form import Form
from andre.grounding.place import evidence_mask, key_text
from andre.inference import materialise
from andre.learning.callbacks import Callback
from andre.learning.deadline import Deadline
from andre.learning.definition import Definer
from andre.learning.learner import fit
from andre.learning.plan import Plan
from andre.learning.result import Result
from andre.learning.selection import with_shorter
from andre.learning.theory import Counts, Definition, Rejected, Theory
from andre.logic import Atom, Evidence, Literal, Program, Rule

__all__ = ["learn"]

#: Most numbers that the truth tables of a definition may hold.
_MOST_CELLS = 1 << 27
#: Rejected rules that are told.
_TOLD = 20


def learn(
    facts: FactBase,
    target: str | Sequence[str] | None = None,
    plan: Plan | None = None,
    *,
    callbacks: Sequence[Callback] = (),
    tell: Callable[[str], None] | None = None,
    **options: Any,
) -> Theory:
    """Learn the rules of one or more relations.

    Parameters
    ----------
    facts
        What is known, background rules included.
    target
        The relations to learn, as p/2; a language or bias may name one instead.
    plan
        How to learn; by default made from the options.
    callbacks
        Watchers of the runs; see `andre.learning.Callback`.
    tell
        Called with a sentence whenever something new begins.
    options
        What `Plan.of` takes: `mode`, `semantics`, `variables`, `preset`,
        `seed`, `time_limit`, and every field of `Language` and `Config`.

    Examples
    --------
    >>> from andre.facts.tasks import TASKS
    >>> print(learn(TASKS["even"].train(), "even/1").program)
    even(X1) :- successor(X2, X1), \\+ even(X2).
    even(X1) :- zero(X1).
    """
    targets = [target] if isinstance(target, str) or target is None else list(target)
    if not targets:
        raise ConfigError("there is no target: name at least one relation")
    facts = materialise(facts)
    plan = plan or Plan.of(facts, targets[0], **options)
    say = tell or (lambda _: None)
    definitions = []
    for name in targets:
        language = plan.language if name is None else plan.aim(name)
        say(f"{language.target}: learning to {plan.mode} it in {plan.semantics}")
        definitions.append(_Learner(facts, language, plan, tuple(callbacks), say).learn())
    return Theory(tuple(definitions), plan)


@dataclass(frozen=True, eq=False)
class _Learner:
    """Learns one target."""

    facts: FactBase
    language: Language
    plan: Plan
    callbacks: tuple[Callback, ...]
    say: Callable[[str], None]

    def learn(self) -> Definition:
        began = time.monotonic()
        plan, limit = self.plan, self.plan.config.time_limit
        census = take_census(
            self.facts,
            self.language,
            semantics=plan.semantics,
            mode=plan.mode,
            identity=plan.identity,
            memory_limit=plan.memory_limit,
        ).require_both_classes()
        sample = census.to_sample()
        form = self.language.form(sample.space)
        if plan.config.selection.criterion == "accuracy":
            form = replace(form, safe=plan.config.selection.safe)
        self.say(
            f"{self.language.target}: {census.groundings:,} groundings, {census.distinct:,} distinct rows, "
            f"{sample.space.m} candidates"
        )
        extra = form.short_bodies() if plan.short_bodies else None
        result = self._fit(sample, form, extra, limit)
        if plan.mode == "complete" or plan.semantics == "rows":
            made = self._as_chosen(result, census, form, extra)
        else:
            left = None if limit is None else max(0.0, limit - (time.monotonic() - began))
            made = self._defined(result, sample, census, form, left)
        return replace(made, seconds=time.monotonic() - began)

    def _fit(self, sample: Sample, form: Form, extra: Codes | None, limit: float | None) -> Result:
        config = self.plan.config.model_copy(update={"time_limit": limit})
        return fit(sample, config, callbacks=self.callbacks, form=form, extra=extra)

    def _as_chosen(
        self, result: Result, census: Census, form: Form, extra: Codes | None
    ) -> Definition:
        """The program that one step describes best, as it was chosen by the runs' learner."""
        crisp = CrispSample.of(census.to_sample())
        covered = crisp.counts(crisp.predicts(result.codes)[None])[0]
        program = result.program
        if self.plan.identity:
            program = Program(tuple(map(_apart, program)))
        pool = with_shorter(result.proposed)
        pool = pool[form.admits(pool)]
        told = _Weighing(crisp.body_counts(pool), crisp.totals, result.config.selection.min_confidence)
        chosen = {body.tobytes() for body in result.codes}
        return Definition(
            target=key_text((result.space.head.predicate, result.space.head.arity)),
            program=program,
            counts=Counts.of(census),
            confusion=_confusion(covered, crisp.totals),
            length=result.length,
            empty_length=result.empty_length,
            result=result,
            rejected=tuple(told.rejected(result, pool, chosen)),
            reason=None if len(program) else told.why_nothing(result, pool),
        )

    def _defined(
        self, result: Result, sample: Sample, census: Census, form: Form, limit: float | None
    ) -> Definition:
        """The program that describes the target best at its fixpoint."""
        key = self.language.key(self.facts)
        space = sample.space
        recursive = np.array([(atom.predicate, atom.arity) == key for atom in space.atoms])
        bodies = [result.proposed]
        bases = ~recursive & np.array([not atom.is_builtin for atom in space.atoms])
        if recursive.any() and bases.any():
            # Base cases are drowned by recursive rules that look perfect in one step.
            self.say(f"{self.language.target}: once more without recursion")
            part = sample.columns(~recursive)
            apart = self._fit(part, self.language.form(part.space), None, limit)
            wide = np.zeros((len(apart.proposed), space.m), dtype=np.int8)
            wide[:, ~recursive] = apart.proposed
            bodies.append(wide)
        if self.plan.short_bodies:
            bodies.append(form.short_bodies())
        pool = with_shorter(np.concatenate(bodies))
        pool = pool[form.admits(pool)]
        crisp = CrispSample.of(sample)
        own = crisp.body_counts(pool)
        lengths = description_length(own, crisp.totals, np.count_nonzero(pool, axis=1), 1, m=space.m)
        seen = own[:, 0] > 0
        order = np.argsort(lengths, kind="stable")
        pool = pool[order[seen[order]]]
        rules = RuleBase(TruthTables.of(_background(self.facts, key)), key)
        labels = _labels(self.facts, self.language)
        definer = Definer(rules, labels, form, self.plan.config.selection, Deadline.after(limit))
        codes, length = definer.define(pool)
        numbers = tuple(rules.add(space.rule(body)) for body in codes)
        model = rules.models([numbers])[0]
        own = labels.counts(rules.steps(numbers, model[0]))
        program = Program(
            tuple(
                rule.with_evidence(Evidence("train", float(right + wrong), float(right)))
                for rule, (right, wrong) in zip(space.program(codes), own, strict=True)
            )
        )
        singles = [(rules.add(space.rule(body)),) for body in pool[: 4 * _TOLD]]
        at_end = labels.counts(rules.steps(tuple(number for (number,) in singles), model[0]))
        told = _Weighing(at_end, labels.totals, result.config.selection.min_confidence)
        chosen = {body.tobytes() for body in codes}
        return Definition(
            target=key_text(key),
            program=program,
            counts=Counts.of(census),
            confusion=_confusion(labels.counts(model)[0], labels.totals),
            length=length,
            empty_length=definer.empty_length(),
            result=result,
            rejected=tuple(told.rejected(result, pool[: 4 * _TOLD], chosen)),
            reason=None if len(program) else told.why_nothing(result, pool[: 4 * _TOLD]),
        )


@dataclass(frozen=True, eq=False)
class _Weighing:
    """Says why rules of a pool were left out."""

    counts: np.ndarray  #: positives and negatives that each covers, [rules, 2]
    totals: np.ndarray  #: of all examples, [2]
    min_confidence: float

    def rejected(self, result: Result, pool: Codes, chosen: set[bytes]) -> Iterator[Rejected]:
        """The most promising rules that were not taken, and why."""
        lengths = description_length(
            self.counts, self.totals, np.count_nonzero(pool, axis=1), 1, m=result.space.m
        )
        order = [place for place in np.argsort(lengths, kind="stable") if pool[place].tobytes() not in chosen]
        for place in order[:_TOLD]:
            right, wrong = self.counts[place]
            rule = result.space.rule(pool[place]).with_evidence(
                Evidence("train", float(right + wrong), float(right))
            )
            yield Rejected(rule, self._reason(right, wrong))

    def _reason(self, right: float, wrong: float) -> str:
        if not right:
            return "it explains no example"
        if right <= self.min_confidence * (right + wrong):
            return f"it is right about {right:g} of the {right + wrong:g} examples that it covers"
        return "beside the chosen rules it costs more than it explains"

    def why_nothing(self, result: Result, pool: Codes) -> str:
        """Why no program is better than none."""
        if result.stopped == "time":
            return "the time limit passed before a rule was found: raise it"
        if not len(pool) or not self.counts[:, 0].any():
            return "no body of the language covers a positive example: allow more variables or relations"
        lengths = description_length(
            self.counts, self.totals, np.count_nonzero(pool, axis=1), 1, m=result.space.m
        )
        best = int(lengths.argmin())
        right, wrong = self.counts[best]
        return (
            f"the nearest rule, {result.space.rule(pool[best])} is right about {right:g} of the "
            f"{right + wrong:g} examples that it covers and explains {right:g} of {self.totals[0]:g}: "
            "too little support to tell it from chance"
        )


def _apart(rule: Rule) -> Rule:
    """A rule whose variables stand for different constants, said by its last literals."""
    known = {frozenset(lit.atom.args) for lit in rule.body if lit.atom.predicate == "\\=" and not lit.negated}
    pairs = [pair for pair in combinations(rule.variables, 2) if frozenset(pair) not in known]
    added = tuple(Literal(Atom("\\=", pair)) for pair in pairs)
    return replace(rule, body=rule.body + added)


def _confusion(covered: np.ndarray, totals: np.ndarray) -> Confusion:
    right, wrong = (round(float(count)) for count in covered)
    return Confusion(right, wrong, round(float(totals[0])) - right, round(float(totals[1])) - wrong)


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
