"""Argument types: the finest ones under which every constant has one type."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.facts.strategies import NUMBERS, PLAIN_NAMES, bases

from andre.facts import FactBase, Relation, argument_types, read_facts
from andre.facts.build import values_of_texts

RICH = bases(names=PLAIN_NAMES, numbers=NUMBERS, arities=st.integers(0, 3))


def connected(base: FactBase) -> dict[tuple[tuple[str, int], int], set[tuple[tuple[str, int], int]]]:
    """Which places share a constant, directly or through others, by plain closure."""
    has = {
        (key, position): set(relation.codes[:, position].tolist())
        for key, relation in base.relations.items()
        for position in range(relation.arity)
    }
    linked = {place: {other for other in has if has[place] & has[other]} for place in has}
    for _ in has:
        for place in has:
            linked[place] = set().union(*(linked[other] for other in linked[place]))
    return linked


@given(RICH)
def test_places_have_one_type_exactly_when_they_are_connected(base: FactBase) -> None:
    types, linked = argument_types(base), connected(base)
    for one, other in product(linked, linked):
        same = types.of[one[0]][one[1]] == types.of[other[0]][other[1]]
        assert same == (other in linked[one])


@given(RICH)
def test_sizes_count_every_used_constant_once(base: FactBase) -> None:
    used = {code for relation in base.relations.values() for code in relation.codes.ravel().tolist()}
    assert sum(argument_types(base).sizes.values()) == len(used)


def test_types_have_readable_names() -> None:
    base = FactBase.from_relations(
        ["ann", "bob", "lima", 9, "red", "blue"],
        [
            Relation("person", np.array([[0], [1]])),
            Relation("lives", np.array([[0, 2], [1, 2]])),
            Relation("age", np.array([[0, 3]])),
            Relation("likes", np.array([[0, 4], [1, 5]])),
        ],
    )
    assert argument_types(base).of == {
        ("person", 1): ("person",),
        ("lives", 2): ("person", "lives2"),
        ("age", 2): ("person", "number"),
        ("likes", 2): ("person", "likes2"),
    }


def test_a_name_that_is_taken_gets_a_number() -> None:
    base = FactBase.from_relations(
        ["a", "b", 1, 2], [Relation("number", np.array([[0]])), Relation("p", np.array([[2, 3, 1]]))]
    )
    assert argument_types(base).of == {
        ("number", 1): ("number_3",),
        ("p", 3): ("number", "number_2", "entity"),
    }


@given(
    st.lists(
        st.sampled_from(["7", "12", "007", "-3", "0.5", "1e5", "x", "é1", "-", "٣"]), min_size=1, unique=True
    )
)
def test_texts_keep_their_meaning(texts: list[str]) -> None:
    together = [Relation("p", np.arange(len(texts)).reshape(-1, 1))]
    values = values_of_texts(texts, together)
    if "007" in texts:
        assert values == texts
    else:
        plain = {"7": 7, "12": 12, "-3": -3, "0.5": 0.5, "1e5": 1e5}
        assert values == [plain.get(text, text) for text in texts]


def test_arguments_with_the_heads_constants_have_its_type_and_numbers_keep_theirs(tmp_path: Path) -> None:
    (tmp_path / "bias.pl").write_text(
        "head_pred(active,1). body_pred(ames,1). body_pred(atoms,2). body_pred(ring,2).\n"
        "type(active,(drug,)). type(ames,(arg0,)). type(atoms,(arg0,count)). type(ring,(arg0,ring)).\n"
    )
    (tmp_path / "bk.pl").write_text("ames(d1). atoms(d1,3). atoms(d2,4). ring(d1,r1). ring(d3,r2).\n")
    (tmp_path / "exs.pl").write_text("pos(active(d1)). neg(active(d2)).\n")
    facts = read_facts(tmp_path)
    assert facts.bias is not None
    # Of the two constants of ring's first argument only one is known to be a drug.
    assert dict(facts.bias.types) == {
        "active": ("drug",),
        "ames": ("drug",),
        "atoms": ("drug", "count"),
        "ring": ("arg0", "ring"),
    }
    assert any(note.startswith("2 arguments have constants of the head's type") for note in facts.notes)
