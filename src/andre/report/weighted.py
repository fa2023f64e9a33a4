"""A classifier in words: its rules with their weights, how well it does, and what it says of rows."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.text import Text

from andre.facts import LabelledRows
from andre.learning import Judged, PathStep, RuleClassifier, RulePath, WeightedRules
from andre.logic import format_count
from andre.report.words import COMMENT, plain_table, rule_text, rule_values, size

#: Classes of which precision and recall are told.
_CLASSES = 10


def classifier_outcome(model: RuleClassifier) -> str:
    """One line that says how learning went."""
    scores = "; ".join(f"{one.split}: {one}" for one in model.scores)
    return f"{size(model.program)}; {scores}; {model.seconds:.2f} s"


def classifier_remarks(model: RuleClassifier) -> list[str]:
    """How the table was read, and why there is no rule."""
    notes = list(model.notes)
    if not len(model.program) and model.cut:
        notes.append(f"no rule was found before {model.cut[-1]} was cut short: allow more time")
    elif not len(model.program):
        notes.append(
            "no rule tells the classes apart better than their shares do: give more rows, "
            f"or columns that bear on {model.label}"
        )
    return notes


def base_rate(model: RuleClassifier) -> str:
    """The probabilities of classes where no rule fires, in words."""
    rates = list(zip(model.heads, model.base_rates.values(), strict=True))
    shown = rates[1:] if len(rates) == 2 else rates
    return f"where no rule fires: {', '.join(f'{head} {rate:.4f}' for head, rate in shown)}"


def bounds(model: RuleClassifier) -> list[str]:
    """How sure the model is at the most, however many rules fire, in words; nothing for crisp rules."""
    if not isinstance(model.rules, WeightedRules) or not len(model.rules.codes):
        return []
    low = list((_floors(model) or {}).values())
    if len(model.heads) == 2:
        return [f"whatever rules add up to: {model.heads[1]} from {low[1]:.4f} to {1 - low[0]:.4f}"]
    least = ", ".join(f"{head} {floor:.4f}" for head, floor in zip(model.heads, low, strict=True))
    return [f"whatever rules add up to, at least: {least}"]


def class_shares(model: RuleClassifier) -> list[str]:
    """Precision and recall of every class on every split, or of the one that rules are about, in words."""
    lines = []
    for one in model.scores:
        if one.decisions:
            told = [
                f"{model.heads[place]} with precision {_share(precision)}, recall {_share(recall)}"
                for place in _told_classes(model)
                for precision, recall in [one.of_class(place)]
            ]
            lines.append(f"{one.split}: {'; '.join(told)}")
    return lines


def _told_classes(model: RuleClassifier) -> range:
    """The places of the classes that are told: of two, the one that rules are about."""
    return range(1, 2) if len(model.classes) == 2 else range(min(len(model.classes), _CLASSES))


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.4f}"


def classifier_listing(model: RuleClassifier) -> str:
    """The rules as people write them, with scores, weights and evidence as comments of Prolog."""
    lines = [f"% {one.split}: {one} on {format_count(one.rows)} rows" for one in model.scores]
    lines += [f"% {line}" for line in (base_rate(model), *bounds(model))]
    for one in model.weighted_rules:
        lines += [] if one.weight is None else [f"% weight {one.weight:+.2f}"]
        lines += [*(f"% {item}" for item in one.rule.evidence), str(one.rule)]
    return "\n".join(lines) + "\n"


def classifier_table(model: RuleClassifier) -> list[RenderableType]:
    """The rules for a terminal: weight, rule, and evidence on every split."""
    lines: list[RenderableType] = [
        Text(f"{one.split}: {one} on {format_count(one.rows)} rows", COMMENT) for one in model.scores
    ]
    told = (*class_shares(model), base_rate(model), *bounds(model))
    lines += [Text(line, COMMENT) for line in told]
    splits = [one.split for one in model.scores]
    table = plain_table("weight", "rule", *(f"{split}\nN_b  N_r/N_b" for split in splits))
    for one in model.weighted_rules:
        cells = []
        for item in map(one.rule.on, splits):
            cells.append("" if item is None else f"{format_count(item.n_b)}  {item.confidence:7.4f}")
        table.add_row("" if one.weight is None else f"{one.weight:+.2f}", rule_text(str(one.rule)), *cells)
    return [*lines, "", table] if len(model.program) else lines


def classifier_values(model: RuleClassifier) -> dict[str, Any]:
    """A classifier as values that JSON can hold."""
    return {
        "label": model.label,
        "classes": list(model.classes),
        "base_rates": model.base_rates,
        "least_probabilities": _floors(model),
        "program": str(model.program),
        "rules": [
            {"weight": one.weight, "class": one.speaks_for, **rule_values(one.rule)}
            for one in model.weighted_rules
        ],
        "scores": {one.split: _figures(one, model.classes) for one in model.scores},
        "path": _path_values(model.path),
        "columns": [asdict(column) for column in model.encoding.summary()],
        "notes": list(model.notes),
        "seconds": model.seconds,
        "stopped": model.stopped,
        "cut": list(model.cut),
        "config": model.config.model_dump(mode="json"),
    }


def _floors(model: RuleClassifier) -> dict[str, float] | None:
    """The probability that each class has at the least; None for crisp rules."""
    if not isinstance(model.rules, WeightedRules):
        return None
    low = np.broadcast_to(model.rules.floors, len(model.classes))  # one where nothing bounds them
    return dict(zip(model.classes, low.tolist(), strict=True))


def _path_values(path: RulePath | None) -> list[dict[str, Any]]:
    """Rule sets of every size, and that of the runs' own program, with their scores."""
    if path is None:
        return []
    steps = [*path.steps, *(one for one in (path.crisp, path.averaged) if one is not None)]
    return [
        {
            "rules": step.n_rules,
            "literals": step.rules.n_literals,
            "train": asdict(step.train),
            "validation": None if step.validation is None else asdict(step.validation),
            "from_runs": step is path.crisp,
            "of_all_folds": step is path.averaged,
            "chosen": is_chosen(step, path),
        }
        for step in steps
    ]


