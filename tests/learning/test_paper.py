"""Preset paper is the paper: what it may say of a target, and what it chooses."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learning.small_facts import base

from andre.census import head_domains, take_census
from andre.errors import DataError
from andre.evaluation import CrispSample
from andre.facts import TASKS, read_facts
from andre.learning import Config, Floor, Plan, SelectionConfig, distinct_bodies, learn
from andre.learning.choose.selection import all_sound, most_accurate
from andre.learning.config import Guide
from andre.learning.descent.trainer import Trainer
from andre.logic import Program, parse_atom, parse_program
from andre.model import row_weights
from andre.samples import Language, Sample

QUICK = {"preset": "paper", "steps": 80, "learning_rate": 0.1, "restarts": 2, "subrules": (1,)}


def opposites() -> list[str]:
    """`over` holds one way round for every pair of ten, which nothing else tells."""
    return [f"over(c{x}, c{y})" for x in range(10) for y in range(10) if x < y]


@pytest.mark.parametrize("mode", ["complete", "define"])
def test_the_mode_changes_nothing_of_what_the_paper_learns(mode: str) -> None:
    """It has one way to learn, which reads and may deny the target in either mode."""
    facts = base(*opposites(), *(f"p(c{x})" for x in range(10)))
    theory = learn(facts, "over/2", mode=mode, variables=2, criterion="accuracy", **QUICK)
    assert str(theory.program) == "over(X1, X2) :- \\+ over(X2, X1)."
    assert not theory.plan.identity


def test_by_default_completion_denies_no_target() -> None:
    facts = base(*opposites(), *(f"p(c{x})" for x in range(10)))
    how = {**QUICK, "preset": "default", "semantics": "rows", "mode": "complete", "safe": False}
    assert "\\+ over" not in str(learn(facts, "over/2", variables=2, **how).program)
    assert "\\+ over" in str(learn(facts, "over/2", variables=2, negated_target=True, **how).program)
    assert not Config.preset().selection.negated_target
    assert Config.preset("paper").selection.negated_target


def test_the_rule_and_the_accuracy_of_the_paper_for_alzheimers(datasets: Path) -> None:
    theory = learn(read_facts(datasets / "alzheimers_amine.nl"), "great_ne/2", preset="paper", steps=120)
    assert theory.plan.mode == "complete"
    assert str(theory.program) == "great_ne(X1, X2) :- \\+ great_ne(X2, X1)."
    (definition,) = theory
    seen = definition.confusion
    right = seen.true_positives + seen.true_negatives
    assert round(right / (right + seen.false_positives + seen.false_negatives), 4) == 0.9216


def test_four_variables_give_the_counts_that_the_paper_prints(datasets: Path) -> None:
    """N_b and N_r of its rules for negativecomm, training and validation rows together."""
    facts = read_facts(datasets / "nations.nl")
    plan = Plan.of(facts, "negativecomm/2", preset="paper", variables=4)
    census = take_census(facts, plan.language, semantics=plan.semantics, mode=plan.mode)
    crisp = CrispSample.of(census.to_sample())
    printed = {
        "negativebehavior(X1, X2), timesinceally(X2, X1)": (2228 + 124, 2228 + 124),
        "negativebehavior(X1, X2), accusation(X1, X2)": (2799 + 141, 2615 + 129),
        "negativebehavior(X1, X2), pprotests(X1, X2)": (1853 + 107, 1853 + 107),
        "negativecomm(X2, X1)": (2813 + 127, 2250 + 102),
    }
    for body, (n_b, n_r) in printed.items():
        codes = crisp.space.encode(parse_program(f"negativecomm(X1, X2) :- {body}."))
        right, wrong = crisp.body_counts(codes)[0]
        assert (right + wrong, right) == (n_b, n_r), body


def test_a_head_of_one_argument_ranges_over_all_constants() -> None:
    facts = TASKS["odd"].train()
    language = Language.preset("paper", "odd/1")
    (domain,) = head_domains(facts, language, "rows")
    assert len(domain) == len(facts.constants)
    census = take_census(facts, language, semantics="rows").require_both_classes()
    n = len(facts.constants)
    assert not Language("odd/1").unary_negatives
    with pytest.raises(DataError, match=r"no negative examples in rows: .*unary_negatives"):
        take_census(facts, Language("odd/1"), semantics="rows").require_both_classes()
    assert census.groundings == n**3
    assert census.negative == (n - len(facts.relations["odd", 1])) * n**2


def test_stated_negatives_are_all_the_negatives_there_are() -> None:
    facts = base("p(a)", "p(b)", "q(a)", "q(d)", negatives=[parse_atom("p(c)")])
    (domain,) = head_domains(facts, Language.preset("paper", "p/1", variables=1), "rows")
    assert {facts.constants[code] for code in domain} == {"a", "b", "c"}


@st.composite
def samples(draw: st.DrawFn) -> CrispSample:
    rows = draw(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=2, max_size=12))
    labels = draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    labels[:2] = [True, False]
    return CrispSample.of(Sample.from_arrays(np.array(rows, dtype=float), labels))


runs = st.lists(
    st.lists(st.lists(st.integers(-1, 1), min_size=3, max_size=3), min_size=1, max_size=3).map(
        lambda codes: np.array(codes, dtype=np.int8)
    ),
    max_size=4,
)


@settings(max_examples=80)
@given(samples(), runs, st.booleans(), st.floats(0.05, 1))
def test_nothing_less_accurate_than_no_program_is_chosen(
    sample: CrispSample, programs: list, redundant: bool, tau: float
) -> None:
    config = SelectionConfig(criterion="accuracy", accuracy=tau, redundant=redundant, min_confidence=0.0)
    chosen = most_accurate(sample, programs, [len(run) for run in programs], config)
    empty = sample.accuracy(Program())
    assert sample.accuracy(chosen.codes) > empty or not len(chosen.codes)
    if not len(chosen.codes):
        assert all(sample.accuracy(distinct_bodies(run)) <= empty for run in programs)


def test_rules_that_add_nothing_stay_only_where_they_are_asked_for() -> None:
    rows = [[1, 1], [1, 0], [0, 0], [0, 0]]
    sample = CrispSample.of(Sample.from_arrays(rows, [1, 1, 0, 0]))
    program = np.array([[1, 0], [0, 1]], dtype=np.int8)
    for redundant, left in ((True, 2), (False, 1)):
        config = SelectionConfig(criterion="accuracy", redundant=redundant)
        assert len(most_accurate(sample, [program], [2], config).codes) == left


@settings(max_examples=80)
@given(samples(), runs, st.floats(0, 0.99))
def test_sound_rules_of_all_runs_are_one_program(sample: CrispSample, programs: list, least: float) -> None:
    """It covers what they do, and nothing in it is a longer form of something else in it."""
    config = SelectionConfig(criterion="soundness", min_confidence=least)
    chosen = all_sound(sample, programs, config).codes
    bodies = [body for run in programs for body in run if body.any()]
    sound = [body for body in bodies if Floor(0, least).passes(sample.body_counts(body[None]))[0]]
    expected = np.zeros_like(sample.predicts(chosen))
    for body in sound:
        expected |= sample.predicts(body[None])
    assert np.array_equal(sample.predicts(chosen), expected)
    for one, other in permutations(chosen.tolist(), 2):
        assert not all(a in (0, b) for a, b in zip(one, other, strict=True))


def test_facts_that_state_their_target_are_learned_by_soundness_and_knowledge_bases_by_accuracy(
    tmp_path: Path,
) -> None:
    facts = TASKS["father"].train()
    plan = Plan.of(facts, "father/2", preset="paper")
    assert (plan.config.selection.criterion, plan.config.selection.min_confidence) == ("soundness", 0.999)
    plain = Plan.of(facts, "father/2", preset="paper", criterion="accuracy")
    assert plain.config == Config.preset("paper")
    assert Plan.of(facts, "father/2").config == Config()
    (tmp_path / "few.nl").write_text("p(a,b).\np(b,c).\n")
    assert Plan.of(read_facts(tmp_path / "few.nl"), "p/2", preset="paper").config == Config.preset("paper")


@pytest.mark.parametrize(("copies", "weight"), [(1, 6), (40, 128)])
def test_a_step_weighs_no_more_than_a_batch_of_rows(copies: int, weight: float) -> None:
    """Equal rows are merged, but a batch is so many rows, each counted as often as it occurs."""
    rows = np.tile([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], (2 * copies, 1))
    sample = Sample.from_arrays(rows, [1, 0, 1] * 2 * copies)
    trainer = Trainer(sample, Config.preset("paper"), Guide())
    (batch,) = trainer._train.batches((0, 0, 0))
    assert float(sum(label.sum() for label in batch.labels)) == pytest.approx(weight)
    positive, negative = row_weights(sample, trainer.config.loss)
    assert float(positive.sum() + negative.sum()) == pytest.approx(6 * copies)
