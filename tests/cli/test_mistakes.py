"""Recall is seen at once: in the terminal, the program, JSON and the report."""

import json

import pytest

QUICK = (
    "--set",
    "restarts=1",
    "--set",
    "rounds=1",
    "--set",
    "steps=30",
    "--set",
    "widen=false",
    "--invent",
    "0",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Ten of thirty members have a badge, and nothing tells of the others."""
    path = tmp_path_factory.mktemp("members")
    lines = [f"badge(p{n})." for n in range(10)] + [f"member(p{n})." for n in range(30)]
    lines += [f"guest(p{n})." for n in range(30, 90)] + [f"person(p{n})." for n in range(90)]
    lines += [f"cold(p{n})." for n in range(0, 90, 2)]
    facts = [line for line in lines if not line.startswith("member")]
    (path / "club.pl").write_text("\n".join([*lines, ""]))
    (path / "facts.pl").write_text("\n".join([*facts, ""]))
    (path / "rules.pl").write_text("member(X) :- badge(X).\nmember(X) :- badge(X), cold(X).\n")
    return path


@pytest.fixture
def run(andre, folder):
    """A program of one rule whose recall is a third."""
    if not (folder / "run").exists():
        done = andre(
            "learn", folder / "club.pl", "--target", "member/1", "--variables", 1, "--out", folder / "run",
            "--set", "exclude=guest,person,cold", *QUICK,
        )  # fmt: skip
        assert done.status == 0, done.err
        (folder / "said.txt").write_text(done.out + done.err)
    return folder / "run"


def test_learning_says_precision_recall_and_what_is_missed(run, folder):
    said = (folder / "said.txt").read_text()
    assert "% member/1: precision 1.0000, recall 0.3333 (10 of 30 derived, none wrong)" in said
    assert "andre: member/1: precision 1.0000, recall 0.3333 (10 of 30 derived, none wrong)" in said
    assert "andre: member/1: missed: member(p10), member(p11), member(p12) and 17 more" in said


def test_show_says_it_and_json_lists_it(andre, run):
    shown = andre("show", run).out
    assert "recall 0.3333 (10 of 30 derived, none wrong)" in shown
    assert "missed: member(p10)" in shown
    (target,) = json.loads(andre("show", run, "--json").out)["targets"]
    assert (target["precision"], target["wrong"]) == (1.0, [])
    assert target["recall"] == pytest.approx(1 / 3)
    assert target["missed"] == [f"member(p{n})" for n in range(10, 30)]
    assert target["rules"][0]["sentence"] == "X is a member if X is a badge."


def test_eval_says_what_is_missed_and_wrong(andre, folder):
    done = andre("eval", folder / "rules.pl", folder / "club.pl")
    assert "missed: member(p10), member(p11), member(p12) and 17 more" in done.err
    heads = json.loads(andre("eval", folder / "rules.pl", folder / "club.pl", "--json").out)["heads"]
    assert len(heads["member/1"]["missed"]) == 20


def test_the_report_begins_with_it(andre, run):
    assert andre("report", run).status == 0
    page = (run / "report.html").read_text()
    assert page.index("Missed: 20") < page.index("member(p10)") < page.index('id="program-0"')
    values = json.loads(andre("report", run, "--json").out)
    (kind,) = values["targets"][0]["faults"]
    assert (kind["title"], kind["total"], len(kind["examples"])) == ("Missed", 20, 20)


def test_phrases_are_said_and_wrong_ones_refused(andre, run, tmp_path):
    (tmp_path / "phrases.toml").write_text('badge = "{1} wears a badge"\n')
    assert andre("show", run, "--phrases", tmp_path / "phrases.toml").out == (
        "X is a member if X wears a badge.\n"
    )
    assert andre("report", run, "--phrases", tmp_path / "phrases.toml").status == 0
    assert "X is a member if X wears a badge." in (run / "report.html").read_text()
    (tmp_path / "phrases.toml").write_text("badge = 1\n")
    done = andre("report", run, "--phrases", tmp_path / "phrases.toml")
    assert (done.status, done.out) == (2, "")
    assert "the phrase for badge is no text" in done.err


def test_tables_say_precision_and_recall_of_each_class(andre, tmp_path):
    kinds = ["ash", "birch", "cedar"]
    rows = [f"{n % 50},{kinds[(n % 50) // 17 if n % 10 else 0]}" for n in range(150)]
    (tmp_path / "trees.csv").write_text("\n".join(["height,kind", *rows, ""]))
    done = andre(
        "fit", tmp_path / "trees.csv", "--label", "kind", "--out", tmp_path / "run", "--set", "restarts=1"
    )
    assert done.status == 0, done.err
    scores = json.loads(andre("show", tmp_path / "run", "--json").out)["scores"]["train"]
    predicted = andre("predict", tmp_path / "run", tmp_path / "trees.csv").out.splitlines()[1:]
    pairs = [(row.split(",")[1], said.split(",")[0]) for row, said in zip(rows, predicted, strict=True)]
    for kind in kinds:
        right = pairs.count((kind, kind))
        shares = scores["classes"][kind]
        assert shares["recall"] == pytest.approx(right / sum(true == kind for true, _ in pairs))
        assert shares["precision"] == pytest.approx(right / sum(said == kind for _, said in pairs))
        line = f"kind({kind}) with precision {shares['precision']:.4f}, recall {shares['recall']:.4f}"
        assert line in done.err
