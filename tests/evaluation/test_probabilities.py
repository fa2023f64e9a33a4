"""Scores of probabilities, against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from andre.evaluation import area_under_curve, calibration_error, mean_area_under_curve


@given(st.integers(0, 10_000), st.integers(2, 60))
def test_area_is_that_of_scikit_learn(seed, n):
    rng = np.random.default_rng(seed)
    scores, positive, weights = rng.integers(0, 5, n) / 4, rng.random(n) < 0.5, rng.random(n) + 0.1
    positive[:2] = True, False
    expected = roc_auc_score(positive, scores, sample_weight=weights)
    assert area_under_curve(scores, positive, weights) == pytest.approx(expected)


def test_area_of_several_classes_is_the_mean_of_each_against_the_others():
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 3, 50)
    shares = rng.dirichlet(np.ones(3), 50)
    expected = roc_auc_score(classes, shares, multi_class="ovr")
    assert mean_area_under_curve(shares, classes, np.ones(50)) == pytest.approx(expected)
    assert np.isnan(area_under_curve(np.ones(3), np.ones(3, dtype=bool), np.ones(3)))


def test_calibration_error_is_the_mean_gap_over_bins():
    said = np.array([0.05, 0.05, 0.95, 0.95])
    seen = np.array([0, 1, 1, 1])
    gap = (abs(0.05 - 0.5) + abs(0.95 - 1)) / 2
    assert calibration_error(np.stack((1 - said, said), axis=1), seen) == pytest.approx(gap)
    three = np.array([[0.7, 0.2, 0.1], [0.7, 0.2, 0.1]])
    assert calibration_error(three, np.array([0, 1])) == pytest.approx(0.2)
