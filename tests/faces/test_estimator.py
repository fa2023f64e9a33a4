"""`AndreClassifier` keeps scikit-learn's contract and hands back rules."""

from __future__ import annotations

import builtins
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    parametrize_with_checks,
)

import andre
from andre.errors import AndreError, ConfigError, DataError
from andre.estimator import AndreClassifier
from andre.samples import scaled_to_rows

#: Enough for a rule of two literals, and quick.
QUICK = {"rounds": 1, "restarts": 1, "steps": 60, "subrules": [1, 2]}
BRIEF = {"rounds": 1, "restarts": 1, "steps": 20, "subrules": [1]}
#: What relative weights cannot do: a row that stands twice is more evidence than one of twice the weight.
COUNTED = {"check_sample_weight_equivalence_on_dense_data": "only weights that are counts are rows"}


@parametrize_with_checks(
    [AndreClassifier(settings=BRIEF, max_rules=3)], expected_failed_checks=lambda _: COUNTED
)
def test_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("rules", ["weighted", "crisp"])
def test_contract_of_weights_that_are_counts(rules):
    model = AndreClassifier(settings=BRIEF, rules=rules, max_rules=3, weights="counts")
    check_sample_weight_equivalence_on_dense_data("AndreClassifier", model)


@pytest.mark.sweep
@parametrize_with_checks(
    [
        AndreClassifier(),
        AndreClassifier(weights="counts"),
        AndreClassifier(preset="paper", rules="crisp", weights="counts"),
    ],
    expected_failed_checks=lambda model: COUNTED if model.weights == "relative" else {},
)
def test_contract_of_presets(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def people():
    """A table with a measurement, a category, a Boolean, dates, free text and gaps, and named classes."""
    rng = np.random.default_rng(3)
    n = 300
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "color": rng.choice(["red", "green", "dark blue"], n),
            "member": rng.random(n) < 0.5,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, n), unit="D"),
            "note": [f"text {place}" for place in range(n)],
        }
    )
    buys = (table["age"] > 45) & (table["color"] != "red")
    table.loc[rng.random(n) < 0.1, "age"] = np.nan
    table.loc[rng.random(n) < 0.1, "color"] = None
    return table, np.where(buys & table["age"].notna() & table["color"].notna(), "yes", "no")


@pytest.fixture(scope="module", params=["weighted", "crisp"])
def model(request, people):
    return AndreClassifier(rules=request.param, settings=QUICK, head="buys", random_state=0).fit(*people)


def test_rules_speak_the_names_of_the_table(people, model):
    table, labels = people
    assert list(model.feature_names_in_) == list(table.columns)
    assert list(model.classes_) == ["no", "yes"]
    text = str(model.program_)
    assert "age > 4" in text or "age =< 4" in text
    assert "color" in text
    assert "note" not in text
    assert model.score(table, labels) > 0.97
    assert {rule.head.predicate for rule in model.program_} == {"buys"}
    assert all(rule.on("train") for rule in model.program_)
    assert "note is left out" in " ".join(model.model_.notes)


def test_predictions_are_those_of_the_rules_in_words(people, model):
    """Weights added up over rules that are read from their text give the same probabilities."""
    table, _ = people
    score = np.zeros(len(table))
    fired = np.zeros(len(table), dtype=bool)
    for one in model.model_.weighted_rules:
        body = np.logical_and.reduce([_holds(table, str(literal)) for literal in one.rule.body])
        fired |= body
        score += (one.weight or 0) * body * (1 if one.speaks_for == "yes" else -1)
    if model.rules == "crisp":
        assert (model.predict(table) == np.where(fired, "yes", "no")).all()
        return
    base = model.model_.base_rates["yes"]
    expected = 1 / (1 + np.exp(-(np.log(base / (1 - base)) + score)))
    low, high = model.rules_.floors[1], 1 - model.rules_.floors[0]
    assert np.allclose(model.predict_proba(table)[:, 1], np.clip(expected, low, high))


def _holds(table: pd.DataFrame, literal: str) -> np.ndarray:
    """Where a literal holds, worked out from its text."""
    negated = literal.startswith("\\+ ")
    name, _, rest = literal.removeprefix("\\+ ").partition(" ")
    column = table[name]
    if not rest:
        return (~column if negated else column).to_numpy(dtype=bool)
    sign, value = rest.split(" ", 1)
    value = value.strip("'")
    if name == "since":
        column, value = pd.to_datetime(column), pd.Timestamp(value)
    elif sign in (">", "=<"):
        value = float(value)
    known = column.notna()
    holds = {
        ">": lambda: column > value,
        "=<": lambda: column <= value,
        "=": lambda: column == value,
        "\\=": lambda: column != value,
    }[sign]()
    return (known & holds).to_numpy(dtype=bool)


def test_probabilities_agree_with_predictions_and_add_up(people, model):
    table, _ = people
    proba = model.predict_proba(table)
    assert np.allclose(proba.sum(axis=1), 1)
    assert (model.predict(table) == model.classes_[(proba[:, 1] > 0.5).astype(int)]).all()


