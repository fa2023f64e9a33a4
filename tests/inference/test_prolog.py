"""What SWI-Prolog tables is what it answers when asked for everything, and nothing escapes its limits."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from importlib.resources import files
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from andre.errors import ConfigError, LogicError, OutOfTimeError
from andre.facts import Background, Bias, FactBase, read_facts
from andre.inference import Tabling, infer, materialise
from andre.limits import Deadline, limited
from andre.logic import Constant, parse_atom, parse_program

needs_swipl = pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed")
FEW = settings(max_examples=8, suppress_health_check=list(HealthCheck))

LISTS = (
    "tail([_|T], T).",
    "head([H|_], H).",
    "even(A) :- 0 is A mod 2.",
    "geq(A, B) :- A >= B.",
    "double(A, B) :- B is 2 * A.",
)
BIAS = Bias(
    head=(("f", 1),),
    body=(("tail", 2), ("head", 2), ("even", 1), ("geq", 2), ("last", 2)),
    types=(
        ("f", ("list",)),
        ("tail", ("list", "list")),
        ("head", ("list", "element")),
        ("last", ("list", "element")),
        ("even", ("element",)),
        ("geq", ("element", "element")),
    ),
    directions=(
        ("tail", ("in", "out")),
        ("head", ("in", "out")),
        ("last", ("in", "out")),
        ("even", ("in",)),
        ("geq", ("in", "in")),
    ),
)


def with_prolog(facts: list[str], clauses: tuple[str, ...], bias: Bias | None = None) -> FactBase:
    library = tuple(key for key in (bias.body if bias else ()) if key == ("last", 2))
    base = FactBase.from_facts(map(parse_atom, facts))
    return replace(base, bias=bias, prolog=Background(clauses, library))


def rows(facts: FactBase, name: str, arity: int) -> set[tuple[str | int | float, ...]]:
    found = (atom.args for atom in facts.atoms(name, arity))
    return {tuple(arg.value for arg in args if isinstance(arg, Constant)) for args in found}


@needs_swipl
@FEW
@given(st.lists(st.lists(st.integers(-3, 9), max_size=6), min_size=1, max_size=6))
def test_lists_are_taken_apart_to_their_ends(lists: list[list[int]]) -> None:
    def text(items: list[int]) -> str:
        return f"[{','.join(map(str, items))}]"

    made = materialise(with_prolog([f"f({text(items)})" for items in lists], LISTS, BIAS))
    suffixes = {tuple(items[start:]) for items in lists for start in range(len(items) + 1)}
    elements = {items[0] for items in suffixes if items}
    assert made.prolog is None
    full = [items for items in suffixes if items]
    assert rows(made, "tail", 2) == {(text(list(s)), text(list(s[1:]))) for s in full}
    assert rows(made, "head", 2) == {(text(list(s)), s[0]) for s in full}
    assert rows(made, "last", 2) == {(text(list(s)), s[-1]) for s in full}
    assert rows(made, "even", 1) == {(n,) for n in elements if n % 2 == 0}
    assert rows(made, "geq", 2) == {(a, b) for a, b in product(elements, repeat=2) if a >= b}


GRAPH = (
    "near(X, Y) :- edge(X, Y).",
    "near(X, Y) :- edge(Y, X).",
    "sum(X, Y, Z) :- weight(X, A), weight(Y, B), Z is A + B.",
    "heavy(X) :- weight(X, A), ( A > 3 -> true ; fail ).",
    "lonely(X) :- \\+ near(X, _).",
)


@needs_swipl
@FEW
@given(
    st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6),
    st.lists(st.integers(0, 6), min_size=5, max_size=5),
)
def test_modes_that_nobody_gave_are_found(edges: set[tuple[int, int]], weights: list[int]) -> None:
    facts = [f"edge(n{a}, n{b})" for a, b in edges] + [f"weight(n{n}, {w})" for n, w in enumerate(weights)]
    made = materialise(with_prolog(facts, GRAPH))
    nodes = [f"n{n}" for n in range(5)]
    near = {(f"n{a}", f"n{b}") for a, b in edges} | {(f"n{b}", f"n{a}") for a, b in edges}
    assert rows(made, "near", 2) == near
    assert rows(made, "sum", 3) == {
        (x, y, a + b) for (x, a), (y, b) in product(zip(nodes, weights, strict=True), repeat=2)
    }
    assert rows(made, "heavy", 1) == {(x,) for x, a in zip(nodes, weights, strict=True) if a > 3}
    lonely = {x for (x,) in rows(made, "lonely", 1)}
    assert lonely & set(nodes) == set(nodes) - {x for x, _ in near}


@needs_swipl
def test_terms_that_a_predicate_is_not_about_say_nothing_of_its_mode() -> None:
    clauses = (
        "larger(X, Y, X) :- X >= Y, !.",
        "larger(_, Y, Y).",
        "fact(0, 1) :- !.",
        "fact(N, F) :- N > 0, M is N - 1, fact(M, G), F is N * G.",
        "len([], 0).",
        "len([_|T], N) :- len(T, M), N is M + 1.",
    )
    made = materialise(with_prolog(["f(ann)", "f(3)", "f([a,b])"], clauses), tabling=Tabling(depth=1))
    assert {(3, 3, 3)} <= rows(made, "larger", 3)
    assert not any(isinstance(value, str) for row in rows(made, "larger", 3) for value in row)
    assert {(3, 6), (2, 2)} <= rows(made, "fact", 2)
    assert ("[a,b]", 2) in rows(made, "len", 2)


@needs_swipl
def test_depth_counts_steps_that_build_something_new() -> None:
    bias = Bias(head=(("f", 1),), body=(("double", 2),), directions=(("double", ("in", "out")),))
    made = materialise(with_prolog(["f(1)", "f(3)"], LISTS, bias), tabling=Tabling(depth=2))
    assert rows(made, "double", 2) == {(1, 2), (2, 4), (3, 6), (4, 8), (6, 12)}
    assert made.notes.tabled == "tabled to depth 2: 5 terms, 5 facts; 2 answers lie farther and are left out"


@needs_swipl
@pytest.mark.parametrize("limit", ["terms", "facts"])
def test_a_bound_that_is_reached_is_a_note(limit: str) -> None:
    clauses = ("next(A, B) :- B is A + 1.",)
    bias = Bias(head=(("f", 1),), body=(("next", 2),), directions=(("next", ("in", "out")),))
    made = materialise(
        with_prolog(["f(1)"], clauses, bias), tabling=replace(Tabling(depth=10**6), **{limit: 20})
    )
    assert f"the limit of 20 {limit} was reached" in made.notes.tabled
    assert len(rows(made, "next", 2)) >= 19


@needs_swipl
def test_calls_without_end_and_calls_that_raise_are_passed_over() -> None:
    clauses = ("loop(X) :- loop(X).", "odd_one(X) :- X > 1.", "r(X) :- X == a, throw(never).", "r(b).")
    made = materialise(with_prolog(["f(a)", "f(b)", "f(2)"], clauses), tabling=Tabling(inferences=10_000))
    assert ("loop", 1) not in made.relations
    assert rows(made, "odd_one", 1) == {(2,)}
    assert "cut short" in made.notes.tabled


@needs_swipl
def test_a_predicate_without_inputs_tells_all_its_answers() -> None:
    facts = [f"bond(a{number}, a{number + 1})" for number in range(900)]
    made = materialise(with_prolog(facts, ("linked(A, B) :- bond(A, B) ; bond(B, A).",)))
    assert len(made.relations["linked", 2]) == 2 * len(facts)
    assert "cut short" not in made.notes.tabled


@needs_swipl
def test_of_too_many_pairs_those_within_an_example_are_tried() -> None:
    examples = [f"f([{n},{n + 1}])" for n in range(0, 60, 2)]
    made = materialise(with_prolog(examples, LISTS, BIAS), tabling=Tabling(combinations=100))
    pairs = {(n + 1, n) for n in range(0, 60, 2)} | {(n, n) for n in range(60)}
    assert rows(made, "geq", 2) == pairs


@needs_swipl
@pytest.mark.parametrize(
    "clause",
    [
        "p(X) :- shell(X).",
        "p(X) :- open(X, write, S), close(S).",
        "p(X) :- G =.. [shell, X], call(G).",
        "p(_) :- consult(user).",
        "p(X) :- atom_to_term(X, G, _), call(G).",
        "p(_) :- halt.",
        "p(X) :- catch(nothing(X), _, true), shell(X).",
        "p(X) :- catch(other:nothing(X), _, true), shell(X).",
        "p(_) :- write('f 0 0').",
        ":- shell('touch escaped').",
        ":- initialization(shell('touch escaped')).",
    ],
)
def test_nothing_leaves_the_sandbox(clause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    facts = with_prolog(["f('touch escaped')"], (clause, "q(X) :- X == a."))
    with pytest.raises(LogicError, match="SWI-Prolog cannot run the background"):
        materialise(facts)
    assert not list(tmp_path.iterdir())


@needs_swipl
def test_a_clause_that_prolog_refuses_is_quoted() -> None:
    with pytest.raises(LogicError, match=r"n\(X\) :- X is 3 \+\.\): .*Syntax error"):
        materialise(with_prolog(["f(a)"], ("m(X) :- X == a.", "n(X) :- X is 3 +.")))


@needs_swipl
def test_operators_tables_and_terms_of_any_kind(tmp_path: Path) -> None:
    path = tmp_path / "graph.pl"
    path.write_text(
        ":- op(700, xfx, ==>).\n:- dynamic seen/1.\n:- table path/2.\n"
        "edge(a-b, 'It''s'). edge('It''s', f(1, [x])).\n"
        "a ==> b.\nn(X) :- X ==> _.\n"
        "path(X, Y) :- path(X, Z), edge(Z, Y), X \\== Y.\npath(X, Y) :- edge(X, Y).\n"
        "half(X, Y) :- number(X), Y is X / 2.0.\nsize(3).\n"
    )
    made = materialise(read_facts(path), tabling=Tabling(depth=1))
    assert rows(made, "path", 2) == {
        ("'-'(a,b)", "It's"),
        ("It's", "f(1,[x])"),
        ("'-'(a,b)", "f(1,[x])"),
    }
    assert rows(made, "half", 2) == {(3, 1.5)} | {(1, 0.5)} & rows(made, "half", 2)
    assert rows(made, "n", 1) == {("a",)}


@needs_swipl
def test_programs_run_over_tabled_facts() -> None:
    facts = with_prolog(["f([2,4])", "f([2,3])"], LISTS, BIAS)
    program = parse_program("g(X) :- empty(X). g(X) :- head(X, Y), even(Y), tail(X, Z), g(Z). empty([]).")
    assert {str(atom) for atom in infer(program, facts) if atom.predicate == "g"} == {
        "g([])",
        "g([4])",
        "g([2,4])",
    }


@needs_swipl
def test_the_program_that_tables_loads_without_a_warning() -> None:
    program = Path(str(files("andre.inference") / "tabling.pl"))
    command = ["swipl", "-q", "-f", "none", "-g", "halt", str(program)]
    assert not subprocess.run(command, capture_output=True, check=True, timeout=60).stderr


@needs_swipl
def test_a_deadline_that_has_passed_ends_it() -> None:
    with limited(Deadline.after(0)), pytest.raises(OutOfTimeError):
        materialise(with_prolog(["f(a)"], LISTS))


def test_without_prolog_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ConfigError, match="apt-get install swi-prolog-nox"):
        materialise(with_prolog(["f(a)"], LISTS))


def test_tabling_needs_something_of_everything() -> None:
    with pytest.raises(ConfigError, match="more terms than 0"):
        Tabling(terms=0)


@needs_swipl
@FEW
@given(st.lists(st.integers(0, 9), min_size=1, max_size=7))
def test_a_predicate_that_finds_its_inputs_is_asked_for_them(items: list[int]) -> None:
    """What a list is put together from are its beginnings; of what could be built, one step is."""
    clauses = ("append_(A, B, C) :- append(A, [B], C).",)
    bias = Bias(
        head=(("f", 1),),
        body=(("append_", 3),),
        types=(("f", ("list",)), ("append_", ("list", "element", "list"))),
        directions=(("append_", ("in", "in", "out")),),
    )
    made = materialise(with_prolog([f"f({items})", "f([])"], clauses, bias))
    text = [f"[{','.join(map(str, items[:n]))}]" for n in range(len(items) + 1)]
    found = rows(made, "append_", 3)
    assert {(text[n], items[n], text[n + 1]) for n in range(len(items))} <= found
    longest = max(str(one[2]).count(",") for one in found)
    assert longest <= len(items)  # one element more than the given list


@needs_swipl
def test_constraints_over_numbers_and_places_in_their_range() -> None:
    clauses = (
        ":- use_module(library(clpfd)).",
        "up(w(X, A), w(X, B)) :- A #< 8, B #= A + 1.",
    )
    bias = Bias(head=(("f", 2),), body=(("up", 2),), directions=(("up", ("in", "out")),))
    made = materialise(with_prolog(["f(w(1,1), w(1,8))"], clauses, bias))
    assert {(f"w(1,{n})", f"w(1,{n + 1})") for n in range(1, 8)} <= rows(made, "up", 2)
