"""Columns as bins, against truth values cut by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from andre.errors import DataError
from andre.evaluation import covers, literal_truth
from andre.samples import BinnedColumn, BinnedTable


@st.composite
def binned_tables(draw, most_rows: int = 30, most_columns: int = 4, most_atoms: int = 4) -> BinnedTable:
    """Small tables of both kinds of columns, some values unknown."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(1, most_rows))
    unknown = draw(st.sampled_from([0.0, 0.2]))
    columns = []
    for place in range(draw(st.integers(1, most_columns))):
        n_atoms = draw(st.integers(1, most_atoms))
        bins = rng.integers(0, n_atoms + 1, n_rows).astype(np.int16)
        bins[rng.random(n_rows) < unknown] = -1
        columns.append(BinnedColumn(f"c{place}", draw(st.booleans()), n_atoms, bins))
    return BinnedTable(tuple(columns))


def valuations(table: BinnedTable) -> np.ndarray:
    """The atoms as truth values, NaN where a column is unknown."""
    values = []
    for column in table.columns:
        for atom in range(column.n_atoms):
            truth = [b > atom if column.ordered else b == atom for b in column.bins.tolist()]
            values.append(np.where(column.bins < 0, np.nan, truth))
    return np.array(values, dtype=float).T


@given(binned_tables(), st.integers(0, 1000))
def test_literals_and_covers_are_those_of_truth_values(table, seed):
    literals = literal_truth(valuations(table))
    assert (table.literals() == literals).all()
    codes = np.random.default_rng(seed).integers(-1, 2, (5, table.m)).astype(np.int8)
    assert (table.covers(codes) == covers(literals, codes)).all()
    rows = np.arange(table.n_rows)[::2]
    assert (table.take(rows).covers(codes) == table.covers(codes)[:, rows]).all()


@given(binned_tables(), st.integers(0, 2**32 - 1))
def test_some_atoms_hold_where_they_held_among_all(table, seed):
    chosen = np.flatnonzero(np.random.default_rng(seed).random(table.m) < 0.5)
    some = table.of_atoms(chosen)
    assert (some.literals() == table.literals()[:, np.append(chosen, table.m + chosen)]).all()


def test_columns_have_as_many_rows():
    short, long = (BinnedColumn(str(n), True, 1, np.zeros(n, dtype=np.int16)) for n in (2, 3))
    with pytest.raises(DataError, match="different numbers of rows"):
        BinnedTable((short, long))
