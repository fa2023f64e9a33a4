"""Speed ratios, and times of what has nothing to be compared with, measured by pytest-benchmark."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from andre.errors import AndreError
from benchmarks import Tick, silent
from benchmarks.report import Report

__all__ = ["TIMED", "bench_speed", "bench_times"]


#: Rooms whose files `test_ROOM.py` hold plain times; the other files hold ratios.
TIMED = ("facts", "inference", "census")

_HERE = Path(__file__).parent


def bench_speed(tick: Tick = silent) -> Report:
    """Measure the core against plain forms of it, and against the start of Python."""
    timed = [_file(room) for room in TIMED]
    return _measured("speed", [path for path in sorted(_HERE.glob("test_*.py")) if path not in timed], tick)


def bench_times(long: bool = True, tick: Tick = silent) -> Report:
    """Time reading, inference and census; `long` ones take minutes and gigabytes."""
    return _measured(
        "times", [_file(room) for room in TIMED], tick, "not gpu" if long else "not sweep and not gpu"
    )


def _file(room: str) -> Path:
    return _HERE / f"test_{room}.py"


def _measured(name: str, files: list[Path], tick: Tick, marks: str = "not gpu") -> Report:
    """Run some files in a process of their own, which tells how it goes on stderr."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", *map(str, files), "--benchmark-only", "-m", marks]
        ran = subprocess.run(
            [*command, "-p", "no:cacheprovider", "--out", folder],
            cwd=_HERE.parents[1],
            stdout=sys.stderr,
            check=False,
        )
        if ran.returncode:
            raise AndreError(f"the benchmarks of {name} did not pass: see above")
        tick(1, 1)
        return Report.read(json.loads((Path(folder) / "benchmarks" / f"{name}.json").read_text()))
