"""Knowledge bases by preset `paper`: every relation learned, how its rules rank test facts, and the time."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

import numpy as np

from andre.arrays import Bools, Floats
from andre.census import take_census
from andre.completion import CompletionConfig, complete
from andre.errors import DataError
from andre.evaluation import RankReport, Ranks, filtered_ranks
from andre.facts import PYKEEN_SPLITS, FactBase, pykeen_split
from andre.facts.datasets import load
from andre.learning import learn, learnable
from andre.logic import Literal, Rule
from andre.samples import Form, Language
from benchmarks import BENCHMARKS, Tick, parse_names, silent
from benchmarks.paper import LEARNERS, RANKS, RUN_MINUTES
from benchmarks.preset import MOST_BATCHES, PaperRuns
from benchmarks.processes import run_all, worker_pool
from benchmarks.report import Report, Table

#: Rules may have so many variables here: with a fourth, all programs of Nations would take hours.
_VARIABLES = 3


@dataclass(frozen=True)
class Task:
    """A relation of a knowledge base to learn by preset `paper`."""

    dataset: str
    target: str
    variables: int = _VARIABLES
    runs: PaperRuns = field(default_factory=PaperRuns)


@dataclass(frozen=True)
class Learned:
    """What preset `paper` came to."""

    task: Task
    program: tuple[Rule, ...]  #: the most accurate program
    rules: tuple[Rule, ...]  #: all rules of all runs
    seconds: float  #: of one process: census, runs and choice


def training_facts(dataset: str) -> FactBase:
    """The facts that teach: those of PyKEEN's split where it has one."""
    return (pykeen_split(dataset) if dataset in PYKEEN_SPLITS else load(dataset)).select("train")


def learn_task(task: Task, facts: FactBase | None = None) -> Learned:
    """Learn one relation from training facts by preset `paper`; nothing where rows are of one class."""
    began = time.perf_counter()
    facts = training_facts(task.dataset) if facts is None else facts
    language = Language.preset("paper", task.target, variables=task.variables, held_out=False)
    try:
        census = take_census(facts, language, semantics="rows").require_both_classes()
    except DataError:  # every row is of one class, or no candidate tells rows apart
        return Learned(task, (), (), time.perf_counter() - began)
    form = Form(census.space, safe=False, singletons=True)
    result = task.runs.fit(census.to_sample(), form)
    rules = dict.fromkeys(rule for run in result.runs for rule in run.program)
    return Learned(task, tuple(result.program), tuple(rules), time.perf_counter() - began)


@dataclass(frozen=True, eq=False)
class Matrices:
    """The training facts of binary relations as matrices of constants, [n, n] each."""

    n: int
    of: Mapping[str, Bools]

    @classmethod
    def read(cls, facts: FactBase, mark: str = "train") -> Matrices:
        """The facts with a mark."""
        n, tables = len(facts.constants), {}
        for (name, arity), relation in facts.relations.items():
            if arity == 2:
                tables[name] = np.zeros((n, n), dtype=np.bool_)
                tables[name][tuple(relation.codes[relation.marked(mark)].T)] = True
        return cls(n, tables)

    def ways(self, rule: Rule) -> Floats:
        """In how many ways a body of at most one variable beside the head's holds, [n, n].

        Variables range over all constants and may stand for the same one, as in the
        paper's rows, so that a body of negations alone says something too.

        Examples
        --------
        >>> from andre.logic import parse_rule
        >>> p = np.array([[False, True], [False, False]])
        >>> Matrices(2, {"p": p}).ways(parse_rule("h(X, Y) :- p(X, Z), \\\\+ p(Y, Z)."))
        array([[0., 1.],
               [0., 0.]])
        """
        first, second = rule.head.args
        others = [v for v in rule.variables if v not in (first, second)]
        if len(others) > 1:
            raise DataError(f"{rule} has more than three variables: it cannot be counted by two matrices")
        third = others[0] if others else None
        head, one, two = (np.ones((self.n, self.n), dtype=np.bool_) for _ in range(3))
        for literal in rule.body:
            table, places = self._table(literal), set(literal.atom.args)
            if third not in places:
                head &= table if literal.atom.args[0] == first else table.T
            elif first in places:
                one &= table if literal.atom.args[0] == first else table.T
            else:
                two &= table if literal.atom.args[0] == third else table.T
        if third is None:
            return head.astype(np.float64)
        return head * (one.astype(np.float64) @ two.astype(np.float64))

    def _table(self, literal: Literal) -> Bools:
        held = self.of[literal.atom.predicate]
        return ~held if literal.negated else held


