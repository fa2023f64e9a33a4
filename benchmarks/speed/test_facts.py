"""How fast facts are read: measured, not asserted."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from andre.facts import FactBase, Relation, argument_types, read_facts, write_facts

N_TRIPLES = int(os.environ.get("ANDRE_BENCH_TRIPLES", "1_000_000"))


@pytest.fixture(scope="module")
def graph() -> FactBase:
    """A random graph with a tenth as many constants as facts."""
    rng = np.random.default_rng(0)
    n_constants = N_TRIPLES // 10
    relations = [
        Relation(f"relation_{number}", rng.integers(n_constants, size=(N_TRIPLES // 100, 2)))
        for number in range(100)
    ]
    return FactBase.from_relations((f"/m/entity{number}" for number in range(n_constants)), relations)


@pytest.mark.parametrize("name", ["graph.tsv", "graph.nl", "graph.pl", "graph.jsonl", "graph.duckdb"])
def test_reading_a_graph(name: str, graph: FactBase, tmp_path: Path, benchmark: BenchmarkFixture) -> None:
    path = tmp_path / name
    write_facts(graph, path)
    base = benchmark.pedantic(read_facts, (path,), rounds=1)
    assert base == graph


@pytest.mark.sweep
def test_reading_ten_million_triples(tmp_path: Path, benchmark: BenchmarkFixture) -> None:
    path, rng = tmp_path / "graph.tsv", np.random.default_rng(0)
    with path.open("w") as file:
        for _ in range(100):
            ends = rng.integers(1_000_000, size=(100_000, 2))
            relation = rng.integers(100, size=100_000)
            file.writelines(
                f"/m/{a}\tr{r}\t/m/{b}\n" for (a, b), r in zip(ends.tolist(), relation.tolist(), strict=True)
            )
    base = benchmark.pedantic(read_facts, (path,), rounds=1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    benchmark.extra_info["facts"], benchmark.extra_info["peak_bytes"] = len(base), peak
    assert len(base) > 9_900_000


def test_reading_wn18rr_with_the_start_of_python(datasets: Path, benchmark: BenchmarkFixture) -> None:
    path = datasets / "wn18rr.nl"
    code = f"from andre.facts import read_facts; assert len(read_facts({str(path)!r})) == 93003"
    benchmark.pedantic(subprocess.run, ([sys.executable, "-c", code],), {"check": True}, rounds=3)


def test_inferring_types(graph: FactBase, benchmark: BenchmarkFixture) -> None:
    assert benchmark.pedantic(argument_types, (graph,), rounds=1).sizes
