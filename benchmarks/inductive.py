"""Inductive splits: rules of one graph rank the facts of another, whose constants are all others."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from andre.completion import CompletionConfig, complete
from andre.errors import DataError
from andre.evaluation import Interval, Negatives, RankReport, Ranks, mean_reciprocal
from andre.facts import read_facts
from benchmarks import BENCHMARKS, Tick, parse_names, silent
from benchmarks.processes import run_all
from benchmarks.ranking import scored_by, with_interval
from benchmarks.report import Report, Table

#: Wrong candidates that each fact is ranked among, as others draw them.
_NEGATIVES = 50

#: Hits@10 among 50 wrong candidates by GraIL (Teru and others, ICML 2020), for each of four sizes of a base.
GRAIL = {
    "WN18RR": (0.825, 0.787, 0.584, 0.734),
    "fb237": (0.642, 0.818, 0.828, 0.893),
    "nell": (0.595, 0.933, 0.914, 0.732),
}
SPLITS = tuple(f"{base}_v{size}" for base in GRAIL for size in (1, 2, 3, 4))


@dataclass(frozen=True)
class Task:
    """One split to be measured."""

    split: str
    seed: int


@dataclass(frozen=True)
class Outcome:
    """What the rules of one graph are worth on the other."""

    split: str
    facts: tuple[int, int, int]  #: to learn from; to read on the other graph; to rank there
    rules: int
    drawn: RankReport  #: among 50 wrong candidates of each side
    all: RankReport  #: among all
    interval: Interval  #: of the realistic MRR among all
    scorer: str
    seconds: float  #: of the processor, reading included


def measure(task: Task) -> Outcome:
    """Learn on the first graph of a split and rank the test facts of the second."""
    began = time.process_time()
    done = complete(read_facts(_folder(task.split), "tsv-splits"), CompletionConfig(seed=task.seed))
    there = done.transferred(read_facts(_folder(f"{task.split}_ind"), "tsv-splits"))
    sides = there.sides("test")
    return Outcome(
        split=task.split,
        facts=(len(done.graph.train), len(there.graph.train), len(there.graph.test)),
        rules=sum(len(features.bodies) for features in there.features.values()),
        drawn=there.evaluate("test", Negatives(_NEGATIVES, task.seed)),
        all=RankReport.from_ranks(Ranks.concat(sides)),
        interval=Interval.of(mean_reciprocal(sides)),
        scorer=scored_by(done),
        seconds=time.process_time() - began,
    )


def _folder(name: str) -> Path:
    """The folder of one graph in `ANDRE_DATA`, as its authors publish it."""
    folder = Path(os.environ.get("ANDRE_DATA", "."), name)
    if not (folder / "train.txt").is_file():
        raise DataError(
            f"there is no {folder / 'train.txt'}: set ANDRE_DATA to the folder data of "
            "github.com/kkteru/grail, which has these splits"
        )
    return folder


def bench_inductive(
    datasets: str | None = None, seed: int = 0, workers: int = 2, tick: Tick = silent
) -> Report:
    """Learn and rank every split in a process of its own."""
    began = time.perf_counter()
    tasks = [Task(split, seed) for split in parse_names(datasets, SPLITS, "split")]
    outcomes = run_all(measure, tasks, workers, tick)
    return Report(
        name="inductive",
        title=BENCHMARKS["inductive"].title,
        protocol=_PROTOCOL,
        settings={"seed": seed, "splits": ", ".join(task.split for task in tasks), "workers": workers},
        seconds=time.perf_counter() - began,
        tables=(_table(outcomes),),
        data={"splits": [asdict(outcome) for outcome in outcomes]},
    )


def _table(outcomes: Sequence[Outcome]) -> Table:
    columns = (
        "split", "facts: learned from, read there, ranked", "rules", "Hits@10 of 50", "GraIL",
        "optimistic/pessimistic", "MRR of all", "Hits@1/10 of all", "scored by", "processor s",
    )  # fmt: skip
    return Table(
        "Ours, realistic ranks of test facts on the other graph", columns, tuple(map(_line, outcomes))
    )


def _line(outcome: Outcome) -> tuple[str, ...]:
    base, size = outcome.split.rsplit("_v", 1)
    drawn, ours = outcome.drawn.hits, outcome.all.hits["realistic"]
    return (
        outcome.split,
        ", ".join(f"{count:,}" for count in outcome.facts),
        f"{outcome.rules:,}",
        _percent(drawn["realistic"][10]),
        _percent(GRAIL[base][int(size) - 1]),
        f"{_percent(drawn['optimistic'][10])}/{_percent(drawn['pessimistic'][10])}",
        with_interval(outcome.interval),
        f"{_percent(ours[1])}/{_percent(ours[10])}",
        outcome.scorer,
        f"{outcome.seconds:.0f}",
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


_PROTOCOL = (
    "The twelve inductive splits of Teru and others: rules are learned on the train facts of one graph, its "
    "validation facts choose how they are scored, and the test facts of another graph are ranked, which has "
    "the same relations and other constants; its train facts are what rules read there. *Hits@10 of 50* "
    "ranks each side of a fact among 50 wrong candidates that are drawn, as those who publish on these "
    "splits do, with the mean of tied ranks; beside it are the best and the worst case of ties. *Of all* "
    "ranks among all candidates, other known facts filtered. GraIL's column is that of its paper (ICML "
    "2020), on candidates drawn otherwise."
)
