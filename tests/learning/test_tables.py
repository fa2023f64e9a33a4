"""Classifiers from raw tables: what they say follows from their rules, and they come back as saved."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import andre
from andre.errors import ConfigError, DataError
from andre.facts import LabelledRows, RawTable, read_examples
from andre.learning import (
    Callback,
    ClassifierConfig,
    CrispRules,
    RuleClassifier,
    learn_classifier,
    learn_encoding,
)
from andre.logic import parse_program
from andre.report import remarks

#: Enough for a rule of two literals, and quick.
QUICK = {"rounds": 1, "restarts": 1, "steps": 60, "subrules": [1, 2]}


def people(n: int = 300, seed: int = 0) -> dict[str, list[object]]:
    """Ages, colours with gaps, and three kinds of buyers."""
    rng = np.random.default_rng(seed)
    ages = rng.integers(18, 80, n).tolist()
    colors = [None if rng.random() < 0.1 else str(rng.choice(["red", "blue", "green"])) for _ in range(n)]
    buys = [
        "no" if age < 40 else "much" if color == "red" else "some"
        for age, color in zip(ages, colors, strict=True)
    ]
    return {"id": [*range(n)], "age": ages, "color": colors, "buys": buys}


@pytest.fixture(scope="module", params=["weighted", "crisp"])
def model(request: pytest.FixtureRequest) -> RuleClassifier:
    return andre.fit(people(), label="buys", rules=request.param, settings=QUICK, validation=0.3)


def test_runs_are_made_where_search_finds_nothing_or_where_they_are_asked_for():
    table, rng = people(), np.random.default_rng(9)
    found = andre.fit(table, label="buys")
    assert not found.runs
    assert found.score(table).accuracy > 0.95
    assert len(andre.fit(table, label="buys", always_run=True).runs) == 3
    assert len(andre.fit({**table, "buys": rng.integers(0, 2, 300).tolist()}, label="buys").runs) == 1


def test_the_program_of_search_is_that_which_labels_were_made_by():
    rng = np.random.default_rng(0)
    table = {name: rng.choice(["x", "o", "b"], 600) for name in "pqrstu"}
    wins = [np.all([table[name] == "x" for name in line], axis=0) for line in ("pqr", "rst", "psu")]
    found = andre.fit({**table, "wins": np.any(wins, axis=0)}, label="wins")
    assert {str(rule) for rule in found.program} == {
        "wins :- p = x, q = x, r = x.",
        "wins :- r = x, s = x, t = x.",
        "wins :- p = x, s = x, u = x.",
    }
    assert not found.runs


def test_three_classes_are_told_apart_by_a_rule_set_each(model):
    assert model.classes == ("much", "no", "some")
    assert [str(head) for head in model.heads] == ["buys(much)", "buys(no)", "buys(some)"]
    assert [one.split for one in model.scores] == ["train", "validation"]
    assert model.scores[1].fit.accuracy > 0.95
    assert all(rule.on("validation") for rule in model.program)
    other = people(seed=1)
    said = model.predict_proba(other)
    assert np.allclose(said.sum(axis=1), 1)
    assert (model.predict(other) == np.array(model.classes)[said.argmax(axis=1)]).all()
    assert model.score(other).accuracy == np.mean(model.predict(other) == np.array(other["buys"]))


def test_evidence_is_counted_row_by_row(model):
    table = people(seed=2)
    judged = model.judged(model.labelled(table), "test")
    bins = model.bins(table)
    fires = bins.covers(model.rules.codes)
    for rule, fired in zip(judged.program, fires, strict=True):
        own = [head == str(rule.head) for head in (f"buys({name})" for name in table["buys"])]
        assert rule.on("test").n_b == fired.sum()
        assert rule.on("test").n_r == (fired & np.array(own)).sum()
    assert judged.score(table) == judged.scores[-1].fit


def test_a_saved_classifier_is_the_same(model, tmp_path):
    model.save(tmp_path)
    again = andre.load(tmp_path)
    table = people(seed=1)
    assert str(again) == str(model)
    assert (again.predict_proba(table) == model.predict_proba(table)).all()
    assert (again.config, again.encoding, again.scores) == (model.config, model.encoding, model.scores)
    assert isinstance(again.rules, CrispRules) == (model.config.rules == "crisp")
    if model.path is not None:
        assert [str(step.rules) for step in again.path.steps] == [
            str(step.rules) for step in model.path.steps
        ]
    assert [str(run.program) for run in again.runs] == [str(run.program) for run in model.runs]


def test_leading_rules_fire_and_speak_for_the_decision(model):
    bins = model.bins(people(seed=1))
    decided = model.rules.decide(model.rules.predict_proba(bins))
    fires = bins.covers(model.rules.codes)
    for row, (place, leading) in enumerate(zip(decided, model.leading_rules(bins, decided), strict=True)):
        speaking = [n for n, one in enumerate(model.weighted_rules) if one.speaks_for == model.classes[place]]
        if leading >= 0:
            assert fires[leading, row]
            assert leading in speaking
        elif model.config.rules == "crisp":
            assert not fires[speaking, row].any()


def check_explanation(model, table, row):
    """What an explanation says, against predictions and against conditions read by themselves."""
    why, place = model.explain(table, row), row - 1
    said = model.predict_proba(table)[place]
    assert list(why.probabilities.values()) == pytest.approx(said.tolist(), abs=1e-12)
    assert why.decision == model.predict(table)[place]
    fires = model.bins(table).covers(model.rules.codes)[:, place]
    assert [one.fires for one in why.rules] == fires.tolist()
    for one in why.rules:
        assert [str(condition.literal) for condition in one.conditions] == list(map(str, one.rule.body))
        for condition in one.conditions:
            cell = table[condition.column][place]
            assert condition.cell == (None if cell is None else str(cell))
            if (gap := condition.literal.atom.gap) is not None:
                assert gap == condition.column
                assert condition.holds == ((cell is None) != condition.literal.negated)
            else:
                assert condition.holds == (cell is not None and holds(str(condition.literal), cell))
    read = {condition.column for one in why.rules for condition in one.conditions}
    assert set(why.unknown) == {name for name in read if table[name][place] is None}
    totals = np.array([score.total for score in why.scores])
    if isinstance(model.rules, CrispRules):
        shares = np.array([1 - totals[0], *totals]) if len(totals) == 1 else totals / totals.sum()
        assert shares == pytest.approx(said)
    else:
        assert totals == pytest.approx(model.rules.scores(model.bins(table))[place])
        assert model.rules.probabilities(totals[None])[0] == pytest.approx(said)
    text = str(why)
    assert f"row {row} of the table is taken for {why.decision}" in text
    assert all(str(rule) in text for rule in model.program)
    assert json.loads(json.dumps(why.as_dict()))["decision"] == why.decision


def holds(literal: str, cell: object) -> bool:
    """Whether a comparison of a column holds of a cell."""
    _, sign, value = literal.split(" ", 2)
    match sign:
        case ">":
            return float(cell) > float(value)
        case "=<":
            return float(cell) <= float(value)
        case "=":
            return cell == value
    return cell != value


@pytest.mark.parametrize("rules", ["weighted", "crisp"])
def test_that_a_cell_is_missing_may_be_a_condition(rules, tmp_path):
    rng = np.random.default_rng(0)
    incomes = [None if rng.random() < 0.3 else round(rng.normal(), 2) for _ in range(200)]
    table = {"income": incomes, "age": rng.integers(20, 70, 200).tolist()}
    shown = ["no" if income is None else "yes" for income in incomes]
    model = andre.fit({**table, "repaid": shown}, label="repaid", rules=rules, settings=QUICK)
    assert "missing(income)" in str(model.program)
    new = {"income": ["", "12", "much"], "age": [30, 30, 30]}
    assert model.predict(new).tolist() == ["no", "yes", "no"]  # what cannot be read is missing, too
    assert model.explain(new, 1).unknown == ("income",)
    assert "income is much, which cannot be read" in str(model.explain(new, 3))
    model.save(tmp_path)
    assert andre.load(tmp_path).predict(new).tolist() == ["no", "yes", "no"]
    assert str(parse_program(str(model.program))) == str(model.program)
    assert "missing(income)" in str(model.encoding)


def test_explanations_agree_with_predictions(model):
    table = people(60, seed=3)
    for row in range(1, 61):
        check_explanation(model, table, row)


@pytest.mark.parametrize("rules", ["weighted", "crisp"])
def test_a_row_of_two_classes_is_explained(rules):
    table = people()
    table["buys"] = ["no" if word == "no" else "yes" for word in table["buys"]]
    model = andre.fit(table, label="buys", rules=rules, settings=QUICK)
    table["age"] = [None if place % 7 == 0 else age for place, age in enumerate(table["age"])]
    for row in range(1, 40):
        check_explanation(model, table, row)
    assert "age is unknown" in str(model.explain(table, 1))


@pytest.mark.parametrize("row", [0, -1, 301])
def test_a_row_that_is_not_there_is_refused(model, row):
    with pytest.raises(DataError, match=f"the table has no row {row}: its rows are 1 to 300"):
        model.explain(people(), row)


def test_a_row_is_a_whole_number(model):
    with pytest.raises(DataError, match=r"1\.5 is no number of a row"):
        model.explain(people(), 1.5)


@pytest.mark.parametrize("positive", ["yes", "no"])
def test_of_two_classes_rules_may_be_about_either(positive):
    table = people()
    table["buys"] = ["no" if word == "no" else "yes" for word in table["buys"]]
    model = andre.fit(table, label="buys", positive=positive, settings=QUICK)
    assert model.classes[1] == positive
    assert model.score(table).accuracy > 0.98
    assert all(one.weight > 0 for one in model.weighted_rules), "each speaks for the class in its head"


def test_a_label_that_cuts_a_number_hides_the_number():
    table = people()
    model = andre.fit(table, label="age > 40", settings=QUICK)
    assert "age" not in [column.name for column in model.encoding.columns]
    assert model.classes == ("false", "true")
    assert model.score(table).accuracy > 0.9


def test_weights_of_0_are_rows_that_are_not_there():
    table, more = people(100), people(40, seed=5)
    both = {name: [*table[name], *more[name]] for name in table}
    both["id"], both["times"] = table["id"] + [*range(500, 540)], [1] * 100 + [0] * 40
    options = {"label": "buys", "settings": QUICK, "ignore": ("id",)}
    assert str(andre.fit(both, weight="times", **options)) == str(andre.fit(table, **options))


def test_a_time_limit_that_has_passed_gives_what_there_is():
    rows, _ = read_examples(people(), "buys")
    model = learn_classifier(rows, ClassifierConfig.of(time_limit=1e-6))
    assert model.stopped == "time"
    assert np.allclose(model.predict_proba(people()).sum(axis=1), 1)
    assert any("was cut short: allow more time" in remark for remark in remarks(model))


def test_tables_of_truth_values_are_such_unless_told_otherwise():
    rng = np.random.default_rng(0)
    table = {f"b{n}": rng.random(200).tolist() for n in range(3)}
    table["h"] = [a > 0.5 and b < 0.5 for a, b in zip(table["b0"], table["b1"], strict=True)]
    for rules in ("weighted", "crisp"):
        model = andre.fit(table, label="h", rules=rules, settings=QUICK)
        assert str(model.program) == "h :- b0, \\+ b1."
        assert any("taken for truth values" in note for note in model.notes)
    measured = learn_encoding(read_examples(table, "h")[0], ClassifierConfig.of(truth_values=False))
    assert {column.kind for column in measured.columns} == {"number"}


@given(st.integers(0, 2**16), st.floats(0.05, 0.9))
@settings(max_examples=30, deadline=None)
def test_splits_part_the_rows_and_keep_every_class(seed, share):
    rows, _ = read_examples(people(60), "buys")
    train, held = rows.split(share, seed)
    assert sorted([*train.labels.rows, *held.labels.rows]) == [*range(60)]
    assert set(train.labels.codes.tolist()) == set(rows.labels.codes.tolist())
    for part in (train, held):
        assert [people(60)["age"][row] for row in part.labels.rows] == part.table.column(
            "age"
        ).values.tolist()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "that is to be predicted is not named"),
        ({"label": "none"}, "has no label column 'none'"),
        ({"label": "buys", "weight": "color"}, "weights must be numbers"),
        ({"label": "buys", "weight": "buys"}, "weights must be numbers"),
        ({"label": "buys", "validation": 2}, "between 0 and 1"),
        ({"label": "buys", "objective": "profit"}, "objective is 'profit': choose accuracy or balanced"),
        ({"label": "buys", "class_weight": {"never": 2.0}}, "class_weight has 'never'"),
        ({"label": "buys", "columns": {"none": "number"}}, "has no column 'none'"),
        ({"label": "buys", "config": ClassifierConfig.of(), "max_rules": 3}, "in the config"),
        ({"label": "buys", "rounds": 1}, r"rounds: for the runs .* give settings=\{'rounds': 1\}"),
    ],
)
def test_mistakes_are_sentences(options, sentence):
    with pytest.raises((ConfigError, DataError), match=sentence):
        andre.fit(people(60), **options)


def test_classes_that_were_not_learned_are_refused(model):
    table = people(30)
    table["buys"][3] = "everything"
    with pytest.raises(DataError, match="'everything' that rules were not learned for"):
        model.score(table)
    with pytest.raises(DataError, match="has no column 'age'"):
        model.predict({"color": ["red"]})
    rows = LabelledRows.read(RawTable.read(people(30)), "buys")
    one = replace(rows.labels, codes=rows.labels.codes * 0)
    with pytest.raises(DataError, match="all rows are of the class much"):
        learn_classifier(replace(rows, labels=one))


def test_columns_that_no_rule_reads_may_be_missing(model, tmp_path):
    whole = people(seed=1)
    read = model.encoding.columns_of(model.rules.codes)
    assert read == {"age", "color"}
    bare = {name: whole[name] for name in read}
    wide = andre.fit({**people(), "extra": people(seed=9)["age"]}, label="buys", settings=QUICK)
    assert "extra" in [column.name for column in wide.encoding.columns]
    for one in (model, wide):
        assert (one.predict_proba(bare) == one.predict_proba({**whole, "extra": [0] * 300})).all()
        assert one.score({**bare, "buys": whole["buys"]}) == one.score({**whole, "extra": [0] * 300})


def test_a_table_without_rows_gets_no_predictions(model):
    empty = {"age": [], "color": []}
    assert model.predict(empty).shape == (0,)
    assert model.predict_proba(empty).shape == (0, 3)
    assert model.predict(pd.DataFrame(empty)).shape == (0,)
    with pytest.raises(DataError, match="no rows"):
        model.score({**empty, "buys": []})


def test_labels_may_come_apart_from_the_table():
    table = people(120)
    labels = table.pop("buys")
    named = andre.fit(table, label=pd.Series(labels, name="buys"), settings=QUICK)
    assert str(named) == str(andre.fit({**table, "buys": labels}, label="buys", settings=QUICK))
    nameless = andre.fit(pd.DataFrame(table), label=np.array(labels), settings=QUICK, validation=0.2)
    assert {rule.head.predicate for rule in nameless.program} == {"h"}
    with pytest.raises(DataError, match="there are 119 labels for the 120 rows"):
        andre.fit(table, label=labels[1:], settings=QUICK)


def test_labels_with_the_index_of_the_table_in_another_order_are_refused():
    table = pd.DataFrame(people(60))
    labels = table.pop("buys")
    with pytest.raises(DataError, match="index of the table in another order"):
        read_examples(table, labels[::-1])
    own, _ = read_examples(table, labels[::-1].loc[table.index])
    assert own.labels.classes == read_examples(table, labels[::-1].to_numpy())[0].labels.classes
    assert len(read_examples(table.reset_index(drop=True), labels.set_axis(range(60, 120)))[0]) == 60


def test_one_column_may_be_ignored_by_its_name_alone():
    assert ClassifierConfig.of(ignore="age").ignore == ("age",)


def test_one_class_against_all_others_and_its_rows_are_known_again():
    table = people()
    model = andre.fit(table, label="buys", positive="much", settings=QUICK)
    assert (model.label, model.classes) == ("buys = much", ("false", "true"))
    assert {str(rule.head) for rule in model.program} <= {"'buys = much'", "'buys = much'(false)"}
    other = people(seed=1)
    assert model.score(other).accuracy == np.mean(
        (model.predict(other) == "true") == (np.array(other["buys"]) == "much")
    )


@pytest.mark.parametrize(
    ("change", "options", "sentence"),
    [
        ({"buys": ["no"] * 60}, {}, "only one class"),
        ({"buys": [None] * 60}, {}, "no row has a label"),
        ({"buys": [f"n{n}" for n in range(60)]}, {}, "60 different values on 60 rows"),
        ({}, {"class_weight": {"never": 2.0}}, "class_weight has 'never'"),
        ({}, {"objective": {"never": 2.0}}, "objective has a cost for 'never'"),
        ({}, {"settings": {"device": "abacus"}}, "no device 'abacus'"),
        ({"age": [1] * 60, "color": ["red"] * 60}, {}, "no column from which rules can be made"),
    ],
)
def test_what_is_refused_before_learning_is_refused_without_learning(change, options, sentence):
    config = ClassifierConfig.of("default", options.pop("settings", None), **options)
    with pytest.raises((ConfigError, DataError), match=sentence):
        learn_encoding(read_examples({**people(60), **change}, "buys")[0], config)


def test_a_validation_table_that_lacks_a_column_is_refused_before_learning():
    table, other = people(60), people(30, seed=1)
    del other["color"]
    rows, held = read_examples(table, "buys", other)
    for refuse in (
        lambda: learn_encoding(rows, None, held),
        lambda: learn_classifier(rows, validation=held, callbacks=[Untouched()]),
    ):
        with pytest.raises(DataError, match="has no column 'color'"):
            refuse()


class Untouched(Callback):
    """Fails where runs of gradient descent begin."""

    def on_step(self, *_: object) -> None:
        raise AssertionError("learning began")


def test_a_line_tells_what_was_learned(model):
    assert repr(model).startswith(f"RuleClassifier({len(model.program)} rule")
    assert "accuracy" in repr(model)
    for one in (model, model.rules, model.path, *model.runs, *(model.path.steps if model.path else ())):
        assert "\n" not in repr(one)
        assert len(repr(one)) < 200


def test_what_a_time_limit_cut_is_told_as_it_was(model):
    shared = replace(model, config=ClassifierConfig.of(time_limit=60), stopped="time", cut=("training",))
    assert "time limit of 60 s was reached: this is the best" in remarks(replace(shared, seconds=61.0))[0]
    shown = remarks(replace(shared, seconds=24.0))[0]
    assert "reached" not in shown
    assert "shares of the time limit of 60 s were over: training; all else was done in time" in shown
