"""`andre rank`."""

import json
from contextlib import nullcontext

import pytest
from typer.testing import CliRunner

from andre.cli.app import app
from andre.errors import AndreError
from andre.limits import unhurried

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
    assert "knows(Y, X)" in found


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


def test_names_may_stand_as_in_the_file(tmp_path):
    base = tmp_path / "odd.tsv"
    rows = [f"Ann {i}\tLikes most\tBob {i}\nBob {i}\tknows\tAnn {i}\n" for i in range(12)]
    base.write_text("".join(rows) + "Bob 12\tknows\tAnn 12\n")
    for question in ("Likes most(Ann 12, ?)", "'Likes most'('Ann 12', ?)"):
        assert "'Likes most'('Ann 12', 'Bob 12')" in run(base, question, "--limit", 1).stdout


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["likes(x99, ?)"], "no fact mentions x99"),
        (["likes(x1, ?)", "--out", "{base}/run"], "is a file: name another folder"),
        (["--evaluate", "tst"], "valid or test, not 'tst'"),
        (["--evaluate", "test"], "is marked test: mark some"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_learned(base, monkeypatch, args, says):
    monkeypatch.setattr("andre.completion.complete", lambda *_: pytest.fail("it learned"))
    with pytest.raises(AndreError, match=says):
        run(base, *(arg.format(base=base) for arg in args))


def test_what_was_noticed_in_the_facts_is_said(base):
    base.write_text(base.read_text() + "likes(x0, y0).\n")
    assert "1 fact is stated more than once" in run(base, "likes(x12, ?)").stderr


def test_a_candidate_without_a_rule_is_seen_to_have_none(base):
    base.write_text(base.read_text() + "hates(a, b).\nhates(b, c).\n")
    assert "no rule says so" in run(base, "likes(a, ?)", "--limit", 1).stdout
    assert "no rule" not in run(base, "likes(a, ?)", "--limit", 1, "--rules", 0).stdout


def test_no_candidate_is_said(tmp_path):
    (tmp_path / "train.txt").write_text("".join(f"x{i}\tp\ty{i}\ny{i}\tq\tx{i}\n" for i in range(9)))
    (tmp_path / "valid.txt").write_text("")
    (tmp_path / "test.txt").write_text("a\tonly\tb\n")
    assert "there is no candidate for only(a, Answer)" in run(tmp_path, "only(a, ?)").stderr


def test_a_learned_run_is_not_ranked_but_joins(runs):
    with pytest.raises(AndreError, match=f"rank FACTS --with {runs.learn}"):
        run(runs.learn, "likes(x12, ?)")


def test_quiet_is_silent(base):
    assert run(base, "likes(x12, ?)").stderr
    assert run(base, "likes(x12, ?)", "-q").stderr == ""


def test_known_facts_are_told_from_others(base):
    lines = [line for line in run(base, "likes(x1, ?)", "--known").stdout.splitlines() if "chance" in line]
    assert [line.endswith("known") for line in lines] == ["likes(x1, y1)" in line for line in lines]
    assert any(line.endswith("known") for line in lines)


def test_a_known_loop_is_listed_whatever_its_rank(base):
    """No rule is about it, so that it would come last."""
    base.write_text(base.read_text() + "likes(x1, x1).\n")
    assert "likes(x1, x1)" not in run(base, "likes(x1, ?)", "--limit", 1).stdout
    *_, loop, why = run(base, "likes(x1, ?)", "--limit", 1, "--known").stdout.splitlines()
    assert "likes(x1, x1)" in loop
    assert loop.endswith("known")
    assert "no rule can say so: its variables stand for different constants" in why
    whole = json.loads(run(base, "likes(x1, ?)", "--limit", 99, "--known", "--json").stdout)["predictions"]
    assert [one["rank"] for one in whole] == list(range(1, len(whole) + 1))
    (place,) = (one["rank"] for one in whole if one["atom"] == "likes(x1, x1)")
    assert int(loop.split(".")[0]) == place


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_time_limit_holds_for_proposals_and_all_else(base, jobs, monkeypatch):
    from andre.facts import read_source

    def read(*given):
        with unhurried():
            return read_source(*given)

    monkeypatch.setattr("andre.facts.read_source", read)
    monkeypatch.setattr("andre.cli.working.enforced", nullcontext)  # else nothing comes of a busy machine
    done = run(base, "likes(x12, ?)", "--propose", "--time-limit", 1e-6, "--jobs", jobs)
    assert done.exit_code == 0
    assert "the time limit of 5e-07 s was reached before all runs had proposed rules" in done.stderr
    assert "the time limit of 1e-06 s was reached" in done.stderr
    assert "time limit" not in run(base, "likes(x12, ?)", "--time-limit", 1000).stderr


def test_many_questions_at_once(base, tmp_path):
    questions = tmp_path / "questions.tsv"
    questions.write_text("likes(x12, ?)\n\n?\tlikes\ty12\n")
    found = json.loads(run(base, "--batch", questions, "--limit", 1, "--json").stdout)["predictions"]
    assert [one["atom"] for one in found] == ["likes(x12, y12)", "likes(x12, y12)"]
    questions.write_text("x12\tlikes\n")
    with pytest.raises(AndreError, match=r"line 1: .* is no question"):
        run(base, "--batch", questions)
    questions.write_text("likes(x1, ?)\n\nlikes(\n")
    with pytest.raises(AndreError, match=r"line 3: 'likes\(' is no question"):
        run(base, "--batch", questions)
    with pytest.raises(AndreError, match="cannot be read"):
        run(base, "--batch", tmp_path / "none.tsv")


def test_a_large_base_is_learned_in_processes_and_its_directions_are_gone_when_it_is_saved(base, tmp_path):
    large = ("--set", 'sizes={"small": 0}', "--memory-limit", "3", "--limit", 1)
    done = run(base, "likes(x12, ?)", *large, "--jobs", 2, "--out", tmp_path / "run")
    assert "likes(x12, y12)" in done.stdout
    assert not (tmp_path / "run" / "directions").exists()
    assert run(tmp_path / "run", "likes(x12, ?)", "--limit", 1).stdout == done.stdout


def test_rules_of_a_run_rank_other_facts(base, tmp_path):
    run(base, "--out", tmp_path / "run", "--set", "constants=0")
    rows = [f"{i}\tknows\t{i + 100}\n" for i in range(60)] + [
        f"{i + 100}\tlikes\t{i}\n" for i in range(0, 60, 2)
    ]
    other = tmp_path / "other"
    other.mkdir()
    (other / "train.txt").write_text("".join(rows))
    (other / "valid.txt").write_text("101\tlikes\t1\n")
    (other / "test.txt").write_text("".join(f"{i + 100}\tlikes\t{i}\n" for i in range(3, 60, 2)))
    found = run(tmp_path / "run", other, "likes(103, ?)", "--evaluate", "test", "--limit", 1)
    assert "1. likes(103, 3)" in found.stdout
    assert "58 queries on test facts, filtered, both sides" in found.stdout
    assert (
        "58 queries on test facts, filtered, among 50 that are wrong, drawn by seed 0, both sides"
        in found.stdout
    )
    assert found.stdout.count("realistic    MRR 1.0000") == 2
    values = json.loads(run(tmp_path / "run", other, "--evaluate", "test", "--negatives", 7, "--json").stdout)
    assert values["evaluation_among_drawn"]["queries"] == values["evaluation"]["queries"] == 58
    assert "among" not in run(tmp_path / "run", other, "--evaluate", "test", "--negatives", 0).stdout


def test_what_stands_after_facts_must_be_an_atom(base):
    with pytest.raises(AndreError, match="is no saved run whose rules could rank other facts"):
        run(base, base, "--evaluate", "valid")
    with pytest.raises(AndreError, match="several atoms"):
        run(base, "likes(x1, ?)", "likes(x2, ?)")
