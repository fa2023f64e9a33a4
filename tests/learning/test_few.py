"""Few clean examples: a program that agrees with them is given, marked weak, with what would tell."""

from __future__ import annotations

from itertools import combinations, pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learning.small_facts import base, quick

import andre
from andre.errors import ConfigError
from andre.evaluation import description_length
from andre.facts import FactBase, read_source
from andre.inference import infer
from andre.learning import Definition, Weak
from andre.logic import Atom, Literal, Program, Rule, Variable, parse_atom, parse_program
from andre.report import document, gather, remarks

TRAINS = Path(__file__).parents[2] / "examples" / "trains" / "trains.pl"
EASTBOUND = parse_program("eastbound(X) :- has_car(X, Y), short(Y), closed(Y).")

NAMES = "abcdef"
X = Variable("X1")


@pytest.fixture(scope="module")
def trains() -> andre.Theory:
    return andre.learn(read_source(str(TRAINS)), "eastbound/1", variables=2)


def only(theory: andre.Theory) -> Definition:
    (definition,) = theory
    return definition


def bodies() -> list[tuple[Literal, ...]]:
    """All bodies of one or two literals about one thing, one of them not negated."""
    literals = [Literal(Atom(name, (X,)), negated) for name, negated in product("pqr", (False, True))]
    some = [(one,) for one in literals] + list(combinations(literals, 2))
    return [body for body in some if any(literal.binds for literal in body)]


@st.composite
def small_tasks(draw: st.DrawFn) -> tuple[FactBase, set[Atom], set[Atom]]:
    """Properties of six things, some of which are examples, true or false."""
    facts = [Atom.parse(f"{name}({thing})") for name in "pqr" for thing in NAMES if draw(st.booleans())]
    labels = draw(st.lists(st.sampled_from([True, False, None]), min_size=6, max_size=6))
    examples = {Atom.parse(f"h({thing})"): label for thing, label in zip(NAMES, labels, strict=True)}
    true = {atom for atom, label in examples.items() if label}
    false = {atom for atom, label in examples.items() if label is False}
    return FactBase.from_facts([*facts, *true], negatives=false), true, false


def agrees(program: Program, facts: FactBase, true: set[Atom], false: set[Atom]) -> bool:
    known = FactBase.from_relations(
        facts.constants, [one for key, one in facts.relations.items() if key != ("h", 1)]
    )
    derived = set(infer(program, known))
    return true <= derived and not false & derived


@settings(max_examples=25, deadline=None)
@given(small_tasks(), st.sampled_from(["auto", 0]))
def test_where_a_short_rule_agrees_with_all_examples_one_as_short_is_given(
    task: tuple[FactBase, set[Atom], set[Atom]], noise: object
) -> None:
    facts, true, false = task
    others = {key for key in facts.relations if key != ("h", 1)}
    if not true or not false or not others:
        return
    found = only(quick(facts, "h/1", variables=1, inequality=False, recursion=False, noise=noise))
    sizes = [
        len(body)
        for body in bodies()
        if {literal.atom.key for literal in body} <= others
        and agrees(Program((Rule(Atom("h", (X,)), body),)), facts, true, false)
    ]
    if sizes:
        assert len(found.program)
    if sizes and (noise == 0 or found.weak is not None):
        assert found.program.n_literals == min(sizes)
    if (sizes and noise == 0) or found.weak is not None:
        assert agrees(found.program, facts, true, false)
    if found.weak is not None:
        assert found.length >= found.empty_length
        assert found.weak.support == len(true)


def test_michalskis_ten_trains(trains: andre.Theory) -> None:
    found = only(trains)
    assert found.program == EASTBOUND
    assert found.weak is not None
    assert found.weak.support == 5
    assert found.weak.ties >= 2
    assert found.weak.rival is not None
    assert (found.confusion.true_positives, found.confusion.false_positives) == (5, 0)


def test_a_weak_program_is_said_to_be_weak_wherever_it_is_shown(trains: andre.Theory, tmp_path: Path) -> None:
    weak = only(trains).weak
    assert weak is not None
    trains.save(tmp_path / "run")
    again = andre.load(tmp_path / "run")
    assert only(again).weak == weak
    assert f"% eastbound/1 is weak: {weak}" in (tmp_path / "run" / "program.pl").read_text()
    assert f"eastbound/1: weak: {weak}" in remarks(trains)
    assert document(trains)["targets"][0]["weak"]["ties"] == weak.ties
    assert f"Weak: {weak}." in gather(trains).targets[0].notes


