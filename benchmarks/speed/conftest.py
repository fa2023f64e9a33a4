"""Collects what the speed benchmarks measure into reports, which `--out` keeps."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import datasets

from benchmarks import BENCHMARKS
from benchmarks.pages import write_pages
from benchmarks.report import Report, Table, mark
from benchmarks.speed import TIMED

__all__ = ["datasets"]  # shared with the tests


@dataclass(frozen=True)
class Ratio:
    """One thing against another, both measured in the same run."""

    what: str
    reference: str
    ours: str
    ratio: float
    goal: str = ""
    met: bool | None = None

    def line(self) -> tuple[str, ...]:
        return (self.what, self.reference, self.ours, f"{self.ratio:.3g}", self.goal or "–", mark(self.met))


@dataclass
class Ratios:
    """What a session has measured."""

    began: float = field(default_factory=time.perf_counter)
    found: list[Ratio] = field(default_factory=list)

    def add(
        self,
        benchmark: Any,
        what: str,
        measured: tuple[str, str],
        ratio: float,
        *,
        at_least: float | None = None,
        at_most: float | None = None,
    ) -> None:
        """Keep a ratio, in pytest-benchmark's own output too; `measured` is the reference and ours."""
        benchmark.extra_info[what] = ratio
        goal, met = "", None
        if at_least is not None:
            goal, met = f"at least {at_least:g}", ratio >= at_least
        if at_most is not None:
            goal, met = f"at most {at_most:g}", ratio <= at_most
        self.found.append(Ratio(what, *measured, ratio, goal, met))

    def report(self) -> Report:
        columns = ("what", "reference", "ours", "ratio", "goal", "met")
        table = Table(
            "Ratios, each measured in one run", columns, tuple(ratio.line() for ratio in self.found)
        )
        return Report(
            name="speed",
            title=BENCHMARKS["speed"].title,
            protocol=_PROTOCOL,
            settings={"seed": 0},
            seconds=time.perf_counter() - self.began,
            tables=(table,),
            data={ratio.what: ratio.ratio for ratio in self.found},
        )


_PROTOCOL = (
    "Times are the best of several, taken in one process where they are compared. A pass is forward and "
    "backward through the conjunction layer. The *plain* form is the paper's formulas as they stand, on one "
    "tensor of rows, subrules and atoms; *blocked* is the library's direct form, in blocks of rows. Memory "
    "is the high-water mark of a fresh process during one pass, inputs included, less what it held before."
)
_TIMES = (
    "Best of the rounds named, in one process. Graphs are random; datasets are the public files. "
    "*peak_bytes* is the process's high-water mark. The last closure is that of 20,000 random edges over "
    "10,000 nodes, with DuckDB held to 4 GB. `./dev bench times --no-long` leaves out what takes minutes."
)
_KEY = pytest.StashKey[Ratios]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--out", type=Path, help="write the ratios to OUT/benchmarks/speed.json, and the pages")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_KEY] = Ratios()


@pytest.fixture
def ratios(request: pytest.FixtureRequest) -> Ratios:
    return request.config.stash[_KEY]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    measured, out = config.stash[_KEY], config.getoption("--out")
    reports = [measured.report()] if measured.found else []
    times = _times(config)
    if times.data:
        reports.append(times)
    for report in reports:
        terminalreporter.write_line(report.markdown())
        if out is not None:
            report.write(out)
            write_pages(out)


def _times(config: pytest.Config) -> Report:
    """Plain times of what has nothing to be compared with: reading, inference, census."""
    lines = []
    session = getattr(config, "_benchmarksession", None)
    for bench in [] if session is None else session.benchmarks:
        room = Path(bench.fullname.split("::")[0]).stem.removeprefix("test_")
        if room in TIMED:
            what = bench.name.removeprefix("test_").replace("_", " ")
            notes = ", ".join(f"{key} {value:,}" for key, value in bench.extra_info.items())
            lines.append((room, what, f"{bench.stats.min:.3g}", str(bench.stats.rounds), notes))
    table = Table("Best times", ("room", "what", "s", "rounds", "notes"), tuple(lines))
    return Report(
        name="times",
        title=BENCHMARKS["times"].title,
        protocol=_TIMES,
        settings={"seed": 0},
        seconds=sum(float(line[2]) for line in lines),
        tables=(table,),
        data={f"{room}: {what}": float(seconds) for room, what, seconds, *_ in lines},
    )


@pytest.fixture(scope="session")
def best() -> Callable[..., list[float]]:
    """The shortest times of some actions, taken in turns so that a busy machine slows all alike."""

    def measure(*actions: Callable[[], object], rounds: int) -> list[float]:
        times = [float("inf")] * len(actions)
        for _ in range(rounds):
            for place, action in enumerate(actions):
                began = time.perf_counter()
                action()
                times[place] = min(times[place], time.perf_counter() - began)
        return times

    return measure
