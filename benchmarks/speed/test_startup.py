"""How long the command line takes to start, in multiples of a bare interpreter.

Processor time is compared, the least of many starts, so that a busy machine gives the same ratios.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest

_CALL = "import sys; from andre.cli import main; sys.argv[0] = 'andre'; main()"
_STARTS = 30


def _completing(words: str) -> dict[str, str]:
    """The environment in which a shell asks for the completion of the last word."""
    return {"_ANDRE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}


def _seconds(code: str, *arguments: str, env: dict[str, str] | None = None) -> float:
    """The least processor time that an interpreter takes to run this code."""
    # Users have compiled modules.
    around = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    least = float("inf")
    for _ in range(_STARTS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-c", code, *arguments]
        subprocess.run(command, env={**around, **(env or {})}, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least


@pytest.mark.parametrize(
    ("what", "arguments", "env"),
    [
        ("`andre --help`", ("--help",), None),
        ("`andre --version`", ("--version",), None),
        ("completion of a command", (), _completing("andre rep")),
        ("completion of an option", (), _completing("andre fit --val")),
    ],
)
def test_start(benchmark, ratios, what, arguments, env):
    bare = _seconds("pass")
    ours = benchmark.pedantic(_seconds, (_CALL, *arguments), {"env": env}, rounds=1)
    measured = tuple(f"{each * 1e3:.0f} ms" for each in (bare, ours))
    ratios.add(benchmark, f"processor time, {what} / a bare interpreter", measured, ours / bare, at_most=8)
