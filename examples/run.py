"""Runs an example project: `python examples/run.py NAME [FOLDER [OPTION...]]`.

NAME is one of the folders here that have a README. All that the example makes lies in FOLDER, by default
`build` beside its code; options go to the command that learns. Each command is shown as it is typed.
"""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
NAMES = sorted(path.parent.name for path in HERE.glob("*/README.md"))


def andre(*words: str | Path) -> str:
    """Show a command as it is typed, run it, and give what it prints."""
    sys.stdout.write(f"\n$ andre {' '.join(map(str, words))}\n")
    sys.stdout.flush()
    command = [sys.executable, "-m", "andre", *map(str, words)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()


if __name__ == "__main__":
    name, *rest = sys.argv[1:] or [""]
    if name not in NAMES:
        sys.exit(f"run.py: there is no example {name!r}: choose among {', '.join(NAMES)}")
    import_module(f"{name}.{name}").main(andre, Path(*rest[:1] or [HERE / name / "build"]), *rest[1:])
