"""The table of filtered ranks, on a base small enough to see what is right."""

from functools import partial

import numpy as np
import pytest

from andre.evaluation import POLICIES
from andre.facts import FactBase, Relation
from andre.learning import ProposalConfig
from benchmarks import ranking
from benchmarks.ranking import POOLS, Trial


def base() -> FactBase:
    """after is the inverse of before; every fifth fact of it is a test fact, every seventh valid."""
    pairs = np.array([[one, one + step] for one in range(20) for step in (1, 2)])
    mark = np.zeros(len(pairs), dtype=np.uint8)
    mark[::7], mark[::5] = 1, 2
    return FactBase.from_relations(
        [f"c{number}" for number in range(22)],
        [Relation("before", pairs), Relation("after", pairs[:, ::-1], mark=mark)],
    )


@pytest.fixture
def small(monkeypatch):
    """Every base is the small one, and nothing runs in other processes."""
    monkeypatch.setattr(ranking, "_facts", lambda name: base())
    monkeypatch.setattr(ranking, "ProposalConfig", partial(ProposalConfig, steps=30))
    monkeypatch.setattr(ranking, "run_apart", lambda work, *given: work(*given))


@pytest.mark.usefixtures("small")
def test_every_pool_finds_an_inverse_and_the_page_says_so(tmp_path):
    pytest.importorskip("matplotlib")
    report = ranking.bench_ranking("nations,wn18rr", seed=1, workers=1)
    trials = report.data["trials"]
    assert [(trial["base"], trial["pool"]) for trial in trials] == [
        (name, pool) for name in ("nations", "wn18rr") for pool in POOLS
    ]
    for trial in trials:
        assert trial["test"]["mrr"]["realistic"] > 0.9
        assert trial["with_valid"]["mrr"]["realistic"] > 0.9
        assert trial["seconds"] >= trial["proposing"]
        assert trial["peak"] > 0
    assert trials[0]["proposed"] == 0 < trials[1]["proposed"] == trials[2]["proposed"]
    # Both names stand for the same facts here, and the same seed gives the same figures.
    figures = [(trial["test"], trial["with_valid"], trial["rules"]) for trial in trials]
    assert figures[: len(POOLS)] == figures[len(POOLS) :]
    others, ours, differences, policies, reliability = report.tables
    assert [row[0] for row in others.rows] == ["nations", "wn18rr"]
    assert [row[:2] for row in differences.rows] == [
        (name, kind) for name in ("nations", "wn18rr") for kind in ("gradient only", "mixed")
    ]
    for trial in trials:
        for policy, interval in trial["intervals"].items():
            assert interval["mean"] == pytest.approx(trial["test"]["mrr"][policy])
            assert interval["low"] <= interval["mean"] <= interval["high"]
    assert len(ours.rows) == len(policies.rows) == len(trials)
    assert len(policies.columns) == 2 + 2 * len(POLICIES)
    assert reliability.rows
    report.write(tmp_path)
    assert (tmp_path / "benchmarks" / "ranking-reliability.svg").is_file()
    assert "drawn by kind" in report.markdown()


@pytest.mark.usefixtures("small")
def test_a_pool_of_gradient_alone_has_nothing_enumerated():
    proposals = ranking.propose_rules("nations", 0, 1)
    outcome = ranking.attempt(Trial("nations", "gradient", 0, proposals))
    assert 0 < outcome.rules <= 2 * len(proposals.train)
    assert ranking.attempt(Trial("nations", "gradient", 0)).rules == 0
