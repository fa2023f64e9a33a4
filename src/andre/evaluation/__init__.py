"""Evaluation of programs and rules: coverage of samples, description length, entailment, evidence, ranks.

Recursive programs are judged at their fixpoint by a `Judge`: `TableJudge`, on truth tables over few
constants, or `JoinJudge`, by joins.
"""

from andre.evaluation.crisp import CrispSample, Extents, covers, literal_truth, union
from andre.evaluation.description import (
    Mistakes,
    description_length,
    most_wrong,
    program_cost,
    program_length,
)
from andre.evaluation.entailed import Confusion, Entailment, Misjudged, Shares, entailment
from andre.evaluation.fixpoint import Labels, RuleBase, TableJudge
from andre.evaluation.joined_fixpoint import JoinedRules, JoinJudge, JoinLimits
from andre.evaluation.judging import AtomKeys, Judge, ListedLabels, Verdicts
from andre.evaluation.probabilities import area_under_curve, calibration_error, mean_area_under_curve
from andre.evaluation.ranks import (
    POLICIES,
    Interval,
    Negatives,
    Policy,
    RankReport,
    Ranks,
    all_but_drawn,
    filtered_ranks,
    lexicographic_keys,
    mean_reciprocal,
)
from andre.evaluation.rules import rank_by_rules, rescore, smoothed_confidence

__all__ = [
    "POLICIES",
    "AtomKeys",
    "Confusion",
    "CrispSample",
    "Entailment",
    "Extents",
    "Interval",
    "JoinJudge",
    "JoinLimits",
    "JoinedRules",
    "Judge",
    "Labels",
    "ListedLabels",
    "Misjudged",
    "Mistakes",
    "Negatives",
    "Policy",
    "RankReport",
    "Ranks",
    "RuleBase",
    "Shares",
    "TableJudge",
    "Verdicts",
    "all_but_drawn",
    "area_under_curve",
    "calibration_error",
    "covers",
    "description_length",
    "entailment",
    "filtered_ranks",
    "lexicographic_keys",
    "literal_truth",
    "mean_area_under_curve",
    "mean_reciprocal",
    "most_wrong",
    "program_cost",
    "program_length",
    "rank_by_rules",
    "rescore",
    "smoothed_confidence",
    "union",
]
