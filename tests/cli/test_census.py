"""`andre census`: what it prints, and what it says to bad input."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from andre.cli.app import main

FACTS = "p(a,b).\np(b,c).\nq(a,c).\nq(c,d).\nu(d,d).\nonly(a,b).#TEST\n"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["andre", "census", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "facts.nl"
    path.write_text(FACTS)
    return str(path)


def test_json_has_the_counts(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--target", "p/2", "--semantics", "rows", "--preset", "paper", "--json"]
    assert run(monkeypatch, source, *options) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["groundings"] == 2 * 2 * 4
    assert told["rows"] == told["groundings"] - told["dropped"] == told["positive"] + told["negative"]
    assert 0 < told["distinct"] <= told["rows"]


@pytest.mark.parametrize("mode", ["define", "complete"])
def test_text_has_the_counts_time_and_memory(
    mode: str, source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, source, "--target", "p", "--semantics", "exists", "--mode", mode) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    heads = 4 * 4 if mode == "define" else 4 * 3  # identity leaves out p(x, x)
    assert lines["rows"] == str(heads)
    assert lines["positive"] == "2"
    assert lines["time"].endswith(" s")


def test_head_atoms_are_drawn(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, source, "--target", "p", "--heads", "9", "--seed", "1", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["sampled"], told["rows"], told["positive"]) == (9, 16, 2)
    assert run(monkeypatch, source, "--target", "p", "--heads", "9", "--semantics", "rows") == 2
    assert "in exists only" in capsys.readouterr().err


def test_a_language_file_is_read(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "language.toml"
    path.write_text("target = 'p/2'\nvariables = 2\nexclude = ['q']\n")
    assert run(monkeypatch, source, "--language", str(path), "--json") == 0
    assert json.loads(capsys.readouterr().out)["groundings"] == 16


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "r/2"], "there is no relation r/2"),
        (["--target", "only/2"], "occurs only in test facts"),
        (["--target", "p/2", "--variables", "9"], "9 variables for 4 constants"),
        (["--target", "p/2", "--variables", "1"], "set variables to at least 2"),
        (["--target", "p/2", "--memory-limit", "0"], "MB allowed"),
        (["--target", "p/2", "--semantics", "every"], "choose from rows, exists"),
        (["--target", "p/2", "--preset", "papers"], "choose default or paper"),
        (["--target", "p/2", "--language", "none.toml"], "there is no file none.toml"),
        ([], "name one of"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(
    options: list[str],
    message: str,
    source: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, source, *options) == 2
    told = capsys.readouterr()
    assert message in told.err
    assert told.err.count("\n") == 1
    assert not told.out


def test_one_class_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "facts.nl"
    path.write_text("p(a,b).\nq(b,c).\n")
    assert run(monkeypatch, str(path), "--target", "p/2", "--semantics", "rows") == 2
    assert "no negative examples in rows" in capsys.readouterr().err
