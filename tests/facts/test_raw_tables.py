"""Tables as people have them: cells, kinds of columns and labels, with pandas as the oracle."""

import math
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from andre.errors import AndreError, DataError
from andre.facts import ColumnSchema, LabelledRows, Labels, RawColumn, RawTable, Schema
from andre.facts.formats.table_files import CsvFile, open_table
from andre.facts.tables.cells import NumberStyle, is_missing, read_dates, read_numbers

reading = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
one_each = lambda texts: np.ones(len(texts), dtype=np.int64)  # noqa: E731


def write(folder: Path, text: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def learn(values, kind=None, name="x", **options) -> ColumnSchema:
    return ColumnSchema.learn(RawColumn.from_array(name, values), kind, **options)


def european(number: float) -> str:
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


SPELLINGS = {
    "plain": (repr, ""),
    "thousands": (lambda number: f"{number:,.2f}", ""),
    "european": (european, "written as 1.234,5"),
    "percent": (lambda number: f"{number:.2f}%", "in percent"),
    "dollars": (lambda number: f"${number:,.2f}".replace("$-", "-$"), "in $"),
    "euros": (lambda number: f"{european(number)} €", "written as 1.234,5 and in €"),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@given(numbers=st.lists(st.floats(-1e9, 1e9).map(lambda number: round(number, 2)), max_size=20))
def test_numbers_are_read_however_they_are_written(spelling, numbers):
    spell, remark = SPELLINGS[spelling]
    texts = list(dict.fromkeys(map(spell, [*numbers, 1234567.89])))  # one that shows what the commas are
    values, style = read_numbers(texts, one_each(texts))
    wanted = {spell(number): number for number in [*numbers, 1234567.89]}
    np.testing.assert_allclose(values, [wanted[text] for text in texts], rtol=1e-12, atol=1e-9)
    assert str(style) == remark
    np.testing.assert_array_equal(values, [style.read(text) for text in texts])


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=20))
def test_points_between_thousands_are_no_decimals(numbers):
    numbers = list(dict.fromkeys([*numbers, 646, 1532]))
    texts = [f"€{number:,}".replace(",", ".") for number in numbers]
    values, style = read_numbers(texts, one_each(texts))
    assert values.tolist() == numbers
    assert str(style) == "written as 1.234,5 and in €"


@pytest.mark.parametrize("other", ["€1.5", "€0.646", "€1234", "€3.6210"])
def test_points_before_any_number_of_digits_are_decimals(other):
    values, style = read_numbers(["€1.532", "€646", other], np.ones(3, dtype=int))
    assert values.tolist() == [1.532, 646, float(other[1:])]
    assert str(style) == "in €"


def test_none_is_a_name_among_names_and_says_nothing_among_numbers(tmp_path):
    rows = [
        ("none", "1", "$5", "2020-01-01"),
        ("mild", "None", "none", "None"),
        ("severe", "3", "$7", "2020-02-01"),
    ]
    lines = [",".join(cells) for cells in (("pain", "score", "price", "since"), *rows)]
    cells = dict(zip(lines[0].split(","), map(list, zip(*rows, strict=True)), strict=True))
    for source in (write(tmp_path, "\n".join(lines)), cells):
        table = RawTable.read(source)
        schema = Schema.learn(table)
        assert [column.kind for column in schema.columns] == ["category", "number", "number", "date"]
        pain, score, price, since = schema.read(table).columns
        assert sorted(pain.levels) == ["mild", "none", "severe"]
        assert all(
            np.isnan(column.values).tolist() == [False, True, False] for column in (score, price, since)
        )
        assert Labels.read(table, "pain").classes == ("mild", "none", "severe")


@pytest.mark.parametrize(("true", "false"), [("ja", "nein"), ("oui", "non"), ("sí", "no"), ("sim", "não")])
def test_yes_and_no_in_other_languages(true, false):
    table = RawTable.read({"x": [true, false, true.upper(), false]})
    assert Schema.learn(table).read(table).columns[0].values.tolist() == [1, 0, 1, 0]
    assert str(Labels.read(table, "x").head()) == "x"