def test_values_that_are_new_have_probabilities(people, model):
    table, _ = people
    strange = table.assign(color="violet", age=1000.0, member=None)
    assert np.allclose(model.predict_proba(strange).sum(axis=1), 1)


def test_rules_are_about_the_column_that_the_classes_come_from():
    frame = pd.DataFrame({"age": [*range(20, 60)] * 2})
    for name, found in (("buys", "buys"), (None, "h"), ("age", "h")):
        labels = pd.Series(frame["age"] > 39, name=name)
        learned = AndreClassifier(settings=BRIEF, random_state=0).fit(frame, labels)
        assert {rule.head.predicate for rule in learned.program_} == {found}


def test_frames_of_polars(people, model):
    polars = pytest.importorskip("polars")
    table, labels = people
    gaps = table.astype(object).where(table.notna(), None)  # polars tells null from NaN
    rows = polars.DataFrame({name: column.tolist() for name, column in gaps.items()})
    again = clone(model).fit(rows, polars.Series(labels.tolist()))
    assert str(again.program_) == str(model.program_)
    assert (again.predict(rows) == model.predict(table)).all()


def test_several_classes_in_a_pipeline():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    learner = AndreClassifier(settings=QUICK, max_rules=6, head="species", random_state=0)
    piped = make_pipeline(FunctionTransformer(), learner)
    assert cross_val_score(piped, X, names, cv=3).mean() > 0.9
    piped.fit(X, names)
    assert list(piped.classes_) == ["setosa", "versicolor", "virginica"]
    proba = piped.predict_proba(X)
    assert proba.shape == (150, 3)
    assert np.allclose(proba.sum(axis=1), 1)
    assert len(piped[-1].program_) <= 6
    assert {str(rule.head) for rule in piped[-1].program_} <= {f"species({name})" for name in set(names)}


def test_the_path_has_every_size_and_limits_hold(people):
    table, labels = people
    model = AndreClassifier(settings=QUICK, max_rules=4, max_literals=1, random_state=0).fit(table, labels)
    assert [step.n_rules for step in model.path_.steps] == list(range(len(model.path_.steps)))
    assert len(model.program_) <= 4
    assert all(len(rule.body) == 1 for rule in model.program_)
    assert model.path_.rules is model.rules_
    frame = model.model_.to_frame()
    assert list(frame.columns[:3]) == ["weight", "class", "rule"]


def test_objectives_and_class_weights_move_decisions():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 1))
    y = rng.random(600) < 1 / (1 + np.exp(-(x[:, 0] * 2 - 2.5)))  # about one in seven
    plain = AndreClassifier(settings=BRIEF, random_state=0).fit(x, y)
    balanced = clone(plain).set_params(objective="balanced").fit(x, y)
    costly = clone(plain).set_params(objective={True: 50.0}).fit(x, y)
    weighed = clone(plain).set_params(class_weight="balanced").fit(x, y)
    assert plain.score(x, y) >= max(y.mean(), 1 - y.mean())
    assert np.allclose(plain.predict_proba(x), balanced.predict_proba(x))
    assert balanced_accuracy_score(y, balanced.predict(x)) > balanced_accuracy_score(y, plain.predict(x))
    assert costly.predict(x).mean() >= balanced.predict(x).mean()
    assert abs(weighed.predict_proba(x)[:, 1].mean() - 0.5) < 0.15
    assert abs(plain.predict_proba(x)[:, 1].mean() - y.mean()) < 0.02


@pytest.mark.parametrize("seed", [0, 1])
def test_same_seed_same_rules(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(80, 4)), rng.integers(0, 2, 80)
    one, other = (AndreClassifier(settings=QUICK, random_state=seed).fit(X, y) for _ in range(2))
    assert str(one.model_) == str(other.model_)
    drawn = [AndreClassifier(settings=QUICK, random_state=np.random.RandomState(5)) for _ in range(2)]
    assert str(drawn[0].fit(X, y).model_) == str(drawn[1].fit(X, y).model_)


