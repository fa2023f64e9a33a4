"""No input makes a reader fail with a traceback, and no kill loses what was saved: many minutes.

`ANDRE_FUZZ=1000000 TMPDIR=/dev/shm ./dev sweep -n 16 tests/test_robustness.py -k damaged` reads a million
damaged inputs in 16 processes, and `ANDRE_FUZZ=250000:500000` those of a quarter, for several machines;
without it there are 20,000, and in the tests of every day a few of each kind. `ANDRE_SEED` draws others.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from tests.conftest import SavedRuns
from tests.fuzzing import fault_of, sources, write_damaged

from andre.facts import TASKS, write_facts
from andre.logic import read_program
from andre.runs import load, program_of


def fuzz(saved: SavedRuns, numbers: range, folder: Path, seed: int = 0) -> Counter[str]:
    """Damage sources of every kind, one for each number, and tell what goes wrong, each fault once."""
    every = sources({"fit": saved.fit, "learn": saved.learn, "rank": saved.rank})
    faults: Counter[str] = Counter()
    for number in numbers:
        rng = Random(f"{seed} {number}")
        source = every[number % len(every)]
        place = folder / "input"
        path = write_damaged(source, every, place, rng)
        fault = fault_of(source, path)
        if fault is not None:
            found = f"{source.name}: {fault}"
            if found not in faults:
                shutil.copytree(place, folder / f"kept{number}")
            faults[found] += 1
        shutil.rmtree(place)
    return faults


def say(faults: Counter[str]) -> str:
    return "\n\n".join(f"{count} times {fault}" for fault, count in faults.most_common())


def test_some_damaged_inputs_are_read_or_refused(runs: SavedRuns, tmp_path: Path) -> None:
    faults = fuzz(runs, range(250), tmp_path, seed=1)
    assert not faults, say(faults)


#: In how many tests the inputs are read, so that as many processes can.
SHARDS = 16


def shard_of(inputs: str, shard: int) -> range:
    """The numbers of the inputs of one shard; all together have `COUNT` of them, or `FIRST:END`."""
    first, _, end = inputs.rpartition(":")
    begin, size = int(first or 0), int(end) - int(first or 0)
    return range(begin + shard * size // SHARDS, begin + (shard + 1) * size // SHARDS)


def test_shards_have_all_inputs_once() -> None:
    for inputs, wanted in (("100", range(100)), ("7:1000", range(7, 1000)), ("3", range(3))):
        assert [number for shard in range(SHARDS) for number in shard_of(inputs, shard)] == [*wanted]


@contextmanager
def on_one_core(number: int) -> Iterator[None]:
    """Stay on one core, so that DuckDB starts no thread for each of the others with every database."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(cores)[number % len(cores)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


@pytest.mark.sweep
@pytest.mark.parametrize("shard", range(SHARDS))
def test_damaged_inputs_of_every_kind_are_read_or_refused(
    shard: int, runs: SavedRuns, tmp_path: Path
) -> None:
    numbers = shard_of(os.environ.get("ANDRE_FUZZ", "20000"), shard)
    with on_one_core(shard):
        faults = fuzz(runs, numbers, tmp_path, int(os.environ.get("ANDRE_SEED", "0")))
    assert not faults, say(faults)


#: Calls one command after another, each in a process that is forked after all is loaded that takes seconds.
_SERVER = """
import json, os, sys
import torch
import andre.completion, andre.learning, andre.report, andre.runs
from andre.cli.app import main
for line in sys.stdin:
    folder, words = json.loads(line)
    if not (pid := os.fork()):
        os.setsid()
        os.chdir(folder)
        for stream, path in ((0, os.devnull), (1, os.devnull), (2, "../errors")):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), stream)
        sys.argv = ["andre", *words]
        try:
            main()
        except SystemExit as end:
            os._exit(end.code or 0)
        finally:
            os._exit(0 if sys.exception() is None else 1)
    print(pid, flush=True)
    print(os.waitpid(pid, 0)[1], flush=True)
"""


@dataclass(frozen=True)
class Commands:
    """Runs commands in a folder, and kills them."""

    server: subprocess.Popen[str]
    folder: Path

    @classmethod
    @contextmanager
    def within(cls, folder: Path) -> Iterator[Commands]:
        with subprocess.Popen(
            [sys.executable, "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server:
            yield cls(server, folder)
            assert server.stdin is not None
            server.stdin.close()

    def _begin(self, command: list[str]) -> int:
        assert self.server.stdin is not None
        print(json.dumps([str(self.folder), command]), file=self.server.stdin, flush=True)
        return int(self._answer())

    def _answer(self) -> str:
        assert self.server.stdout is not None
        return self.server.stdout.readline()

    def killed(self, command: list[str], seconds: float) -> bool:
        """Run a command and kill it after so many seconds; whether it was still running."""
        pid = self._begin(command)
        time.sleep(seconds)
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        return os.WIFSIGNALED(int(self._answer()))

    def whole(self, command: list[str]) -> list[str]:
        """The rules of a run that nobody kills."""
        self._begin(command)
        assert self._answer() == "0\n", (self.folder.parent / "errors").read_text()
        return sorted(map(str, program_of(load(self.folder / "run"))))


QUICK = ["--set", "restarts=1", "--set", "rounds=1", "--set", "steps=20"]
COMMANDS = {
    "fit": ["fit", "table.csv", "--label", "h", "--out", "run", *QUICK],
    "learn": ["learn", "family.pl", "--all", "--jobs", "2", "--out", "run", *QUICK],
    "rank": ["rank", "graph.nl", "--out", "run"],
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", COMMANDS)
def test_a_kill_leaves_a_whole_run(name: str, runs: SavedRuns, tmp_path: Path) -> None:
    """Killed at many moments, over an older run too, a folder is whole, and a further call ends the same."""
    folder = tmp_path / "work"
    folder.mkdir()
    shutil.copy(runs.table, folder / "table.csv")
    shutil.copy(runs.likes, folder / "graph.nl")
    write_facts(TASKS["grandparent"].train(0), folder / "family.pl")
    command, run = COMMANDS[name], folder / "run"
    old = runs.fit if name != "fit" else runs.learn
    kills = 0
    with Commands.within(folder) as commands:
        commands.whole(command)  # the first loads more than the others
        began = time.monotonic()
        expected = commands.whole(command)
        seconds = time.monotonic() - began
        for moment in range(int(os.environ.get("ANDRE_KILLS", "20"))):
            shutil.rmtree(run, ignore_errors=True)
            if moment % 2:
                shutil.copytree(old, run)
            before = program_of(load(old)) if moment % 2 else None
            kills += commands.killed(command, seconds * Random(moment).random())
            if (run / "run.json").exists():
                json.loads((run / "run.json").read_text())
                found = program_of(load(run))
                assert found == before or sorted(map(str, found)) == expected
                if (run / "program.pl").exists():
                    assert sorted(map(str, read_program(run / "program.pl"))) == sorted(map(str, found))
            assert commands.whole(command) == expected
    assert kills
    left = [path for path in folder.rglob(".*") if path.is_file()]
    assert len(left) <= kills
