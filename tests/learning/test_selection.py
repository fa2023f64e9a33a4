"""Choosing a program: pruning, pooling, combining, and the paper's own rule."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from andre.evaluation import CrispSample, program_length
from andre.learning import Floor, SelectionConfig, distinct_bodies, prune, select
from andre.learning.choose.pool import RuleCoverage
from andre.learning.choose.selection import (
    Pruner,
    cheapest_programs,
    combine,
    most_accurate,
    nothing,
    pool_rules,
)
from andre.samples import SYNTHETIC_TASKS, Sample

M = 3
programs = hnp.arrays(np.int8, st.tuples(st.integers(0, 6), st.just(M)), elements=st.integers(-1, 1))


@st.composite
def samples(draw) -> CrispSample:
    cells = st.sampled_from([0.0, 0.5, 1.0, np.nan])
    table = draw(hnp.arrays(np.float64, st.tuples(st.integers(2, 12), st.just(M)), elements=cells))
    labels = draw(hnp.arrays(np.int64, len(table), elements=st.integers(0, 1)))
    return CrispSample.of(Sample.from_arrays(table, labels))


def codes_of(*rules: list[int]) -> np.ndarray:
    return np.array(rules, dtype=np.int8).reshape(len(rules), -1)


def admissible(sample: CrispSample, codes: np.ndarray, floor: float) -> np.ndarray:
    evidence = sample.evidence(codes, "train")
    return codes[[item.n_r > 0 and item.confidence > floor for item in evidence]]


@settings(max_examples=60)
@given(samples(), programs, st.sampled_from([0.0, 0.5]))
def test_pruning_keeps_what_admissible_rules_cover(
    sample: CrispSample, codes: np.ndarray, floor: float
) -> None:
    kept = prune(sample, codes, Floor(confidence=floor))
    sound = admissible(sample, codes, floor)
    assert np.array_equal(sample.predicts(kept), sample.predicts(sound))
    assert {tuple(rule) for rule in kept} <= {tuple(rule) for rule in sound}


@settings(max_examples=60)
@given(samples(), programs)
def test_no_kept_rule_is_vacuous_or_redundant(sample: CrispSample, codes: np.ndarray) -> None:
    kept = prune(sample, codes, Floor(confidence=0))
    covers = sample.covers(kept)
    for place in range(len(kept)):
        others = np.delete(covers, place, axis=0).any(axis=0)
        assert (covers[place] & ~others).any()
    assert all(item.n_r > 0 for item in sample.evidence(kept, "train"))


@settings(max_examples=40)
@given(samples(), st.lists(programs, min_size=1, max_size=3))
def test_a_pruner_remembers_and_changes_nothing(sample: CrispSample, runs: list) -> None:
    pruner = Pruner(sample, Floor())
    for codes in [*runs, *runs]:
        wanted = prune(sample, distinct_bodies(codes), Floor())
        assert pruner(codes).codes.tolist() == wanted.tolist()
        assert pruner(codes).length == program_length(sample, wanted)
        assert pruner(codes) is pruner(codes[::-1])


def test_of_two_rules_that_say_the_same_the_simpler_stays() -> None:
    sample = CrispSample.of(Sample.from_arrays([[1, 1, 0], [0, 0, 1]], [1, 0]))
    assert prune(sample, codes_of([1, 1, 0], [1, 0, 0]), Floor()).tolist() == [[1, 0, 0]]


def test_rules_that_are_wrong_too_often_go() -> None:
    sample = CrispSample.of(Sample.from_arrays([[1, 0], [1, 0], [1, 0], [0, 1]], [1, 0, 0, 1]))
    assert len(prune(sample, codes_of([1, 0], [0, 1]), Floor(confidence=0))) == 2
    assert prune(sample, codes_of([1, 0], [0, 1]), Floor()).tolist() == [[0, 1]]


@settings(max_examples=40)
@given(samples(), programs, st.integers(1, 4))
def test_the_pool_holds_bodies_and_their_shorter_ones(
    sample: CrispSample, codes: np.ndarray, most: int
) -> None:
    config = SelectionConfig(pool=1000)
    pool = pool_rules(sample, codes, config)
    shorter = [np.where(np.arange(M) == j, 0, body) for body in codes for j in np.flatnonzero(body)]
    known = {tuple(body) for body in [*codes, *shorter] if body.any()}
    good = {
        body
        for body in known
        if sample.evidence(codes_of(list(body)), "train")[0].confidence > config.min_confidence
    }
    assert {tuple(body) for body in pool} == good
    few = pool_rules(sample, codes, SelectionConfig(pool=most))
    assert few.tolist() == pool[:most].tolist()


@settings(max_examples=40)
@given(samples(), programs)
def test_combined_programs_have_the_length_they_claim(sample: CrispSample, codes: np.ndarray) -> None:
    config = SelectionConfig(max_rules=4)
    pool = pool_rules(sample, codes, config)
    for candidate in combine(RuleCoverage(sample, pool), config):
        assert candidate.length == pytest.approx(program_length(sample, candidate.codes), abs=1e-9)
        assert 1 <= len(candidate.codes) <= 4


@settings(max_examples=40)
@given(samples(), st.lists(programs, max_size=3), st.booleans(), st.booleans())
def test_the_chosen_program_has_its_length_and_beats_its_parts(
    sample: CrispSample, runs: list, use_combine: bool, use_refine: bool
) -> None:
    config = SelectionConfig(combine=use_combine, refine=use_refine)
    chosen = select(sample, runs, config)
    assert chosen.length == pytest.approx(program_length(sample, chosen.codes), abs=1e-9)
    assert chosen.length <= nothing(sample).length + 1e-9
    for codes in runs:
        assert chosen.length <= program_length(sample, prune(sample, codes, Floor())) + 1e-9


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("refine", [False, True])
def test_a_program_scattered_over_runs_is_put_together(seed: int, refine: bool) -> None:
    """No run has it whole, each has one rule and much that is not true."""
    task = SYNTHETIC_TASKS["R3"]
    rng = np.random.default_rng(seed)
    sample = CrispSample.of(task.sample(500, seed, noise=0.1))
    truth = task.space.encode(task.program)
    runs = [np.vstack((rule, rng.integers(-1, 2, (3, 10)))).astype(np.int8) for rule in truth]
    chosen = select(sample, runs, SelectionConfig(refine=refine))
    assert task.space.program(chosen.codes) == task.program


def test_rules_come_in_order_of_support() -> None:
    task = SYNTHETIC_TASKS["R3"]
    sample = CrispSample.of(task.sample(500, 0))
    chosen = select(sample, [task.space.encode(task.program)], SelectionConfig())
    support = [item.n_r for item in sample.evidence(chosen.codes, "train")]
    assert support == sorted(support, reverse=True)


def test_nothing_is_chosen_where_nothing_pays() -> None:
    rng = np.random.default_rng(0)
    sample = CrispSample.of(Sample.from_arrays(rng.random((60, M)), rng.random(60) > 0.7))
    assert len(select(sample, [], SelectionConfig()).codes) == 0


def test_where_examples_say_as_much_for_as_against_no_cover_is_looked_for() -> None:
    sample = CrispSample.of(Sample.from_arrays(np.ones((4, M)), np.array([0, 1, 0, 1])))
    pool = RuleCoverage(sample, codes_of([1, 0, 0], [0, 1, 0]))
    assert cheapest_programs(pool, SelectionConfig()) == []


def test_ties_in_length_go_to_fewer_literals() -> None:
    from andre.learning import Candidate

    short = Candidate(codes_of([1, 0, 0]), 5.0)
    long = Candidate(codes_of([1, 1, 0]), 5.0 + 1e-12)
    assert short.rank < long.rank
    assert Candidate(codes_of([1, 1, 1]), 4.0).rank < short.rank


class TestTheMostAccurate:
    """The paper's rule: of the fewest subrules that reach tau, the most accurate; else the most accurate."""

    # Ten rows over b1, b2, b3: b1 is right on nine, `b1 or b2` on all ten, b3 on five.
    rows = [[1, 0, 0]] * 3 + [[0, 1, 0]] + [[0, 0, 1]] * 4 + [[0, 0, 0]] * 2
    sample = CrispSample.of(Sample.from_arrays(rows, [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]))
    one, two, bad = codes_of([1, 0, 0]), codes_of([1, 0, 0], [0, 1, 0]), codes_of([0, 0, 1])

    def choose(self, programs: list, n_rules: list[int], tau: float) -> list:
        config = SelectionConfig(criterion="accuracy", accuracy=tau, min_confidence=0.0)
        return sorted(most_accurate(self.sample, programs, n_rules, config).codes.tolist(), reverse=True)

    def test_the_fewest_that_are_enough(self) -> None:
        assert self.sample.accuracy(self.one) == 0.9
        assert self.sample.accuracy(self.two) == 1.0
        assert self.choose([self.bad, self.one, self.two], [1, 1, 2], 0.85) == self.one.tolist()

    def test_more_where_fewer_are_not_enough(self) -> None:
        assert self.choose([self.one, self.two, self.one], [1, 2, 3], 0.95) == self.two.tolist()

    def test_the_most_accurate_where_none_is_enough(self) -> None:
        noisy = codes_of([1, 0, 0], [0, 0, 1])
        assert self.choose([noisy, self.one], [2, 3], 0.95) == self.one.tolist()

    def test_the_number_of_subrules_is_the_runs_not_the_extracted(self) -> None:
        """A run of three subrules whose program has one rule still counts as three."""
        assert self.choose([self.one, self.two], [3, 2], 0.85) == self.two.tolist()
