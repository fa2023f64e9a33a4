"""The report of a theory says what its engine derives."""

import json
import sys

import pytest

from andre.cli.app import main
from andre.facts import TASKS, FactBase, write_facts
from andre.inference import infer
from andre.learning import Plan, learn
from andre.logic import Atom
from andre.report import gather_theory
from andre.report.html import render
from andre.runs import FactSource, Origin, save

TASK = TASKS["even"]


@pytest.fixture(scope="module")
def facts():
    return TASK.train()


@pytest.fixture(scope="module")
def theory(facts):
    plan = Plan.of(facts, "even/1", variables=2, restarts=2, rounds=1)
    assert plan.config.training.restarts == 2
    return learn(facts, "even/1", plan)


def test_predictions_are_what_the_program_derives(theory, facts):
    (target,) = gather_theory(theory, facts=facts).targets
    derived = set(map(str, infer(theory.program, theory.evidence(facts))))
    listed = {p.text for row in target.rules for p in row.predictions}
    assert listed == {text for text in derived if text.startswith("even")}
    for row in target.rules:
        for p in row.predictions:
            assert p.text == str(row.rule.head).replace(str(row.rule.variables[0]), p.terms[0])
            assert p.holds == (p.text in set(map(str, facts.atoms("even", 1))))


def test_counts_are_those_of_the_definition(theory, facts):
    (target,) = gather_theory(theory, facts=facts).targets
    (definition,) = theory
    assert target.census.steps["groundings"] == definition.counts.groundings
    assert target.census.positive == definition.counts.positive
    assert target.confusions[0].true_positives == definition.confusion.true_positives
    assert [item.why for item in target.rejected] == [item.reason for item in definition.rejected]
    assert sum(row.alone for row in target.rules) == pytest.approx(1)  # no number is even for two reasons
    assert "even(X) :-" in render(gather_theory(theory, facts=facts))


def test_what_rules_alone_explain_is_of_all_facts():
    """Not of those few that are explained one by one, the first of which one rule derives."""
    lines = [f"h(a{n})" for n in range(2500)]
    lines += [f"{'early' if n < 2400 else 'late'}(a{n})" for n in range(2500)]
    lines += [f"one(a{n})" for n in range(3000)]
    few = FactBase.from_facts(map(Atom.parse, lines))
    theory = learn(few, "h/1", variables=1, restarts=1, rounds=1, steps=30)
    (target,) = gather_theory(theory, facts=few).targets
    alone = {str(row.rule): row.alone for row in target.rules}
    assert alone == {"h(X1) :- early(X1).": pytest.approx(0.96), "h(X1) :- late(X1).": pytest.approx(0.04)}


def test_without_facts_the_report_says_what_is_missing(theory):
    (target,) = gather_theory(theory).targets
    assert "--data" in target.notes[-1]
    assert all(row.alone is None and not row.predictions for row in target.rules)


@pytest.fixture
def andre(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["andre", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code or 0, *capsys.readouterr()

    return run


def test_the_command_finds_the_facts_again(andre, theory, facts, tmp_path):
    path, run = tmp_path / "even.pl", tmp_path / "run"
    write_facts(facts, path)
    command = ("andre", "learn", str(path))
    save(theory, run, Origin(command, facts=FactSource.of(str(path))))
    values = json.loads(andre("report", run, "--json")[1])
    assert values["targets"][0]["rules"][0]["predictions"]
    assert f"andre learn {path}" in values["provenance"]["command"]
    path.rename(tmp_path / "moved.pl")
    assert not json.loads(andre("report", run, "--json")[1])["targets"][0]["rules"][0]["predictions"]
    again = json.loads(andre("report", run, "--json", "--data", tmp_path / "moved.pl")[1])
    assert again["targets"] == values["targets"]
    andre("report", run)
    assert (run / "report.html").stat().st_size > 10_000


def test_a_run_that_has_not_ended_says_how_to_go_on(andre, theory, tmp_path):
    save(theory, tmp_path / "run")
    (tmp_path / "run" / "run.json").unlink()
    status, _, err = andre("report", tmp_path / "run")
    assert status == 2
    assert "andre learn" in err


def test_a_theory_saved_without_its_origin_has_a_report(andre, theory, tmp_path):
    save(theory, tmp_path / "run")
    assert "report.html" in andre("report", tmp_path / "run")[1]


def test_sources_are_there_as_long_as_they_are_the_same(tmp_path):
    file = tmp_path / "facts.pl"
    file.write_text("p(a).\n")
    source, folder = FactSource.of(str(file)), FactSource.of(str(tmp_path))
    assert source.is_there
    assert folder.is_there
    assert FactSource.of("even").is_there
    file.write_text("p(b).\n")
    assert not source.is_there
    assert not FactSource(str(tmp_path / "gone")).is_there
