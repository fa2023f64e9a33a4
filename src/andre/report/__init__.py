"""Showing what was learned: in words, on a terminal, in figures, as a page."""

from andre.report.gather import Rows, gather
from andre.report.html import as_values, write_report
from andre.report.page import ReportData
from andre.report.progress import LiveProgress, TargetLines
from andre.report.summary import document, outcome, theory_document, why_no_rule
from andre.report.tensorboard import TensorBoard
from andre.report.terminal import listing, row_table, rule_table, run_table, target_table
from andre.report.theory import gather_theory

__all__ = [
    "LiveProgress",
    "ReportData",
    "Rows",
    "TargetLines",
    "TensorBoard",
    "as_values",
    "document",
    "gather",
    "gather_theory",
    "listing",
    "outcome",
    "row_table",
    "rule_table",
    "run_table",
    "target_table",
    "theory_document",
    "why_no_rule",
    "write_report",
]
