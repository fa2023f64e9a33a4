"""Description length against exact binomials and figures worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from andre.evaluation.crisp import CrispSample
from andre.evaluation.description import description_length, program_length, subset_cost
from andre.grounding import Sample


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


def test_by_hand() -> None:
    # 6 positives and 4 negatives; the program covers 5 and 1 of them.
    # False positives: 1 of 6 covered, ln C(6,1) + ln 7; false negatives: 1 of 4 uncovered, ln C(4,1) + ln 5.
    # Three literals of 2 * 8 and two rules: 3 ln 16 + 2 ln 2.
    wanted = math.log(6) + math.log(7) + math.log(4) + math.log(5) + 3 * math.log(16) + 2 * math.log(2)
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
