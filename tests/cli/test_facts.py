"""`andre facts` and `andre convert`: results on stdout, sentences on stderr, status 2 for mistakes."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from andre.facts import read_facts
from andre.logic import parse_program


@pytest.fixture
def family(tmp_path: Path) -> Path:
    path = tmp_path / "family.nl"
    path.write_text(
        "parent(ann,bob).\nparent(bob,cy).#TEST\nperson(ann,ann).\nperson(bob,bob).\nperson(bob,bob).\n"
    )
    return path


def test_facts_are_shown_plainly_in_a_pipe(andre, family: Path) -> None:
    done = andre("facts", family)
    assert done.status == 0
    assert done.out.splitlines() == [
        "relation\tfacts\ttrain\ttest\ttypes\tsample",
        "parent/2\t2\t1\t1\tentity, entity\tparent(ann, bob)",
        "person/1\t2\t2\t0\tentity\tperson(ann)",
    ]
    assert done.err.splitlines() == [
        "note: 1 fact is stated more than once: each counts once",
        "note: person is read as unary: all its facts have two equal arguments",
    ]


def test_facts_as_json(andre, family: Path) -> None:
    done = andre("facts", family, "--json")
    shown = json.loads(done.out)
    assert done.err == ""
    assert (shown["facts"], shown["constants"], shown["duplicates"]) == (4, 3, 1)
    assert shown["types"] == {"entity": 3}
    assert shown["relations"][0] == {
        "name": "parent",
        "arity": 2,
        "facts": 2,
        "types": ["entity", "entity"],
        "train": 1,
        "valid": 0,
        "test": 1,
        "negative": 0,
        "probabilistic": False,
        "sample": "parent(ann, bob)",
    }
    assert len(shown["notes"]) == 2


def test_facts_are_a_table_on_a_terminal(family: Path) -> None:
    master, slave = pty.openpty()
    command = [sys.executable, "-c", "from andre.cli import main; main()", "facts", str(family)]
    with subprocess.Popen(command, stdout=slave, stderr=subprocess.DEVNULL) as process:
        process.wait(timeout=120)
    os.close(slave)
    text = os.read(master, 1 << 16).decode()
    os.close(master)
    assert "(ann, bob)" in text
    assert "4 facts of 2 relations about 3 constants" in text
    assert "entity (3)" in text


def test_names_stay_whole_on_a_narrow_terminal(monkeypatch, capsys) -> None:
    from andre.cli.printing import print_table

    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    name = "a_relation_with_quite_a_long_name/2"
    rows = [{"relation": name, "facts": 1234567, "types": "person, " * 9, "sample": "ann, bob " * 9}]
    print_table(["relation", "facts", "types", "sample"], rows, words=("types", "sample"))
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert any(name in line and "1,234,567" in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_no_column_is_lost_on_a_very_narrow_terminal(monkeypatch, capsys) -> None:
    from andre.cli.printing import print_table

    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    row = {"rule": "h(X) :- " + "p(X), " * 9, "N_b": 1234567, "confidence": "0.7500", "in training": "0.8000"}
    print_table(list(row), [row], caption="one rule")
    out = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert out.splitlines()[-4:] == [
        "  N_b: 1,234,567",
        "  confidence: 0.7500",
        "  in training: 0.8000",
        "one rule",
    ]
    assert out.count("p(X)") == 9


def test_converting_there_and_back(andre, family: Path, tmp_path: Path) -> None:
    for out, options in (
        (tmp_path / "x.jsonl", []),
        (tmp_path / "x.duckdb", []),
        (tmp_path / "x.parquet", []),
        (tmp_path / "folder", ["--to", "csv"]),
        (tmp_path / "x.nl", []),
    ):
        done = andre("convert", family, out, *options)
        assert (done.status, done.out) == (0, "")
        where = f"the folder {out}" if out.is_dir() else out
        assert f"4 facts of 2 relations written to {where}" in done.err
        assert read_facts(out) == read_facts(family)
    done = andre("convert", family, tmp_path / "splits", "--to", "tsv-splits")
    assert done.status == 2
    assert "a folder of triples cannot hold person/1: write jsonl" in done.err


def test_nothing_is_lost_without_being_asked(andre, family: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.pl"
    done = andre("convert", family, out)
    assert done.status == 2
    assert "a Prolog file cannot hold train, valid and test marks" in done.err
    assert "or leave them out (--drop mark)" in done.err
    assert not out.exists()
    assert andre("convert", family, out, "--drop", "mark").status == 0
    assert len(read_facts(out)) == 4
    assert andre("convert", family, out, "--mark", "test").status == 0
    assert out.read_text() == "parent(bob, cy).\n"


def test_a_target_makes_a_popper_task(andre, family: Path, tmp_path: Path) -> None:
    out = tmp_path / "task"
    done = andre("convert", family, out, "--to", "popper", "--drop", "mark", "--target", "parent")
    assert done.status == 0
    assert (out / "exs.pl").read_text() == "pos(parent(ann, bob)).\npos(parent(bob, cy)).\n"
    assert (out / "bias.pl").read_text() == "head_pred(parent,2).\nbody_pred(person,1).\n"
    done = andre("convert", family, tmp_path / "other", "--to", "popper", "--target", "uncle")
    assert done.status == 2
    assert "there is no relation uncle: choose from parent/2, person/1" in done.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["facts", "none.pl"], "andre: there is no file none.pl: check the path\n"),
        (["facts", "."], "has no facts: a folder needs"),
        (["convert", "none.pl", "x.pl"], "there is no file none.pl"),
        (["convert", "even", "x.xyz"], "or name a format by --to, one of prolog, problog"),
    ],
)
def test_mistakes_end_in_a_sentence(
    andre, args: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = andre(*args)
    assert done.status == 2
    assert message in done.err
    assert len(done.err.splitlines()) == 1
    assert "Traceback" not in done.err


@pytest.mark.parametrize("args", [["--help"], ["facts", "family.nl"], ["tasks"], ["datasets"]])
def test_neither_help_nor_facts_load_what_they_do_not_need(args: list[str], family: Path) -> None:
    code = (
        "import sys\nfrom andre.cli import main\ntry:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'duckdb', 'lark', 'clingo', 'pandas', 'ibis'}\n"
        "print(*sorted(heavy & sys.modules.keys()), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        cwd=family.parent, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert done.stderr.splitlines()[-1].strip() == ""


@pytest.mark.parametrize("ending", ["pl", "problog", "rules", "json", "csv"])
def test_rules_are_converted_there_and_back(andre, tmp_path: Path, ending: str) -> None:
    source, there, back = tmp_path / "rules.pl", tmp_path / f"there.{ending}", tmp_path / "back.pl"
    source.write_text("% train: N_b=4, N_r=3, N_r/N_b=0.7500\nh(X, Y) :- b(X, Z), c(Z, Y).\n")
    assert andre("convert", "--rules", source, there).status == 0
    done = andre("convert", "--rules", there, back, *(["--to", "json"] if ending == "problog" else []))
    assert (done.status, done.out) == (0, "")
    if ending != "problog":  # there the confidence is the rule's probability
        assert parse_program(back.read_text()) == parse_program(source.read_text())
