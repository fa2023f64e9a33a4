"""The census: the paper's row totals, and how time and memory grow with the facts."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass

import numpy as np

from andre.census import take_census
from andre.errors import DataError
from andre.facts import FactBase, Relation
from andre.facts.datasets import load
from andre.memory import peak_megabytes
from andre.samples import Language
from benchmarks import BENCHMARKS, Tick, silent
from benchmarks.processes import run_apart
from benchmarks.report import Report, Table, mark

#: Facts of the graphs by which growth is shown.
SIZES = (10**4, 10**5, 10**6, 10**7)

#: Dataset, target, variables, and the paper's rows for training and test together.
_TOTALS = (
    ("countries_s1", "locatedIn", 3, 1_907_766),
    ("countries_s2", "locatedIn", 3, 1_496_364),
    ("nations", "blockpositionindex", 4, 38_416),
    ("umls", "isa", 3, 753_272),
    ("uw_cse", "advisedby", 3, 4_290_741),
    ("alzheimers_amine", "great_ne", 3, 48_775),
    ("wn18rr", "_hypernym", 3, None),
)


@dataclass(frozen=True)
class Taken:
    """One census, taken in a process of its own."""

    name: str
    facts: int
    groundings: int
    rows: int
    distinct: int
    seconds: float  #: reading the facts included
    megabytes: float  #: the process's high-water mark


def random_graph(n_facts: int, seed: int = 0) -> FactBase:
    """Facts of ten relations over a tenth as many constants, with hubs: ends follow a power law.

    Examples
    --------
    >>> random_graph(1000)
    FactBase(995 facts, 10 relations, 100 constants)
    """
    rng = np.random.default_rng(seed)
    n = max(100, n_facts // 10)
    relations = []
    for number in range(10):
        starts = rng.integers(n, size=n_facts // 10)
        ends = (n * rng.random(n_facts // 10) ** 2).astype(np.int64)
        relations.append(Relation(f"r{number}", np.stack([starts, ends], axis=1)))
    return FactBase.from_relations(range(n), relations)


def bench_census(facts: int = 10**7, tick: Tick = silent) -> Report:
    """Take the census of the paper's targets, and of random graphs of growing size."""
    began = time.perf_counter()
    sizes = [size for size in SIZES if size <= facts] or [facts]
    work = len(_TOTALS) + len(sizes)
    known: list[Taken] = []
    totals = []
    for done, (name, target, variables, rows) in enumerate(_TOTALS, 1):
        taken = run_apart(_of_dataset, name, target, variables)
        known += [taken] if taken else []
        totals.append((name, target, str(variables), *_total(taken, rows)))
        tick(done, work)
    grown: list[Taken] = []
    for size in sizes:
        grown.append(run_apart(_of_graph, size))
        tick(len(_TOTALS) + len(grown), work)
    lines = tuple(
        (f"{t.facts:,}", f"{t.groundings:.3g}", f"{t.distinct:,}", f"{t.seconds:.1f}", f"{t.megabytes:,.0f}")
        for t in grown
    )
    columns = (
        "dataset", "target", "variables", "the paper's rows", "ours", "equal", "groundings", "distinct", "s",
        "MB",
    )  # fmt: skip
    return Report(
        name="census",
        title=BENCHMARKS["census"].title,
        protocol=_PROTOCOL,
        settings={"seed": 0, "sizes": sizes},
        seconds=time.perf_counter() - began,
        tables=(
            Table("Row totals, preset paper", columns, tuple(totals)),
            Table("Growth on random graphs", ("facts", "groundings", "distinct rows", "s", "MB"), lines),
        ),
        data={"totals": [asdict(t) for t in known], "growth": [asdict(t) for t in grown]},
    )


def _total(taken: Taken | None, rows: int | None) -> tuple[str, ...]:
    """The paper's number of rows beside ours, and what ours took; a dataset may not be at hand."""
    if taken is None:
        return ("not at hand", *["–"] * 6)
    return (
        "–" if rows is None else f"{rows:,}",
        f"{taken.rows:,}",
        "–" if rows is None else mark(rows == taken.rows),
        f"{taken.groundings:,}",
        f"{taken.distinct:,}",
        f"{taken.seconds:.2f}",
        f"{taken.megabytes:,.0f}",
    )


def _of_dataset(name: str, target: str, variables: int) -> Taken | None:
    began = time.perf_counter()
    try:
        facts = load(name)
    except DataError:  # neither here nor to be had
        return None
    return _taken(name, facts, Language.preset("paper", target, variables=variables), began)


def _of_graph(size: int) -> Taken:
    facts = random_graph(size)
    return _taken(f"{size:,} facts", facts, Language.preset("paper", "r0/2"), time.perf_counter())


def _taken(name: str, facts: FactBase, language: Language, began: float) -> Taken:
    census = take_census(facts, language, semantics="rows", memory_limit=4 << 30)
    return Taken(
        name,
        len(facts),
        int(census.groundings),
        int(census.n_examples),
        census.distinct,
        time.perf_counter() - began,
        peak_megabytes() or float("nan"),
    )


_PROTOCOL = (
    "The rows of a target as the paper counts them: preset `paper`, semantics `rows`; groundings less the "
    "positives of rows whose atoms are all false. *s* is one run in a fresh process on what is named below, "
    "reading included for datasets; *MB* is that process's high-water mark, Python and libraries included. "
    "Random graphs have ten relations over a tenth as many constants, ends by a power law, three variables, "
    "target r0; DuckDB is held to 4 GB. No grounding is listed."
)
