"""`andre bench`: what is printed, what is written, what is refused."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from benchmarks.command import bench
from typer.testing import CliRunner

from andre.cli.app import app
from andre.errors import ConfigError, DataError


def _run(*arguments):
    return CliRunner().invoke(app, ["bench", *arguments], catch_exceptions=False)


def test_markdown_when_piped():
    result = _run("operators")
    assert result.exit_code == 0
    assert result.stdout.startswith("## Operators")
    assert "| attention |" in result.stdout


def test_json_is_a_whole_report():
    report = json.loads(_run("synthetic", "--cells", "R1:100", "--seeds", "1", "--json").stdout)
    assert report["name"] == "synthetic"
    assert report["data"]["trials"][0]["rows"] == 100
    assert {"andre", "torch"} <= set(report["versions"])


def test_out_writes_results_and_page(tmp_path):
    assert _run("synthetic", "--cells", "R1:50", "--seeds", "1", "--out", str(tmp_path)).exit_code == 0
    assert json.loads((tmp_path / "benchmarks" / "synthetic.json").read_text())["title"].startswith(
        "Synthetic"
    )
    page = tmp_path / "benchmarks.md"
    whole = page.read_text()
    page.unlink()
    assert _run("page", str(tmp_path)).exit_code == 0
    assert page.read_text() == whole


def test_mistakes_are_told_before_anything_is_measured(tmp_path):
    with pytest.raises(ConfigError, match="there is no cell 'R9'"):
        _run("synthetic", "--cells", "R9")
    with pytest.raises(ConfigError, match="there is no preset 'papyrus'"):
        _run("synthetic", "--cells", "R1:20", "--preset", "papyrus")
    for name in ("classical", "noise"):
        with pytest.raises(ConfigError, match="there is no task 'evn'"):
            _run(name, "--tasks", "evn")
    with pytest.raises(DataError, match="there are no reports"):
        _run("page", str(tmp_path))
    assert _run("synthetic", "--seeds", "0").exit_code == 2


def test_every_table_has_a_command():
    names = {command.name or command.callback.__name__ for command in bench.registered_commands}
    tables = {
        "census",
        "classical",
        "kb",
        "noise",
        "ranking",
        "synthetic",
        "ablation",
        "operators",
        "visual",
        "wide",
    }
    assert names == {*tables, "all", "figures", "page"}


def test_help_imports_no_torch():
    code = "import sys\nfrom andre.cli.bench import bench\nassert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