def test_strict_withholds_it_and_names_the_rule_that_it_withholds() -> None:
    found = only(andre.learn(read_source(str(TRAINS)), "eastbound/1", variables=2, strict=True))
    assert not len(found.program)
    assert found.weak is None
    assert "has_car(X1, X2)" in str(found.reason)
    assert "explains 5 of 5: too little support to tell it from chance" in str(found.reason)


def test_a_node_next_to_a_red_one() -> None:
    edges = ["ab", "bc", "cd", "de", "ef", "fg", "hi", "ij", "jk", "kl", "lm", "mn", "ah", "gn"]
    colours = (
        dict.fromkeys("abcdefghijklmn", "green") | dict.fromkeys("bfl", "red") | dict.fromkeys("cgim", "blue")
    )
    facts = base(
        *(f"edge({one}, {two})" for one, two in edges),
        *(f"colour({node}, {colour})" for node, colour in colours.items()),
        *(f"adjacent_to_red({one})" for one, two in edges if colours[two] == "red"),
    )
    found = only(andre.learn(facts, "adjacent_to_red/1", constants=("colour/2:2",)))
    assert found.program == parse_program("adjacent_to_red(X) :- edge(X, Y), colour(Y, red).")


def test_a_cut_that_tells_four_of_eight_people_apart_is_given() -> None:
    ages = {"ann": 81, "bob": 55, "cat": 30, "dan": 4, "eve": 77, "fay": 44, "gus": 61, "hal": 12}
    facts = base(
        *(f"old({name}, {age})" for name, age in ages.items()),
        *(f"senior({name})" for name, age in ages.items() if age >= 55),
    )
    (made,) = quick(facts, "senior/1")
    assert made.program in [parse_program(f"senior(X) :- old(X, Y), Y > {cut}.") for cut in range(44, 55)]
    assert made.flawless
    assert made.weak is not None


def test_the_example_to_ask_for_tells_programs_that_are_as_short_apart() -> None:
    facts = base("h(a)", "p(a)", "q(a)", "p(c)", "s(b)", "s(c)", negatives=[parse_atom("h(b)")])
    found = only(quick(facts, "h/1", variables=1, inequality=False, negation=False))
    assert found.program.n_literals == 1
    assert found.weak is not None
    assert found.weak.ask == parse_atom("h(c)")
    both = [
        infer(program, base("p(a)", "q(a)", "p(c)"))
        for program in (found.program, found.weak.rival or Program())
    ]
    assert [parse_atom("h(c)") in model for model in both] == [found.weak.predicted, not found.weak.predicted]


def test_from_positives_alone_the_most_specific_short_program_is_taken() -> None:
    facts = base(*(f"p({name})" for name in NAMES), *(f"q({name})" for name in "abc"), "h(a)", "h(b)")
    options = {"variables": 1, "inequality": False, "negation": False}
    found = only(quick(facts, "h/1", unlabelled="unknown", **options))
    assert found.program == parse_program("h(X) :- q(X).")
    assert found.confusion.false_positives == found.confusion.true_negatives == 0
    assert found.weak is not None
    assert found.weak.ask == parse_atom("h(c)")
    assert any("positives alone" in note for note in found.notes)
    closed = only(quick(facts, "h/1", unlabelled="false", **options))
    assert closed.weak is None or agrees(closed.program, facts, {parse_atom("h(a)")}, {parse_atom("h(c)")})


def write_folder(folder: Path, examples: list[str], bias: str = "") -> None:
    folder.mkdir()
    (folder / "bk.pl").write_text("mother(ann, bea). mother(bea, cy). father(cy, dan). mother(dot, eve).\n")
    (folder / "exs.pl").write_text("".join(f"pos(anc({pair})).\n" for pair in examples))
    heads = "head_pred(anc, 2). body_pred(mother, 2). body_pred(father, 2). enable_recursion.\n"
    (folder / "bias.pl").write_text(heads.replace(". ", ".\n") + bias)


