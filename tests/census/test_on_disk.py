"""Facts in Parquet files are counted by DuckDB as brute force counts them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.census.oracle import Brute, comparable
from tests.census.strategies import fact_bases

from andre.census import census_on_disk, take_census
from andre.errors import ConfigError, DataError
from andre.facts import FactBase, Relation
from andre.samples import Language


def written(facts: FactBase, folder: Path) -> Path:
    """A Parquet file for every relation."""
    for (name, _), relation in facts.relations.items():
        columns = {
            f"arg{at}": [facts.constants[code] for code in codes] for at, codes in enumerate(relation.codes.T)
        }
        pandas.DataFrame(columns).to_parquet(folder / f"{name}.parquet")
    return folder


@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_what_is_counted_on_disk_is_what_brute_force_counts(data: st.DataObject) -> None:
    facts = data.draw(fact_bases(max_facts=20))
    facts = FactBase(facts.constants, dict(sorted(facts.relations.items())))
    language = Language("p/2", data.draw(st.integers(2, 3)), recursion=data.draw(st.booleans()))
    identity = data.draw(st.booleans())
    expected = Brute(facts, language).take(semantics="rows", identity=identity)
    assume(any(not atom.is_builtin for atom in expected.atoms))
    with tempfile.TemporaryDirectory() as folder:
        census = census_on_disk(written(facts, Path(folder)), language, identity=identity)
    found = comparable(census)
    assert found.atoms == expected.atoms
    assert found.groundings == expected.groundings
    assert found.dropped == expected.dropped
    assert found.weights == expected.weights
    assert {step.strategy for step in census.plan.steps} == {"disk"}


def test_thousands_of_facts_are_counted_alike_in_little_memory(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    relations = [
        Relation(
            name,
            np.stack([rng.integers(3000, size=6000), (3000 * rng.random(6000) ** 3).astype(int)], axis=1),
        )
        for name in "pqr"
    ]
    facts = FactBase.from_relations([f"c{number}" for number in range(3000)], relations)
    language = Language("p/2", inequality=False)
    one = census_on_disk(written(facts, tmp_path), language, memory_limit=64 << 20)
    two = take_census(facts, language, semantics="rows", method="count")
    assert comparable(one).weights == comparable(two).weights
    assert one.groundings == two.groundings > 10**10


def test_what_cannot_be_counted_on_disk_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no Parquet file"):
        census_on_disk(tmp_path, Language("p/2"))
    pandas.DataFrame({"a": ["x"], "b": ["y"]}).to_parquet(tmp_path / "p.parquet")
    with pytest.raises(ConfigError, match="up to three variables"):
        census_on_disk(tmp_path, Language("p/2", variables=4))
    pandas.DataFrame({"a": ["x"], "b": ["y"], "c": ["z"]}).to_parquet(tmp_path / "w.parquet")
    with pytest.raises(DataError, match="has 3 columns: facts on disk have one or two"):
        census_on_disk(tmp_path, Language("p/2"))
