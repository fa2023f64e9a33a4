"""The report of a classifier: rules with weights, learned from a table of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from andre.arrays import Bools, Floats
from andre.facts import LabelledRows, RawTable
from andre.learning import PathStep, RuleClassifier, RulePath
from andre.logic import Rule
from andre.report.page import (
    Chart,
    ClassCounts,
    ColumnRow,
    ConfusionCounts,
    Faults,
    Figures,
    Prediction,
    ReportData,
    RuleRow,
    TargetReport,
)
from andre.report.result import provenance, target_report
from andre.report.summary import outcome, remarks
from andre.report.weighted import base_rate, is_chosen
from andre.report.words import as_sentence
from andre.runs import Origin

#: Predictions of a rule that are gathered; a page may list fewer.
_PREDICTIONS = 5_000


def gather_classifier(
    model: RuleClassifier,
    origin: Origin | None = None,
    rows: LabelledRows | None = None,
    held_out: LabelledRows | None = None,
) -> ReportData:
    """A report of a classifier.

    Parameters
    ----------
    model
        What was learned.
    origin
        How it came to be, where that was kept.
    rows
        What it was learned from; without it, no predictions are listed.
    held_out
        Rows that it was judged by.

    Examples
    --------
    >>> import andre
    >>> ages = [*range(20, 60)] * 3
    >>> data = gather_classifier(andre.fit({"age": ages, "rich": [age > 39 for age in ages]}, label="rich"))
    >>> [str(row.rule) for row in data.targets[0].rules]
    ['rich :- age > 39.5.']
    """
    times, settings = {"learning": model.seconds}, model.config.model_dump(mode="json")
    made = provenance(origin, model.config.seed, times, settings)
    return ReportData(f"Rules for {model.label}", (_target(model, rows, held_out),), made)


def _target(model: RuleClassifier, rows: LabelledRows | None, held_out: LabelledRows | None) -> TargetReport:
    read = set(model.notes)  # how columns were read stands beside them, spelled as they are
    notes = [as_sentence(note) for note in (*remarks(model), base_rate(model)) if note not in read]
    if rows is None:
        notes.append(
            "The rows it was learned from were not at hand, so that predictions are missing: "
            "name them by --data."
        )
    # Of two classes there is one set of runs, which fills the sections about training.
    about = target_report(model.runs[0]) if len(model.runs) == 1 else TargetReport(model.label)
    given = (("train", rows), ("validation", held_out))
    splits = [_Rows.of(model, one, name) for name, one in given if one is not None]
    return replace(
        about,
        head=model.label,
        summary=outcome(model),
        faults=_faults(model, splits),
        rules=tuple(_rule_row(model, place, splits) for place in range(len(model.program))),
        path=() if model.path is None else path_charts(model.path),
        figures=tuple(
            Figures(one.split, one.rows, one.fit.accuracy, one.fit.auc, one.fit.loss) for one in model.scores
        ),
        bars=None,  # of runs that only propose: the rules are chosen among much else
        columns=tuple(ColumnRow(*one.cells()) for one in model.encoding.summary()),
        column_notes=tuple(model.notes),
        confusions=tuple(_confusion(model, one, 1) for one in splits) if len(model.classes) == 2 else (),
        classes=()
        if len(model.classes) == 2
        else tuple(
            ClassCounts(name, _confusion(model, one, place))
            for one in splits
            for place, name in enumerate(model.classes)
        ),
        census=None,
        notes=tuple(notes),
    )


def path_charts(path: RulePath) -> tuple[Chart, ...]:
    """Loss and accuracy by the number of rules, with the number that was taken."""
    x = tuple(float(step.n_rules) for step in path.steps)
    taken = next((float(step.n_rules) for step in path.steps if is_chosen(step, path)), None)
    note = "by the number of rules"
    if taken is None and path.averaged is not None and is_chosen(path.averaged, path):
        note += f"; taken are the {path.averaged.n_rules} rules of all folds together"
    elif taken is None and path.crisp is not None:
        note += f"; taken are the {path.crisp.n_rules} rules of the runs' own program"
    lines = {
        name: {
            "training rows": tuple(getattr(step.train, name) for step in path.steps),
            "rows learned without": tuple(_validated(step, name) for step in path.steps),
        }
        for name in ("loss", "accuracy", "auc")
    }
    return (
        Chart("Log-loss", x, lines["loss"], note, mark=taken, from_zero=False),
        Chart("Accuracy", x, lines["accuracy"], note, mark=taken, from_zero=False),
        Chart("Area under the curve", x, lines["auc"], note, mark=taken, from_zero=False),
    )


def _validated(step: PathStep, name: str) -> float | None:
    value = None if step.validation is None else float(getattr(step.validation, name))
    return None if value is None or np.isnan(value) else value


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of one split, with what rules say of them."""

    split: str
    rows: LabelledRows
    fires: Bools  #: [rules, rows]
    codes: NDArray[np.intp]  #: [rows], the place of each row's class
    chances: Floats  #: [rows, classes]

    @classmethod
    def of(cls, model: RuleClassifier, rows: LabelledRows, split: str) -> _Rows:
        bins = model.bins(rows.table)
        place = np.array([model.classes.index(name) for name in rows.labels.classes], dtype=np.intp)
        chances = model.rules.predict_proba(bins)
        return cls(split, rows, bins.covers(model.rules.codes), place[rows.labels.codes], chances)


