"""Definitions chosen at their fixpoint: bodies in, the shortest program out."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.census.strategies import fact_bases

from andre.census import take_census
from andre.evaluation import description_length
from andre.evaluation.fixpoint import RuleBase
from andre.facts import TASKS, FactBase
from andre.inference.truth_tables import TruthTables
from andre.learning import SelectionConfig, background_of, labels_of
from andre.learning.choose import DefinitionChooser
from andre.limits import Deadline, limited
from andre.logic import Program, parse_atom
from andre.samples import Codes, Form, Language

RECURSIVE = ("even", "lessThan", "relatedness", "connectedness")


def chooser_of(facts: FactBase, language: Language, **settings: object) -> DefinitionChooser:
    key = language.key(facts)
    rules = RuleBase(TruthTables.of(background_of(facts, key)), key)
    form = language.form(take_census(facts, language).space)
    return DefinitionChooser(rules, labels_of(facts, language), form, SelectionConfig(**settings))


def pool_of(form: Form, facts: FactBase) -> Codes:
    """All bodies of one or two literals, in a fixed order that says nothing of their worth."""
    return np.random.default_rng(len(facts)).permutation(form.short_bodies())


def length_of(chooser: DefinitionChooser, codes: Codes) -> float:
    """The description length at the fixpoint, from scratch."""
    numbers = tuple(sorted({chooser.rules.add(chooser.form.space.rule(body)) for body in codes}))
    models, total = chooser.rules.models([numbers])
    if not total[0]:
        return math.inf
    covered = chooser.labels.counts(models)[0]
    size = int(np.count_nonzero(codes))
    return float(description_length(covered, chooser.labels.totals, size, len(codes), m=chooser.form.space.m))


@pytest.mark.parametrize("name", RECURSIVE)
def test_base_cases_and_steps_are_found_together(name: str) -> None:
    """From all short bodies, and no run: neither a base case nor a step alone is worth much."""
    task = TASKS[name]
    facts = task.train(1)
    language = Language(task.target, task.variables)
    chooser = chooser_of(facts, language)
    codes, length = chooser.choose(pool_of(chooser.form, facts))
    assert length == pytest.approx(length_of(chooser, codes), abs=1e-6)
    numbers = tuple(chooser.rules.add(chooser.form.space.rule(body)) for body in codes)
    models, _ = chooser.rules.models([numbers])
    assert chooser.labels.counts(models)[0].tolist() == [chooser.labels.totals[0], 0]
    for rule in numbers:  # none is redundant
        rest = tuple(other for other in numbers if other != rule)
        assert not bool((chooser.rules.models([rest])[0] == models).all())


@settings(max_examples=25)
@given(fact_bases(max_facts=10), st.integers(1, 3))
def test_no_better_pair_is_overlooked_in_a_small_pool(facts: FactBase, max_rules: int) -> None:
    language = Language("p/2", 2)
    chooser = chooser_of(facts, language, max_rules=max_rules)
    if not chooser.labels.totals.all():
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
            kinds = {chooser.rules.is_recursive(_number(chooser, body)) for body in bodies}
            if kinds == {True, False} and _sure(chooser, bodies):
                assert length <= length_of(chooser, bodies) + 1e-6


def _number(chooser: DefinitionChooser, body: Codes) -> int:
    return chooser.rules.add(chooser.form.space.rule(body))


def _sure(chooser: DefinitionChooser, codes: Codes) -> bool:
    """Whether what a program derives is right more often than not."""
    models, total = chooser.rules.models([tuple(_number(chooser, body) for body in codes)])
    right, wrong = chooser.labels.counts(models)[0]
    return bool(total[0] and right > 0.5 * (right + wrong))


@pytest.mark.parametrize("marks", [False, True])
@pytest.mark.parametrize("world", ["closed", "open"])
@pytest.mark.parametrize("denied", [False, True])
def test_labels_are_the_examples_of_the_census(denied: bool, world: str, marks: bool) -> None:
    @settings(max_examples=15)
    @given(fact_bases(denied=denied, world=world, marks=marks), st.integers(2, 3))
    def check(facts: FactBase, variables: int) -> None:
        language = Language("p/2", variables)
        census = take_census(facts, language)
        assert labels_of(facts, language).totals.tolist() == [census.positive, census.negative]

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
