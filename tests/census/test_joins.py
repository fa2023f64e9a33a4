"""All ways of joining find the same as listing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.census.strategies import fact_bases

from andre.census.counting import all_orders, triangles
from andre.census.graph import FactGraph
from andre.census.inner import join_inner
from andre.census.labelling import build_graph, seen_constants
from andre.census.listing import list_classes
from andre.census.strata import Classes, Counted, strata
from andre.facts import FactBase
from andre.samples import Language

MEMORY = 1 << 28


def graph_of(facts: FactBase, arity: int = 2, variables: int = 3) -> FactGraph:
    """All constants stand first in a head atom, and but for one all stand second."""
    constants = seen_constants(facts)
    space = Language(f"p/{arity}", variables).space(facts)
    return build_graph(facts, space, constants, [constants, constants[1:]][:arity])


def counted(table: Counted) -> dict[tuple[int, ...], int]:
    return dict(
        zip(zip(*(c.tolist() for c in table.columns), strict=True), table.counts.tolist(), strict=True)
    )


@given(fact_bases(max_facts=30))
@settings(max_examples=8, deadline=None)
def test_duckdb_joins_as_numpy_does(facts: FactBase) -> None:
    graph = graph_of(facts)
    listed, joined = (triangles(graph, memory=MEMORY, duckdb=duckdb) for duckdb in (False, True))
    assert counted(all_orders(graph, joined)) == counted(all_orders(graph, listed))


def described(found: list[Classes], heads: bool) -> dict[str, dict[tuple[int, ...], int]]:
    """By stratum, how many groundings have which labels and patterns, and which head atom."""
    whole = {}
    for one in found:
        columns = [*([one.heads] if heads else []), *one.labels, *one.patterns]
        if len(one):
            whole[str(one.stratum)] = counted(Counted(columns, np.asarray(one.counts)))
    return whole


@pytest.mark.parametrize("dense", [0, 10**9])
@pytest.mark.parametrize("heads", [True, False])
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_inner_variables_are_joined_as_they_are_listed(dense: int, heads: bool, data: st.DataObject) -> None:
    arity, identity = data.draw(st.integers(1, 2)), data.draw(st.booleans())
    graph = graph_of(data.draw(fact_bases(target=arity)), arity, arity + 2)
    joined = join_inner(graph, heads=heads, identity=identity, memory=MEMORY, dense=dense)
    wanted = [
        list_classes(graph, stratum, heads=heads, memory=MEMORY)
        for stratum in strata(arity + 2)
        if stratum.is_distinct or not identity
    ]
    assert described(joined, heads) == described(wanted, heads)
