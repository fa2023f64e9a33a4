"""`andre predict`, `explain` and `eval`: results on stdout, the rest on stderr."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from andre.facts import FactBase, read_facts, write_facts
from andre.logic import Atom, parse_atom, parse_program
from andre.runs import FactSource, Origin, load, save

FACTS = "edge(a,b).\nedge(b,c).\nedge(c,'D d').\npath(a,c).#TEST\npath(c,a).#TEST\n"
RULES = "path(X, Y) :- edge(X, Y).\npath(X, Y) :- edge(X, Z), path(Z, Y).\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    rules, facts = tmp_path / "rules.pl", tmp_path / "graph.nl"
    rules.write_text(RULES)
    facts.write_text(FACTS)
    return str(rules), str(facts)


def test_predict_prints_derived_facts_as_prolog(andre, files: tuple[str, str]) -> None:
    done = andre("predict", *files)
    assert done.status == 0, done.err
    assert {str(rule) for rule in parse_program(done.out)} == {
        f"path({pair})." for pair in ("a, b", "a, c", "a, 'D d'", "b, c", "b, 'D d'", "c, 'D d'")
    }
    assert done.err == "6 facts derived by clingo\n"


def test_predict_names_a_variable_that_no_condition_binds(
    andre, files: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "slip.pl").write_text("h(X, Z) :- edge(X, Y).\n")
    done = andre("predict", tmp_path / "slip.pl", files[1])
    assert "note: Z is in no condition of 'h(X, Z) :- edge(X, Y).', so that it is every constant" in done.err
    assert len(done.out.splitlines()) == 12


def test_predict_as_json_and_to_a_file(andre, files: tuple[str, str], tmp_path: Path) -> None:
    found = json.loads(andre("predict", *files, "--json", "--engine", "duckdb").out)
    assert {"predicate": "path", "args": ["c", "D d"], "probability": 1.0} in found
    out = tmp_path / "derived.pl"
    done = andre("predict", *files, "--out", str(out))
    assert done.out == ""
    assert len(read_facts(out)) == 6


def test_predict_prints_probabilities(andre, tmp_path: Path) -> None:
    (tmp_path / "facts.pl").write_text("0.8::p(a). q(a).")
    (tmp_path / "rules.pl").write_text("h(X) :- p(X), q(X).")
    done = andre("predict", str(tmp_path / "rules.pl"), str(tmp_path / "facts.pl"))
    assert done.out == "0.8::h(a).\n"


def test_the_examples_of_a_popper_folder_are_not_evidence(andre, tmp_path: Path) -> None:
    (tmp_path / "bk.pl").write_text("edge(a,b). edge(b,c).")
    (tmp_path / "exs.pl").write_text("pos(path(a,b)).\npos(path(a,c)).\nneg(path(c,a)).\nneg(path(b,c)).\n")
    (tmp_path / "bias.pl").write_text("head_pred(path,2).\nbody_pred(edge,2).\n")
    rules = tmp_path.parent / "popper_rules.pl"
    rules.write_text(RULES)
    assert len(andre("predict", str(rules), str(tmp_path)).out.splitlines()) == 3
    figures = json.loads(andre("eval", str(rules), str(tmp_path), "--json").out)
    assert (figures["accuracy"], figures["precision"], figures["recall"]) == (0.75, 2 / 3, 1.0)


def test_a_folder_of_tables_is_said_to_be_one(andre, files: tuple[str, str], tmp_path: Path) -> None:
    out = tmp_path / "derived.csv"
    assert f"written to the folder {out}" in andre("predict", *files, "--out", out).err
    assert len(read_facts(out)) == 6


def test_eval_judges_marked_atoms(andre, files: tuple[str, str]) -> None:
    done = andre("eval", *files)
    assert done.out.splitlines() == [
        "head\taccuracy\tprecision\trecall\tTP\tFP\tFN\tTN",
        "path/2\t0.6250\t0.1667\t0.5000\t1\t5\t1\t9",
    ]
    assert done.err.startswith("judged: atoms marked test")


@pytest.fixture
def birds(tmp_path: Path) -> tuple[str, str]:
    rules, facts = tmp_path / "rules.pl", tmp_path / "birds.pl"
    rules.write_text("flies(X) :- bird(X), \\+ penguin(X).")
    facts.write_text("bird(a). bird(b). bird(c). penguin(c). 0.0::penguin(a). flies(a). flies(b).")
    return str(rules), str(facts)


def test_what_an_open_world_leaves_unknown_is_not_negated(andre, birds: tuple[str, str]) -> None:
    rules, facts = birds
    stated = "flies(a). flies(b). "
    Path(facts).write_text(Path(facts).read_text().replace(stated.strip(), ""))
    assert andre("predict", rules, facts).out == "flies(a).\nflies(b).\n"
    assert andre("predict", rules, facts, "--world", "open").out == "flies(a).\n"
    why = andre("explain", rules, facts, "flies(b)", "--world", "open").out
    assert why.startswith("flies(b) is unknown\n")
    assert "\\+ penguin(b)  fails: the world is open, and no fact denies the atom" in why
    for command in (["predict", rules, facts], ["eval", rules, facts], ["census", facts]):
        done = andre(*command, "--world", "flat")
        assert (done.status, done.err) == (2, "andre: a world is closed or open, not 'flat'\n")


def test_rules_are_judged_in_the_world_that_is_named(andre, birds: tuple[str, str]) -> None:
    figures = {
        world: json.loads(andre("eval", *birds, "--json", "--world", world).out)
        for world in ("closed", "open")
    }
    counts = ("true_positives", "false_positives", "false_negatives", "true_negatives")
    assert [figures["closed"][name] for name in counts] == [2, 0, 0, 1]
    assert [figures["open"][name] for name in counts] == [1, 0, 1, 0]
    assert figures["open"]["protocol"] == "all atoms given, with denied ones: the world is open"
    assert "N_b=2, N_r=2" in andre("rescore", *birds).out
    assert "N_b=1, N_r=1" in andre("rescore", *birds, "--world", "open").out


def test_a_run_remembers_its_world(andre, birds: tuple[str, str], runs, tmp_path: Path) -> None:
    """As the rules of a file do not; what is said counts for more than what is remembered."""
    theory, run = load(runs.learn), tmp_path / "run"
    (made,) = theory
    rules = parse_program("flies(X) :- bird(X), \\+ penguin(X).")
    space = replace(made.result.space, head=parse_atom("flies(X)"))
    flies = replace(made, target="flies/1", program=rules, result=replace(made.result, space=space))
    facts = birds[1]
    source = FactSource.of(facts, world="open")
    save(replace(theory, definitions=(flies,)), run, Origin(("andre", "learn"), facts=source))
    done = andre("predict", run, facts)
    assert done.out == "flies(a).\n"
    assert "note: the world is open, as" in done.err
    assert "flies(b) is unknown" in andre("explain", run, facts, "flies(b)").out
    assert "the world is open" in andre("eval", run, facts).err
    assert "N_b=1, N_r=1" in andre("rescore", run, facts).out
    closed = andre("predict", run, facts, "--world", "closed")
    assert closed.out == "flies(a).\nflies(b).\n"
    assert "note" not in closed.err


def test_a_run_without_rules_is_judged_by_its_targets(andre, runs, tmp_path: Path) -> None:
    theory, run = load(runs.learn), tmp_path / "run"
    (made,) = theory
    save(replace(theory, definitions=(replace(made, program=parse_program("")),)), run)
    head, _, precision, recall, *counts = andre("eval", run, runs.family).out.splitlines()[1].split("\t")
    assert (head, precision, recall, counts[:3]) == ("grand/2", "-", "0.0000", ["0", "0", "8"])
    (tmp_path / "empty.pl").write_text("")
    done = andre("eval", tmp_path / "empty.pl", runs.family)
    assert done.status == 2
    assert "empty.pl has no rule, so there is nothing to judge" in done.err


def test_explain_says_why_and_why_not(andre, files: tuple[str, str]) -> None:
    why = andre("explain", *files, "path(a, c)").out
    assert "by path(X, Y) :- edge(X, Z), path(Z, Y)." in why
    assert "where X = a, Y = c, Z = b" in why
    not_so = json.loads(andre("explain", *files, "path(c, a)", "--json").out)
    assert not_so["holds"] is False
    assert not_so["nearest"]["failing"] == "path('D d', a)"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["predict", "missing.pl", "{facts}"], "missing.pl"),
        (["predict", "{rules}", "missing.nl"], "missing.nl"),
        (["predict", "{bad}", "{facts}"], "line 2: 'b.' cannot stand here"),
        (["predict", "{unsafe}", "{facts}"], "Y is free"),
        (["predict", "{paradox}", "{facts}"], "neither true nor false"),
        (["predict", "{rules}", "{facts}", "--engine", "prolog"], "choose auto, clingo or duckdb"),
        (["eval", "{other}", "{facts}"], "nothing to judge"),
        (["eval", "{rules}", "{facts}", "--mark", "valid"], "no fact marked valid"),
        (["explain", "{rules}", "{facts}", "path(X, b)"], "without variables"),
        (["explain", "{rules}", "{facts}", "path(a"], "the atom"),
        (["explain", "{rules}", "{facts}", "path a b"], "an atom is written parent(ann, bob)"),
    ],
)
def test_mistakes_end_in_one_sentence_and_status_2(
    andre, args: list[str], says: str, files: tuple[str, str], tmp_path: Path
) -> None:
    texts = {
        "bad": "h :- a.\nh :- a b.",
        "unsafe": "h(X) :- edge(X, Z), \\+ edge(X, Y).",
        "other": "h(X) :- edge(X, Y).",
    }
    texts["paradox"] = "p(X) :- edge(X, Y), \\+ p(X)."
    names = {"rules": files[0], "facts": files[1]}
    for name, text in texts.items():
        names[name] = str(tmp_path / f"{name}.pl")
        Path(names[name]).write_text(text)
    done = andre(*(arg.format(**names) for arg in args))
    assert done.status == 2
    assert done.out == ""
    assert says in done.err
    assert done.err.startswith("andre: ")
    assert len(done.err.splitlines()) == 1


def test_running_programs_needs_no_torch(files: tuple[str, str]) -> None:
    code = (
        "import sys; sys.argv = ['andre', 'predict', *sys.argv[1:]]\n"
        "from andre.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_facts_may_be_named(andre, tmp_path: Path) -> None:
    rules = tmp_path / "rules.pl"
    rules.write_text("first(X) :- zero(X).\n")
    assert andre("predict", str(rules), "even").out == "first(0).\n"


def test_explain_finds_numbers_that_are_names(andre, tmp_path: Path) -> None:
    rules, facts = tmp_path / "rules.pl", tmp_path / "codes.tsv"
    rules.write_text("before(X, Y) :- next(X, Y).\n")
    facts.write_text("007\tnext\t12\n12\tnext\t13\n")
    assert "before('12', '13') is derived" in andre("explain", str(rules), str(facts), "before(12, 13)").out


def test_a_run_of_rank_predicts_what_is_missing_with_its_chance(andre, runs):
    done = andre("predict", runs.rank, runs.likes)
    assert done.status == 0, done.err
    (line,) = [line for line in done.out.splitlines() if line.endswith("likes(x12, y12).")]
    chance = float(line.partition("::")[0])
    best = json.loads(andre("rank", runs.rank, "likes(x12, ?)", "--json").out)["predictions"][0]
    assert best["atom"] == "likes(x12, y12)"
    assert chance == pytest.approx(best["chance"], abs=1e-5)
    assert "likes(x1, y1)" not in done.out  # a training fact is not new
    assert "facts derived by one step" in done.err


def test_a_run_of_rank_reads_other_facts(andre, runs, tmp_path):
    Path(tmp_path, "new.pl").write_text("knows(ann, bob).\n")
    (line,) = andre("predict", runs.rank, tmp_path / "new.pl").out.splitlines()
    assert line.endswith("likes(bob, ann).")


def test_a_run_of_rank_explains(andre, runs):
    why = andre("explain", runs.rank, runs.likes, "likes(x12, y12)").out
    assert "likes(x12, y12) is derived" in why
    assert "knows(y12, x12)  (stated" in why
    assert "likes(X, Y) :- knows(Y, X)" in why
    not_so = json.loads(andre("explain", runs.rank, runs.likes, "likes(x12, y3)", "--json").out)
    assert not not_so["holds"]


def test_a_run_of_learn_predicts_and_explains(andre, runs, tmp_path):
    Path(tmp_path, "new.pl").write_text("parent(x,y). parent(y,z). grand(z,x).\n")
    assert andre("predict", runs.learn, tmp_path / "new.pl").out == "grand(x, z).\n"
    assert "parent(x, y)" in andre("explain", runs.learn, tmp_path / "new.pl", "grand(x, z)").out


@pytest.mark.parametrize("ending", ["pl", "nl", "jsonl", "sqlite", "duckdb"])
def test_what_holds_facts_is_no_table_to_a_run_of_fit(andre, runs, tmp_path, ending):
    write_facts(FactBase.from_facts([Atom.parse("p(a, b)")]), tmp_path / f"facts.{ending}")
    assert "\n0 facts derived" in andre("predict", runs.fit, tmp_path / f"facts.{ending}").err


def test_a_run_of_fit_predicts_for_facts_too(andre, runs, tmp_path):
    Path(tmp_path, "facts.pl").write_text("b1. b2.\n")
    assert andre("predict", runs.fit, tmp_path / "facts.pl").out == "h.\n"
    assert "by h :- b1, \\+ b3." in andre("explain", runs.fit, tmp_path / "facts.pl", "h").out
    done = andre("predict", runs.fit, tmp_path / "facts.pl", "--proba")
    assert done.status == 2
    assert "--proba" in done.err
    done = andre("explain", runs.fit, runs.table, "h")
    assert (done.status, done.out) == (2, "")
    assert "give facts to explain an atom" in done.err


def test_a_row_of_a_table_is_explained(andre, tmp_path):
    ages = [*range(20, 60)] * 3
    Path(tmp_path, "t.csv").write_text("age,buys\n" + "".join(f"{age},{age > 39}\n" for age in ages))
    Path(tmp_path, "new.csv").write_text("age,name\n45,ann\n,bob\nold,cy\n")
    run, new = tmp_path / "run", tmp_path / "new.csv"
    done = andre("fit", tmp_path / "t.csv", "--label", "buys", "--out", run, "--set", "rounds=1")
    assert done.status == 0, done.err
    assert f"row 1 of {new} is taken for True" in andre("explain", run, new, "1").out
    assert "age is unknown" in andre("explain", run, new, "2").out
    assert "age is old, which cannot be read" in andre("explain", run, new, "3").out
    # Rows that facts state are told by the same rules.
    Path(tmp_path, "rows.pl").write_text("age(ann, 45). age(bob, 12).\n")
    assert andre("predict", run, tmp_path / "rows.pl").out == "buys(ann).\n"
    assert (
        "by buys(Row) :- age(Row, Age), Age >" in andre("explain", run, tmp_path / "rows.pl", "buys(ann)").out
    )
    Path(tmp_path, "other.pl").write_text("size(ann, 45).\n")
    assert "has no fact of age/2, which the rules read" in andre("predict", run, tmp_path / "other.pl").err
    found = json.loads(andre("explain", run, new, "1", "--json").out)
    assert found["decision"] == "True"
    assert found["rules"][0]["conditions"][0]["value"] == "45"
    for row, said in (
        ("4", "has no row 4: its rows are 1 to 3"),
        ("0", "has no row 0"),
        ("9" * 30, "no number"),
    ):
        done = andre("explain", run, new, row)
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
        assert said in done.err


def test_a_folder_that_is_no_run_of_this_version_is_refused(andre, runs, tmp_path):
    for command in (["predict"], ["explain"]):
        done = andre(*command, tmp_path, runs.table, *(["h"] if command == ["explain"] else []))
        assert (done.status, done.out) == (2, "")
        assert "there is no saved run in" in done.err
    (tmp_path / "result.json").write_text("{}")
    (tmp_path / "program.pl").write_text("h :- b1.\n")
    done = andre("predict", tmp_path, runs.table)
    assert (done.status, done.out) == (2, "")
    assert "as earlier versions saved a run" in done.err


FATHERS = """\
father(abe,homer). father(homer,bart). father(homer,lisa). mother(mona,homer). mother(marge,bart).
mother(marge,lisa). mother(jackie,marge). father(clancy,marge). mother(jackie,patty). mother(patty,ling).
grand(abe,bart). grand(abe,lisa). grand(mona,bart). grand(mona,lisa). grand(jackie,bart). grand(jackie,lisa).
grand(clancy,bart). grand(clancy,lisa). grand(jackie,ling).
"""
PARENTS = "parent(X, Y) :- father(X, Y).\nparent(X, Y) :- mother(X, Y).\n"
OTHERS = "father(al,bo). mother(bo,cy). father(cy,di). grand(al,cy). grand(bo,di).\n"


@pytest.mark.parametrize("inside", [False, True], ids=["--with", "in the file of facts"])
def test_a_run_carries_its_background(andre, tmp_path: Path, inside: bool) -> None:
    train, rules, test, run = (tmp_path / name for name in ("train.pl", "bg.pl", "test.pl", "run"))
    train.write_text(FATHERS + PARENTS * inside)
    rules.write_text(PARENTS)
    test.write_text(OTHERS)
    options = [] if inside else ["--with", rules]
    small = ["--set", "relations=parent", "--set", "rounds=1", "--set", "restarts=1"]
    learned = andre("learn", train, "--target", "grand/2", *options, *small, "--out", run)
    assert "grand(X1, X2) :- parent(X1, X3), parent(X3, X2)." in learned.out
    done = andre("predict", run, test)
    assert done.out.splitlines() == ["grand(al, cy).", "grand(bo, di)."]
    assert "note" not in done.err
    assert json.loads(andre("eval", run, test, "--json").out)["recall"] == 1
    assert "N_b=2, N_r=2" in andre("rescore", run, test).out
    assert "father(al, bo)" in andre("explain", run, test, "grand(al, cy)").out
    test.write_text("grand(al,cy). brother(al,bo).\n")
    for command in (["predict", run, test], ["eval", run, test], ["explain", run, test, "grand(al, cy)"]):
        assert f"note: {test} has no fact of father/2, mother/2, which the rules read" in andre(*command).err


def test_relations_that_rules_read_and_facts_lack_are_named(andre, tmp_path: Path) -> None:
    rules, facts = tmp_path / "rules.pl", tmp_path / "facts.pl"
    rules.write_text("".join(f"h(X) :- p(X), r{n}(X), \\+ X = a.\n" for n in range(7)))
    facts.write_text("p(a). r3(a).")
    done = andre("predict", rules, facts)
    assert (done.status, done.out) == (0, "")
    assert (
        "has no fact of r0/1, r1/1, r2/1, r4/1, r5/1 and 1 more relations, which the rules read" in done.err
    )
    facts.write_text("p(a). " + " ".join(f"r{n}(a)." for n in range(7)))
    assert "note" not in andre("predict", rules, facts).err
