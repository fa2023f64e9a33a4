"""Columns as atoms: the bins say where atoms hold that are read and compared one by one."""

import math
import re
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.errors import DataError
from andre.evaluation import literal_truth
from andre.facts import RawTable, Schema, row_facts
from andre.inference import infer
from andre.logic import Atom, Constant, Program, by_row, parse_program, read_date
from andre.samples import BinnedTable, Encoding, EncodingLimits, RuleSpace
from andre.samples.column_encoding import quantile_gaps

KINDS = {"size": "number", "color": "category", "when": "date", "member": "boolean", "weight": "truth"}
rows = st.fixed_dictionaries(
    {
        "size": st.one_of(st.none(), st.sampled_from([0.25, 1.0, 2.0, 1e9, -3.0]), st.floats(-99, 99)),
        "color": st.one_of(st.none(), st.sampled_from(["red", "dark red", "it's", "3", "4.5", "007"])),
        "when": st.one_of(
            st.none(),
            st.integers(-(10**9), 2 * 10**9).map(lambda time: datetime(1970, 1, 1) + timedelta(seconds=time)),
        ),
        "member": st.one_of(st.none(), st.booleans()),
        "weight": st.one_of(st.none(), st.sampled_from([0.0, 0.3, 0.5, 0.7, 1.0])),
    }
)
tables = st.lists(rows, min_size=1, max_size=10)


def raw(found: list[dict]) -> RawTable:
    return RawTable.read({name: pd.Series([row[name] for row in found], dtype=object) for name in KINDS})


def encoded(found: list[dict], **limits) -> Encoding:
    """The encoding of rows."""
    table = raw(found)
    return Encoding.learn(table, schema=Schema.learn(table, kinds=KINDS), limits=EncodingLimits(**limits))


EXTREMES = [
    {"size": 0.5, "color": "red", "when": datetime(2000, 1, 1), "member": True, "weight": 0.1},
    {"size": 7.5, "color": "blue", "when": datetime(2001, 5, 1, 12), "member": False, "weight": 0.9},
] * 2


def holds(atom: Atom, row: dict) -> bool | None:
    """Whether an atom holds on a row, by the atom alone; None where that is not known."""
    if atom.gap is not None:
        return row[atom.gap] is None
    if atom.column is None:
        value = row[atom.predicate]
        return None if value is None or value == 0.5 else bool(value > 0.5)
    value, constant = row[atom.column], atom.args[1]
    if value is None:
        return None
    if atom.predicate == "=":
        return str(constant).strip("'").replace("\\'", "'") == value
    if isinstance(constant.value, str):
        return value.replace(tzinfo=UTC).timestamp() > read_date(constant.value)
    return value > constant.value


@settings(max_examples=25, deadline=None)
@given(tables, tables, st.integers(1, 6))
def test_bins_hold_where_their_atoms_do_on_any_rows(train, new, cuts):
    encoding = encoded(train + EXTREMES, cuts=cuts, coarse=2)
    for found in (train + EXTREMES, new):
        binned = encoding.binned(raw(found))
        literals = binned.literals()
        m = len(encoding.atoms)
        assert literals.shape == (len(found), 2 * m)
        for number, row in enumerate(found):
            truth = [holds(atom, row) for atom in encoding.atoms]
            assert literals[number, :m].tolist() == [value is True for value in truth]
            assert literals[number, m:].tolist() == [value is False for value in truth]
        coarse = np.concatenate((encoding.coarse, m + encoding.coarse))
        np.testing.assert_array_equal(literals[:, coarse], literal_truth(encoding.valuations(raw(found))))
        some = np.arange(len(found))[::-2]
        np.testing.assert_array_equal(encoding.binned(raw(found).take(some)).literals(), literals[some])


@settings(max_examples=25, deadline=None)
@given(tables, st.data())
def test_rules_over_the_atoms_are_printed_read_and_coded_back(train, data):
    encoding = encoded(train + EXTREMES)
    space = encoding.space("h")
    signs = st.lists(st.sampled_from([-1, 0, 0, 1]), min_size=space.m, max_size=space.m)
    codes = np.array(data.draw(st.lists(signs, min_size=1, max_size=3)), dtype=np.int8)
    program = space.program(codes)
    again = parse_program(str(program))
    assert again == program
    np.testing.assert_array_equal(space.encode(again), codes)
    denied = re.findall(r"\\\+ (\w+)", str(program))
    assert set(denied) <= {"member", "weight", "missing"}  # comparisons are turned round


