"""Speed and memory of the core, as ratios."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import torch

from andre.evaluation import CrispSample
from andre.learning import Config, Screening, SelectionConfig, best_short_bodies, fit
from andre.samples import SYNTHETIC_TASKS, Form, Membership, RuleSpace, Sample
from benchmarks.speed.forms import GRADED, LARGE, build, forward_backward, random_weights, valuations

_FORMS = Path(__file__).parent / "forms.py"


def _fresh(*arguments: str) -> str:
    """Run Python anew, and hand back what it prints."""
    return subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True).stdout


def _size(size):
    return "U {:,}, m {}, n {}, K {}".format(*size)


def test_boolean_closed_form(benchmark, ratios, best):
    table, weights = valuations(LARGE, boolean=True), random_weights(LARGE)
    found = {name: build(name, table) for name in ("plain", "blocked", "tabulated")}
    quick = benchmark.pedantic(forward_backward, (found["tabulated"], weights), rounds=5, warmup_rounds=1)
    slow = forward_backward(found["plain"], weights)
    for one, other in zip(quick, slow, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)
    del slow
    *times, closed = best(
        *(lambda form=form: forward_backward(form, weights) for form in found.values()), rounds=3
    )
    for name, time, goal in zip(found, times, (80, None), strict=False):
        what = f"time, {name} form / Boolean closed form ({_size(LARGE)})"
        ratios.add(benchmark, what, (f"{time:.2f} s", f"{closed:.3f} s"), time / closed, at_least=goal)


def test_boolean_memory(benchmark, ratios):
    closed = int(benchmark.pedantic(_fresh, (str(_FORMS), "tabulated"), rounds=1))
    for name, goal in (("plain", 30), ("blocked", None)):
        peak = int(_fresh(str(_FORMS), name))
        what = f"memory, {name} form / Boolean closed form ({_size(LARGE)})"
        measured = tuple(f"{each / 2**20:,.0f} MiB" for each in (peak, closed))
        ratios.add(benchmark, what, measured, peak / closed, at_least=goal)


def test_level_tables(benchmark, ratios, best):
    table, weights = valuations(GRADED, boolean=False), random_weights(GRADED)
    found = {name: build(name, table) for name in ("plain", "blocked", "tabulated")}
    quick = benchmark.pedantic(forward_backward, (found["tabulated"], weights), rounds=5, warmup_rounds=1)
    for one, other in zip(quick, forward_backward(found["plain"], weights), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)
    *times, tables = best(
        *(lambda form=form: forward_backward(form, weights) for form in found.values()), rounds=5
    )
    for name, time in zip(found, times, strict=False):
        what = f"time, {name} form / tables of 64 levels ({_size(GRADED)})"
        ratios.add(benchmark, what, (f"{time * 1e3:.0f} ms", f"{tables * 1e3:.0f} ms"), time / tables)


def test_many_runs(benchmark, ratios, best):
    sample = SYNTHETIC_TASKS["R2"].sample(500, seed=0)

    def train(restarts: int, symbolic: bool) -> None:
        settings = {"subrules": (2,), "rounds": 1, "patience": None, "combine": symbolic, "refine": symbolic}
        fit(sample, Config.preset("default", restarts=restarts, **settings))

    benchmark.pedantic(train, (64, False), rounds=1, warmup_rounds=1)
    for symbolic, goal in ((False, 10), (True, None)):
        one, many = best(lambda s=symbolic: train(1, s), lambda s=symbolic: train(64, s), rounds=3)
        what = "time, 64 runs / 1 run of R2, 500 rows: training" + ", combination, refinement" * symbolic
        ratios.add(benchmark, what, (f"{one:.2f} s", f"{many:.2f} s"), many / one, at_most=goal)


_LEARN = """
from andre.samples import SYNTHETIC_TASKS
from andre.learning import fit
task = SYNTHETIC_TASKS["four"]
assert fit(task.sample(100, seed=1)).program == task.program
"""


def test_end_to_end(benchmark, ratios, best):
    benchmark.pedantic(_fresh, ("-c", _LEARN), rounds=1, warmup_rounds=1)
    alone, learn = best(lambda: _fresh("-c", "import torch"), lambda: _fresh("-c", _LEARN), rounds=5)
    what = "time, four-predicate example in a fresh process / `import torch` alone"
    ratios.add(benchmark, what, (f"{alone:.2f} s", f"{learn:.2f} s"), learn / alone, at_most=2)


def test_help(benchmark, ratios, best):
    command = "import sys; from andre.cli import main; sys.argv = ['andre', '--help']; main()"
    benchmark.pedantic(_fresh, ("-c", command), rounds=1, warmup_rounds=1)
    alone, shown = best(lambda: _fresh("-c", "import torch"), lambda: _fresh("-c", command), rounds=5)
    what = "time, `andre --help` / `import torch` alone"
    ratios.add(benchmark, what, (f"{alone:.2f} s", f"{shown:.2f} s"), shown / alone)


def test_short_bodies(benchmark, ratios, best):
    sample = _sparse_bags(rows=40_000, m=120, bags=12_000, per_bag=25)
    form, config = Form(sample.space), SelectionConfig()

    def count(first: bool):
        return best_short_bodies(sample, form, config, Screening(rows=0 if first else 10**9))

    found = benchmark.pedantic(count, (True,), rounds=1, warmup_rounds=1)
    assert np.array_equal(found, count(False))
    every, part = best(lambda: count(False), lambda: count(True), rounds=3)
    what = "time, short bodies on all examples / on a part of them first (12,000 bags, m 120)"
    ratios.add(benchmark, what, (f"{every * 1e3:.0f} ms", f"{part * 1e3:.0f} ms"), every / part)


def _sparse_bags(rows: int, m: int, bags: int, per_bag: int) -> CrispSample:
    """Bags of rows on which few atoms hold, as in a knowledge base; one in a hundred is true."""
    rng = np.random.default_rng(0)
    space = RuleSpace.from_names([f"p{column}(X,Y)" for column in range(m)], "h(X,Y)")
    table = (rng.random((rows, m)) < 0.03).astype(float)
    places = np.sort(rng.integers(0, rows, (bags, per_bag)), axis=1).ravel()
    members = Membership(np.arange(0, bags * per_bag + 1, per_bag), places)
    true = rng.random(bags) < 0.01
    return CrispSample.of(Sample(space, table, true.astype(float), (~true).astype(float), members))