def is_chosen(step: PathStep, path: RulePath) -> bool:
    """Whether the rules of a step are those that are taken, whose weights may be of more rows."""
    taken = path.chosen.rules
    return np.array_equal(step.rules.codes, taken.codes) and np.array_equal(step.rules.owners, taken.owners)


def _figures(one: Judged, classes: tuple[str, ...]) -> dict[str, Any]:
    shares = {
        name: dict(zip(("precision", "recall"), one.of_class(place), strict=True))
        for place, name in enumerate(classes)
        if one.decisions
    }
    return {"rows": one.rows, **asdict(one.fit), "classes": shares}


def confusion_table(model: RuleClassifier, rows: LabelledRows) -> tuple[list[str], list[dict[str, object]]]:
    """How rows of each class are taken, as columns and lines: counts, precision and recall."""
    table = model.confusion(rows)  # [true, decided]
    taken, own = table.sum(axis=0), table.sum(axis=1)
    said = [f"taken for {name}" for name in model.classes]
    lines: list[dict[str, object]] = []
    for place, name in enumerate(model.classes):
        right = table[place, place]
        lines.append(
            {
                "class": name,
                "rows": format_count(own[place]),
                **{title: format_count(count) for title, count in zip(said, table[place], strict=True)},
                "precision": f"{right / taken[place]:.4f}" if taken[place] else "-",
                "recall": f"{right / own[place]:.4f}" if own[place] else "-",
            }
        )
    return ["class", "rows", *said, "precision", "recall"], lines


def rules_on(model: RuleClassifier, split: str) -> list[dict[str, object]]:
    """Every rule with its weight, its count and confidence on a split, and its confidence in training."""
    lines: list[dict[str, object]] = []
    for one in model.weighted_rules:
        seen, before = one.rule.on(split), one.rule.on("train")
        lines.append(
            {
                "rule": str(one.rule),
                "weight": "-" if one.weight is None else f"{one.weight:+.2f}",
                "N_b": "-" if seen is None else format_count(seen.n_b),
                "N_r/N_b": f"{seen.confidence:.4f}" if seen is not None and seen.n_b else "-",
                "in training": "-" if before is None else f"{before.confidence:.4f}",
            }
        )
    return lines


def predict_raw_rows(model: RuleClassifier, path: Path | str, proba: bool = False) -> tuple[str, list[str]]:
    """Predictions for the rows of a table, as CSV, and notes on how its columns were read.

    Parameters
    ----------
    model
        A learned model.
    path
        The table; it needs the columns that rules read, and no others.
    proba
        Whether to give the probability of every class too.
    """
    typed = model.typed(path)
    bins = model.encoding.binned(typed)
    said = model.rules.predict_proba(bins)  # [rows, classes]
    decided = model.rules.decide(said)
    told = [*(str(rule) for rule in model.program), ""]  # the last where no rule speaks for the class
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    names = [f"P({name})" for name in model.classes] if proba else []
    writer.writerow(["prediction", *names, "rule"])
    leading = model.leading_rules(bins, decided)
    for place, chances, rule in zip(decided.tolist(), said.tolist(), leading.tolist(), strict=True):
        shown = [f"{chance:.6g}" for chance in chances] if proba else []
        writer.writerow([model.classes[place], *shown, told[rule]])
    return buffer.getvalue(), list(typed.notes)
