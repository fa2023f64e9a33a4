"""Both engines compute the well-founded model, and refuse what has none that is total."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from tests.inference import oracle
from tests.inference.strategies import (
    base,
    crisp_facts,
    crisp_programs,
    denied_facts,
    doubted_facts,
    probable_facts,
    probable_programs,
    worlds,
)

from andre.errors import ConfigError, LogicError
from andre.facts import FactBase, Relation, World
from andre.inference import Model, infer, materialise
from andre.inference.coded import CodedProgram
from andre.inference.duckdb_engine import DuckDBEngine
from andre.inference.run import estimate_size
from andre.logic import Atom, Program, parse_atom, parse_program

ENGINES = ["clingo", "duckdb"]


def values(model: Model) -> dict[Atom, float]:
    found = {
        atom: model.probability(atom)
        for name, arity in model.facts.relations
        for atom in model.facts.atoms(name, arity)
    }
    return {atom: value for atom, value in found.items() if value > 0}


def check(program: Program, facts: dict[Atom, float], engine: str, world: World = "closed") -> None:
    lower, upper = oracle.well_founded(program, facts, world)
    known = base(facts, world)
    if lower == upper:
        model = infer(program, known, engine=engine)
        assert values(model) == lower
        for atom in {*facts, *lower, *(rule.head for rule in program if not rule.head.variables)}:
            value = lower.get(atom, 0.0)
            doubted = world == "closed" or atom in facts
            assert model.negation(atom) == (1 - value if doubted else 0)
            assert model.truth(atom) is (True if value > 0.5 else False if doubted and value < 0.5 else None)
    else:
        with pytest.raises(LogicError) as caught:
            infer(program, known, engine=engine)
        undefined = [atom for atom in upper if upper[atom] != lower.get(atom, 0.0)]
        assert any(str(caught.value).startswith(f"{atom} is neither true nor false") for atom in undefined)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=60, deadline=None)
@given(crisp_programs, crisp_facts)
def test_crisp_models_are_well_founded(engine: str, program: Program, facts: dict[Atom, float]) -> None:
    check(program, facts, engine)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=40, deadline=None)
@given(probable_programs, probable_facts)
def test_probable_models_are_well_founded(engine: str, program: Program, facts: dict[Atom, float]) -> None:
    check(program, facts, engine)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=60, deadline=None)
@given(crisp_programs, denied_facts, worlds)
def test_what_an_open_world_leaves_unknown_is_not_false(
    engine: str, program: Program, facts: dict[Atom, float], world: World
) -> None:
    check(program, facts, engine, world)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=40, deadline=None)
@given(probable_programs, doubted_facts, worlds)
def test_a_negation_is_as_probable_as_facts_doubt_its_atom(
    engine: str, program: Program, facts: dict[Atom, float], world: World
) -> None:
    check(program, facts, engine, world)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=15, deadline=None)
@given(crisp_programs, denied_facts)
def test_in_a_closed_world_what_is_denied_is_as_if_it_were_absent(
    engine: str, program: Program, facts: dict[Atom, float]
) -> None:
    stated = {atom: value for atom, value in facts.items() if value}
    try:
        model = infer(program, base(facts), engine=engine)
    except LogicError:
        with pytest.raises(LogicError):
            infer(program, base(stated), engine=engine)
    else:
        assert values(model) == values(infer(program, base(stated), engine=engine))


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=40, deadline=None)
@given(probable_programs, doubted_facts, worlds)
def test_cutting_at_one_half_commutes_with_inference(
    engine: str, program: Program, facts: dict[Atom, float], world: World
) -> None:
    try:
        model = infer(program, base(facts, world), engine=engine)
    except LogicError:
        return  # an undefined atom: there is no model to cut
    certain = {atom: float(value > 0.5) for atom, value in facts.items()}
    rules = (replace(rule, probability=1.0) for rule in program if rule.probability > 0.5)
    cut = infer(Program(tuple(rules)), base(certain, world), engine=engine)
    assert {atom for atom, value in values(model).items() if value > 0.5} == set(values(cut))


@pytest.mark.parametrize("engine", ENGINES)
def test_odd_through_not_odd_along_successor(engine: str) -> None:
    chain = FactBase.from_relations(range(12), [Relation("succ", np.array([[n, n + 1] for n in range(11)]))])
    model = infer(parse_program("odd(Y) :- succ(X, Y), \\+ odd(X)."), chain, engine=engine)
    assert sorted(atom.args[0].value for atom in model) == [1, 3, 5, 7, 9, 11]  # type: ignore[union-attr]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "atom"),
    [
        ("p :- not q. q :- not p. s :- q, not s.", "[pq]"),
        ("p :- \\+ p.", "p"),
        ("p(X) :- e(X), \\+ q(X). q(X) :- e(X), \\+ p(X).", "[pq]\\(a\\)"),
    ],
)
def test_a_paradox_is_refused_by_the_name_of_an_atom(engine: str, text: str, atom: str) -> None:
    with pytest.raises(LogicError, match=f"^{atom} is neither true nor false"):
        infer(parse_program(text), FactBase.from_facts([parse_atom("e(a)")]), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", ["p(X) :- e(X), \\+ q(Y).", "p(X) :- e(X), X < Y."])
def test_a_rule_with_a_variable_that_ranges_over_nothing_is_refused(engine: str, text: str) -> None:
    with pytest.raises(LogicError, match="Y is free"):
        infer(parse_program(text), FactBase.from_facts([]), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_background_rules_come_first_and_denied_facts_do_not_hold(engine: str) -> None:
    facts = FactBase.from_facts(
        [parse_atom("father(a, b)")], negatives=[parse_atom("father(b, c)"), parse_atom("parent(a, b)")]
    ).with_rules(parse_program("parent(X, Y) :- father(X, Y)."))
    assert materialise(facts, engine=engine).truth(parse_atom("parent(a, b)")) is True
    model = infer(parse_program("child(Y, X) :- parent(X, Y)."), facts, engine=engine)
    assert list(map(str, model)) == ["child(b, a)"]
    assert parse_atom("parent(a, b)") in model
    assert parse_atom("father(b, c)") not in model


@pytest.mark.parametrize("engine", ENGINES)
def test_an_open_world_is_kept_from_stage_to_stage(engine: str) -> None:
    """Background rules negate what facts deny, the program also what the background doubts."""
    facts = FactBase.from_facts(
        [parse_atom(f"bird({x})") for x in "abc"],
        negatives=[parse_atom("penguin(a)"), parse_atom("ill(b)"), parse_atom("flies(c)")],
        world="open",
    ).with_rules(parse_program("flies(X) :- bird(X), \\+ penguin(X). 0.2::weak(X) :- flies(X)."))
    known = materialise(facts, engine=engine)
    assert known.world == "open"
    assert [known.truth(parse_atom(f"flies({x})")) for x in "abc"] == [True, None, False]
    program = parse_program(
        "safe(X) :- bird(X), \\+ ill(X). fit(X) :- bird(X), \\+ weak(X). stays(X) :- bird(X), \\+ flies(X)."
        " odd(X) :- bird(X), \\+ safe(X)."
    )
    model = infer(program, facts, engine=engine)
    assert sorted(map(str, model)) == ["fit(a)", "safe(b)", "stays(c)"]
    assert model.probability(parse_atom("fit(a)")) == 0.8
    assert model.facts.world == model.derived.world == "open"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("world", ["closed", "open"])
def test_a_rule_overrules_a_denial(engine: str, world: World) -> None:
    facts = FactBase.from_facts(
        map(parse_atom, ["p(a)", "p(b)"]), negatives=map(parse_atom, ["q(a)", "r(b)"]), world=world
    )
    program = parse_program("q(X) :- p(X), \\+ r(X). none(X) :- p(X), \\+ q(X).")
    model = infer(program, facts, engine=engine)
    assert parse_atom("q(b)") in model
    assert (parse_atom("q(a)") in model) is (world == "closed")
    assert (parse_atom("none(a)") in model) is (world == "open")


@pytest.mark.parametrize("engine", ENGINES)
def test_large_integers_and_floats_are_compared_exactly(engine: str) -> None:
    facts = FactBase.from_facts([parse_atom(f"n({x})") for x in (2**53, 2**53 + 1, float(2**53))])
    model = infer(parse_program("less(X, Y) :- n(X), n(Y), X < Y."), facts, engine=engine)
    assert len(model) == 2


def test_the_engine_follows_the_size() -> None:
    rules = parse_program("path(X, Y) :- edge(X, Y). path(X, Y) :- path(X, Z), path(Z, Y).")
    small, large = (
        FactBase.from_relations(range(n), [Relation("edge", np.array([[i, (i + 1) % n] for i in range(n)]))])
        for n in (20, 150)
    )
    assert infer(rules, small).engine == "clingo"
    assert estimate_size(CodedProgram.of(rules, large)) >= 150**2
    assert infer(rules, large).engine == "duckdb"
    with pytest.raises(ConfigError, match="choose auto, clingo or duckdb"):
        infer(rules, small, engine="prolog")


def test_a_closure_larger_than_memory_goes_to_disk(tmp_path: Path) -> None:
    n = 1500
    ring = FactBase.from_relations(
        range(n), [Relation("edge", np.array([[i, (i * 7 + 1) % n] for i in range(n)]))]
    )
    rules = parse_program("path(X, Y) :- edge(X, Y). path(X, Y) :- path(X, Z), edge(Z, Y).")
    tight = infer(rules, ring, engine=DuckDBEngine("100MB", tmp_path))
    assert len(tight) == len(infer(rules, ring, engine="duckdb"))
    with pytest.raises(ConfigError, match="more than 1MB of memory"):
        infer(rules, ring, engine="duckdb", memory_limit="1MB")
    with pytest.raises(ConfigError, match="no memory limit"):
        infer(rules, ring, engine="duckdb", memory_limit="plenty")
