"""What was learned, in sentences, as Prolog, as tables for a terminal, and as values for machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from andre.arrays import Bools, Floats
from andre.completion import Completion
from andre.errors import DataError
from andre.learning import Advice, Definition, Result, RuleClassifier, Theory, Weak
from andre.logic import Atom, Program, Rule, counted, format_count, to_prolog
from andre.report.weighted import (
    classifier_listing,
    classifier_outcome,
    classifier_remarks,
    classifier_table,
    classifier_values,
)
from andre.report.words import COMMENT, plain_table, rule_text, rule_values, size, such_as
from andre.runs import Run, program_of, prolog


def title(targets: Sequence[str]) -> str:
    """What a report about these targets is called."""
    return f"Rules for {', '.join(targets) if len(targets) <= 3 else f'{len(targets)} relations'}"


def outcome(result: Result | RuleClassifier) -> str:
    """One line that says how learning went.

    Examples
    --------
    >>> from andre.learning import Config, fit
    >>> from andre.samples import SYNTHETIC_TASKS
    >>> outcome(fit(SYNTHETIC_TASKS["four"].sample(100, seed=0), Config.preset(restarts=2, rounds=1)))
    '2 rules, 4 literals, accuracy 1.0000 (train), ... s'
    """
    if isinstance(result, RuleClassifier):
        return classifier_outcome(result)
    accuracy = ", ".join(f"{score.accuracy:.4f} ({score.split})" for score in result.scores)
    return f"{size(result.program)}, accuracy {accuracy}, {result.seconds:.2f} s"


def why_no_rule(result: Result) -> str | None:
    """Why the program is empty, in one sentence, or None where it is not."""
    if len(result.program):
        return None
    train = result.score("train")
    floor = result.config.selection.floor(train.missed)
    rows = f"{format_count(train.rows)} rows, {format_count(train.missed)} of them positive"
    if result.stopped:
        return f"no rule was found before learning was stopped ({rows}): give it more time"
    if result.config.selection.criterion != "description":
        return (
            f"no rule was found ({rows}): no run settled on a rule that is {floor}; "
            "try more restarts or the default preset"
        )
    return (
        f"no rule was found ({rows}): none that is {floor} describes the labels in fewer than the "
        f"{result.empty_length:.1f} nats that listing them takes; give more rows, "
        f"or columns that bear on {result.space.head}"
    )


def why_stopped(result: Result | RuleClassifier) -> str | None:
    """Why learning ended early, and what was cut short, in one sentence; None where it did not."""
    if result.stopped == "interrupted":
        return "stopped by Ctrl-C: this is the best program so far"
    if result.stopped == "memory":
        cut = ", ".join(result.cut)
        return f"the memory limit was reached: this is the best program so far; cut short: {cut}"
    if result.stopped == "time":
        limit = result.config.time_limit
        if limit is not None and result.cut and result.seconds < limit:
            return (
                f"cut short, as their shares of the time limit of {limit:g} s were over: "
                f"{', '.join(result.cut)}; all else was done in time, after {result.seconds:.1f} s"
            )
        seconds = "" if limit is None else f" of {limit:g} s"
        cut = f"; cut short: {', '.join(result.cut)}" if result.cut else ""
        return f"the time limit{seconds} was reached: this is the best program so far{cut}"
    return None


def remarks(run: Run, target: str | None = None) -> list[str]:
    """What else should be known of a run, all of it or one target: a sentence each.

    Notes that several targets share are told once.
    """
    if isinstance(run, RuleClassifier):
        return [line for line in (why_stopped(run), *classifier_remarks(run)) if line]
    if isinstance(run, Result):
        return [line for line in (why_stopped(run), why_no_rule(run)) if line]
    if isinstance(run, Completion):
        return list(run.notes)
    chosen = _only(run, target)
    lines = list(_by_target((definition.target, note) for definition in chosen for note in definition.notes))
    lines += [line for definition in chosen for line in faults(definition, run.plan.mode)]
    for definition in chosen:
        if definition.reason:
            lines.append(f"{definition.target}: no rule, because {definition.reason}")
        if definition.advice:
            lines.append(f"{definition.target}: {definition.advice}")
        if definition.weak and len(definition.program):
            lines.append(f"{definition.target}: weak: {definition.weak}")
        if definition.result.stopped == "interrupted":
            lines.append(f"{definition.target}: stopped by Ctrl-C, so this is the best so far")
    if target is None:
        lines += [f"{name} was left out: {reason}" for name, reason in run.skipped.items()]
    return lines


def faults(definition: Definition, mode: str) -> list[str]:
    """What a definition misses and derives wrongly, in a sentence each; none where it makes no mistake."""
    seen, found, name = definition.confusion, definition.misjudged, definition.target
    if definition.flawless or definition.reason:
        return []
    clean = mode == "define" and definition.result.config.selection.noise != 0 and not seen.false_positives
    hint = "; if no label is wrong, --noise 0 asks for all" if clean else ""
    lines = [f"{name}: {seen.summary}{hint}"]
    # A knowledge base that is to be completed does not say that anything is false.
    beyond = "derived and not stated" if mode == "complete" else "derived though false"
    for what, atoms, total in (
        ("missed", found.missed, seen.false_negatives),
        (beyond, found.wrong, seen.false_positives),
    ):
        if atoms:
            lines.append(f"{name}: {what}: {such_as(atoms, total)}")
    return lines


def _by_target(notes: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Notes about targets as lines, each note once.

    Examples
    --------
    >>> list(_by_target([("p/2", "drawn"), ("q/2", "drawn"), ("q/2", "cut"), ("r/2", "drawn")]))
    ['p/2 and 2 more: drawn', 'q/2: cut']
    """
    targets: dict[str, list[str]] = {}
    for target, note in notes:
        targets.setdefault(note, []).append(target)
    for note, (first, *others) in targets.items():
        yield f"{first}{f' and {len(others)} more' if others else ''}: {note}"