def scores_by_rules(rules: Iterable[Rule], known: Matrices, target: str) -> tuple[Floats, Floats]:
    """The score of every pair, [n, n], by the surest rule that holds for it, and by noisy-or of all.

    A rule is as sure as N_r / N_b of its rows, those of the target's arguments.
    """
    facts = known.of[target]
    inside = np.outer(facts.any(axis=1), facts.any(axis=0))
    surest, fails = np.zeros(facts.shape), np.zeros(facts.shape)
    for rule in rules:
        ways = known.ways(rule)
        n_b, n_r = float(ways[inside].sum()), float(ways[facts].sum())
        sure = n_r / n_b if n_b else 0.0
        holds = ways > 0
        surest = np.maximum(surest, sure * holds)
        fails += holds * -math.log1p(-min(sure, 1 - 1e-9))
    return surest, fails


def rank(scores: Mapping[str, Floats], facts: FactBase) -> RankReport:
    """Filtered ranks of the test facts, both arguments asked for in turn."""
    parts = []
    for name, table in scores.items():
        codes = facts.relations[name, 2].codes
        test = codes[facts.relations[name, 2].marked("test")]
        stated = np.zeros(table.shape, dtype=np.bool_)
        stated[tuple(codes.T)] = True
        for start, end in ((0, 1), (1, 0)):
            asked = table if start == 0 else table.T
            known = stated if start == 0 else stated.T
            parts.append(filtered_ranks(asked[test[:, start]], test[:, end], known[test[:, start]]))
    return RankReport.from_ranks(Ranks.concat(parts))


@dataclass(frozen=True)
class Base:
    """A knowledge base by preset `paper`, and by the default settings."""

    dataset: str
    targets: int
    rules: tuple[int, int]  #: of the programs, and of all runs
    seconds: float  #: of the whole, by preset paper
    default_seconds: float  #: the same by the default settings
    programs: RankReport | None  #: test facts ranked by the programs, surest rule; None without test facts
    surest: RankReport | None  #: by all rules of all runs
    noisy: RankReport | None  #: the same by noisy-or
    default: RankReport | None  #: by `andre.complete`

    def ranks_line(self) -> tuple[str, ...]:
        """A line of the table of ranks."""
        others = (_shown(*RANKS[self.dataset][name]) for name in LEARNERS)
        ours = (self.programs, self.surest, self.noisy, self.default)
        return (self.dataset, *others, *(_of_report(report) for report in ours))

    def times_line(self) -> tuple[str, ...]:
        """A line of the table of times."""
        return (
            self.dataset,
            *(f"{minutes:g}" for minutes in RUN_MINUTES[self.dataset]),
            f"{self.seconds / 60:.2f}",
            f"{self.default_seconds / 60:.2f}",
            str(self.targets),
            f"{self.rules[0]} of {self.rules[1]}",
        )


def _shown(mrr: float, *hits: float) -> str:
    """A mean reciprocal rank with its hits.

    Examples
    --------
    >>> _shown(0.831, 79.52, 84.73, 93.81)
    '.831 (79.5/84.7/93.8)'
    """
    return f"{mrr:.3f}".removeprefix("0") + f" ({'/'.join(f'{hit:.1f}' for hit in hits)})"


def _of_report(report: RankReport | None) -> str:
    if report is None:
        return "–"
    return _shown(report.mrr["realistic"], *(100 * hit for hit in report.hits["realistic"].values()))


