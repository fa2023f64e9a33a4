"""`andre report` and `andre fit --report`, run as a user runs them."""

import json
import sys

import pytest

from andre.cli.app import main
from andre.learning import Config, fit
from andre.runs import save_result
from andre.samples import SYNTHETIC_TASKS

FAST = ("--set", "restarts=2", "--set", "rounds=1", "--set", "subrules=2,3", "-q")


@pytest.fixture
def andre(monkeypatch, capsys):
    """Run the command line in this process: status, stdout, stderr."""

    def run(*arguments) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["andre", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code or 0, *capsys.readouterr()

    return run


@pytest.fixture
def table(tmp_path):
    rows, labels = SYNTHETIC_TASKS["four"].draw(100, seed=0)
    path = tmp_path / "four.csv"
    lines = [
        ",".join(map(repr, [*row, int(label)])) for row, label in zip(rows.tolist(), labels, strict=True)
    ]
    path.write_text("\n".join(["b1,b2,b3,b4,h", *lines]) + "\n")
    return path


def test_a_model_remembers_its_table(andre, table, tmp_path):
    run = tmp_path / "run"
    assert andre("fit", table, "--validation", "0.2", "--out", run, *FAST)[0] == 0
    status, out, err = andre("report", run)
    assert (status, out, err) == (0, f"{run / 'report.html'}\n", "")
    page = (run / "report.html").read_text()
    assert f"andre fit {table}" in page
    assert "Rejected" in page
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


def test_a_model_of_an_older_version_has_a_report_too(andre, table, tmp_path):
    save_result(
        fit(SYNTHETIC_TASKS["four"].sample(100, seed=0), Config.preset(restarts=2, rounds=1)),
        tmp_path / "old",
    )
    assert andre("report", tmp_path / "old")[0] == 0
    assert andre("report", tmp_path / "old", "--data", table)[0] == 0
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


def test_mistakes_are_sentences(andre, table, tmp_path):
    run = tmp_path / "run"
    andre("fit", table, "--out", run, *FAST)
    for arguments, says in (
        (("report", tmp_path / "none"), "there is no saved model"),
        (("report", run, "--out", tmp_path / "no" / "page.html"), "make it first"),
        (("fit", table, "--report", tmp_path / "no" / "page.html"), "make it first"),
        (("report", run, "--data", tmp_path / "no.csv"), "there is no file"),
    ):
        status, out, err = andre(*arguments)
        assert (status, out) == (2, "")
        assert says in err
        assert err.count("\n") == 1
