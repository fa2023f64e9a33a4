"""The fact base: equality by content, selection, merging, open and closed worlds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.facts.strategies import NUMBERS, PLAIN_NAMES, bases

from andre.arrays import row_keys
from andre.errors import DataError
from andre.facts import FEATURES, FactBase, Relation, Value, World, read_facts, write_facts
from andre.facts.relation import merge_equal
from andre.logic import Atom, Constant, Program, Rule, parse_atom, parse_program

RICH = bases(
    names=PLAIN_NAMES,
    numbers=NUMBERS,
    arities=st.integers(0, 3),
    features=frozenset({"probability", "mark", "negative"}),
)


def stated(base: FactBase) -> set[tuple[Atom, float, int, bool]]:
    """All that a base says, fact by fact: the plain meaning of its arrays."""
    said = set()
    for key, relation in base.relations.items():
        for row, atom in enumerate(base.atoms(*key)):
            chance = 1.0 if relation.probability is None else float(relation.probability[row])
            mark = 0 if relation.mark is None else int(relation.mark[row])
            said.add((atom, chance, mark, relation.negative is not None and bool(relation.negative[row])))
    return said


def shuffled(base: FactBase, seed: int) -> FactBase:
    """The same facts in another order, over another dictionary with constants to spare."""
    rng = np.random.default_rng(seed)
    place = rng.permutation(len(base.constants) + 2)
    constants: list[Value] = [f"spare {n}" for n in range(len(place))]
    for old, new in enumerate(place[: len(base.constants)].tolist()):
        constants[new] = base.constants[old]
    relations = [r.recoded(place).take(rng.permutation(len(r))) for r in base.relations.values()]
    return FactBase.from_relations(constants, reversed(relations))


@given(RICH, st.integers(0, 99))
def test_equality_is_by_content(base: FactBase, seed: int) -> None:
    assert shuffled(base, seed) == base


@given(RICH, RICH)
def test_bases_are_equal_exactly_when_they_state_the_same(one: FactBase, other: FactBase) -> None:
    assert (one == other) == (stated(one) == stated(other))


@given(RICH)
def test_every_change_shows(base: FactBase) -> None:
    key, relation = next(iter(base.relations.items()))
    fewer = {k: r for k, r in base.relations.items() if k != key}
    assert FactBase(base.constants, fewer) != base
    assert base.with_rules(parse_program("p(X) :- q(X).")) != base
    assert FactBase(base.constants, base.relations, world="open") != base
    marked = Relation(
        relation.name, relation.codes, relation.probability, np.full(len(relation), 2), relation.negative
    )
    assert (base.with_relation(marked) == base) == (relation.count("test") == len(relation))


@given(RICH)
def test_parts_make_the_whole(base: FactBase) -> None:
    parts = [base.select(mark) for mark in ("train", "valid", "test")]
    assert sum(map(len, parts)) == len(base)
    assert set().union(*map(stated, parts)) == stated(base)
    assert parts[0].merge(parts[1]).merge(parts[2]) == base


@given(RICH)
def test_merging_with_itself_changes_nothing(base: FactBase) -> None:
    merged = base.merge(base)
    assert merged == base
    assert merged.notes.duplicates == len(base)


@given(RICH, st.sets(st.sampled_from(FEATURES)))
def test_without_a_feature_it_is_gone(base: FactBase, features: set[str]) -> None:
    assert not set(base.without(*features).features) & features


@given(RICH, st.sampled_from(["closed", "open"]))
def test_truth(base: FactBase, world: str) -> None:
    base = FactBase(base.constants, base.relations, world=world)
    for atom, chance, _, negative in stated(base):
        holds = chance > 0 and not negative
        assert base.truth(atom) is holds
        assert (atom in base) is holds
    unknown = None if world == "open" else False
    assert base.truth(Atom("nowhere", (Constant("ann"),))) is unknown
    assert base.truth(Atom("p", (Constant("no such constant"),))) is unknown


@given(
    st.lists(st.tuples(*[st.integers(0, 5)] * 3), min_size=1, max_size=30),
    st.sampled_from([6, 1000, 2**31, 2**40]),
)
def test_row_keys_are_equal_exactly_where_rows_are(rows: list[tuple[int, ...]], n_values: int) -> None:
    keys = row_keys(np.array(rows), n_values).tolist()
    for row, key in zip(rows, keys, strict=True):
        for other, other_key in zip(rows, keys, strict=True):
            assert (row == other) == (key == other_key)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=20))
def test_what_is_held_out_anywhere_is_never_for_training(rows: list[tuple[int, int]]) -> None:
    relation = Relation(
        "p", np.array([[code] for code, _ in rows]), mark=np.array([mark for _, mark in rows])
    )
    merged = merge_equal([relation], 4, str)
    kept = merged.relations["p", 1]
    last = {code: max(m for c, m in rows if c == code) for code, _ in rows}
    marks = kept.mark if kept.mark is not None else np.zeros(len(kept))
    assert dict(zip(kept.codes[:, 0].tolist(), marks.tolist(), strict=True)) == last
    assert kept.codes[:, 0].tolist() == list(dict(rows))
    assert merged.duplicates == len(rows) - len(set(rows))
    assert merged.overlaps == len(set(rows)) - len(last)


def test_arrays_cannot_be_changed_from_outside() -> None:
    codes = np.array([[0, 1]], dtype=np.int32)
    relation = Relation("p", codes)
    with pytest.raises(ValueError, match="read-only"):
        relation.codes[0, 0] = 1
    codes[0, 0] = 0  # the caller's array stays the caller's


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Relation("", np.zeros((1, 1))), "needs a name"),
        (lambda: Relation("p", np.zeros(3)), "two dimensions"),
        (lambda: Relation("<", np.zeros((1, 2))), "compares two terms"),
        (lambda: Relation("p", np.zeros((2, 1)), probability=np.array([0.5])), "2 facts but 1 values"),
        (lambda: Relation("p", np.zeros((1, 1)), probability=np.array([1.5])), "probability 1.5"),
        (lambda: Relation("p", np.zeros((1, 1)), probability=np.array([np.nan])), "outside"),
        (lambda: Relation("p", np.zeros((1, 1)), mark=np.array([3])), "must be 0"),
        (
            lambda: Relation("p", np.zeros((1, 1)), np.array([0.5]), negative=np.array([True])),
            "state it or deny it",
        ),
        (lambda: FactBase.from_facts([parse_atom("p(X)")]), "X is a variable"),
        (lambda: FactBase.from_facts([parse_atom("p(a)")], probabilities=[]), "as many probabilities"),
        (lambda: FactBase.from_facts([parse_atom("p(a)")], marks=["dev"]), "no mark 'dev'"),
        (lambda: FactBase.from_facts([parse_atom("p(a)")], negatives=[parse_atom("p(a)")]), "both stated"),
        (
            lambda: FactBase.from_facts([parse_atom("p(a)")] * 2, probabilities=[0.1, 0.2]),
            "two probabilities",
        ),
        (lambda: FactBase.from_relations(["a", "a"], []), "twice in the list of constants"),
        (lambda: FactBase.from_relations(["a"], [Relation("p", np.zeros((1, 1)))] * 2), "given twice"),
        (lambda: FactBase(("a",), {("p", 1): Relation("p", np.ones((1, 1)))}), "outside the dictionary"),
        (lambda: FactBase(("a",), {("q", 1): Relation("p", np.zeros((1, 1)))}), "filed under q/1"),
        (lambda: FactBase((), {}, world="flat"), "closed or open"),  # type: ignore[arg-type]
        (lambda: FactBase((), {}, Program((Rule(Atom("p")),))), "has no body"),
        (lambda: FactBase((), {}).select("dev"), "no mark 'dev'"),
        (lambda: FactBase((), {}).without("colour"), "no 'colour' to leave out"),
    ],
)
def test_what_makes_no_sense_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        make()


@pytest.mark.parametrize("world", ["closed", "open"])
def test_a_probability_of_zero_denies(world: World, tmp_path: Path) -> None:
    atoms = [parse_atom(text) for text in ("p(a, b)", "p(b, c)", "q(a, b)")]
    facts = FactBase.from_facts(atoms, probabilities=[0.0, 0.3, 0.0], world=world)
    assert [facts.truth(atom) for atom in atoms] == [False, True, False]
    assert facts.truth(parse_atom("p(c, a)")) is (False if world == "closed" else None)
    assert atoms[0] not in facts
    for name in ("problog", "jsonl", "csv", "parquet", "sqlite", "duckdb"):
        write_facts(facts, tmp_path / name, name)
        assert read_facts(tmp_path / name, name, world=world) == facts