@pytest.mark.parametrize(
    ("examples", "note"),
    [
        (["ann,bea", "ann,cy", "ann,dan", "bea,cy", "bea,dan", "cy,dan", "dot,eve"], "no example is stated"),
        (["ann,bea", "ann,dan"], "positives alone taught"),
    ],
)
def test_a_popper_folder_without_negatives_gives_a_program_that_derives_all_positives(
    examples: list[str], note: str, tmp_path: Path
) -> None:
    write_folder(tmp_path / "folder", examples)
    found = only(quick(read_source(str(tmp_path / "folder"), "popper")))
    assert found.confusion.false_negatives == 0
    assert found.confusion.true_positives == len(examples)
    assert any(note in line for line in found.notes)


def test_clean_examples_that_no_program_agrees_with_are_told() -> None:
    facts = base("h(a)", "p(a)", "p(b)", negatives=[parse_atom("h(b)")])
    found = only(quick(facts, "h/1", variables=1, inequality=False, noise=0))
    assert found.weak is None
    assert any("noise=0" in note for note in found.notes)


def test_what_no_setting_means_is_refused() -> None:
    facts = base("h(a)", "p(a)", "p(b)")
    with pytest.raises(ConfigError, match="noise"):
        quick(facts, "h/1", noise=1)
    with pytest.raises(ConfigError, match="'maybe': choose auto, false or unknown"):
        quick(facts, "h/1", unlabelled="maybe")
    with pytest.raises(ConfigError, match="positives alone teach in mode 'define'"):
        quick(facts, "h/1", mode="complete", unlabelled="unknown")


counts = st.tuples(st.integers(0, 20), st.integers(0, 30))


@given(counts, counts, st.integers(0, 60), st.integers(0, 60))
def test_where_mistakes_are_refused_one_more_outweighs_any_program(
    one: tuple[int, int], other: tuple[int, int], size: int, longer: int
) -> None:
    totals = np.array([20.0, 30.0])
    lengths = description_length(
        np.array([one, other], float), totals, [size, longer], 1, m=100, mistakes="refused"
    )
    mistakes = [20 - right + wrong for right, wrong in (one, other)]
    if mistakes[0] != mistakes[1]:
        assert (lengths[0] < lengths[1]) == (mistakes[0] < mistakes[1])
    elif size != longer:
        assert (lengths[0] < lengths[1]) == (size < longer)


@given(st.integers(1, 20), st.integers(0, 500), st.integers(0, 500))
def test_among_positives_alone_what_derives_less_is_shorter(positives: int, one: int, other: int) -> None:
    covered = np.array([[positives, one], [positives, other]], float)
    lengths = description_length(covered, np.array([positives, 1000.0]), 1, 1, m=10, mistakes="unlabelled")
    assert (lengths[0] < lengths[1]) == (one < other)


def test_a_weak_value_tells_its_question() -> None:
    assert "a further example" in Weak(1, 0.5).question
    assert str(Weak(1, 0.5)).startswith("1 positive example is too few")


def test_of_few_examples_none_is_given_up_for_one_literal() -> None:
    """What agrees with all examples goes before what is a literal shorter and wrong about some."""
    friends = [("ann", "bob"), ("bob", "ann"), ("dan", "eve"), ("eve", "dan")]
    likes = [*friends, ("cat", "dan"), ("fay", "ann")]
    facts = base(*(f"likes({a}, {b})" for a, b in likes), *(f"friend({a}, {b})" for a, b in friends))
    made = quick(facts, "friend/2")
    assert str(made.program) == "friend(X1, X2) :- likes(X1, X2), likes(X2, X1)."


def test_equal_arguments_of_a_head_are_one() -> None:
    names = [f"c{number}" for number in range(12)]
    lines = [*(f"node({name})" for name in names), *(f"red({name})" for name in names[::2])]
    true = [parse_atom(f"own({name}, {name})") for name in names[::2]]
    unlike = [*pairwise(names[::2]), *((name, name) for name in names[1::2])]
    false = [parse_atom(f"own({one}, {other})") for one, other in unlike]
    facts = base(*lines).merge(FactBase.from_facts(true, negatives=false))
    program = quick(facts, "own/2", variables=2).program
    assert [str(rule.head) for rule in program] == ["own(X1, X1)"]
    assert set(infer(program, base(*lines))) == set(true)
