"""Limits hold in every stage, and Ctrl-C at any moment ends in a result or in a sentence."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from andre.cli.working import Display
from andre.errors import MemoryLimitError, OutOfTimeError
from andre.facts import TASKS, read_facts, write_facts
from andre.learning import learn
from andre.limits import Deadline, enforced, interruptible, limited, out_of_time, stage, was_interrupted
from andre.memory import bounded_memory, lacks_memory
from andre.progress import Work, doing, watching

FAST = ("--set", "restarts=1", "--set", "rounds=1", "--set", "steps=30")


def apart(code: str) -> str:
    """What a script prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert not done.returncode, done.stderr
    return done.stdout


def forever() -> None:
    while True:
        pass


def test_what_knows_that_time_is_up_is_left_alone() -> None:
    with enforced(), limited(Deadline.after(0)):
        assert out_of_time("counting")
        began = time.process_time()
        while time.process_time() < began + 0.2:
            pass


def test_work_that_looks_at_no_clock_is_cut() -> None:
    with enforced(), limited(Deadline.after(0.05)) as watch:
        with stage("counting"):
            forever()
        with pytest.raises(OutOfTimeError):
            forever()
    assert (watch.cut, watch.why) == (["counting"], "time")


def test_a_library_that_is_being_loaded_is_not_cut(tmp_path: Path, monkeypatch) -> None:
    """A half-loaded torch cannot be loaded again, and all that needs it afterwards would fail."""
    (tmp_path / "slow_library.py").write_text(
        "import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass\nwhole = True\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with enforced(), limited(Deadline.after(0.05)) as watch, stage("training"):
        import_module("slow_library")
        forever()
    assert watch.cut == ["training"]
    assert sys.modules["slow_library"].whole


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how much memory a process has")
def test_no_more_memory_is_had_than_the_bound() -> None:
    printed = apart(
        "import numpy as np\n"
        "from andre.errors import MemoryLimitError\n"
        "from andre.limits import Deadline, limited, stage\n"
        "from andre.memory import bounded_memory, peak_megabytes\n"
        "before = peak_megabytes()\n"
        "with bounded_memory(int(before + 300) << 20), limited(Deadline.after(None)) as watch:\n"
        "    with stage('counting'):\n"
        "        np.ones(1 << 29)\n"
        "    print(watch.cut, watch.why)\n"
        "    print(np.ones(1 << 23).sum())\n"
        "try:\n"
        "    with bounded_memory(int(before + 300) << 20):\n"
        "        np.ones(1 << 29)\n"
        "except MemoryLimitError as error:\n"
        "    print(error)\n"
        "print(np.ones(1 << 26).sum(), peak_megabytes() < before + 800)\n"
    )
    cut, small, said, free = printed.splitlines()
    assert cut == "['counting'] memory"
    assert small == f"{float(1 << 23)}"
    assert re.match(r"the memory limit of [\d,]+ MB is too low for this: raise it, or give fewer", said)
    assert free == f"{float(1 << 26)} True"


def test_a_bound_below_what_is_taken_already_is_refused() -> None:
    with (
        pytest.raises(MemoryLimitError, match="is too low: Python with its libraries takes"),
        bounded_memory(1 << 20),
    ):
        pass
    with bounded_memory(None):
        assert np.ones(10).sum() == 10


def test_other_errors_are_no_lack_of_memory() -> None:
    with pytest.raises(RuntimeError, match="shapes"), bounded_memory(1 << 40):
        raise RuntimeError("shapes differ")
    assert lacks_memory(
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes.")
    )


def test_a_command_says_that_its_memory_is_too_small(andre, tmp_path: Path) -> None:
    (tmp_path / "p.pl").write_text("p(a,b). h(a,b). h(b,a).\n")
    done = andre("learn", tmp_path / "p.pl", "--target", "h/2", "--memory-limit", "1MB")
    assert done.status == 2
    assert "a memory limit of 1 MB is too low" in done.err


@contextmanager
def interrupted_at(name: str):
    """Send Ctrl-C when work of this name begins."""

    class Works(list[Work]):
        def append(self, work: Work) -> None:
            super().append(work)
            if name in work.name and not self.sent:
                self.sent = True
                os.kill(os.getpid(), signal.SIGINT)

        sent = False

    works = Works()
    with watching(works):
        yield works


MOMENTS = ["learning", "counting", "training", "pooling rules", "refining"]


@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_gives_the_best_so_far_or_nothing(moment: str) -> None:
    facts, before = TASKS["grandparent"].train(0), signal.getsignal(signal.SIGINT)
    with interrupted_at(moment) as works:
        try:
            theory = learn(facts, "grandparent/2", restarts=1, rounds=1, steps=30, always_run=True)
        except KeyboardInterrupt:
            assert moment in ("learning", "counting")
        else:
            assert theory["grandparent/2"].result.stopped == "interrupted"
    assert works.sent
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_loses_no_target_that_is_done(tmp_path: Path) -> None:
    from andre.runs import RunFolder, load

    facts = TASKS["grandparent"].train(0)
    names = [f"{name}/{arity}" for name, arity in facts.relations][:2]
    with interrupted_at(f"learning {names[1]}") as works:
        theory = learn(
            facts, names, mode="complete", restarts=1, rounds=1, steps=20, out=RunFolder(tmp_path / "run")
        )
    assert works.sent
    assert names[0] in [made.target for made in theory]
    assert names[0] in [made.target for made in load(tmp_path / "run")]


def test_ctrl_c_before_anything_is_learned_is_a_sentence(andre, tmp_path: Path, monkeypatch) -> None:
    write_facts(TASKS["grandparent"].train(0), tmp_path / "family.pl")

    def read(*given: object, **more: object) -> object:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(30)  # until it is cut
        return read_facts(*given, **more)

    monkeypatch.setattr("andre.facts.read_source", read)
    done = andre("learn", tmp_path / "family.pl", "--target", "grandparent/2")
    assert (done.status, done.out) == (130, "")
    assert done.err == "andre: stopped by Ctrl-C before there was a result: nothing is lost but the time\n"


def test_ctrl_c_while_python_loads_the_command_is_a_sentence() -> None:
    code = (
        "import builtins, os, signal, sys\n"
        "from andre.__main__ import run\n"
        "load = builtins.__import__\n"
        "def interrupted(name, *more):\n"
        "    if name == 'andre.cli.app':\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return load(name, *more)\n"
        "builtins.__import__ = interrupted\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.argv = ['andre', '--version']\n"
        "run()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.startswith("andre: stopped by Ctrl-C before there was a result")
    assert "Traceback" not in done.stderr


def test_a_second_ctrl_c_stops_at_once() -> None:
    with interruptible():
        os.kill(os.getpid(), signal.SIGINT)
        assert was_interrupted()
        with interruptible() as inner:
            assert inner.asked
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert not was_interrupted()


def test_a_log_gets_a_line_about_what_takes_long(capsys: pytest.CaptureFixture[str]) -> None:
    works = [Work("reading graph.tsv", 30, 100, began=time.monotonic() - 5)]
    display = Display(works)
    display._told -= 60
    display.look()
    display.look()  # nothing new
    works.append(Work("sorting"))
    display.look()  # soon over
    assert capsys.readouterr().err == "andre: reading graph.tsv, 30 of 100 (5 s)\n"


def test_a_log_of_hours_has_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    began = time.monotonic() - 3600
    works = [Work("learning", began=began)]
    display = Display(works)
    for name in range(20):  # one a minute, each of which takes long
        works[1:] = [Work(f"stage {name}", began=began), Work(f"stage {name}", began=began)]
        display._told -= 60
        display.look()
    lines = capsys.readouterr().err.splitlines()
    assert 2 <= len(lines) <= 4
    assert lines[-1].count("stage") == 1


def test_a_terminal_shows_a_line_that_is_gone_afterwards(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    works: list[Work] = []
    display = Display(works)
    with watching(works, display.clear):
        with doing("reading graph.tsv", 4) as work:
            work.part, work.began = 2, time.monotonic() - 3
            display.look()
        display.clear()
    assert capsys.readouterr().err == "\r\x1b[Kreading graph.tsv, 2 of 4 (3 s)\r\x1b[K"


def test_nothing_is_shown_by_threads_that_outlive_a_command(andre, tmp_path: Path) -> None:
    (tmp_path / "p.pl").write_text("p(a,b). h(a,b).\n")
    before = threading.active_count()
    assert andre("facts", tmp_path / "p.pl").status == 0
    assert threading.active_count() == before