def test_a_column_that_is_one_value_is_refused():
    for value in (50, "red"):
        with pytest.raises(DataError, match="give one a row"):
            RawTable.read({"x": value})


@given(st.text(max_size=12))
def test_any_text_is_a_number_or_not_and_raises_nothing(text):
    column = RawColumn.from_cells("x", [text])
    schema = ColumnSchema.learn(RawColumn.from_cells("x", [text, "a", "b"]))
    schema.read(column)
    assert (
        math.isnan(NumberStyle().read(text)) or any(sign.isdigit() for sign in text) or "inf" in text.lower()
    )
    assert column.known[0] != is_missing(text)


@pytest.mark.parametrize("long", ["{}x", "-{}x", "$ {}x", "({}x)", "1e{}x", "1,{}x"])
@pytest.mark.parametrize("sign", ["9", " ", "9 ", "1.", "'"])
def test_a_cell_takes_time_by_its_length(sign, long):
    """By its square these would take hours."""
    text = long.format(sign * 300_000)
    values, _ = read_numbers([text, "1"], np.array([1, 1]))
    assert math.isnan(values[0])
    assert values[1] == 1


@given(
    st.lists(st.datetimes(datetime(1970, 1, 1), datetime(2068, 12, 31)), min_size=1, max_size=20),
    st.sampled_from(
        [
            "%Y-%m-%d",
            "%Y/%m/%d",
            "%d.%m.%Y",
            "%d %b %Y",
            "%B %d, %Y",
            "%Y-%m-%dT%H:%M:%S",
            "%Y-%m-%d %H:%M",
            "%m/%d/%Y",
            "%d/%m/%Y",
            "%m/%d/%Y %I:%M %p",
            "%d-%b-%y",
        ]
    ),
)
def test_dates_are_read_as_pandas_reads_them_by_their_format(moments, pattern):
    moments = [*moments, datetime(2021, 12, 25, 13, 45)]  # no month has the number 25
    texts = [moment.strftime(pattern) for moment in moments]
    values, _ = read_dates(texts, one_each(texts))
    wanted = [pd.to_datetime(text, format=pattern).replace(tzinfo=UTC).timestamp() for text in texts]
    np.testing.assert_allclose(values, wanted)


def test_dates_without_a_day_and_dates_that_never_were():
    texts = [
        "2021-03",
        "2021-13",
        "9999-12-31 23:59:60",
        "2021-02-29",
        "2021-03-01T10:00+99:00",
        "1/1/21 13:00 pm",
    ]
    values, _ = read_dates(texts, one_each(texts))
    assert values[0] == datetime(2021, 3, 1, tzinfo=UTC).timestamp()
    assert np.isnan(values[1:]).all()


def test_zones_are_respected():
    values, _ = read_dates(["2021-03-01T12:00:00+02:00", "2021-03-01T10:00:00Z"], np.array([1, 1]))
    assert values[0] == values[1] == datetime(2021, 3, 1, 10, tzinfo=UTC).timestamp()


cells = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-999, 999).map(str),
    st.sampled_from(
        ["", "NA", "?", "-", "null", "yes", " red ", "dark red", "1,5", "007", "it's", "é", "inf"]
    ),
)


def quoted(cell: str) -> str:
    return '"' + cell + '"' if "," in cell or ";" in cell else cell


