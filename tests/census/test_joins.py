"""Both ways of joining triangles find the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from tests.census.strategies import fact_bases

from andre.census.counting import all_orders, triangles
from andre.census.graph import build_graph, seen_constants
from andre.census.strata import Counted
from andre.facts import FactBase
from andre.samples import Language


def counted(table: Counted) -> dict[tuple[int, ...], int]:
    return dict(
        zip(zip(*(c.tolist() for c in table.columns), strict=True), table.counts.tolist(), strict=True)
    )


@given(fact_bases(max_facts=30))
@settings(max_examples=8, deadline=None)
def test_duckdb_joins_as_numpy_does(facts: FactBase) -> None:
    constants = seen_constants(facts)
    graph = build_graph(facts, Language("p/2").space(facts), constants, [constants, np.arange(1)])
    listed, joined = (triangles(graph, memory=1 << 28, duckdb=duckdb) for duckdb in (False, True))
    assert counted(all_orders(graph, joined)) == counted(all_orders(graph, listed))
