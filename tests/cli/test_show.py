"""`andre show`, `andre report` and `andre fit --report`, for runs of every kind."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from andre.learning import Revised
from andre.logic import parse_atom, parse_program, read_program
from andre.runs import load, save

FAST = ("--set", "restarts=2", "--set", "rounds=1", "--set", "subrules=2,3", "-q")


@pytest.fixture
def table(runs, tmp_path):
    """The four-predicate task as a CSV file that a test may move."""
    return Path(shutil.copy(runs.table, tmp_path))


def test_a_model_remembers_its_table(andre, table, tmp_path):
    run = tmp_path / "run"
    assert andre("fit", table, "--validation", "0.2", "--out", run, *FAST)[0] == 0
    status, out, err = andre("report", run)
    assert (status, out, err) == (0, f"{run / 'report.html'}\n", "")
    page = (run / "report.html").read_text()
    assert f"andre fit {table}" in page
    assert "How many rules" in page
    assert "explains alone" in page
    status, out, _ = andre("report", run, "--json")
    values = json.loads(out)
    assert [rule["rule"] for rule in values["targets"][0]["rules"]] == [
        "h :- b1, \\+ b3.",
        "h :- b4, \\+ b2.",
    ]
    assert values["provenance"]["seed"] == 0
    assert {c["split"] for c in values["targets"][0]["confusions"]} == {"train", "validation"}


def test_a_table_that_is_gone_or_changed_is_not_read(andre, table, tmp_path):
    run, moved = tmp_path / "run", tmp_path / "moved.csv"
    andre("fit", table, "--out", run, *FAST)
    table.rename(moved)
    andre("report", run, "--out", tmp_path / "bare.html")
    assert "rows it was learned from were not at hand" in (tmp_path / "bare.html").read_text()
    andre("report", run, "--out", tmp_path / "full.html", "--data", moved)
    assert "rows it was learned from were not at hand" not in (tmp_path / "full.html").read_text()
    table.write_text(moved.read_text() + "1,1,1,1,1\n")
    andre("report", run, "--out", tmp_path / "bare.html")
    assert "rows it was learned from were not at hand" in (tmp_path / "bare.html").read_text()


def test_a_model_without_origin_has_a_report_too(andre, table, runs, tmp_path):
    save(load(runs.fit), tmp_path / "old")
    assert andre("report", tmp_path / "old").status == 0
    assert andre("report", tmp_path / "old", "--data", table).status == 0
    assert "explains alone" in (tmp_path / "old" / "report.html").read_text()


def test_fit_writes_the_same_report_at_once(andre, table, tmp_path):
    run = tmp_path / "run"
    andre("fit", table, "--out", run, "--report", tmp_path / "now.html", *FAST)
    andre("report", run)
    assert (run / "report.html").read_text() == (tmp_path / "now.html").read_text()


def test_fit_writes_curves_for_tensorboard(andre, table, tmp_path):
    pytest.importorskip("tensorboard")
    assert andre("fit", table, "--tensorboard", tmp_path / "log", *FAST)[0] == 0
    assert len(list((tmp_path / "log").iterdir())) == 1


def test_mistakes_are_sentences(andre, table, runs, tmp_path):
    run = runs.fit
    for arguments, says in (
        (("report", tmp_path / "none"), "there is no folder"),
        (("show", table), "is a file and no saved run"),
        (("report", run, "--out", tmp_path / "no" / "page.html"), "make it first"),
        (("fit", table, "--report", tmp_path / "no" / "page.html"), "make it first"),
        (("report", run, "--data", tmp_path / "no.csv"), "there is no file"),
    ):
        status, out, err = andre(*arguments)
        assert (status, out) == (2, "")
        assert says in err
        assert err.count("\n") == 1


@pytest.mark.parametrize("kind", ["fit", "learn", "rank"])
def test_every_kind_of_run_is_shown(andre, runs, kind):
    run = getattr(runs, kind)
    done = andre("show", run)
    assert (done.status, done.err) == (0, "")
    assert parse_program(done.out) == read_program(run)
    values = json.loads(andre("show", run, "--json").out)
    found = values["rules"] if kind == "fit" else [r for t in values["targets"] for r in t["rules"]]
    assert parse_program(" ".join(rule["rule"] for rule in found)) == read_program(run)
    assert {"n_b", "n_r", "confidence"} == found[0]["evidence"]["train"].keys()


def test_a_completion_says_how_its_rules_score_and_what_they_are_about(andre, runs):
    completion, out = load(runs.rank), andre("show", runs.rank).out
    assert out.startswith(f"% scored by {completion.scorer.aggregator}, confidence N_r / (N_b + ")
    assert "\n% likes/2: " in out
    only = andre("show", runs.rank, "--target", "likes").out
    assert {rule.head.predicate for rule in parse_program(only)} == {"likes"}
    table = andre("show", runs.rank, "--target", "likes/2", "--to", "csv").out
    assert len(table.splitlines()) == 1 + len(parse_program(only))
    values = json.loads(andre("show", runs.rank, "--json").out)
    assert values["chosen"]["aggregator"] == completion.scorer.aggregator
    assert len(values["choices"]) == len(completion.choices)
    assert "12" in andre("show", runs.rank, "--targets").out


@pytest.mark.parametrize(
    ("kind", "options", "says"),
    [
        ("rank", ["--runs"], "made by andre rank, without training"),
        ("rank", ["--plots", "figures"], "made by andre rank, without training"),
        ("rank", ["--pool"], "has no pool of rules"),
        ("fit", ["--pool"], "has no pool of rules"),
        ("rank", ["--target", "hates/2"], "hates/2 was not learned: there is"),
        ("learn", ["--target", "hates/2"], "hates/2 was not learned: there is grand/2"),
        ("fit", ["--target", "hates/2"], "hates/2 was not learned: there is h/0"),
        ("learn", ["--to", "latex"], "there is no program format 'latex'"),
    ],
)
def test_what_a_run_does_not_have_is_said(andre, runs, kind, options, says):
    done = andre("show", getattr(runs, kind), *options)
    assert (done.status, done.out) == (2, "")
    assert says in done.err


def test_the_report_of_a_completion_has_its_facts_with_it(andre, runs, tmp_path):
    page = tmp_path / "page.html"
    assert andre("report", runs.rank, "--out", page) == (0, f"{page}\n", "")
    text = page.read_text()
    for wanted in ("How candidates are scored", "Reliability", "Ways that were tried", "1 test fact among"):
        assert wanted in text
    values = json.loads(andre("report", runs.rank, "--json").out)
    heads = {target["head"]: target for target in values["targets"]}
    assert set(heads) == {"likes(X, Y)", "knows(X, Y)"}
    assert heads["likes(X, Y)"]["rules"][0]["predictions"][0]["text"] == "likes(x12, y12)"
    assert heads["likes(X, Y)"]["rules"][0]["predictions"][0]["split"] == "test"
    evaluated = json.loads(andre("rank", runs.rank, "--evaluate", "test", "--json").out)["evaluation"]
    assert values["scoring"]["ranking"]["rows"]["realistic"][0] == evaluated["mrr"]["realistic"]
    assert values["provenance"]["command"] == "andre rank"


def test_notes_are_shown_as_text_and_on_the_page(andre, runs, tmp_path):
    """What is odd about a run reaches everybody who looks at it, and the program stays Prolog."""
    theory, result, done = load(runs.learn), load(runs.fit), load(runs.rank)
    (made,) = theory
    revised = tuple(Revised(parse_atom(f"parent(a, b{n})"), 0.25, True, 0.25) for n in range(5))
    noted = replace(theory, definitions=(replace(made, notes=("recursion was left out",), revised=revised),))
    late = replace(result, stopped="time", cut=("training", "refining"))
    for name, run, says in (
        ("theory", noted, ("grand/2: recursion was left out", "Recursion was left out.")),
        ("result", late, ("cut short: training, refining", "cut short: training, refining.")),
        (
            "rank",
            replace(done, notes=("chains stay out",)),
            ("chains stay out", "Chains stay out."),
        ),
    ):
        save(run, tmp_path / name)
        shown = andre("show", tmp_path / name).out
        assert f"{says[0]}\n" in shown
        assert all(line.startswith("% note: ") for line in shown.splitlines() if says[0] in line)
        assert len(parse_program(shown)) == len(read_program(tmp_path / name))
        assert says[0] not in andre("show", tmp_path / name, "--to", "prolog").out
        andre("report", tmp_path / name)
        assert says[1] in (tmp_path / name / "report.html").read_text()
    (said,) = json.loads(andre("show", tmp_path / "theory", "--json").out)["targets"]
    assert said["revised"] == [
        {"atom": f"parent(a, b{n})", "probability": 0.25, "holds": True} for n in range(5)
    ]
