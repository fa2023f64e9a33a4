"""Graphs of real size: ranks of missing facts, and what time and memory they take."""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from andre.completion import CompletionConfig, complete
from andre.evaluation import Interval, RankReport, Ranks, mean_reciprocal
from andre.facts import PYKEEN_SPLITS, pykeen_split
from andre.facts.datasets import load_split
from benchmarks import BENCHMARKS, Tick, parse_names, silent
from benchmarks.processes import peak_bytes, run_apart, worker_pool
from benchmarks.ranking import scored_by, with_interval
from benchmarks.report import Report, Table

DATASETS = ("fb15k-237", "wn18rr", "family", "nations", "umls", "kinship")

#: What there is to compare with: base, learner, MRR, how it was come by.
OTHERS = (
    ("fb15k-237", "AnyBURL", ".230", "100 s of learning, 167 s in all, on two busy cores of the same kind"),
    ("fb15k-237", "AnyBURL", ".348", "published, with hours of learning"),
    ("wn18rr", "AnyBURL", ".4975", "SAFRAN, AKBC 2021"),
    ("wn18rr", "RulE", ".519", "Tang and others, RulE, ACL Findings 2024"),
    ("wn18rr", "NBFNet", ".551", "Zhu and others, NeurIPS 2021"),
    ("family", "RulE", ".984", "Tang and others, RulE, ACL Findings 2024"),
)


@dataclass(frozen=True)
class Outcome:
    """What came of one base."""

    base: str
    facts: int  #: to learn from
    directions: int
    rules: int
    test: RankReport
    interval: Interval  #: of the realistic MRR
    valid_mrr: float  #: of the scoring that was chosen
    scorer: str
    learning: float  #: seconds
    ranking: float  #: seconds, of the test facts
    processor: float  #: seconds of all processes together
    peak: int  #: bytes of the largest process


def attempt(base: str, seed: int, workers: int) -> Outcome:
    """Complete a base from its train facts and rank its test facts."""
    facts = pykeen_split(base) if base in PYKEEN_SPLITS else load_split(base)
    began, config = time.perf_counter(), CompletionConfig(seed=seed)
    with worker_pool(workers) as executor:
        done = complete(facts, config, executor=executor)
    learned = time.perf_counter()
    sides = done.sides("test")
    return Outcome(
        base=base,
        facts=len(done.graph.train),
        directions=len(done.features),
        rules=sum(len(features.bodies) for features in done.features.values()),
        test=RankReport.from_ranks(Ranks.concat(sides)),
        interval=Interval.of(mean_reciprocal(sides)),
        valid_mrr=max(choice.mrr for choice in done.choices),
        scorer=scored_by(done),
        learning=learned - began,
        ranking=time.perf_counter() - learned,
        processor=_processor_seconds(),
        peak=peak_bytes(),
    )


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def bench_graphs(datasets: str | None = None, seed: int = 0, workers: int = 2, tick: Tick = silent) -> Report:
    """Complete every base in a process of its own, which shares its directions out among the workers."""
    bases = parse_names(datasets, DATASETS, "dataset")
    began, outcomes = time.perf_counter(), list[Outcome]()
    for done, base in enumerate(bases, 1):
        outcomes.append(run_apart(attempt, base, seed, workers))
        tick(done, len(bases))
    return Report(
        name="graphs",
        title=BENCHMARKS["graphs"].title,
        protocol=_PROTOCOL,
        settings={"seed": seed, "bases": ", ".join(bases), "workers": workers},
        seconds=time.perf_counter() - began,
        tables=(_ours(outcomes), _others(bases)),
        data={"bases": [asdict(outcome) for outcome in outcomes]},
    )


def _ours(outcomes: Sequence[Outcome]) -> Table:
    columns = (
        "base", "train facts", "directions", "rules", "MRR", "Hits@1/10", "valid MRR", "scored by",
        "s learning", "s ranking", "processor s", "peak MB",
    )  # fmt: skip
    return Table("Ours, realistic ranks of test facts", columns, tuple(map(_line, outcomes)))


def _line(outcome: Outcome) -> tuple[str, ...]:
    hits = outcome.test.hits["realistic"]
    return (
        outcome.base,
        f"{outcome.facts:,}",
        str(outcome.directions),
        f"{outcome.rules:,}",
        with_interval(outcome.interval),
        f"{100 * hits[1]:.1f}/{100 * hits[10]:.1f}",
        f"{outcome.valid_mrr:.4f}".lstrip("0"),
        outcome.scorer,
        f"{outcome.learning:.1f}",
        f"{outcome.ranking:.1f}",
        f"{outcome.processor:.0f}",
        f"{outcome.peak / 2**20:,.0f}",
    )


def _others(bases: Sequence[str]) -> Table:
    columns = ("base", "learner", "MRR", "how it was come by")
    return Table("Others", columns, tuple(row for row in OTHERS if row[0] in bases))


_PROTOCOL = (
    "Official splits of FB15k-237 and WN18RR, NeuralLP's of Family, PyKEEN's of Nations, UMLS and Kinship. "
    "Rules come from train facts, validation facts choose how they are scored, and no test fact is read "
    "before the end. Both sides of every test fact are asked for, other known facts are filtered, and ties "
    "have their mean rank. In brackets are 95% intervals by 2,000 bootstrap samples of the test facts. Each "
    "base has a process of its own, whose workers learn the directions of a large base (a relation asked "
    "from one side); *processor s* is of all of them together and of both stages, *peak MB* is that of the "
    "largest process."
)
