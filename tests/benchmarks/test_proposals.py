"""The table of what gradient descent adds, on a base small enough to see what is right."""

from contextlib import nullcontext
from functools import partial

import pytest
from tests.benchmarks.test_ranking import base

from andre.learning import ProposalConfig
from benchmarks import proposals
from benchmarks.proposals import HEAVIEST, bench_proposals


def test_pools_are_compared_query_by_query_and_with_runs_that_never_move(monkeypatch):
    monkeypatch.setattr(proposals, "pykeen_split", lambda name: base())
    monkeypatch.setattr(proposals, "ProposalConfig", partial(ProposalConfig, steps=20, parts=2, restarts=1))
    monkeypatch.setattr(proposals, "run_apart", lambda work, *given: work(*given))
    monkeypatch.setattr(proposals, "worker_pool", lambda workers: nullcontext())
    report = bench_proposals("nations", seeds=2, workers=1)
    ranks, differences, held = report.tables
    assert [row[1:3] for row in ranks.rows] == [
        ("short bodies", "0"),
        ("gradient only", "0"),
        ("mixed", "0"),
        ("runs that never move", "0"),
        ("short bodies", "1"),
        ("gradient only", "1"),
        ("mixed", "1"),
    ]
    by_pool = {(trial["pool"], trial["seed"]): trial["mrr"] for trial in report.data["trials"]}
    for row, pool in zip(differences.rows[:2], ("mixed", "gradient"), strict=True):
        gap = by_pool[pool, 0] - by_pool["short", 0]
        assert float(row[2].split()[0]) == pytest.approx(gap, abs=1e-4)
    assert differences.rows[2][3] == "–"  # the second seed has no such runs
    assert all(len(row) == 3 + len(HEAVIEST) for row in held.rows)
    assert all(0 < float(share) <= 1 for row in held.rows for share in row[3:])
