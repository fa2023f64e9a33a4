"""How far commands go over their limits of time and memory, from the first byte that they read."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from andre.facts import write_facts
from benchmarks import BENCHMARKS, Tick, silent
from benchmarks.limits import hub_graph
from benchmarks.report import Report, Table


@dataclass(frozen=True)
class Command:
    """A command on a file of its own, within limits of time and memory."""

    write: Callable[[Path], object]
    words: tuple[str, ...]  #: with FILE for the file
    ending: str
    seconds: float = 10
    gigabytes: float = 1


def _boolean_csv(rows: int, columns: int, path: Path) -> None:
    table = np.random.default_rng(0).random((rows, columns)) < 0.5
    label = (table[:, 0] & ~table[:, 1]) | (table[:, 2] & table[:, 3])
    cells = np.full((rows, 2 * columns + 2), ord(","), dtype=np.uint8)
    cells[:, ::2] = np.column_stack((table, label)) + np.uint8(ord("0"))
    cells[:, -1] = ord("\n")
    header = ",".join([*(f"c{place}" for place in range(columns)), "h"])
    path.write_bytes(header.encode() + b"\n" + cells.tobytes())


def _numbers_csv(rows: int, columns: int, path: Path) -> None:
    rng = np.random.default_rng(0)
    table = np.round(100 * rng.random((rows, columns)), 2)
    label = (table[:, 0] > 50) & (table[:, 1] < 50)
    lines = [",".join([*(f"c{place}" for place in range(columns)), "h"])]
    for *row, is_h in np.column_stack((table, label)).tolist():
        lines.append(",".join([*map(str, row), str(int(is_h))]))
    path.write_text("\n".join(lines) + "\n")


def _many_relations(relations: int, path: Path) -> None:
    rng = np.random.default_rng(0)
    ends = rng.integers(2000, size=(relations, 40, 2)).tolist()
    path.write_text("".join(f"e{a}\tr{n}\te{b}\n" for n, some in enumerate(ends) for a, b in some))


def _few_facts(path: Path) -> None:
    codes = np.random.default_rng(0).integers(20, size=(180, 2)).tolist()
    path.write_text("".join(f"r{place % 3}(e{a}, e{b}).\n" for place, (a, b) in enumerate(codes)))


#: What the command line reads, counts and learns from within its limits.
COMMANDS: Mapping[str, Command] = {
    "hub graph of 1,000,000 facts, learn": Command(
        lambda path: write_facts(hub_graph(10**6), path), ("learn", "FILE", "--target", "visits/2"), ".tsv"
    ),
    "hub graph of 1,000,000 facts, rank": Command(
        lambda path: write_facts(hub_graph(10**6), path), ("rank", "FILE", "visits(1, ?)"), ".tsv"
    ),
    "500 relations, learn": Command(
        lambda path: _many_relations(500, path), ("learn", "FILE", "--target", "r0/2"), ".tsv"
    ),
    "500 relations, rank": Command(
        lambda path: _many_relations(500, path), ("rank", "FILE", "r0(e1, ?)"), ".tsv"
    ),
    "180 facts, 6 variables, learn": Command(
        _few_facts, ("learn", "FILE", "--target", "r0/2", "--variables", "6"), ".pl"
    ),
    "300 x 2,000 numbers, fit": Command(lambda path: _numbers_csv(300, 2000, path), ("fit", "FILE"), ".csv"),
    "300 x 5,000 numbers, fit": Command(lambda path: _numbers_csv(300, 5000, path), ("fit", "FILE"), ".csv"),
    "20,000 x 2,000 Booleans, fit": Command(
        lambda path: _boolean_csv(20_000, 2000, path), ("fit", "FILE"), ".csv", gigabytes=2
    ),
}

#: Calls a command after all is loaded that it needs, and tells how long that took.
_TIMED = (
    "import sys, time\n"
    "import torch\n"
    "import andre.completion, andre.learning, andre.report, andre.runs\n"
    "from andre.cli.app import main\n"
    "began = time.monotonic()\n"
    "try:\n"
    "    main()\n"
    "except SystemExit as end:\n"
    "    taken = time.monotonic() - began\n"
    "    # The system's own count would begin with the memory of the process that began this one.\n"
    "    status = dict(line.split(':', 1) for line in open('/proc/self/status').read().splitlines())\n"
    "    print(end.code or 0, taken, status['VmHWM'].split()[0], file=sys.stderr)\n"
)


@dataclass(frozen=True)
class Held:
    """A command within its limits, and what it took."""

    case: str
    limit: float  #: seconds
    seconds: float  #: from the first byte read to the last one written
    cpu: float  #: seconds of the whole process, start-up included
    limit_megabytes: float
    megabytes: float  #: the process's high-water mark
    status: int
    said: str  #: its last sentence


def hold(name: str) -> Held:
    """Run a command within its limits."""
    case = COMMANDS[name]
    with TemporaryDirectory(prefix="andre-") as folder:
        file = Path(folder) / f"data{case.ending}"
        case.write(file)
        words = [str(file) if word == "FILE" else word for word in case.words]
        limits = ["--time-limit", f"{case.seconds:g}", "--memory-limit", f"{case.gigabytes:g}GB"]
        errors = Path(folder) / "errors"
        with errors.open("w") as sink:
            process = subprocess.Popen(
                [sys.executable, "-c", _TIMED, *words, *limits], stdout=subprocess.DEVNULL, stderr=sink
            )
            _, _, used = os.wait4(process.pid, 0)
            process.returncode = 0  # it has been waited for
        *said, last = errors.read_text().splitlines()
    status, seconds, kilobytes = last.split()
    sentence = said[-1].removeprefix("andre: ").replace(str(file), "FILE") if said else ""
    return Held(
        name,
        case.seconds,
        float(seconds),
        used.ru_utime + used.ru_stime,
        case.gigabytes * 2**10,
        int(kilobytes) / 2**10,
        int(status),
        sentence,
    )


def _commands_table(held: Sequence[Held]) -> Table:
    columns = ("command", "limit, s", "taken, s", "CPU s", "limit, MB", "MB", "status", "its last sentence")
    lines = tuple(
        (
            one.case,
            f"{one.limit:g}",
            f"{one.seconds:.2f}",
            f"{one.cpu:.1f}",
            f"{one.limit_megabytes:,.0f}",
            f"{one.megabytes:,.0f}",
            str(one.status),
            one.said,
        )
        for one in held
    )
    return Table("Taken of what is allowed", columns, lines)


def bench_commands(tick: Tick = silent) -> Report:
    """Run commands within limits that are too short, and measure what they take."""
    began = time.perf_counter()
    held: list[Held] = []
    for name in COMMANDS:
        held.append(hold(name))
        tick(len(held), len(COMMANDS))
    return Report(
        name="commands",
        title=BENCHMARKS["commands"].title,
        protocol=_PROTOCOL,
        settings={"seed": 0},
        seconds=time.perf_counter() - began,
        tables=(_commands_table(held),),
        data={"commands": [asdict(one) for one in held]},
    )


_PROTOCOL = (
    "Commands as they are typed, with `--time-limit` and `--memory-limit`, default settings, each in a fresh "
    "process that has loaded torch before. *taken* begins with reading the file and ends with the command, "
    "*CPU s* are those of the whole process, start-up included, and *MB* is its high-water mark. Status 0 is "
    "a result, and 2 a sentence in its place. A machine that does other work too shows in the difference of "
    "*taken* and *CPU s*."
)
