"""The example projects find what they hide, and end in a report."""

import importlib.util
import io
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from andre.cli.app import main as command_line
from andre.facts import read_facts
from andre.logic import parse_program
from andre.runs import load as open_run

EXAMPLES = Path(__file__).parents[2] / "examples"
FAST = ("--set", "restarts=2", "--set", "rounds=1")


def load(name, monkeypatch):
    """An example whose commands run in this process, where torch is loaded already."""
    spec = importlib.util.spec_from_file_location(f"{name}_example", EXAMPLES / name / "run.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # dataclasses look their module up
    spec.loader.exec_module(module)

    def andre(*words):
        monkeypatch.setattr(sys, "argv", ["andre", *map(str, words)])
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as end:
            command_line()
        assert not end.value.code, err.getvalue()
        return out.getvalue()

    monkeypatch.setattr(module, "andre", andre)
    return module


def test_the_family_is_defined_and_the_other_one_too(tmp_path, monkeypatch, capsys):
    load("family", monkeypatch).main(tmp_path, *FAST)
    theory = open_run(tmp_path / "run")
    assert theory["uncle/2"].program in (
        parse_program("uncle(X,Y) :- male(X), sibling(X,Z), parent(Z,Y)."),
        parse_program("uncle(X,Y) :- male(X), sibling(Z,X), parent(Z,Y)."),
    )
    assert theory.evaluate(read_facts(tmp_path / "others.pl")).overall.accuracy == 1.0
    assert "all\t1.0000\t1.0000\t1.0000" in capsys.readouterr().out
    assert (tmp_path / "run" / "report.html").stat().st_size > 10_000


def test_families_share_no_person(tmp_path, monkeypatch):
    family = load("family", monkeypatch)
    for name, letter in (("one.pl", "a"), ("two.pl", "b")):
        (tmp_path / name).write_text(family.draw_family(letter, 2, family.Random(0)).text())
    one, two = (set(read_facts(tmp_path / name).constants) for name in ("one.pl", "two.pl"))
    assert one
    assert not one & two


def test_faults_are_explained_and_wrong_entries_found(tmp_path, monkeypatch, capsys):
    load("faults", monkeypatch).main(tmp_path, *FAST)
    found = parse_program("fault :- hot, vibrating. fault :- leaking, \\+ serviced.")
    assert open_run(tmp_path / "run").program == found
    counts = re.search(r"(\d+) entries contradict .*; (\d+) are wrong, (\d+) of", capsys.readouterr().out)
    suspects, wrong, among = map(int, counts.groups())
    assert among > 0.9 * wrong > 40
    assert among > 0.75 * suspects
    assert (tmp_path / "run" / "report.html").stat().st_size > 10_000


def test_the_graph_is_completed(tmp_path, monkeypatch, capsys):
    load("products", monkeypatch).main(tmp_path, *FAST)
    theory = open_run(tmp_path / "run")
    assert theory.plan.mode == "complete"
    assert len(theory["made_by/2"].program) > 0
    counts = re.search(r"(\d+) new facts; (\d+) were withheld, (\d+) of", capsys.readouterr().out)
    new, withheld, among = map(int, counts.groups())
    assert among > 0.9 * withheld > 50
    assert among > 0.9 * new
    assert (tmp_path / "run" / "report.html").stat().st_size > 10_000


def test_an_example_is_one_command(tmp_path):
    words = [sys.executable, EXAMPLES / "faults" / "run.py", tmp_path, *FAST]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("report.html")
