"""What is Datalog and what is Prolog's, Popper's whole bias language, and Aleph's files."""

from __future__ import annotations

from pathlib import Path

import clingo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.errors import AndreError, DataError
from andre.facts import Background, Bias, FactBase, read_facts, write_facts
from andre.facts.background import Written, divide
from andre.facts.formats.popper_bias import bias_lines, read_bias
from andre.logic import parse_rule

PROLOG = """\
:- use_module(library(lists)).
:- dynamic seen/1.
tail([_|T], T).
size(a, 3). size(b, 5).
even(A) :- 0 is A mod 2.   % arithmetic
next(A, B) :- succ(A, B).
larger(A, B) :- A > B.
big(X) :- size(X, N), larger(N, 4).
huge(X) :- big(X).
same(X, Y) :- size(X, N), size(Y, N).
pick([X|_], X) :- !.
pick(c, d).
greeting --> [hello], name.
letter(C) :- C = 0'a ; C == 0''.
all(X).
"""


def read(folder: Path, name: str, text: str) -> FactBase:
    (folder / name).write_text(text)
    return read_facts(folder / name)


def test_only_what_depends_on_prolog_is_left_to_it(tmp_path: Path) -> None:
    facts = read(tmp_path, "x.pl", PROLOG)
    assert [str(rule) for rule in facts.rules] == ["same(X, Y) :- size(X, N), size(Y, N)."]
    assert set(facts.relations) == {("size", 2)}
    assert facts.prolog is not None
    assert facts.prolog.defines == (
        ("tail", 2),
        ("even", 1),
        ("next", 2),
        ("larger", 2),
        ("big", 1),
        ("huge", 1),
        ("pick", 2),
        ("greeting", 2),
        ("letter", 1),
        ("all", 1),
    )
    # The order of the clauses of one predicate is kept: pick(c, d) is tried after the cut.
    assert facts.prolog.clauses[-5:-3] == ("pick([X|_], X) :- !.", "pick(c, d).")
    assert ":- dynamic seen/1." in facts.prolog.clauses
    assert facts.notes.directives == 0


@pytest.mark.parametrize("name", ["again.pl", "again.jsonl"])
def test_clauses_for_prolog_come_back(tmp_path: Path, name: str) -> None:
    facts = read(tmp_path, "x.pl", PROLOG)
    write_facts(facts, tmp_path / name)
    assert read_facts(tmp_path / name) == facts


def test_formats_that_cannot_hold_it_say_so(tmp_path: Path) -> None:
    facts = read(tmp_path, "x.pl", "p(a, b). even(A) :- 0 is A mod 2.")
    with pytest.raises(DataError, match="cannot hold rules"):
        write_facts(facts, tmp_path / "x.tsv")
    assert facts.without("rules").prolog is None
    assert facts.merge(facts) == facts


@pytest.mark.parametrize(
    "text",
    [
        "p(a b).",
        "p(a)) .",
        "p(X :- q(X).",
        "p(X) :- .",
        "0.5::p(X) :- X is 1.",
        "p(a) q(b).",
        "p(X) :- q(X) r(X).",
    ],
)
def test_a_slip_is_no_prolog(tmp_path: Path, text: str) -> None:
    with pytest.raises(AndreError, match="line 2"):
        read(tmp_path, "x.pl", f"q(a).\n{text}\n")


def test_a_background_of_the_library_alone(tmp_path: Path) -> None:
    (tmp_path / "bias.pl").write_text("head_pred(f,1). body_pred(last,2). body_pred(nothing,1).")
    (tmp_path / "exs.pl").write_text("pos(f([1,2])). neg(f([2,1])).")
    facts = read_facts(tmp_path)
    assert facts.prolog == Background((), (("last", 2),))
    assert any("nothing/1" in note for note in facts.notes)


BIAS = """\
% settings
max_vars(7). enable_recursion. non_datalog.
head_pred(out,3).
body_pred(in,3).
body_pred(C,1) :- constant(C,_).
constant(v0, value). constant(c1, position).
prim(lt,(position,position)). prim(add,(position,position,position)).
body_pred(P,2) :- prim(P,(_,_)).
type(P,T) :- prim(P,T).
type(C,(T,)) :- constant(C,T).
type(out,(ex,position,value)).
direction(in,(in,out,out)).
:- clause(C), #count{V : clause_var(C,V), var_type(C,V,ex)} != 1.
:- not body_var(_,1).
bad_body(in, Vars) :- vars(_, Vars), Vars = (V0,_,_), V0 != 0.
noisy.
"""


def test_rules_in_a_bias_are_run_and_constraints_kept(tmp_path: Path) -> None:
    (tmp_path / "bias.pl").write_text(BIAS)
    (tmp_path / "exs.pl").write_text("pos(out(0,1,2)).")
    (tmp_path / "bk.pl").write_text("in(0,1,2). v0(0). c1(1). lt(0,1).")
    facts = read_facts(tmp_path)
    assert facts.bias == Bias(
        head=(("out", 3),),
        body=(("in", 3), ("c1", 1), ("lt", 2), ("v0", 1)),
        max_vars=7,
        types=(
            ("out", ("ex", "position", "value")),
            ("add", ("position", "position", "position")),
            ("c1", ("position",)),
            ("lt", ("position", "position")),
            ("v0", ("value",)),
        ),
        directions=(("in", ("in", "out", "out")),),
        enable_recursion=True,
        non_datalog=True,
        constants=(("v0", "value"), ("c1", "position")),
        one_of_type=("ex",),
        constraints=(
            ":- not body_var(_,1).",
            "bad_body(in, Vars) :- vars(_, Vars), Vars = (V0,_,_), V0 != 0.",
        ),
    )
    said = "\n".join(facts.notes)
    assert ":- not body_var(_,1). is kept, but not honoured" in said
    assert "noisy. in bias.pl passed over" in said
    write_facts(facts, tmp_path / "again", "popper")
    assert read_facts(tmp_path / "again") == facts


