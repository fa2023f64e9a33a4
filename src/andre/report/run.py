"""The report of a run of any kind, with what it was learned from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from andre.facts import FactBase, Key
from andre.learning import Result, RuleClassifier, Theory
from andre.logic import Phrases
from andre.report.classifier import gather_classifier
from andre.report.completion import gather_completion
from andre.report.page import ReportData
from andre.report.result import gather_result
from andre.report.theory import gather_theory
from andre.runs import FactSource, Origin, Run, TableSource


def gather(
    run: Run,
    origin: Origin | None = None,
    data: Path | str | None = None,
    phrases: Phrases | Mapping[str, str] | Path | str | None = None,
) -> ReportData:
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
    phrases
        How relations are said, by their names, as in `{"uncle": "{1} is an uncle of {2}"}`, or a TOML file
        that says so; of others, their names say it.
    """
    made, facts = _gathered(run, origin, data)
    return in_words(made, facts, phrases)


def in_words(
    data: ReportData,
    facts: FactBase | None = None,
    phrases: Phrases | Mapping[str, str] | Path | str | None = None,
) -> ReportData:
    """A report with a sentence for each rule.

    Parameters
    ----------
    facts
        What the rules are about; they tell which relations are properties.
    phrases
        As for `gather`.
    """
    if isinstance(phrases, Path | str):
        phrases = Phrases.read(phrases)
    elif not isinstance(phrases, Phrases):
        phrases = Phrases(phrases or {})
    if facts is not None:
        phrases = replace(phrases, properties=phrases.properties | _properties(facts))
    targets = tuple(
        replace(
            target,
            rules=tuple(replace(row, sentence=phrases.sentence(row.rule)) for row in target.rules),
        )
        for target in data.targets
    )
    return replace(data, targets=targets)


def _properties(facts: FactBase) -> frozenset[Key]:
    """The relations that give each of their first arguments one value, which others have too."""
    found = []
    for key, relation in facts.relations.items():
        if relation.arity == 2 and len(relation):
            owners, values = (len(np.unique(column)) for column in relation.codes.T)
            if owners == len(relation) > values:
                found.append(key)
    return frozenset(found)


def _gathered(run: Run, origin: Origin | None, data: Path | str | None) -> tuple[ReportData, FactBase | None]:
    """A report, and the facts that it is about, if it is about facts that are at hand."""
    if isinstance(run, RuleClassifier):
        table = None if origin is None else origin.table
        if data is not None:
            table = replace(table or TableSource("", "", label=run.label), path=str(data))
        elif table is None or not table.is_there:
            return gather_classifier(run, origin), None
        return gather_classifier(run, origin, *table.rows()), None
    if isinstance(run, Result):
        table = None if origin is None else origin.table
        if data is not None:
            table = replace(table or TableSource("", "", label=str(run.space.head)), path=str(data))
        elif table is None or not table.is_there:
            return gather_result(run, origin), None
        return gather_result(run, origin, table.truth_rows(run.space)), None
    if isinstance(run, Theory):
        facts = None if origin is None else origin.facts
        if data is not None:
            facts = replace(facts or FactSource(""), name=str(data), sha256="")
        elif facts is not None and not facts.is_there:
            facts = None
        known = None if facts is None else facts.read()
        return gather_theory(run, origin, known), known
    return gather_completion(run, origin), run.facts
