"""Definitions chosen at their fixpoint: bodies in, the shortest program out."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.census.strategies import fact_bases

from andre.arrays import Floats
from andre.census import take_census
from andre.evaluation import JoinedRules, JoinJudge, Judge, description_length
from andre.evaluation.fixpoint import Labels, RuleBase, TableJudge
from andre.facts import TASKS, FactBase
from andre.inference.truth_tables import TruthTables
from andre.learning import SelectionConfig, background_of, labels_of, listed_labels
from andre.learning.choose import DefinitionChooser
from andre.limits import Deadline, limited
from andre.logic import Program, parse_atom
from andre.samples import Codes, Form, Language

RECURSIVE = ("even", "lessThan", "relatedness", "connectedness")


def judge_of(facts: FactBase, language: Language, *, tabled: bool = True) -> Judge:
    key = language.key(facts)
    background, labels = background_of(facts, key), listed_labels(facts, language)
    if tabled:
        return TableJudge(RuleBase(TruthTables.of(background), key), Labels.of(labels))
    return JoinJudge(JoinedRules.of(background, key), labels)


def chooser_of(
    facts: FactBase, language: Language, *, tabled: bool = True, **settings: object
) -> DefinitionChooser:
    form = language.form(take_census(facts, language).space)
    return DefinitionChooser(judge_of(facts, language, tabled=tabled), form, SelectionConfig(**settings))


def pool_of(form: Form, facts: FactBase) -> Codes:
    """All bodies of one or two literals, in a fixed order that says nothing of their worth."""
    return np.random.default_rng(len(facts)).permutation(form.short_bodies())


def length_of(chooser: DefinitionChooser, codes: Codes) -> float:
    """The description length at the fixpoint, from scratch."""
    covered = counts_of(chooser, codes)
    if np.isnan(covered).any():
        return math.inf
    size = int(np.count_nonzero(codes))
    return float(description_length(covered, chooser.judge.totals, size, len(codes), m=chooser.form.space.m))


def counts_of(chooser: DefinitionChooser, codes: Codes) -> Floats:
    """The true and false examples that a program derives."""
    numbers = tuple(sorted({_number(chooser, body) for body in codes}))
    return chooser.judge.judge([numbers]).counts[0]


@pytest.mark.parametrize("tabled", [True, False])
@pytest.mark.parametrize("name", RECURSIVE)
def test_base_cases_and_steps_are_found_together(name: str, tabled: bool) -> None:
    """From all short bodies, and no run: neither a base case nor a step alone is worth much."""
    task = TASKS[name]
    facts = task.train(1)
    language = Language(task.target, task.variables)
    chooser = chooser_of(facts, language, tabled=tabled)
    codes, length = chooser.choose(pool_of(chooser.form, facts))
    assert length == pytest.approx(length_of(chooser, codes), abs=1e-6)
    assert counts_of(chooser, codes).tolist() == [chooser.judge.totals[0], 0]
    for place in range(len(codes)):  # none is redundant
        assert counts_of(chooser, np.delete(codes, place, axis=0))[0] < chooser.judge.totals[0]


@settings(max_examples=25)
@given(fact_bases(max_facts=10), st.integers(1, 3))
def test_no_better_pair_is_overlooked_in_a_small_pool(facts: FactBase, max_rules: int) -> None:
    language = Language("p/2", 2)
    chooser = chooser_of(facts, language, max_rules=max_rules)
    if not chooser.judge.totals.all():
        return
    pool = pool_of(chooser.form, facts)[:12]
    codes, length = chooser.choose(pool)
    assert len(codes) <= max_rules
    assert length == pytest.approx(length_of(chooser, codes), abs=1e-6)
    assert length <= length_of(chooser, pool[:0]) + 1e-6
    assert chooser.form.admits(codes).all()
    singles = [pool[place : place + 1] for place in range(len(pool))]
    best = min((length_of(chooser, body) for body in singles if _sure(chooser, body)), default=math.inf)
    assert length <= best + 1e-6
    if max_rules > 1:  # a base case and a step are always tried together
        for one, two in combinations(singles, 2):
            bodies = np.concatenate([one, two])
            kinds = {chooser.judge.is_recursive(_number(chooser, body)) for body in bodies}
            if kinds == {True, False} and _sure(chooser, bodies):
                assert length <= length_of(chooser, bodies) + 1e-6


def _number(chooser: DefinitionChooser, body: Codes) -> int:
    return chooser.judge.add(chooser.form.space.rule(body))


def _sure(chooser: DefinitionChooser, codes: Codes) -> bool:
    """Whether what a program derives is right more often than not."""
    right, wrong = counts_of(chooser, codes)
    return bool(right > 0.5 * (right + wrong))


@pytest.mark.parametrize("marks", [False, True])
@pytest.mark.parametrize("world", ["closed", "open"])
@pytest.mark.parametrize("denied", [False, True])
def test_labels_are_the_examples_of_the_census(denied: bool, world: str, marks: bool) -> None:
    @settings(max_examples=15)
    @given(fact_bases(denied=denied, world=world, marks=marks), st.integers(2, 3))
    def check(facts: FactBase, variables: int) -> None:
        language = Language("p/2", variables)
        census = take_census(facts, language)
        for labels in (labels_of(facts, language), listed_labels(facts, language)):
            assert labels.totals.tolist() == pytest.approx([census.positive, census.negative])

    check()


def test_a_definition_reads_neither_its_target_nor_test_facts() -> None:
    names = ["p(a,b)", "q(a,b)", "q(b,c)", "p(b,c)"]
    facts = FactBase.from_facts(map(parse_atom, names), marks=["train", "train", "test", "valid"])
    kept = background_of(facts, ("p", 2))
    assert [str(atom) for atom in kept.atoms("q", 2)] == ["q(a, b)"]
    assert ("p", 2) not in kept.relations


def test_a_deadline_that_has_passed_still_gives_a_sound_program() -> None:
    task = TASKS["grandparent"]
    facts, language = task.train(0), Language(task.target, 3)
    made = chooser_of(facts, language)
    pool = pool_of(made.form, facts)
    with limited(Deadline.after(0)) as watch:
        codes, length = made.choose(pool)
    assert watch.cut
    assert length <= length_of(made, codes[:0])
    assert isinstance(made.form.space.program(codes), Program)
