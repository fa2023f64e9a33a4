"""Tables as people have them: weighted rules beside other learners whose models can be read."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Floats
from andre.errors import DataError
from andre.estimator import AndreClassifier
from andre.evaluation import calibration_error, mean_area_under_curve
from benchmarks import BENCHMARKS, Tick, parse_names, silent
from benchmarks.processes import run_all
from benchmarks.report import Report, Table

#: Tables that are files, with their labels and the columns to leave out; the others come with scikit-learn.
_FILES: dict[str, tuple[str, tuple[str, ...]]] = {
    "adult": ("income", ("fnlwgt",)),
    "fico": ("RiskPerformance", ()),
    "compas": ("is_recid", ()),
    "tic-tac-toe": ("outcome", ()),
}
_TOYS = ("breast_cancer", "wine", "iris", "digits")
TABLES = (*_FILES, *_TOYS)
#: The package that each peer is in.
_PEERS = {"FIGS-12": "imodels", "RuleFit-30": "imodels", "EBM": "interpret", "RIPPER": "wittgenstein"}
#: Weighted rules of ours, by the most rules they may have.
_OURS = {"ours-15": 15, "ours-60": 60}
_FOLDS = 5


@dataclass(frozen=True)
class Trial:
    """One learner on one fold of one table."""

    table: str
    learner: str
    fold: int
    seed: int


@dataclass(frozen=True)
class Outcome:
    """What came out of a trial."""

    table: str
    learner: str
    fold: int
    accuracy: float
    auc: float
    truth: list[int]  #: the classes of the held-out rows
    probabilities: list[list[float]]  #: of all classes on them
    rules: float | None  #: None where a model has none
    literals: float | None
    seconds: float
    program: str = ""


def tables_folder() -> Path:
    """Where the tables that are files lie: `ANDRE_TABLES`, or `../shared/tables` beside the checkout."""
    return Path(os.environ.get("ANDRE_TABLES", Path(__file__).parents[2] / "shared" / "tables"))


@cache
def load(name: str) -> tuple[Any, NDArray[np.intp]]:
    """A DataFrame of columns, and the class of every row; digits are told apart by even and odd.

    Examples
    --------
    >>> frame, labels = load("iris")
    >>> frame.shape, np.bincount(labels).tolist()
    ((150, 4), [50, 50, 50])
    """
    import pandas as pd

    if name in _TOYS:
        import sklearn.datasets

        found = getattr(sklearn.datasets, f"load_{name}")(as_frame=True)
        labels = found.target.to_numpy()
        return found.data, (labels % 2 == 0).astype(np.intp) if name == "digits" else labels.astype(np.intp)
    label, left_out = _FILES[name]
    path = tables_folder() / f"{name}.csv"
    if not path.exists():
        raise DataError(f"there is no {path}: say where the tables are by ANDRE_TABLES")
    frame = pd.read_csv(path)
    return frame.drop(columns=[label, *left_out]), pd.factorize(frame[label], sort=True)[0].astype(np.intp)


def splits(labels: NDArray[np.intp], seed: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows to learn from and rows to judge by, for each of five stratified folds."""
    from sklearn.model_selection import StratifiedKFold

    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)
    return list(folds.split(np.zeros((len(labels), 1)), labels))


def attempt(trial: Trial) -> Outcome:
    """Learn from all folds but one, and judge by that one.

    Examples
    --------
    >>> outcome = attempt(Trial("iris", "majority", 0, 0))
    >>> round(outcome.accuracy, 2), outcome.rules
    (0.33, 0.0)
    """
    frame, labels = load(trial.table)
    train, test = splits(labels, trial.seed)[trial.fold]
    learner = _LEARNERS[trial.learner]
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seen, unseen = (frame.iloc[rows].reset_index(drop=True) for rows in (train, test))
        predicted = learner(seen, labels[train], unseen, trial.seed)
    seconds = time.perf_counter() - began
    decided, shares = predicted.decided, predicted.probabilities
    return Outcome(
        table=trial.table,
        learner=trial.learner,
        fold=trial.fold,
        accuracy=float((decided == labels[test]).mean()),
        auc=mean_area_under_curve(shares, labels[test], np.ones(len(test))),
        truth=labels[test].tolist(),
        probabilities=shares.round(6).tolist(),
        rules=predicted.rules,
        literals=predicted.literals,
        seconds=seconds,
        program=predicted.program,
    )


