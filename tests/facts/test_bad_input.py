"""Every kind of bad input ends in a sentence that names file and line."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from tests.facts.samples import write_sample

from andre.errors import AndreError, DataError
from andre.facts import FORMATS, FactBase, read_facts, write_facts
from andre.facts.formats.text import blocks

LONG = "p(a,b).\n" * 3

BAD = {
    "malformed nl": ("x.nl", "p(a,b).\np(a b).\n", "line 2: 'p(a b).' is no fact"),
    "nl without dot": ("x.nl", "p(a,b).\np(a,c)\n", "line 2: 'p(a,c)' is no fact"),
    "nl cut short": ("x.nl", LONG + "p(a,", r"line 4: 'p(a,' is no fact"),
    "nl junk after the mark": ("x.nl", "p(a,b).#TEST x\n", "line 1: "),
    "nl probability": ("x.nl", "0.5::p(a,b).\n", "line 1: "),
    "nl arity clash": ("x.nl", "p(a,b).\nq(a).\np(c).\n", "line 3: p has 1 argument here and 2 arguments"),
    "nl bad escape": ("x.nl", "p('\\q').\n", "line 1: "),
    "prolog malformed": ("x.pl", "p(a, b).\np(a b).\n", "line 2: "),
    "prolog missing dot": ("x.pl", "p(a, b)\np(a, c).\n", "line 2: "),
    "prolog cut short": (
        "x.pl",
        "p(a, b).\n\n% more\np(a, ",
        "line 4: the clause that begins here never ends",
    ),
    "prolog open quote": ("x.pl", "p(a).\np('a).\n", "line 2: "),
    "prolog open comment": ("x.pl", "p(a).\n/* p(b).\n", "line 2: "),
    "prolog variable": ("x.pl", "p(a).\n0.5::p(X).\n", "line 2: p(X) is no fact"),
    "prolog compound": ("x.pl", "p(f(a).\n", "line 1: "),
    "prolog bad escape": ("x.pl", "p([X], '\\q').\n", "line 1: "),
    "prolog directive": ("x.pl", "p(a).\n:- initialization(main).\n", "line 2: "),
    "prolog comparison": ("x.pl", "p(a).\na = b.\n", "line 2: "),
    "prolog infinity": ("x.pl", "p(a).\n\np(1.0e999).\n", "line 3: 1.0e999 is too large"),
    "prolog rules cut short": ("x.pl", "p(X) :- q(X),", "line 1: "),
    "probability above 1": ("x.pl", "p(a).\n1.5::p(b).\n", "line 2: the probability 1.5 is outside [0, 1]"),
    "probability above 1, odd": ("x.pl", "p(a).\n1.5::p('b, c').\n", "line 2: the probability 1.5"),
    "two probabilities": (
        "x.pl",
        "0.5::p(a).\nq(b).\n0.6::p(a).\n",
        "x.pl, line 1) has two probabilities, see ",
    ),
    "tsv short": ("x.tsv", "a\tp\tb\n\na\tp\n", "line 3: there are 2 cells where a triple has 3"),
    "tsv long": ("x.tsv", "a\tp\tb\na\tp\tb\tc\n", "line 2: there are 4 cells"),
    "tsv empty cell": ("x.tsv", "a\tp\tb\na\t\tb\n", "line 2: a cell is empty"),
    "tsv builtin": ("x.tsv", "a\t=\tb\n", "= compares two terms"),
    "csv ragged": ("x.csv", "who,age\nann,3\nbob\n", "line 3: there are 1 cells where the header has 2"),
    "csv empty cell": ("x.csv", "who,age\nann,\n", "line 2: a cell is empty"),
    "csv quote": ("x.csv", 'who,age\n"ann"x,3\n', "line 2: this is no CSV"),
    "csv open quote": ("x.csv", 'who,age\n"ann,3\n', "this is no CSV"),
    "csv no rows": ("x.csv", "who,age\n", "has a header and no facts"),
    "csv two columns alike": ("x.csv", "who,who\na,b\n", "line 1: the columns need distinct names"),
    "csv probability": (
        "x.csv",
        "who,probability\nann,0.5\nbob,2\n",
        "line 3: '2' in the column probability",
    ),
    "csv nan probability": ("x.csv", "who,probability\nann,nan\n", "line 2: 'nan' in the column probability"),
    "csv mark": ("x.csv", "who,mark\nann,dev\n", "line 2: 'dev' in the column mark"),
    "csv negative": ("x.csv", "who,negative\nann,perhaps\n", "line 2: 'perhaps' in the column negative"),
    "csv denied with probability": (
        "x.csv",
        "who,negative,probability\nann,1,0.5\n",
        "line 2: a denied fact",
    ),
    "csv stated and denied": (
        "x.csv",
        "who,negative\nann,0\nbob,0\nann,1\n",
        "line 2) is both stated and denied, see",
    ),
    "csv no arguments": ("x.csv", "mark\ntrain\n", "no column of arguments"),
    "jsonl malformed": ("x.jsonl", '{"relation": "p", "args": []}\n{"relation"\n', "line 2: this is no JSON"),
    "jsonl list": ("x.jsonl", "[1]\n", "line 1: this is no object"),
    "jsonl nan": ("x.jsonl", '{"relation": "p", "args": [NaN]}\n', "line 1: NaN cannot be a constant"),
    "jsonl true": ("x.jsonl", '{"relation": "p", "args": [true]}\n', "line 1: True cannot be a constant"),
    "jsonl nested": ("x.jsonl", '{"relation": "p", "args": [["a"]]}\n', "line 1: ['a'] cannot be a constant"),
    "jsonl nul": (
        "x.jsonl",
        '{"relation": "p", "args": ["\\u0000"]}\n',
        "line 1: the name '\\x00' has a NUL",
    ),
    "jsonl half": ("x.jsonl", '{"relation": "p", "args": ["\\ud800"]}\n', "line 1: the name"),
    "jsonl probability": (
        "x.jsonl",
        '{"relation": "p", "args": [], "probability": -1}',
        "line 1: the probability -1",
    ),
    "jsonl field": ("x.jsonl", '{"relation": "p", "args": [], "weight": 1}', "line 1: an object has"),
    "jsonl bad rule": ("x.jsonl", '{"rule": "p(X) :- "}', "line 1: "),
    "jsonl bad bias": ("x.jsonl", '{"bias": {"head": 5}}', "line 1: the heads"),
    "jsonl deep": ("x.jsonl", "[" * 100_000, "line 1: this is no JSON"),
    "nothing": ("x.pl", "", "x.pl has no facts"),
    "only comments": ("x.pl", "% none yet\n", "x.pl has no facts"),
    "only a mark": ("x.nl", "\ufeff", "x.nl has no facts"),
    "empty triples": ("x.tsv", "\n\n", "x.tsv has no facts: check the path"),
    "unknown": ("x.xyz", "hello world\n", "x.xyz does not look like facts"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_text_is_refused_with_its_line(case: str, tmp_path: Path) -> None:
    name, text, message = BAD[case]
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(AndreError) as caught:
        read_facts(path)
    assert message in str(caught.value)
    assert len(str(caught.value).split("\n")) == 1
    if "line" in message:
        assert str(path) in str(caught.value)


TEXTS = {name: item for name, item in FORMATS.items() if name in {"nl", "prolog", "problog", "tsv", "jsonl"}}


@pytest.mark.parametrize("name", TEXTS)
class TestEncodings:
    def test_windows_line_ends_and_a_byte_order_mark_change_nothing(self, name: str, tmp_path: Path) -> None:
        path = write_sample(name, tmp_path)
        plain, data = read_facts(path), path.read_bytes()
        path.write_bytes(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"))
        assert read_facts(path) == plain
        path.write_bytes(data.removesuffix(b"\n"))
        assert read_facts(path) == plain

    @pytest.mark.parametrize(
        ("data", "encoding"),
        [
            ("café".encode("latin-1"), "line 1: this is not UTF-8 but looks like LATIN1"),
            (b"\n\n\x93caf\x94", "line 3: this is not UTF-8 but looks like WINDOWS-1252"),
            ("p(a).".encode("utf-16"), "is encoded in UTF-16"),
            ("p(a).".encode("utf-32"), "is encoded in UTF-32"),
            (b"\nELF\0\1\2", "line 2: there is a NUL byte"),
            (bytes(range(256)), "line 1: there is a NUL byte"),
        ],
    )
    def test_other_encodings_are_refused_by_name(
        self, name: str, data: bytes, encoding: str, tmp_path: Path
    ) -> None:
        path = tmp_path / f"x{FORMATS[name].suffixes[0]}"
        path.write_bytes(data)
        with pytest.raises(DataError) as caught:
            read_facts(path)
        assert encoding in str(caught.value)


def test_a_long_line_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.nl"
    path.write_bytes(b"p(a,b).\n" + b"a" * 5000)
    with pytest.raises(DataError, match="line 2: the line is longer than 1,000 bytes"):
        list(blocks(path, max_line=1000, size=100))
    path.write_bytes(b"p(a,b).\n" + b"a" * 1001 + b"\np(a,b).\n")
    with pytest.raises(DataError, match="line 2: the line is longer"):
        list(blocks(path, max_line=1000))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_blocks_are_whole_lines_whatever_their_size(size: int, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes("\ufeffé\r\n\n\nab\r\nc".encode())
    found = list(blocks(path, size=size))
    assert "".join(block.text for block in found) == "é\n\n\nab\nc\n"
    line = 1
    for block in found:
        assert block.first_line == line
        assert block.text.endswith("\n")
        line += block.text.count("\n")


def test_a_clause_without_end_is_refused_after_a_bounded_length(tmp_path: Path) -> None:
    path = tmp_path / "x.pl"
    path.write_text("p(a).\n\n'" + "a\n" * 3_000_000)
    with pytest.raises(DataError, match="line 3: the clause that begins here does not end within 1,048,576"):
        read_facts(path)


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    for source in (tmp_path / "none.pl", tmp_path / "none"):
        with pytest.raises(DataError, match="there is no file"):
            read_facts(source)
        with pytest.raises(DataError, match="there is no file"):
            read_facts(source, "nl")
    with pytest.raises(DataError, match="has no facts: a folder needs"):
        read_facts(tmp_path)
    with pytest.raises(DataError, match="cannot be opened: Is a directory"):
        read_facts(tmp_path, "nl")
    (tmp_path / "train.txt").write_text("a\tp\tb\n")
    (tmp_path / "p.csv").write_text("x\na\n")
    with pytest.raises(DataError, match="looks like tsv-splits and csv"):
        read_facts(tmp_path)
    (tmp_path / "train.tsv").write_text("a\tp\tb\n")
    with pytest.raises(DataError, match=r"both train\.txt and train\.tsv"):
        read_facts(tmp_path, "tsv-splits")
    with pytest.raises(DataError, match="there is no format 'prologue'"):
        read_facts(tmp_path, "prologue")
    with pytest.raises(DataError, match="cannot be read from an int"):
        read_facts(3)


def test_writing_where_one_cannot(tmp_path: Path) -> None:
    base = read_facts(write_sample("jsonl", tmp_path)).without(
        "probability", "mark", "negative", "rules", "bias"
    )
    with pytest.raises(DataError, match="there is no folder"):
        write_facts(base, tmp_path / "none" / "x.pl")
    with pytest.raises(DataError, match="does not say by its ending"):
        write_facts(base, tmp_path / "x.xyz")
    with pytest.raises(DataError, match="is there already"):
        write_facts(base, tmp_path, "csv")


@pytest.mark.parametrize("name", ["duckdb", "sqlite", "parquet"])
def test_databases_that_are_damaged_or_empty(name: str, tmp_path: Path) -> None:
    path = write_sample(name, tmp_path)
    file = next(path.iterdir()) if path.is_dir() else path
    data = file.read_bytes()
    for damaged in (data[: len(data) // 2], data[:64], data[:16] + b"\xff" * (len(data) - 16), b""):
        file.write_bytes(damaged)
        with pytest.raises(DataError):
            read_facts(path, name)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (b"town", "a table whose name is not UTF-8"),
        (b"size", "a column of table 'town' whose name is not UTF-8"),
        (b"land", "a foreign key to a table whose name is not UTF-8"),
        (b"code", "a foreign key of a column whose name is not UTF-8"),
    ],
)
def test_names_of_databases_must_be_text(name: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TABLE town (id INTEGER PRIMARY KEY, size, lies TEXT REFERENCES land(code))"
        )
        connection.execute("INSERT INTO town VALUES (1, 2, 'x')")
    path.write_bytes(path.read_bytes().replace(name, b"a\xff\xfeb"))
    with pytest.raises(DataError, match=says):
        read_facts(path)


def test_databases_that_have_nothing_to_say(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE age (who VARCHAR, years INTEGER)")
    with pytest.raises(DataError, match="has no facts: age has no rows"):
        read_facts(path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE kin (a VARCHAR, b VARCHAR, probability DOUBLE)")
        connection.execute("INSERT INTO kin VALUES ('ann', 'bob', 0.5), ('bob', 'ann', NULL)")
    with pytest.raises(DataError, match="table kin, row 2: None in the column probability"):
        read_facts(path)
    other = tmp_path / "x.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE picture (data BLOB)")
        connection.execute("INSERT INTO picture VALUES (x'00ff')")
    connection.close()
    with pytest.raises(
        DataError, match=r"no tables that facts can be read from .picture.data: binary data is left out"
    ):
        read_facts(other)


def test_frames_name_their_row() -> None:
    for missing in (None, np.nan, pd.NA, pd.NaT, ""):
        with pytest.raises(DataError, match="the DataFrame p, row 1: a cell is empty"):
            read_facts({"p": pd.DataFrame({"who": pd.Series(["<NA>", missing], dtype=object)})})
    with pytest.raises(DataError, match="has a NUL"):
        read_facts({"p": pd.DataFrame({"who": ["a\0"]})})
    with pytest.raises(DataError, match="the DataFrame age, row 1: a cell is empty"):
        read_facts({"age": pd.DataFrame({"who": ["ann", None]})})
    with pytest.raises(DataError, match="the DataFrame age, row 0: a cell is empty"):
        read_facts({"age": pd.DataFrame({"years": [np.nan]})})
    with pytest.raises(DataError, match="the DataFrame age has no facts"):
        read_facts({"age": pd.DataFrame({"who": []})})
    with pytest.raises(DataError, match="not 2 columns"):
        read_facts(pd.DataFrame({"who": ["ann"], "age": [3]}))
    with pytest.raises(DataError, match="cannot name a relation"):
        read_facts(pd.DataFrame([("ann", 3, "bob")]))


POPPER = {
    "example without sign": ("exs.pl", "f(a).\n", "exs.pl, line 1: f(a). is no example"),
    "example with variable": ("exs.pl", "pos(f(a)).\n\nneg(f(X)).\n", "exs.pl, line 3: f(X) is no fact"),
    "example without atom": ("exs.pl", "pos(f(a)).\npos().\n", "exs.pl, line 2: "),
    "example of another head": ("exs.pl", "pos(g(a)).\n", "exs.pl, line 1: g/1 has examples, but bias.pl"),
    "stated and denied": ("exs.pl", "pos(f(a)).\nneg(f(a)).\n", "f(a) ("),
    "a bias that is no number": (
        "bias.pl",
        "head_pred(f,1).\nmax_vars(many).\n",
        "bias.pl, line 2: max_vars(many).",
    ),
    "a variable in a fact of the bias": (
        "bias.pl",
        "head_pred(f,1).\ntype(f,(Node,)).\n",
        "bias.pl, line 2: type(f,(Node,)). is no setting",
    ),
    "a denied head of a rule in the bias": (
        "bias.pl",
        "head_pred(f,1).\n-body_pred(q,1) :- head_pred(f,1).\n",
        "bias.pl, line 2: -body_pred(q,1) :- head_pred(f,1). is no setting",
    ),
    "a head without arity": ("bias.pl", "% the head\nhead_pred(f).\n", "bias.pl, line 2: head_pred(f)."),
    "background": ("bk.pl", "q(a).\nq(a\n", "bk.pl, line 2: "),
}


@pytest.mark.parametrize("case", POPPER)
def test_popper_folders_name_file_and_line(case: str, tmp_path: Path) -> None:
    name, text, message = POPPER[case]
    for file, content in (
        ("bk.pl", "q(a)."),
        ("exs.pl", "pos(f(a))."),
        ("bias.pl", "head_pred(f,1). body_pred(q,1)."),
    ):
        (tmp_path / file).write_text(content)
    (tmp_path / name).write_text(text)
    with pytest.raises(AndreError) as caught:
        read_facts(tmp_path)
    assert message in str(caught.value)


def test_a_pipe_is_read_where_its_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(DataError, match="is a pipe or device"):
        read_facts(path)
    writer = threading.Thread(target=path.write_text, args=("p(a,b).\n",))
    writer.start()
    assert len(read_facts(path, "nl")) == 1
    writer.join()


def test_a_bias_with_letters_that_clingo_does_not_know_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "task"
    folder.mkdir()
    (folder / "bk.pl").write_text("red(a). edge(a,b).\n")
    (folder / "exs.pl").write_text("pos(h(a)). neg(h(b)).\n")
    (folder / "bias.pl").write_text("head_pred(h,1).\nbody\u2028_pred(red,1).\n")
    with pytest.raises(DataError, match=r"bias.pl, line 2"):
        read_facts(folder)


def test_rows_and_facts_in_memory_are_read() -> None:
    wanted = {"mother(ann, bob)", "age(bob, 9)"}

    def found(source: object) -> set[str]:
        base = read_facts(source)
        return {str(atom) for key in base.relations for atom in base.atoms(*key)}

    triples = [("ann", "mother", "bob"), ("bob", "age", 9)]
    assert found(triples) == found(np.array(triples, dtype=object)) == wanted
    assert found({"mother": [("ann", "bob")], "age": np.array([["bob", 9]], dtype=object)}) == wanted
    assert found(["mother(ann, bob)", "age(bob, 9)."]) == wanted
    durations = pd.DataFrame({"film": ["up"], "length": [pd.Timedelta(minutes=96)]})
    assert found({"runs": durations}) == {"runs(up, '0 days 01:36:00')"}
    assert found({"male": ["bob", "cy"]}) == {"male(bob)", "male(cy)"}
    for wrong, message in (
        ({"p": [("a", "b"), ("a",)]}, "one row has 1 cells and another 2"),
        ([("a", "b")], "a head, a relation and a tail, not 2 columns"),
        ({"p": "a"}, "with a DataFrame or a list of rows"),
        ([3], "3 is no fact"),
        ([], "there are no facts"),
        (3, "a path, a DataFrame or a list of facts"),
    ):
        with pytest.raises(DataError, match=message):
            read_facts(wrong)
    with pytest.raises(DataError, match="read_facts takes lists of rows by relation"):
        FactBase.from_facts({"parent": [("a", "b")]})  # type: ignore[arg-type]
