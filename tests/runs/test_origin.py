"""An origin comes back as it was saved, and a run does without one."""

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andre.errors import CheckpointError
from andre.learning import Config, Result
from andre.logic import Program
from andre.runs import FactSource, Origin, TableSource, digest, load, load_origin, save
from andre.runs.codec import decode, encode
from andre.samples import RuleSpace

RESULT = Result(RuleSpace.from_names(["b1"]), Config(), Program(), 1.0, 1.0, ())

text = st.text(max_size=20)
tables = st.builds(
    TableSource,
    text,
    text,
    text,
    st.none() | text,
    st.lists(text).map(tuple),
    st.none() | text,
    st.integers(0),
)
facts = st.builds(FactSource, text, st.none() | text, text, st.sampled_from(["closed", "open"]))


@given(st.lists(text).map(tuple), st.none() | tables, st.none() | facts)
def test_every_origin_survives_json(command, table, facts):
    origin = Origin(command, table=table, facts=facts)
    assert decode(Origin, json.loads(json.dumps(encode(origin, {}))), {}) == origin


def test_an_origin_comes_back(tmp_path):
    for origin in (
        Origin(("andre", "fit", "größe.csv"), table=TableSource("a.csv", "0f", ignore=("id", "name"))),
        Origin(facts=FactSource("even"), versions={"andre": "0"}, started="then"),
    ):
        save(RESULT, tmp_path, origin)
        assert load_origin(tmp_path) == origin


def test_a_source_is_there_as_long_as_it_is_the_same(tmp_path):
    path = tmp_path / "birds.csv"
    path.write_text("wings,bird\n1,1\n0,0\n")
    sources = (TableSource(str(path), digest(path)), FactSource.of(str(path)))
    assert all(source.is_there for source in sources)
    path.write_text("wings,bird\n1,0\n0,1\n")
    assert not any(source.is_there for source in sources)
    path.unlink()
    assert not any(source.is_there for source in sources)
    assert FactSource.of("even").is_there
    assert FactSource.of(str(tmp_path)).is_there


def test_facts_are_read_again_in_the_world_they_were_learned_in(tmp_path):
    path = tmp_path / "birds.pl"
    path.write_text("bird(tweety).")
    for name in ("even", str(path)):
        for world in ("closed", "open"):
            assert FactSource.of(name, None, world).read().world == world


@pytest.mark.parametrize("damage", ["", [], 7, {"command": 1}, {"table": {"path": "a"}}, {"nothing": 1}])
def test_damage_is_a_sentence(tmp_path, damage):
    save(RESULT, tmp_path, Origin(("andre", "fit")))
    path = tmp_path / "run.json"
    index = json.loads(path.read_text())
    path.write_text(
        json.dumps({**index, "origin": {**index["origin"], **damage} if isinstance(damage, dict) else damage})
    )
    with pytest.raises(CheckpointError, match="is damaged"):
        load_origin(tmp_path)
    assert load(tmp_path).space == RESULT.space


def test_a_run_without_origin_has_none(tmp_path):
    save(RESULT, tmp_path)
    assert load_origin(tmp_path) is None
    assert dataclasses.replace(Origin(), command=("andre", "fit", "a b")).line == "andre fit 'a b'"
