"""`andre fit`, and what becomes of its runs: on real files, wrong files, pipes and terminals."""

import csv
import io
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

from andre.learning import Config, Result, Score
from andre.logic import parse_program
from andre.report import predict_table
from andre.runs import load
from andre.samples import RuleSpace

FAST = ("--set", "restarts=2", "--set", "rounds=1", "--set", "subrules=2,3")
COMMAND = (sys.executable, "-c", "from andre.cli import main; main()")


@pytest.fixture
def table(runs):
    """The four-predicate task as a CSV file."""
    return runs.table


@pytest.fixture
def run(runs):
    """A saved model of it."""
    return runs.fit


def test_fit_prints_a_program_with_evidence_of_both_splits(andre, table):
    status, out, err = andre("fit", table, "--validation", "0.2", *FAST)
    assert status == 0
    assert out.count("% weight +") == 2
    assert [line for line in out.splitlines() if line and not line.startswith("%")] == [
        "h :- b1, \\+ b3.",
        "h :- b4, \\+ b2.",
    ]
    assert re.search(r"% train: accuracy 1.0000, AUC 1.0000, log-loss 0.0\d+ on 80 rows", out)
    assert out.count("% validation: N_b=") == 2
    assert "2 rules, 4 literals; train: accuracy 1.0000" in err
    assert "taken for truth values" in err


def test_quiet_says_nothing_but_the_program(andre, table):
    status, out, err = andre("fit", table, "-q", *FAST)
    assert (status, err) == (0, "")
    assert "h :- " in out


def test_json_is_one_document(andre, table, run):
    for command in (("fit", table, *FAST), ("show", run)):
        status, out, _ = andre(*command, "--json")
        learned = json.loads(out)
        assert status == 0
        rule = next(rule for rule in learned["rules"] if "b1" in rule["rule"])
        assert rule["evidence"]["train"] == {"n_b": 28, "n_r": 28, "confidence": 1}
        assert rule["body"][1] == {"atom": "b3", "negated": True}
        config = learned["config"].get("gradient", learned["config"])
        assert config["training"]["subrules"] == [2, 3]
    assert json.loads(andre("fit", table, *FAST, "--json").out)["classes"] == ["0", "1"]


def test_a_validation_file_is_matched_by_name(andre, table, tmp_path):
    second = tmp_path / "second.csv"
    second.write_text("h,b4,b3,b2,b1,id\n1,0,0,1,1,x\n0,0,1,1,1,y\n")
    status, out, _ = andre("fit", table, "--validation", second, *FAST)
    assert status == 0
    assert re.search("% validation: accuracy 1.0000, .* on 2 rows", out)
    assert "% validation: N_b=1, N_r=1" in out


