"""What a CUDA device makes of it: the softmin against its limits, small steps, counting, and whole fits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import Tensor

from andre.arrays import Bools, Floats
from andre.evaluation import CrispSample
from andre.learning import Config, Guide, fit
from andre.learning.descent.runs import Batch
from andre.learning.descent.trainer import Trainer
from andre.model.conjunction import Direct, coefficients, features, sum_terms
from andre.model.fused import Fused, can_fuse
from andre.model.operators import SoftminAttention
from andre.samples import Sample, SyntheticTask, random_task
from benchmarks import BENCHMARKS, Tick, silent
from benchmarks.report import Report, Table, mark

#: Columns and subrules of the softmin that is measured, and its sharpness.
_COLUMNS, _RULES, _BETA = 200, 256, 20.0
#: Rows that one pass takes at a time.
_TOGETHER = 1 << 16
#: Passes that a median is taken of.
_PASSES = 9
_NOISE = 0.05

_PROTOCOL = (
    "Medians of nine passes after one that is not counted, by CUDA events on a card and by the clock on the "
    "processor. *Limits* are measured in the same run: a copy of memory, and a kernel that computes nothing "
    "but powers of two. A *pass* of the softmin is over fractional columns; *eager* is the same in torch's "
    "own operations. A *step* is one of gradient descent for sixteen runs. A *fit* is all of `fit` with the "
    "settings of the default preset on a table of three hidden rules and 5% wrong labels, from arrays on."
)


@dataclass(frozen=True)
class Work:
    """One thing that was measured."""

    what: str
    value: float
    unit: str
    goal: float | None = None
    most: bool = True  #: whether the goal is an upper bound

    def cells(self) -> tuple[str, ...]:
        """A line of the table."""
        met = None
        if self.goal is not None:
            met = self.value <= self.goal if self.most else self.value >= self.goal
        return (
            self.what,
            f"{self.value:.4g} {self.unit}",
            "–" if self.goal is None else f"{self.goal:g}",
            mark(met),
        )


def bench_device(rows: int = 10**6, device: str = "cuda", seed: int = 0, tick: Tick = silent) -> Report:
    """Measure a device: what it could do, and what it does."""
    began, place = time.perf_counter(), torch.device(device)
    found: list[Work] = []
    parts = (_limits(place), _softmin(place, rows, seed), _steps(place, seed), _counting(place, rows, seed),
             _fits(place, rows, seed))  # fmt: skip
    for done, part in enumerate(parts, 1):
        found += part
        tick(done, len(parts))
    exps = {work.what: work.value for work in found}
    if "powers of two" in exps and "softmin forward, fused" in exps:
        rate = rows * _COLUMNS * _RULES / exps["softmin forward, fused"] * 1e3
        found.append(
            Work(
                "softmin forward, fused: of the limit",
                100 * rate / exps["powers of two"],
                "%",
                50,
                most=False,
            )
        )
    name = torch.cuda.get_device_name(place) if place.type == "cuda" else "the processor"
    columns = ("work", name, "goal", "met")
    return Report(
        name="device",
        title=BENCHMARKS["device"].title,
        protocol=_PROTOCOL,
        settings={"rows": rows, "device": device, "seed": seed},
        seconds=time.perf_counter() - began,
        tables=(Table(f"Measured on {name}", columns, tuple(work.cells() for work in found)),),
        data={"work": [asdict(work) for work in found]},
    )


def milliseconds(place: torch.device, work: Callable[[], Any], passes: int = _PASSES) -> float:
    """The median time of some work.

    Examples
    --------
    >>> milliseconds(torch.device("cpu"), lambda: None) < 1000
    True
    """
    work()
    return median(_timed(place, work) for _ in range(passes))


def _timed(place: torch.device, work: Callable[[], Any]) -> float:
    if place.type != "cuda":
        began = time.perf_counter()
        work()
        return 1e3 * (time.perf_counter() - began)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    begin.record()
    work()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end))


def _limits(place: torch.device) -> Iterator[Work]:
    """Bytes and exponentials a second."""
    source = torch.rand(1 << 29 if place.type == "cuda" else 1 << 24, device=place)
    target = torch.empty_like(source)
    took = milliseconds(place, lambda: target.copy_(source))
    yield Work("memory, read and written", 2 * source.numel() * 4 / took / 1e6, "GB/s")
    if can_fuse(place):
        from benchmarks.speed.exponentials import raise_all

        count = raise_all(1 << 14)[1]
        yield Work("powers of two", count / milliseconds(place, lambda: raise_all(1 << 14)) * 1e3, "a second")


def _softmin(place: torch.device, rows: int, seed: int) -> Iterator[Work]:
    """One pass over fractional columns, and the memory it takes."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.rand(_COLUMNS, rows, generator=generator).to(place)
    weights = torch.randn(_RULES, 1, _COLUMNS, 3, generator=generator)
    coefs = coefficients(torch.softmax(weights, dim=-1).to(place)).requires_grad_()
    op, every = SoftminAttention(_BETA), torch.arange(_COLUMNS, device=place)
    pieces = [slice(at, min(at + _TOGETHER, rows)) for at in range(0, rows, _TOGETHER)]

    def fused(piece: slice) -> tuple[Tensor, ...]:
        return Fused(every, values[:, piece], known=True).sums(coefs, _BETA, None)

    def eager(piece: slice) -> tuple[Tensor, ...]:
        part = values[:, piece]
        return sum_terms(Direct(every, features(part), 1 << 26), coefs, op, part.shape[1])

    for name, sums in (("fused", fused), ("eager", eager)):
        if name == "fused" and not can_fuse(place):
            continue

        def forward(sums: Callable[[slice], tuple[Tensor, ...]] = sums) -> None:
            with torch.no_grad():
                for piece in pieces:
                    sums(piece)

        def both(sums: Callable[[slice], tuple[Tensor, ...]] = sums) -> None:
            for piece in pieces:
                total, weighted = sums(piece)
                torch.autograd.grad((weighted / total).sum(), coefs)

        passes = _PASSES if name == "fused" else 3
        if place.type == "cuda":
            torch.cuda.reset_peak_memory_stats()
        yield Work(f"softmin forward, {name}", milliseconds(place, forward, passes), "ms")
        yield Work(f"softmin forward and backward, {name}", milliseconds(place, both, passes), "ms")
        if place.type == "cuda":
            peak = torch.cuda.max_memory_allocated() / 2**30
            yield Work(
                f"softmin, {name}: memory, valuations among it", peak, "GiB", 2 if name == "fused" else None
            )


