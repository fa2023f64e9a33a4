"""Cuts are moved to where the description is shortest, and nothing else changes."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.test_binned import binned_tables

from andre.evaluation import description_length
from andre.learning.ensemble.cuts import with_moved_cuts
from andre.samples import BinnedTable


def length_of(codes: np.ndarray, table: BinnedTable, labels: np.ndarray) -> float:
    covered = labels @ table.covers(codes).any(axis=0)
    size = np.count_nonzero(codes), len(codes)
    return float(description_length(covered, labels.sum(axis=1), *size, m=table.m))


@settings(max_examples=60)
@given(binned_tables(), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_no_single_cut_could_be_moved_to_advantage(table, n_rules, seed):
    rng = np.random.default_rng(seed)
    codes = rng.choice(np.array([-1, 0, 1], dtype=np.int8), (n_rules, table.m), p=[0.2, 0.6, 0.2])
    labels = rng.integers(0, 3, (2, table.n_rows)).astype(float)
    moved = with_moved_cuts(codes, table, labels)
    assert (np.count_nonzero(moved, axis=1) == np.count_nonzero(codes, axis=1)).all()
    least = length_of(moved, table, labels)
    assert least <= length_of(codes, table, labels) + 1e-9
    for rule in range(n_rules):
        for atom in np.flatnonzero(moved[rule]):
            place = int(table.column_of[atom])
            if not table.columns[place].ordered:
                assert codes[rule, atom] == moved[rule, atom]
                continue
            for other in range(table.starts[place], table.starts[place + 1]):
                if moved[rule, other] == 0:
                    tried = moved.copy()
                    tried[rule, other], tried[rule, atom] = moved[rule, atom], 0
                    assert least <= length_of(tried, table, labels) + 1e-6
