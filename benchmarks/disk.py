"""How many facts one machine serves: the census of drawn graphs with hubs, in memory and on disk."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from andre.census import Census, census_on_disk, take_census
from andre.memory import peak_megabytes
from andre.samples import Language
from benchmarks import BENCHMARKS, Tick, silent
from benchmarks.census import random_graph
from benchmarks.processes import run_all, run_apart
from benchmarks.report import Report, Table, mark

#: Facts of the graphs.
SIZES = (10**6, 3 * 10**6, 10**7, 3 * 10**7)
#: More facts than this are counted on disk only: in memory they take half a gigabyte a million.
_IN_MEMORY = 10**7
#: Bytes that DuckDB may take.
_LIMIT = 2 << 30
_LANGUAGE = Language("r0/2", inequality=False)


@dataclass(frozen=True)
class Task:
    """One census to be taken."""

    size: int  #: facts to draw
    where: str  #: memory or disk
    seed: int


@dataclass(frozen=True)
class Counted:
    """One census, taken in a process of its own."""

    facts: int
    where: str  #: memory or disk
    groundings: int
    distinct: int
    positive: float
    seconds: float  #: without drawing and writing the facts
    processor: float  #: of all threads
    megabytes: float  #: the process's high-water mark


def bench_disk(facts: int = 3 * 10**7, seed: int = 0, tick: Tick = silent) -> Report:
    """Take the census of one relation of growing graphs in both ways."""
    began = time.perf_counter()
    sizes = [size for size in SIZES if size <= facts] or [facts]
    work = [
        Task(size, where, seed)
        for size in sizes
        for where in ("memory", "disk")
        if size <= _IN_MEMORY or where == "disk"
    ]
    found = run_all(measure, work, workers=1, tick=tick)
    return Report(
        name="disk",
        title=BENCHMARKS["disk"].title,
        protocol=_PROTOCOL,
        settings={"seed": seed, "sizes": sizes},
        seconds=time.perf_counter() - began,
        tables=(_table(found),),
        data={"counted": [asdict(one) for one in found]},
    )


def measure(task: Task) -> Counted:
    """Take one census in a process of its own; what is counted on disk is drawn and written by another."""
    if task.where == "memory":
        return run_apart(count_in_memory, task.size, task.seed)
    with TemporaryDirectory(prefix="andre-") as folder:
        run_apart(write_graph, task.size, task.seed, Path(folder))
        return run_apart(count_on_disk, Path(folder))


def write_graph(size: int, seed: int, folder: Path) -> None:
    """A drawn graph as Parquet files, one for each relation."""
    for (name, _), relation in random_graph(size, seed).relations.items():
        columns = {"arg1": relation.codes[:, 0].copy(), "arg2": relation.codes[:, 1].copy()}
        with duckdb.connect(":memory:") as database:
            database.execute("SET enable_progress_bar = false")
            database.register("given", columns)
            database.execute(f"COPY (SELECT * FROM given) TO '{folder / name}.parquet' (FORMAT parquet)")


def count_in_memory(size: int, seed: int) -> Counted:
    """The census of a drawn graph that is held."""
    facts = random_graph(size, seed)
    began, used = time.perf_counter(), time.process_time()
    census = take_census(facts, _LANGUAGE, semantics="rows", memory_limit=_LIMIT)
    return _counted(len(facts), "memory", census, began, used)


def count_on_disk(folder: Path) -> Counted:
    """The census of a graph in Parquet files."""
    with duckdb.connect(":memory:") as database:
        (facts,) = database.execute(f"SELECT count(*) FROM read_parquet('{folder}/*.parquet')").fetchall()[0]
    began, used = time.perf_counter(), time.process_time()
    return _counted(int(facts), "disk", census_on_disk(folder, _LANGUAGE, memory_limit=_LIMIT), began, used)


def _counted(facts: int, where: str, census: Census, began: float, used: float) -> Counted:
    return Counted(
        facts=facts,
        where=where,
        groundings=int(census.groundings),
        distinct=census.distinct,
        positive=float(census.positive),
        seconds=time.perf_counter() - began,
        processor=time.process_time() - used,
        megabytes=peak_megabytes() or float("nan"),
    )


def _table(found: Sequence[Counted]) -> Table:
    columns = ("facts", "counted in", "groundings", "distinct rows", "s", "processor s", "peak MB", "equal")
    lines = tuple(
        (
            f"{one.facts:,}",
            one.where,
            f"{one.groundings:.3g}",
            f"{one.distinct:,}",
            f"{one.seconds:.1f}",
            f"{one.processor:.1f}",
            f"{one.megabytes:,.0f}",
            _equal(one, found),
        )
        for one in found
    )
    return Table("Censuses of one relation, three variables", columns, lines)


def _equal(one: Counted, found: Sequence[Counted]) -> str:
    """Whether both ways of counting a graph came to the same."""
    results = [
        (other.groundings, other.distinct, other.positive) for other in found if other.facts == one.facts
    ]
    return mark(results[0] == results[1]) if len(results) == 2 else "–"


_PROTOCOL = (
    "Random graphs of ten relations over a tenth as many constants, whose ends follow a power law, so that "
    "there are hubs. The rows of r0 with three variables are counted in memory, and from files, while "
    "DuckDB is held to 2 GB and spills the rest to disk. *s* is one run in a fresh process, without drawing "
    "the graph; *processor s* is of all threads; *peak MB* is that process's high-water mark, Python and "
    "libraries included, and in memory the graph with what drawing it took."
)
