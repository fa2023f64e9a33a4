"""The example projects find what they hide, and end in a report."""

import importlib.util
import io
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest
from tests.typed import run_line

from andre.cli.app import main as command_line
from andre.facts import read_facts
from andre.inference import infer
from andre.logic import parse_program
from andre.runs import load as open_run

EXAMPLES = Path(__file__).parents[2] / "examples"
HOME = EXAMPLES.parent
FAST = ("--set", "restarts=2", "--set", "rounds=1")


def load(name, monkeypatch):
    """The module of an example."""
    spec = importlib.util.spec_from_file_location(f"{name}_example", EXAMPLES / name / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def run(monkeypatch):
    """Runs an example with its commands in this process, where torch is loaded already."""

    def andre(*words):
        monkeypatch.setattr(sys, "argv", ["andre", *map(str, words)])
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as end:
            command_line()
        assert not end.value.code, err.getvalue()
        return out.getvalue()

    return lambda name, *args: load(name, monkeypatch).main(andre, *args)


def readme(name):
    return (EXAMPLES / name / "README.md").read_text()


def check_files(name, build):
    """An example has made all that its README lists."""
    rows = [line.split("|")[1] for line in readme(name).splitlines() if line.startswith("| `")]
    said = [path for row in rows for path in re.findall(r"`([^`]+)`", row)]
    assert said
    assert [path for path in said if not (build / path).exists()] == []


def run_typed(name, build, monkeypatch):
    """Run the commands of an example's README as they stand there, but on another build folder."""
    text = readme(name)
    found = re.findall(r"`(andre [^`]+)`", text) + re.findall(r"^    (andre .+)$", text, re.MULTILINE)
    at = f"examples/{name}/build"
    return {line: run_line(line.replace(at, str(build)), monkeypatch) for line in found}


@pytest.mark.parametrize("name", sorted(path.parent.name for path in EXAMPLES.glob("*/README.md")))
def test_the_command_of_a_readme_is_there(name):
    (line,) = re.findall(r"^    python (.+)$", readme(name), re.MULTILINE)
    assert line == f"examples/run.py {name}"
    assert (EXAMPLES / name / f"{name}.py").is_file()


def test_the_family_is_defined_and_the_other_one_too(run, tmp_path, monkeypatch, capsys):
    run("family", tmp_path, *FAST)
    check_files("family", tmp_path)
    (tmp_path / "yours.pl").write_text(
        "mother(ann, bo). mother(ann, cy). father(bo, di). male(bo). male(cy).\n"
    )
    monkeypatch.chdir(tmp_path)
    (printed,) = run_typed("family", tmp_path, monkeypatch).values()
    assert "uncle(cy, di)" in printed
    assert "ancestor(ann, di)" in printed
    theory = open_run(tmp_path / "run")
    assert theory["uncle/2"].program in (
        parse_program("uncle(X,Y) :- male(X), sibling(X,Z), parent(Z,Y)."),
        parse_program("uncle(X,Y) :- male(X), sibling(Z,X), parent(Z,Y)."),
    )
    assert theory.evaluate(read_facts(tmp_path / "others.pl")).overall.accuracy == 1.0
    assert "all\t1.0000\t1.0000\t1.0000" in capsys.readouterr().out
    assert (tmp_path / "run" / "report.html").stat().st_size > 10_000


def test_families_share_no_person(tmp_path, monkeypatch):
    family = load("family", monkeypatch)
    for name, letter in (("one.pl", "a"), ("two.pl", "b")):
        (tmp_path / name).write_text(family.draw_family(letter, 2, family.Random(0)).text())
    one, two = (set(read_facts(tmp_path / name).constants) for name in ("one.pl", "two.pl"))
    assert one
    assert not one & two


def test_faults_are_explained_and_wrong_entries_found(run, tmp_path, capsys):
    run("faults", tmp_path, *FAST)
    check_files("faults", tmp_path)
    found = parse_program("fault :- hot, vibrating. fault :- leaking, \\+ serviced.")
    assert open_run(tmp_path / "run").program == found
    counts = re.search(r"(\d+) entries contradict .*; (\d+) are wrong, (\d+) of", capsys.readouterr().out)
    suspects, wrong, among = map(int, counts.groups())
    assert among > 0.9 * wrong > 40
    assert among > 0.75 * suspects
    assert (tmp_path / "run" / "report.html").stat().st_size > 10_000


def test_the_graph_is_completed(run, tmp_path, monkeypatch, capsys):
    run("products", tmp_path, *FAST)
    check_files("products", tmp_path)
    (ranked,) = run_typed("products", tmp_path, monkeypatch).values()
    assert ranked.startswith("  1. made_by(product3, ")
    theory = open_run(tmp_path / "run")
    assert theory.plan.mode == "complete"
    assert len(theory["made_by/2"].program) > 0
    counts = re.search(r"(\d+) new facts; (\d+) were withheld, (\d+) of", capsys.readouterr().out)
    new, withheld, among = map(int, counts.groups())
    assert among > 0.9 * withheld > 50
    assert among > 0.9 * new
    assert (tmp_path / "run" / "report.html").stat().st_size > 10_000


def test_trains_are_told_apart_by_the_planted_rules(run, tmp_path, capsys):
    run("trains", tmp_path)
    check_files("trains", tmp_path)
    learned = open_run(tmp_path / "run").program
    # One car is before another of the same train only, so that either may be the one that the train has.
    planted = [
        parse_program(
            "eastbound(X) :- has_car(X,Y), closed(Y), short(Y). "
            f"eastbound(X) :- has_car(X,{car}), circles(Y), before(Z,Y), triangles(Z)."
        )
        for car in "YZ"
    ]
    assert learned in planted
    assert "eastbound/1\t1.0000\t1.0000\t1.0000" in capsys.readouterr().out


def test_the_ten_trains_are_learned_as_typed(tmp_path, monkeypatch):
    monkeypatch.chdir(HOME)
    (printed,) = run_typed("trains", tmp_path, monkeypatch).values()
    (shown,) = re.findall(r"^    (eastbound.+)$", readme("trains"), re.MULTILINE)
    assert shown in printed.splitlines()


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["krk", "molecules", "population"])
def test_large_examples_make_what_they_say(name, run, tmp_path):
    run(name, tmp_path)
    check_files(name, tmp_path)