@pytest.mark.parametrize("rules", ["weighted", "crisp"])
@pytest.mark.parametrize("seed", range(2))
def test_weights_that_are_counts_are_rows(seed, rules):
    rng = np.random.default_rng(seed)
    X = np.column_stack((rng.normal(size=60), rng.random(60), rng.integers(-3, 9, 60)))
    X[rng.random(X.shape) < 0.1] = np.nan
    y, weight = rng.integers(0, 2, 60), rng.integers(0, 4, 60)
    model = AndreClassifier(settings=BRIEF, rules=rules, max_rules=3, weights="counts", random_state=0)
    weighed = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighed.encoding_.columns == repeated.encoding_.columns
    assert str(weighed.program_) == str(repeated.program_)
    assert np.allclose(weighed.predict_proba(X), repeated.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("rules", ["weighted", "crisp"])
def test_relative_weights_mean_the_same_whatever_their_sum(rules):
    rng = np.random.default_rng(0)
    X, weight = rng.random((80, 4)), rng.exponential(size=80)
    y = ((X[:, 0] > 0.5) & (X[:, 2] < 0.5)) ^ (rng.random(80) < 0.05)
    model = AndreClassifier(settings=QUICK, rules=rules, random_state=0)
    one = clone(model).fit(X, y, sample_weight=weight)
    assert len(one.program_)
    for factor in (1 / weight.sum(), 7.0):
        other = clone(model).fit(X, y, sample_weight=factor * weight)
        assert str(other.program_) == str(one.program_)
        assert (other.predict_proba(X) == one.predict_proba(X)).all()


@given(hnp.arrays(np.float64, st.integers(1, 30), elements=st.floats(1e-6, 1e6)), st.floats(1e-6, 1e6))
def test_scaled_weights_keep_their_proportions_and_add_up_to_the_rows(weights, factor):
    scaled = scaled_to_rows(weights)
    assert scaled.sum() == pytest.approx(len(weights))
    assert np.allclose(scaled * weights.sum(), weights * len(weights), rtol=1e-9)
    assert np.allclose(scaled_to_rows(factor * weights), scaled, rtol=1e-11)


def test_boosting_learns_rules_that_together_beat_one():
    """On average over several tables: on a single one either may be ahead by chance."""
    settings = {"rounds": 1, "restarts": 2, "steps": 60}
    learner = AndreClassifier(settings=settings, rules="crisp", random_state=0)
    alone, together, later = [], [], []
    for seed in range(3):
        X, y = make_classification(300, 6, n_informative=4, flip_y=0.1, random_state=seed)
        boosted = AdaBoostClassifier(learner, n_estimators=6, random_state=0).fit(X[:200], y[:200])
        later += [len(each.program_) for each in boosted.estimators_[1:]]
        together.append(boosted.score(X[200:], y[200:]))
        alone.append(clone(learner).fit(X[:200], y[:200]).score(X[200:], y[200:]))
    assert np.mean(together) > np.mean(alone)
    assert sum(n_rules > 0 for n_rules in later) >= 3  # weights of boosting leave evidence for rules


def test_measurements_between_0_and_1_are_measurements_unless_told_otherwise():
    rng = np.random.default_rng(0)
    X = rng.random((100, 2))
    y = X[:, 0] > 0.7
    model = AndreClassifier(settings=QUICK, random_state=0).fit(X, y)
    assert str(model.program_).startswith("h :- x0 > 0.")
    assert model.predict([[7.0, -3.0]]).item()
    shown = AndreClassifier(columns={"x0": "truth"}, settings=QUICK).fit(X, X[:, 0] > 0.5)
    assert str(shown.program_) == "h :- x0."
    with pytest.raises(DataError, match=r"outside \[0, 1\]"):
        shown.predict([[7.0, -3.0]])


def test_unknown_satisfies_neither_a_literal_nor_its_negation():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (80, 2)).astype(float)
    for label in (X[:, 0] == 1, X[:, 0] == 0):
        model = AndreClassifier(settings=QUICK, rules="crisp", random_state=0).fit(X, label)
        assert model.program_.n_literals == 1
        assert not model.predict([[np.nan, 1.0]]).any()


def test_pickle_and_clone(people, model):
    table, _ = people
    again = pickle.loads(pickle.dumps(model))
    assert again.program_ == model.program_
    assert (again.predict_proba(table) == model.predict_proba(table)).all()
    with pytest.raises(NotFittedError):
        clone(model).predict(table)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"preset": "best"}, "no preset 'best'"),
        ({"settings": {"stepz": 3}}, "no setting 'stepz'"),
        ({"settings": {"steps": 0}}, "training.steps"),
        ({"settings": {"seed": 3}}, "parameter random_state"),
        ({"settings": {"time_limit": 3}}, "parameter time_limit"),
        ({"rules": "best"}, "rules is 'best'"),
        ({"max_rules": 0}, "max_rules is 0"),
        ({"max_literals": 2.5}, "max_literals is 2.5"),
        ({"objective": "profit"}, "objective"),
        ({"objective": {2: 1.0}}, "objective has a number for 2, which is none of the classes"),
        ({"class_weight": {2: 1.0}}, "class_weight has a number for 2"),
        ({"columns": {"x0": "colour"}}, "cannot be of the kind 'colour'"),
        ({"weights": "some"}, "weights is 'some'"),
        ({"random_state": -1}, "seed"),
        ({"time_limit": -1}, "time_limit"),
    ],
)
def test_bad_parameters(parameters, sentence):
    with pytest.raises(ConfigError, match=sentence):
        AndreClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_bad_tables(people):
    table, labels = people
    with pytest.raises(DataError, match="the same value on every row"):
        AndreClassifier().fit([[7.0], [7.0]], [0, 1])
    with pytest.raises(DataError, match="all rows are of the class no"):
        AndreClassifier().fit(table, labels, sample_weight=labels == "no")
    with pytest.raises(DataError, match="the head member is among"):
        AndreClassifier(head="member", settings=BRIEF).fit(table, labels)
    with pytest.raises(DataError, match="both named 'a'"):
        AndreClassifier().fit(pd.DataFrame([[1, 2], [2, 1]], columns=["a", "a"]), [0, 1])
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
