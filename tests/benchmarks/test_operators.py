"""Operators against the true minimum and maximum, and the ablation."""

from __future__ import annotations

import numpy as np

from benchmarks.operators import (
    CELLS,
    OPERATORS,
    bench_ablation,
    bench_operators,
    memberships,
    operator_curves,
)
from benchmarks.paper import ABLATION


def test_ablation_sets_apart_operators_and_pipelines():
    report = bench_ablation("R1:50", seeds=1)
    overall, gradient, full = report.tables
    assert [row[:3] for row in overall.rows] == [
        (operator, pipeline, f"{ABLATION[operator]:.2f}" if operator in ABLATION else "–")
        for pipeline in ("gradient only", "full")
        for operator in OPERATORS
    ]
    assert len(gradient.rows) == len(full.rows) == 1
    assert "(1/1)" in full.rows[0][2]
    assert len(CELLS) == 14


def test_the_ablation_by_preset_paper_has_one_pipeline():
    report = bench_ablation("R1:20", seeds=1, preset="paper")
    overall, by_cell = report.tables
    assert report.name == "ablation-paper"
    assert [row[:2] for row in overall.rows] == [(operator, "preset paper") for operator in ABLATION]
    assert len(by_cell.rows) == 1


def test_operators_are_measured_against_the_truth():
    x = np.linspace(0, 1, 101)
    assert ((memberships(x) >= 0) & (memberships(x) <= 1)).all()
    low, high = operator_curves(x)
    assert (low.found["product"] <= low.exact + 1e-5).all()
    assert (high.found["product"] >= high.exact - 1e-5).all()
    assert (low.found["attention"] >= low.exact - 1e-5).all()
    assert (high.found["attention"] <= high.exact + 1e-5).all()
    sharper = operator_curves(x, beta=60.0)
    for curves, closer in zip((low, high), sharper, strict=True):
        errors = [np.abs(each.found["attention"] - each.exact).mean() for each in (curves, closer)]
        assert errors[1] < errors[0]


def test_operators_draw_their_figure(tmp_path):
    report = bench_operators()
    assert [figure.file for figure in report.figures] == ["operators.svg"]
    report.write(tmp_path)
    assert "<svg" in (tmp_path / "benchmarks" / "operators.svg").read_text()
