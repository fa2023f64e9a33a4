"""What a terminal shows: programs, runs and progress as they are, and nothing where there is none."""

import io
import re

import numpy as np
import pytest
from rich.console import Console

from andre.evaluation import CrispSample
from andre.learning import Config, fit, rejected_rules
from andre.logic import parse_program
from andre.memory import peak_megabytes
from andre.report import (
    LiveProgress,
    document,
    listing,
    outcome,
    overview,
    row_table,
    rule_table,
    run_table,
    why_no_rule,
)
from andre.runs import load, prolog
from andre.samples import SYNTHETIC_TASKS, Sample

SMALL = Config.preset(restarts=2, rounds=1, subrules=(2,))
BRIEF = Config.preset(restarts=2, rounds=1, subrules=(2,), steps=45)
TASK = SYNTHETIC_TASKS["four"]


@pytest.fixture(scope="module")
def result():
    return fit(TASK.sample(100, seed=0), SMALL, validation=TASK.sample(50, seed=1))


def printed(thing, width: int = 100, **options) -> str:
    console = Console(file=io.StringIO(), width=width, **options)
    console.print(thing)
    return console.file.getvalue()


def test_a_rule_table_shows_the_evidence_of_every_split(result):
    text = printed(rule_table(result.program))
    for rule in result.program:
        line = next(line for line in text.splitlines() if str(rule) in line)
        numbers = [f"{n:g}" for item in rule.evidence for n in (item.n_b, item.n_r)]
        assert [word for word in line.replace(str(rule), "").split() if "." not in word][1:] == numbers
    assert text.split()[:2] == ["train", "validation"]


def test_a_rule_that_is_too_wide_is_folded_and_not_cut(result):
    lines = printed(rule_table(result.program), width=60).splitlines()
    rules = "".join(line[3:].split("  ")[0] for line in lines[2:])
    assert rules.replace(" ", "") == str(result.program).replace(" ", "").replace("\n", "")
    assert "…" not in "".join(lines)


def test_a_listing_is_the_prolog_file(result):
    assert listing(result) == prolog(result)
    (shown,) = overview(result)
    assert shown.plain + "\n" == prolog(result)


def test_runs_come_with_the_shortest_description_first(result):
    text = printed(run_table(result, most=1))
    assert f"{min(run.length for run in result.runs):.1f}" in text
    assert run_table(result, most=1).row_count == 1
    assert run_table(result).row_count == len(result.runs)


def test_unknown_cells_are_blank():
    text = printed(row_table(["[b1]", "b2"], np.array([[0.25, np.nan]]), "h", np.array([True])))
    assert text.split() == ["[b1]", "b2", "h", "0.25", "1"]


def test_progress_shows_the_best_program_on_a_terminal():
    console = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)
    with LiveProgress(console) as progress:
        fit(TASK.sample(100, seed=0), SMALL, callbacks=[progress])
    shown = console.file.getvalue()
    assert "round 1 of at most 1" in shown
    assert "steps/s" in shown
    assert "2 of 2 runs moving" in shown


def test_progress_shows_the_losses_of_the_last_look_and_the_memory():
    seen = []

    class Watch(LiveProgress):
        def on_step(self, state):
            last = state.history[-1].losses[0] if state.history else None
            seen.append((last, printed(self.render(state))))

    fit(TASK.sample(100, seed=0), BRIEF, callbacks=[Watch()])
    for losses, text in seen:
        if losses is None:
            assert "losses come at the first look" in text
        else:
            assert f"cross entropy {np.nanmean(losses):.3f}" in text
        assert peak_megabytes() is None or re.search(r"[\d,]+ MB", text)
    assert {losses is None for losses, _ in seen} == {False, True}


def test_progress_is_silent_elsewhere():
    console = Console(file=io.StringIO(), force_terminal=False)
    with LiveProgress(console) as progress:
        fit(TASK.sample(100, seed=0), BRIEF, callbacks=[progress])
    assert console.file.getvalue() == ""


def test_no_color_is_honoured(result, monkeypatch):
    coloured = re.compile(r"\x1b\[[0-9;]*3[0-7]m|\x1b\[38")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not coloured.search(printed(overview(result)[0], force_terminal=True))


def test_a_long_program_is_cut_short_while_learning():
    seen = []

    class Watch(LiveProgress):
        def on_step(self, state):
            codes = np.eye(4, dtype=np.int8).repeat(3, axis=0)
            state.best = type(state.best)(codes, 1.0)
            seen.append(printed(self.render(state)))

    fit(TASK.sample(100, seed=0), BRIEF, callbacks=[Watch()])
    assert "and 4 more" in seen[0]


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_why_there_is_no_rule(preset):
    config = Config.preset(preset, restarts=1, rounds=1, subrules=(1,), steps=3)
    nothing = fit(Sample.from_arrays([[0], [0], [1], [1]], [0, 1, 0, 1]), config)
    assert "no rule was found (4 rows, 2 of them positive)" in why_no_rule(nothing)
    assert outcome(nothing).startswith("no rule, accuracy 0.5000 (train)")
    assert document(nothing)["why_no_rule"] == why_no_rule(nothing)


@pytest.mark.parametrize("criterion", ["description", "accuracy", "soundness"])
def test_too_little_support_is_a_reason(criterion):
    rows = np.array([[1, 0], [1, 1], [0, 1], [0, 0]] * 10)
    sample, options = (
        Sample.from_arrays(rows, rows[:, 0]),
        {"rounds": 1, "restarts": 2, "criterion": criterion},
    )
    assert why_no_rule(fit(sample, Config.preset(min_support=20, **options))) is None
    nothing = fit(sample, Config.preset(min_support=21, **options))
    assert "right more often than 0.5 and about 21 examples at least" in why_no_rule(nothing)
    found = rejected_rules(nothing, CrispSample.of(sample))
    assert any("its support of 20 is below 21" in item.reason for item in found)


def test_stopping_is_a_reason():
    config = Config.preset(restarts=1, rounds=1, subrules=(1,), time_limit=1e-9, refine=False)
    stopped = fit(Sample.from_arrays([[0], [0], [1], [1]], [0, 1, 0, 1]), config)
    assert "give it more time" in why_no_rule(stopped)


def test_a_completion_is_shown_relation_by_relation(runs):
    shown = "".join(printed(part, width=200) for part in overview(load(runs.rank)))
    assert shown.startswith("scored by ")
    assert shown.index("likes/2: ") < shown.index("likes(X, Y) :- knows(Y, X)")
    assert "knows/2: " in shown


def test_names_are_no_markup():
    (rule,) = parse_program("'[bold]h'(X) :- '[/b]'(X).")
    assert "[bold]h" in printed(rule_table(parse_program(str(rule))))
    assert "[/b]" in printed(rule_table(parse_program(str(rule))))