def _confusion(model: RuleClassifier, seen: _Rows, place: int) -> ConfusionCounts:
    """How well one class is told from all others."""
    said, true, weights = model.rules.decide(seen.chances) == place, seen.codes == place, seen.rows.weights
    cases = (said & true, said & ~true, ~said & true, ~said & ~true)
    return ConfusionCounts(seen.split, *(float(weights[case].sum()) for case in cases))


def _faults(model: RuleClassifier, splits: Sequence[_Rows]) -> tuple[Faults, ...]:
    """The rows of each split that are taken for another class, the surest of them first."""
    made = []
    for seen in splits:
        said = model.rules.decide(seen.chances)
        rows = np.flatnonzero(said != seen.codes)
        rows = rows[np.argsort(-seen.chances[rows, said[rows]], kind="stable")]
        mistakes = tuple(
            f"row {seen.rows.labels.rows[row] + 1:,}: {model.classes[seen.codes[row]]}, taken for "
            f"{model.classes[said[row]]} (p {seen.chances[row, said[row]]:.2f})"
            for row in rows[:_PREDICTIONS].tolist()
        )
        if mistakes:
            hint = "Rows that are taken for another class than theirs, the surest mistakes first."
            made.append(Faults(f"Wrong on {seen.split} rows", hint, mistakes, len(rows)))
    return tuple(made)


def _rule_row(model: RuleClassifier, place: int, splits: Sequence[_Rows]) -> RuleRow:
    one = model.weighted_rules[place]
    parts = [_predictions(model, place, seen) for seen in splits]
    return RuleRow(
        rule=one.rule,
        alone=_alone(model, place, splits[0]) if splits else None,
        predictions=tuple(prediction for made, _ in parts for prediction in made),
        left_out=sum(left for _, left in parts),
        weight=one.weight,
    )


def _alone(model: RuleClassifier, place: int, seen: _Rows) -> float | None:
    """The share of the rows of its class that a rule covers and no other rule for the class does."""
    head = model.program.rules[place].head
    own = (seen.codes == model.heads.index(head)) * seen.rows.weights
    others = [other.head == head and number != place for number, other in enumerate(model.program)]
    only = seen.fires[place] & ~seen.fires[np.array(others, dtype=np.bool_)].any(axis=0)
    total = float(own.sum())
    return float(only @ own) / total if total else None


def _predictions(model: RuleClassifier, place: int, seen: _Rows) -> tuple[list[Prediction], int]:
    """The rows where a rule fires, those of another class first, and how many more there are."""
    rule = model.program.rules[place]
    about = model.heads.index(rule.head)
    fired = np.flatnonzero(seen.fires[place])
    order = fired[np.argsort(seen.codes[fired] == about, kind="stable")]
    shown = order[:_PREDICTIONS]
    made = [
        Prediction(
            text=f"row {seen.rows.labels.rows[row] + 1}",
            holds=bool(seen.codes[row] == about),
            probability=float(seen.chances[row, about]),
            split=seen.split,
            values=values,
        )
        for row, values in zip(shown.tolist(), _cells(model, rule, seen.rows.table, shown), strict=True)
    ]
    return made, len(order) - len(shown)


def _cells(
    model: RuleClassifier, rule: Rule, table: RawTable, rows: NDArray[np.intp]
) -> list[tuple[str, ...]]:
    """What stands in the columns of a body on some rows, literal by literal."""
    named = {atom: column.name for column in model.encoding.columns for atom in column.atoms}
    columns = []
    for literal in rule.body:
        name = literal.atom.column or named[literal.atom]
        levels, codes, _ = table.column(name).take(rows).distinct()
        columns.append([levels[code] if code >= 0 else "unknown" for code in codes.tolist()])
    return list(zip(*columns, strict=True))