def _steps(place: torch.device, seed: int) -> Iterator[Work]:
    """A step of sixteen runs on few rows, and on many."""
    for rows, m in ((2_000, 10), (2_048, 200)):
        for kind in ("Boolean", "fuzzy"):
            task = random_task(m, 2, seed)
            config = Config.preset(device=str(place), rows=None, patience=None, seed=seed)
            sample = Sample.from_arrays(
                *_drawn(task, rows, seed, boolean=kind == "Boolean"), space=task.space
            )
            trainer = Trainer(sample, config, Guide())
            batches: tuple[Batch, ...] = trainer._train.every
            runs = trainer.start(0)
            steps = 10_000
            took = milliseconds(place, lambda: trainer.descent.step(runs, batches, 0.1, steps), 50)  # noqa: B023
            yield Work(f"step on {rows:,} x {m}, {kind}, launched", took, "ms")
            if trainer.descent.may_replay(runs, batches):
                took = milliseconds(place, lambda: trainer.descent.replayed(runs, batches, steps), 50)  # noqa: B023
                yield Work(f"step on {rows:,} x {m}, {kind}, replayed", took, "ms", 0.3 if m == 10 else None)


def _counting(place: torch.device, rows: int, seed: int) -> Iterator[Work]:
    """What all literals cover beside eight bodies, on the processor and on the device."""
    rng = np.random.default_rng(seed)
    table, labels = rng.random((rows, _COLUMNS)) < 0.5, rng.random(rows) < 0.5
    sample = Sample.from_arrays(table, labels)
    codes = np.zeros((8, _COLUMNS), dtype=np.int8)
    codes[np.arange(8), np.arange(8)] = 1
    for name in (None, str(place)) if place.type == "cuda" else (None,):
        crisp = CrispSample.of(sample, name)
        held = crisp.row_extents(codes)
        took = milliseconds(torch.device("cpu"), lambda: crisp.label_counts(held), 5)  # noqa: B023
        yield Work(f"counting {_COLUMNS} columns beside 8 bodies, {name or 'cpu'}", took, "ms")


def _fits(place: torch.device, rows: int, seed: int) -> Iterator[Work]:
    """Whole fits, whose goals are for a million rows."""
    for kind, m in (("fuzzy", 200), ("Boolean", 500)):
        task = random_task(m, 3, seed)
        table, labels = _drawn(task, rows, seed, boolean=kind == "Boolean")
        began = time.perf_counter()
        sample = Sample.from_arrays(table, labels, space=task.space)
        made = time.perf_counter() - began
        result = fit(sample, Config.preset(device=str(place), seed=seed))
        took = time.perf_counter() - began
        right = len(set(map(str, result.program)) & set(map(str, task.program)))
        yield Work(f"fit of {rows:,} x {m}, {kind}: its sample from arrays", made, "s")
        yield Work(f"fit of {rows:,} x {m}, {kind}, whole", took, "s", 20 if rows == 10**6 else None)
        yield Work(f"fit of {rows:,} x {m}, {kind}: rules found of 3", right, "", 3, most=False)


def _drawn(task: SyntheticTask, rows: int, seed: int, *, boolean: bool) -> tuple[Floats | Bools, Bools]:
    table, labels = task.draw(rows, seed, _NOISE)
    return (table > 0.5 if boolean else table), labels
