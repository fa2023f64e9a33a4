"""Figures show what the code computes, and stay small."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from andre.samples import SYNTHETIC_TASKS
from benchmarks.figures import (
    FIGURES,
    census,
    draw_figures,
    fixpoint,
    loss_shapes,
    plot_recovery,
    selection,
    semantics,
)
from benchmarks.visual import Trial, report_on


def lines(figure):
    return {
        line.get_label(): (np.asarray(line.get_xdata()), np.asarray(line.get_ydata()))
        for axes in figure.axes
        for line in axes.get_lines()
    }


def test_every_figure_is_written_and_small(tmp_path):
    paths = draw_figures(tmp_path)
    assert {path.stem for path in paths} == set(FIGURES)
    for path in paths:
        assert path.read_text().startswith("<?xml")
        assert path.stat().st_size < 100_000


def test_groundings_grow_and_distinct_rows_do_not():
    drawn = lines(census())
    sizes, groundings = drawn["groundings of three variables"]
    np.testing.assert_array_equal(groundings, (sizes - 1) ** 2 * sizes)  # X1, X2 over arguments, X3 over all
    assert len(set(drawn["distinct rows"][1][-3:])) == 1


def test_the_chosen_program_has_the_shortest_description_of_all_drawn():
    drawn = lines(selection())
    chosen = drawn["chosen"][1][0]
    assert chosen <= min(length for _, lengths in drawn.values() for length in lengths)


def test_structure_costs_nothing_where_it_is_right():
    for axes, right in zip(loss_shapes().axes, (1, 2, 3), strict=True):
        (line,) = axes.get_lines()
        assert np.interp(right, line.get_xdata(), line.get_ydata()) == pytest.approx(0, abs=1e-3)


def test_only_whole_definitions_derive_everything():
    one_step, at_end = ([bar.get_height() for bar in bars] for bars in fixpoint().axes[0].containers)
    assert one_step[0] == one_step[2] == at_end[2] == 1
    assert at_end[0] == 0
    assert at_end[1] == one_step[1] < 0.5


def test_rows_label_what_no_rule_can_reach():
    drawn = lines(semantics())
    assert (np.diff(drawn["rows: a grounding"][1]) < 0).all()
    assert (drawn["exists: a head atom"][1] == 1).all()


def test_visual_examples_with_figures(tmp_path):
    quick = {"paper": 10, "default": None}  # the paper's 500 epochs would take long
    trials = [
        Trial(example, preset, 0, steps)
        for example in ("grandparent", "four")
        for preset, steps in quick.items()
    ]
    report = report_on(trials)
    report.write(tmp_path)
    summary, programs, listing = report.tables
    assert [row[-3] for row in summary.rows] == ["1/1", "1/1"]
    assert [row[1] for row in programs.rows] == ["preset paper", "default"] * 2
    assert {f"`{rule}`" for rule in SYNTHETIC_TASKS["grandparent"].program} <= {
        row[0] for row in listing.rows
    }
    assert listing.rows[0][1] == "0.6825; 219, 219, 1.0000"
    for rule in report.data["rules"]:  # labels are clean, so the true rules are never wrong
        if rule["preset"] == "default":
            assert rule["n_b"] == rule["n_r"] > 0
    assert len(report.figures) == 12
    for figure in report.figures:
        assert "<svg" in (tmp_path / "benchmarks" / figure.file).read_text()


def test_a_figure_without_uncertain_facts() -> None:
    lines, bars = plot_recovery({"odd": {"0%": 1.0, "10%": 0.5}}).axes
    assert lines.lines[0].get_ydata().tolist() == [100, 50]
    assert not bars.patches
