"""The commands that run programs: results on stdout, the rest on stderr."""

import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pytest

from andre.cli.app import main
from andre.facts import read_facts
from andre.logic import parse_program

FACTS = "edge(a,b).\nedge(b,c).\nedge(c,'D d').\npath(a,c).#TEST\npath(c,a).#TEST\n"
RULES = "path(X, Y) :- edge(X, Y).\npath(X, Y) :- edge(X, Z), path(Z, Y).\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    rules, facts = tmp_path / "rules.pl", tmp_path / "graph.nl"
    rules.write_text(RULES)
    facts.write_text(FACTS)
    return str(rules), str(facts)


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def andre(*args: str) -> Done:
    out, err = StringIO(), StringIO()
    status = 0
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "argv", ["andre", *args]):
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
    return Done(status, out.getvalue(), err.getvalue())


def test_predict_prints_derived_facts_as_prolog(files: tuple[str, str]) -> None:
    done = andre("predict", *files)
    assert done.returncode == 0, done.stderr
    assert {str(rule) for rule in parse_program(done.stdout)} == {
        f"path({pair})." for pair in ("a, b", "a, c", "a, 'D d'", "b, c", "b, 'D d'", "c, 'D d'")
    }
    assert done.stderr == "6 facts derived by clingo\n"


def test_predict_as_json_and_to_a_file(files: tuple[str, str], tmp_path: Path) -> None:
    found = json.loads(andre("predict", *files, "--json", "--engine", "duckdb").stdout)
    assert {"predicate": "path", "args": ["c", "D d"], "probability": 1.0} in found
    out = tmp_path / "derived.pl"
    done = andre("predict", *files, "--out", str(out))
    assert done.stdout == ""
    assert len(read_facts(out)) == 6


def test_predict_prints_probabilities(tmp_path: Path) -> None:
    (tmp_path / "facts.pl").write_text("0.8::p(a). q(a).")
    (tmp_path / "rules.pl").write_text("h(X) :- p(X), q(X).")
    done = andre("predict", str(tmp_path / "rules.pl"), str(tmp_path / "facts.pl"))
    assert done.stdout == "0.8::h(a).\n"


def test_the_examples_of_a_popper_folder_are_not_evidence(tmp_path: Path) -> None:
    (tmp_path / "bk.pl").write_text("edge(a,b). edge(b,c).")
    (tmp_path / "exs.pl").write_text("pos(path(a,b)).\npos(path(a,c)).\nneg(path(c,a)).\nneg(path(b,c)).\n")
    (tmp_path / "bias.pl").write_text("head_pred(path,2).\nbody_pred(edge,2).\n")
    rules = tmp_path.parent / "popper_rules.pl"
    rules.write_text(RULES)
    assert len(andre("predict", str(rules), str(tmp_path)).stdout.splitlines()) == 3
    figures = json.loads(andre("eval", str(rules), str(tmp_path), "--json").stdout)
    assert (figures["accuracy"], figures["precision"], figures["recall"]) == (0.75, 2 / 3, 1.0)


def test_eval_judges_marked_atoms(files: tuple[str, str]) -> None:
    done = andre("eval", *files)
    assert done.stdout.splitlines() == [
        "head\taccuracy\tprecision\trecall\tTP\tFP\tFN\tTN",
        "path/2\t0.5000\t0.1667\t0.5000\t1\t5\t1\t5",
    ]
    assert done.stderr.startswith("judged: atoms marked test")


def test_explain_says_why_and_why_not(files: tuple[str, str]) -> None:
    why = andre("explain", *files, "path(a, c)").stdout
    assert "by path(X, Y) :- edge(X, Z), path(Z, Y)." in why
    assert "where X = a, Y = c, Z = b" in why
    not_so = json.loads(andre("explain", *files, "path(c, a)", "--json").stdout)
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
    ],
)
def test_mistakes_end_in_one_sentence_and_status_2(
    args: list[str], says: str, files: tuple[str, str], tmp_path: Path
) -> None:
    texts = {"bad": "h :- a.\nh :- a b.", "unsafe": "h(X, Y) :- edge(X, Z).", "other": "h(X) :- edge(X, Y)."}
    texts["paradox"] = "p(X) :- edge(X, Y), \\+ p(X)."
    names = {"rules": files[0], "facts": files[1]}
    for name, text in texts.items():
        names[name] = str(tmp_path / f"{name}.pl")
        Path(names[name]).write_text(text)
    done = andre(*(arg.format(**names) for arg in args))
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr
    assert done.stderr.startswith("andre: ")
    assert len(done.stderr.splitlines()) == 1


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


def test_facts_may_be_named(tmp_path: Path) -> None:
    rules = tmp_path / "rules.pl"
    rules.write_text("first(X) :- zero(X).\n")
    assert andre("predict", str(rules), "even").stdout == "first(0).\n"


def test_explain_finds_numbers_that_are_names(tmp_path: Path) -> None:
    rules, facts = tmp_path / "rules.pl", tmp_path / "codes.tsv"
    rules.write_text("before(X, Y) :- next(X, Y).\n")
    facts.write_text("007\tnext\t12\n12\tnext\t13\n")
    assert (
        "before('12', '13') is derived" in andre("explain", str(rules), str(facts), "before(12, 13)").stdout
    )
