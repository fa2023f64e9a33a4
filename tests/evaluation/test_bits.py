"""Bits against the tables they stand for."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from andre.evaluation.bits import drawn_sums, intersections, packed, transposed, unpacked, weighed_sums

shapes = st.tuples(st.integers(0, 140), st.integers(1, 140))
tables = shapes.flatmap(lambda shape: st.integers(0, 2**16).map(lambda seed: _table(shape, seed)))


def _table(shape: tuple[int, int], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random(shape) < 0.4


@given(tables, st.booleans())
def test_packing_loses_nothing_in_either_order(table: np.ndarray, columns_first: bool) -> None:
    words = packed(np.asfortranarray(table) if columns_first else table)
    assert words.shape == (len(table), -(-table.shape[1] // 64))
    assert np.array_equal(unpacked(words, table.shape[1]), table)
    assert not unpacked(words, 64 * words.shape[1])[:, table.shape[1] :].any()


@given(tables)
def test_bits_are_transposed_as_the_table_is(table: np.ndarray) -> None:
    turned = transposed(packed(table), table.shape[1])
    assert np.array_equal(turned, packed(np.ascontiguousarray(table.T)))


@settings(max_examples=40)
@given(
    st.integers(0, 2**16),
    st.integers(0, 12),
    st.sampled_from([1, 40, 129, 260]),
    st.sampled_from([1, 1 << 18]),
)
def test_bodies_are_intersected_as_their_literals_are(seed: int, n: int, words: int, block: int) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 12))
    literals = rng.random((2 * m, 64 * words)) < rng.choice([0.05, 0.6, 0.95])
    codes = rng.choice([0, 1, -1], (n, m)).astype(np.int8)
    codes = codes[rng.integers(0, max(n, 1), n)]  # some of them are equal
    every = packed(np.ones((1, 64 * words), dtype=np.bool_))[0]
    found = np.zeros((n, 64 * words), dtype=np.bool_)
    for some, rows in intersections(packed(literals), codes, every, block):
        found[some] = unpacked(rows, 64 * words)
    for body, rows in zip(codes, found, strict=True):
        assert np.array_equal(rows, literals[np.flatnonzero(np.hstack((body > 0, body < 0)))].all(axis=0))


@given(tables, st.integers(0, 3), st.integers(0, 2**16), st.sampled_from([0.1, 0.9]))
def test_weighed_sums_are_a_product(table: np.ndarray, k: int, seed: int, usual: float) -> None:
    rng = np.random.default_rng(seed)
    shape = (k, len(table))
    weights = np.where(rng.random(shape) < usual, 1.0, rng.integers(0, 1000, shape))
    assert np.array_equal(weighed_sums(weights, table), weights @ table)


@given(tables, st.integers(0, 3), st.integers(0, 2**16), st.sampled_from([0.37, 5.2, None]))
def test_sums_of_drawn_examples_are_a_product(
    table: np.ndarray, k: int, seed: int, each: float | None
) -> None:
    rng = np.random.default_rng(seed)
    shape = (k, len(table))
    weights = rng.random(shape) if each is None else each * rng.integers(0, 9, shape)
    assert np.allclose(drawn_sums(weights, table), weights @ table)


@given(hnp.arrays(np.bool_, st.tuples(st.integers(500, 600), st.just(2))))
def test_more_is_counted_than_a_byte_holds(table: np.ndarray) -> None:
    assert weighed_sums(np.ones((1, len(table))), table).tolist() == [table.sum(axis=0).tolist()]
