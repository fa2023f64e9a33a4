"""What a language lets into a body, where it is read from, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.census.strategies import fact_bases

from andre.errors import AndreError, ConfigError
from andre.facts import Bias, FactBase
from andre.logic import Program, parse_atom, parse_rule
from andre.samples import Language, RuleSpace


def base(*texts: str, **options: Any) -> FactBase:
    return FactBase.from_facts([parse_atom(text) for text in texts], **options)


FAMILY = base("parent(ann, bob)", "parent(bob, cy)", "male(bob)", "age(ann, 40)", "age(bob, 20)")


def atoms(facts: FactBase = FAMILY, target: str = "parent/2", **options: Any) -> set[str]:
    return set(Language(target, **options).space(facts).names)


@given(fact_bases(), st.integers(2, 4), st.booleans(), st.booleans())
@settings(max_examples=40, deadline=None)
def test_candidates_are_all_ordered_tuples(
    facts: FactBase, variables: int, inequality: bool, recursion: bool
) -> None:
    space = Language("p/2", variables, inequality=inequality, recursion=recursion).space(facts)
    binary = sum(1 for name, arity in facts.relations if arity == 2 and (recursion or name != "p"))
    unary = sum(1 for _, arity in facts.relations if arity == 1)
    pairs = variables * (variables - 1)
    expected = binary * pairs - recursion + unary * variables + (pairs // 2 if inequality else 0)
    assert space.m == expected
    assert all(len(set(atom.args)) == atom.arity for atom in space.atoms)
    assert space.head not in space.atoms


def test_options_add_and_take_away() -> None:
    assert "parent(X1, X1)" in atoms(repeated=True)
    assert not {"parent(X1, X1)", "X1 < X2"} & atoms()
    assert "X1 < X2" in atoms(order=True)
    assert not any("\\=" in name for name in atoms(inequality=False))
    assert not any(name.startswith("parent") for name in atoms(recursion=False))
    assert {"parent(X1, bob)", "parent(X1, cy)"} <= atoms(constants=("parent/2:2",))
    assert "parent(X1, ann)" not in atoms(constants=("parent/2:2",))
    assert not {"male(X1)", "male(X2)"} & atoms(exclude=("male",))
    assert "male(X2)" in atoms(exclude=("male(X1)",))
    assert atoms(relations=("male",), inequality=False) == {"male(X1)", "male(X2)", "male(X3)"}


def test_types_keep_head_variables_apart() -> None:
    assert "age(X1, X2)" in atoms()
    assert "age(X1, X2)" not in atoms(types=True)
    assert "age(X1, X3)" in atoms(types=True)
    declared = (("parent", ("old", "young")), ("male", ("young",)))
    typed = atoms(types=declared)
    assert "male(X2)" in typed
    assert "male(X1)" not in typed


@pytest.mark.parametrize(
    ("options", "body", "admitted"),
    [
        ({}, "parent(X, Z), parent(Z, Y)", True),
        ({}, "parent(X, Z), male(Y)", False),
        ({"singletons": True}, "parent(X, Z), male(Y)", True),
        ({"max_body": 1}, "male(X), male(Y)", False),
        ({"negation": False}, "\\+ male(X)", False),
        ({"require": ("male",)}, "parent(X, Y)", False),
        ({"require": ("male",)}, "male(X), parent(X, Y)", True),
    ],
)
def test_bodies_keep_to_the_bounds(options: dict[str, Any], body: str, admitted: bool) -> None:
    rule = parse_rule(f"gp(X, Y) :- {body}.")
    space = RuleSpace(rule.head, tuple(literal.atom for literal in rule.body))
    form = replace(Language("gp/2", **options).form(space), safe=False)
    assert form.admits(space.encode(Program((rule,)))).tolist() == [admitted]


def test_toml_says_the_same_as_arguments(tmp_path: Path) -> None:
    path = tmp_path / "language.toml"
    path.write_text(
        "target = 'parent/2'\nvariables = 2\nexclude = ['male']\norder = true\n"
        "[types]\nparent = ['person', 'person']\n"
    )
    declared = (("parent", ("person", "person")),)
    expected = Language("parent/2", 2, exclude=("male",), order=True, types=declared)
    assert Language.from_toml(path) == expected
    assert Language.from_toml(path, variables=3).variables == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("targt = 'p'", "no setting 'targt'"),
        ("target = 'p'\nvariables = 'two'", "must be a whole number"),
        ("target = 'p'\nexclude = 'q'", "must be a list of names"),
        ("variables = 2", "names no target"),
        ("target = ", "is no TOML file"),
    ],
)
def test_a_bad_file_is_refused_in_a_sentence(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "language.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        Language.from_toml(path)
    assert str(path) in str(caught.value)


def test_a_bias_is_a_language() -> None:
    bias = Bias(head=(("gp", 2),), body=(("parent", 2),), max_vars=3, max_body=2, allow_singletons=True)
    language = Language.from_bias(bias)
    assert (language.target, language.variables, language.max_body) == ("gp/2", 3, 2)
    assert language.singletons
    assert not language.negation
    with pytest.raises(ConfigError, match="2 targets"):
        Language.from_bias(Bias(head=(("p", 1), ("q", 1))))


def test_a_bias_of_one_variable_of_a_type_and_of_places_for_constants() -> None:
    facts = FactBase.from_facts(map(parse_atom, ["goal(1, a)", "does(1, a, x)", "next(a, b)"]))
    types = (("goal", ("ex", "agent")), ("does", ("ex", "agent", "act")), ("next", ("agent", "agent")))
    bias = Bias(
        head=(("goal", 2),),
        body=(("does", 3), ("next", 2), ("absent", 1)),
        max_vars=3,
        types=types,
        places=("does/3:3",),
        one_of_type=("ex", "act"),
    )
    language = Language.from_bias(bias, inequality=False)
    assert (language.one_of_type, language.constants) == (("ex",), ("does/3:3",))
    atoms = set(map(str, language.space(replace(facts, bias=bias)).atoms))
    assert {"does(X1, X2, X3)", "does(X1, X2, x)", "does(X1, X3, x)", "next(X2, X3)"} <= atoms
    assert not any(atom.startswith("does(X3, ") and not atom.endswith(", x)") for atom in atoms)


@pytest.mark.parametrize(
    ("facts", "language", "message"),
    [
        (FAMILY, Language("uncle/2"), "no relation uncle/2: choose from parent/2"),
        (base("p(a)", "q(a)", marks=["test", "train"]), Language("p/1"), "only in test facts"),
        (base("q(a)", negatives=[parse_atom("p(a)")]), Language("p/1"), "are denied"),
        (base("p(a)", "p(a, b)"), Language("p"), "p/1 and p/2"),
        (base("p(a, b)"), Language("p/2", recursion=False), "leaves no candidate"),
        (FAMILY, Language("parent/2", variables=1), "at least 2"),
        (FAMILY, Language("parent/2", exclude=("uncle",)), "no relation or candidate"),
        (FAMILY, Language("parent/2", relations=("uncle",)), "no relation uncle"),
        (FAMILY, Language("parent/2", constants=("parent:2",)), "is no place"),
        (FAMILY, Language("parent/2", constants=("parent/2:3",)), "no argument 3"),
    ],
)
def test_what_cannot_be_is_refused(facts: FactBase, language: Language, message: str) -> None:
    with pytest.raises(AndreError, match=message):
        language.space(facts)


@pytest.mark.parametrize("options", [{"variables": 0}, {"max_body": 0}, {"variables": True}, {"order": 1}])
def test_settings_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Language("p/2", **options)
    with pytest.raises(ConfigError, match="preset"):
        Language.preset("papers", "p/2")


@pytest.mark.parametrize("variables", [0, 101, 10**40])
def test_a_number_of_variables_that_no_rule_has_is_refused_before_memory_is_taken(variables):
    with pytest.raises(ConfigError, match="variable"):
        Language("p/2", variables=variables)
