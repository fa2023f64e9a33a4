"""What readers make of what they find."""

from __future__ import annotations

import datetime
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import duckdb
import numpy as np
import pandas as pd
import pytest
from tests.facts.samples import sample_base, write_sample

from andre.errors import AndreError, DataError
from andre.facts import FORMATS, Bias, FactBase, read_facts
from andre.logic import Atom, Constant, parse_atom, parse_clauses, parse_program


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def shown(base: FactBase) -> set[str]:
    return {str(atom) for key in base.relations for atom in base.atoms(*key)}


@pytest.mark.parametrize("name", FORMATS)
def test_a_source_is_seen_for_what_it_is(name: str, tmp_path: Path) -> None:
    path = write_sample(name, tmp_path)
    assert read_facts(path) == sample_base(name)
    # Prolog and ProbLog are read alike, and CSV is told from other text by its name only.
    if not path.is_dir():
        bare = path.rename(tmp_path / "facts")
        assert read_facts(bare) == sample_base(name)


def test_simple_and_odd_prolog_agree_with_the_grammar(tmp_path: Path) -> None:
    text = """
    :- dynamic p/1.
    p(a). p( b , 'c d').  0.25::p('7', 7, -7.5).   /* p(no). */
    'Odd name'(a).  rain.  0.5 :: rain_too.
    p('it''s', "text", [a, [1, 'B']], 007).  % p(no).
    p(x,
      y).
    q(X) :- p(X), \\+ rain,
      p(a).
    Capital(a). p('a,b', 'new\\nline').
    """
    base = read_facts(written(tmp_path, "x.pl", text))
    clauses = parse_clauses(text)
    assert shown(base) == {str(clause.rule.head) for clause in clauses if not clause.rule.body}
    assert base.rules == parse_program("q(X) :- p(X), \\+ rain, p(a).")
    assert base.relations["p", 3].probability is not None
    assert base.relations["p", 3].probability.tolist() == [0.25]
    assert {"7", 7, -7.5, "007", "[a,[1,'B']]", "new\nline"} <= set(base.constants)
    assert base.notes.directives == 1
    assert list(base.notes) == ["1 Prolog directive is passed over: only facts and rules are read"]


def test_a_name_has_several_arities_in_prolog(tmp_path: Path) -> None:
    base = read_facts(written(tmp_path, "x.pl", "p(a). p(a, b). p."))
    assert set(base.relations) == {("p", 1), ("p", 2), ("p", 0)}


def test_lines_after_test_are_held_out(tmp_path: Path) -> None:
    text = "p(a,b).\np(b,c).#TEST\np( 'New York' , c ). #TEST\n% p(x,y).\n\np(a,b).\np(b,c).\nq(a,a).\n"
    base = read_facts(written(tmp_path, "x.nl", text))
    assert shown(base.select("train")) == {"p(a, b)", "q(a)"}
    assert shown(base.select("test")) == {"p(b, c)", "p('New York', c)"}
    assert (base.notes.duplicates, base.notes.overlaps, base.notes.unary) == (1, 1, ("q",))
    assert len(list(base.notes)) == 3


def test_a_capital_is_a_constant_in_nl(tmp_path: Path) -> None:
    base = read_facts(written(tmp_path, "x.nl", "p(Ann,_x).\np(Ann,/m/07).\n"))
    assert base.constants == ("Ann", "_x", "/m/07")


def test_digits_are_numbers_unless_they_are_codes(tmp_path: Path) -> None:
    text = "sense(00260881,12651611).\nsense(12651611,00260881).\nage(ann,9).\nage(bob,1.5).\nage(cy,10).\n"
    assert set(read_facts(written(tmp_path, "x.nl", text)).constants) == {
        "00260881", "12651611", "ann", "bob", "cy", 9, 10, 1.5,
    }  # fmt: skip
    base = read_facts(written(tmp_path, "x.tsv", "ann\tage\t9\nbob\tage\t9.0\ncy\tage\t9.00\n"))
    assert base.constants == ("ann", 9, "bob", 9.0, "cy")


REFLEXIVE = [("person", "a", "a"), ("person", "b", "b"), ("knows", "a", "b"), ("knows", "b", "b")]