def judge_base(dataset: str, runs: PaperRuns, workers: int) -> tuple[Base, list[Learned]]:
    """Learn all programs of a base by preset `paper` and by the default settings, and rank its test facts."""
    began, taught = time.perf_counter(), training_facts(dataset)
    targets = learnable(taught)[0]
    # Those with most rows take longest: begun last, one would keep all processes waiting.
    targets.sort(key=lambda target: -math.prod(len(np.unique(end)) for end in taught.named(target).codes.T))
    learned = run_all(learn_task, [Task(dataset, target, runs=runs) for target in targets], workers)
    seconds = time.perf_counter() - began
    began = time.perf_counter()
    with worker_pool(workers) as executor:
        learn(taught, targets, mode="complete", seed=runs.seed, executor=executor)
    default_seconds = time.perf_counter() - began
    reports: list[RankReport | None] = [None] * 4
    if dataset in RANKS:
        facts = pykeen_split(dataset)
        known = Matrices.read(facts)
        tables: list[dict[str, Floats]] = [{}, {}, {}]
        for each in learned:
            name = each.task.target.removesuffix("/2")
            tables[0][name], _ = scores_by_rules(each.program, known, name)
            tables[1][name], tables[2][name] = scores_by_rules(each.rules, known, name)
        for (name, _), relation in facts.relations.items():  # those too thin to learn: all candidates tie
            for table in tables:
                if relation.count("test"):
                    table.setdefault(name, np.zeros((known.n, known.n)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of relations with few facts
            done = complete(facts, CompletionConfig(seed=runs.seed))
        reports = [*(rank(table, facts) for table in tables), done.evaluate("test")]
    counts = sum(len(each.program) for each in learned), sum(len(each.rules) for each in learned)
    return Base(dataset, len(learned), counts, seconds, default_seconds, *reports), learned


def bench_programs(
    datasets: str | None = None, seed: int = 0, device: str = "cpu", workers: int = 1, tick: Tick = silent
) -> Report:
    """Learn every relation of some bases, named with commas, by preset `paper`; all if not given."""
    names = parse_names(datasets, tuple(RUN_MINUTES), "dataset")
    began = time.perf_counter()
    bases, learned = [], []
    for name in names:
        base, own = judge_base(name, PaperRuns(seed, device), workers)
        bases.append(base)
        learned += own
        tick(len(bases), len(names))
    ranked = tuple(base.ranks_line() for base in bases if base.surest is not None)
    tables = [Table("MRR (Hits@1/3/10, %) of the test facts", _RANKS, ranked)] if ranked else []
    times = tuple(base.times_line() for base in bases)
    return Report(
        name="kb-paper",
        title=BENCHMARKS["kb-paper"].title,
        protocol=_PROTOCOL,
        settings={"seed": seed, "bases": ", ".join(names), "device": device, "workers": workers},
        seconds=time.perf_counter() - began,
        tables=(*tables, Table("Minutes for all programs", _TIMES, times)),
        data={
            "bases": [asdict(base) for base in bases],
            "targets": [
                {
                    "dataset": each.task.dataset,
                    "target": each.task.target,
                    "seconds": each.seconds,
                    "program": [str(rule) for rule in each.program],
                    "rules": [str(rule) for rule in each.rules],
                }
                for each in learned
            ],
        },
    )


_RANKS = (
    "base", *LEARNERS[:-1], "paper", "preset paper: programs", "preset paper: all rules",
    "preset paper: all rules, noisy-or", "default",
)  # fmt: skip
_TIMES = (
    "base", *LEARNERS[:-1], "paper", "preset paper", "default", "targets", "rules: of programs, of all runs",
)  # fmt: skip
_PROTOCOL = (
    "Every relation with two training facts or more is learned by preset `paper` from all its rows, three "
    "variables, 500 epochs, three restarts of one to four subrules. A batch has 128, 512 or 4,096 rows, as "
    f"in the paper's table of settings: the smallest that makes at most {MOST_BATCHES} steps an epoch, else "
    "the largest. Nations and UMLS learn from PyKEEN's train facts. The paper does not say how rules rank "
    "facts, nor how ties count; here a candidate scores the N_r/N_b of the surest rule that holds for it, of "
    "the programs alone or of all rules that a run came to, or noisy-or of these; ranks are filtered and "
    "realistic. *Default* ranks by `andre.complete` without gradient descent, as in the section on ranks. "
    "Minutes are of the whole on a machine, census and choice included: of the other learners as the paper "
    "has them, ANDRE's on a GeForce RTX 5090, and ours on the processes and the device named below, one base "
    "after another; *default* is `andre.learn` on the same processes without the device."
)