@reading
@given(
    rows=st.lists(st.tuples(cells, cells, st.floats(-9, 9).map(repr)), min_size=1, max_size=12),
    delimiter=st.sampled_from(",;\t"),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_both_ways_through_a_csv_file_give_what_stands_in_it(tmp_path, rows, delimiter, newline):
    lines = [delimiter.join(map(quoted, row)) for row in [("a", "b", "c"), *rows]]
    path = write(tmp_path, newline.join(lines) + newline)
    table = RawTable.read(path)
    with open_table(path) as file:
        assert isinstance(file, CsvFile)
        walked = list(zip(*(cells for _, cells in file.rows()), strict=True))
    for column, texts in zip(table.columns, walked, strict=True):
        known = [None if is_missing(text) else text.strip() for text in texts]
        if column.levels is None:
            wanted = [math.nan if text is None else float(text) for text in known]
            np.testing.assert_array_equal(column.values, wanted)
        else:
            assert [None if code < 0 else column.levels[code] for code in column.values] == known
    assert table.columns[2].levels is None


@reading
@given(st.text("01.,;\"' \n\rxeE+-_\tü%$", max_size=60))
def test_junk_raises_nothing_but_the_librarys_own_error(tmp_path, text):
    with suppress(AndreError):
        table = RawTable.read(write(tmp_path, "a,b\n" + text))
        Schema.learn(table).read(table)


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 60
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "height": np.where(rng.random(n) < 0.2, np.nan, rng.normal(170, 10, n).round(1)),
            "member": rng.random(n) < 0.5,
            "color": rng.choice(["red", "dark red", "blue"], n),
            "since": pd.to_datetime(rng.integers(10**9, 1.5 * 10**9, n), unit="s").floor("D"),
            "label": rng.choice(["cat", "dog"], n),
        }
    )


def test_every_source_gives_the_same_table(tmp_path):
    data = frame()
    data.to_csv(tmp_path / "t.csv", index=False)
    data.to_parquet(tmp_path / "t.parquet")
    nullable = data.convert_dtypes()
    mapping = {name: data[name].tolist() for name in data}
    sources = [tmp_path / "t.csv", str(tmp_path / "t.parquet"), data, nullable, mapping, data.astype(object)]
    tables = [RawTable.read(source) for source in sources]
    schemas = [Schema.learn(table) for table in tables]
    kinds = ["number", "number", "boolean", "category", "date", "category"]
    wanted = schemas[0].read(tables[0])
    for table, schema in zip(tables, schemas, strict=True):
        assert [column.kind for column in schema.columns] == kinds
        for one, other in zip(schema.read(table).columns, wanted.columns, strict=True):
            if one.kind == "category":
                found = [[column.levels[code] for code in column.values] for column in (one, other)]
                assert found[0] == found[1]
            else:
                np.testing.assert_array_equal(one.values, other.values)
    ages = RawTable.read(data[["age", "height"]].to_numpy())
    assert ages.names == ("x0", "x1")
    np.testing.assert_array_equal(ages.columns[1].values, data["height"])
    moments = (data["since"] - pd.Timestamp(0)) / pd.Timedelta(seconds=1)
    np.testing.assert_array_equal(wanted.columns[4].values, moments)


few = 40


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["true", "False", ""] * few, "boolean"),
        (["y", "N"] * few, "boolean"),
        ([0, 1, None] * few, "boolean"),
        ([True, False] * few, "boolean"),
        (["yes", "no", "maybe"] * few, "category"),
        (["1", "2"] * few, "number"),
        ([0.1, 0.25, 0.7] * few, "number"),
        (["12%", "7.5%"] * few, "number"),
        (["13:45", "07:05"] * few, "number"),
        (["73 cm", "180cm", "5.5 cm"] * few, "number"),
        (["36 months", "60 months"] * few, "number"),
        (["20°C", "-5°C"] * few, "number"),
        (["5 h", "13:45"] * few, "number"),
        (["5 kg", "6 lb"] * few, "category"),
        (["5", "4a", "6b"] * few, "category"),
        (["1B", "2B", "3B"] * few, "category"),
        (["012a", "013a"] * few, "category"),
        (["007", "123"] * few, "category"),
        (["red", "blue"] * few, "category"),
        (["2021-03-01", "2020-02-29"] * few, "date"),
        ([1e-3, math.inf, 5] * few, "number"),
        ([f"{n} apples" for n in range(few)], "left out"),
        ([*range(few)], "left out"),
        ([f"{n:04}" for n in range(few)], "left out"),
        (["a"] * few, "left out"),
        ([None, ""] * few, "left out"),
        ([" ".join(["word"] * 20) + str(n % 9) for n in range(few)], "left out"),
        ([*range(1900, 1900 + few)], "number"),
        ([float(n) + 0.5 for n in range(few)], "number"),
        ([n % 10 for n in range(few)], "number"),
    ],
)
def test_kinds_are_recognised(values, kind):
    schema = learn(values)
    assert (schema.kind if not schema.left_out else "left out") == kind, schema


