"""`andre census`: what it prints, and what it says to bad input."""

import json
from pathlib import Path

import pytest

FACTS = "p(a,b).\np(b,c).\nq(a,c).\nq(c,d).\nu(d,d).\nonly(a,b).#TEST\n"


@pytest.fixture
def census(tmp_path, andre):
    """Count a target of the facts above."""
    path = tmp_path / "facts.nl"
    path.write_text(FACTS)
    return lambda *options: andre("census", path, *options)


def test_json_has_the_counts(census):
    shown = json.loads(census("--target", "p/2", "--semantics", "rows", "--preset", "paper", "--json").out)
    assert shown["groundings"] == 2 * 2 * 4
    assert shown["rows"] == shown["groundings"] - shown["dropped"] == shown["positive"] + shown["negative"]
    assert 0 < shown["distinct"] <= shown["rows"]


@pytest.mark.parametrize("mode", ["define", "complete"])
def test_text_has_the_counts_time_and_memory(mode, census):
    done = census("--target", "p", "--semantics", "exists", "--mode", mode)
    assert done.status == 0
    lines = dict(line.split(maxsplit=1) for line in done.out.splitlines())
    heads = 4 * 4 if mode == "define" else 4 * 3  # identity leaves out p(x, x)
    assert lines["rows"] == str(heads)
    assert lines["positive"] == "2"
    assert lines["time"].endswith(" s")


def test_the_plan_is_told(census):
    options = ["--target", "p/2", "--semantics", "rows", "--preset", "paper"]
    steps = json.loads(census(*options, "--json").out)["plan"]["steps"]
    assert {step["strategy"] for step in steps} == {"list"}
    assert len(steps) == 5  # the partitions of three variables
    lines = [line for line in census(*options).out.splitlines() if line.startswith("plan ")]
    assert lines == [f"plan         list {step['strata'][0]}: {step['why']}" for step in steps]
    assert "groundings are quicker to list than" in lines[0]


def test_head_atoms_are_drawn(census):
    shown = json.loads(census("--target", "p", "--heads", "9", "--seed", "1", "--json").out)
    assert (shown["sampled"], shown["rows"], shown["positive"]) == (9, 16, 2)
    assert shown["plan"]["draw"] == {"most": 9, "of": 16, "seed": 1}
    done = census("--target", "p", "--heads", "9", "--semantics", "rows")
    assert done.status == 2
    assert "in exists only" in done.err


def test_a_language_file_is_read(census, tmp_path):
    path = tmp_path / "language.toml"
    path.write_text("target = 'p/2'\nvariables = 2\nexclude = ['q']\n")
    assert json.loads(census("--language", path, "--json").out)["groundings"] == 16


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "r/2"], "there is no relation r/2"),
        (["--target", "only/2"], "occurs only in test facts"),
        (["--target", "p/2", "--variables", "9"], "9 variables for 4 constants"),
        (["--target", "p/2", "--variables", "1"], "set variables to at least 2"),
        (["--target", "p/2", "--memory-limit", "0"], "a memory limit of 0 MB is too low"),
        (["--target", "p/2", "--memory-limit", "0KB"], "a memory limit of 0 MB is too low"),
        (["--target", "p/2", "--memory-limit", "much"], "--memory-limit much is no size: give gigabytes"),
        (["--target", "p/2", "--memory-limit", "4 apples"], "is no size"),
        (["--target", "p/2", "--semantics", "every"], "choose rows or exists"),
        (["--target", "p/2", "--preset", "papers"], "choose default or paper"),
        (["--target", "p/2", "--language", "none.toml"], "there is no file none.toml"),
        ([], "name one of"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(options, message, census):
    done = census(*options)
    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_one_class_is_refused(tmp_path, andre):
    Path(tmp_path, "facts.nl").write_text("p(a,b).\nq(b,c).\n")
    done = andre("census", tmp_path / "facts.nl", "--target", "p/2", "--semantics", "rows")
    assert done.status == 2
    assert "no negative examples in rows" in done.err
