"""How time and memory of the classifier grow with the rows and the columns of a table."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from andre.errors import DataError
from andre.estimator import AndreClassifier
from benchmarks import BENCHMARKS, Tick, silent
from benchmarks.processes import is_kept, peak_bytes, run_all, run_apart
from benchmarks.report import Report, Table, mark
from benchmarks.tables_data import load

#: Rows of tables with a hundred columns, and columns of tables with ten thousand rows.
_ROWS, _COLUMNS = (10_000, 100_000, 1_000_000), (10, 100, 1_000)
_WIDTH, _LENGTH = 100, 10_000
#: Bytes that the largest table may take.
_MOST_BYTES = 4 * 10**9
#: The share of labels that are flipped.
_NOISE = 0.1


@dataclass(frozen=True)
class Size:
    """Rows and columns of a drawn table."""

    rows: int
    columns: int
    seed: int


@dataclass(frozen=True)
class Growth:
    """What one fit took, in a process of its own."""

    rows: int
    columns: int
    cpu_seconds: float
    seconds: float  #: by the clock
    peak: int  #: bytes of the process, the table among them
    table: int  #: bytes of the table
    accuracy: float  #: on the rows learned from
    rules: int

    def cells(self) -> tuple[str, ...]:
        """A line of a table."""
        return (
            f"{self.rows:,}",
            f"{self.columns:,}",
            f"{self.cpu_seconds:.1f}",
            f"{self.peak / 1e9:.2f}",
            f"{self.table / 1e9:.2f}",
            f"{self.accuracy:.3f}",
            str(self.rules),
        )


def drawn_table(size: Size) -> tuple[Any, NDArray[np.bool_]]:
    """A DataFrame of numbers and, every fourth column, five levels; labels by three rules, a tenth flipped.

    Examples
    --------
    >>> frame, labels = drawn_table(Size(1000, 8, 0))
    >>> list(frame), labels.shape
    (['n0', 'n1', 'n2', 'c3', 'n4', 'n5', 'n6', 'c7'], (1000,))
    """
    import pandas as pd

    rng = np.random.default_rng(size.seed)
    columns: dict[str, Any] = {}
    for place in range(size.columns):
        if place % 4 == 3:
            levels = rng.integers(0, 5, size.rows)
            columns[f"c{place}"] = pd.Categorical.from_codes(levels, categories=list("abcde"))
        else:
            columns[f"n{place}"] = rng.normal(size=size.rows).astype(np.float32)
    n0, n1, n2, n4 = (columns[name] for name in ("n0", "n1", "n2", "n4"))
    holds = ((n0 > 0.5) & (columns["c3"] != "a")) | ((n1 > 0) & (n2 < -0.5)) | (n4 > 1.5)
    return pd.DataFrame(columns, copy=False), np.asarray(holds ^ (rng.random(size.rows) < _NOISE))


def grow(size: Size) -> Growth:
    """Fit the classifier to a drawn table, and say what it took.

    Examples
    --------
    >>> grow(Size(200, 5, 0)).columns
    5
    """
    return _taken(*drawn_table(size), AndreClassifier(random_state=size.seed))


def fit_adult(rules: Literal["weighted", "crisp"]) -> Growth:
    """Fit the classifier, or the crisp program, to the whole of Adult, and say what it took."""
    return _taken(*load("adult"), AndreClassifier(rules=rules, random_state=0))


def _taken(frame: Any, labels: NDArray[Any], model: AndreClassifier) -> Growth:
    cpu, clock = time.process_time(), time.perf_counter()
    model.fit(frame, labels)
    cpu, clock = time.process_time() - cpu, time.perf_counter() - clock
    rows, columns = frame.shape
    return Growth(
        rows=rows,
        columns=columns,
        cpu_seconds=cpu,
        seconds=clock,
        peak=peak_bytes(),
        table=int(frame.memory_usage(deep=True).sum()),
        accuracy=model.model_.scores[0].fit.accuracy,
        rules=len(model.program_),
    )


def grow_apart(size: Size) -> Growth:
    """What a fit to a drawn table takes in a process of its own."""
    return run_apart(grow, size)


def fit_adult_apart(rules: Literal["weighted", "crisp"]) -> Growth:
    """What a fit to Adult takes in a process of its own."""
    return run_apart(fit_adult, rules)


def bench_growth(rows: int, seed: int, tick: Tick = silent, *, done: bool = False) -> Report:
    """Time and peak memory of the classifier by rows and by columns, each size in a process of its own.

    Parameters
    ----------
    rows
        Of the longest table.
    seed
        Of drawn tables and of learning.
    tick
        Called whenever a size is done.
    done
        Measure nothing, and report what was kept of an earlier start.
    """
    began = time.perf_counter()
    asked = {Size(count, _WIDTH, seed): count * _WIDTH for count in _ROWS if count <= rows}
    asked |= {Size(_LENGTH, count, seed): _LENGTH * count for count in _COLUMNS}
    sizes = sorted(asked, key=asked.__getitem__, reverse=True)  # what takes longest first
    sizes = [size for size in sizes if not done or is_kept(grow_apart, size)]
    taken = dict(zip(sizes, run_all(grow_apart, sizes, 1, tick), strict=True))
    lengths, widths = (
        sorted((size for size in sizes if getattr(size, one) == usual), key=asked.__getitem__)
        for one, usual in (("columns", _WIDTH), ("rows", _LENGTH))
    )
    adult: list[tuple[str, Growth]] = []
    notes: list[str] = []
    ways: list[Literal["weighted", "crisp"]] = ["weighted", "crisp"]
    ways = [way for way in ways if not done or is_kept(fit_adult_apart, way)]
    try:
        adult += zip(ways, run_all(fit_adult_apart, ways, 1), strict=True)
    except DataError as error:
        notes.append(f"Adult is left out: {error}.")
    largest = [one for one in taken.values() if one.rows == _ROWS[-1]]
    tables = [
        Table("Rows", _HEADINGS, tuple(taken[size].cells() for size in lengths)),
        Table("Columns", _HEADINGS, tuple(taken[size].cells() for size in widths)),
        Table(
            "Adult, all rows",
            ("rules are", *_HEADINGS),
            tuple((name, *one.cells()) for name, one in adult),
        ),
        Table(
            "Goal",
            ("goal", "met", "figures"),
            tuple(
                (
                    f"peak memory under 4 GB at {one.rows:,} rows and {one.columns} columns",
                    mark(one.peak < _MOST_BYTES),
                    f"{one.peak / 1e9:.2f} GB",
                )
                for one in largest
            ),
        ),
    ]
    return Report(
        name="tables-growth",
        title=BENCHMARKS["tables-growth"].title,
        protocol=_PROTOCOL,
        settings={"rows": rows, "seed": seed},
        seconds=time.perf_counter() - began,
        tables=tuple(table for table in tables if table.rows),
        notes=tuple(notes),
        data={"sizes": [asdict(one) for one in taken.values()], "adult": [asdict(one) for _, one in adult]},
    )


_HEADINGS = ("rows", "columns", "CPU s", "peak GB", "table GB", "accuracy", "rules")
_PROTOCOL = (
    "`AndreClassifier()` on drawn tables: three of four columns are normal numbers, the others have five "
    "levels; three rules about five of the columns give the labels, of which one in ten is flipped, so that "
    "no accuracy is much above .9. Each fit runs in a process of its own on one thread. Peak memory is that "
    "of the process, with Python, its libraries and the table itself, whose own size stands beside it; "
    "accuracy is on the rows learned from."
)
