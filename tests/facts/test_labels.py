"""Labels: any column as classes, comparisons as labels, and sentences for what is none."""

from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from andre.errors import DataError
from andre.facts import Labels, RawTable, read_examples


@given(
    st.lists(
        st.one_of(st.none(), st.integers(-5, 5), st.sampled_from(["a", "b", "B", "10", "?"])), min_size=2
    ).filter(lambda found: len({str(v).lower() for v in found if v is not None and v != "?"}) > 1)
)
def test_classes_are_sorted_and_joined_and_rows_without_a_label_left_out(values):
    labels = Labels.read(RawTable.read({"y": values, "z": values}), "y")
    known = [value for value in values if value is not None and value != "?"]
    spelled = "B" if known.count("B") > known.count("b") else "b"
    texts = [spelled if value in ("b", "B") else str(value) for value in known]
    numbers = {text for text in texts if text.lstrip("-").isdigit()}
    wanted = [*sorted(numbers, key=int), *sorted(set(texts) - numbers)]
    assert list(labels.classes) == wanted
    assert [labels.classes[code] for code in labels.codes] == texts
    assert [values[row] for row in labels.rows] == known
    missing = len(values) - len(known)
    assert any("left out" in note for note in labels.notes) == bool(missing)
    assert any("joined" in note for note in labels.notes) == ({"b", "B"} <= set(known))
    for value in labels.classes:
        assert labels.of(value).sum() == texts.count(value)


@pytest.mark.parametrize(
    ("values", "positive", "head"),
    [
        ([0, 1], "1", "y"),
        ([True, False], "True", "y"),
        (["yes", "no"], "yes", "y"),
        (["Yes", "zero"], "Yes", "y('Yes')"),
        (["good", "bad"], "good", "y(good)"),
        ([1, 2], "2", "y(2)"),
        (["<=50K", ">50K"], ">50K", "y('>50K')"),
        ([-1.0, 1.0], "1", "y(1)"),
    ],
)
def test_the_positive_class(values, positive, head):
    table = RawTable.read({"y": values * 4})
    labels = Labels.read(table, "y")
    assert labels.classes[labels.positive] == positive
    assert str(labels.head()) == head
    other = labels.classes[1 - labels.positive]
    assert Labels.read(table, "y", positive=other).positive == 1 - labels.positive


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([*range(100)], "100 numbers that all differ: a key"),
        ([n / 7 for n in range(100)], "100 different numbers.*measurement.*'y > 7.07'"),
        ([f"${1000 + 7 * n:,}" for n in range(100)], "100 numbers|measurement"),
        ([f"{n}.{n},5" for n in range(100)], "different values on 100 rows"),
        ([f"name {n}" for n in range(100)], "100 different values on 100 rows"),
        (["a"] * 9, "every label is 'a', so there is only one class"),
        ([None, "?", "NA"], "no row has a label"),
        ([datetime(2020, 1, 1) + timedelta(days=n) for n in range(5)], "dates"),
    ],
)
def test_what_is_no_label_is_refused_in_a_sentence(values, says):
    with pytest.raises(DataError, match=says) as caught:
        Labels.read(RawTable.read({"y": pd.Series(values)}), "y")
    assert "\n" not in str(caught.value)


def test_a_label_may_cut_numbers_however_they_are_written():
    table = RawTable.read({"price": ["$1,000", "$5", "", "$700"] * 9})
    assert Labels.read(table, "price >= 700").codes.tolist() == [1, 0, 1] * 9


def test_a_label_may_cut_a_number():
    table = RawTable.read({"price": [1, 5, None, 9]})
    labels = Labels.read(table, "price > 4")
    assert labels.classes == ("false", "true")
    assert (labels.codes.tolist(), labels.rows.tolist()) == ([0, 1, 1], [0, 1, 3])
    assert str(labels.head()) == "'price > 4'"
    with pytest.raises(DataError, match="no class 'x'"):
        Labels.read(table, "price > 4", positive="x")
    with pytest.raises(DataError, match="is no number"):
        Labels.read(table, "price > much")


