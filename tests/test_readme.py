"""The README says what happens."""

import doctest
import importlib.util
import json
import re
import shutil
import sqlite3
import sys
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tests.typed import run_line

from andre.facts import read_facts, write_facts
from andre.inference import materialise

HOME = Path(__file__).parents[1]
TEXT = (HOME / "README.md").read_text()
#: The commands that are typed, those of the text first, by the section they stand in.
TYPED = [" ".join(found.split()) for found in re.findall(r"`(andre \w+ [^`]+)`", TEXT)] + [
    line.strip() for line in TEXT.splitlines() if line.startswith("    andre ")
]


def test_the_examples_of_the_readme_run() -> None:
    found = doctest.testfile(str(HOME / "README.md"), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert found.attempted > 10
    assert not found.failed


def test_the_readme_quotes_the_pools_that_validation_facts_chose() -> None:
    best: dict[str, dict] = {}
    for trial in json.loads((HOME / "docs/benchmarks/ranking.json").read_text())["data"]["trials"]:
        if trial["base"] not in best or trial["valid_mrr"] > best[trial["base"]]["valid_mrr"]:
            best[trial["base"]] = trial
    figures = [f"{trial['test']['mrr']['realistic']:.3f}".removeprefix("0") for trial in best.values()]
    assert list(best) == ["nations", "umls", "kinship", "wn18rr"]
    row = next(line for line in (HOME / "README.md").read_text().splitlines() if "filtered MRR" in line)
    assert f"| {', '.join(figures)} |" in row


def test_the_readme_quotes_the_intervals_of_the_page_of_splits() -> None:
    measured = json.loads((HOME / "docs/benchmarks/splits.json").read_text())["data"]["measured"]
    readme = " ".join((HOME / "README.md").read_text().split())
    for each in measured:
        if each["split"] in {"family", "wn18rr"} and each["taught"] == "train":
            found = each["intervals"]["realistic"]
            mean, low, high = (f"{found[key]:.3f}".removeprefix("0") for key in ("mean", "low", "high"))
            assert f"{mean} [{low}, {high}]" in readme


def draw_family(letter: str, rng: Random) -> str:
    """A family as the example of that name draws it."""
    spec = importlib.util.spec_from_file_location("readme_family", HOME / "examples/family/family.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return str(module.draw_family(letter, 3, rng).text())


def draw_people(rng: Random, rows: int) -> Iterator[str]:
    yield "age,hours,income"
    for _ in range(rows):
        age, hours = rng.randint(18, 70), rng.randint(10, 60)
        yield f"{age},{hours},{'high' if age > 40 and hours > 30 else 'low'}"


def draw_shop(path: Path, rng: Random) -> None:
    """Customers in countries, and 412 invoices as in Chinook, each sent to its customer's country."""
    with sqlite3.connect(path) as database:
        database.executescript(
            "CREATE TABLE Customer (CustomerId INTEGER PRIMARY KEY, Country TEXT);"
            "CREATE TABLE Invoice (InvoiceId INTEGER PRIMARY KEY, BillingCountry TEXT, "
            "CustomerId INTEGER REFERENCES Customer (CustomerId));"
        )
        countries = [rng.choice(["Brazil", "Canada", "France", "Norway"]) for _ in range(59)]
        database.executemany("INSERT INTO Customer VALUES (?, ?)", enumerate(countries, 1))
        for invoice in range(1, 413):
            customer = rng.randint(1, 59)
            row = (invoice, countries[customer - 1], customer)
            database.execute("INSERT INTO Invoice VALUES (?, ?, ?)", row)
    database.close()


def draw_files() -> None:
    """All files that the commands name, small."""
    rng = Random(0)
    family, others = (draw_family(letter, rng) for letter in "ab")
    Path("family.pl").write_text(family)
    Path("others.pl").write_text(f"{others}father(cy, al). father(cy, di). mother(di, bo). male(al).\n")
    Path("new.pl").write_text(family)
    Path("ancestors.pl").write_text(
        "elder(X, Y) :- parent(X, Y).\nelder(X, Y) :- elder(X, Z), parent(Z, Y).\n"
    )
    Path("theirs.pl").write_text("aunt(X, Y) :- sibling(X, Z), parent(Z, Y), \\+ male(X).\n")
    Path("known.pl").write_text("uncle(X, Y) :- male(X), sibling(X, Z), father(Z, Y).\n")
    for name in ("people.csv", "new.csv", "test.csv"):
        Path(name).write_text("\n".join(draw_people(rng, 60)) + "\n")
    draw_shop(Path("chinook.sqlite"), rng)
    cities = {f"p{n}": rng.choice(["bern", "oslo", "rome"]) for n in range(24)} | {"ann": "bern"}
    lives = [f"{one}\tlives_in\t{city}" for one, city in cities.items()]
    works = [f"{one}\tworks_in\t{city}" for one, city in cities.items() if one != "ann"]
    Path("graph.tsv").write_text("\n".join(lives + works) + "\n")
    Path("rules.pl").write_text("works_in(X, Y) :- lives_in(X, Y).\n")
    facts = [f"lives_in({one},{city})." for one, city in cities.items()]
    facts += [f"works_in({one},{city}).{'#TEST' * (one < 'p2')}" for one, city in cities.items()]
    Path("graph.nl").write_text("\n".join(facts) + "\n")
    kinds = [f"isa(kind{n},kind{n // 2}). part_of(kind{n},kind{n - 1})." for n in range(1, 30)]
    Path("umls.nl").write_text("\n".join(kinds).replace(" ", "\n") + "\n")


def shown_after(line: str) -> list[str]:
    """The lines of the block that stands right after a command, if one does."""
    after = TEXT.partition(f"{line}\n\n```prolog\n")[2]
    return after.partition("```")[0].splitlines()


def test_the_commands_of_the_readme_run_as_typed(tmp_path, monkeypatch) -> None:
    """In order, in one folder, each on small files of the names that stand there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(webbrowser, "open", lambda address: None)
    draw_files()
    printed: dict[str, str] = {}
    for line in TYPED:
        if "tasks grandparent" in line:
            monkeypatch.chdir(tmp_path_of(tmp_path, "tasks"))
        if line.startswith("andre convert"):  # facts alone, which all formats can hold
            base = materialise(read_facts("family.pl"))
            Path("family.pl").unlink()
            write_facts(base, "family.pl")
        if line.startswith("andre diff"):
            for name in ("monday.run", "today.run", "ours.run"):
                shutil.copytree("family.run", name)
        printed[line] = run_line(line, monkeypatch)
        monkeypatch.chdir(tmp_path)
        for shown in shown_after(line):
            assert shown in printed[line].splitlines()
    assert len(printed) > 20
    evidence, rule = TEXT.partition("```prolog\n")[2].splitlines()[:2]
    learned = printed["andre learn family.pl --target uncle/2 --out family.run"].splitlines()
    assert evidence in learned
    assert _relations(rule) in map(_relations, learned)  # who is whose sibling can be said in two ways
    assert any("works_in(ann, bern)  chance" in said for said in printed.values())
    assert "new.tsv" in {path.name for path in tmp_path.iterdir()}


def _relations(rule: str) -> list[str]:
    return re.findall(r"\w+(?=\()", rule)


def tmp_path_of(folder: Path, name: str) -> Path:
    made = folder / name
    made.mkdir()
    return made


def test_dev_knows_the_jobs_that_the_texts_name() -> None:
    jobs = set(re.findall(r"^    (\w+)\)", (HOME / "dev").read_text(), re.MULTILINE))
    texts = TEXT + (HOME / "CONTRIBUTING.md").read_text()
    assert set(re.findall(r"\./dev (\w+)", texts)) <= jobs