def test_triples_whose_last_column_names_the_relation_are_told(tmp_path):
    triples = [(f"n{i}", ("part_of", "near")[i % 2], f"n{i * 7 % 150}") for i in range(150)]
    for order, is_told in (((0, 1, 2), False), ((0, 2, 1), True)):
        folder = tmp_path / f"{is_told}"
        folder.mkdir()
        for mark, some in (("train", triples[:-3]), ("test", triples[-3:])):
            rows = ("\t".join(triple[place] for place in order) for triple in some)
            written(folder, f"{mark}.txt", "\n".join(rows) + "\n")
        found = read_facts(folder)
        assert {name for name, _ in found.relations} == {"part_of", "near"}
        assert sum(relation.count("test") for relation in found.relations.values()) == 3
        assert any("head, tail and relation" in note for note in found.notes) == is_told
    said = read_facts(written(tmp_path, "x.tsv", "head\ttail\trelation\nann\tbob\tknows\n"))
    assert set(said.relations) == {("knows", 2)}


@pytest.mark.parametrize("header", ["head\trelation\ttail", "Subject\tPREDICATE\tobject", "h\tr\tt"])
def test_a_first_line_that_names_columns_is_no_triple(header, tmp_path):
    base = read_facts(written(tmp_path, "x.tsv", f"{header}\nann\tknows\tbob\n"))
    assert list(base.relations) == [("knows", 2)]
    assert base.constants == ("ann", "bob")
    assert any("line 1 names columns" in note for note in base.notes)
    later = read_facts(written(tmp_path, "y.tsv", f"ann\tknows\tbob\n{header}\n"))
    assert len(later) == 2  # only what comes first says what columns are
    alone = read_facts(written(tmp_path, "z.tsv", f"{header}\n"))
    assert len(alone) == 1


def test_in_nl_reflexive_relations_are_unary_among_binary_ones(tmp_path: Path) -> None:
    lines = "".join(f"{name}({one},{two}).\n" for name, one, two in REFLEXIVE)
    base = read_facts(written(tmp_path, "x.nl", lines))
    assert shown(base) == {"person(a)", "person(b)", "knows(a, b)", "knows(b, b)"}
    assert base.notes.unary == ("person",)
    base = read_facts(written(tmp_path, "x.nl", "person(a,a).\nbetween(a,b,c).\n"))
    assert shown(base) == {"person(a, a)", "between(a, b, c)"}


def _frame() -> pd.DataFrame:
    return pd.DataFrame([(head, name, tail) for name, head, tail in REFLEXIVE], columns=["h", "r", "t"])


def _splits(folder: Path) -> Path:
    for mark in ("train", "test"):
        _frame().to_csv(folder / f"{mark}.txt", sep="\t", header=False, index=False)
    return folder


def _database(folder: Path, name: str) -> Path:
    frame = _frame()
    if name == "x.sqlite":
        with sqlite3.connect(folder / name) as connection:
            frame.to_sql("facts", connection, index=False)
        return folder / name
    with duckdb.connect(str(folder / name)) as connection:
        connection.execute("CREATE TABLE facts AS SELECT * FROM frame")
    return folder / name


def _factory() -> SimpleNamespace:
    ids = {"person": 0, "knows": 1}
    triples = [(ord(head) - 97, ids[name], ord(tail) - 97) for name, head, tail in REFLEXIVE]
    return SimpleNamespace(
        entity_to_id={"a": 0, "b": 1}, relation_to_id=ids, mapped_triples=np.array(triples)
    )


TRIPLES = {
    "tsv": lambda folder: written(folder, "x.tsv", _frame().to_csv(sep="\t", header=False, index=False)),
    "tsv-splits": _splits,
    "csv": lambda folder: written(folder, "x.csv", _frame().to_csv(index=False)),
    "parquet": lambda folder: (_frame().to_parquet(folder / "x.parquet"), folder / "x.parquet")[1],
    "duckdb": lambda folder: _database(folder, "x.duckdb"),
    "sqlite": lambda folder: _database(folder, "x.sqlite"),
    "frame": lambda _: _frame(),
    "factory": lambda _: _factory(),
}


@pytest.mark.parametrize("kind", TRIPLES)
def test_triples_stay_binary_though_both_ends_are_always_the_same(kind: str, tmp_path: Path) -> None:
    base = read_facts(TRIPLES[kind](tmp_path))
    assert shown(base) == {"person(a, a)", "person(b, b)", "knows(a, b)", "knows(b, b)"}
    assert not base.notes.unary


