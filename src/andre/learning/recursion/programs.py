"""Programs with a recursive rule that are found along chains of goals, ranked by their fixpoint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from andre.evaluation import Judge, ListedLabels, description_length
from andre.facts import FactBase
from andre.learning.config import Config
from andre.learning.judged_by import background_of, fits_tables, judge_over, listed_labels
from andre.learning.plan import Plan
from andre.learning.recursion.components import Vocabulary
from andre.learning.recursion.goal_chains import ChainSearch
from andre.limits import limited, stage, time_left, unhurried
from andre.logic import Program, Rule
from andre.samples import Language

#: The share of the time that is left in which chains of goals are followed, and the true examples up to
#: which they are: of many, base cases and what they lead to are among the examples.
FOR_CHAINS, FEW = 0.5, 500


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
    with limited(time_left().share(FOR_CHAINS)), stage("following chains of goals"):
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
    if len(plan.known) or not 0 < labels.totals[0] <= FEW:
        return None
    tabled = fits_tables(facts, plan.table_cells)
    # In a space that is not laid out, every relation may stand on every choice of variables.
    m = max(2, sum(language.variables**arity for _, arity in language.body_keys(facts)))
    ranker = _Ranker(
        judge_over(background_of(facts, key), key, labels, tabled=tabled, few=True), m, plan.config
    )
    found: list[tuple[tuple[bool, float], int, Program]] = []
    with stage("judging programs at their fixpoint"):
        for place, program in enumerate(_chain_programs(facts, language, labels, m, plan.config)):
            found.append((ranker(program.rules), place, program))
    if not found:
        return None
    (mistaken, length), _, program = min(found)
    empty = ranker(())[1]
    return None if mistaken and length >= empty else Recursion(program, not mistaken)


def along_chains(
    rules: tuple[Rule, ...], judge: Judge, facts: FactBase, language: Language, config: Config, m: int
) -> Recursion | None:
    """A program, or one of a recursive rule and its base cases that is better; None where it has no mistake.

    Better is one that makes no mistake, then one that describes the labels shorter.

    Parameters
    ----------
    rules
        The program that is chosen otherwise.
    m
        How many candidate atoms there are.
    """
    ranker = _Ranker(judge, m, config)
    with unhurried():
        best = ranker(rules)
    if not best[0]:
        return None
    for program in _chain_programs(facts, language, listed_labels(facts, language), m, config):
        found = ranker(program.rules)
        if found[0] < best[0] or (found[0] == best[0] and found[1] < best[1] - 1e-9):
            best, rules = found, program.rules
    return Recursion(Program(rules), not best[0])
