"""`./dev bench`: one list, from which command line, page and `all` are made."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

import benchmarks.__main__ as command
from andre.errors import ConfigError, DataError
from benchmarks import BENCHMARKS, CHAPTERS, Benchmark, disk, parse_names
from benchmarks.report import Report, seed_range
from benchmarks.speed import TIMED

_DOCS = Path(__file__).parents[2] / "docs"
#: Benchmarks that are not on the page yet: each leaves this list when it is measured.
_TO_MEASURE = {"embeddings"}


def test_the_page_has_every_benchmark_with_the_settings_of_the_list():
    """What `all` measures is what is published: names, titles, seeds, presets, datasets, processes."""
    kept = {path.stem: json.loads(path.read_text()) for path in (_DOCS / "benchmarks").glob("*.json")}
    assert set(kept) == set(BENCHMARKS) - _TO_MEASURE
    sizes = [[10**4, 10**5, 10**6, 10**7], [*disk.SIZES]]
    whole = {"cells": {28, 14}, "tasks": {10, 4, 34, 20}, "sizes": sizes}
    for name, report in kept.items():
        benchmark, said = BENCHMARKS[name], dict(report["settings"])
        assert report["name"] == name
        assert report["title"] == benchmark.title
        for key in ("seed", "preset", "workers", "m", "rows", "noise"):
            if key in benchmark.settings:
                assert said[key] == benchmark.settings[key], (name, key)
        if "seeds" in benchmark.settings:
            first = benchmark.settings.get("first", 0)
            assert said["seeds"] == seed_range(benchmark.settings["seeds"], first)
        for key, values in whole.items():
            assert key not in said or said[key] in values, name
    assert kept["census"]["settings"]["sizes"][-1] == BENCHMARKS["census"].settings["facts"]


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_function_takes_the_settings_of_its_line(name):
    module, function = BENCHMARKS[name].function.split(":")
    found = signature(getattr(import_module(f"benchmarks.{module}"), function))
    assert set(found.parameters) == {*BENCHMARKS[name].settings, "tick"}


def test_all_measures_every_line_as_published(monkeypatch, tmp_path, capsys):
    measured = {}

    def pretend(self, tick, **changed):
        (name,) = (name for name, line in BENCHMARKS.items() if line is self)
        if name == "kb-times":
            raise DataError("there is no dataset here")
        measured[name] = {**self.settings, **changed}
        return Report(name, self.title, "", {}, 0.0)

    monkeypatch.setattr(Benchmark, "measure", pretend)
    assert command.main(["all", "--out", str(tmp_path)]) == 1
    assert measured == {name: dict(line.settings) for name, line in BENCHMARKS.items() if name != "kb-times"}
    assert "kb-times left out: there is no dataset here" in capsys.readouterr().err
    for chapter in CHAPTERS:
        page = (tmp_path / "benchmarks" / f"{chapter.name}.md").read_text()
        sections = [f"## {BENCHMARKS[name].title}" for name in chapter.benchmarks if name in measured]
        assert [line for line in page.splitlines() if line.startswith("## ")] == sections


def test_all_tells_what_the_page_has_beside_it(monkeypatch, tmp_path, capsys):
    def pretend(self, tick, **changed):
        (name,) = (name for name, line in BENCHMARKS.items() if line is self)
        return Report(name, self.title, "", {}, 0.0)

    monkeypatch.setattr(Benchmark, "measure", pretend)
    assert command.main(["all", "--out", str(tmp_path)]) == 0
    assert not capsys.readouterr().err
    Report("by-hand", "By hand", "", {}, 0.0).write(tmp_path)
    assert command.main(["all", "--out", str(tmp_path)]) == 1
    assert "the pages also have by-hand, which `all` does not measure" in capsys.readouterr().err


def test_markdown_when_piped(capsys):
    assert command.main(["operators"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("## Operators")
    assert "| attention |" in printed


def test_out_writes_results_and_page_and_json_is_a_whole_report(tmp_path, capsys):
    arguments = ["synthetic", "--cells", "R1:50", "--seeds", "1", "--out", str(tmp_path), "--json"]
    assert command.main(arguments) == 0
    printed = capsys.readouterr().out
    assert printed == (tmp_path / "benchmarks" / "synthetic.json").read_text()
    report = json.loads(printed)
    assert report["title"] == BENCHMARKS["synthetic"].title
    assert report["data"]["trials"][0]["rows"] == 50
    assert {"andre", "torch"} <= set(report["versions"])
    pages = {path: path.read_text() for path in (tmp_path / "benchmarks").glob("*.md")}
    assert {path.name for path in pages} == {"index.md", "paper.md", "synthetic.md"}
    for path in pages:
        path.unlink()
    assert command.main(["page", str(tmp_path)]) == 0
    assert {path: path.read_text() for path in pages} == pages


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("synthetic", "--cells", "R9"), "there is no cell 'R9'"),
        (("synthetic", "--cells", "R1:20", "--preset", "papyrus"), "there is no preset 'papyrus'"),
        (("synthetic", "--seeds", "0"), "--seeds must be at least 1"),
        (("classical", "--tasks", "evn"), "there is no task 'evn'"),
        (("noise", "--tasks", "odd"), "there is no task 'odd' here: choose among lessThan"),
        (("ranking", "--datasets", "freebase"), "there is no dataset 'freebase' here: choose among nations"),
        (("ranking", "--pools", "long"), "there is no pool 'long'"),
        (("kb-accuracy", "--datasets", "fb15k"), "there is no dataset 'fb15k'"),
        (("kb-times", "--datasets", "uw_cse"), "there is no dataset 'uw_cse'"),
        (("ilp", "--tasks", "trians1"), "there is no task 'trians1'"),
        (("ilp-few", "--tasks", "odd"), "there is no task 'odd' here: choose among dilp_predecessor"),
        (("page", "."), "there are no reports"),
    ],
)
def test_mistakes_are_told_before_anything_is_measured(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert command.main(arguments) == 2
    assert message in capsys.readouterr().err


def test_names_with_commas():
    assert parse_names(None, ("a", "b"), "task") == ("a", "b")
    assert parse_names("b, a,b", ("a", "b"), "task") == ("b", "a")
    for wrong in ("c", "", "a,,b"):
        with pytest.raises(ConfigError, match="there is no task"):
            parse_names(wrong, ("a", "b"), "task")


def test_help_lists_every_name_and_imports_no_torch(capsys):
    with pytest.raises(SystemExit):
        command.main(["--help"])
    printed = capsys.readouterr().out
    assert all(f" {name}" in printed for name in BENCHMARKS)
    code = "import sys; import benchmarks.__main__; assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_speed_benchmarks_can_still_be_run():
    """They are measured by hand only: what they import and the program they start must not rot."""
    paths = sorted((Path(__file__).parents[2] / "benchmarks" / "speed").glob("test_*.py"))
    modules = {path.stem: import_module(f"benchmarks.speed.{path.stem}") for path in paths}
    assert {f"test_{room}" for room in TIMED} < set(modules)
    exec(modules["test_core"]._LEARN, {})