def test_classes_that_differ_in_case_are_joined_and_known_again():
    table = RawTable.read({"a": range(6), "lab": ["yes", " Yes", "YES", "yes", "no", "No "]})
    labels = Labels.read(table, "lab")
    assert labels.classes == ("no", "yes")
    assert labels.codes.tolist() == [1, 1, 1, 1, 0, 0]
    assert [str(labels.head(name)) for name in labels.classes] == ["lab(no)", "lab"]
    assert any("yes is also written YES, Yes" in note for note in labels.notes)
    again = Labels.read(RawTable.read({"lab": ["YES", "nO"]}), "lab", classes=labels.classes)
    assert again.codes.tolist() == [1, 0]
    apart = Labels.read(RawTable.read({"lab": ["A", "a"]}), "lab", classes=("A", "a"))
    assert apart.codes.tolist() == [0, 1], "classes that were told apart before stay so"
    with pytest.raises(DataError, match="only one class"):
        Labels.read(RawTable.read({"lab": ["yes", "YES"]}), "lab")


@pytest.mark.parametrize("label", ["kind = cat", "kind = CAT", "kind = 'cat'", ("kind", "cat")])
def test_one_class_against_all_others(label):
    table = RawTable.read({"kind": ["cat", "dog", "cow", None, "Cat"], "a": range(5)})
    name, positive = label if isinstance(label, tuple) else (label, None)
    labels = Labels.read(table, name, positive)
    assert labels.classes == ("false", "true")
    assert (labels.codes.tolist(), labels.rows.tolist()) == ([1, 0, 0, 1], [0, 1, 2, 4])
    assert labels.classes[labels.positive] == "true"
    again = Labels.read(RawTable.read({"kind": ["dog"]}), labels.name, classes=labels.classes)
    assert again.codes.tolist() == [0]
    with pytest.raises(DataError, match=r"no class 'pig'.*'cat', 'cow', 'dog'"):
        Labels.read(table, "kind = pig")


moments = st.lists(
    st.datetimes(datetime(1990, 1, 1), datetime(2060, 1, 1)).map(lambda one: one.replace(microsecond=0)),
    min_size=2,
    max_size=12,
    unique=True,
)


@given(moments, st.sampled_from([">", ">=", "<", "=<"]), st.booleans())
def test_a_label_may_cut_dates_as_it_cuts_numbers(found, sign, as_text):
    found = sorted(found)
    value = found[len(found) // 2]
    holds = {">": value.__lt__, ">=": value.__le__, "<": value.__gt__, "=<": value.__ge__}[sign]
    wanted = [holds(one) for one in found]
    cells_ = [one.isoformat() for one in found] if as_text else pd.Series(found)
    table = RawTable.read({"since": cells_})
    if len(set(wanted)) == 1:
        with pytest.raises(DataError, match="only one class"):
            Labels.read(table, f"since {sign} {value.isoformat()}")
        return
    labels = Labels.read(table, f"since {sign} {value.isoformat()}")
    assert labels.of("true").tolist() == wanted


def test_dates_are_no_classes_and_the_sentence_says_how_to_cut_them():
    days = [f"2021-03-{day:02}" for day in range(1, 31)]
    for source in (days, pd.to_datetime(pd.Series(days))):
        with pytest.raises(DataError, match=r"holds dates.*such as 'since > 2021-03-15'"):
            Labels.read(RawTable.read({"since": source}), "since")
    with pytest.raises(DataError, match=r"'soon' is no date; write it as in 'since > 2021-03-01'"):
        Labels.read(RawTable.read({"since": days}), "since > soon")


def test_labels_may_be_given_apart_from_the_table():
    data = {"age": [4, 5, 6], "size": [1, 2, 3]}
    for labels in (["a", "b", "a"], np.array(["a", "b", "a"]), pd.Series(["a", "b", "a"], name="kind")):
        rows, _ = read_examples(data, labels)
        assert rows.labels.classes == ("a", "b")
        assert rows.labels.name == getattr(labels, "name", "h")
        assert rows.table.names == ("age", "size")
    rows, _ = read_examples(data, pd.Series([True, False, True], name="size"))
    assert rows.table.names == ("age",), "labels that were made of a column take its place"
    with pytest.raises(DataError, match="there are 2 labels for the 3 rows"):
        read_examples(data, [1, 2])
    with pytest.raises(DataError, match="has a column 'h'"):
        read_examples({**data, "h": [1, 2, 3]}, [1, 2, 1])
