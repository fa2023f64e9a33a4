"""Processes that end when they should."""

import math
import os
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from andre.errors import AndreError, WorkersLostError
from andre.limits import Deadline, limited, time_left
from andre.workers import Task, run_tasks, workers


def test_what_is_not_done_is_given_up():
    with workers(2) as executor:
        begun = executor.submit(time.sleep, 300)
        while not begun.running():
            time.sleep(0.01)
        began = time.monotonic()
    assert time.monotonic() - began < 60


def seconds_left(_):
    return time_left().left


def test_a_deadline_holds_in_tasks_too():
    with ThreadPoolExecutor(1) as executor:
        (_, forever), *_ = run_tasks(executor, None, iter([Task("one", seconds_left)]))
        with limited(Deadline.after(100)):
            # The first takes the only thread; the second begins later, and has less time.
            tasks = iter([Task("nap", nap), Task("two", seconds_left)])
            found = dict(run_tasks(executor, None, tasks))
    assert forever == math.inf
    assert 0 < found["two"] <= 99.8


def card_of(_):
    time.sleep(0.5)  # so that every process gets a task
    return os.environ.get("CUDA_VISIBLE_DEVICES")


def test_several_cards_are_dealt_out_among_processes(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,7")
    with workers(2) as executor:
        found = run_tasks(executor, None, (Task(str(place), card_of) for place in range(4)))
        assert {card for _, card in found} == {"4", "7"}


def nap(_):
    time.sleep(0.2)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes there")
def test_no_process_outlives_its_parent():
    script = (
        "import os, time\n"
        "from andre.workers import workers\n"
        "with workers(2) as executor:\n"
        "    print(executor.submit(os.getpid).result(), flush=True)\n"
        "    executor.submit(time.sleep, 300)\n"
        "    os._exit(1)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=False)
    process, deadline = Path("/proc", done.stdout.strip()), time.monotonic() + 60
    while _lives(process) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _lives(process)


def _lives(process):
    """Whether a process is there and runs; one that ended may stay listed until somebody asks for it."""
    try:
        state = (process / "stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in {"Z", "X"}


def test_without_shared_memory_it_is_said_what_to_leave_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from multiprocessing.context import SpawnContext

    def refused(context: SpawnContext) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(SpawnContext, "SimpleQueue", refused)
    with pytest.raises(AndreError, match=r"cannot work together here .*: leave out --jobs"), workers(2):
        pass


def test_a_killed_worker_is_a_sentence():
    class Broken(Executor):
        def submit(self, fn, /, *args, **kwargs):
            future = Future()
            future.set_exception(BrokenProcessPool("terminated abruptly"))
            return future

    with pytest.raises(WorkersLostError, match="ended without a word"):
        list(run_tasks(Broken(), None, iter([Task("one", seconds_left)])))
