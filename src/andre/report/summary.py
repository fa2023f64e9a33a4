"""A result in sentences, and as plain values for machines."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from andre.learning import Result, Theory
from andre.logic import Rule

__all__ = ["document", "outcome", "theory_document", "why_no_rule"]


def outcome(result: Result) -> str:
    """One line that says how learning went.

    Examples
    --------
    >>> from andre.samples import SYNTHETIC_TASKS
    >>> from andre.learning import fit
    >>> outcome(fit(SYNTHETIC_TASKS["four"].sample(100, seed=0)))
    '2 rules, 4 literals, accuracy 1.0000 (train), ... s'
    """
    rules, literals = len(result.program), result.program.n_literals
    size = f"{_count(rules, 'rule')}, {_count(literals, 'literal')}" if rules else "no rule"
    accuracy = ", ".join(f"{score.accuracy:.4f} ({score.split})" for score in result.scores)
    return f"{size}, accuracy {accuracy}, {result.seconds:.2f} s"


def why_no_rule(result: Result) -> str | None:
    """Why the program is empty, in one sentence, or None where it is not."""
    if len(result.program):
        return None
    train = result.score("train")
    floor = result.config.selection.floor(train.missed)
    rows = f"{train.rows:g} rows, {train.missed:g} of them positive"
    if result.stopped:
        return f"no rule was found before learning was stopped ({rows}): give it more time"
    if result.config.selection.criterion == "accuracy":
        return (
            f"no rule was found ({rows}): no run settled on a rule that is {floor}; "
            "try more restarts or the default preset"
        )
    return (
        f"no rule was found ({rows}): none that is {floor} describes the labels in fewer than the "
        f"{result.empty_length:.1f} nats that listing them takes; give more rows, "
        f"or columns that bear on {result.space.head}"
    )


def document(result: Result) -> dict[str, Any]:
    """A result as values that JSON can hold.

    Examples
    --------
    >>> from andre.samples import SYNTHETIC_TASKS
    >>> from andre.learning import fit
    >>> learned = document(fit(SYNTHETIC_TASKS["four"].sample(100, seed=0)))
    >>> learned["rules"][0]["rule"], learned["accuracy"]
    ('h :- b1, \\\\+ b3.', {'train': 1.0})
    """
    rules = list(map(_rule, result.program))
    return {
        "head": str(result.space.head),
        "candidates": list(result.space.names),
        "program": str(result.program),
        "rules": rules,
        "accuracy": {score.split: score.accuracy for score in result.scores},
        "scores": [asdict(score) for score in result.scores],
        "description": {"program": result.length, "empty": result.empty_length},
        "runs": len(result.runs),
        "seconds": result.seconds,
        "stopped": result.stopped,
        "why_no_rule": why_no_rule(result),
        "config": result.config.model_dump(mode="json"),
    }


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def theory_document(theory: Theory) -> dict[str, Any]:
    """What was learned from facts as values that JSON can hold.

    Examples
    --------
    >>> from andre.facts.tasks import TASKS
    >>> from andre.learning import learn
    >>> learned = theory_document(learn(TASKS["predecessor"].train(), "predecessor/2", variables=2))
    >>> learned["targets"][0]["rules"][0]["rule"]
    'predecessor(X1, X2) :- successor(X2, X1).'
    """
    return {
        "mode": theory.plan.mode,
        "semantics": theory.plan.semantics,
        "seed": theory.plan.config.seed,
        "targets": [
            {
                "target": definition.target,
                "rules": list(map(_rule, definition.program)),
                "reason": definition.reason,
                "notes": list(definition.notes),
                "census": asdict(definition.counts),
                "confusion": asdict(definition.confusion),
                "description": {"length": definition.length, "empty": definition.empty_length},
                "seconds": definition.seconds,
                "stopped": definition.result.stopped,
            }
            for definition in theory
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "rule": str(rule),
        "body": [{"atom": str(lit.atom), "negated": lit.negated} for lit in rule.body],
        "evidence": {
            item.split: {"n_b": item.n_b, "n_r": item.n_r, "confidence": item.confidence}
            for item in rule.evidence
        },
    }
