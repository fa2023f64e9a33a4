"""How long a census takes; `./dev bench census` shows how it grows with the facts."""

from __future__ import annotations

from pathlib import Path

import pytest

from andre.census import take_census
from andre.facts import read_facts
from andre.samples import Language


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