def scoring(completion: Completion) -> str:
    """How the candidates of a completed knowledge base are scored, in one sentence."""
    scorer = completion.scorer
    penalty = "" if scorer.penalty is None else f", weights learned with penalty {scorer.penalty:g}"
    chained = ", also from assumed facts" if completion.chained else ""
    way = (scorer.aggregator, scorer.smoothing, scorer.penalty, completion.chained)
    tried = [c.mrr for c in completion.choices if (c.aggregator, c.smoothing, c.penalty, c.chained) == way]
    chosen = f"; MRR {tried[0]:.4f} on validation facts" if tried else ""
    counted = f"confidence N_r / (N_b + {scorer.smoothing:g})"
    return f"scored by {scorer.aggregator}, {counted}{penalty}{chained}{chosen}"


def rules_by_target(run: Run, target: str | None = None) -> dict[str, Program]:
    """The rules of a run by the relation that they are about, all or those of one target.

    Parameters
    ----------
    run
        What was learned.
    target
        A relation by its name, or as p/2.

    Raises
    ------
    DataError
        Where the run has no such target.
    """
    found: dict[tuple[str, int], list[Rule]] = {}
    if isinstance(run, Completion):
        found = {key: [] for key in run.facts.relations}
    for rule in program_of(run):
        found.setdefault(rule.head.key, []).append(rule)
    known = {f"{name}/{arity}": Program(tuple(rules)) for (name, arity), rules in found.items() if rules}
    if isinstance(run, RuleClassifier):
        known = {str(head): _of_head(run.program, head) for head in run.heads}
    if isinstance(run, Theory):  # a target without a rule was learned too
        known = {definition.target: definition.program for definition in run}
    chosen = {name: rules for name, rules in known.items() if target in (None, name, name.rpartition("/")[0])}
    if target is not None and not chosen:
        raise DataError(f"{target} was not learned: there is {', '.join(known) or 'no rule'}")
    return chosen


def _of_head(program: Program, head: Atom) -> Program:
    return Program(tuple(rule for rule in program if rule.head == head))


