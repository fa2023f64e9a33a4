"""Factorizing and CSR rows against plain Python."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from andre.arrays import (
    _number_long_sets,
    among,
    blocks_of,
    csr_entries,
    csr_starts,
    distinct_keys,
    distinct_rows,
    is_among,
    number_keys,
    number_rows,
    number_sets,
)

#: Small values collide; large ones make keys of rows outgrow 64 bits.
values = st.one_of(st.integers(0, 3), st.integers(2**40, 2**40 + 3))


@st.composite
def tables(draw: st.DrawFn) -> np.ndarray:
    width = draw(st.integers(1, 5))
    rows = draw(st.lists(st.lists(values, min_size=width, max_size=width), max_size=12))
    return np.array(rows, dtype=np.int64).reshape(-1, width)


@given(tables())
def test_equal_rows_get_equal_numbers_in_their_order(table: np.ndarray) -> None:
    rows = [tuple(row) for row in table.tolist()]
    ordered = sorted(set(rows))
    first, number = number_rows(list(table.T))
    assert [rows[place] for place in first] == ordered
    assert first.tolist() == [rows.index(row) for row in ordered]
    assert [ordered[place] for place in number] == rows
    by_bytes, same = distinct_rows(table)
    assert sorted(by_bytes.tolist()) == sorted(first.tolist())
    assert [rows[by_bytes[place]] for place in same] == rows


@given(tables(), st.data())
def test_rows_are_found_among_others(table: np.ndarray, data: st.DataObject) -> None:
    known = table[data.draw(st.lists(st.integers(0, len(table) - 1))) if len(table) else []]
    found = is_among(table, known, 2**40 + 4)
    assert found.tolist() == [row in known.tolist() for row in table.tolist()]


@given(st.integers(0, 2**32 - 1), st.sampled_from([3, 1_000, 5_000]), st.sampled_from([40, 2**20, 2**62]))
def test_keys_are_found_among_known_ones_however_many(seed: int, count: int, top: int) -> None:
    rng = np.random.default_rng(seed)
    keys = rng.integers(-top, top, count)
    known = np.unique(np.concatenate([keys[: count // 3], rng.integers(-top, top, rng.integers(50))]))
    assert np.array_equal(among(keys, known), np.isin(keys, known))


@given(st.lists(st.integers(0, 99)), st.sampled_from([None, 100, 10**6]))
def test_keys_are_listed_once_by_a_table_as_by_a_sort(keys: list[int], top: int | None) -> None:
    assert distinct_keys(np.array(keys, dtype=np.int64), top).tolist() == sorted(set(keys))


def test_rows_without_columns_are_all_equal() -> None:
    assert [part.tolist() for part in distinct_rows(np.zeros((3, 0)))] == [[0], [0, 0, 0]]
    assert [part.tolist() for part in distinct_rows(np.zeros((0, 0)))] == [[], []]


@given(st.lists(st.integers(0, 30)), st.sampled_from([31, 2**40]))
def test_keys_are_numbered_by_table_and_by_sorting(keys: list[int], top: int) -> None:
    array = np.array(keys, dtype=np.int64)
    distinct, number = number_keys(array, top)
    assert distinct.tolist() == sorted(set(keys)) == distinct_keys(array).tolist()
    assert distinct[number].tolist() == keys


@given(st.lists(st.sets(st.integers(0, 4)).map(sorted), max_size=9), st.data())
def test_sets_as_csr_rows(sets: list[list[int]], data: st.DataObject) -> None:
    owners = np.array([row for row, items in enumerate(sets) for _ in items], dtype=np.int64)
    starts = csr_starts(owners, len(sets))
    items = np.array([item for one in sets for item in one], dtype=np.int64)
    assert [items[a:b].tolist() for a, b in pairwise(starts)] == sets
    numbers, shown = number_sets(starts, items, 5)
    assert all((numbers[i] == numbers[j]) == (sets[i] == sets[j]) for i in range(len(sets)) for j in range(i))
    assert all(sets[shown[number]] == sets[place] for place, number in enumerate(numbers))
    assert all((number == 0) == (not sets[place]) for place, number in enumerate(numbers))
    chosen = data.draw(st.lists(st.integers(0, len(sets) - 1), max_size=6)) if sets else []
    which, entry = csr_entries(starts, np.array(chosen, dtype=np.int64))
    wanted = [(position, item) for position, row in enumerate(chosen) for item in sets[row]]
    assert list(zip(which.tolist(), items[entry].tolist(), strict=True)) == wanted


@given(st.lists(st.sets(st.integers(0, 400), max_size=6).map(sorted), max_size=9))
def test_long_sets_are_numbered_as_short_ones_are(sets: list[list[int]]) -> None:
    items = np.array([item for one in sets for item in one], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum([len(one) for one in sets])]).astype(np.int64)
    found, wanted = _number_long_sets(starts, items), number_sets(starts, items, 401)
    assert found[0].tolist() == wanted[0].tolist()
    assert [place < 0 for place in found[1]] == [place < 0 for place in wanted[1]]
    for number, place in enumerate(found[1]):
        assert place < 0 or found[0][place] == number == wanted[0][wanted[1][number]]


def test_sets_of_many_elements_are_numbered_one_by_one() -> None:
    sets = [list(range(start, start + 100)) for start in (5, 0, 5)]
    numbers, shown = number_sets(np.array([0, 100, 200, 300]), np.array(sets).ravel(), 200)
    assert numbers.tolist() == [2, 1, 2]
    assert shown.tolist()[0] == -1
    assert sets[shown[2]] == sets[0]


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 12))
def test_blocks_stay_within_the_limit_and_are_as_long_as_can_be(sizes: list[int], limit: int) -> None:
    blocks = list(blocks_of(np.array(sizes, dtype=np.int64), limit))
    assert [place for begin, end in blocks for place in range(begin, end)] == list(range(len(sizes)))
    for begin, end in blocks:
        assert sum(sizes[begin:end]) <= limit or end == begin + 1
        assert end == len(sizes) or sum(sizes[begin : end + 1]) > limit
