"""The table of the census: totals where datasets are at hand, and growth."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import census
from benchmarks.census import bench_census, random_graph
from benchmarks.processes import run_apart


def test_totals_equal_the_papers(datasets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANDRE_DATA", str(datasets))
    monkeypatch.setattr(census, "run_apart", lambda work, *given: work(*given))
    report = bench_census(facts=1000)
    lines = {line[0]: line for line in report.tables[0].rows}
    assert [line[5] for name, line in lines.items() if name != "wn18rr"] == ["yes"] * 6
    assert len(report.tables[1].rows) == 1


def test_work_in_a_fresh_process_comes_back() -> None:
    assert run_apart(abs, -3) == 3


def test_graphs_grow_as_asked() -> None:
    for size in (1_000, 20_000):
        assert 0.9 * size < len(random_graph(size)) <= size
