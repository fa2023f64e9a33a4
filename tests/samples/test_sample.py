"""Samples: equal rows are merged and nothing is lost; bad input is refused in a sentence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from andre.errors import AndreError, DataError
from andre.samples import RuleSpace, Sample

cells = st.sampled_from([0.0, -0.0, 0.25, 0.5, 1.0, np.nan])
tables = hnp.arrays(np.float64, st.tuples(st.integers(1, 12), st.integers(1, 3)), elements=cells)


def same(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(np.all((one == other) | (np.isnan(one) & np.isnan(other))))


@given(tables, st.data())
def test_merging_keeps_every_weighted_sum(table: np.ndarray, data) -> None:
    rows = len(table)
    labels = data.draw(hnp.arrays(np.int64, rows, elements=st.integers(0, 1)))
    weights = data.draw(hnp.arrays(np.float64, rows, elements=st.sampled_from([0.0, 0.5, 1.0, 3.0])))
    if not weights.any():
        weights[0] = 1.0
    sample = Sample.from_arrays(table, labels, weights)
    for row, positive, negative in zip(sample.valuations, sample.positives, sample.negatives, strict=True):
        equal = np.array([same(row, other) for other in table])
        assert positive == weights[equal & (labels == 1)].sum()
        assert negative == weights[equal & (labels == 0)].sum()
        assert positive + negative > 0
    for one in range(sample.n_rows):
        for other in range(one):
            assert not same(sample.valuations[one], sample.valuations[other])
    assert sample.total == weights.sum()
    assert np.array_equal(sample.weights, sample.positives + sample.negatives)


@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(table: np.ndarray, random) -> None:
    labels = np.arange(len(table)) % 2
    order = list(range(len(table)))
    random.shuffle(order)
    one, other = Sample.from_arrays(table, labels), Sample.from_arrays(table[order], labels[order])
    assert same(one.valuations, other.valuations)
    assert np.array_equal(one.positives, other.positives)
    assert np.array_equal(one.negatives, other.negatives)


def test_unknown_cells_of_any_make_are_one_value_and_so_are_the_zeros() -> None:
    other_nan = np.array([0x7FF8000000000001], dtype=np.uint64).view(np.float64)[0]
    sample = Sample.from_arrays([[np.nan, 0.0], [other_nan, -0.0], [-np.nan, 0.0]], [1, 1, 0])
    assert sample.n_rows == 1
    assert not np.signbit(sample.valuations[0, 1])


@given(tables)
def test_large_tables_of_truth_values_are_merged_as_small_ones_are(table: np.ndarray) -> None:
    from andre.samples.sample import _merge

    for cells_ in (table, np.rint(table), np.rint(np.nan_to_num(table))):
        rows, group = _merge(cells_)
        large_rows, large_group = _merge(cells_, large=0)
        assert same(rows, large_rows)
        assert np.array_equal(group, large_group)
    assert large_rows.dtype == np.float16  # 0 and 1 alone


def test_columns_are_named_or_numbered() -> None:
    assert Sample.from_arrays([[0, 1]], [1]).space.names == ("b1", "b2")
    assert Sample.from_arrays([[0, 1]], [1], space=["p(X)", "q"]).space.names == ("p(X)", "q")
    space = RuleSpace.from_names(["p", "q"], "g")
    assert Sample.from_arrays([[0, 1]], [1], space=space).space is space


@pytest.mark.parametrize("labels", [[True, False], [1, 0], [1.0, 0.0], np.array(["1", "0"], dtype=object)])
def test_labels_may_be_truth_values_or_numbers(labels) -> None:
    sample = Sample.from_arrays([[0.0], [1.0]], labels)
    assert (sample.positives.tolist(), sample.negatives.tolist()) == ([1, 0], [0, 1])


BAD_VALUATIONS = {
    "above one": ([[0.2], [1.5]], "1.5 in row 1, column 0"),
    "below zero": ([[-0.1], [0.5]], "-0.1 in row 0"),
    "infinite": ([[np.inf], [0.0]], "inf in row 0"),
    "minus infinite": ([[0.0], [-np.inf]], "-inf in row 1"),
    "words": ([["yes"], ["no"]], "numbers"),
    "ragged": ([[1], [0, 1]], "numbers"),
    "flat": ([0.5, 0.5], "table"),
    "no rows": (np.zeros((0, 2)), "no rows"),
    "no columns": (np.zeros((2, 0)), "no columns"),
}


@pytest.mark.parametrize("case", BAD_VALUATIONS)
def test_bad_valuations(case: str) -> None:
    table, words = BAD_VALUATIONS[case]
    with pytest.raises(DataError, match=words):
        Sample.from_arrays(table, [0, 1])


BAD_LABELS = {
    "missing": ([0, np.nan], "row 1 is missing"),
    "two": ([2, 0], "row 0 is 2"),
    "half": ([0.5, 0], "0 or 1"),
    "infinite": ([np.inf, 0], "0 or 1"),
    "words": (["yes", "no"], "not numbers"),
    "none": ([None, 1], "0 or 1"),
    "too few": ([1], "one label a row"),
    "two columns": ([[0, 1], [1, 0]], "one label a row"),
    "ragged": ([[0], [1, 0]], "one label a row"),
}


@pytest.mark.parametrize("case", BAD_LABELS)
def test_bad_labels(case: str) -> None:
    labels, words = BAD_LABELS[case]
    with pytest.raises(DataError, match=words):
        Sample.from_arrays([[0.0], [1.0]], labels)


BAD_WEIGHTS = {
    "negative": ([1, -1], "-1 of row 1"),
    "missing": ([np.nan, 1], "finite"),
    "infinite": ([np.inf, 1], "finite"),
    "all zero": ([0, 0], "no rows"),
    "too few": ([1], "give one a row"),
    "words": (["a", "b"], "numbers"),
}


@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_bad_weights(case: str) -> None:
    weights, words = BAD_WEIGHTS[case]
    with pytest.raises(DataError, match=words):
        Sample.from_arrays([[0.0], [1.0]], [0, 1], weights)


@pytest.mark.parametrize(
    ("names", "words"), [(["a"], "1 names for 2"), (["a", "a"], "twice"), (["a", ""], "empty")]
)
def test_bad_names(names: list, words: str) -> None:
    with pytest.raises(AndreError, match=words):
        Sample.from_arrays([[0, 1]], [1], space=names)


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_is_nothing_to_learn_from(label: int) -> None:
    with pytest.raises(DataError, match=f"every label is {label}"):
        Sample.from_arrays([[0.0], [1.0]], [label, label]).require_both_classes()


def test_a_class_of_weight_zero_is_no_class() -> None:
    with pytest.raises(DataError, match="every label is 1"):
        Sample.from_arrays([[0.0], [1.0]], [0, 1], [0, 1]).require_both_classes()


def test_both_classes_are_enough() -> None:
    sample = Sample.from_arrays([[0.0], [0.0]], [0, 1])
    assert sample.require_both_classes() is sample
