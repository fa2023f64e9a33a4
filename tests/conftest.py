"""Fixtures that several rooms' tests share."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def datasets() -> Path:
    """The folder of the public datasets, which are not part of the repository."""
    given = os.environ.get("ANDRE_DATA")
    folder = Path(given) if given else Path(__file__).parents[1].parent / "shared" / "datasets"
    if not folder.is_dir():
        pytest.skip(f"no datasets at {folder}: set ANDRE_DATA to their folder")
    return folder


FAMILY = """\
parent(ann,bob). parent(bob,cy). parent(cy,dan). parent(ann,eve). parent(eve,fay). parent(fay,gus).
parent(dan,hal). parent(gus,ida). parent(bob,joe). parent(joe,kim).
grand(ann,cy). grand(bob,dan). grand(ann,fay). grand(eve,gus). grand(cy,hal). grand(fay,ida).
grand(ann,joe). grand(bob,kim).
"""
LIKES = [f"likes(x{i},y{i})." for i in range(12)] + [f"knows(y{i},x{i})." for i in range(13)]


@dataclass(frozen=True)
class SavedRuns:
    """A saved run of every kind, and the files that they were learned from."""

    table: Path
    fit: Path  #: two rules for h, of the table
    family: Path
    learn: Path  #: grand/2, of the family
    likes: Path  #: likes(x12, y12) is missing, or a test fact
    rank: Path  #: likes/2 and knows/2, of these


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> SavedRuns:
    """Runs that are learned once for all tests, which read them or copy them."""
    from andre.completion import complete
    from andre.facts import read_facts
    from andre.learning import Config, fit, learn
    from andre.runs import FactSource, Origin, TableSource, digest, save
    from andre.samples import SYNTHETIC_TASKS

    folder = tmp_path_factory.mktemp("runs")
    made = SavedRuns(
        folder / "four.csv",
        folder / "fit",
        folder / "family.pl",
        folder / "learn",
        folder / "likes.nl",
        folder / "rank",
    )
    task = SYNTHETIC_TASKS["four"]
    rows, labels = task.draw(100, seed=0)
    cells = [[*row, int(label)] for row, label in zip(rows.tolist(), labels, strict=True)]
    lines = [",".join(map(repr, row)) for row in cells]
    made.table.write_text("\n".join(["b1,b2,b3,b4,h", *lines]) + "\n")
    made.family.write_text(FAMILY)
    made.likes.write_text("\n".join([*LIKES, "likes(x12,y12).#TEST"]) + "\n")

    quick = {"restarts": 2, "rounds": 1}
    result = fit(task.sample(100, seed=0), Config.preset(**quick, subrules=(2, 3)))
    table = TableSource(str(made.table), digest(made.table))
    save(result, made.fit, Origin(("andre", "fit", str(made.table)), table=table))
    theory = learn(read_facts(made.family), "grand/2", **quick)
    save(theory, made.learn, Origin(("andre", "learn"), facts=FactSource.of(str(made.family))))
    save(
        complete(read_facts(made.likes)),
        made.rank,
        Origin(("andre", "rank"), facts=FactSource.of(str(made.likes))),
    )
    return made