@settings(max_examples=40, deadline=None)
@given(tables, st.data())
def test_tidied_bodies_hold_on_the_same_rows_by_no_more_literals(train, data):
    found = train + EXTREMES
    encoding = encoded(found)
    literal = st.tuples(st.integers(0, len(encoding.atoms) - 1), st.sampled_from([-1, -1, 1]))
    codes = np.zeros((3, len(encoding.atoms)), dtype=np.int8)
    for code in codes:
        for atom, sign in data.draw(st.lists(literal, min_size=1, max_size=6)):
            code[atom] = sign
    binned, tidy = encoding.binned(raw(found)), encoding.tidied(codes)
    np.testing.assert_array_equal(binned.covers(tidy), binned.covers(codes))
    assert ((tidy != 0).sum(axis=1) <= (codes != 0).sum(axis=1)).all()
    np.testing.assert_array_equal(encoding.tidied(tidy), tidy)


@settings(max_examples=15, deadline=None)
@given(tables, st.data())
def test_the_relational_form_derives_the_rows_that_bins_cover(train, data):
    found = train + EXTREMES
    encoding = encoded(found)
    space = encoding.space("h")
    literal = st.tuples(st.integers(0, space.m - 1), st.sampled_from([-1, 1]))
    codes = np.zeros((2, space.m), dtype=np.int8)
    for code in codes:
        for atom, sign in data.draw(st.lists(literal, min_size=1, max_size=3)):
            code[atom] = sign
    codes[0, : len(encoding.columns[0].cuts)] = 0
    codes[0, 0] = 1  # a comparison, without which the rules are no rules about columns
    table = encoding.read(raw(found))
    program = by_row(space.program(codes))
    derived = {atom.args[0].value - 1 for atom in infer(program, row_facts(table)) if atom.predicate == "h"}
    covered = encoding.binned(table).covers(codes).any(axis=0)
    assert derived == set(np.flatnonzero(covered).tolist())


@given(st.lists(st.integers(0, 40), min_size=2, max_size=200), st.integers(1, 12))
def test_cuts_part_all_values_or_share_them_out(values, most):
    _, counts = np.unique(values, return_counts=True)
    gaps = quantile_gaps(counts.astype(float), most)
    assert (np.diff(gaps) > 0).all()
    assert len(gaps) <= most
    if len(counts) - 1 <= most:
        assert gaps.tolist() == list(range(len(counts) - 1))
    else:
        assert len(gaps) >= most / 2
    assert not len(gaps) or (gaps[0] >= 0 and gaps[-1] < len(counts) - 1)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=200), st.integers(1, 12))
def test_round_cuts_keep_their_order_and_part_the_rows_as_well(values, most):
    table = RawTable.read({"x": np.array([*values, -2e6, 2e6])})
    schema = Schema.learn(table, kinds={"x": "number"})
    column = Encoding.learn(table, schema=schema, limits=EncodingLimits(cuts=most)).columns[0]
    assert (np.diff(column.cuts) > 0).all()
    sizes = np.bincount(column.binned(schema.read(table).columns[0])[0].bins, minlength=len(column.cuts) + 1)
    assert (sizes > 0).all()


def test_cuts_of_many_values_are_round():
    values = np.random.default_rng(0).normal(size=20_000)
    cuts = Encoding.learn(RawTable.read({"x": values})).columns[0].cuts
    assert len(cuts) == 255
    assert np.median([len(repr(cut)) for cut in cuts]) <= 6
    sizes = np.histogram(values, [-np.inf, *cuts, np.inf])[0]
    assert sizes.max() < 2.5 * len(values) / 256


def test_quantiles_of_distinct_values_are_numpys():
    gaps = quantile_gaps(np.ones(1000), 9)
    np.testing.assert_allclose(gaps + 1, np.quantile(np.arange(1001), np.arange(1, 10) / 10))


def test_a_column_that_is_mostly_zero_has_cuts_among_the_rest():
    values = np.concatenate((np.zeros(9000), np.arange(1, 1001)))
    encoding = Encoding.learn(RawTable.read({"gain": values}))
    assert len(encoding.columns[0].cuts) > 200
    assert encoding.columns[0].cuts[0] == 0.5
    assert len(encoding.coarse) == 8
    assert sum(encoding.columns[0].cuts[place] > 100 for place in encoding.columns[0].coarse) >= 5


def test_weights_count_as_rows():
    values = np.array([1.0, 2.0, 3.0, 4.0, 100.0])
    weights = np.array([1, 3, 2, 4, 0])
    table = RawTable.read({"x": values, "c": ["a", "b", "a", "b", "z"]})
    limits = EncodingLimits(cuts=2)
    weighted = Encoding.learn(table, weights.astype(float), limits=limits)
    repeated = Encoding.learn(table.take(np.repeat(np.arange(5), weights)), limits=limits)
    assert weighted.atoms == repeated.atoms