@dataclass(frozen=True, eq=False)
class Predicted:
    """What a model says of held-out rows, and its size."""

    probabilities: Floats  #: [rows, classes]
    decided: NDArray[np.intp]  #: [rows]
    rules: float | None = None
    literals: float | None = None
    program: str = ""

    @classmethod
    def of(cls, shares: Floats, rules: float | None = None, literals: float | None = None) -> Predicted:
        """Decisions for the most likely class."""
        return cls(shares, shares.argmax(axis=1), rules, literals)


def _weighted(seen: Any, labels: NDArray[np.intp], unseen: Any, seed: int, *, most: int) -> Predicted:
    model = AndreClassifier(max_rules=most, random_state=seed).fit(seen, labels)
    size = float(len(model.program_)), float(model.program_.n_literals)
    decided = np.searchsorted(model.classes_, model.predict(unseen))
    return Predicted(model.predict_proba(unseen), decided, *size, program=str(model.program_))


def _majority(seen: Any, labels: NDArray[np.intp], unseen: Any, seed: int) -> Predicted:
    shares = np.bincount(labels) / len(labels)
    return Predicted.of(np.tile(shares, (len(unseen), 1)), 0.0, 0.0)


def _one_hot(seen: Any, unseen: Any) -> tuple[Floats, Floats]:
    import pandas as pd

    both = pd.get_dummies(pd.concat([seen, unseen]), dtype=float).fillna(-1.0)
    return both.to_numpy()[: len(seen)], both.to_numpy()[len(seen) :]


def _imodels(seen: Any, labels: NDArray[np.intp], unseen: Any, seed: int, *, kind: str) -> Predicted:
    import imodels

    X, X_new = _one_hot(seen, unseen)
    make = {
        "FIGS-12": partial(imodels.FIGSClassifier, max_rules=12, random_state=seed),
        "RuleFit-30": partial(imodels.RuleFitClassifier, max_rules=30, random_state=seed),
    }[kind]
    models, shares = [], []
    for k in _asked(labels):
        models.append(make().fit(X, (labels == k).astype(int)))
        shares.append(models[-1].predict_proba(X_new)[:, 1])
    if kind == "FIGS-12":
        n_rules = n_literals = float(sum(model.complexity_ for model in models))
    else:
        bodies = [str(rule) for model in models for rule in model.rules_]
        n_rules, n_literals = float(len(bodies)), float(sum(len(b.split(" and ")) for b in bodies))
    return Predicted.of(_together(shares), n_rules, n_literals)


def _ebm(seen: Any, labels: NDArray[np.intp], unseen: Any, seed: int) -> Predicted:
    from interpret.glassbox import ExplainableBoostingClassifier

    model = ExplainableBoostingClassifier(random_state=seed, n_jobs=1).fit(seen, labels)
    return Predicted.of(np.asarray(model.predict_proba(unseen)))


def _ripper(seen: Any, labels: NDArray[np.intp], unseen: Any, seed: int) -> Predicted:
    import wittgenstein

    shares, rules = [], []
    for k in _asked(labels):
        model = wittgenstein.RIPPER(random_state=seed)
        model.fit(seen.assign(_label=(labels == k).astype(int)), class_feat="_label", pos_class=1)
        shares.append(np.asarray(model.predict_proba(unseen))[:, 1])
        rules += model.ruleset_.rules
    return Predicted.of(_together(shares), float(len(rules)), float(sum(len(rule.conds) for rule in rules)))


