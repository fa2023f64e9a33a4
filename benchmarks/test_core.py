"""Speed and memory of the core, as ratios."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import torch
from conftest import Ratio
from forms import GRADED, LARGE, build, forward_backward, random_weights, valuations

from andre.grounding.synthetic import TASKS
from andre.learning import Config, fit

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
    (plain,) = best(lambda: forward_backward(found["plain"], weights), rounds=2)
    (boolean,) = best(lambda: forward_backward(found["tabulated"], weights), rounds=10)
    (blocked,) = best(lambda: forward_backward(found["blocked"], weights), rounds=2)
    for name, time, goal in (("plain", plain, 80), ("blocked", blocked, None)):
        ratio = time / boolean
        text = "" if goal is None else f"at least {goal}"
        ratios.add(
            benchmark,
            Ratio(
                f"time, {name} form / Boolean closed form ({_size(LARGE)})",
                f"{time:.2f} s",
                f"{boolean:.3f} s",
                ratio,
                text,
                None if goal is None else ratio >= goal,
            ),
        )


def test_boolean_memory(benchmark, ratios):
    peak = {name: int(_fresh(str(_FORMS), name)) for name in ("plain", "blocked")}
    peak["tabulated"] = int(benchmark.pedantic(_fresh, (str(_FORMS), "tabulated"), rounds=1))
    for name, goal in (("plain", 30), ("blocked", None)):
        ratio = peak[name] / peak["tabulated"]
        ratios.add(
            benchmark,
            Ratio(
                f"memory, {name} form / Boolean closed form ({_size(LARGE)})",
                f"{peak[name] / 2**20:,.0f} MiB",
                f"{peak['tabulated'] / 2**20:,.0f} MiB",
                ratio,
                "" if goal is None else f"at least {goal}",
                None if goal is None else ratio >= goal,
            ),
        )


def test_level_tables(benchmark, ratios, best):
    table, weights = valuations(GRADED, boolean=False), random_weights(GRADED)
    found = {name: build(name, table) for name in ("plain", "blocked", "tabulated")}
    quick = benchmark.pedantic(forward_backward, (found["tabulated"], weights), rounds=5, warmup_rounds=1)
    for one, other in zip(quick, forward_backward(found["plain"], weights), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)
    names = ("plain", "blocked", "tabulated")
    times = best(*(lambda name=name: forward_backward(found[name], weights) for name in names), rounds=5)
    for name, time in zip(names[:2], times[:2], strict=True):
        ratios.add(
            benchmark,
            Ratio(
                f"time, {name} form / 64 level tables ({_size(GRADED)})",
                f"{time * 1e3:.0f} ms",
                f"{times[2] * 1e3:.0f} ms",
                time / times[2],
            ),
        )


def test_many_runs(benchmark, ratios, best):
    sample = TASKS["R2"].sample(500, seed=0)
    single = {"subrules": (2,), "rounds": 1, "patience": None}

    def train(restarts: int, **settings: bool) -> None:
        fit(sample, Config.preset("default", restarts=restarts, **single, **settings))

    bare = {"combine": False, "refine": False}
    benchmark.pedantic(train, (64,), bare, rounds=1, warmup_rounds=1)
    for what, settings, goal in (("training", bare, 10), ("training, combination, refinement", {}, None)):
        one, many = best(lambda s=settings: train(1, **s), lambda s=settings: train(64, **s), rounds=3)
        ratios.add(
            benchmark,
            Ratio(
                f"time, 64 runs / 1 run of R2, 500 rows: {what}",
                f"{one:.2f} s",
                f"{many:.2f} s",
                many / one,
                "" if goal is None else f"at most {goal}",
                None if goal is None else many / one <= goal,
            ),
        )


_LEARN = """
from andre.grounding.synthetic import TASKS
from andre.learning import fit
task = TASKS["four"]
assert fit(task.sample(100, seed=1)).program == task.program
"""


def test_end_to_end(benchmark, ratios, best):
    benchmark.pedantic(_fresh, ("-c", _LEARN), rounds=1, warmup_rounds=1)
    torch_alone, learn = best(lambda: _fresh("-c", "import torch"), lambda: _fresh("-c", _LEARN), rounds=5)
    ratio = learn / torch_alone
    ratios.add(
        benchmark,
        Ratio(
            "time, four-predicate example in a fresh process / `import torch` alone",
            f"{torch_alone:.2f} s",
            f"{learn:.2f} s",
            ratio,
            "at most 2",
            ratio <= 2,
        ),
    )


def test_help(benchmark, ratios, best):
    command = "import sys; from andre.cli import main; sys.argv = ['andre', '--help']; main()"
    benchmark.pedantic(_fresh, ("-c", command), rounds=1, warmup_rounds=1)
    torch_alone, shown = best(lambda: _fresh("-c", "import torch"), lambda: _fresh("-c", command), rounds=3)
    ratios.add(
        benchmark,
        Ratio(
            "time, `andre --help` / `import torch` alone",
            f"{torch_alone:.2f} s",
            f"{shown:.2f} s",
            shown / torch_alone,
        ),
    )
