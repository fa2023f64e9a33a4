"""The tables: the paper's figures beside ours, counted right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.ablation import CELLS, OPERATORS, bench_ablation
from benchmarks.operators import bench_operators, memberships, operator_curves
from benchmarks.paper import ABLATION, GRANDPARENT, SYNTHETIC, Cell
from benchmarks.synthetic import Summary, bench_synthetic, goal, job, parse_cells
from benchmarks.trial import Trial
from benchmarks.visual import bench_visual
from benchmarks.wide import bench_wide

from andre.errors import ConfigError
from andre.samples import SYNTHETIC_TASKS

_TRIAL = Trial(
    task="R2",
    rows=50,
    noise=0.0,
    seed=0,
    identifiable=True,
    recovered=True,
    alone=0.5,
    excess=0.0,
    train=1.0,
    test=1.0,
    n_runs=16,
    seconds=0.5,
)


def test_the_paper_s_tables_are_whole():
    assert len(SYNTHETIC) == 28
    assert sum(cell.found for cell in SYNTHETIC.values()) == 20  # 11 without noise and 9 with it
    assert sum(cell.found for place, cell in SYNTHETIC.items() if place.noise) == 9
    assert sum(cell.dforl_found for cell in SYNTHETIC.values()) == 3
    # The paper's averages over these cells, as its short table prints them.
    averages = {"R1": 0.92, "R2": 0.94, "R3": 0.90, "R4": 0.73, "R5": 0.71, "R6": 0.75}
    for task, average in averages.items():
        tests = [cell.test for place, cell in SYNTHETIC.items() if place.task == task]
        assert np.mean(tests) == pytest.approx(average, abs=0.0101)
    assert {cell.task for cell in SYNTHETIC} <= set(SYNTHETIC_TASKS)


def test_cells_by_name():
    assert parse_cells(None) == tuple(SYNTHETIC)
    assert parse_cells("R1:20, R5:500:45,R1:20") == (Cell("R1", 20), Cell("R5", 500, 45))
    assert parse_cells("R4:200") == tuple(cell for cell in SYNTHETIC if cell.task == "R4")
    for wrong in ("R7", "R1:2", "", "R"):
        with pytest.raises(ConfigError, match="there is no cell"):
            parse_cells(wrong)


def test_a_summary_counts_identifiable_seeds():
    lost = replace(_TRIAL, recovered=False, excess=3.0)
    blurred = replace(_TRIAL, identifiable=False, recovered=False)
    cell = Cell("R2", 50)
    assert Summary(cell, (_TRIAL, blurred)).met is True
    assert Summary(cell, (blurred,)).met is None
    assert Summary(cell, (*[_TRIAL] * 18, lost)).met is False  # 18 of 19 is just below 95%
    assert Summary(cell, (*[_TRIAL] * 19, lost)).met is True
    assert Summary(Cell("R1", 20), (*[_TRIAL] * 9, lost)).met is True
    line = Summary(cell, (_TRIAL, lost, blurred)).line()
    assert line[6:10] == ("1/3", "2/3", "1/2", "95%")
    assert goal(Cell("R1", 20)) == 0.9


def test_the_paper_s_preset_is_told_of_noise():
    noisy = job(Cell("R5", 500, 25), 0, "paper").config.selection
    clean = job(Cell("R2", 500), 0, "paper").config.selection
    assert (noisy.certainties, noisy.accuracy) == ((0.8,), pytest.approx(0.95 * 0.75))
    assert (clean.certainties, clean.accuracy) == ((0.4,), 0.95)
    assert job(Cell("R5", 500, 25), 0).config.selection == job(Cell("R2", 500), 0).config.selection


def test_synthetic_prints_both_figures():
    report = bench_synthetic(parse_cells("R4:200:10"), seeds=2)
    (table,) = report.tables
    assert [row[:6] for row in table.rows] == [
        ("R4", "200", "10", "0.86 / 0.86", "yes", "yes"),
    ]
    assert [row[6:9] for row in table.rows] == [("2/2", "2/2", "2/2")]
    assert len(report.data["trials"]) == 2
    assert report.settings["seeds"] == "0-1"


def test_ablation_sets_apart_operators_and_pipelines():
    report = bench_ablation((Cell("R1", 50),), seeds=1)
    overall, gradient, full = report.tables
    assert [row[:3] for row in overall.rows] == [
        (operator, pipeline, f"{ABLATION[operator]:.2f}" if operator in ABLATION else "–")
        for pipeline in ("gradient only", "full")
        for operator in OPERATORS
    ]
    assert len(gradient.rows) == len(full.rows) == 1
    assert "(1/1)" in full.rows[0][2]
    assert len(CELLS) == 14


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
    report = bench_operators(tmp_path)
    assert [figure.file for figure in report.figures] == ["operators.svg"]
    assert "<svg" in (tmp_path / "benchmarks" / "operators.svg").read_text()
    assert not bench_operators().figures


def test_visual_examples_with_figures(tmp_path):
    report = bench_visual(seed=0, out=tmp_path)
    summary, listing = report.tables
    assert [row[4] for row in summary.rows] == ["yes", "yes"]
    assert len(listing.rows) == len(GRANDPARENT)
    assert listing.rows[0][1] == "0.6825; 219, 219, 1.0000"
    for rule in report.data["rules"]:  # labels are clean, so the true rules are never wrong
        assert rule["n_b"] == rule["n_r"] > 0
    assert len(report.figures) == 6
    for figure in report.figures:
        assert "<svg" in (tmp_path / "benchmarks" / figure.file).read_text()


def test_wide_names_every_target():
    report = bench_wide(m=12, rows=300, noise=0.0, seeds=2)
    (table,) = report.tables
    assert [row[0] for row in table.rows] == ["0", "1"]
    assert all(row[1].count(":-") == 3 for row in table.rows)
