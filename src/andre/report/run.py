"""The report of a run of any kind, with what it was learned from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from andre.learning import Result, RuleClassifier, Theory
from andre.report.classifier import gather_classifier
from andre.report.completion import gather_completion
from andre.report.page import ReportData
from andre.report.result import gather_result
from andre.report.theory import gather_theory
from andre.runs import FactSource, Origin, Run, TableSource


def gather(run: Run, origin: Origin | None = None, data: Path | str | None = None) -> ReportData:
    """A report of a run; the table or facts that it was learned from are read again.

    Parameters
    ----------
    run
        What was learned.
    origin
        How it came to be, where that was kept; `andre.runs.load_origin` reads it.
    data
        Where the table or the facts are now. By default they are read where they were,
        if they are still there and unchanged; without them, sections are missing and the report says so.
    """
    if isinstance(run, RuleClassifier):
        table = None if origin is None else origin.table
        if data is not None:
            table = replace(table or TableSource("", "", label=run.label), path=str(data))
        elif table is None or not table.is_there:
            return gather_classifier(run, origin)
        return gather_classifier(run, origin, *table.rows())
    if isinstance(run, Result):
        table = None if origin is None else origin.table
        if data is not None:
            table = replace(table or TableSource("", "", label=str(run.space.head)), path=str(data))
        elif table is None or not table.is_there:
            return gather_result(run, origin)
        return gather_result(run, origin, table.truth_rows(run.space))
    if isinstance(run, Theory):
        facts = None if origin is None else origin.facts
        if data is not None:
            facts = replace(facts or FactSource(""), name=str(data), sha256="")
        elif facts is not None and not facts.is_there:
            facts = None
        return gather_theory(run, origin, None if facts is None else facts.read())
    return gather_completion(run, origin)
