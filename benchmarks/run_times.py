"""The run-time table: all programs of a knowledge base, by `learn` on every relation."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from multiprocessing import get_context

from andre.facts import FactBase
from andre.facts.datasets import load
from andre.learning import learn, learnable
from benchmarks.output import Report, Table
from benchmarks.paper import RUN_MINUTES

__all__ = ["TIMED", "RunTime", "bench_times", "time_all"]


#: Knowledge bases that are timed: those of the paper's table, and two more.
TIMED = (*RUN_MINUTES, "kinship", "wn18rr")
#: Seconds of NeuralLP, ten epochs, on two cores such as ours were measured on.
_NEURALLP_SECONDS = {"nations": 31, "umls": 74, "kinship": 37}


@dataclass(frozen=True)
class RunTime:
    """How long all programs of a knowledge base took."""

    dataset: str
    short: bool  #: whether short bodies were pooled with those of runs
    targets: int
    rules: int
    seconds: float  #: of the whole, the start of processes and the census included
    megabytes: float  #: the peak of the largest process so far
    slowest: str  #: target
    slowest_seconds: float

    def line(self) -> tuple[str, ...]:
        """A line of the table."""
        minutes = RUN_MINUTES.get(self.dataset, (None, None, None))
        andre, dforl, neural, here = map(_shown, (*minutes, _NEURALLP_SECONDS.get(self.dataset)))
        return (
            self.dataset,
            "mixed pool" if self.short else "gradient only",
            str(self.targets),
            str(self.rules),
            neural,
            dforl,
            andre,
            f"{self.seconds / 60:.2f}",
            f"{self.seconds:.1f}",
            f"{self.megabytes:,.0f}",
            here,
            f"{self.slowest} {self.slowest_seconds:.1f} s",
        )


def time_all(dataset: str, workers: int, facts: FactBase | None = None, *, short: bool = True) -> RunTime:
    """Learn every relation in mode complete."""
    facts = load(dataset) if facts is None else facts
    targets, _ = learnable(facts)
    began = time.perf_counter()
    # A forked process would inherit torch's threads in an unusable state.
    pool = nullcontext() if workers == 1 else ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    with pool as executor:
        theory = learn(facts, targets, mode="complete", executor=executor, short_bodies=short)
    seconds = time.perf_counter() - began
    slowest = max(theory, key=lambda definition: definition.seconds)
    return RunTime(
        dataset=dataset,
        short=short,
        targets=len(targets),
        rules=len(theory.program),
        seconds=seconds,
        megabytes=_peak(),
        slowest=slowest.target,
        slowest_seconds=slowest.seconds,
    )


def _peak() -> float:
    """The most memory that this process or one of its children has held, megabytes."""
    most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return most / (1 << 20 if sys.platform == "darwin" else 1 << 10)  # bytes there, kilobytes elsewhere


def bench_times(datasets: Sequence[str] = TIMED, workers: int = 1) -> Report:
    """Time knowledge bases, one after the other."""
    began = time.perf_counter()
    found = [time_all(dataset, workers, short=short) for dataset in datasets for short in (False, True)]
    return Report(
        name="kb-times",
        title="Knowledge bases: time for all programs",
        protocol=_PROTOCOL,
        settings={"workers": workers},
        seconds=time.perf_counter() - began,
        tables=(Table("Minutes for all programs", _COLUMNS, tuple(one.line() for one in found)),),
        data={"times": [asdict(one) for one in found]},
    )


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


_COLUMNS = (
    "dataset",
    "rules from",
    "targets",
    "rules",
    "NeuralLP",
    "DFORL",
    "paper",
    "ours",
    "ours, s",
    "peak MB",
    "NeuralLP here, s",
    "slowest target",
)
_PROTOCOL = (
    "Every relation with at least two training facts is learned in mode complete, three variables, by the "
    "default settings, targets shared out among processes: from the rules of runs alone, and mixed with all "
    "bodies of one and two literals, as is the default. Times are of the whole: census, runs, choice, "
    "and the start of the processes. The other columns are the paper's, on its machine (ANDRE on an RTX "
    "5090), but for *NeuralLP here*: ten epochs on two cores such as these. *Peak MB* is the most that the "
    "largest process had held by then."
)