def listing(run: Run, target: str | None = None) -> str:
    """The rules of a run as a Prolog file, their evidence and how they score in comments."""
    if isinstance(run, Completion):
        parts = [f"% {scoring(run)}\n"]
        for name, rules in rules_by_target(run, target).items():
            parts.append(f"\n% {name}: {counted(len(rules), 'rule')}\n{to_prolog(rules, rounded=True)}")
        return "".join(parts)
    if isinstance(run, RuleClassifier):
        return classifier_listing(run)
    return prolog(_only(run, target) if isinstance(run, Theory) else run)


def overview(run: Run, target: str | None = None) -> list[RenderableType]:
    """The rules of a run for a terminal, with how well they do."""
    if isinstance(run, RuleClassifier):
        return classifier_table(run)
    if isinstance(run, Result):
        return [Text("\n").join(map(rule_text, listing(run).rstrip("\n").split("\n")))]
    if isinstance(run, Theory):
        chosen = _only(run, target)
        return [rule_table(chosen.program), "", target_table(chosen)]
    lines: list[RenderableType] = [Text(scoring(run), style=COMMENT)]
    for name, rules in rules_by_target(run, target).items():
        lines += ["", Text(f"{name}: {counted(len(rules), 'rule')}"), rule_table(rules)]
    return lines


def document(run: Run, target: str | None = None) -> dict[str, Any]:
    """What was learned as values that JSON can hold."""
    if isinstance(run, Theory):
        return _theory(_only(run, target))
    if isinstance(run, Completion):
        return _completion(run, target)
    if isinstance(run, RuleClassifier):
        return classifier_values(run)
    return {
        "head": str(run.space.head),
        "candidates": list(run.space.names),
        "program": str(run.program),
        "rules": list(map(rule_values, run.program)),
        "accuracy": {score.split: score.accuracy for score in run.scores},
        "scores": [asdict(score) for score in run.scores],
        "description": {"program": run.length, "empty": run.empty_length},
        "runs": len(run.runs),
        "seconds": run.seconds,
        "stopped": run.stopped,
        "cut": list(run.cut),
        "why_no_rule": why_no_rule(run),
        "config": run.config.model_dump(mode="json"),
    }


def _only(theory: Theory, target: str | None) -> Theory:
    """A theory, or the part of it that one target has."""
    return theory if target is None else theory.only(target)


def _theory(theory: Theory) -> dict[str, Any]:
    return {
        "mode": theory.plan.mode,
        "semantics": theory.plan.semantics,
        "seed": theory.plan.config.seed,
        "targets": [
            {
                "target": definition.target,
                "rules": list(map(rule_values, definition.program)),
                "reason": definition.reason,
                "advice": None if definition.advice is None else _advice(definition.advice),
                "weak": None if definition.weak is None else _weak(definition.weak),
                "notes": list(definition.notes),
                "revised": [
                    {"atom": str(item.atom), "probability": item.probability, "holds": item.holds}
                    for item in definition.revised
                ],
                "census": asdict(definition.counts),
                "confusion": asdict(definition.confusion),
                **definition.confusion.shares(),
                "missed": list(map(str, definition.misjudged.missed)),
                "wrong": list(map(str, definition.misjudged.wrong)),
                "description": {"length": definition.length, "empty": definition.empty_length},
                "seconds": definition.seconds,
                "stopped": definition.result.stopped,
            }
            for definition in theory
        ],
        "skipped": dict(theory.skipped),
    }


def _advice(advice: Advice) -> dict[str, Any]:
    """What would have helped, as values that JSON can hold."""
    return {
        "option": advice.option,
        "setting": advice.setting,
        "rules": list(map(rule_values, advice.program)),
        **advice.confusion.shares(),
    }


def _weak(weak: Weak) -> dict[str, Any]:
    """How little speaks for a program, and what would tell, as values that JSON can hold."""
    return {
        "support": weak.support,
        "excess": weak.excess,
        "ties": weak.ties,
        "rival": None if weak.rival is None else str(weak.rival),
        "ask": None if weak.ask is None else str(weak.ask),
        "predicted": weak.predicted,
        "question": weak.question,
    }


