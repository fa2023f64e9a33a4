"""How fast programs run, and how DuckDB compares with clingo."""

import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from andre.facts import FactBase, Relation, read_facts
from andre.inference import infer
from andre.logic import parse_program

PATHS = "path(X, Y) :- edge(X, Y). path(X, Y) :- edge(X, Z), path(Z, Y)."


def random_graph(nodes: int, edges: int) -> FactBase:
    pairs = np.random.default_rng(0).integers(0, nodes, (edges, 2))
    return FactBase.from_relations(range(nodes), [Relation("edge", np.unique(pairs, axis=0))])


@pytest.mark.parametrize("engine", ["auto", "clingo", "duckdb"])
def test_umls_closure(datasets: Path, benchmark: Any, engine: str) -> None:
    facts = read_facts(datasets / "umls.nl").select("train")
    rules = parse_program("isa(X, Y) :- isa(X, Z), isa(Z, Y).")
    benchmark(infer, rules, facts, engine=engine)


@pytest.mark.parametrize("engine", ["clingo", "duckdb"])
def test_closure_of_a_million_facts(benchmark: Any, engine: str) -> None:
    """The same closure on both: DuckDB is to be four times as fast at least."""
    facts, rules = random_graph(1200, 2700), parse_program(PATHS)
    model = benchmark.pedantic(infer, (rules, facts), {"engine": engine}, rounds=1)
    assert len(model) > 1_000_000


@pytest.mark.sweep
def test_closure_of_twenty_thousand_edges(benchmark: Any) -> None:
    """Tens of millions of facts inside 4 GB."""
    facts, rules = random_graph(10_000, 20_000), parse_program(PATHS)
    model = benchmark.pedantic(infer, (rules, facts), {"engine": "duckdb"}, rounds=1)
    assert len(model) > 10_000_000
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    benchmark.extra_info["facts"], benchmark.extra_info["peak_bytes"] = len(model), peak
    assert peak < 4 << 30
