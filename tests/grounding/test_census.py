"""The census agrees with brute force, exactly, in all its ways of counting."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.grounding.oracle import Brute, told
from tests.grounding.strategies import fact_bases

from andre.facts import FactBase
from andre.grounding import Language, take_census

SEMANTICS = ("rows", "exists")
MODES = ("define", "complete")


def agrees(facts: FactBase, language: Language, method: str, **options: Any) -> None:
    expected = Brute(facts, language).take(**options)
    assume(any(not atom.is_builtin for atom in expected.atoms))
    found = told(take_census(facts, language, method=method, **options))
    assert found.atoms == expected.atoms
    assert found.groundings == expected.groundings
    assert found.dropped == expected.dropped
    assert found.weights == expected.weights


ways = settings(max_examples=60, deadline=None)
METHODS = ("count", "list")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("semantics", SEMANTICS)
@given(data=st.data())
@ways
def test_three_variables(semantics: str, method: str, data: st.DataObject) -> None:
    facts = data.draw(fact_bases())
    language = Language("p/2", inequality=data.draw(st.booleans()), recursion=data.draw(st.booleans()))
    identity = data.draw(st.sampled_from((None, True, False)))
    mode = data.draw(st.sampled_from(MODES))
    agrees(facts, language, method, semantics=semantics, mode=mode, identity=identity)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("semantics", SEMANTICS)
@given(data=st.data())
@ways
def test_probabilities_marks_and_denied_facts(semantics: str, method: str, data: st.DataObject) -> None:
    facts = data.draw(
        fact_bases(
            chances=data.draw(st.booleans()),
            marks=data.draw(st.booleans()),
            denied=data.draw(st.booleans()),
            world=data.draw(st.sampled_from(("closed", "open"))),
        )
    )
    language = Language("p/2", held_out=data.draw(st.booleans()))
    agrees(facts, language, method, semantics=semantics, mode=data.draw(st.sampled_from(MODES)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("semantics", SEMANTICS)
@given(data=st.data())
@ways
def test_any_number_of_variables_and_head_arity(semantics: str, method: str, data: st.DataObject) -> None:
    arity = data.draw(st.integers(1, 2))
    facts = data.draw(fact_bases(target=arity, max_facts=8))
    language = Language(f"p/{arity}", variables=data.draw(st.integers(arity, 4)))
    identity = data.draw(st.sampled_from((None, True, False)))
    mode = data.draw(st.sampled_from(MODES))
    agrees(facts, language, method, semantics=semantics, mode=mode, identity=identity)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("semantics", SEMANTICS)
@given(data=st.data())
@ways
def test_languages(semantics: str, method: str, data: st.DataObject) -> None:
    facts = data.draw(fact_bases(numbers=data.draw(st.booleans())))
    places = st.sampled_from(
        ("p/2:1", "p/2:2", *(f"{name}/2:2" for name, _ in facts.relations if name in "qr"))
    )
    language = Language(
        "p/2",
        variables=data.draw(st.integers(2, 3)),
        repeated=data.draw(st.booleans()),
        order=data.draw(st.booleans()),
        constants=tuple(data.draw(st.sets(places, max_size=2))),
    )
    agrees(facts, language, method, semantics=semantics, mode=data.draw(st.sampled_from(MODES)))


@pytest.mark.parametrize("semantics", SEMANTICS)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_relations_of_three_arguments(semantics: str, data: st.DataObject) -> None:
    arity = data.draw(st.integers(2, 3))
    facts = data.draw(fact_bases(target=arity, others=(("q", 2), ("w", 3)), chances=True, max_facts=8))
    language = Language(f"p/{arity}", constants=("w/3:2",) if ("w", 3) in facts.relations else ())
    agrees(facts, language, "auto", semantics=semantics)
