"""Knowledge bases by preset paper: rules counted and ranked as by listing groundings."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.errors import DataError
from andre.facts import TASKS, FactBase
from andre.logic import parse_atom, parse_rule
from benchmarks.paper import LEARNERS, RANKS, RUN_MINUTES
from benchmarks.preset import BATCHES, MOST_BATCHES, PaperRuns, batch_of
from benchmarks.programs import Matrices, Task, learn_task, rank, scores_by_rules

_QUICK = PaperRuns(steps=2)
_TABLE = st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=4, max_size=4).map(np.array)
_LITERALS = st.lists(
    st.tuples(st.booleans(), st.sampled_from("pq"), st.permutations(("X", "Y", "Z")).map(lambda v: v[:2])),
    min_size=1,
    max_size=4,
)


@settings(max_examples=100)
@given(p=_TABLE, q=_TABLE, literals=_LITERALS)
def test_ways_are_those_of_all_groundings(p, q, literals):
    text = ", ".join(("\\+ " if neg else "") + f"{name}({one}, {two})" for neg, name, (one, two) in literals)
    rule = parse_rule(f"h(X, Y) :- {text}.")
    found = Matrices(4, {"p": p, "q": q}).ways(rule)
    third = any("Z" in pair for _, _, pair in literals)
    for x, y in product(range(4), repeat=2):
        ways = 0
        for z in range(4) if third else [0]:
            at = {"X": x, "Y": y, "Z": z}
            ways += all(
                bool((p if name == "p" else q)[at[one], at[two]]) != neg for neg, name, (one, two) in literals
            )
        assert found[x, y] == ways


def test_more_than_three_variables_are_refused():
    with pytest.raises(DataError, match="more than three variables"):
        Matrices(2, {"p": np.eye(2, dtype=bool)}).ways(parse_rule("h(X, Y) :- p(X, Z), p(Z, W), p(W, Y)."))


def test_the_surest_rule_scores():
    p = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], dtype=bool)
    q = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]], dtype=bool)
    rules = [parse_rule("p(X, Y) :- q(X, Y)."), parse_rule("p(X, Y) :- q(Y, X).")]
    surest, noisy = scores_by_rules(rules, Matrices(3, {"p": p, "q": q}), "p")
    # The first holds for (0, 1), which is a fact, and (2, 1), outside of the first arguments of p.
    assert surest.tolist() == [[0, 1, 0], [0, 0, 0], [0, 1, 0]]
    assert (noisy > 0).tolist() == (surest > 0).tolist()


def test_test_facts_are_ranked_among_what_is_not_known():
    facts = ["p(a,b)", "p(a,c)", "p(b,c)", "p(c,d)"]
    base = FactBase.from_facts(map(parse_atom, facts), marks=["train", "train", "train", "test"])
    scores = np.zeros((4, 4))
    at = base.constants.index
    scores[at("c"), at("d")] = 0.5
    scores[at("c"), at("a")] = 0.7
    report = rank({"p": scores}, base)
    # p(c, ?): d stands behind a. p(?, d): c stands first.
    assert report.mrr["realistic"] == pytest.approx((1 / 2 + 1) / 2)


def test_learning_by_preset_paper_needs_both_classes():
    found = learn_task(Task("family", "grandparent/2", runs=_QUICK), TASKS["grandparent"].train(0))
    assert found.rules
    assert set(found.program) <= set(found.rules)
    every = FactBase.from_facts(map(parse_atom, ["p(a,b)", "p(a,c)", "q(a,b)", "q(b,c)"]))
    assert learn_task(Task("small", "p/2", runs=_QUICK), every).rules == ()


@given(rows=st.integers(1, 10**6))
def test_the_smallest_batch_that_makes_few_steps(rows):
    batch = batch_of(rows)
    assert batch in BATCHES
    smaller = [one for one in BATCHES if one < batch]
    assert all(rows > MOST_BATCHES * one for one in smaller)
    assert batch == BATCHES[-1] or rows <= MOST_BATCHES * batch


def test_the_tables_of_the_paper_have_all_learners():
    assert all(set(ranks) == set(LEARNERS) for ranks in RANKS.values())
    assert all(len(minutes) == len(LEARNERS) for minutes in RUN_MINUTES.values())
    assert set(RANKS) <= set(RUN_MINUTES)
