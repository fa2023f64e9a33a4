"""The statistics of a rule as a Prolog comment, which the grammar reads back."""

from __future__ import annotations

from andre.logic.grammar import WEIGHS
from andre.logic.rule import Evidence, Rule
from andre.logic.spelling import quote

__all__ = ["comments", "main_evidence", "spell_count"]


def spell_count(count: float) -> str:
    """Write a count in full; whole numbers without a dot.

    Examples
    --------
    >>> spell_count(1234567.0), spell_count(0.1)
    ('1234567', '0.1')
    """
    return str(int(count)) if float(count).is_integer() else repr(float(count))


def comments(rule: Rule, weighing: Evidence | None = None) -> list[str]:
    """One comment line per split, saying so where its confidence is the probability of the rule.

    Examples
    --------
    >>> from andre.logic import parse_rule
    >>> comments(parse_rule("h :- b").with_evidence(Evidence("train", 219, 215)))
    ['% train: N_b=219, N_r=215, N_r/N_b=0.9817']
    """
    return [
        f"% {quote(item.split)}: N_b={spell_count(item.n_b)}, N_r={spell_count(item.n_r)}, "
        f"N_r/N_b={item.confidence:.4f}{WEIGHS if item is weighing else ''}"
        for item in rule.evidence
    ]


def main_evidence(rule: Rule) -> Evidence | None:
    """What stands for a rule where there is room for one figure: training, else what comes first."""
    return rule.on("train") or (rule.evidence[0] if rule.evidence else None)
