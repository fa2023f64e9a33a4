"""`andre rescore`, `diff`, `merge` and `learn --with`, run as a user runs them."""

import json
from pathlib import Path

import pytest

from andre.logic import parse_program, read_program

OLD = "h(X,Y) :- p(X,Y).\nh(X,Y) :- q(X,Y).\n"
NEW = "h(A,B) :- q(A,B).\nh(X,Y) :- p(X,Y), q(Y,X).\nh(X,Y) :- p(Y,X).\n"
FACTS = "p(a,b).\np(b,c).\nq(a,c).\nh(a,b).\nh(a,c).\n"
FAST = ("--set", "restarts=2", "--set", "rounds=1")


@pytest.fixture
def andre(andre, monkeypatch, tmp_path):
    """Run the command line in a folder with two programs and facts."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("old.pl", OLD), ("new.pl", NEW), ("facts.pl", FACTS)):
        Path(name).write_text(text)
    return andre


def test_rescore_counts_on_new_facts(andre):
    status, out, _ = andre("rescore", "old.pl", "facts.pl")
    assert status == 0
    assert out.splitlines() == [
        "% train: N_b=2, N_r=1, N_r/N_b=0.5000",
        "h(X, Y) :- p(X, Y).",
        "% train: N_b=1, N_r=1, N_r/N_b=1.0000",
        "h(X, Y) :- q(X, Y).",
    ]
    assert andre("rescore", "old.pl", "facts.pl", "--out", "again.json") == (0, "", "")
    assert read_program(Path("again.json")).rules[0].on("train").n_b == 2
    assert andre("rescore", "again.json", "facts.pl", "--engine", "duckdb")[1] == out
    table = andre("rescore", "old.pl", "facts.pl", "--to", "csv")[1]
    assert table.startswith("rule,")


def test_rescore_counts_beside_a_relation_of_any_name(andre, tmp_path):
    facts, rules = tmp_path / "f.pl", tmp_path / "r.pl"
    rules.write_text("h(X) :- p(X).\n")
    for name in ("h by rule 0", "other"):
        facts.write_text(f"'{name}'(b). '{name}'(c). p(a). p(b). h(a).\n")
        assert "N_b=2, N_r=1" in andre("rescore", rules, facts).out


def test_rescore_reads_marked_facts_when_asked(andre):
    Path("graph.nl").write_text("p(a,b).\np(b,c).\nh(a,b).\nh(b,c).#TEST\n")
    source = ("rescore", "old.pl", "graph.nl")
    train, test = andre(*source), andre(*source, "--mark", "test")
    assert "train: N_b=2, N_r=1" in train[1]
    assert "test: N_b=2, N_r=2" in test[1]


def test_a_run_of_fit_is_counted_on_rows(andre, runs):
    learned = andre("show", runs.fit, "--to", "csv").out
    assert andre("rescore", runs.fit, runs.table, "--mark", "train", "--to", "csv").out == learned
    Path("new.csv").write_text("b4,b1,h,b2,b3\n0,1,1,0,0\n0,1,0,0,0.2\n0,1,1,0,\n0,0,1,0,0\n")
    done = andre("rescore", runs.fit, "new.csv", "--mark", "test")
    assert done.status == 0, done.err
    counted = {rule.body[0].atom.predicate: rule for rule in parse_program(done.out)}
    assert str(counted["b1"].on("test")).startswith("test: N_b=2, N_r=1")
    assert str(counted["b4"].on("test")).startswith("test: N_b=0, N_r=0")
    assert counted["b1"].on("train") is not None
    Path("unlabelled.csv").write_text("b1,b2,b3,b4\n0,1,1,0\n")
    done = andre("rescore", runs.fit, "unlabelled.csv")
    assert (done.status, done.out) == (2, "")
    assert "no label column 'h'" in done.err


def test_a_folder_without_rules_is_said_to_be_one(andre):
    Path("empty").mkdir()
    done = andre("diff", "empty", "old.pl")
    assert (done.status, done.out) == (2, "")
    assert "empty is a folder without rules" in done.err


def test_diff_tells_what_changed_and_its_status_too(andre):
    status, out, err = andre("diff", "old.pl", "new.pl")
    assert (status, err) == (1, "")
    assert out.splitlines() == [
        "+ h(X, Y) :- p(Y, X).",
        "~ h(X, Y) :- p(X, Y).",
        "  became h(X, Y) :- p(X, Y), q(Y, X).",
        "1 gained, 0 lost, 1 reworked, 0 with other evidence, 1 the same",
    ]
    status, out, _ = andre("diff", "new.pl", "old.pl", "--json")
    values = json.loads(out)
    assert status == 1
    assert (values["gained"], values["lost"]) == ([], ["h(X, Y) :- p(Y, X)."])
    assert values["reworked"] == [{"old": "h(X, Y) :- p(X, Y), q(Y, X).", "new": "h(X, Y) :- p(X, Y)."}]


def test_diff_of_the_same_rules_is_status_0_whatever_their_evidence(andre):
    andre("rescore", "old.pl", "facts.pl", "--out", "counted.pl")
    status, out, _ = andre("diff", "old.pl", "counted.pl")
    assert status == 0
    assert "  no evidence became train: N_b=2, N_r=1, N_r/N_b=0.5000" in out.splitlines()
    assert out.endswith("0 gained, 0 lost, 0 reworked, 2 with other evidence, 0 the same\n")


def test_merge_keeps_each_rule_once_and_none_that_is_needless(andre):
    out = andre("merge", "old.pl", "new.pl")[1]
    merged = parse_program("h(X,Y) :- p(X,Y). h(X,Y) :- q(X,Y). h(X,Y) :- p(Y,X).")
    assert parse_program(out) == merged
    every = andre("merge", "old.pl", "new.pl", "--keep-subsumed", "--out", "all.pl")
    assert every == (0, "", "")
    assert len(read_program(Path("all.pl"))) == 4


def test_runs_are_programs_too(andre):
    for seed in (0, 1):
        task = ("learn", "predecessor", "--seed", seed, "--out", f"run{seed}", "-q", *FAST)
        assert andre(*task)[0] == 0
    status, out, _ = andre("diff", "run0", "run1")
    assert status == 0, out
    assert len(parse_program(andre("merge", "run0", "run1")[1])) == 1
    andre("tasks", "predecessor", "--split", "test", "--out", "larger.pl")
    out = andre("rescore", "run0", "larger.pl")[1]
    assert "N_r/N_b=1.0000" in out
    assert out.splitlines()[0] != andre("show", "run0")[1].splitlines()[0]


def test_every_kind_of_run_is_a_program(andre, runs):
    assert len(parse_program(andre("merge", runs.fit, runs.learn, "old.pl").out)) == 5
    assert andre("diff", runs.rank, runs.rank) == (0, andre("diff", runs.rank, runs.rank).out, "")
    out = andre("rescore", runs.rank, runs.likes).out
    assert parse_program(out) == read_program(runs.rank)
    assert "N_b=13, N_r=12" in out
    status, out, _ = andre("diff", runs.learn, runs.rank, "--json")
    assert status == 1
    assert json.loads(out)["lost"] == [str(rule) for rule in read_program(runs.learn)]


def test_a_definition_keeps_rules_that_are_wider_than_what_is_learned(andre):
    wide = "even(X) :- successor(Y,X), successor(Z,Y), even(Z).\n"
    Path("wide.pl").write_text(wide)
    learned = parse_program(andre("learn", "even", "--variables", "2", "--with", "wide.pl", "-q", *FAST)[1])
    assert learned == parse_program(wide + "even(X) :- zero(X).")


def test_learn_adds_to_known_rules(andre):
    Path("known.pl").write_text("even(N) :- zero(N).\n")
    status, out, _ = andre("learn", "even", "--with", "known.pl", "--out", "run", "-q", *FAST)
    assert status == 0
    learned = parse_program(out)
    assert learned.rules[0] == parse_program("even(X) :- zero(X).").rules[0]
    assert len(learned) == 2
    values = json.loads(andre("show", "run", "--json")[1])
    assert values


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("rescore", "none.pl", "facts.pl"), "there is no file none.pl"),
        (("rescore", "old.pl", "none.pl"), "there is no file none.pl"),
        (("rescore", "old.pl", "facts.pl", "--mark", "tset"), "tset"),
        (("rescore", "old.pl", "facts.pl", "--to", "latex"), "latex"),
        (("diff", "old.pl", "none.pl"), "there is no file none.pl"),
        (("merge", "old.pl", "facts"), "facts"),
        (("merge", "old.pl", "new.pl", "--out", "no/all.pl"), "no"),
        (("learn", "even", "--with", "none.pl", "-q"), "there is no file none.pl"),
        (
            ("learn", "even", "--with", "wide.pl", "--mode", "complete", "--variables", "2", "-q"),
            "cannot be kept",
        ),
    ],
)
def test_mistakes_are_one_sentence_and_status_2(andre, words, says):
    Path("wide.pl").write_text("even(X) :- successor(Y,X), successor(Z,Y), even(Z).\n")
    before = set(Path().iterdir())
    status, out, err = andre(*words)
    assert (status, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1, err
    assert set(Path().iterdir()) == before