def test_rare_levels_are_pooled_and_new_ones_are_none_of_the_known():
    cells = [*["red"] * 500, *["blue"] * 400, *(f"rare {n}" for n in range(100))]
    encoding = Encoding.learn(RawTable.read({"color": cells, "many": [f"c{n % 200}" for n in range(1000)]}))
    color, many = encoding.columns
    assert (color.levels, color.pooled) == (("red", "blue"), 100)
    assert (len(many.levels), many.pooled, len(many.shown)) == (200, 0, 60)
    new = encoding.binned(RawTable.read({"color": ["blue", "green", "rare 3", None], "many": ["c1"] * 4}))
    assert new.columns[0].bins.tolist() == [1, 2, 2, -1]
    assert new.literals()[1, len(encoding.atoms)]  # green is not red
    assert not new.literals()[3, [0, len(encoding.atoms)]].any()


def test_what_becomes_of_columns_is_told():
    n = 40
    table = RawTable.read(
        {
            "id": [*range(n)],
            "age": [*(f"{n // 2 + 20}" for n in range(n - 1)), "old"],
            "tag": [f"t{n // 4}" for n in range(n)],
            "none": [None] * n,
            "height": [1.5 + 0.01 * n for n in range(n)],
        }
    )
    summary = {one.name: one for one in Encoding.learn(table).summary()}
    assert [name for name, one in summary.items() if one.becomes.startswith("left out")] == ["id", "none"]
    assert "'old'" in summary["age"].becomes
    assert summary["height"].kind == "number"
    text = str(Encoding.learn(table)).splitlines()
    assert len(text) == 6
    assert text[0].split() == ["column", "kind", "missing", "values", "becomes"]


def test_a_table_without_use_is_refused():
    with pytest.raises(DataError, match=r"no column from which rules can be made \(a: the same value"):
        Encoding.learn(RawTable.read({"a": [1, 1, 1], "b": [None, None, None]}))
    with pytest.raises(DataError, match="no column beside the label"):
        Encoding.learn(RawTable.read({"a": [1, 2]}).without(["a"]))


def test_levels_with_enough_rows_have_an_atom_however_long_the_table():
    cells = np.array([*["most"] * 99_900, *["some"] * 60, *["few"] * 40], dtype=object)
    column = Encoding.learn(RawTable.read({"c": cells})).columns[0]
    assert (column.levels, column.pooled) == (("most", "some"), 1)


def test_dates_are_cut_at_round_moments():
    days = [datetime(2021, 3, day) for day in (1, 3, 5)]
    hours = [datetime(2021, 3, 1, 10, 15), datetime(2021, 3, 1, 12, 40), datetime(2021, 3, 1, 12, 50)]
    encoding = Encoding.learn(RawTable.read({"day": pd.Series(days), "hour": pd.Series(hours)}))
    assert list(map(str, encoding.atoms)) == [
        "day > '2021-03-02'",
        "day > '2021-03-04'",
        "hour > '2021-03-01T11:00:00'",
        "hour > '2021-03-01T12:45:00'",
    ]


def test_lifted_bodies_are_the_same_bodies():
    table = RawTable.read({"x": np.arange(100.0) + 0.5, "b": ["yes", "no"] * 50})
    encoding = Encoding.learn(table)
    codes = np.array([[1, -1, *[0] * 6, 1], [0, 0, 1, *[0] * 5, -1]], dtype=np.int8)
    space, coarse = encoding.space("h"), encoding.coarse_space("h")
    assert isinstance(coarse, RuleSpace)
    assert space.program(encoding.lifted(codes)) == coarse.program(codes)
    assert isinstance(encoding.binned(table), BinnedTable)
    assert math.isclose(encoding.valuations(table)[:, -1].mean(), 0.5)
    assert isinstance(space.program(encoding.lifted(codes)), Program)
    assert Constant("x") in space.atoms[0].args


def test_cuts_of_ranges_are_their_ends_and_numbers_of_new_rows_fall_into_them():
    raw = RawTable.read({"age": ["18-24", "25-34", "35-49", "50+"] * 10})
    encoding = Encoding.learn(raw)
    assert [str(atom) for atom in encoding.atoms] == ["age > 24", "age > 34", "age > 49"]
    new = RawTable.read({"age": ["30", "50-64", "?"]}, as_text=encoding.schema.as_text)
    assert encoding.binned(new).columns[0].bins.tolist() == [1, 3, -1]