def _completion(completion: Completion, target: str | None) -> dict[str, Any]:
    by_target = rules_by_target(completion, target)
    return {
        "targets": [
            {"target": name, "rules": list(map(rule_values, rules))} for name, rules in by_target.items()
        ],
        "choices": [asdict(choice) for choice in completion.choices],
        "config": completion.config.model_dump(mode="json"),
        "notes": list(completion.notes),
        **scoring_values(completion),
    }


def scoring_values(completion: Completion) -> dict[str, Any]:
    """How a completion scores candidates as values that JSON can hold; no rule is counted for them."""
    scorer = completion.scorer
    return {
        "chosen": {
            "aggregator": scorer.aggregator,
            "smoothing": scorer.smoothing,
            "penalty": scorer.penalty,
            "chained": completion.chained,
        },
        "reliability": [asdict(bin) for bin in completion.reliability.bins],
        "seconds": completion.seconds,
    }


def rule_table(program: Program) -> Table:
    """One line per rule, with N_b, N_r and N_r/N_b on every split.

    Examples
    --------
    >>> from andre.logic import parse_program
    >>> rule_table(parse_program("h(X) :- b(X). h(X) :- c(X).")).row_count
    2
    """
    splits = tuple(dict.fromkeys(item.split for rule in program for item in rule.evidence))
    columns = [[rule.on(split) for rule in program] for split in splits]
    widest = max(
        [
            3,
            *(
                len(format_count(number))
                for items in columns
                for item in items
                if item
                for number in (item.n_b, item.n_r)
            ),
        ]
    )
    heading = f"{'N_b':>{widest}}  {'N_r':>{widest}}  N_r/N_b"
    table = plain_table("", "rule", *(f"{split}\n{heading}" for split in splits))
    for number, (rule, *items) in enumerate(zip(program, *columns, strict=True), start=1):
        cells = (
            f"{format_count(item.n_b):>{widest}}  {format_count(item.n_r):>{widest}}  {item.confidence:7.4f}"
            if item
            else ""
            for item in items
        )
        table.add_row(str(number), rule_text(str(rule)), *cells)
    return table


def run_table(result: Result, most: int = 20) -> Table:
    """The runs of gradient descent with the shortest descriptions, one line each.

    Parameters
    ----------
    result
        What was learned.
    most
        How many runs at the most.
    """
    table = plain_table("round", "program", "subrules", "description", "loss")
    for run in sorted(result.runs, key=lambda run: (run.length, run.program.n_literals))[:most]:
        loss = "" if np.isnan(run.loss) else f"{run.loss:.4f}"
        program = rule_text(str(run.program)) if len(run.program) else Text("no rule", style=COMMENT)
        table.add_row(str(run.round + 1), program, str(run.n_rules), f"{run.length:.1f}", loss)
    return table


def target_table(run: Theory | Completion) -> Table:
    """One line per target: its rules, and what they explain or how many facts there are of it."""
    if isinstance(run, Completion):
        table = plain_table("", "target", "rules", "training facts")
        for number, (name, rules) in enumerate(rules_by_target(run).items(), start=1):
            head = rules.rules[0].head
            facts = run.facts.relations[head.key].count("train")
            table.add_row(str(number), Text(name), str(len(rules)), str(facts))
        return table
    table = plain_table(
        "", "target", "rules", "positives", "missed", "wrong", "precision", "recall", "seconds"
    )
    for number, definition in enumerate(run, start=1):
        seen = definition.confusion
        shares = ["-" if share is None else f"{share:.4f}" for share in (seen.precision, seen.recall)]
        counts = (seen.true_positives + seen.false_negatives, seen.false_negatives, seen.false_positives)
        numbers = [format_count(count, ",") for count in counts]
        cells = (str(len(definition.program)), *numbers, *shares, f"{definition.seconds:.1f}")
        table.add_row(str(number), Text(definition.target), *cells)
    return table


def row_table(names: Sequence[str], valuations: Floats, head: str, labels: Bools) -> Table:
    """Rows of valuations with their labels, a blank where one is unknown."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in (*names, head):
        table.add_column(Text(name), justify="right")
    for row, label in zip(valuations, labels, strict=True):
        table.add_row(*("" if np.isnan(value) else f"{value:.2f}" for value in row), str(int(label)))
    return table
