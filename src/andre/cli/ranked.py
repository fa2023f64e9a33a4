"""What `andre rank` prints of a completion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from andre.completion import Completion, RankedAnswer
    from andre.evaluation import RankReport
    from andre.logic import Literal


def ranked_values(
    completion: Completion, found: list[RankedAnswer], reports: list[RankReport]
) -> dict[str, Any]:
    """Answers, ranks among all candidates and perhaps among drawn ones, and the way of scoring, for JSON."""
    from dataclasses import asdict

    from andre.report import scoring_values

    return {
        "predictions": [_as_values(prediction) for prediction in found],
        "evaluation": asdict(reports[0]) if reports else None,
        **({"evaluation_among_drawn": asdict(reports[1])} if len(reports) > 1 else {}),
        **scoring_values(completion),
    }


def _as_values(prediction: RankedAnswer) -> dict[str, Any]:
    return {
        "atom": str(prediction.atom),
        "rank": prediction.rank,
        "score": prediction.score,
        "chance": prediction.chance,
        "rules": [
            {"rule": str(rule), "n_b": rule.evidence[0].n_b, "n_r": rule.evidence[0].n_r}
            for rule in prediction.rules
        ],
    }


def ranked_lines(found: list[RankedAnswer], completion: Completion, limit: int) -> Iterator[str]:
    """Candidates, each with its rules and one grounding of every rule."""
    from andre.logic import format_count

    # Test facts are not told from other candidates: they are what ranks are judged by.
    stated = [completion.facts.select(mark) for mark in ("train", "valid")]
    for prediction in found:
        known = "  known" if any(prediction.atom in facts for facts in stated) else ""
        yield f"{prediction.rank:>3}. {prediction.atom}  chance {prediction.chance:.3f}{known}"
        if limit and not prediction.rules:
            first, second = prediction.atom.args
            why = "can say so: its variables stand for different constants" if first == second else "says so"
            yield f"       no rule {why}"
        for rule in prediction.rules:
            counted = rule.evidence[0]
            yield f"       {format_count(counted.n_r)} of {format_count(counted.n_b)}: {rule}"
            for body in completion.groundings(rule, prediction.atom, limit=1):
                yield f"         as {', '.join(_literal_text(literal, completion) for literal in body)}"


def _literal_text(literal: Literal, completion: Completion) -> str:
    return f"{literal} (assumed)" if completion.is_assumed(literal.atom) else str(literal)
