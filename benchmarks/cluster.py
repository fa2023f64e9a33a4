"""A dask cluster: what more workers bring."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

import numpy as np

from andre.completion import Completion, CompletionConfig, complete
from andre.evaluation import RankReport
from andre.facts import FactBase, Relation
from benchmarks import BENCHMARKS, Tick, silent
from benchmarks.report import Report, Table, mark

#: Settings under which a base of thousands of facts is learned by directions, in seconds.
_SETTINGS = {"smoothing": (5.0,), "penalties": (10.0,), "chains": 0}


def planted_graph(constants: int, seed: int = 0) -> FactBase:
    """Six relations drawn with hubs, and for each one that holds where it and the next follow one another.

    Of the facts of the latter a tenth is marked valid and a tenth test.

    Examples
    --------
    >>> planted_graph(1000).relations["twice0", 2].count("test") > 30
    True
    """
    rng = np.random.default_rng(seed)
    steps = [
        np.unique(
            np.stack(
                [
                    rng.integers(constants, size=constants),
                    (constants * rng.random(constants) ** 2).astype(int),
                ],
                axis=1,
            ),
            axis=0,
        )
        for _ in range(6)
    ]
    relations = [Relation(f"step{number}", pairs) for number, pairs in enumerate(steps)]
    for number, first in enumerate(steps):
        second = steps[(number + 1) % len(steps)]  # its rows are in order
        place = np.minimum(np.searchsorted(second[:, 0], first[:, 1]), len(second) - 1)
        follows = second[place, 0] == first[:, 1]
        pairs = np.unique(np.stack([first[follows, 0], second[place[follows], 1]], axis=1), axis=0)
        marks = rng.choice(3, size=len(pairs), p=[0.8, 0.1, 0.1]).astype(np.uint8)
        relations.append(Relation(f"twice{number}", pairs, mark=marks))
    return FactBase.from_relations(range(constants), relations)


@dataclass(frozen=True)
class Shared:
    """What it took some workers to complete a graph."""

    workers: int
    seconds: float
    own: float  #: processor seconds of the process that hands out tasks
    busiest: float  #: of the worker with most
    everyone: float  #: of all workers together
    mrr: float  #: of test facts
    same: bool  #: whether rules, choices and ranks are those of one process without a cluster

    @property
    def at_best(self) -> float:
        """Processor seconds one after another, had every worker a core of its own."""
        return self.own + self.busiest


def bench_cluster(facts: int = 25_000, seed: int = 0, workers: int = 2, tick: Tick = silent) -> Report:
    """Complete a drawn graph in one process, and on clusters of 1, 2, 4 ... workers of one thread each."""
    began, counts = time.perf_counter(), _powers(workers)
    base, config = planted_graph(facts // 9, seed), CompletionConfig.read({**_SETTINGS, "seed": seed})
    alone = complete(base, config)
    tick(1, 1 + len(counts))
    found = []
    for count in counts:
        found.append(_share(base, config, count, alone))
        tick(1 + len(found), 1 + len(counts))
    return Report(
        name="cluster",
        title=BENCHMARKS["cluster"].title,
        protocol=_PROTOCOL,
        settings={"facts": len(base), "seed": seed, "workers": workers, "clusters": counts},
        seconds=time.perf_counter() - began,
        tables=(_table(found),),
        data={"workers": [asdict(one) for one in found]},
    )


def _powers(most: int) -> list[int]:
    """1, 2, 4 and so on, and the most itself.

    Examples
    --------
    >>> _powers(6)
    [1, 2, 4, 6]
    """
    return sorted({min(2**power, most) for power in range(most.bit_length() + 1)})


def _share(base: FactBase, config: CompletionConfig, count: int, alone: Completion) -> Shared:
    with _cluster(count) as client:
        client.run(import_module, "andre.completion")  # a worker that has been at work has it loaded
        before = client.run(time.process_time)
        began, own = time.perf_counter(), time.process_time()
        done = complete(base, config, executor=client)
        seconds, own = time.perf_counter() - began, time.process_time() - own
        after = client.run(time.process_time)
        used = [after[worker] - before[worker] for worker in before]
        report = done.evaluate("test")
    return Shared(
        workers=count,
        seconds=seconds,
        own=own,
        busiest=max(used),
        everyone=sum(used),
        mrr=report.mrr["realistic"],
        same=_same(done, report, alone),
    )


def _same(done: Completion, report: RankReport, alone: Completion) -> bool:
    """Whether two completions have the same rules with the same counts, and rank alike."""
    return done.rules == alone.rules and done.choices == alone.choices and report == alone.evaluate("test")


@contextmanager
def _cluster(count: int) -> Iterator[Any]:
    distributed: Any = import_module("distributed")
    with (
        distributed.LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def _table(found: Sequence[Shared]) -> Table:
    columns = (
        "workers", "s", "processor s: client", "busiest worker", "all workers", "speed-up with a core each",
        "MRR", "as without a cluster",
    )  # fmt: skip
    first = found[0]
    lines = tuple(
        (
            str(one.workers),
            f"{one.seconds:.1f}",
            f"{one.own:.1f}",
            f"{one.busiest:.1f}",
            f"{one.everyone:.1f}",
            f"{first.at_best / one.at_best:.2f}",
            f"{one.mrr:.4f}".lstrip("0"),
            mark(one.same),
        )
        for one in found
    )
    return Table("Workers of a cluster on this machine", columns, lines)


_PROTOCOL = (
    "A drawn graph: six relations with hubs, and six that follow from two of them each, a tenth of whose "
    "facts is valid and a tenth test. Each of 24 directions is a task of a dask cluster on this machine. Its "
    "workers are processes of one thread that have the library loaded. *s* is wall time, which other work "
    "on the machine lengthens; the processor seconds of client and busiest worker, one after the other, "
    "are what it would be with a core for each worker, and the *speed-up* is read off these. What is learned "
    "must be what one process learns without a cluster: the same rules and counts, and the same ranks."
)
