"""The README says what happens."""

import doctest
import json
from pathlib import Path

HOME = Path(__file__).parents[1]


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
