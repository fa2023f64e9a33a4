"""The plan of a census: which strategy is chosen where, and that its reasons are told."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from andre.census.census import ground
from andre.census.plan import CensusPlan, Draw, Request, plan_census
from andre.errors import ConfigError, DataError
from andre.facts import FactBase, Relation
from andre.samples import Language


def facts_of(n: int, k: int, *, wide: bool = False) -> FactBase:
    """Some k facts of each of two relations over n constants; if `wide`, some of three arguments."""
    rng = np.random.default_rng(0)
    relations = [Relation(name, np.unique(rng.integers(n, size=(k, 2)), axis=0)) for name in "pq"]
    if wide:
        relations.append(Relation("w", rng.integers(n, size=(3, 3))))
    return FactBase.from_relations(range(n), [*relations, Relation("c", np.arange(n)[:, None])])


SPARSE, DENSE, WIDE = facts_of(400, 500), facts_of(6, 60), facts_of(9, 5, wide=True)


def planned(facts: FactBase, variables: int = 3, **options: Any) -> CensusPlan:
    request = Request(**options)
    graph = ground(facts, Language("p/2", variables), request.semantics, request.mode)
    return plan_census(graph, variables, request)


@pytest.mark.parametrize(
    ("facts", "variables", "options", "strategies", "reason"),
    [
        (SPARSE, 3, {}, {"profiles"}, "at most one variable beside the head's"),
        (SPARSE, 3, {"method": "list"}, {"list"}, "a list was asked for"),
        (SPARSE, 4, {}, {"join"}, "connected pairs are joined instead of 160,000 pairs listed"),
        (DENSE, 4, {}, {"list"}, "joins would be no shorter"),
        (DENSE, 4, {"method": "count"}, {"join"}, "joins were asked for"),
        (DENSE, 5, {}, {"list"}, "too many variables to join"),
        (WIDE, 3, {}, {"list"}, "no pairs to join"),
        (SPARSE, 3, {"semantics": "rows"}, {"count", "list"}, "groundings to list against some"),
        (DENSE, 3, {"semantics": "rows"}, {"list"}, "are quicker to list than some"),
        (DENSE, 3, {"semantics": "rows", "method": "count"}, {"count"}, "joins were asked for"),
        (SPARSE, 4, {"semantics": "rows"}, {"join"}, "instead of 160,000 pairs"),
    ],
)
def test_every_stratum_has_a_strategy_and_a_reason(
    facts: FactBase, variables: int, options: dict[str, Any], strategies: set[str], reason: str
) -> None:
    plan = planned(facts, variables, **options)
    assert {step.strategy for step in plan.steps} == strategies
    assert reason in str(plan)
    blocks = [stratum.block for step in plan.steps for stratum in step.strata]
    assert len(set(blocks)) == len(blocks) == {3: 5, 4: 15, 5: 52}[variables]
    assert json.loads(json.dumps(plan.to_dict()))["steps"][0]["why"] == plan.steps[0].why


def test_object_identity_leaves_one_stratum() -> None:
    plan = planned(SPARSE, mode="complete")
    assert [str(stratum) for stratum in plan.steps[0].strata] == ["X1, X2, X3"]
    assert plan.corrupting
    assert not plan.self_support


def test_huge_counts_and_long_joins_are_foreseen() -> None:
    big = FactBase.from_relations(range(1_100_000), [Relation("p", np.array([[0, 1], [1, 2]]))])
    steps = planned(big, semantics="rows", method="count").steps
    assert not any(step.big_integers for step in steps)  # only constants that facts have count
    whole = Language("p/2", held_out=True)
    graph = ground(big, whole, "rows", "define")
    steps = plan_census(graph, 3, Request("rows", method="count")).steps
    assert [step.big_integers for step in steps] == [step.strata[0].n_blocks == 3 for step in steps]
    graph = ground(facts_of(30, 90), Language("p/2"), "rows", "define")
    steps = plan_census(graph, 3, Request("rows", method="count"), numpy_paths=0).steps
    assert [step.duckdb for step in steps] == [step.strata[0].n_blocks == 3 for step in steps]
    assert "by DuckDB" in steps[-1].why


def test_what_cannot_be_done_is_refused_by_the_plan() -> None:
    with pytest.raises(DataError, match="too many to list"):
        planned(facts_of(400, 50, wide=True), variables=5)
    graph = ground(WIDE, Language("p/2"), "exists", "define")
    with pytest.raises(ConfigError, match="use fewer than 3 variables"):
        plan_census(graph, 3, Request(), Draw(9))


def test_a_draw_is_planned_where_there_are_more_head_atoms() -> None:
    graph = ground(SPARSE, Language("p/2"), "exists", "define")
    drawn = plan_census(graph, 3, Request(), Draw(9))
    assert "draw 9 of 160,000 head atoms, which stand for all" in str(drawn)
    assert drawn.to_dict()["draw"] == {"most": 9, "of": 400**2, "seed": 0}
    assert plan_census(graph, 3, Request(), Draw(400**2)).draw is None