@given(
    st.lists(st.integers(-(10**6), 10**6).map(lambda number: number / 100), min_size=2),
    st.sampled_from(["cm", "kg", "months", "m²", "µg", "k"]),
    st.sampled_from(["", " "]),
)
def test_a_unit_that_all_cells_have_is_read(numbers, unit, blank):
    spelled = {f"{number}{blank}{unit}": number for number in numbers}
    values, style = read_numbers(list(spelled), one_each(spelled))
    np.testing.assert_allclose(values, list(spelled.values()))
    assert (style.unit, str(style)) == (unit, f"in {unit}")
    assert style.read("7") == 7
    assert math.isnan(style.read("7 apples"))


def test_names_tell_keys_and_truth_values():
    keys = np.random.default_rng(0).permutation(10**6)[:few]
    assert learn(keys).kind == "number"
    for name in (
        "id",
        "customer_id",
        "CustomerID",
        "Unnamed: 0",
        "order id",
        "userId",
        "ID",
        "Order ID",
        "Index",
    ):
        assert learn(keys, name=name).left_out
    for name in ("paid", "grid", "valid", "humid"):
        assert not learn(keys, name=name).left_out
    assert learn([0.2, 0.7] * few, name="mother(X1,X2)").kind == "truth"
    assert learn([0.2, 0.7] * few, name="width (cm)").kind == "number"
    assert learn([0.2, 0.7] * few, truth_values=True).kind == "truth"
    assert learn([0.2, 1.7] * few, truth_values=True).kind == "number"


@given(st.integers(1, 30), st.integers(60, 100))
def test_few_cells_that_are_no_numbers_are_unknown_and_many_make_a_category(odd, count):
    cells_ = [*(str(n % 7) for n in range(count)), *["high"] * odd]
    schema = learn(cells_)
    if count / (count + odd) >= 0.95:
        column, notes = schema.read(RawColumn.from_array("x", cells_))
        assert schema.kind == "number"
        assert np.isnan(column.values).sum() == odd
        assert notes == schema.notes
        assert "'high'" in notes[0]
    else:
        assert schema.kind == "category"
        assert "'high'" in schema.notes[0]
        forced = learn(cells_, "number")
        assert forced.kind == "number"
        assert f"{odd} cell" in forced.notes[0]


def test_a_schema_reads_new_rows_as_it_learned_to():
    old = RawTable.read(
        {"price": ["1.234,5", "2.000", "3,5"] * 20, "on": ["yes", "no", "no"] * 20, "c": ["1", "x", "y"] * 20}
    )
    schema = Schema.learn(old)
    new = {"more": [0], "c": ["1.0"], "price": ["2.000"], "on": ["Yes"]}
    table = schema.read(RawTable.read(new, as_text=schema.as_text))
    assert [column.values[0] for column in table.columns[:2]] == [2000.0, 1.0]
    assert table.columns[2].levels[table.columns[2].values[0]] == "1"
    lost = schema.read(RawTable.read({**new, "on": ["perhaps"]}, as_text=schema.as_text))
    assert lost.notes == ("on: 1 cell is neither true nor false and unknown: 'perhaps'",)
    with pytest.raises(DataError, match=r"no column 'price'.*'c', 'on'"):
        schema.read(RawTable.read({"c": ["x"], "on": ["no"]}))


@pytest.mark.parametrize(
    ("kinds", "says"),
    [
        ({"color": "number"}, "'color' cannot be read as number: its cells are such as 'red', 'blue'"),
        ({"color": "date"}, "'color' cannot be read as date"),
        ({"age": "truth"}, "outside \\[0, 1\\]"),
        ({"age": "integer"}, "kind 'integer': choose boolean, number, category, date, truth, text"),
        ({"aeg": "number"}, "no column 'aeg'.*did you mean 'age'"),
    ],
)
def test_what_a_column_cannot_be_is_said(kinds, says):
    table = RawTable.read({"age": [3, 4, 5], "color": ["red", "blue", "red"]})
    with pytest.raises(AndreError, match=says):
        Schema.learn(table, kinds=kinds)


