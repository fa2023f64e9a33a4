"""How far learning goes over its time limit, on data that would take it much longer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from andre.completion import CompletionConfig, complete
from andre.errors import DataError
from andre.facts import TASKS, FactBase, Relation
from andre.learning import Config, fit, learn
from andre.memory import peak_megabytes
from andre.samples import Sample
from benchmarks import BENCHMARKS, Tick, parse_names, silent
from benchmarks.census import random_graph
from benchmarks.processes import run_apart
from benchmarks.report import Report, Table


@dataclass(frozen=True)
class Kept:
    """One limit, and the time that was taken."""

    case: str
    limit: float
    seconds: float  #: of the call, without making or reading the data
    outcome: str
    cut: str  #: stages that were cut short
    megabytes: float  #: the process's high-water mark

    @property
    def ratio(self) -> float:
        """Time taken, of the time allowed."""
        return self.seconds / self.limit


@dataclass(frozen=True)
class Case:
    """Data, the limits it is learned within, and what is done: it gives the outcome and what was cut."""

    limits: tuple[float, ...]
    prepare: Callable[[], Callable[[float], tuple[str, str]]]
    long: bool = False  #: whether it takes minutes


def wide_table(rows: int, columns: int, seed: int = 0) -> Sample:
    """Random Boolean rows of which two conjunctions decide the label, with one label in ten flipped.

    Examples
    --------
    >>> wide_table(50, 8).space.m
    8
    """
    rng = np.random.default_rng(seed)
    table = rng.random((rows, columns)) < 0.5  # [U, m]
    label = (table[:, 0] & ~table[:, 1]) | (table[:, 2] & table[:, 3])
    return Sample.from_arrays(table.astype(np.float64), label ^ (rng.random(rows) < 0.1))


def hub_graph(n_facts: int, hubs: int = 10) -> FactBase:
    """A few constants that all facts share: every two others are connected through one of them.

    Examples
    --------
    >>> hub_graph(1000)
    FactBase(1000 facts, 2 relations, 510 constants)
    """
    leaves = np.arange(n_facts // 2)
    to_hub = np.stack([leaves, len(leaves) + leaves % hubs], axis=1).astype(np.int32)
    of_hub = np.stack([len(leaves) + (leaves + 1) % hubs, leaves], axis=1).astype(np.int32)
    return FactBase.from_relations(
        range(len(leaves) + hubs), [Relation("visits", to_hub), Relation("owns", of_hub)]
    )


def _table(rows: int, columns: int) -> Callable[[float], tuple[str, str]]:
    sample = wide_table(rows, columns)

    def work(limit: float) -> tuple[str, str]:
        result = fit(sample, Config.preset(time_limit=limit))
        accuracy = result.score("train").accuracy
        return f"{len(result.program)} rules, accuracy {accuracy:.3f}", ", ".join(result.cut)

    return work


def _target(facts: FactBase, target: str, **options: Any) -> Callable[[float], tuple[str, str]]:
    def work(limit: float) -> tuple[str, str]:
        try:
            (made,) = learn(facts, target, time_limit=limit, **options)
        except DataError as error:
            if "time limit" not in str(error):
                raise
            return "no program", "counting examples"
        accuracy = made.confusion.accuracy or 0.0
        return f"{len(made.program)} rules, accuracy {accuracy:.3f}", ", ".join(made.result.cut)

    return work


def _task(name: str) -> Callable[[float], tuple[str, str]]:
    task = TASKS[name]
    return _target(task.train(0), task.target, variables=task.variables)


def _ranked(n_facts: int) -> Callable[[float], tuple[str, str]]:
    facts = random_graph(n_facts)

    def work(limit: float) -> tuple[str, str]:
        done = complete(facts, CompletionConfig(time_limit=limit))
        note = done.notes[-1].partition("reached: ")[2] if done.notes else ""
        return f"{len(done.features)} of {done.graph.n_steps} directions", note

    return work


def _small(variables: int) -> Callable[[float], tuple[str, str]]:
    codes = np.random.default_rng(0).integers(20, size=(180, 2), dtype=np.int32)
    relations = [Relation(f"r{number}", codes[number::3]) for number in range(3)]
    return _target(FactBase.from_relations(range(20), relations), "r0/2", variables=variables)


CASES: Mapping[str, Case] = {
    "table of 300 x 2,000": Case((2, 5, 10), lambda: _table(300, 2000)),
    "table of 200,000 x 200": Case((2, 5, 10), lambda: _table(200_000, 200)),
    "table of 1,000,000 x 200": Case((60,), lambda: _table(1_000_000, 200), long=True),
    "hub graph of 1,000,000 facts": Case(
        (10,), lambda: _target(hub_graph(10**6), "visits/2", mode="complete")
    ),
    "180 facts, 6 variables": Case((2, 10), lambda: _small(6)),
    "relatedness": Case((0.02, 0.1, 0.5), lambda: _task("relatedness")),
    "connectedness": Case((0.02, 0.1, 0.5), lambda: _task("connectedness")),
    "grandparent": Case((0.02, 0.1, 0.5), lambda: _task("grandparent")),
    "ranking by 100,000 facts": Case((2, 10), lambda: _ranked(100_000)),
}


def bench_limits(cells: str | None = None, long: bool = True, tick: Tick = silent) -> Report:
    """Learn within time limits that are too short, and measure how far each call goes over."""
    began = time.perf_counter()
    names = [name for name in parse_names(cells, tuple(CASES), "case") if long or not CASES[name].long]
    work = [(name, limit) for name in names for limit in CASES[name].limits]
    kept: list[Kept] = []
    for name, limit in work:
        kept.append(run_apart(measure, name, limit))
        tick(len(kept), len(work))
    columns = ("data", "limit, s", "taken, s", "ratio", "outcome", "cut short", "MB")
    lines = tuple(
        (
            k.case,
            f"{k.limit:g}",
            f"{k.seconds:.2f}",
            f"{k.ratio:.2f}",
            k.outcome,
            k.cut,
            f"{k.megabytes:,.0f}",
        )
        for k in kept
    )
    return Report(
        name="limits",
        title=BENCHMARKS["limits"].title,
        protocol=_PROTOCOL,
        settings={"seed": 0, "long": long},
        seconds=time.perf_counter() - began,
        tables=(Table("Time taken of the time allowed", columns, lines),),
        data={"kept": [asdict(k) for k in kept]},
    )


def measure(name: str, limit: float) -> Kept:
    """Learn one case within a limit, in this process."""
    work = CASES[name].prepare()
    began = time.perf_counter()
    outcome, cut = work(limit)
    return Kept(name, limit, time.perf_counter() - began, outcome, cut, peak_megabytes() or float("nan"))


_PROTOCOL = (
    "Learning within time limits that are too short for the data, default settings, seed 0, each in a fresh "
    "process. *taken* is the wall time of the call to `fit`, `learn` or `complete`, without reading or "
    "making the data, and *ratio* that time over the limit. Tables are random Booleans of which two "
    "conjunctions decide the label, one label in ten flipped. In the hub graph ten constants stand in all "
    "facts, so that every two others are connected. *MB* is the process's high-water mark, Python and "
    "libraries included."
)
