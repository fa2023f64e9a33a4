"""Graphs of real size: ranks of missing facts, and what time and memory they take."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np

from andre.completion import Completion, CompletionConfig, as_rule, complete
from andre.errors import DataError
from andre.evaluation import Interval, RankReport, Ranks, mean_reciprocal
from andre.facts import PYKEEN_SPLITS, pykeen_split
from andre.facts.datasets import load_split
from andre.logic import Atom, Constant, Rule, Variable
from andre.runs import load, save
from benchmarks import BENCHMARKS, Tick, parse_names, silent
from benchmarks.drawn_graphs import DRAWN, draw_graph
from benchmarks.processes import kept_folder, peak_bytes, run_all, run_apart, worker_pool
from benchmarks.ranking import scored_by, with_interval
from benchmarks.report import Report, Table

DATASETS = ("fb15k-237", "wn18rr", "family", "nations", "umls", "kinship", "drawn-1m", "drawn-10m")

#: Seconds and GB for each process that a drawn graph may take, as `--time-limit` and `--memory-limit` give.
_LIMITS = {"time_limit": 1800.0, "memory": 4.0}
#: Processes that learn a drawn graph, at the least.
_WORKERS = 2
#: A planted rule is found if it is among so many surest ones of its relation and side.
_SUREST = 5

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
    planted: int = 0  #: rules that were planted in a drawn graph
    found: int = 0  #: of these
    notes: tuple[str, ...] = ()  #: of the completion

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """What a report says of a base."""
        test = values["test"]
        hits = {
            policy: {int(k): share for k, share in found.items()} for policy, found in test["hits"].items()
        }
        parts = {
            "test": RankReport(**{**test, "hits": hits}),
            "interval": Interval(**values["interval"]),
            "notes": tuple(values["notes"]),
        }
        return cls(**{**values, **parts})


@dataclass(frozen=True)
class Task:
    """One base to be measured."""

    base: str
    seed: int
    workers: int
    folder: str  #: that the run is saved in


@dataclass(frozen=True)
class Question:
    """What it took to ask a saved run one question, in a process of its own."""

    base: str
    pattern: str
    wall: float  #: seconds from start to end of the process
    processor: float  #: seconds


def measure(task: Task) -> Outcome:
    """Complete a base in a process of its own, so that its peak memory is its own."""
    return run_apart(attempt, task)


def attempt(task: Task) -> Outcome:
    """Complete a base from its train facts, save the run, and rank its test facts."""
    base, workers, planted = task.base, task.workers, tuple[Rule, ...]()
    config = CompletionConfig(seed=task.seed)
    if base in DRAWN:
        drawn = draw_graph(DRAWN[base], task.seed)
        facts, planted = drawn.facts, drawn.rules
        config = CompletionConfig.read({"seed": task.seed, **_LIMITS})
    else:
        facts = pykeen_split(base) if base in PYKEEN_SPLITS else load_split(base)
    began = time.perf_counter()
    with worker_pool(workers) as executor:
        done = complete(facts, config, executor=executor)
    learned = time.perf_counter()
    save(done, task.folder)
    saved = time.perf_counter()
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
        ranking=time.perf_counter() - saved,
        processor=_processor_seconds(),
        peak=peak_bytes(),
        planted=len(planted),
        found=sum(_is_found(rule, done) for rule in planted),
        notes=done.notes,
    )


def _is_found(rule: Rule, done: Completion) -> bool:
    """Whether a rule is among the surest ones of its relation, seen from either side."""
    count = len(done.graph.relations)
    step = done.graph.relations.index(rule.head.predicate)
    return any(
        as_rule(body, done.graph, side, done.facts) == rule
        for side in (step, step + count)
        if side in done.features
        for body in done.features[side].bodies[:_SUREST]
    )


def ask(task: Task) -> Question:
    """Ask a saved run for the answers to the first test fact of its largest relation, by the command line."""
    run = load(task.folder)
    assert isinstance(run, Completion)
    relation, start, _ = run.graph.test[np.argmax(np.bincount(run.graph.test[:, 0])[run.graph.test[:, 0]])]
    first = Constant(run.facts.constants[start])
    pattern = f"{Atom(run.graph.relations[relation], (first, Variable('Y')))}"
    before, began = _processor_seconds(), time.perf_counter()
    command = (sys.executable, "-m", "andre", "rank", task.folder, pattern)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return Question(task.base, pattern, time.perf_counter() - began, _processor_seconds() - before)


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def bench_graphs(
    datasets: str | None = None,
    seed: int = 0,
    workers: int = 2,
    earlier: str | None = None,
    tick: Tick = silent,
) -> Report:
    """Complete every base in a process of its own, which shares its directions out among the workers.

    Of an earlier report the bases are taken that are not measured now.
    """
    bases = parse_names(datasets, DATASETS, "dataset")
    kept = {} if earlier is None else _read(Path(earlier), seed, bases)
    began, outcomes, questions = time.perf_counter(), list[Outcome](), list[Question]()
    with TemporaryDirectory() as bare:
        for done, base in enumerate(bases, 1):
            shared = max(workers, _WORKERS) if base in DRAWN else workers
            task = Task(base, seed, shared, str((kept_folder() or Path(bare)) / f"{base}.run"))
            outcomes += run_all(measure, [task], workers=1)
            questions += run_all(ask, [task], workers=1)
            tick(done, len(bases))
    outcomes += [outcome for outcome, _ in kept.values()]
    outcomes.sort(key=lambda outcome: DATASETS.index(outcome.base))
    questions += [question for _, question in kept.values()]
    questions.sort(key=lambda question: DATASETS.index(question.base))
    bases = tuple(outcome.base for outcome in outcomes)
    notes = [f"{one.base}: {note}" for one in outcomes if one.planted for note in one.notes]
    if kept:
        notes.append(f"Taken from an earlier run: {', '.join(kept)}.")
    return Report(
        name="graphs",
        title=BENCHMARKS["graphs"].title,
        protocol=_PROTOCOL,
        settings={"seed": seed, "bases": ", ".join(bases), "workers": workers},
        seconds=time.perf_counter() - began,
        tables=(_ours(outcomes), _asked(questions), _others(bases)),
        notes=tuple(notes),
        data={
            "bases": [asdict(outcome) for outcome in outcomes],
            "questions": [asdict(question) for question in questions],
        },
    )


def _read(path: Path, seed: int, bases: Sequence[str]) -> dict[str, tuple[Outcome, Question]]:
    """What a report says of all bases but these.

    Raises
    ------
    DataError
        Where there is no such report, or it is of another seed.
    """
    if not path.is_file():
        raise DataError(f"there is no report {path}: give the JSON file of an earlier run")
    report = Report.read(json.loads(path.read_text(encoding="utf-8")))
    if report.settings.get("seed") != seed:
        raise DataError(f"{path} is of another seed: measure with its own, {report.settings.get('seed')}")
    outcomes = map(Outcome.read, report.data["bases"])
    questions = (Question(**values) for values in report.data["questions"])
    both = zip(outcomes, questions, strict=True)
    return {outcome.base: (outcome, question) for outcome, question in both if outcome.base not in bases}


def _ours(outcomes: Sequence[Outcome]) -> Table:
    columns = (
        "base", "train facts", "directions", "rules", "MRR", "Hits@1/10", "valid MRR", "scored by",
        "s learning", "s ranking", "processor s", "peak MB", "planted rules",
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
        f"{outcome.found} of {outcome.planted}" if outcome.planted else "–",
    )


def _asked(questions: Sequence[Question]) -> Table:
    rows = ((one.base, one.pattern, f"{one.wall:.1f}", f"{one.processor:.1f}") for one in questions)
    columns = ("base", "question", "s", "processor s")
    return Table("`andre rank RUN QUESTION` from start to end, in a process of its own", columns, tuple(rows))


def _others(bases: Sequence[str]) -> Table:
    columns = ("base", "learner", "MRR", "how it was come by")
    return Table("Others", columns, tuple(row for row in OTHERS if row[0] in bases))


_PROTOCOL = (
    "Official splits of FB15k-237 and WN18RR, NeuralLP's of Family, PyKEEN's of Nations, UMLS and Kinship. "
    "Rules come from train facts, validation facts choose how they are scored, and no test fact is read "
    "before the end. Both sides of every test fact are asked for, other known facts are filtered, and ties "
    "have their mean rank. In brackets are 95% intervals by 2,000 bootstrap samples of the test facts. Each "
    "base has a process of its own, whose workers learn the directions of a large base (a relation asked "
    "from one side); *processor s* is of all of them together and of all stages, *peak MB* is that of the "
    "largest process. Drawn graphs have 200 relations, a hub that a tenth of all facts are about, and 24 "
    "planted rules with one wrong fact in ten; two workers learn them within 30 minutes and 4 GB for each "
    "process, and a planted rule counts as found among the five surest of its relation and side."
)
