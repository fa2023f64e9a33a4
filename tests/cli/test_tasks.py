"""`andre tasks`: the list on stdout, facts in a file, status 2 for mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from andre.cli.app import app
from andre.errors import AndreError, DataError
from andre.facts import TASKS, read_facts, read_source

runner = CliRunner()


def andre(*args: str | Path) -> str:
    done = runner.invoke(app, list(map(str, args)))
    if isinstance(done.exception, AndreError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def test_tasks_are_listed() -> None:
    lines = andre("tasks").splitlines()
    assert lines[0].split("\t") == ["name", "target", "variables", "constants", "facts", "summary"]
    assert [line.split("\t")[0] for line in lines[1:]] == list(TASKS)
    assert lines[4].startswith("lessThan\tlessThan/2\t3\t33/105\t561/5565\t")


def test_tasks_as_json() -> None:
    shown = json.loads(andre("tasks", "--json"))
    assert [task["name"] for task in shown] == list(TASKS)
    one = json.loads(andre("tasks", "odd", "--json"))
    assert one == shown[1]
    assert one["train"] == {"constants": 66, "facts": 99}
    assert one["background"] == ["successor/2", "zero/1"]


@pytest.mark.parametrize("name", TASKS)
def test_facts_of_a_task_are_written(name: str, tmp_path: Path) -> None:
    andre("tasks", name, "--out", tmp_path / "facts.pl")
    assert read_facts(tmp_path / "facts.pl") == TASKS[name].train()
    andre("tasks", name, "--out", tmp_path / "facts.jsonl", "--split", "test", "--seed", "5")
    assert read_facts(tmp_path / "facts.jsonl") == TASKS[name].test(5)


def test_a_source_is_a_path_or_a_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_source("odd") == TASKS["odd"].train()
    Path("odd").write_text("p(a).")
    assert len(read_source("odd")) == 1  # a path that exists wins
    with pytest.raises(DataError, match=r"there is no file none\.pl: check the path"):
        read_source("none.pl")
    with pytest.raises(DataError, match="no file, task or dataset oddly: tasks are predecessor, odd"):
        read_source("oddly")


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        (["tasks", "less"], AndreError, "there is no task less: choose from predecessor, odd"),
        (["tasks", "--out", "x.pl"], AndreError, "there is no task to write: name one before --out"),
        (["tasks", "odd", "--out", "x.pl", "--split", "valid"], AndreError, "no split 'valid'"),
        (["tasks", "odd", "--out", "facts"], DataError, "name a format"),
    ],
)
def test_mistakes_end_in_a_sentence(
    args: list[str], error: type[AndreError], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        andre(*args)
    assert not list(tmp_path.iterdir())