def test_a_folder_of_splits(tmp_path: Path) -> None:
    written(tmp_path, "train.txt", "a\tp\tb\nb\tp\tc\na\tp\tb\n")
    written(tmp_path, "valid.txt", "c\tp\td\n")
    written(tmp_path, "test.txt", "b\tp\tc\nx\tp\ta\n")
    base = read_facts(tmp_path)
    assert [len(base.select(mark)) for mark in ("train", "valid", "test")] == [1, 1, 2]
    assert (base.notes.duplicates, base.notes.overlaps) == (1, 1)


def test_examples_read_in_bulk_are_those_read_one_by_one(tmp_path: Path) -> None:
    """Blanks, comments, quotes; a term that is not simple; and a line that some files have for a comment."""
    lines = [
        "#T1", "pos(f(a, 1)).", "% three", "neg( f('B', -2.5) ) .", "pos(f(g(a), 1)).", "neg(f(c,", "  7)).",
    ]  # fmt: skip
    (tmp_path / "exs.pl").write_text("\n".join(lines))
    facts = read_facts(tmp_path)
    signs = facts.relations["f", 2].column("negative").tolist()
    found = {(str(atom), sign) for atom, sign in zip(facts.atoms("f", 2), signs, strict=True)}
    assert found == {("f(a, 1)", False), ("f('B', -2.5)", True), ("f(g(a), 1)", False), ("f(c, 7)", True)}
    assert any("#T1" in remark for remark in facts.notes.remarks)


def test_a_popper_folder(tmp_path: Path) -> None:
    written(tmp_path, "bk.pl", "succ(0, 1). succ(1, 2).\nless(X, Y) :- succ(X, Y).\n")
    written(tmp_path, "exs.pl", "% examples\npos(even(0)).\npos( even(2) ).\nneg(even(1)).\n")
    bias = "head_pred(even,1).\nbody_pred(succ,2).\nmax_vars(3). max_body(4).\nmax_clauses(2).\n"
    bias += "type(even,(int,)).\ntype(succ,(int, int)).\ndirection(succ,(out,in)).\nenable_recursion.\n"
    written(tmp_path, "bias.pl", bias + "timeout(20).\n:- body_literal(_,p,_,_).\n")
    base = read_facts(tmp_path)
    assert base.bias == Bias(
        head=(("even", 1),),
        body=(("succ", 2),),
        max_vars=3,
        max_body=4,
        max_clauses=2,
        types=(("even", ("int",)), ("succ", ("int", "int"))),
        directions=(("succ", ("out", "in")),),
        enable_recursion=True,
        constraints=(":- body_literal(_,p,_,_).",),
    )
    assert base.truth(parse_atom("even(2)")) is True
    assert base.truth(parse_atom("even(1)")) is False
    assert base.rules == parse_program("less(X, Y) :- succ(X, Y).")
    passed, kept = base.notes.remarks
    assert passed.startswith("timeout(20). in bias.pl passed over")
    assert kept == "bias.pl: :- body_literal(_,p,_,_). is kept, but not honoured"


