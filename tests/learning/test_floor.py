"""The floor: no rule is chosen that has less support or confidence than was asked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.learning.small_facts import base, chain, quick

from andre.evaluation import CrispSample
from andre.facts import FactBase
from andre.learning import Config, Floor, SelectionConfig, prune, select
from andre.learning.choose.pool import RulePool
from andre.learning.choose.rejection import Weighing
from andre.learning.choose.selection import most_accurate, pool_rules
from andre.samples import RuleSpace, Sample

M = 3
floors = st.builds(Floor, st.sampled_from([0.0, 0.5, 1.0, 2.0, 2.7]), st.sampled_from([0.0, 0.25, 0.5, 0.8]))
weights = st.sampled_from([0.0, 0.25, 0.9, 1.0, 2.0, 5.0])
counts = hnp.arrays(np.float64, st.tuples(st.integers(0, 6), st.just(2)), elements=weights)
programs = hnp.arrays(np.int8, st.tuples(st.integers(0, 6), st.just(M)), elements=st.integers(-1, 1))


@st.composite
def samples(draw) -> CrispSample:
    """Rows whose labels may be uncertain."""
    cells = st.sampled_from([0.0, 0.5, 1.0, np.nan])
    table = draw(hnp.arrays(np.float64, st.tuples(st.integers(2, 12), st.just(M)), elements=cells))
    labels = draw(hnp.arrays(np.float64, len(table), elements=st.sampled_from([0.0, 0.2, 0.9, 1.0])))
    space = RuleSpace.from_names([f"b{column}" for column in range(M)])
    return CrispSample.of(Sample(space, table, labels, 1 - labels))


@given(floors, counts)
def test_rules_pass_by_support_and_confidence(floor: Floor, covered: np.ndarray) -> None:
    for passed, (right, wrong) in zip(floor.passes(covered), covered, strict=True):
        assert passed == (right >= floor.support and right > floor.confidence * (right + wrong))


@given(floors, floors, counts)
def test_a_higher_floor_lets_fewer_pass(one: Floor, two: Floor, covered: np.ndarray) -> None:
    both = Floor(max(one.support, two.support), max(one.confidence, two.confidence))
    assert np.array_equal(both.passes(covered), one.passes(covered) & two.passes(covered))


@given(floors, counts)
def test_a_reason_is_given_just_where_a_rule_falls_short(floor: Floor, covered: np.ndarray) -> None:
    reasons = [floor.shortfall(own) for own in covered]
    assert [reason is None for reason in reasons] == floor.passes(covered).tolist()


def test_probabilities_that_add_up_to_the_least_support_are_enough() -> None:
    tenths = np.zeros(2)
    for _ in range(10):
        tenths += [0.1, 0.0]
    assert tenths[0] < 1
    assert Floor(support=1).passes(tenths)


@settings(max_examples=60)
@given(samples(), programs, floors)
def test_pruning_keeps_what_rules_above_the_floor_cover(
    sample: CrispSample, codes: np.ndarray, floor: Floor
) -> None:
    kept, sound = prune(sample, codes, floor), codes[floor.passes(sample.body_counts(codes))]
    assert floor.passes(sample.body_counts(kept)).all()
    assert np.array_equal(sample.predicts(kept), sample.predicts(sound))
    # Where all rules have that support, to ask for it changes nothing.
    assert np.array_equal(prune(sample, sound, Floor(0, floor.confidence)), kept)


@settings(max_examples=60)
@given(samples(), st.lists(programs, min_size=1, max_size=3), floors, st.booleans(), st.booleans())
def test_every_chosen_rule_reaches_the_floor(
    sample: CrispSample, runs: list, floor: Floor, combine: bool, refine: bool
) -> None:
    config = SelectionConfig(
        min_support=floor.support, min_confidence=floor.confidence, combine=combine, refine=refine
    )
    pooled = pool_rules(sample, np.concatenate(runs), config)
    accurate = most_accurate(sample, runs, [len(run) for run in runs], config)
    for codes in (select(sample, runs, config).codes, accurate.codes, pooled):
        assert floor.passes(sample.body_counts(codes)).all()


def test_by_default_large_targets_ask_for_two_and_others_for_nothing() -> None:
    config = SelectionConfig()
    assert [config.floor(count).support for count in (0, 1, 99, 100, 10**6)] == [0, 0, 0, 2, 2]
    assert config.floor().support == 0
    assert SelectionConfig(min_support=0).floor(10**6).support == 0
    assert SelectionConfig(min_support=1.5).floor(1).support == 1.5
    assert Config.preset("paper").selection.floor(10**6) == Floor(0, 0)


def parts(n: int, odd: int, chance: float = 1.0) -> FactBase:
    """So many parts and wholes; a few pairs, whose facts have a chance, are odd ones as well."""
    facts = [f"part(w{place}, v{place})" for place in range(n)]
    chances = [chance] * odd + [1.0] * n
    return base(*facts, *(f"odd(w{place}, v{place})" for place in range(odd)), probabilities=chances)


@pytest.mark.parametrize(
    ("n", "odd", "chance", "min_support", "support"),
    [
        (60, 1, 1.0, None, 1),  # a small target
        (60, 1, 1.0, 2, None),
        (120, 1, 1.0, None, None),  # one fact pays for a rule, and is chance
        (120, 1, 1.0, 0, 1),
        (120, 1, 1.0, 1, 1),
        (120, 2, 1.0, None, 2),
        (120, 2, 0.9, None, None),  # 1.8 facts, going by their probabilities
        (120, 2, 0.9, 1.8, 1.8),
        (120, 3, 0.9, None, 2.7),
    ],
)
def test_a_rule_for_one_fact_of_many_is_left_out(
    n: int, odd: int, chance: float, min_support: float | None, support: float | None
) -> None:
    options = {"mode": "complete", "variables": 2, "min_support": min_support}
    (made,) = quick(parts(n, odd, chance), "part/2", **options)
    found = [rule.on("train").n_r for rule in made.program]
    if support is None:
        assert found == []
        assert "its support of" in made.rejected[0].reason
        assert (made.reason or "").endswith("2 are the least")
    else:
        assert found == [pytest.approx(support)]


def numbers(n: int) -> FactBase:
    steps = [f"successor(n{place}, n{place + 1})" for place in range(n)]
    return base("zero(n0)", *steps, *(f"even(n{place})" for place in range(0, n + 1, 2)))


def test_a_base_case_is_one_fact_in_a_definition_of_any_size() -> None:
    (made,) = quick(numbers(204), "even/1", variables=2)
    assert made.confusion.true_positives > 100
    assert sorted(rule.on("train").n_r for rule in made.program) == [1, 102]


@pytest.mark.parametrize("least", [2, 7, 8])
def test_a_definition_has_the_least_support_that_was_asked_for(least: int) -> None:
    """Of the paths along a chain of seven edges, seven are edges."""
    for facts, target in ((numbers(20), "even/1"), (chain(7), "path/2")):
        (made,) = quick(facts, target, variables=2 if target == "even/1" else 3, min_support=least)
        assert all(rule.on("train").n_r >= least for rule in made.program)
    assert len(made.program) == (2 if least <= 7 else 0)


def test_a_rule_for_rare_examples_is_withheld_with_what_would_take_it() -> None:
    """It is right about 20 of 60, a guess about one in a hundred; of common examples nothing is told."""
    space = RuleSpace.from_names(["p", "q"])
    pool = RulePool(space, np.eye(2, dtype=np.int8), np.array([[20.0, 40.0], [2.0, 198.0]]))
    shown = Weighing(pool, np.array([20.0, 1980.0]), Floor()).why_nothing(None)
    assert "33 times as often as a guess, and --set min_confidence=0.3 takes such rules" in shown
    common = RulePool(space, pool.bodies[1:], pool.counts[1:])
    shown = Weighing(common, np.array([20.0, 1980.0]), Floor()).why_nothing(None)
    assert "min_confidence" not in shown
