"""The order of lines, rows and columns changes nothing that is learned."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.completion.bases import FAST

import andre
from andre.completion import complete
from andre.facts import MARKS, FactBase, in_canonical_order
from andre.logic import Atom, Constant, Variable

QUICK: dict[str, Any] = {"restarts": 1, "rounds": 1, "steps": 30}
names = st.sampled_from([f"c{n}" for n in range(6)])
pairs = st.sets(st.tuples(names, names), min_size=2, max_size=12)
bases = st.fixed_dictionaries({"p": pairs, "q": pairs, "zeta": pairs, "h": pairs})


def shuffles(texts: list[str], times: int = 2) -> Iterator[FactBase]:
    """The same facts, their lines in several orders."""
    for seed in range(times):
        lines = list(texts)
        random.Random(seed).shuffle(lines)
        yield FactBase.from_facts(lines)


def lines_of(base: dict[str, set[tuple[str, str]]]) -> list[str]:
    # Synonyms of a relation, and of a constant, leave ties that only their names can settle.
    base = {**base, "synonym": base["p"]}
    return sorted(f"{name}({a}, {b})" for name, rows in base.items() for a, b in rows)


@given(bases)
def test_canonical_order_keeps_the_facts_and_forgets_how_they_came(base: dict[str, Any]) -> None:
    found = [in_canonical_order(facts) for facts in shuffles(lines_of(base))]
    for facts in found:
        assert facts == FactBase.from_facts(lines_of(base))
        assert facts.constants == found[0].constants
        assert [list(facts.atoms(*key)) for key in facts.relations] == [
            list(found[0].atoms(*key)) for key in found[0].relations
        ]


@settings(max_examples=1)
@given(bases, st.sampled_from(["define", "complete"]))
def test_learning_does_not_see_the_order_of_lines(base: dict[str, Any], mode: str) -> None:
    texts = set()
    for facts in shuffles(lines_of(base)):
        (made,) = andre.learn(facts, "h/2", mode=mode, **QUICK)
        texts.add((str(made.program), made.confusion, made.length, tuple(map(str, made.pool.rules))))
    assert len(texts) == 1


@settings(max_examples=1)
@given(bases, st.booleans())
def test_ranks_do_not_see_the_order_of_lines(base: dict[str, Any], marked: bool) -> None:
    answers = set()
    for facts in shuffles(lines_of(base)):
        if marked:
            relation = facts.relations["h", 2]
            held = [atom.args[0] == Constant("c0") for atom in facts.atoms("h", 2)]
            mark = np.where(held, MARKS.index("valid"), 0).astype(np.uint8)
            facts = facts.with_relation(type(relation)("h", relation.codes, mark=mark))  # noqa: PLW2901
        done = complete(facts, FAST)
        asked = [Atom("h", (Constant(f"c{n}"), Variable("Y"))) for n in range(3)]
        asked = [atom for atom in asked if facts.code(atom.args[0].value) is not None]
        found = [answer for atom in asked for answer in done.rank(atom, 6)]
        answers.add(tuple((str(one.atom), one.chance, one.score, *map(str, one.rules)) for one in found))
    assert len(answers) == 1


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("validation", [None, 0.25])
def test_a_table_may_have_its_rows_in_any_order(seed: int, validation: float | None) -> None:
    pandas = pytest.importorskip("pandas")
    rng, n = np.random.default_rng(seed), 120
    table = pandas.DataFrame({"a": rng.normal(size=n).round(2), "b": rng.choice(list("xyz"), n)})
    table["twin"], table["c"] = table["a"], rng.integers(0, 4, n)
    table["y"] = ((table["a"] > 0.2) & (table["b"] != "x")) ^ (rng.random(n) < 0.1)
    found = set()
    for order in range(3):
        draw = np.random.default_rng(order)
        mixed = table.iloc[draw.permutation(n)]
        model = andre.fit(mixed, label="y", validation=validation, settings=QUICK)
        found.add((str(model.program), str(model.rules), str(model.scores)))
    assert len(found) == 1