def test_atoms_weights_and_ignored_columns_reach_the_program(andre, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "family.csv"
    lines = ['"mother(X1,X2)","mother(X2,X3)",who,times,same,"grandmother(X1,X3)"']
    for first, second in rng.integers(0, 2, (60, 2)):
        lines.append(f"{first},{second},ann,2,1,{first & second}")
    path.write_text("\n".join(lines))
    options = ("--label", "grandmother(X1, X3)", "--weight", "times", "--ignore", "who")
    status, out, err = andre("fit", path, *options, *FAST)
    assert status == 0
    assert "grandmother(X1, X3) :- mother(X1, X2), mother(X2, X3)." in out
    assert "on 120 rows" in out
    assert "same is left out: the same value on every row" in err


def test_weights_that_are_shares_are_told_to_count_as_rows(andre, tmp_path):
    path = tmp_path / "shares.csv"
    rows = [f"{row & 1},{row >> 1 & 1},{{0}},{row & 1}" for row in range(40)]
    for weight, said in ((1 / 40, True), (1, False)):
        path.write_text("\n".join(["b1,b2,share,h", *rows]).format(weight))
        status, out, err = andre("fit", path, "--weight", "share", *FAST)
        assert status == 0
        assert ("the weights of 40 rows add up to 1, and count as so many rows" in err) == said
        assert ("h :- b1." in out) != said


def test_why_nothing_was_found_is_said(andre, tmp_path):
    path = tmp_path / "coin.csv"
    path.write_text("b1,h\n0,0\n1,0\n0,1\n1,1\n")
    status, out, err = andre("fit", path, *FAST)
    assert status == 0
    assert ":-" not in out
    assert "no rule tells the classes apart" in err


def test_predictions_name_the_rule_that_fired(andre, run, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("id,b4,b3,b2,b1\nx,0.9,1,0.2,0\ny,0,0.1,1,0.8\nz,0,1,1,\n")
    status, out, err = andre("predict", run, new, "--proba")
    assert (status, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["prediction"] for row in rows] == ["1", "1", "0"]
    assert [row["rule"] for row in rows] == ["h :- b4, \\+ b2.", "h :- b1, \\+ b3.", ""]
    chances = [float(row["probability"]) for row in rows]
    assert chances[1] == pytest.approx(29 / 30)
    assert chances[2] < 0.5
    to = tmp_path / "predictions.csv"
    assert andre("predict", run, new, "--out", to)[:2] == (0, "")
    assert to.read_text() == predict_table(load(run), new)


def test_a_program_without_rules_predicts_0(andre, tmp_path):
    path, folder = tmp_path / "coin.csv", tmp_path / "run"
    path.write_text("b1,h\n0,0\n1,0\n0,1\n1,1\n")
    andre("fit", path, "--out", folder, *FAST)
    assert andre("predict", folder, path)[1] == "prediction,rule\n0,\n0,\n0,\n0,\n"
    accuracy, base, why = andre("show", folder)[1].splitlines()
    assert accuracy.startswith("% train: accuracy 0.5000")
    assert base == "% where no rule fires: h 0.5000"
    assert why.startswith("% note: no rule tells the classes apart")


def test_saving_reading_and_predicting_go_together(andre, table, tmp_path):
    status, program, err = andre(
        "fit", table, "--out", tmp_path / "run", "--checkpoint", tmp_path / "c", *FAST
    )
    assert status == 0
    assert f"saved in {tmp_path / 'run'}" in err
    shown, _, note = andre("show", tmp_path / "run")[1].partition("% note: ")
    assert shown == program
    assert "taken for truth values" in note
    predicted = list(csv.DictReader(io.StringIO(andre("predict", tmp_path / "run", table)[1])))
    assert [row["prediction"] for row in predicted] == [line[-1] for line in table.read_text().split()[1:]]


def test_a_time_limit_is_said(andre, table):
    status, out, err = andre("fit", table, "--time-limit", "0.000001", *FAST)
    assert (status, out) == (2, "")
    assert err == (
        f"andre: the time limit passed in the midst of reading {table}, before there was anything to hand "
        "back: raise it\n"
    )


def test_odd_names_are_found_again(andre, tmp_path):
    path, folder = tmp_path / "odd.csv", tmp_path / "run"
    lines = [f"{a},{b},{c},{a & c}" for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 6
    path.write_text("\n".join(['Sepal Length (cm),it\'s,"lives(X1,New York)",h(X1)', *lines]))
    status, out, _ = andre("fit", path, "--label", "h(X1)", "--out", folder, *FAST)
    assert status == 0
    assert "h(X1) :- 'Sepal Length (cm)', lives(X1, 'New York')." in out
    predicted = list(csv.DictReader(io.StringIO(andre("predict", folder, path)[1])))
    assert [row["prediction"] for row in predicted] == [line[-1] for line in lines]


def test_show_prints_program_runs_and_figures(andre, run, tmp_path):
    pytest.importorskip("matplotlib")
    status, out, _ = andre("show", run)
    assert status == 0
    assert out == (run / "program.pl").read_text()
    assert "subrules" in andre("show", run, "--runs")[1]
    assert andre("show", run, "--plots", tmp_path / "plots")[0] == 0
    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == [
        "accuracy.svg",
        "losses.svg",
        "probabilities.svg",
    ]


def test_the_demo_recovers_its_program_and_its_rows_can_be_fitted(andre, tmp_path):
    status, out, _ = andre("demo", "--save", tmp_path / "four.csv")
    assert status == 0
    assert "h :- b4, \\+ b2." in out
    assert "the hidden program." in out
    assert "h :- b4, \\+ b2." in andre("fit", tmp_path / "four.csv", *FAST)[1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["fit", "none.csv"], "there is no file none.csv"),
        (["fit", "{table}", "--label", "bird"], "no label column 'bird': its columns are 'b1'"),
        (["fit", "{table}", "--set", "steps"], "write NAME=VALUE"),
        (["fit", "{table}", "--set", "stepz=3"], "there is no setting 'stepz'"),
        (["fit", "{table}", "--set", "steps=many"], "training.steps is 'many'"),
        (["fit", "{table}", "--preset", "best"], "there is no preset 'best'"),
        (["fit", "{table}", "--device", "abacus"], "there is no device 'abacus'"),
        (["fit", "{table}", "--validation", "1.5"], "between 0 and 1"),
        (["fit", "{table}", "--validation", "none.csv"], "there is no file none.csv"),
        (["fit", "{table}", "--time-limit", "-1"], "time_limit is -1.0"),
        (["fit", "{table}", "--out", "{table}"], "is a file: name a folder"),
        (["fit", "{table}", "--out", "{table}/run"], "is a file: name another folder"),
        (["show", "nowhere"], "there is no folder nowhere"),
        (["predict", "nowhere", "{table}"], "there is no file nowhere"),
    ],
)
def test_a_mistake_is_one_sentence_and_status_2(andre, table, arguments, says):
    status, out, err = andre(*(argument.format(table=table) for argument in arguments))
    assert (status, out) == (2, "")
    assert says in err
    assert err.startswith("andre: ")
    assert err.count("\n") == 1


def test_a_damaged_or_unfitting_run_is_refused(andre, run, table, tmp_path):
    short = tmp_path / "short.csv"
    short.write_text("b1,b2\n0,1\n")
    status, _, err = andre("predict", run, short)
    assert status == 2
    assert "short.csv has no column 'b3'" in err
    status, _, err = andre("predict", run, table, "--out", tmp_path / "none" / "p.csv")
    assert status == 2
    assert "there is no folder" in err
    damaged = shutil.copytree(run, tmp_path / "damaged")
    (damaged / "run.json").write_text("{")
    status, _, err = andre("show", damaged)
    assert status == 2
    assert "damaged" in err


def test_a_table_comes_in_and_a_program_goes_out_through_pipes(table):
    done = subprocess.run(
        [*COMMAND, "fit", "-", *FAST], input=table.read_bytes(), capture_output=True, timeout=120, check=True
    )
    assert b"h :- b4, \\+ b2.\n" in done.stdout
    assert b"\x1b" not in done.stdout + done.stderr


def test_on_a_terminal_ctrl_c_gives_the_best_program_so_far(table):
    ours, theirs = pty.openpty()
    endless = ("--set", "steps=9999999", "--set", "patience=none")
    with subprocess.Popen([*COMMAND, "fit", table, *endless], stdout=theirs, stderr=theirs) as child:
        os.close(theirs)
        seen = b""
        while chunk := _read(ours):
            before, seen = seen, seen + chunk
            if b"h :- " in seen and b"h :- " not in before:
                child.send_signal(signal.SIGINT)
    os.close(ours)
    assert child.returncode == 0
    assert b"steps/s" in seen
    assert b"stopped by Ctrl-C: this is the best program so far" in seen
    assert b"Traceback" not in seen


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other side has closed
        return b""


@pytest.fixture(scope="module")
def shoes(tmp_path_factory):
    """A table with a column that no rule needs, three classes, one of them written in two ways."""
    rng = np.random.default_rng(0)
    lines = ["size,width,when,brand"]
    for _ in range(160):
        size, width, day = rng.integers(30, 50), rng.integers(1, 9), rng.integers(1, 29)
        brand = "small" if size < 37 else rng.choice(["Large", "large"]) if size > 43 else "medium"
        lines.append(f"{size},{width},2021-03-{day:02},{brand}")
    path = tmp_path_factory.mktemp("shoes") / "shoes.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_columns_and_rows_that_new_tables_may_lack(andre, shoes, tmp_path):
    status, out, err = andre("fit", shoes, "--label", "brand", "--out", tmp_path / "run", *FAST)
    assert status == 0
    assert "is also written" in err
    assert "width" not in out
    new, empty = tmp_path / "new.csv", tmp_path / "empty.csv"
    new.write_text("size\n31\n49\n")
    status, out, _ = andre("predict", tmp_path / "run", new)
    assert status == 0
    assert [line.split(",")[0].lower() for line in out.splitlines()] == ["prediction", "small", "large"]
    empty.write_text("size,width\n")
    status, out, _ = andre("predict", tmp_path / "run", empty, "--proba")
    assert (status, out.count("\n")) == (0, 1)
    assert out.startswith("prediction,P(")
    status, out, _ = andre("rescore", tmp_path / "run", shoes)
    assert status == 0
    assert "% new: accuracy 1.0000" in out  # written as they are shown, and not called those of training
    rules = [line for line in andre("show", tmp_path / "run").out.splitlines() if line.startswith("brand(")]
    assert rules
    assert set(rules) <= set(out.splitlines())


def test_a_saved_classifier_is_judged_by_another_table(andre, shoes, tmp_path):
    assert andre("fit", shoes, "--label", "brand", "--out", tmp_path / "run", *FAST).status == 0
    new = tmp_path / "new.csv"
    new.write_text("size,brand\n31,small\n40,medium\n49,large\n48,small\n")
    status, out, _ = andre("eval", tmp_path / "run", new)
    assert status == 0
    lines = out.splitlines()
    assert lines[0].startswith("accuracy 0.7500, AUC ")
    assert lines[0].endswith(" on 4 rows")
    table = [line.split("\t") for line in lines[1:5]]
    columns = {name: column for name, *column in zip(*table, strict=True)}
    assert columns["rows"] == [
        str(sum(name == own for own in ("small", "medium", "large", "small"))) for name in columns["class"]
    ]
    assert columns["recall"] == ["0.5000" if name == "small" else "1.0000" for name in columns["class"]]
    said = json.loads(andre("eval", tmp_path / "run", new, "--json").out)
    assert said["accuracy"] == 0.75
    assert sorted(map(sum, said["confusion"])) == [1, 1, 2]
    new.write_text("size\n31\n")
    assert andre("eval", tmp_path / "run", new).status == 2


def test_columns_that_no_rule_reads_may_be_missing_from_truth_values(andre, tmp_path):
    space = RuleSpace.from_names(["b1", "b2"])
    program = parse_program("h :- b1.")
    score = Score("train", 1.0, 4.0, 0.0, 2.0, 2.0, 0.0)
    Result(space, Config(), program, 1.0, 2.0, (score,)).save(tmp_path / "run")
    new = tmp_path / "new.csv"
    for text, said in (("b1\n1\n0\n", ["1,h :- b1.", "0,"]), ("b1\n", [])):
        new.write_text(text)
        status, out, _ = andre("predict", tmp_path / "run", new)
        assert (status, out.splitlines()[1:]) == (0, said)


def test_one_class_of_three_and_dates_as_labels(andre, shoes):
    status, _, err = andre("fit", shoes, "--label", "brand", "--positive", "SMALL", "--dry-run")
    assert status == 0
    assert "brand = small: false" in err
    assert "the base rate is that of true" in err
    status, _, err = andre("fit", shoes, "--label", "when > 2021-03-14", "--dry-run")
    assert status == 0
    assert "when > 2021-03-14: false" in err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--label", "width > 99"], "only one class"),
        (["--label", "when"], "holds dates"),
        (["--label", "brand", "--class-weight", "never=2"], "class_weight has 'never'"),
        (["--label", "brand", "--objective", "never=2"], "objective has a cost for 'never'"),
        (["--label", "brand", "--positive", "huge"], "no class 'huge'"),
        (["--label", "brand", "--device", "abacus"], "there is no device 'abacus'"),
        (["--label", "brand", "--column", "size=date"], "cannot be read as date"),
        (["--label", "brand", "--validation", "{other}"], "has no column 'size'"),
    ],
)
def test_a_dry_run_refuses_what_a_fit_refuses(andre, shoes, tmp_path, options, says):
    other = tmp_path / "other.csv"
    other.write_text("width,when,brand\n3,2021-03-01,small\n")
    said = [option.format(other=other) for option in options]
    dry, real = andre("fit", shoes, *said, "--dry-run"), andre("fit", shoes, *said)
    assert dry.status == real.status == 2
    assert dry.err == real.err
    assert says in dry.err
    assert dry.err.count("\n") == 1


