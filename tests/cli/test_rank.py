"""`andre rank`."""

import json

import pytest
from typer.testing import CliRunner

from andre.cli.app import app
from andre.errors import AndreError

ROWS = [f"likes(x{i}, y{i})" for i in range(12)] + [f"knows(y{i}, x{i})" for i in range(13)]


@pytest.fixture
def base(tmp_path):
    path = tmp_path / "base.pl"
    path.write_text("".join(f"{row}.\n" for row in ROWS))
    return path


def run(*args):
    return CliRunner().invoke(app, ["rank", *map(str, args)], catch_exceptions=False)


def test_a_candidate_comes_with_its_rule_and_grounding(base):
    lines = run(base, "likes(x12, ?)", "--limit", 1).stdout.splitlines()
    assert "likes(x12, y12)" in lines[0]
    assert any("likes(X, Y) :- knows(Y, X)" in line for line in lines)
    assert any(line.strip() == "as knows(y12, x12)" for line in lines)


def test_a_saved_run_answers_the_same(base, tmp_path):
    first = json.loads(run(base, "likes(?, y12)", "--json", "--out", tmp_path / "run").stdout)
    second = json.loads(run(tmp_path / "run", "likes(?, y12)", "--json").stdout)
    assert first["predictions"] == second["predictions"]
    assert first["predictions"][0]["atom"] == "likes(x12, y12)"


def test_evaluation(base):
    assert "realistic" in run(base, "--evaluate", "valid").stdout


def test_nothing_to_do(base):
    with pytest.raises(AndreError, match="nothing to do"):
        run(base)
