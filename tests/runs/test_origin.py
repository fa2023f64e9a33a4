"""An origin comes back as it was kept, and a model does without one."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andre.errors import CheckpointError
from andre.runs import Origin, TableSource, digest, load_origin, save_origin

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


@given(st.lists(text).map(tuple), st.none() | tables)
def test_an_origin_comes_back(tmp_path_factory, command, table):
    folder = tmp_path_factory.mktemp("run")
    origin = Origin(command, table=table)
    save_origin(origin, folder)
    assert load_origin(folder) == origin


def test_a_table_is_there_as_long_as_it_is_the_same(tmp_path):
    path = tmp_path / "birds.csv"
    path.write_text("wings,bird\n1,1\n0,0\n")
    source = TableSource(str(path), digest(path))
    assert source.is_there
    path.write_text("wings,bird\n1,0\n0,1\n")
    assert not source.is_there
    path.unlink()
    assert not source.is_there


@pytest.mark.parametrize("damage", ["", "{}", "[]", '{"command": 1}'])
def test_damage_is_a_sentence(tmp_path, damage):
    (tmp_path / "origin.json").write_text(damage)
    with pytest.raises(CheckpointError, match="is damaged"):
        load_origin(tmp_path)


def test_a_model_without_origin_has_none(tmp_path):
    assert load_origin(tmp_path) is None
    assert dataclasses.replace(Origin(), command=("andre", "fit", "a b")).line == "andre fit 'a b'"
