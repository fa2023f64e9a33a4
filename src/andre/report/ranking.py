"""How test facts rank among all candidates by the rules of a definition."""

from __future__ import annotations

from andre.evaluation.rule_ranks import rank_by_rules
from andre.facts import FactBase
from andre.learning import Definition
from andre.report.page import Ranking

__all__ = ["rank_test_facts"]


def rank_test_facts(definition: Definition, facts: FactBase) -> Ranking | None:
    """The ranks of a target's test facts as a report shows them; None where there is nothing to rank."""
    report = rank_by_rules(definition.program, facts, definition.key)
    if report is None:
        return None
    rows: dict[str, tuple[float, ...]] = {
        policy: (mean, *report.hits[policy].values()) for policy, mean in report.mrr.items()
    }
    count = facts.relations[definition.key].count("test")
    return Ranking(
        f"{count:,} test facts among all constants, both sides, known facts left out",
        ("MRR", *(f"Hits@{k}" for k in report.hits["realistic"])),
        rows,
    )