def _asked(labels: NDArray[np.intp]) -> Sequence[int]:
    """The classes that a learner of two classes is asked for: of two the second, of more each."""
    n = int(labels.max()) + 1
    return [1] if n == 2 else range(n)


def _together(shares: list[Floats]) -> Floats:
    """Probabilities of all classes from those of each against the others."""
    if len(shares) == 1:
        return np.stack((1 - shares[0], shares[0]), axis=1)
    table = np.stack(shares, axis=1) + 1e-9
    return np.asarray(table / table.sum(axis=1, keepdims=True))


_LEARNERS: dict[str, Callable[[Any, NDArray[np.intp], Any, int], Predicted]] = {
    "majority": _majority,
    **{name: partial(_weighted, most=most) for name, most in _OURS.items()},
    "FIGS-12": partial(_imodels, kind="FIGS-12"),
    "RuleFit-30": partial(_imodels, kind="RuleFit-30"),
    "EBM": _ebm,
    "RIPPER": _ripper,
}


def bench_tables(
    tables: str | None, learners: str | None, seed: int, workers: int, tick: Tick = silent
) -> Report:
    """Accuracy, area under the curve and calibration of weighted rules and of peers, by five folds."""
    began = time.perf_counter()
    names = parse_names(tables, TABLES, "table")
    asked = parse_names(learners, tuple(_LEARNERS), "learner")
    missing = sorted({_PEERS[name] for name in asked if name in _PEERS and find_spec(_PEERS[name]) is None})
    asked = tuple(name for name in asked if _PEERS.get(name) not in missing)
    for name in names:
        load(name)
    trials = [
        Trial(name, learner, fold, seed) for name in names for learner in asked for fold in range(_FOLDS)
    ]
    outcomes = run_all(attempt, trials, workers, tick)
    notes = [f"Left out, since not installed: {', '.join(missing)} (the extra `peers`)."] if missing else []
    return Report(
        name="tables",
        title=BENCHMARKS["tables"].title,
        protocol=_PROTOCOL,
        settings={"tables": len(names), "folds": _FOLDS, "seed": seed, "workers": workers},
        seconds=time.perf_counter() - began,
        tables=tuple(_section(name, asked, outcomes) for name in names),
        notes=tuple(notes),
        data={"outcomes": [_kept(outcome) for outcome in outcomes]},
    )


_PROTOCOL = (
    "Five stratified folds; each learner gets the columns as they are in the table, one-hot where it takes "
    "numbers only, with its own default settings but for the size in its name. Of several classes, learners "
    "of two are asked for each class. Accuracy and area under the curve (AUC) are means over the folds, the "
    "expected calibration error (ECE, ten bins) is of all held-out rows together. Rules and literals are "
    "counted over all classes; seconds are of one fold on one thread."
)


def _section(name: str, learners: Sequence[str], outcomes: Sequence[Outcome]) -> Table:
    rows = []
    for learner in learners:
        own = [one for one in outcomes if one.table == name and one.learner == learner]
        shares = np.concatenate([np.array(one.probabilities) for one in own])
        truth = np.concatenate([np.array(one.truth, dtype=np.intp) for one in own])
        rows.append(
            (
                learner,
                f"{fmean(one.accuracy for one in own):.3f}",
                f"{fmean(one.auc for one in own):.3f}",
                f"{calibration_error(shares, truth):.3f}",
                *(
                    "–" if getattr(own[0], key) is None else f"{fmean(getattr(one, key) for one in own):.1f}"
                    for key in ("rules", "literals")
                ),
                f"{fmean(one.seconds for one in own):.1f}",
            )
        )
    return Table(name, ("learner", "accuracy", "AUC", "ECE", "rules", "literals", "s"), tuple(rows))


def _kept(outcome: Outcome) -> Mapping[str, Any]:
    """What is kept of an outcome: all but what it says of every row."""
    return {key: value for key, value in asdict(outcome).items() if key not in ("truth", "probabilities")}
