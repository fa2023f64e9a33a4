"""`andre bench kb`: its parts by name, each a function from options to a report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from andre.errors import ConfigError
from benchmarks.knowledge import bench_accuracy, parse_datasets
from benchmarks.output import Report
from benchmarks.parallel import Tick
from benchmarks.ranking import bench_ranking, parse_names
from benchmarks.ranking_trial import BASES, POOLS
from benchmarks.regions import bench_regions
from benchmarks.run_times import TIMED, bench_times

__all__ = ["PARTS", "KbOptions", "parse_parts"]


@dataclass(frozen=True)
class KbOptions:
    """What a part of the benchmark is told."""

    datasets: str | None = None  #: names with commas; None: all that the part knows
    seed: int = 0
    workers: int = 1
    tick: Tick | None = None
    out: Path | None = None  #: where figures go


def _accuracy(options: KbOptions) -> Report:
    return bench_accuracy(parse_datasets(options.datasets), options.seed, options.workers, options.tick)


def _countries(options: KbOptions) -> Report:
    return bench_regions(options.seed)


def _time(options: KbOptions) -> Report:
    names = TIMED if options.datasets is None else tuple(options.datasets.split(","))
    if unknown := [name for name in names if name not in TIMED]:
        raise ConfigError(f"there is no {unknown[0]!r} to time: choose among {', '.join(TIMED)}")
    return bench_times(names, options.workers)


def _ranking(options: KbOptions) -> Report:
    bases = parse_names(options.datasets, BASES)
    return bench_ranking(bases, POOLS, options.seed, options.workers, options.tick, out=options.out)


#: The parts by name; another is added by a line.
PARTS: dict[str, Callable[[KbOptions], Report]] = {
    "ranking": _ranking,
    "accuracy": _accuracy,
    "countries": _countries,
    "time": _time,
}


def parse_parts(text: str | None) -> tuple[str, ...]:
    """The parts named with commas; None is all.

    Examples
    --------
    >>> parse_parts("time,accuracy")
    ('time', 'accuracy')
    """
    if text is None:
        return tuple(PARTS)
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in PARTS:
            raise ConfigError(f"there is no part {name!r}: choose among {', '.join(PARTS)}")
    return names