names = st.sampled_from(["p", "q", "r", "s"])
kinds = st.sampled_from(["t", "u"])
RULES = [
    "body_pred(C,1) :- constant(C,_).",
    "type(C,(T,)) :- constant(C,T).",
    "direction(C,(in,)) :- constant(C,t).",
    "body_pred(C,2) :- constant(C,t), not head_pred(C,1).",
    "constant(z,T) :- constant(_,T).",
    "body_pred(A,N+1) :- body_pred(A,N), N < 3.",
]


@settings(max_examples=40)
@given(
    st.lists(st.tuples(names, kinds), max_size=5),
    st.lists(st.sampled_from(RULES), unique=True),
    st.lists(st.tuples(names, st.integers(1, 2)), max_size=3),
)
def test_rules_of_a_bias_mean_what_clingo_says(
    constants: list[tuple[str, str]], rules: list[str], heads: list[tuple[str, int]]
) -> None:
    lines = [f"constant({name},{kind})." for name, kind in constants]
    lines += [f"head_pred({name},{arity})." for name, arity in heads] + rules
    bias, remarks = read_bias(Path("bias.pl"), list(enumerate(lines, start=1)))
    control = clingo.Control()
    control.add("base", [], "\n".join(lines))
    control.ground([("base", [])])
    expected: set[str] = set()
    control.solve(on_model=lambda model: expected.update(map(str, model.symbols(atoms=True))))
    assert {line.removesuffix(".") for line in bias_lines(bias)} == expected
    assert not remarks


TRAINS = """\
:- set(clauselength, 5).
:- set(noise, 2).
:- modeh(1, eastbound(+train)).
:- modeb(*, has_car(+train, -car)).
:- modeb(1, shape(+car, #shape)).
:- modeb(1, wheels(+car, -int)).
:- modeb(1, wheels(+car, #int)).
:- determination(eastbound/1, has_car/2).
:- determination(eastbound/1, shape/2).
:- determination(eastbound/1, wheels/2).
has_car(t1, c1). has_car(t2, c2). shape(c1, box). shape(c2, hexagon(1)). wheels(c1, 2). wheels(c2, 3).
"""
TRAINS_BIAS = Bias(
    head=(("eastbound", 1),),
    body=(("has_car", 2), ("shape", 2), ("wheels", 2)),
    max_body=4,
    types=(
        ("eastbound", ("train",)),
        ("has_car", ("train", "car")),
        ("shape", ("car", "shape")),
        ("wheels", ("car", "int")),
    ),
    directions=(
        ("eastbound", ("in",)),
        ("has_car", ("in", "out")),
        ("shape", ("in", "out")),
        ("wheels", ("in", "out")),
    ),
    places=("shape/2:2", "wheels/2:2"),
)


def check_trains(facts: FactBase) -> None:
    assert facts.bias == TRAINS_BIAS
    assert facts.relations["eastbound", 1].codes.shape == (2, 1)
    assert facts.relations["eastbound", 1].n_negative == 1
    assert any("set(noise, 2) passed over" in note for note in facts.notes)


def test_three_files_of_aleph(tmp_path: Path) -> None:
    (tmp_path / "trains.b").write_text(TRAINS)
    (tmp_path / "trains.f").write_text("eastbound(t1).\n")
    (tmp_path / "trains.n").write_text("eastbound(t2).\n")
    check_trains(read_facts(tmp_path))
    check_trains(read_facts(tmp_path / "trains.b"))


def test_one_file_of_aleph(tmp_path: Path) -> None:
    text = (
        f":- use_module(library(aleph)).\n:- aleph.\n:- begin_bg.\n{TRAINS}:- end_bg.\n:- begin_in_pos.\n"
        "eastbound(t1).\n:- end_in_pos.\n:- begin_in_neg.\neastbound(t2).\n:- end_in_neg.\n"
    )
    check_trains(read(tmp_path, "trains.pl", text))


def test_examples_to_test_by_are_marked(tmp_path: Path) -> None:
    (tmp_path / "bias.pl").write_text("head_pred(f,1). body_pred(q,1).")
    (tmp_path / "bk.pl").write_text("q(a). q(b). f(c).")
    (tmp_path / "exs.pl").write_text("pos(f(a)).")
    (tmp_path / "test.pl").write_text("pos(f(b)). neg(f(d)).")
    relation = read_facts(tmp_path).relations["f", 1]
    assert (relation.count("train"), relation.count("test"), relation.n_negative) == (2, 2, 1)
    (tmp_path / "test.pl").write_text("pos(f(b)). q(d).")
    facts = read_facts(tmp_path)
    assert facts.relations["f", 1].count("test") == 0
    assert any("test.pl passed over" in note for note in facts.notes)


def test_every_folder_of_popper_is_read(datasets: Path) -> None:
    folder = datasets.parent / "ilp"
    if not folder.is_dir():
        pytest.skip(f"no tasks at {folder}")
    read_ones = {path.name: read_facts(path) for path in sorted(folder.iterdir()) if path.is_dir()}
    for name, facts in read_ones.items():
        assert facts.bias is not None, name
        assert any(key in facts.relations for key in facts.bias.head), name


def test_what_asks_an_association_list_is_for_prolog() -> None:
    text = "price(I, P) :- list_to_assoc([apple-3, pear-4], A), get_assoc(I, A, P)."
    rules, background = divide([Written(text, ("price", 2), parse_rule(text))], [("fruit", 1)])
    assert not rules
    assert background is not None
    assert background.clauses == (text,)