def test_columns_become_what_the_user_says():
    table = RawTable.read(
        {"age": [3, 4, 5] * few, "zip": ["007", "123", "123"] * few, "w": [0.1, 0.2, 0.3] * few}
    )
    schema = Schema.learn(table, kinds={"age": "category", "zip": "number", "w": "truth"})
    age, code, truth = schema.read(table).columns
    assert age.levels == ("3", "4", "5")
    assert code.values[:2].tolist() == [7.0, 123.0]
    assert truth.kind == "truth"
    ignored = Schema.learn(table, ignore=["age"], kinds={"zip": "text"})
    assert [column.name for column in ignored.used] == ["w"]


def test_tables_that_are_none_are_refused(tmp_path):
    for source, says in (
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "columns 1 and 2 are both named 'a'"),
        (write(tmp_path, "a,b,a \n1,2,3\n", "twice.csv"), "columns 1 and 3 are both named 'a'"),
        (write(tmp_path, "a,b\n1,2\n1,2,3\n"), "line 3"),
        ({"a": [1], "b": [1, 2]}, "column 'b' has 2 rows"),
        ({}, "no columns"),
        (np.zeros(3), "rows and columns"),
        (pd.Series([1, 2]), r"a Series is one column, or one row, and no table"),
        (
            type("LazyFrame", (), {"collect": None})(),
            r"no rows yet: give what its collect\(\)",
        ),
        (tmp_path / "none.csv", "there is no file"),
    ):
        with pytest.raises(DataError, match=says):
            RawTable.read(source)
    with pytest.raises(DataError, match=r"no label column 'species'.*the first line must name the columns"):
        Labels.read(RawTable.read(write(tmp_path, "5.1,3.5,setosa\n4.9,3.0,setosa\n")), "species")
    unnamed = RawTable.read(write(tmp_path, ",b\n1,2\n2,3\n"))
    assert unnamed.names == ("column 1", "b")


def test_rows_may_be_mappings():
    table = RawTable.read([{"age": 42, "color": "red"}, {"color": "blue", "size": 3}])
    assert table.names == ("age", "color", "size")
    assert table.column("color").levels == ("red", "blue")
    np.testing.assert_array_equal(table.column("age").values, [42, np.nan])


def test_tables_of_truth_values_are_known():
    assert RawTable.read({"a": [0.1, None, 1.0], "b": [0, 1, 1]}).holds_truth_values()
    for other in ([0.1, 1.1], ["x", "y"], [-0.1, 0.5]):
        assert not RawTable.read({"a": other, "b": [0, 1]}).holds_truth_values()


@given(st.lists(st.floats(-1e6, 1e6).map(lambda number: round(number, 2)), min_size=2, max_size=20))
def test_negative_numbers_of_accounts(numbers):
    spelled = {
        (f"(${-number:,.2f})" if number < 0 else f"${number:,.2f}"): number for number in [*numbers, 5.0]
    }
    values, style = read_numbers(list(spelled), one_each(spelled))
    np.testing.assert_allclose(values, list(spelled.values()))
    assert style.brackets == any(number < 0 for number in spelled.values())


@pytest.mark.parametrize(
    ("cells_", "kind"),
    [
        (["(1)", "(2)", "(3)"] * few, "category"),
        (["1", "(2)", "3"] * few, "number"),
        (["($223.33)", "($1)"] * few, "number"),
        (["$(223.33)", "$1", "$2"] * few, "number"),
        (["((1))", "(-2)", "(x)"] * few, "category"),
    ],
)
def test_parentheses_are_negative_only_among_amounts(cells_, kind):
    schema = learn(cells_)
    assert schema.kind == kind
    column, _ = schema.read(RawColumn.from_array("x", cells_))
    if kind == "number":
        assert "negative ones in parentheses" in schema.notes[0]
        assert (column.values[["(" in cell for cell in cells_]] < 0).all()


