"""The paper's tables and figures, measured here and printed beside the paper's own, and speed ratios.

`BENCHMARKS` lists them all, and `CHAPTERS` says on which page of docs/benchmarks/ each is published. The
command line, the pages and `./dev bench all` read these lists and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from andre.errors import ConfigError

if TYPE_CHECKING:
    from benchmarks.report import Report

__all__ = ["BENCHMARKS", "CHAPTERS", "Benchmark", "Chapter", "Tick", "parse_names", "silent"]


#: Progress: called with how many of how many pieces of work are done.
Tick = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True)
class Benchmark:
    """One section of a page: its title, the function that measures it, and the published settings.

    The command line says what each setting means; `workers` processes share the work,
    and `tick` is called after every piece that is done.

    Examples
    --------
    >>> BENCHMARKS["operators"].measure().title
    'Operators against minimum and maximum'
    """

    title: str
    function: str  #: `module:function`, imported when it is measured: listing the names loads no torch
    settings: Mapping[str, Any]  #: the function's arguments for the published page; None takes everything

    @property
    def defaults(self) -> dict[str, Any]:
        """The settings of the page, with no more processes than this machine has cores."""
        cores = os.cpu_count() or 1
        return {key: min(value, cores) if key == "workers" else value for key, value in self.settings.items()}

    def measure(self, tick: Tick = silent, **changed: Any) -> Report:
        """Measure with the settings of the page, but for those that are given."""
        module, name = self.function.split(":")
        function = getattr(import_module(f"{__name__}.{module}"), name)
        report: Report = function(**{**self.defaults, **changed}, tick=tick)
        return report


#: Every benchmark by name, in the order that `./dev bench all` measures them in.
BENCHMARKS: dict[str, Benchmark] = {
    "classical": Benchmark(
        "Ten classical tasks",
        "classical:bench_classical",
        {"tasks": None, "seeds": 20, "device": "cpu", "workers": 16},
    ),
    "classical-paper": Benchmark(
        "Ten classical tasks, preset paper",
        "classical_paper:bench_classical_paper",
        {"tasks": None, "seeds": 2, "workers": 2},
    ),
    "noise": Benchmark(
        "Classical tasks under noise",
        "classical:bench_noise",
        {"tasks": None, "seeds": 5, "first": 10, "device": "cpu", "workers": 16},
    ),
    "ilp": Benchmark(
        "Tasks of inductive logic programming",
        "ilp:bench_ilp",
        {"tasks": None, "folds": 5, "workers": 1},
    ),
    "ilp-few": Benchmark(
        "∂ILP's twenty tasks from few facts",
        "ilp:bench_few",
        {"tasks": None, "seeds": 20, "workers": 16},
    ),
    "census": Benchmark(
        "The census",
        "census:bench_census",
        {"facts": 10**7},
    ),
    "disk": Benchmark(
        "Facts in memory and on disk",
        "disk:bench_disk",
        {"facts": 3 * 10**7, "seed": 0},
    ),
    "ranking": Benchmark(
        "Knowledge bases: filtered ranks of missing facts",
        "ranking:bench_ranking",
        {"datasets": None, "pools": None, "seed": 0, "workers": 2},
    ),
    "graphs": Benchmark(
        "Graphs of real size",
        "graphs:bench_graphs",
        {"datasets": None, "seed": 0, "workers": 1, "earlier": None},
    ),
    "inductive": Benchmark(
        "Rules of one graph on another",
        "inductive:bench_inductive",
        {"datasets": None, "seed": 0, "workers": 2},
    ),
    "cluster": Benchmark(
        "A cluster of dask workers",
        "cluster:bench_cluster",
        {"facts": 25_000, "seed": 0, "workers": 2},
    ),
    "proposals": Benchmark(
        "What gradient descent adds to a ranking",
        "proposals:bench_proposals",
        {"datasets": None, "seeds": 2, "workers": 2},
    ),
    "splits": Benchmark(
        "The same split, every tie policy",
        "splits:bench_splits",
        {"datasets": None, "seed": 0},
    ),
    "embeddings": Benchmark(
        "Knowledge bases: an embedding to compare with",
        "embeddings:bench_embeddings",
        {"datasets": None, "seeds": 3, "workers": 16},
    ),
    "kb-paper": Benchmark(
        "Knowledge bases by preset paper: all programs",
        "programs:bench_programs",
        {"datasets": None, "seed": 0, "device": "cpu", "workers": 2},
    ),
    "kb-accuracy": Benchmark(
        "Knowledge bases: accuracy",
        "knowledge:bench_accuracy",
        {"datasets": None, "seed": 1, "device": "cpu", "workers": 16},
    ),
    "kb-listings": Benchmark(
        "Knowledge bases: the printed rules counted again",
        "listings:bench_listings",
        {"datasets": None},
    ),
    "kb-countries": Benchmark(
        "Countries: the region of every held-out country",
        "countries:bench_countries",
        {"seed": 0, "workers": 16},
    ),
    "kb-times": Benchmark(
        "Knowledge bases: time for all programs",
        "knowledge:bench_times",
        {"datasets": None, "workers": 2},
    ),
    "synthetic": Benchmark(
        "Synthetic programs R1-R6",
        "synthetic:bench_synthetic",
        {"cells": None, "preset": "default", "seeds": 20, "device": "cpu", "workers": 16},
    ),
    "synthetic-paper": Benchmark(
        "Synthetic programs R1-R6, preset paper",
        "synthetic:bench_synthetic",
        {"cells": None, "preset": "paper", "seeds": 20, "device": "cpu", "workers": 16},
    ),
    "ablation": Benchmark(
        "Ablation: attention against product operators",
        "operators:bench_ablation",
        {"cells": None, "preset": "default", "seeds": 20, "device": "cpu", "workers": 16},
    ),
    "ablation-paper": Benchmark(
        "Ablation: attention against product operators, preset paper",
        "operators:bench_ablation",
        {"cells": None, "preset": "paper", "seeds": 5, "device": "cpu", "workers": 16},
    ),
    "operators": Benchmark(
        "Operators against minimum and maximum",
        "operators:bench_operators",
        {},
    ),
    "visual": Benchmark(
        "Visual examples",
        "visual:bench_visual",
        {"seeds": 10, "workers": 16},
    ),
    "wide": Benchmark(
        "Wide rule spaces",
        "synthetic:bench_wide",
        {"m": 50, "rows": 5000, "noise": 0.1, "seeds": 10, "device": "cpu", "workers": 10},
    ),
    "tables": Benchmark(
        "Tables as people have them",
        "tables:bench_tables",
        {"tables": None, "learners": None, "seed": 0, "workers": 16, "earlier": None, "done": False},
    ),
    "tables-growth": Benchmark(
        "Tables: growth with rows and columns",
        "tables_growth:bench_growth",
        {"rows": 10**6, "seed": 0, "done": False},
    ),
    "speed": Benchmark(
        "Speed",
        "speed:bench_speed",
        {},
    ),
    "device": Benchmark(
        "A CUDA device",
        "device:bench_device",
        {"rows": 10**6, "device": "cuda", "seed": 0},
    ),
    "limits": Benchmark(
        "Time limits",
        "limits:bench_limits",
        {"cells": None, "long": True},
    ),
    "commands": Benchmark(
        "Limits of commands",
        "commands:bench_commands",
        {},
    ),
    "times": Benchmark(
        "Facts, inference and census",
        "speed:bench_times",
        {"long": True},
    ),
}


@dataclass(frozen=True)
class Chapter:
    """One published page: what it is about, and the benchmarks that are its sections."""

    name: str  #: of its file
    title: str
    about: str
    benchmarks: tuple[str, ...]


#: The pages in their order; every benchmark has its place in one of them.
CHAPTERS: tuple[Chapter, ...] = (
    Chapter(
        "tables",
        "Tables",
        "Classifiers from tables of any columns, beside other rule learners and EBM, and how cost grows.",
        ("tables", "tables-growth"),
    ),
    Chapter(
        "ilp",
        "Inductive logic programming",
        "Programs from few, many or noisy examples, beside Popper.",
        ("ilp", "ilp-few", "noise"),
    ),
    Chapter(
        "graphs",
        "Knowledge graphs",
        "Ranks of missing facts by thousands of rules, beside published figures of others.",
        ("graphs", "ranking", "inductive", "proposals", "embeddings"),
    ),
    Chapter(
        "splits",
        "Splits and ties",
        "What the split of a knowledge graph and the ranks of ties do to figures.",
        ("splits",),
    ),
    Chapter(
        "classical",
        "The paper: classical tasks",
        "The ten classical tasks, by the default settings and by those of the paper.",
        ("classical", "classical-paper"),
    ),
    Chapter(
        "synthetic",
        "The paper: synthetic programs",
        "Programs recovered from drawn rows with and without noise, and what the operators contribute.",
        (
            "synthetic",
            "synthetic-paper",
            "ablation",
            "ablation-paper",
            "operators",
            "visual",
            "wide",
        ),
    ),
    Chapter(
        "knowledge-bases",
        "The paper: knowledge bases",
        "Accuracy, ranks, printed rules and run times of the paper's knowledge bases.",
        ("kb-accuracy", "kb-countries", "kb-paper", "kb-times", "kb-listings"),
    ),
    Chapter(
        "speed",
        "Speed and size",
        "Time and memory of the parts, in memory, on disk, on a graphics card and on a cluster.",
        ("speed", "census", "disk", "times", "device", "cluster"),
    ),
    Chapter(
        "limits",
        "Limits",
        "Time and memory that were taken of what was allowed.",
        ("limits", "commands"),
    ),
)


def parse_names(text: str | None, known: Sequence[str], kind: str) -> tuple[str, ...]:
    """Names with commas between them, each of which must be known; None is all.

    Examples
    --------
    >>> parse_names("odd, son", ("even", "odd", "son"), "task")
    ('odd', 'son')
    """
    if text is None:
        return tuple(known)
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in known:
            raise ConfigError(f"there is no {kind} {name!r} here: choose among {', '.join(known)}")
    return names
