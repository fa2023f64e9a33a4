"""Figures: of the tables, drawn from what they hold, and of the documentation's concept pages.

The latter are drawn by the code that they explain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from andre.arrays import Floats
from andre.census import Semantics, take_census
from andre.completion import ReliabilityBin
from andre.evaluation import CrispSample, program_length
from andre.facts import TASKS, FactBase
from andre.inference import infer
from andre.learning import Config, fit, plot_probabilities, save_figure
from andre.logic import Atom, Constant, Program, Rule, parse_program
from andre.model import LossConfig, losses
from andre.samples import SYNTHETIC_TASKS, Language
from benchmarks.visual import Trial, attempt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours that all eyes can tell apart (after Okabe and Ito); dashes and shapes say the same in print.
_BLUE, _ORANGE, _GREEN, _PINK, _SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9"
_COLOURS = (_BLUE, _ORANGE, _GREEN, _PINK, "#E69F00", _SKY, "#000000")
_DASHES = (("-", "o"), ("--", "s"), ("-.", "^"), (":", "D"))


@dataclass(frozen=True, eq=False)
class Curves:
    """One panel of `plot_operators`."""

    title: str
    x: Floats  #: [places]
    inputs: Floats  #: what the operators join, [functions, places]
    exact: Floats  #: the true value, [places]
    found: Mapping[str, Floats]  #: the operators' values by name, [places] each


def plot_operators(panels: Sequence[Curves]) -> Figure:
    """Draw one panel for every set of curves, side by side.

    Examples
    --------
    >>> x = np.linspace(0, 1, 3)
    >>> both = np.stack((x, 1 - x))
    >>> panel = Curves("minimum", x, both, both.min(axis=0), {"product": both.prod(axis=0)})
    >>> figure = plot_operators([panel])
    >>> [axes.get_title() for axes in figure.axes]
    ['minimum']
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5 * len(panels), 3.6), layout="constrained")
    for place, panel in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), place + 1)
        for line in panel.inputs:
            axes.plot(panel.x, line, color="0.85", linewidth=1)
        axes.plot(panel.x, panel.exact, color="black", linewidth=2.5, alpha=0.5, label="true value")
        for (name, line), colour, (dashes, _) in zip(panel.found.items(), _COLOURS, cycle(_DASHES)):
            axes.plot(panel.x, line, color=colour, linestyle=dashes, label=name)
        axes.set(title=panel.title, xlabel="x", ylim=(-0.02, 1.02), xlim=(0, 1))
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return figure


