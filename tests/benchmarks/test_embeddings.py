"""The embedding to compare with: what validation facts choose is what is reported."""

from __future__ import annotations

import pytest

from benchmarks import embeddings
from benchmarks.embeddings import PENALTIES, Run, Trained


def test_validation_facts_choose_the_penalty(monkeypatch):
    def train(run):
        rank = PENALTIES.index(run.penalty)  # the second one is the best on valid, the last one on test
        return Trained(run, 10, (0.3, 0.5, 0.4)[rank], (0.1, 0.25 + 0.01 * run.seed, 0.9)[rank], 1.0)

    monkeypatch.setattr(embeddings, "train", train)
    report = embeddings.bench_embeddings("nations", seeds=3, workers=1)
    assert report.tables[0].rows == (
        ("nations", ".2600", ".2500 to .2700", ".5000", "0.01, 0.01, 0.01", "1"),
    )
    assert len(report.data["trained"]) == 9


@pytest.mark.sweep
def test_it_trains():
    """PyKEEN takes many seconds to be imported."""
    pytest.importorskip("pykeen", reason="pykeen is not installed")
    found = embeddings.train(Run("nations", 0, 0.01, epochs=10))
    assert found.epochs == 10
    assert found.test_mrr > 0.3  # 14 candidates in any order give 0.23
