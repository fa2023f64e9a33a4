"""Figures show the numbers they are made of, and are written whole."""

import builtins
import sys

import numpy as np
import pytest

from andre.errors import AndreError, DataError
from andre.learning import Config, Result, fit
from andre.model import LOSSES
from andre.samples import SYNTHETIC_TASKS, RuleSpace

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from andre.learning import plot_accuracy, plot_losses, plot_probabilities, save_figure

TASK = SYNTHETIC_TASKS["grandparent"]


@pytest.fixture(scope="module")
def result():
    config = Config.preset(restarts=2, rounds=1, subrules=(4,))
    return fit(TASK.sample(200, seed=0), config, validation=TASK.sample(50, seed=1))


def lines(axes):
    return {line.get_label(): np.asarray(line.get_ydata()) for line in axes.get_lines()}


@pytest.mark.parametrize("runs", ["best", "mean"])
def test_the_total_is_the_sum_of_the_losses_shown(result, runs):
    shown = lines(plot_losses(result, runs=runs))
    parts = [line for name, line in shown.items() if name.replace(" ", "_") in {loss.name for loss in LOSSES}]
    np.testing.assert_allclose(shown["total"], np.sum(parts, axis=0), rtol=1e-5, atol=1e-6)


def test_the_best_run_is_the_one_whose_weights_are_kept(result):
    best = min(range(len(result.runs)), key=lambda run: result.runs[run].length)
    noted = [look.train[best] for look in result.history if not np.isnan(look.train[best])]
    shown = lines(plot_accuracy(result))
    np.testing.assert_array_equal(shown["train"], noted)
    assert len(shown["validation"]) == len(noted)


def test_without_validation_rows_there_is_one_curve():
    alone = fit(TASK.sample(100, seed=0), Config.preset(restarts=1, rounds=1, subrules=(2,)))
    assert set(lines(plot_accuracy(alone, runs="mean"))) == {"train"}


def test_bars_are_the_softmax_of_the_weights():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(2, 3, 3)) * 3
    axes = plot_probabilities(weights, RuleSpace.from_names(["a", "b(X1,$c$)", "c_1"]))
    wanted = np.exp(weights) / np.exp(weights).sum(axis=2, keepdims=True)
    for panel, p in zip(axes.child_axes, wanted, strict=True):
        widths = np.array([[bar.get_width() for bar in bars] for bars in panel.containers])
        np.testing.assert_allclose(widths, p.T)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["included", "negated", "excluded"]


def test_of_many_atoms_the_likeliest_are_shown():
    weights = np.zeros((1, 50, 3))
    weights[..., 2] = 9
    weights[0, 41, 0] = 20
    axes = plot_probabilities(weights, RuleSpace.from_names([f"b{j}" for j in range(50)]))
    names = [text.get_text() for text in axes.child_axes[0].get_yticklabels()]
    assert len(names) == 30
    assert "b41" in names


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_figures_are_written_the_same_twice(result, tmp_path, ending):
    for name in ("one", "two"):
        save_figure(plot_probabilities(result), tmp_path / "new" / f"{name}.{ending}")
    one, two = ((tmp_path / "new" / f"{name}.{ending}").read_bytes() for name in ("one", "two"))
    assert one == two
    assert len(list((tmp_path / "new").iterdir())) == 2


def test_plots_go_where_they_are_told(result, tmp_path):
    figure = Figure(layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    assert plot_losses(result, ax=left) is left
    assert plot_accuracy(result, ax=middle) is middle
    assert plot_probabilities(result, ax=right) is right
    assert save_figure(figure, tmp_path / "all.png").stat().st_size > 0


def test_what_cannot_be_drawn_is_said(result, tmp_path):
    with pytest.raises(DataError, match="rule space"):
        plot_probabilities(result.weights)
    with pytest.raises(DataError, match="do not fit"):
        plot_probabilities(np.zeros((1, 2, 3)), TASK.space)
    empty = Result(TASK.space, result.config, result.program, 1.0, 1.0, result.scores)
    with pytest.raises(DataError, match="no runs to plot"):
        plot_losses(empty)
    with pytest.raises(AndreError, match=r"end the name in .svg"):
        save_figure(plot_losses(result), tmp_path / "loss.gif")


def test_without_matplotlib_a_sentence_says_how_to_get_it(result, monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(name=name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.delitem(sys.modules, "matplotlib.figure")
    with pytest.raises(AndreError, match=r"pip install 'andre\[plots\]'"):
        plot_losses(result)
