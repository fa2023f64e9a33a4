"""`AndreClassifier` keeps scikit-learn's contract and hands back rules."""

from __future__ import annotations

import builtins
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    parametrize_with_checks,
)

import andre
from andre.errors import AndreError, ConfigError, DataError
from andre.estimator import AndreClassifier
from andre.learning import Config, fit
from andre.samples import Thresholds, scaled_to_rows
from andre.samples.thresholds import is_valuation, quantile_cuts

#: Enough for a rule of two literals, and quick.
QUICK = {"rounds": 1, "restarts": 2, "steps": 100}


BRIEF = {"rounds": 1, "restarts": 1, "steps": 50}


@parametrize_with_checks([AndreClassifier(settings=BRIEF)])
def test_contract(estimator, check):
    check(estimator)


def test_contract_of_weights_that_are_counts():
    model = AndreClassifier(settings=BRIEF, weights="counts")
    check_sample_weight_equivalence_on_dense_data("AndreClassifier", model)


@pytest.mark.sweep
@parametrize_with_checks([AndreClassifier(), AndreClassifier(preset="paper", weights="counts")])
def test_contract_of_presets(estimator, check):
    check(estimator)


@pytest.fixture
def people():
    """A table with truth values, a measurement, gaps, and named classes."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {"member": rng.random(300), "age": rng.integers(18, 80, 300), "noise": rng.random(300)}, dtype=float
    )
    buys = (table["member"] > 0.5) & (table["age"] > 45)
    table.loc[rng.random(300) < 0.1, "noise"] = np.nan
    return table, np.where(buys, "yes", "no")


def test_rules_speak_the_names_of_the_table(people):
    table, labels = people
    model = AndreClassifier(settings=QUICK, head="buys", n_thresholds=20, random_state=0).fit(table, labels)
    assert list(model.feature_names_in_) == ["member", "age", "noise"]
    assert list(model.classes_) == ["no", "yes"]
    (rule,) = model.program_
    assert rule.head.predicate == "buys"
    age, member = sorted(str(literal) for literal in rule.body)
    assert member == "member"
    assert age.startswith("'age > 4")
    assert model.score(table, labels) > 0.97
    assert rule.on("train") is not None


def test_predictions_are_those_of_the_program_in_words(people):
    table, labels = people
    model = AndreClassifier(settings=QUICK, random_state=0).fit(table, labels)
    holds = np.zeros(len(table), dtype=bool)
    for rule in model.program_:
        body = np.ones(len(table), dtype=bool)
        for literal in rule.body:
            name, _, cut = literal.atom.predicate.partition(" > ")
            column, cut = table[name].to_numpy(), float(cut or 0.5)
            body &= (column <= cut) if literal.negated else (column > cut)
        holds |= body
    assert (model.predict(table) == np.where(holds, "yes", "no")).all()


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_probability_above_half_is_the_positive_class(preset):
    rng = np.random.default_rng(1)
    X, y = rng.random((120, 4)), rng.integers(0, 2, 120)  # nothing to learn, so rules are poor
    model = AndreClassifier(preset=preset, settings={"restarts": 2, "steps": 60}, random_state=0).fit(X, y)
    proba = model.predict_proba(X)
    assert np.allclose(proba.sum(axis=1), 1)
    assert (model.predict(X) == (proba[:, 1] > 0.5)).all()


def test_same_as_fit_on_the_same_sample():
    rng = np.random.default_rng(0)
    X = rng.random((100, 5))
    y = (X[:, 0] > 0.5) & (X[:, 3] < 0.5)
    model = AndreClassifier(settings=QUICK, random_state=7).fit(X, y)
    names = [f"x{column}" for column in range(5)]
    result = fit(andre.Sample.from_arrays(X, y, space=names), Config.preset("default", **QUICK, seed=7))
    assert model.program_ == result.program
    assert model.result_.length == result.length


@pytest.mark.parametrize("seed", [0, 1])
def test_same_seed_same_program(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(80, 4)), rng.integers(0, 2, 80)
    one, other = (AndreClassifier(settings=QUICK, random_state=seed).fit(X, y) for _ in range(2))
    assert str(one.program_) == str(other.program_)
    drawn = [AndreClassifier(settings=QUICK, random_state=np.random.RandomState(5)) for _ in range(2)]
    assert str(drawn[0].fit(X, y).program_) == str(drawn[1].fit(X, y).program_)


@pytest.mark.parametrize("seed", range(3))
def test_weights_that_are_counts_are_rows(seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack((rng.normal(size=60), rng.random(60), rng.integers(-3, 9, 60)))
    X[rng.random(X.shape) < 0.1] = np.nan
    y, weight = rng.integers(0, 2, 60), rng.integers(0, 4, 60)
    model = AndreClassifier(settings=QUICK, n_thresholds=3, weights="counts", random_state=0)
    weighed = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighed.thresholds_ == repeated.thresholds_
    assert str(weighed.program_) == str(repeated.program_)
    assert (weighed.predict_proba(X) == repeated.predict_proba(X)).all()


@pytest.mark.parametrize("seed", range(2))
def test_relative_weights_mean_the_same_whatever_their_sum(seed):
    rng = np.random.default_rng(seed)
    X, weight = rng.random((80, 4)), rng.exponential(size=80)
    y = ((X[:, 0] > 0.5) & (X[:, 2] < 0.5)) ^ (rng.random(80) < 0.05)
    model = AndreClassifier(settings=QUICK, random_state=0)
    one = clone(model).fit(X, y, sample_weight=weight)
    assert len(one.program_)
    for factor in (1 / weight.sum(), 1e-9, 7.0):
        other = clone(model).fit(X, y, sample_weight=factor * weight)
        assert str(other.program_) == str(one.program_)
        assert other.result_.length == one.result_.length
        assert (other.predict_proba(X) == one.predict_proba(X)).all()
    plain = clone(model).fit(X, y)
    even = clone(model).fit(X, y, sample_weight=np.full(80, 1 / 80))
    assert even.result_.length == plain.result_.length
    assert str(even.program_) == str(plain.program_)


@given(hnp.arrays(np.float64, st.integers(1, 30), elements=st.floats(1e-6, 1e6)), st.floats(1e-6, 1e6))
def test_scaled_weights_keep_their_proportions_and_add_up_to_the_rows(weights, factor):
    scaled = scaled_to_rows(weights)
    assert scaled.sum() == pytest.approx(len(weights))
    assert np.allclose(scaled * weights.sum(), weights * len(weights), rtol=1e-9)
    assert np.allclose(scaled_to_rows(factor * weights), scaled, rtol=1e-11)


def test_boosting_learns_rules_that_together_beat_one():
    """On average over several tables: on a single one either may be ahead by chance."""
    learner = AndreClassifier(settings={"rounds": 1, "restarts": 2, "steps": 60}, random_state=0)
    alone, together = [], []
    for seed in range(3):
        X, y = make_classification(300, 6, n_informative=4, flip_y=0.1, random_state=seed)
        boosted = AdaBoostClassifier(learner, n_estimators=6, random_state=0).fit(X[:200], y[:200])
        assert sum(len(each.program_) > 0 for each in boosted.estimators_) >= 2
        together.append(boosted.score(X[200:], y[200:]))
        alone.append(clone(learner).fit(X[:200], y[:200]).score(X[200:], y[200:]))
    assert np.mean(together) > np.mean(alone)


def test_unknown_satisfies_neither_a_literal_nor_its_negation():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (80, 2)).astype(float)
    for label in (X[:, 0] == 1, X[:, 0] == 0):
        model = AndreClassifier(settings=QUICK, random_state=0).fit(X, label)
        assert model.program_.n_literals == 1
        assert not model.predict([[np.nan, 1.0]]).any()


def test_pickle_and_clone(people):
    table, labels = people
    model = AndreClassifier(settings=QUICK, random_state=0).fit(table, labels)
    again = pickle.loads(pickle.dumps(model))
    assert again.program_ == model.program_
    assert (again.predict_proba(table) == model.predict_proba(table)).all()
    with pytest.raises(NotFittedError):
        clone(model).predict(table)


def test_more_classes_one_against_the_rest():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 3)).astype(float)
    y = np.where(X[:, 0] == 1, "a", np.where(X[:, 1] == 1, "b", "c"))
    with pytest.raises(DataError, match=r"Only binary .*OneVsRestClassifier"):
        AndreClassifier().fit(X, y)
    model = OneVsRestClassifier(AndreClassifier(settings=QUICK, random_state=0)).fit(X, y)
    assert model.score(X, y) == 1


def test_real_measurements():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    settings = {"rounds": 1, "restarts": 1, "steps": 60}
    model = AndreClassifier(numeric="all", settings=settings, n_thresholds=4, random_state=0)
    scores = cross_val_score(model, X, y, cv=3)
    assert scores.mean() > 0.88  # the larger class alone gives 0.63


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"preset": "best"}, "no preset 'best'"),
        ({"settings": {"stepz": 3}}, "no setting 'stepz'"),
        ({"settings": {"steps": 0}}, "training.steps"),
        ({"settings": {"seed": 3}}, "parameter random_state"),
        ({"settings": {"time_limit": 3}}, "parameter time_limit"),
        ({"numeric": "cut"}, "numeric is 'cut'"),
        ({"n_thresholds": 0}, "n_thresholds is 0"),
        ({"n_thresholds": 2.5}, "n_thresholds is 2.5"),
        ({"random_state": -1}, "seed"),
        ({"time_limit": -1}, "time_limit"),
    ],
)
def test_bad_parameters(parameters, sentence):
    with pytest.raises(ConfigError, match=sentence):
        AndreClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_bad_tables(people):
    table, labels = people
    with pytest.raises(DataError, match=r"column 'age' has values outside \[0, 1\]"):
        AndreClassifier(numeric="error").fit(table, labels)
    with pytest.raises(DataError, match="one value only"):
        AndreClassifier().fit([[7.0], [7.0]], [0, 1])
    with pytest.raises(DataError, match="all rows are of the class no"):
        AndreClassifier().fit(table, labels, sample_weight=labels == "no")
    with pytest.raises(DataError, match="the head member is among"):
        AndreClassifier(head="member").fit(table, labels)
    model = AndreClassifier(settings=QUICK).fit(table, labels)
    with pytest.raises(DataError, match=r"the value 2 in row 0, column 'member' is outside \[0, 1\]"):
        model.predict(table.assign(member=2.0))
    assert issubclass(DataError, AndreError)


def test_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without_sklearn(name, *args, **kwargs):
        if name.startswith("sklearn"):
            raise ImportError("No module named 'sklearn'")
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "andre.estimator")
    monkeypatch.setattr(builtins, "__import__", without_sklearn)
    with pytest.raises(ImportError, match=r"pip install 'andre\[sklearn\]'"):
        _ = andre.AndreClassifier


COLUMN = hnp.arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e6, 1e6) | st.just(np.nan))


@given(COLUMN, st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_cuts_lie_between_values_and_part_them(column, most):
    cuts = quantile_cuts(column, np.ones(len(column)), most)
    known = column[~np.isnan(column)]
    distinct = np.unique(known)
    assert len(cuts) == min(most, max(0, len(distinct) - 1)) or len(cuts) < most
    assert list(cuts) == sorted(set(cuts))
    # No two cuts are the same predicate, and none is constant.
    parts = {tuple(known > cut) for cut in cuts}
    assert len(parts) == len(cuts)
    assert all(any(part) and not all(part) for part in parts)
    if len(distinct) - 1 <= most:
        assert len(cuts) == max(0, len(distinct) - 1)


@given(COLUMN, st.data())
@settings(max_examples=60, deadline=None)
def test_cuts_count_weights_as_rows(column, data):
    weights = data.draw(hnp.arrays(np.int64, len(column), elements=st.integers(1, 4)))
    repeated = np.repeat(column, weights)
    assert quantile_cuts(column, weights.astype(float), 4) == quantile_cuts(
        repeated, np.ones(len(repeated)), 4
    )


@given(COLUMN)
@settings(max_examples=60, deadline=None)
def test_names_say_what_the_predicates_mean(column):
    table = column[:, None]
    thresholds = Thresholds.learn(table, np.ones(len(table)), ["x"], most=5)
    if is_valuation(column):
        assert thresholds.atoms == ("x",)
        np.testing.assert_array_equal(thresholds.valuate(table), table)
        return
    cuts = [float(name.removeprefix("x > ")) for name in thresholds.atoms]  # names hold the exact cuts
    column = np.append(column, cuts)  # new rows may lie on a cut
    for cut, valuation in zip(cuts, thresholds.valuate(column[:, None]).T, strict=True):
        np.testing.assert_array_equal(np.isnan(valuation), np.isnan(column))
        known = ~np.isnan(column)
        np.testing.assert_array_equal(valuation[known] == 1, column[known] > cut)
