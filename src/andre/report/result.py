"""The report of a result: rules learned from rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.errors import DataError
from andre.evaluation import CrispSample, covers, literal_truth
from andre.facts import TruthRows
from andre.learning import Result, read_curves, readings, rejected_rules
from andre.logic import Program, Rule
from andre.report.page import (
    Bars,
    CensusCounts,
    Chart,
    ConfusionCounts,
    Faults,
    Prediction,
    Provenance,
    Rejected,
    ReportData,
    RuleRow,
    RunRow,
    TargetReport,
)
from andre.report.summary import outcome, remarks
from andre.report.words import as_sentence
from andre.runs import Origin
from andre.samples import Sample

#: Most atoms and predictions of a rule that are gathered; a page may list fewer.
_ATOMS, _PREDICTIONS = 30, 5_000
#: Points at which the schedule is drawn.
_POINTS = 21


def gather_result(
    result: Result,
    origin: Origin | None = None,
    rows: TruthRows | None = None,
) -> ReportData:
    """A report of one result.

    Parameters
    ----------
    result
        What was learned.
    origin
        How it came to be, where that was kept.
    rows
        What it was learned from, a column for each of its atoms; without it, sections that need rows are
        left out and say so.

    Examples
    --------
    >>> from andre.learning import Config, fit
    >>> from andre.samples import SYNTHETIC_TASKS
    >>> task = SYNTHETIC_TASKS["four"]
    >>> rows = TruthRows(*task.draw(100, seed=0), np.ones(100))
    >>> data = gather_result(fit(task.sample(100, seed=0), Config.preset(restarts=2, rounds=1)), rows=rows)
    >>> [round(row.alone, 2) for row in data.targets[0].rules]
    [0.47, 0.4]
    """
    times, settings = {"learning": result.seconds}, result.config.model_dump(mode="json")
    target = target_report(result, rows)
    made = provenance(origin, result.config.seed, times, settings)
    return ReportData(f"Rules for {target.head}", (target,), made)


def provenance(
    origin: Origin | None, seed: int, times: Mapping[str, float], settings: Mapping[str, Any]
) -> Provenance:
    """How a run came to be, as far as that was kept."""
    if origin is None:
        return Provenance(seed=seed, times=times, settings=settings)
    return Provenance(origin.line, origin.versions, seed, origin.started, times, settings)


def target_report(result: Result, rows: TruthRows | None = None) -> TargetReport:
    """All sections that one result can fill."""
    train = None if rows is None else _sample(result, rows)
    crisp = None if train is None else CrispSample.of(train)
    notes = list(map(as_sentence, remarks(result)))
    if train is None:
        notes.append(
            "The rows it was learned from were not at hand, so that predictions, rejected rules and what "
            "each rule alone explains are missing: name them by --data."
        )
    left_out = () if crisp is None else rejected_rules(result, crisp)
    return TargetReport(
        head=str(result.space.head),
        summary=outcome(result),
        faults=() if rows is None else _faults(result, rows),
        rules=_rules(result, crisp, rows),
        bars=_bars(result),
        charts=_charts(result),
        census=_census(result, train, crisp),
        runs=_runs_by_program(result),
        confusions=_confusions(result),
        rejected=tuple(Rejected(item.rule, item.reason) for item in left_out),
        notes=tuple(notes),
    )


def _sample(result: Result, rows: TruthRows) -> Sample:
    return Sample.from_arrays(rows.valuations, rows.labels, rows.weights, space=result.space)


def _rules(result: Result, crisp: CrispSample | None, table: TruthRows | None) -> tuple[RuleRow, ...]:
    found = [sum(rule in run.program.rules for run in result.runs) for rule in result.program]
    alone = _alone(result, crisp)
    if table is None:
        return tuple(map(RuleRow, result.program, alone, found))
    fires = covers(literal_truth(table.valuations), result.codes)  # [rules, N]
    rows = []
    for place, rule in enumerate(result.program):
        chosen, left = _predictions(rule, result, table, np.flatnonzero(fires[place]))
        rows.append(RuleRow(rule, alone[place], found[place], chosen, left))
    return tuple(rows)


def _faults(result: Result, table: TruthRows) -> tuple[Faults, ...]:
    """The rows that no rule covers though their label is true, and those covered though it is false."""
    said, true, head = result.predict(table.valuations), table.labels > 0, result.space.head
    kinds = (
        ("Missed", f"Rows where {head} holds, and no rule says so.", ~said & true),
        ("Wrong", f"Rows where a rule says {head}, and it does not hold.", said & ~true),
    )
    made = []
    for title, hint, rows in kinds:
        shown = tuple(f"row {row + 1:,}" for row in np.flatnonzero(rows)[:_PREDICTIONS].tolist())
        made += [Faults(title, hint, shown, int(rows.sum()))] if shown else []
    return tuple(made)


def _alone(result: Result, crisp: CrispSample | None) -> list[float | None]:
    """The share of all positives that each rule covers and no other does."""
    if crisp is None or not crisp.totals[0] > 0:
        return [None] * len(result.program)
    fires = crisp.covers(result.codes)  # [rules, U]
    only = fires & (fires.sum(axis=0) == 1)
    return [float(count / crisp.totals[0]) for count in crisp.counts(only)[:, 0]]


def _predictions(
    rule: Rule, result: Result, table: TruthRows, places: NDArray[np.intp]
) -> tuple[tuple[Prediction, ...], int]:
    """The rows where a rule fires, those it is wrong on first, and how many more there are."""
    labels = table.labels
    order = places[np.argsort(labels[places], kind="stable")]
    column = {atom: place for place, atom in enumerate(result.space.atoms)}
    read = [column[literal.atom] for literal in rule.body]
    shown = order[:_PREDICTIONS]
    chances = result.predict_proba(table.valuations[shown]) if len(shown) else np.zeros(0)
    made = tuple(
        Prediction(
            text=f"row {row + 1}",
            holds=bool(labels[row]),
            probability=float(chance),
            values=tuple(None if np.isnan(value) else float(value) for value in table.valuations[row, read]),
        )
        for row, chance in zip(shown.tolist(), chances, strict=True)
    )
    return made, len(order) - len(shown)


def _bars(result: Result) -> Bars | None:
    if not result.weights.size:
        return None
    p, shown = readings(result.weights, _ATOMS)
    names = tuple(result.space.names[place] for place in shown)
    subrules = tuple(tuple((float(a), float(b), float(c)) for a, b, c in subrule[shown]) for subrule in p)
    return Bars(names, subrules, result.space.m - len(names))


def _charts(result: Result) -> tuple[Chart, ...]:
    """Losses and accuracy of the best run, and the schedule of the loss weights."""
    try:
        curves = read_curves(result)
    except DataError:  # learning ended before anything was noted
        return ()
    losses = {"total": _line(curves.total)}
    losses |= {
        name.replace("_", " "): _line(line) for name, line in curves.losses.items() if np.any(line != 0)
    }
    accuracy = {name: _line(line) for name, line in curves.accuracy.items()}
    steps = tuple(map(float, curves.steps))
    return (
        Chart("Weighted losses", steps, losses, "of the run whose own program is the best"),
        Chart("Accuracy", steps, accuracy, "of the same run's soft program", unit=True),
        _schedule(result),
    )


def _schedule(result: Result) -> Chart:
    """How much each loss weighs over training, as a share of its largest weight."""
    from andre.model import LOSSES, schedule  # noqa: PLC0415  (only runs have losses)

    shares = [point / (_POINTS - 1) for point in range(_POINTS)]
    weights = [schedule(share, result.config.loss) for share in shares]
    lines: dict[str, tuple[float | None, ...]] = {}
    for loss in LOSSES:
        if loss.weight is None or (loss.relational and not result.space.variables):
            continue
        values = [at[loss.name] for at in weights]
        if (largest := max(values)) > 0:
            lines[f"{loss.title} (at most {largest:g})"] = tuple(value / largest for value in values)
    note = "weights of the losses over the per cent of training, each as a share of its largest"
    return Chart("Schedule", tuple(share * 100 for share in shares), lines, note, unit=True)


def _line(values: NDArray[np.floating]) -> tuple[float | None, ...]:
    return tuple(None if np.isnan(value) else float(value) for value in values)


def _census(result: Result, train: Sample | None, crisp: CrispSample | None) -> CensusCounts | None:
    if not result.scores:
        return None
    score = result.scores[0]
    positive = score.true_positives + score.missed
    steps = {"rows": score.rows}
    if train is not None and crisp is not None:
        steps["distinct rows"] = float(train.n_rows)
        steps["distinct when cut at one half"] = float(len(crisp.literals))
    return CensusCounts(steps, positive, score.rows - positive, result.space.m, "training rows, by weight")


def _runs_by_program(result: Result) -> tuple[RunRow, ...]:
    """The programs that runs came to, the shortest description first."""
    groups: dict[Program, list[int]] = {}
    for place, run in enumerate(result.runs):
        groups.setdefault(run.program, []).append(place)
    rows = []
    for program, places in groups.items():
        runs = [result.runs[place] for place in places]
        losses = [run.loss for run in runs if not np.isnan(run.loss)]
        rows.append(
            RunRow(
                program=str(program),
                runs=len(runs),
                rounds=tuple(sorted({run.round + 1 for run in runs})),
                subrules=tuple(sorted({run.n_rules for run in runs})),
                length=runs[0].length,
                loss=min(losses, default=None),
                is_result=program == result.program,
            )
        )
    return tuple(sorted(rows, key=lambda row: (row.length, -row.runs)))


def _confusions(result: Result) -> tuple[ConfusionCounts, ...]:
    """The confusion on every split."""
    return tuple(
        ConfusionCounts(
            split=score.split,
            true_positives=score.true_positives,
            false_positives=score.false_positives,
            false_negatives=score.missed,
            true_negatives=score.uncovered - score.missed,
        )
        for score in result.scores
    )
