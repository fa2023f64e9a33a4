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
from andre.learning.choose.definition import Definer
from andre.limits import Deadline
from andre.logic import Program, parse_atom
from andre.samples import Codes, Form, Language

RECURSIVE = ("even", "lessThan", "relatedness", "connectedness")


def definer_of(facts: FactBase, language: Language, **settings: object) -> Definer:
    key = language.key(facts)
    rules = RuleBase(TruthTables.of(background_of(facts, key)), key)
    form = language.form(take_census(facts, language).space)
    return Definer(rules, labels_of(facts, language), form, SelectionConfig(**settings))


def pool_of(form: Form, facts: FactBase) -> Codes:
    """All bodies of one or two literals, in a fixed order that says nothing of their worth."""
    return np.random.default_rng(len(facts)).permutation(form.short_bodies())


def length_of(definer: Definer, codes: Codes) -> float:
    """The description length at the fixpoint, from scratch."""
    numbers = tuple(sorted({definer.rules.add(definer.form.space.rule(body)) for body in codes}))
    models, total = definer.rules.models([numbers])
    if not total[0]:
        return math.inf
    covered = definer.labels.counts(models)[0]
    size = int(np.count_nonzero(codes))
    return float(description_length(covered, definer.labels.totals, size, len(codes), m=definer.form.space.m))


@pytest.mark.parametrize("name", RECURSIVE)
def test_base_cases_and_steps_are_found_together(name: str) -> None:
    """From all short bodies, and no run: neither a base case nor a step alone is worth much."""
    task = TASKS[name]
    facts = task.train(1)
    language = Language(task.target, task.variables)
    definer = definer_of(facts, language)
    codes, length = definer.define(pool_of(definer.form, facts))
    assert length == pytest.approx(length_of(definer, codes), abs=1e-6)
    numbers = tuple(definer.rules.add(definer.form.space.rule(body)) for body in codes)
    models, _ = definer.rules.models([numbers])
    assert definer.labels.counts(models)[0].tolist() == [definer.labels.totals[0], 0]
    for rule in numbers:  # none is redundant
        rest = tuple(other for other in numbers if other != rule)
        assert not bool((definer.rules.models([rest])[0] == models).all())


@settings(max_examples=25)
@given(fact_bases(max_facts=10), st.integers(1, 3))
def test_no_better_pair_is_overlooked_in_a_small_pool(facts: FactBase, max_rules: int) -> None:
    language = Language("p/2", 2)
    definer = definer_of(facts, language, max_rules=max_rules)
    if not definer.labels.totals.all():
        return
    pool = pool_of(definer.form, facts)[:12]
    codes, length = definer.define(pool)
    assert len(codes) <= max_rules
    assert length == pytest.approx(length_of(definer, codes), abs=1e-6)
    assert length <= definer.empty_length() + 1e-6
    assert definer.form.admits(codes).all()
    singles = [pool[place : place + 1] for place in range(len(pool))]
    best = min((length_of(definer, body) for body in singles if _sure(definer, body)), default=math.inf)
    assert length <= best + 1e-6
    if max_rules > 1:  # a base case and a step are always tried together
        for one, two in combinations(singles, 2):
            bodies = np.concatenate([one, two])
            kinds = {definer.rules.is_recursive(_number(definer, body)) for body in bodies}
            if kinds == {True, False} and _sure(definer, bodies):
                assert length <= length_of(definer, bodies) + 1e-6


def _number(definer: Definer, body: Codes) -> int:
    return definer.rules.add(definer.form.space.rule(body))


def _sure(definer: Definer, codes: Codes) -> bool:
    """Whether what a program derives is right more often than not."""
    models, total = definer.rules.models([tuple(_number(definer, body) for body in codes)])
    right, wrong = definer.labels.counts(models)[0]
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
    made = definer_of(facts, language)
    late = Definer(made.rules, made.labels, made.form, made.config, Deadline.after(0))
    codes, length = late.define(pool_of(late.form, facts))
    assert length <= late.empty_length()
    assert isinstance(late.form.space.program(codes), Program)
