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


def test_rules_of_runs_and_of_a_file_are_in_the_pool(base, tmp_path):
    """Nothing is enumerated, so what ranks first is said by the rules that were handed over."""
    nothing = ("--set", "short=false", "--set", "constants=0", "--set", "chains=0", "--limit", 1)
    program = tmp_path / "rules.pl"
    program.write_text("likes(X, Y) :- knows(Y, X).\n")
    assert "knows" not in run(base, "likes(x12, ?)", *nothing).stdout
    assert "likes(x12, y12)" in run(base, "likes(x12, ?)", *nothing, "--with", program).stdout
    found = run(base, "likes(x12, ?)", *nothing, "--propose").stdout
    assert "likes(x12, y12)" in found
    assert "knows(X2, X1)" in found


def test_a_saved_run_is_not_learned_again(base, tmp_path):
    run(base, "--out", tmp_path / "run")
    with pytest.raises(AndreError, match="learned already"):
        run(tmp_path / "run", "likes(x12, ?)", "--propose")


def test_a_setting_of_one_way_of_scoring(base):
    found = json.loads(run(base, "likes(x12, ?)", "--set", "aggregators=maximum", "--json").stdout)
    assert found["chosen"]["aggregator"] == "maximum"


def test_a_name_that_is_none(tmp_path):
    with pytest.raises(AndreError, match="there is no file, task or dataset nowhere"):
        run("nowhere", "p(a, ?)")
