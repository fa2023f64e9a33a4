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
from contextlib import contextmanager
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
            told = f"{source.name}: {fault}"
            if told not in faults:
                shutil.copytree(place, folder / f"kept{number}")
            faults[told] += 1
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


def killed(command: list[str], seconds: float, folder: Path) -> bool:
    """Run a command in a folder and kill it after so many seconds; whether it was still running."""
    process = subprocess.Popen(
        [sys.executable, "-m", "andre", *command],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


QUICK = ["--set", "restarts=1", "--set", "rounds=1", "--set", "steps=20"]
COMMANDS = {
    "fit": ["fit", "table.csv", "--label", "h", "--out", "run", *QUICK],
    "learn": ["learn", "family.pl", "--all", "--jobs", "2", "--out", "run", *QUICK],
    "rank": ["rank", "graph.nl", "--out", "run"],
}


def whole(command: list[str], folder: Path) -> list[str]:
    """The rules of a run that nobody kills."""
    done = subprocess.run(
        [sys.executable, "-m", "andre", *command], cwd=folder, capture_output=True, check=False
    )
    assert not done.returncode, done.stderr
    return sorted(map(str, program_of(load(folder / "run"))))


@pytest.mark.sweep
@pytest.mark.parametrize("name", COMMANDS)
def test_a_kill_leaves_a_whole_run(name: str, runs: SavedRuns, tmp_path: Path) -> None:
    """Killed at many moments, over an older run too, a folder is whole, and a further call ends the same."""
    shutil.copy(runs.table, tmp_path / "table.csv")
    shutil.copy(runs.likes, tmp_path / "graph.nl")
    write_facts(TASKS["grandparent"].train(0), tmp_path / "family.pl")
    command = COMMANDS[name]
    began = time.monotonic()
    expected = whole(command, tmp_path)
    seconds = time.monotonic() - began
    old = runs.fit if name != "fit" else runs.learn
    kills = 0
    for moment in range(int(os.environ.get("ANDRE_KILLS", "20"))):
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        if moment % 2:
            shutil.copytree(old, tmp_path / "run")
        before = program_of(load(old)) if moment % 2 else None
        kills += killed(command, seconds * (0.3 + 0.7 * Random(moment).random()), tmp_path)
        index = tmp_path / "run" / "run.json"
        if index.exists():
            json.loads(index.read_text())
            found = program_of(load(tmp_path / "run"))
            assert found == before or sorted(map(str, found)) == expected
            if (tmp_path / "run" / "program.pl").exists():
                assert sorted(map(str, read_program(tmp_path / "run" / "program.pl"))) == sorted(
                    map(str, found)
                )
        assert whole(command, tmp_path) == expected
    assert kills
    left = [path for path in tmp_path.rglob(".*") if path.is_file()]
    assert len(left) <= kills
