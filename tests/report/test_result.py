"""What a report says is what can be counted row by row."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.errors import DataError
from andre.evaluation import CrispSample
from andre.facts import TruthRows
from andre.learning import Config, Result, Score, fit, rejected_rules
from andre.report import ReportData, gather_result
from andre.report.html import Limits, trim
from andre.report.result import target_report
from andre.samples import SYNTHETIC_TASKS, Sample

TASK = SYNTHETIC_TASKS["R3"]
SMALL = Config.preset(restarts=2, rounds=1)


class Rows(NamedTuple):
    train: Sample
    table: TruthRows


@pytest.fixture(scope="module")
def rows():
    valuations, labels = TASK.draw(300, seed=1)
    labels = labels.copy()
    labels[:30] = ~labels[:30]
    table = TruthRows(valuations, labels, np.ones(300))
    return Rows(Sample.from_arrays(valuations, labels, space=TASK.space), table)


@pytest.fixture(scope="module")
def result(rows):
    return fit(rows.train, SMALL, validation=TASK.sample(50, seed=2))


@pytest.fixture(scope="module")
def target(result, rows):
    return target_report(result, rows.table)


def fires(rule, row, space) -> bool:
    """Whether a rule's body holds on a row, literal by literal."""
    column = {atom: place for place, atom in enumerate(space.atoms)}
    return all(
        row[column[lit.atom]] < 0.5 if lit.negated else row[column[lit.atom]] > 0.5 for lit in rule.body
    )


def test_a_rule_alone_explains_the_positives_that_no_other_covers(result, rows, target):
    table = rows.table
    for row in target.rules:
        others = [other.rule for other in target.rules if other is not row]
        only = [
            fires(row.rule, values, result.space) and not any(fires(o, values, result.space) for o in others)
            for values in table.valuations
        ]
        assert row.alone == pytest.approx((np.array(only) & table.labels).sum() / table.labels.sum())


def test_predictions_are_the_rows_where_the_rule_fires(result, rows, target):
    table = rows.table
    for row in target.rules:
        wanted = {
            f"row {n + 1}": bool(table.labels[n])
            for n in range(len(table.labels))
            if fires(row.rule, table.valuations[n], result.space)
        }
        assert {p.text: p.holds for p in row.predictions} == wanted
        assert row.left_out == 0
        truths = [p.holds for p in row.predictions]
        assert truths == sorted(truths)  # what it is wrong about comes first
        first = row.predictions[0]
        values = table.valuations[int(first.text.split()[1]) - 1]
        column = {atom: place for place, atom in enumerate(result.space.atoms)}
        assert first.values == tuple(values[column[lit.atom]] for lit in row.rule.body)


def test_the_confusion_is_that_of_the_predictions(result, rows, target):
    said = result.predict(rows.table.valuations)
    truth = rows.table.labels
    counts = target.confusions[0]
    assert (counts.true_positives, counts.false_positives) == ((said & truth).sum(), (said & ~truth).sum())
    assert (counts.false_negatives, counts.true_negatives) == ((~said & truth).sum(), (~said & ~truth).sum())
    assert [c.split for c in target.confusions] == ["train", "validation"]


@settings(max_examples=50)
@given(
    st.lists(st.integers(0, 1000), min_size=4, max_size=4).filter(sum), st.sampled_from([1.0, 0.25, 1 / 3])
)
def test_a_confusion_comes_back_from_its_score(counts, weight):
    tp, fp, fn, tn = (count * weight for count in counts)
    total = tp + fp + fn + tn
    score = Score("train", (tp + tn) / total, total, fn, fn + tn, tp, fp)
    bare = Result(TASK.space, Config(), TASK.program, 1.0, 1.0, (score,))
    found = target_report(bare).confusions[0]
    made = (found.true_positives, found.false_positives, found.false_negatives, found.true_negatives)
    assert made[:3] == (tp, fp, fn)
    assert made[3] == pytest.approx(tn, abs=1e-9)


def test_every_run_stands_in_one_line(result, target):
    assert sum(row.runs for row in target.runs) == len(result.runs)
    assert [row.length for row in target.runs] == sorted(row.length for row in target.runs)
    for row in target.runs:
        assert row.is_result == (
            row.program.splitlines()
            and set(row.program.splitlines()) == set(str(result.program).splitlines())
        )
    for row in target.rules:
        lines = [run for run in result.runs if row.rule in run.program.rules]
        assert row.found_by == len(lines)


def test_a_rejected_rule_would_not_have_shortened_the_description(result, rows):
    from andre.evaluation import program_length

    crisp = CrispSample.of(rows.train)
    found = rejected_rules(result, crisp)
    assert found
    assert len({item.rule for item in found}) == len(found)
    for item in found:
        assert item.rule not in result.program.rules
        longer = np.vstack((result.codes, result.space.encode(type(result.program)((item.rule,)))))
        assert program_length(crisp, longer) >= result.length - 1e-9
        counts = item.rule.evidence[0]
        if "never holds" in item.reason:
            assert counts.n_b == 0
        if "no more often than" in item.reason:
            assert counts.n_r <= 0.5 * counts.n_b
        if "fewer literals" in item.reason:
            rule = result.program.rules[int(item.reason.split()[1]) - 1]
            assert set(rule.body) < set(item.rule.body)


def test_without_rows_the_report_says_what_is_missing(result):
    bare = target_report(result)
    assert "--data" in bare.notes[0]
    assert all(row.alone is None and not row.predictions for row in bare.rules)
    assert not bare.rejected
    assert bare.bars
    assert bare.charts


def test_a_table_of_other_columns_is_refused(result, rows):
    other = TruthRows(rows.table.valuations[:, :2], rows.table.labels, rows.table.weights)
    with pytest.raises(DataError, match="names for 2 columns"):
        gather_result(result, None, other)


def test_the_census_counts_rows_and_what_is_left_of_them(rows, target):
    assert target.census.steps["rows"] == 300
    assert target.census.positive + target.census.negative == 300
    assert target.census.positive == rows.table.labels.sum()
    assert list(target.census.steps.values()) == sorted(target.census.steps.values(), reverse=True)


@settings(max_examples=20)
@given(st.integers(1, 20), st.integers(1, 12), st.integers(1, 10), st.integers(1, 10))
def test_what_is_trimmed_is_counted(target, predictions, atoms, runs, rejected):
    data = ReportData("h", (target,))
    short = trim(data, Limits(predictions, atoms, runs, rejected)).targets[0]
    for row, whole in zip(short.rules, target.rules, strict=True):
        assert row.left_out + len(row.predictions) == len(whole.predictions)
        assert len(row.predictions) <= predictions
    assert len(short.bars.names) + short.bars.left_out == len(target.bars.names)
    assert len(short.runs) + short.runs_left_out == len(target.runs)
    assert len(short.rejected) + short.rejected_left_out == len(target.rejected)
    assert max(len(short.bars.names) - atoms, len(short.runs) - runs, len(short.rejected) - rejected) <= 0


def test_a_result_without_history_or_rules_still_has_a_report():
    score = Score("train", 0.5, 4, missed=2, uncovered=4, true_positives=0, false_positives=0)
    bare = target_report(Result(TASK.space, Config(), type(TASK.program)(), 3.0, 3.0, (score,)))
    assert bare.charts == ()
    assert bare.bars is None
    assert "No rule was found" in bare.notes[0]
