"""One trial on facts: learn a classical task from one seed, and run what came out on a larger domain."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch

from andre.evaluation import description_length
from andre.evaluation.fixpoint import RuleBase
from andre.facts import TASKS, FactBase, Key, noisy, probabilistic
from andre.inference.truth_tables import TruthTables
from andre.learning import Definition, background_of, labels_of, learn
from andre.logic import Program
from andre.samples import Language

__all__ = ["Condition", "Lesson", "Outcome", "attempt", "flaws", "judge"]


@dataclass(frozen=True)
class Condition:
    """How facts are made worse before anything is learned from them.

    Examples
    --------
    >>> str(Condition(flipped=0.2)), str(Condition(uncertain="target"))
    ('20%', 'uncertain target')
    """

    flipped: float = 0.0  #: the share of the target's labels that are turned over
    uncertain: Literal["nothing", "target", "everything"] = "nothing"  #: what gets probabilities

    def __str__(self) -> str:
        return f"{self.flipped:.0%}" if self.uncertain == "nothing" else f"uncertain {self.uncertain}"

    def spoil(self, facts: FactBase, target: str, seed: int) -> FactBase:
        """The facts as they are learned from."""
        if self.flipped:
            facts = noisy(facts, target, self.flipped, seed)
        if self.uncertain == "nothing":
            return facts
        return probabilistic(facts, seed, only=[target] if self.uncertain == "target" else None)


@dataclass(frozen=True)
class Lesson:
    """What to learn, from which facts, and how; the seed makes the facts and draws the first weights."""

    task: str
    seed: int
    condition: Condition = Condition()
    short_bodies: bool = True  #: whether all short bodies are pooled with those of the runs
    options: Mapping[str, Any] = field(default_factory=dict)  #: more of what `learn` takes


@dataclass(frozen=True)
class Outcome:
    """What came out of a lesson."""

    task: str
    seed: int
    condition: str
    short_bodies: bool
    recovered: bool  #: the program derives exactly the target on the held-out domain
    accuracy: float  #: on all atoms over the constants of the held-out domain
    flaws: tuple[str, ...]  #: what is wrong with the program's form, see `flaws`
    excess: float  #: nats by which its description is longer than that of a correct program
    program: str
    seconds: float


def attempt(lesson: Lesson) -> Outcome:
    """Learn once.

    Examples
    --------
    >>> outcome = attempt(Lesson("predecessor", seed=1, options={"restarts": 1, "rounds": 1}))
    >>> outcome.recovered, outcome.flaws, outcome.program
    (True, (), 'predecessor(X1, X2) :- successor(X2, X1).')
    """
    task, seed = TASKS[lesson.task], lesson.seed
    facts = lesson.condition.spoil(task.train(seed), task.target, seed)
    began = time.perf_counter()
    (definition,) = learn(
        facts,
        task.target,
        variables=task.variables,
        seed=seed,
        short_bodies=lesson.short_bodies,
        **lesson.options,
    )
    seconds = time.perf_counter() - began
    accuracy = judge(definition.program, task.test(seed), definition.key)
    truth = _length(task.truth, facts, definition)
    return Outcome(
        task=task.name,
        seed=seed,
        condition=str(lesson.condition),
        short_bodies=lesson.short_bodies,
        recovered=accuracy == 1,
        accuracy=accuracy,
        flaws=tuple(flaws(definition.program, facts, definition.key)),
        excess=definition.length - truth,
        program=str(definition.program),
        seconds=seconds,
    )


def judge(program: Program, facts: FactBase, target: Key) -> float:
    """The share of all atoms over the constants that a program decides rightly, 0 where one stays undecided.

    The program runs alone, from the background to its fixpoint; it reads no
    fact of the target.

    Examples
    --------
    >>> task = TASKS["even"]
    >>> judge(task.truth, task.test(), ("even", 1)), judge(Program(), task.test(), ("even", 1)) < 0.5
    (1.0, True)
    """
    model, total = _model(program, facts, target)
    relation = facts.relations[target]
    truth = np.zeros(tuple(model.shape), dtype=np.bool_)
    truth[tuple(relation.codes.T)] = True
    return float((model.numpy() == truth).mean()) if total else 0.0


def flaws(program: Program, facts: FactBase, target: Key) -> Iterator[str]:
    """What is wrong with a program beside its mistakes.

    Every rule must have support, change the model, bind the head's variables,
    and have every other variable twice.

    Examples
    --------
    >>> from andre.logic import parse_program
    >>> rules = parse_program("even(X) :- zero(X). even(X) :- zero(X), successor(X, Y).")
    >>> list(flaws(rules, TASKS["even"].train(), ("even", 1)))
    ['rule 1 is redundant', 'rule 2 has a variable that occurs once', 'rule 2 is redundant']
    """
    model, _ = _model(program, facts, target)
    for number, rule in enumerate(program, start=1):
        evidence = rule.on("train")
        if evidence is not None and not evidence.n_r:
            yield f"rule {number} has no support"
        args = [arg for literal in rule.body for arg in literal.atom.args]
        if not set(rule.head.variables) <= set(args):
            yield f"rule {number} leaves a variable of its head free"
        if any(args.count(variable) < 2 for variable in rule.auxiliary_variables):
            yield f"rule {number} has a variable that occurs once"
        others = Program(tuple(other for place, other in enumerate(program, start=1) if place != number))
        if torch.equal(_model(others, facts, target)[0], model):
            yield f"rule {number} is redundant"


def _model(program: Program, facts: FactBase, target: Key) -> tuple[torch.Tensor, bool]:
    """What a program derives from the background, [N, ...], and whether nothing stays undecided."""
    rules = RuleBase(TruthTables.of(background_of(facts, target)), target)
    models, total = rules.models([tuple(map(rules.add, program))])
    return models[0], bool(total[0])


def _length(program: Program, facts: FactBase, definition: Definition) -> float:
    """The description length of the labels learned from under another program."""
    model, _ = _model(program, facts, definition.key)
    name, arity = definition.key
    labels = labels_of(facts, Language(f"{name}/{arity}"))
    covered = labels.counts(model[None])[0]
    m = definition.result.space.m
    return float(description_length(covered, labels.totals, program.n_literals, len(program), m=m))
