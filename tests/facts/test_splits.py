"""Validation facts: how many, from where, and that nothing else changes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.facts.strategies import bases

from andre.errors import DataError
from andre.facts import PYKEEN_SPLITS, TASKS, FactBase, hold_out, pykeen_split, read_facts
from andre.logic import Atom, Constant


def atoms(facts: FactBase, *marks: str) -> set[Atom]:
    return {atom for mark in marks for key in facts.relations for atom in facts.select(mark).atoms(*key)}


@settings(max_examples=60)
@given(bases(features=frozenset({"mark", "negative"})), st.floats(0.01, 0.99), st.integers(0, 5))
def test_a_share_of_each_relation_is_held_out(facts: FactBase, share: float, seed: int) -> None:
    split = hold_out(facts, share, seed)
    assert split.without("mark") == facts.without("mark")
    assert split == hold_out(facts, share, seed)
    for key, before in facts.relations.items():
        after = split.relations[key]
        stated = np.ones(len(before), dtype=bool) if before.negative is None else ~before.negative
        free = before.marked("train") & stated
        moved = before.marked("train") & after.marked("valid")
        assert (before.marked("test") == after.marked("test")).all()
        assert not (moved & ~free).any()
        if free.sum() < 2:
            assert not moved.any()
            assert str(before) in split.notes.remarks[-1]
        else:
            assert moved.sum() == min(max(round(share * free.sum()), 1), free.sum() - 1)


@pytest.mark.parametrize("count", [2, 3, 9])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_one_fact_at_least_is_held_out_and_one_stays(count: int, share: float) -> None:
    facts = FactBase.from_facts(Atom("p", (Constant(value),)) for value in range(count))
    moved = hold_out(facts, share).relations["p", 1].count("valid")
    assert moved == min(max(round(share * count), 1), count - 1)


def test_seeds_hold_out_different_facts() -> None:
    facts = TASKS["lessThan"].train()
    assert len({frozenset(atoms(hold_out(facts, 0.1, seed), "valid")) for seed in range(5)}) == 5


def test_only_targets_are_held_out() -> None:
    facts = TASKS["lessThan"].train()
    split = hold_out(facts, 0.1, targets=["lessThan/2"])
    assert {atom.predicate for atom in atoms(split, "valid")} == {"lessThan"}
    assert not split.notes.remarks
    whole = hold_out(facts, 0.1)
    assert list(whole.notes) == ["nothing is held out of zero/1: fewer than two training facts"]


@pytest.mark.parametrize(
    ("share", "targets", "message"),
    [
        (0.0, None, "a share of 0 cannot be held out"),
        (1.0, None, "a share of 1 cannot be held out"),
        (0.1, ["zero/1"], "zero/1 has fewer than two training facts"),
        (0.1, ["odd/2"], "there is no relation odd/2: choose from odd/1"),
    ],
)
def test_what_cannot_be_held_out(share: float, targets: list[str] | None, message: str) -> None:
    with pytest.raises(DataError, match=message):
        hold_out(TASKS["odd"].train(), share, targets=targets)


@pytest.mark.parametrize("name", PYKEEN_SPLITS)
def test_pykeens_train_and_valid_facts_are_those_of_the_public_file(name: str, datasets: Path) -> None:
    if importlib.util.find_spec("pykeen") is None:
        pytest.skip("pykeen is not installed")
    split, public = pykeen_split(name), read_facts(datasets / f"{name}.nl")
    assert atoms(split, "train", "valid") == atoms(public, "train")
    assert atoms(split, "test") == atoms(public, "test")
    sizes = {"nations": (1592, 199, 201), "umls": (5216, 652, 661), "kinship": (8544, 1068, 1074)}
    assert tuple(len(split.select(mark)) for mark in ("train", "valid", "test")) == sizes[name]


def test_pykeen_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"comes with pykeen: pip install 'andre\[pykeen\]'"):
        pykeen_split("umls")