def test_torch_is_not_loaded_to_look_at_a_table_to_report_on_it_or_to_find_a_slip(andre, shoes, tmp_path):
    table, run = str(shoes), str(tmp_path / "shoes.run")
    quick = ("--set", "steps=40", "--set", "rounds=1", "--set", "restarts=1")
    assert andre("fit", shoes, "--label", "brand", "--out", run, *quick).status == 0
    code = (
        "import json, sys; from andre.cli import main\n"
        "for status, *words in json.loads(sys.argv[1]):\n"
        "    sys.argv = ['andre', *words]\n"
        "    try: main()\n"
        "    except SystemExit as end: assert (end.code or 0) == status, words\n"
        "    assert 'torch' not in sys.modules, words"
    )
    calls = [
        (0, "fit", table, "--label", "brand", "--dry-run"),
        (2, "fit", table, "--label", "barnd"),
        (0, "report", run),
        (0, "show", run),
    ]
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(calls)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "did you mean 'brand'?" in done.stderr


def test_a_dry_run_says_what_was_guessed(andre, tmp_path):
    table = tmp_path / "shares.csv"
    table.write_text("share,h\n" + "".join(f"0.{n:02},{n % 2}\n" for n in range(50)))
    assert "are taken for truth values" in andre("fit", table, "--dry-run").err
    assert "truth values" not in andre("fit", table, "--dry-run", "--column", "share=truth").err