def plot_recovery(shares: Mapping[str, Mapping[str, float]]) -> Figure:
    """Draw a line for every task over the conditions that are percentages, and bars over the others.

    Parameters
    ----------
    shares
        From 0 to 1, by task and condition; all tasks have the same conditions.

    Examples
    --------
    >>> figure = plot_recovery({"odd": {"0%": 1.0, "20%": 0.9, "uncertain target": 1.0}})
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['labels turned over', '']
    """
    from matplotlib.figure import Figure

    conditions = list(next(iter(shares.values())))
    flipped = [name for name in conditions if name.endswith("%")]
    others = [name for name in conditions if name not in flipped]
    figure = Figure(figsize=(8.4, 3.4), layout="constrained")
    lines, bars = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    width = 0.8 / len(shares)
    styles = zip(cycle(_COLOURS[:4]), cycle(_DASHES), strict=False)
    for place, ((task, found), (colour, (dashes, shape))) in enumerate(
        zip(shares.items(), styles, strict=False)
    ):
        x = [float(name.rstrip("%")) for name in flipped]
        y = [100 * found[name] for name in flipped]
        lines.plot(x, y, color=colour, linestyle=dashes, marker=shape, label=task, clip_on=False, zorder=3)
        where = [at + (place - (len(shares) - 1) / 2) * width for at in range(len(others))]
        bars.bar(where, [100 * found[name] for name in others], 0.9 * width, color=colour)
    lines.set(xlabel="labels turned over", ylabel="seeds recovered", ylim=(0, 103))
    lines.set_xticks(x, flipped)
    lines.set_yticks(range(0, 101, 25), [f"{share}%" for share in range(0, 101, 25)])
    bars.set_xticks(range(len(others)), others)
    for axes in (lines, bars):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="0.9", linewidth=0.8)
        axes.set_axisbelow(True)
    figure.legend(*lines.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return figure


def plot_reliability(curves: Mapping[str, Sequence[ReliabilityBin]]) -> Figure:
    """Draw the share of facts over the mean confidence of every bin, one line for each name.

    Parameters
    ----------
    curves
        The bins of a `Reliability` by name.

    Examples
    --------
    >>> figure = plot_reliability({"nations": [ReliabilityBin(0.2, 0.1, 40), ReliabilityBin(0.8, 0.7, 9)]})
    >>> figure.axes[0].get_xlabel()
    'confidence of the best rule'
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.plot((0, 1), (0, 1), color="0.8", linewidth=0.8, zorder=1)
    styles = zip(cycle(_COLOURS), cycle(_DASHES), strict=False)
    for (name, bins), (colour, (dashes, shape)) in zip(curves.items(), styles, strict=False):
        x, y = [part.confidence for part in bins], [part.share for part in bins]
        axes.plot(x, y, color=colour, linestyle=dashes, marker=shape, label=name, clip_on=False, zorder=3)
    axes.set(
        xlabel="confidence of the best rule", ylabel="share of validation facts", xlim=(0, 1), ylim=(0, 1)
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    if curves:
        figure.legend(loc="outside right upper", frameon=False)
    return figure


def draw_figures(folder: Path) -> list[Path]:
    """Write every figure into a folder, as SVG.

    Examples
    --------
    >>> sorted(FIGURES)
    ['census', 'fixpoint', 'loss-shapes', 'rule-space', 'schedule', 'selection', 'semantics']
    """
    return [save_figure(draw(), folder / f"{name}.svg") for name, draw in FIGURES.items()]


def rule_space() -> Axes:
    """What the subrules of a learned network include, negate and exclude."""
    return plot_probabilities(attempt(Trial("four", "default", seed=0)))


def loss_shapes() -> Figure:
    """The three losses of structure, by how often a variable is expected to occur in a body."""
    usage = torch.linspace(0, 4, 401)
    each, mask = usage[:, None, None], torch.ones(len(usage), 1)  # one run, subrule and variable per point
    config = LossConfig()
    curves = {
        "range-restricted": losses.range_restricted(each, mask, config.surplus),
        "connected": losses.connected(each, mask, config),
        "digitization": losses.digitization(each, mask),
    }
    figure, panels = _panels(3)
    for axes, (name, line), colour in zip(panels, curves.items(), (_BLUE, _ORANGE, _GREEN), strict=True):
        axes.plot(usage, line, color=colour, linewidth=2)
        axes.set(title=name, xlabel="expected occurrences", xticks=range(5))
    panels[0].set_ylabel("loss")
    return figure


def schedule() -> Figure:
    """How much every loss weighs over training, as a share of its largest weight."""
    progress = np.linspace(0, 1, 101)
    weights = [losses.schedule(float(share), LossConfig()) for share in progress]
    figure, (axes,) = _panels(1)
    styles = ((_BLUE, "-"), (_ORANGE, "--"), (_GREEN, "-"), (_PINK, "--"), (_SKY, ":"))
    for name, (colour, dashes) in zip(weights[0], cycle(styles), strict=False):
        line = np.array([at[name] for at in weights])
        label = f"{name.replace('_', ' ')}, at most {line.max():g}"
        axes.plot(progress, line / line.max(), color=colour, linestyle=dashes, linewidth=2, label=label)
    axes.set(xlabel="share of training", ylabel="share of largest weight")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def census() -> Figure:
    """Groundings and distinct rows of a family of chains that grows."""
    sizes = (4, 6, 9, 14, 20, 30, 45)
    counted = []
    for size in sizes:
        people = [Constant(f"p{number}") for number in range(size)]
        facts = FactBase.from_facts(Atom("parent", pair) for pair in pairwise(people))
        found = take_census(facts, Language.preset("paper", "parent/2"), semantics="rows")
        counted.append((found.groundings, found.distinct))
    groundings, distinct = zip(*counted, strict=True)
    figure, (axes,) = _panels(1)
    axes.plot(sizes, groundings, "o-", color=_ORANGE, label="groundings of three variables")
    axes.plot(sizes, distinct, "s-", color=_BLUE, label="distinct rows")
    axes.set(xlabel="people in a chain of parents", yscale="log")
    axes.legend(frameon=False)
    return figure


def selection() -> Figure:
    """Descriptions of what single runs found, of the chosen program, and of no rule at all."""
    task = SYNTHETIC_TASKS["R6"]
    sample = task.sample(1000, noise=0.2, seed=0)
    result = fit(sample, Config.preset(restarts=4, rounds=2))
    figure, (axes,) = _panels(1)
    sizes = [run.program.n_literals for run in result.runs]
    axes.plot(sizes, [run.length for run in result.runs], "o", color=_SKY, alpha=0.7, label="single runs")
    axes.plot([0], [result.empty_length], "s", color="0.4", label="no rule")
    target = program_length(CrispSample.of(sample), task.space.encode(task.program))
    axes.plot([task.program.n_literals], [target], "D", color=_GREEN, markersize=11, label="the true program")
    axes.plot([result.program.n_literals], [result.length], "x", color="black", markersize=9, label="chosen")
    axes.set(xlabel="literals", ylabel="description length, nats")
    axes.legend(frameon=False)
    return figure


def semantics() -> Figure:
    """The share of positive examples that a true rule covers: groundings as examples, and head atoms."""
    sizes = (3, 5, 9, 15, 25)
    shares: dict[Semantics, list[float]] = {"rows": [], "exists": []}
    rule = parse_program("grand(X1,X2) :- parent(X1,X3), parent(X3,X2).")
    language = Language("grand/2", recursion=False, inequality=False)
    for size in sizes:
        people = [Constant(f"p{number}") for number in range(size)]
        facts = FactBase.from_facts(
            [Atom("parent", pair) for pair in pairwise(people)]
            + [Atom("grand", pair) for pair in zip(people, people[2:], strict=False)]
        )
        for kind, share in shares.items():
            sample = CrispSample.of(take_census(facts, language, semantics=kind).to_sample())
            covered = sample.body_counts(sample.space.encode(rule))[0, 0]
            share.append(float(covered / sample.totals[0]))
    figure, (axes,) = _panels(1)
    axes.plot(sizes, shares["rows"], "o-", color=_ORANGE, label="rows: a grounding")
    axes.plot(sizes, shares["exists"], "o-", color=_BLUE, label="exists: a head atom")
    axes.set(xlabel="people in a chain of parents", ylabel="positives that the true rule covers")
    axes.set_ylim(0, 1.05)
    axes.legend(frameon=False)
    return figure


def fixpoint() -> Figure:
    """What programs for a family's relatedness derive in one step from all facts, and from parents alone."""
    task = TASKS["relatedness"]
    facts, key = task.train(), ("related", 2)
    known = len(facts.relations[key])
    parents = replace(facts, relations={("parent", 2): facts.relations["parent", 2]})
    circle = "related(X,Y) :- related(X,Z), related(Z,Y)."
    base = "related(X,Y) :- parent(X,Y). related(X,Y) :- parent(Y,X)."
    programs = {"a circle": circle, "base cases": base, "both": f"{base} {circle}"}
    one, end = [], []
    for text in programs.values():
        program = parse_program(text)
        sample = facts.relations[key].codes
        steps = [infer(_under("step", rule), facts) for rule in program]
        found = np.max([model.probabilities(("step", 2), sample) for model in steps], axis=0)
        one.append(float((found > 0.5).sum() / known))
        derived = infer(program, parents)
        end.append(float((derived.probabilities(key, sample) > 0.5).sum() / known))
    figure, (axes,) = _panels(1)
    places = np.arange(len(programs))
    axes.bar(places - 0.2, one, 0.38, color=_SKY, label="one step, all facts read")
    axes.bar(places + 0.2, end, 0.38, color=_BLUE, label="fixpoint, from parents alone")
    axes.set_xticks(places, list(programs))
    axes.set_ylabel("share of related pairs derived")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def _under(name: str, rule: Rule) -> Program:
    """A rule under another head name: it reads the facts of its old head, and is applied once."""
    return Program((Rule(Atom(name, rule.head.args), rule.body),))


def _panels(count: int) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.4 * count if count > 1 else 6.4, 3.2), layout="constrained")
    panels = [figure.add_subplot(1, count, place + 1) for place in range(count)]
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="0.9", linewidth=0.8)
        axes.set_axisbelow(True)
    return figure, panels


FIGURES: dict[str, Callable[[], Axes | Figure]] = {
    "rule-space": rule_space,
    "loss-shapes": loss_shapes,
    "schedule": schedule,
    "census": census,
    "selection": selection,
    "semantics": semantics,
    "fixpoint": fixpoint,
}
