"""Which examples a learned program gets wrong: those that it misses, and false ones that it derives."""

from __future__ import annotations

import numpy as np

from andre.arrays import Ints, is_among
from andre.errors import OutOfTimeError
from andre.evaluation import Misjudged
from andre.facts import FactBase
from andre.inference import infer
from andre.learning.judged_by import background_of
from andre.learning.plan import Plan
from andre.learning.relational.from_examples import HeadLabels, derived_heads
from andre.learning.results import Definition
from andre.limits import limited, time_left
from andre.logic import Program
from andre.samples import Language

#: The share of the time left in which mistakes are listed; they are counted anyway.
_FOR_LISTING = 0.5


def misjudged_by(made: Definition, facts: FactBase, language: Language, plan: Plan) -> Misjudged:
    """Some of the training examples that a definition gets wrong; none where no time is left to look.

    Parameters
    ----------
    facts
        What it was learned from; background rules have been run.

    Examples
    --------
    >>> from andre.learning import learn
    >>> from andre.logic import parse_atom
    >>> rows = [f"{name}(a{n})" for name in "ph" for n in range(9)] + [f"q(b{n})" for n in range(9)]
    >>> facts = FactBase.from_facts(map(parse_atom, [*rows, "h(b3)"]))
    >>> theory = learn(facts, "h/1", variables=1, restarts=1, rounds=1, steps=20)
    >>> print(theory.program, *theory["h"].misjudged.missed)
    h(X1) :- p(X1). h(b3)
    """
    seen = made.confusion
    if plan.semantics != "exists" or time_left().passed or made.flawless:
        return Misjudged()
    try:
        with limited(time_left().share(_FOR_LISTING)):
            derived = _derived(made, facts, language, plan)
            labels, n = HeadLabels.of(facts, language, plan), max(1, len(facts.constants))
            missed, wrong = labels.true[~is_among(labels.true, derived, n)], derived[labels.wrong(derived, n)]
    except OutOfTimeError:
        return Misjudged()
    # What nobody labels may be no mistake: then none is counted.
    return Misjudged.of(
        made.key[0],
        facts.constants,
        missed if seen.false_negatives else missed[:0],
        wrong if seen.false_positives else wrong[:0],
    )


def _derived(made: Definition, facts: FactBase, language: Language, plan: Plan) -> Ints:
    """The head atoms that a definition derives, [N, arity]: at its fixpoint where that is not one step."""
    key, program = made.key, made.program
    if plan.mode == "complete" or not _reads_itself(program):
        found = derived_heads(program, facts, language, plan)
        return np.unique(np.concatenate([np.zeros((0, key[1]), dtype=np.int64), *found]), axis=0)
    relation = infer(program, background_of(facts, key)).derived.relations.get(key)
    if relation is None:
        return np.zeros((0, key[1]), dtype=np.int64)
    within = (relation.column("probability") > 0.5) & (relation.codes < len(facts.constants)).all(axis=1)
    return relation.codes[within].astype(np.int64)


def _reads_itself(program: Program) -> bool:
    """Whether a rule reads what a rule of the program derives."""
    heads = {rule.head.key for rule in program}
    return any(literal.atom.key in heads for rule in program for literal in rule.body)
