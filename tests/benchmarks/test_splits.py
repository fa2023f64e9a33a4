"""The page of splits, on a base small enough to see what is right."""

from __future__ import annotations

import pytest
from tests.benchmarks.test_ranking import base

from andre.completion import validation_as_training
from andre.errors import ConfigError
from andre.evaluation import POLICIES
from benchmarks import splits
from benchmarks.splits import PUBLISHED, SPLITS, read_split
from benchmarks.summary import goals_of


@pytest.fixture
def small(monkeypatch):
    """Every split is the small one, and nothing runs in other processes."""
    readers = {
        "pykeen": lambda name: base(),
        "folder": lambda name: base(),
        "joined": lambda n: validation_as_training(base()),
    }
    monkeypatch.setattr(splits, "_READERS", readers)
    monkeypatch.setattr(splits, "run_apart", lambda work, *given: work(*given))


@pytest.mark.usefixtures("small")
def test_every_split_is_measured_and_has_its_sentence():
    report = splits.bench_splits("umls,umls-joined,family")
    ours, others, in_use = report.tables
    assert [row[:2] for row in ours.rows] == [
        ("umls", "train"),
        ("umls", "train with valid"),
        ("umls-joined", "train with valid"),
        ("family", "train"),
        ("family", "train with valid"),
    ]
    for each in report.data["measured"]:
        assert set(each["intervals"]) == set(POLICIES)
        assert each["intervals"]["realistic"]["mean"] == pytest.approx(each["report"]["mrr"]["realistic"])
        assert each["report"]["mrr"]["realistic"] > 0.9
    assert len(others.rows) == len(PUBLISHED)
    assert {row[4] for row in others.rows if row[0] == "wn18rr"} == {"not measured"}
    assert [row[0] for row in in_use.rows if row[-1] == "yes"] == ["umls", "umls-joined", "family"]
    assert [note.partition(" ")[0] for note in report.notes[:2]] == ["umls:", "family:"]
    assert "no figure of others" in report.notes[0]
    assert "RulE (.9840)" in report.notes[1]
    (goal,) = goals_of(report)
    assert goal.goal.startswith("family, the same split")
    assert goal.peer == "RED-GNN: .9920"


def test_what_is_not_to_be_had_cannot_be_asked_for():
    with pytest.raises(ConfigError, match="there is no split 'umls-rnnlogic' here"):
        splits.bench_splits("umls-rnnlogic")


def test_every_published_figure_is_of_a_known_split():
    assert {other.split for other in PUBLISHED} <= set(SPLITS)
    assert all(0 < other.mrr < 1 and other.source for other in PUBLISHED)


@pytest.mark.parametrize("name", [name for name, split in SPLITS.items() if split.source is not None])
def test_sizes_are_those_of_the_files(name, datasets, monkeypatch):
    monkeypatch.setenv("ANDRE_DATA", str(datasets))
    pytest.importorskip("pykeen", reason="pykeen is not installed")
    if SPLITS[name].source == "folder" and not (datasets / name).is_dir():
        pytest.skip(f"the split of {name} is not on this machine")
    facts = read_split(name)
    assert SPLITS[name].sizes == tuple(
        sum(relation.count(mark) for relation in facts.relations.values())
        for mark in ("train", "valid", "test")
    )
