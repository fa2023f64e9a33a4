"""Both ways of joining triangles find the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from tests.census.strategies import fact_bases

from andre.census.joins import Table, in_all_orders, triangles
from andre.census.labelling import build_graph, seen_constants
from andre.facts import FactBase
from andre.samples import Language


def counted(table: Table) -> dict[tuple[int, ...], int]:
    return dict(
        zip(zip(*(c.tolist() for c in table.columns), strict=True), table.counts.tolist(), strict=True)
    )


@given(fact_bases(max_facts=30))
@settings(max_examples=8, deadline=None)
def test_duckdb_joins_as_numpy_does(facts: FactBase) -> None:
    constants = seen_constants(facts)
    graph = build_graph(facts, Language("p/2").space(facts), constants, [constants, np.arange(1)])
    listed, joined = (triangles(graph, memory=1 << 28, longest=longest) for longest in (10**6, -1))
    assert counted(in_all_orders(graph, joined)) == counted(in_all_orders(graph, listed))