def test_positions_are_illegal_by_the_rules_of_chess(monkeypatch):
    krk = load("krk", monkeypatch)

    def attacked(position):
        """Squares that the rook sees, one step at a time, until a piece is in its way."""
        king, rook = position[:2], position[2:4]
        for step in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            square = (rook[0] + step[0], rook[1] + step[1])
            while min(square) >= 0 and max(square) < 8 and square != king:
                yield square
                square = (square[0] + step[0], square[1] + step[1])

    rng, near = krk.Random(1), {(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)}
    positions = krk.draw_positions(3000, rng)
    assert len(set(positions)) == 3000
    for position in positions:
        king, rook, other = position[:2], position[2:4], position[4:]
        beside = (king[0] - other[0], king[1] - other[1]) in near
        illegal = beside or rook in (king, other) or other in set(attacked(position))
        assert krk.is_illegal(position) == illegal


def test_molecules_have_the_labels_of_the_planted_rules_but_for_the_noise(tmp_path, monkeypatch):
    molecules = load("molecules", monkeypatch)
    rules = parse_program(
        "nitro(X) :- has_atom(X,A), element(A,n), bond(A,B,double), bond(A,C,double), B \\= C, "
        "element(B,o), element(C,o)."
    )
    for folder, wrong in zip(molecules.write(tmp_path), (0.05, 0.0), strict=True):
        facts = read_facts(folder)
        numbers = {
            name: {str(a.args[0]): float(str(a.args[1])) for a in facts.atoms(name, 2)}
            for name in ("logp", "lumo")
        }
        derived = {str(atom.args[0]) for atom in infer(rules, facts).derived.atoms("nitro", 1)}
        derived |= {
            name for name, lumo in numbers["lumo"].items() if lumo < -1.9 and numbers["logp"][name] > 1.5
        }
        relation = facts.relations["active", 1]
        denied = relation.column("negative")
        stated = {
            str(facts.constants[code]): not no for code, no in zip(relation.codes[:, 0], denied, strict=True)
        }
        flipped = sum((name in derived) != label for name, label in stated.items())
        assert flipped == pytest.approx(wrong * len(stated), abs=0 if not wrong else 8)
        assert 0.2 < sum(stated.values()) / len(stated) < 0.6


@pytest.mark.parametrize(
    ("target", "definition"),
    [
        ("uncle/2", "uncle(X,Y) :- male(X), sibling(X,Z), parent(Z,Y)."),
        ("ancestor/2", "ancestor(X,Y) :- parent(X,Y). ancestor(X,Y) :- parent(X,Z), ancestor(Z,Y)."),
        ("cousin/2", "cousin(X,Y) :- parent(Z,X), sibling(Z,W), parent(W,Y)."),
    ],
)
def test_populations_agree_with_the_definitions(target, definition, tmp_path, monkeypatch):
    population = load("population", monkeypatch)
    people = population.draw(3, population.np.random.default_rng(0))
    facts = read_facts(population.write_population(people, target, tmp_path / "people.pl"))
    key = (target.partition("/")[0], 2)
    assert len(facts.constants) == 150
    assert {name for name, _ in facts.relations} == {"male", "parent", "sibling", key[0]}
    background = {k: relation for k, relation in facts.relations.items() if k != key}
    derived = infer(parse_program(definition), replace(facts, relations=background)).derived
    assert set(derived.atoms(*key)) == set(facts.atoms(*key))


def test_an_example_is_one_command(tmp_path):
    words = [sys.executable, EXAMPLES / "run.py", "faults", tmp_path, *FAST]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("report.html")