@pytest.mark.parametrize(
    ("cells_", "note"),
    [
        (
            ["01/02/2021", "03/04/2021"],
            "'01/02/2021' is read as 2021-01-02, the month first, and with the day",
        ),
        (["01/02/2021", "25/04/2021"], "with the day first"),
        (["01/02/2021", "04/25/2021"], None),
        (["1.2.2021", "3.4.2021"], "with the day first"),
        (["2021-02-01", "2021-04-03"], None),
        (["01/01/2021", "02/02/2021"], None),
    ],
)
def test_dates_that_can_be_read_in_two_ways_get_a_note(cells_, note):
    schema = learn(cells_ * few)
    assert schema.kind == "date"
    assert schema.notes[0].startswith(note) if note else not schema.notes


def test_a_table_without_rows_can_be_read_and_not_be_learned_from(tmp_path):
    for source in ({"a": [], "y": []}, write(tmp_path, "a,y\n"), pd.DataFrame({"a": [], "y": []})):
        table = RawTable.read(source)
        assert (table.names, table.n_rows) == (("a", "y"), 0)
        with pytest.raises(DataError, match="column names but no rows"):
            LabelledRows.read(table, "y")


@pytest.mark.parametrize("spelling", ["<{}", "< {}", ">={}", "≤{}"])
def test_values_beyond_what_is_measured_count_as_its_bound(spelling):
    cells = [*(f"{n / 10}" for n in range(10, 60)), *[spelling.format("0.9")] * 8]
    schema = learn(cells)
    assert (schema.kind, schema.missing) == ("number", 0)
    assert "measured" in schema.notes[0]
    assert schema.read(RawColumn.from_cells("x", cells))[0].values[-1] == 0.9


def test_groups_named_by_bounds_stay_a_category():
    assert learn(["<18", "18-24", ">24"] * 10).kind == "category"
    assert learn(["<5", ">5", "5"] * 10).kind == "category"


def test_many_numbers_are_numbers_though_a_tenth_of_the_cells_is_none():
    cells = [*map(str, range(90)), *["refused"] * 10]
    assert learn(cells).kind == "number"
    assert "10 cells are no number and unknown: 'refused'" in learn(cells).notes
    assert learn([str(n % 5) for n in range(90)] + ["refused"] * 10).kind == "category"


def test_spans_of_hours_and_minutes_are_numbers():
    cells = [f"{n // 60}h {n % 60}m" for n in range(0, 400, 13)]
    schema = learn(cells)
    assert (schema.kind, schema.notes) == ("number", ("in hours",))
    np.testing.assert_allclose(
        schema.read(RawColumn.from_cells("x", cells))[0].values, np.arange(0, 400, 13) / 60
    )
    assert learn([f"{n % 7} min" for n in range(30)]).notes == ("in min",)


@pytest.mark.parametrize(
    ("cells", "ends"),
    [
        (["<18", "18-24", "25-34", "35+"], [17.5, 24, 34, 35]),
        (["under 18", "18 to 24", "25 to 34", "65 and over"], [17.5, 24, 34, 65]),
        (["<$25,000", "$25,000-$49,999", "$50,000-$74,999", ">$75,000"], [24999.5, 49999, 74999, 75000.5]),
        (["0", "1–4", "5–9", "≥10"], [0, 4, 9, 10]),
        (["0.5-1.5", "1.5-2.5", "2.5-3.5"], [1.5, 2.5, 3.5]),
        (["1-0", "2-2", "0-3"], None),  # results of games
        (["1-10", "5-20", "30-40"], None),  # they overlap
        (["01-02", "03-04", "05-06"], None),  # codes
        (["555-1234", "555-9999", "555-3333"], None),
        (["18-24", "25-34"], None),  # two of them are a category in any case
        (["2021-03", "2021-04", "2021-05"], None),  # dates
    ],
)
def test_ranges_that_follow_one_another_are_compared_by_their_ends(cells, ends):
    schema = ColumnSchema.learn(RawColumn.from_cells("a", cells * 10))
    assert (schema.kind == "number") == (ends is not None)
    if ends is not None:
        assert schema.read(RawColumn.from_cells("a", cells))[0].values.tolist() == ends


def test_ranges_may_be_classes():
    bands = [f"{low}-{low + 4}" for low in range(0, 60, 5)]
    labels = Labels.read(RawTable.read({"age": ["<0", *bands] * 3, "x": range(39)}), "age")
    assert len(labels.classes) == 13
