"""How long a census takes, and how it grows with the facts.

The growth takes minutes: python -m pytest benchmarks/test_census.py -m sweep -s
"""

from __future__ import annotations

import resource
import time
from pathlib import Path

import numpy as np
import pytest

from andre.facts import FactBase, Relation, read_facts
from andre.grounding import Language, take_census

SIZES = (10**4, 10**5, 10**6, 10**7)


def random_graph(n_facts: int, seed: int = 0) -> FactBase:
    """Facts of ten relations over a tenth as many constants, with hubs: ends follow a power law."""
    rng = np.random.default_rng(seed)
    n = max(100, n_facts // 10)
    relations = []
    for number in range(10):
        starts = rng.integers(n, size=n_facts // 10)
        ends = (n * rng.random(n_facts // 10) ** 2).astype(np.int64)
        relations.append(Relation(f"r{number}", np.stack([starts, ends], axis=1)))
    return FactBase.from_relations(range(n), relations)


@pytest.mark.parametrize(
    ("name", "target", "variables"),
    [
        ("countries_s1", "locatedIn", 3),
        ("nations", "embassy", 4),
        ("umls", "isa", 3),
        ("wn18rr", "_hypernym", 3),
    ],
)
def test_rows_of_a_dataset(datasets: Path, benchmark, name: str, target: str, variables: int) -> None:
    facts = read_facts(datasets / f"{name}.nl")
    language = Language.preset("paper", target, variables=variables)
    census = benchmark(take_census, facts, language, semantics="rows")
    assert census.positive + census.negative + census.dropped == census.groundings


@pytest.mark.sweep
@pytest.mark.parametrize("size", SIZES)
def test_growth_of_rows(size: int) -> None:
    facts = random_graph(size)
    began = time.perf_counter()
    census = take_census(facts, Language.preset("paper", "r0/2"), semantics="rows", memory_limit=4 << 30)
    took = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    assert census.positive + census.negative + census.dropped == census.groundings
    print(f"{len(facts):>12,} facts {census.groundings:.3g} groundings: {took:.1f} s, {peak:,.0f} MB")  # noqa: T201
