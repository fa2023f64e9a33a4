"""How long the command line takes to start, in multiples of a bare interpreter.

Run `python -m benchmarks.startup`. Processor time is compared, the least of
many repetitions, so that a busy machine gives the same ratios.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys

#: What the ratios should stay below.
LIMIT = 8.0
CALL = "import sys; from andre.cli import main; sys.argv[0] = 'andre'; main()"


def completing(words: str) -> dict[str, str]:
    """The environment in which a shell asks for the completion of the last word."""
    return {"_ANDRE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}


def seconds(code: str, *args: str, env: dict[str, str] | None = None, times: int = 30) -> float:
    """The least processor time that an interpreter takes to run this code."""
    least = float("inf")
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-c", code, *args]
        subprocess.run(command, env={**os.environ, **(env or {})}, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least


def ratios(times: int = 30) -> dict[str, float]:
    """Start-up times of the command line as multiples of a bare interpreter's."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users have compiled modules
    bare = seconds("pass", times=times)
    return {
        "andre --help": seconds(CALL, "--help", times=times) / bare,
        "andre --version": seconds(CALL, "--version", times=times) / bare,
        "completion of a command": seconds(CALL, env=completing("andre rep"), times=times) / bare,
        "completion of an option": seconds(CALL, env=completing("andre fit --val"), times=times) / bare,
    }


def main() -> None:
    """Print the ratios, and fail where one is above the limit."""
    found = ratios()
    for name, ratio in found.items():
        print(f"{name:<26}{ratio:6.1f} times a bare interpreter")  # noqa: T201
    if max(found.values()) > LIMIT:
        sys.exit(f"at most {LIMIT:g} times was wanted")


if __name__ == "__main__":
    main()