def test_tables_of_other_types(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE born (who VARCHAR, day DATE, alive BOOLEAN, weight DECIMAL(5, 2))")
        connection.execute("INSERT INTO born VALUES ('ann', '2001-02-03', true, 61.5)")
        connection.execute(
            "CREATE TABLE kin (head VARCHAR, relation VARCHAR, tail VARCHAR, probability DOUBLE)"
        )
        connection.execute("INSERT INTO kin VALUES ('ann', 'mother', 'bob', 0.5), ('bob', 'son', 'ann', 1)")
    base = read_facts(path)
    assert shown(base) == {"born(ann, '2001-02-03', true, 61.5)", "mother(ann, bob)", "son(bob, ann)"}
    assert base.relations["mother", 2].probability is not None


def test_sqlite_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE age (who TEXT, years)")
        connection.execute("INSERT INTO age VALUES ('ann', 9), ('bob', 'old'), ('cy', 1.5)")
    connection.close()
    assert shown(read_facts(path)) == {"age(ann, 9)", "age(bob, old)", "age(cy, 1.5)"}


def test_csv_files(tmp_path: Path) -> None:
    written(tmp_path, "located%20in.csv", 'what,where,mark\n"Paris, Texas",texas,test\nlima,peru,train\n')
    written(tmp_path, "kin.csv", "subject,predicate,object\nann,mother,bob\n")
    triples = written(tmp_path, "kin.txt", "Head,Relation,Tail\nann,mother,bob\nann,person,ann\n")
    assert shown(read_facts(triples, "csv")) == {"mother(ann, bob)", "person(ann, ann)"}
    base = read_facts(tmp_path)
    assert shown(base) == {
        "'located in'('Paris, Texas', texas)",
        "'located in'(lima, peru)",
        "mother(ann, bob)",
    }
    assert shown(base.select("test")) == {"'located in'('Paris, Texas', texas)"}
    assert shown(read_facts(tmp_path / "kin.csv")) == {"mother(ann, bob)"}


def test_data_frames() -> None:
    triples = pd.DataFrame([("ann", "mother", "bob"), ("ann", "person", "ann")], columns=["a", "b", "c"])
    assert shown(read_facts(triples)) == {"mother(ann, bob)", "person(ann, ann)"}
    ages = pd.DataFrame(
        {"who": ["ann", "bob"], "years": [9, 10], "probability": [0.5, 1.0], "mark": ["test", "train"]}
    )
    base = read_facts({"age": ages})
    assert shown(base) == {"age(ann, 9)", "age(bob, 10)"}
    assert shown(base.select("test")) == {"age(ann, 9)"}
    days = pd.DataFrame({"day": [datetime.date(2001, 2, 3)], "flag": [True], "number": [np.float32(0.5)]})
    assert shown(read_facts({"on": days})) == {"on('2001-02-03', true, 0.5)"}


def test_a_triples_factory() -> None:
    entities, relations = {"b": 1, "a": 0, "c": 2}, {"p": 0, "self": 1}
    train = SimpleNamespace(
        mapped_triples=np.array([[0, 0, 1], [1, 0, 2], [2, 1, 2]]),
        entity_to_id=entities,
        relation_to_id=relations,
    )
    test = SimpleNamespace(
        mapped_triples=np.array([[0, 0, 2]]), entity_to_id=entities, relation_to_id=relations
    )
    assert shown(read_facts(train)) == {"p(a, b)", "p(b, c)", "self(c, c)"}
    both = read_facts({"train": train, "test": test})
    assert shown(both.select("test")) == {"p(a, c)"}
    for broken in (
        {"mapped_triples": np.array([[0, 0, 7]])},
        {"mapped_triples": np.array([0, 1, 2])},
        {"entity_to_id": {"a": 5}},
    ):
        with pytest.raises(DataError):
            read_facts(SimpleNamespace(**{**vars(train), **broken}))


@pytest.mark.parametrize(
    ("name", "facts", "constants", "relations", "duplicates", "test"),
    [
        ("wn18rr", 93003, 40943, 11, 0, 3134),
        ("umls", 6529, 135, 46, 0, 661),
        ("nations", 1992, 14, 55, 0, 201),
        ("kinship", 10686, 104, 25, 1074, 1074),
        ("uw_cse", 2673, 1209, 15, 2, 0),
        ("countries_s1", 1133, 271, 2, 1, 24),
        ("alzheimers_amine", 980, 147, 32, 0, 0),
    ],
)
def test_public_datasets(
    datasets: Path, name: str, facts: int, constants: int, relations: int, duplicates: int, test: int
) -> None:
    base = read_facts(datasets / f"{name}.nl")
    assert (len(base), len(base.constants), len(base.relations)) == (facts, constants, relations)
    assert base.notes.duplicates == duplicates
    assert len(base.select("test")) == test
    assert len(base.select("train")) == facts - test
    lines = (datasets / f"{name}.nl").read_text(encoding="utf-8").splitlines()
    known = shown(base.select("train"))
    for line in lines:
        if line.endswith("#TEST"):
            relation, args = line.removesuffix(").#TEST").split("(")
            assert str(Atom(relation, tuple(map(Constant, args.split(","))))) not in known


def test_one_of_the_files_of_a_split_may_be_empty(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("a\tp\tb\n")
    (tmp_path / "valid.txt").write_text("")
    base = read_facts(tmp_path)
    assert len(base) == len(base.select("train")) == 1


def test_a_first_line_that_looks_like_a_fact_is_told(tmp_path):
    path = tmp_path / "facts.csv"
    path.write_text("ann,likes,bob\nbob,likes,eve\n")
    (note,) = read_facts(path).notes
    assert "likes stands below it too" in note
    assert "head,relation,tail" in note
    path.write_text("head,relation,tail\nann,likes,bob\nbob,likes,eve\n")
    assert list(read_facts(path).notes) == []


def test_goals_about_what_has_facts_say_what_is_false(tmp_path: Path) -> None:
    """As in Progol's files, before the facts or after; other directives are as they were."""
    lines = [":- good(a).", ":- dynamic good/1.", "good(b).", "size(a, 3).", ":- good([c, d])."]
    (tmp_path / "progol.pl").write_text("\n".join(lines))
    facts = read_facts(tmp_path / "progol.pl")
    relation = facts.relations["good", 1]
    false = {facts.constants[code] for code in relation.codes[relation.column("negative"), 0]}
    assert false == {"a", "[c,d]"}
    assert any("2 goals are read as saying what is false" in remark for remark in facts.notes.remarks)
    (tmp_path / "goal.pl").write_text("size(a, 3).\n:- run(a).\n")
    with pytest.raises(AndreError, match=r"line 2: the directive ':- run\(a\)\.' cannot be carried out"):
        read_facts(tmp_path / "goal.pl")


def test_aleph_in_one_file_as_swish_has_it(tmp_path: Path) -> None:
    text = """:- use_module(library(aleph)).
:- if(current_predicate(use_rendering/1)).
:- use_rendering(prolog).
:- endif.
:- aleph.
:- modeh(1, east(+train)).
:- modeb(*, car(+train, -car)).
:- determination(east/1, car/2).
:- begin_bg.
car(t1, c1).  car(t2, c2).
:- end_bg.
:- begin_in_pos.
east(t1).
:- end_in_pos.
:- begin_in_neg.
east(t2).
:- end_in_neg.
"""
    (tmp_path / "trains.pl").write_text(text)
    facts = read_facts(tmp_path / "trains.pl")
    assert facts.bias is not None
    assert facts.bias.head == (("east", 1),)
    assert facts.relations["east", 1].n_negative == 1


def test_constants_of_a_bias_stand_for_numbers(tmp_path: Path) -> None:
    (tmp_path / "exs.pl").write_text("pos(f(a)).\n")
    (tmp_path / "bias.pl").write_text("#const n = 3.\nmax_vars(n).\nmax_body(2*n).\nhead_pred(f,1).\n")
    bias = read_facts(tmp_path).bias
    assert bias is not None
    assert (bias.max_vars, bias.max_body, bias.constraints) == (3, 6, ())


def test_goals_with_declared_operators_are_calls(tmp_path: Path) -> None:
    text = """:- op(700, xfx, likes).
    :- op(700, fx, nice).
    ann likes bob.  bob likes ann.  nice bob.
    """
    base = read_facts(written(tmp_path, "x.pl", text))
    assert [str(atom) for atom in base.atoms("likes", 2)] == ["likes(ann, bob)", "likes(bob, ann)"]
    assert [str(atom) for atom in base.atoms("nice", 1)] == ["nice(bob)"]
    rule = "mutual(X, Y) :- X likes Y, Y likes X, \\+ nice Y."
    base = read_facts(written(tmp_path, "y.pl", f":- op(700, fx, nice).\n:- op(700, xfx, likes).\n{rule}"))
    assert str(base.rules) == "mutual(X, Y) :- likes(X, Y), likes(Y, X), \\+ nice(Y)."


def test_constants_of_a_bias_may_be_numbers(tmp_path: Path) -> None:
    """They are what rules of the file say of them."""
    (tmp_path / "bk.pl").write_text("c3(3).\ndivisible(6, 3).\n")
    (tmp_path / "exs.pl").write_text("pos(f(6)).\nneg(f(7)).\n")
    bias = "head_pred(f,1).\nbody_pred(divisible,2).\nbody_pred(P,1) :- constant(P,_).\nconstant(c3,3).\n"
    (tmp_path / "bias.pl").write_text(bias)
    found = read_facts(tmp_path).bias
    assert found is not None
    assert found.body == (("divisible", 2), ("c3", 1))
