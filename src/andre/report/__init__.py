"""Showing what was learned: in words, on a terminal, in figures, as a page."""

from andre.report.classifier import gather_classifier
from andre.report.completion import gather_completion
from andre.report.html import as_values, write_report
from andre.report.page import ReportData
from andre.report.predictions import count_rows, derive, explain_atom, lacking, predict_table, taken_with
from andre.report.progress import LiveProgress, TargetLines
from andre.report.result import gather_result
from andre.report.run import gather, in_words
from andre.report.summary import (
    document,
    listing,
    outcome,
    overview,
    remarks,
    row_table,
    rule_table,
    rules_by_target,
    run_table,
    scoring_values,
    target_table,
    why_no_rule,
)
from andre.report.tensorboard import TensorBoard
from andre.report.theory import gather_theory
from andre.report.weighted import (
    class_shares,
    classifier_listing,
    confusion_table,
    predict_raw_rows,
    rules_on,
)
from andre.report.words import such_as

__all__ = [
    "LiveProgress",
    "ReportData",
    "TargetLines",
    "TensorBoard",
    "as_values",
    "class_shares",
    "classifier_listing",
    "confusion_table",
    "count_rows",
    "derive",
    "document",
    "explain_atom",
    "gather",
    "gather_classifier",
    "gather_completion",
    "gather_result",
    "gather_theory",
    "in_words",
    "lacking",
    "listing",
    "outcome",
    "overview",
    "predict_raw_rows",
    "predict_table",
    "remarks",
    "row_table",
    "rule_table",
    "rules_by_target",
    "rules_on",
    "run_table",
    "scoring_values",
    "such_as",
    "taken_with",
    "target_table",
    "why_no_rule",
    "write_report",
]
