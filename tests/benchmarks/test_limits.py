"""The table of time limits: what it learns, and that it tells limit and time apart."""

from __future__ import annotations

import pytest

from benchmarks import limits
from benchmarks.limits import Case, bench_limits, hub_graph, wide_table


def test_every_limit_of_a_case_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "run_apart", lambda work, *given: work(*given))
    monkeypatch.setattr(limits, "CASES", {"a task": Case((1e-6, 1e6), lambda: limits._task("predecessor"))})
    report = bench_limits(long=False)
    cut, whole = report.tables[0].rows
    assert (cut[4], cut[5]) == ("no program", "counting examples")
    assert (whole[4].endswith("accuracy 1.000"), whole[5]) == (True, "")
    assert float(cut[3]) > 1 > float(whole[3])


def test_a_refusal_for_another_reason_is_no_cut() -> None:
    work = limits._target(hub_graph(100), "visits/2", variables=1)
    with pytest.raises(ValueError, match="variables"):
        work(10.0)


def test_data_are_as_told() -> None:
    assert wide_table(40, 6).space.m == 6
    assert len(hub_graph(200)) == 200
