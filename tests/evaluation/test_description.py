"""Description length against exact binomials and figures worked out by hand."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from andre.evaluation import CrispSample, description_length, program_length
from andre.evaluation.description import subset_cost
from andre.samples import Sample


@given(st.integers(0, 2000), st.data())
def test_a_subset_costs_its_size_and_its_choice(n: int, data) -> None:
    k = data.draw(st.integers(0, n))
    assert subset_cost(n, k) == pytest.approx(math.log(math.comb(n, k)) + math.log(n + 1), abs=1e-8)


@given(st.floats(0, 1e4), st.floats(0, 1))
def test_weights_that_are_not_whole_lie_between_whole_ones(n: float, share: float) -> None:
    cost = float(subset_cost(n, share * n))
    assert math.isfinite(cost)
    assert cost >= math.log(n + 1) - 1e-7
    gamma = math.lgamma(n + 1) - math.lgamma(share * n + 1) - math.lgamma(n - share * n + 1)
    assert cost == pytest.approx(gamma + math.log(n + 1), abs=1e-7)


@pytest.mark.parametrize("n", [10**6, 10**9, 10**12, 10**15])
@pytest.mark.parametrize("k", [0, 1, 2, 3, 17, 40])
def test_few_of_very_many_are_told_exactly(n: int, k: int) -> None:
    for chosen in (k, n - k):
        cost = float(subset_cost(n, chosen))
        assert cost == pytest.approx(math.log(math.comb(n, k)) + math.log(n + 1), rel=1e-12, abs=1e-9)


@given(st.integers(1, 10**15), st.floats(0, 1))
def test_any_part_of_very_many_is_told_to_many_digits(n: int, share: float) -> None:
    k = round(share * n)
    with mpmath.workdps(50):
        parts = mpmath.loggamma(n + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(n - k + 1)
        wanted = float(parts + mpmath.log(n + 1))
    assert float(subset_cost(n, k)) == pytest.approx(wanted, rel=1e-12, abs=1e-9)


@given(st.floats(0, 1e6), st.floats(0, 1))
def test_weights_that_are_not_whole_follow_the_gamma_function(n: float, share: float) -> None:
    k = share * n
    wanted = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + math.log(n + 1)
    assert float(subset_cost(n, k)) == pytest.approx(float(wanted), rel=1e-9, abs=1e-6)


def test_one_more_of_very_many_costs_more() -> None:
    costs = subset_cost(np.full(50, 1e15), np.arange(50.0))
    assert (np.diff(costs) > 0).all()


def test_by_hand() -> None:
    # 6 positives and 4 negatives; the program covers 5 and 1 of them.
    # False positives: 1 of 6 covered, ln C(6,1) + ln 7; false negatives: 1 of 4 uncovered, ln C(4,1) + ln 5.
    # Three literals of 2 * 8 and two rules in either order: 3 ln 16 + 2 ln 2 - ln 2!.
    wanted = math.log(6) + math.log(7) + math.log(4) + math.log(5) + 3 * math.log(16) + math.log(2)
    found = description_length(np.array([5.0, 1.0]), np.array([6.0, 4.0]), 3, 2, m=8)
    assert float(found) == pytest.approx(wanted, abs=1e-12)


def test_a_program_on_a_sample_by_hand() -> None:
    rows = [[1, 0], [1, 0], [1, 1], [0, 0], [0, 1]]
    sample = CrispSample.of(Sample.from_arrays(rows, [1, 1, 0, 1, 0]))
    # `h :- b1, \+ b2.` covers two positives; of the three others one is positive.
    code = np.array([[1, -1]], dtype=np.int8)
    wanted = math.log(1) + math.log(3) + math.log(3) + math.log(4) + 2 * math.log(4) + math.log(2)
    assert program_length(sample, code) == pytest.approx(wanted, abs=1e-12)
    # Without rules all three positives are to be told among five.
    none = np.zeros((0, 2), dtype=np.int8)
    assert program_length(sample, none) == pytest.approx(
        math.log(1) + math.log(math.comb(5, 3)) + math.log(6)
    )


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=5), st.data())
def test_many_at_once_is_one_by_one(covered: list, data) -> None:
    table = np.array(covered, dtype=np.float64)
    totals = np.array([30.0, 30.0])
    sizes = np.array(data.draw(st.lists(st.integers(0, 9), min_size=len(table), max_size=len(table))))
    together = description_length(table, totals, sizes, 2, m=5)
    alone = [float(description_length(row, totals, n, 2, m=5)) for row, n in zip(table, sizes, strict=True)]
    assert together.tolist() == pytest.approx(alone, abs=1e-12)


@given(st.integers(0, 40), st.integers(0, 40), st.data())
def test_covering_the_complement_costs_the_same_but_for_the_direction(p: int, n: int, data) -> None:
    """Telling which covered rows are wrong is telling which uncovered ones are, with the labels exchanged."""
    totals = np.array([p, n], dtype=np.float64)
    covered = np.array([data.draw(st.integers(0, p)), data.draw(st.integers(0, n))], dtype=np.float64)
    one = description_length(covered, totals, 2, 1, m=3)
    other = description_length((totals - covered)[::-1], totals[::-1], 2, 1, m=3)
    assert float(one) == pytest.approx(float(other), abs=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25])
def test_fewer_mistakes_are_shorter(share: float) -> None:
    totals = np.array([40.0, 40.0])
    worse = np.array([40 * (1 - share - 0.1), 40 * (share + 0.1)])
    better = np.array([40 * (1 - share), 40 * share])
    assert description_length(better, totals, 1, 1, m=3) < description_length(worse, totals, 1, 1, m=3)
