"""Judging programs and rules: coverage of samples, description length, entailment, evidence, ranks.

`andre.evaluation.fixpoint`, for recursive programs over truth tables, needs
torch and is imported by its own path.
"""

from andre.evaluation.crisp import CrispSample, Extents, covers, literal_truth, union
from andre.evaluation.description import Mistakes, description_length, program_length
from andre.evaluation.entailment import Confusion, Entailment, Shares, entailment
from andre.evaluation.probabilities import area_under_curve, calibration_error, mean_area_under_curve
from andre.evaluation.ranks import (
    POLICIES,
    Interval,
    Policy,
    RankReport,
    Ranks,
    filtered_ranks,
    lexicographic_keys,
    mean_reciprocal,
)
from andre.evaluation.rules import rank_by_rules, rescore, smoothed_confidence

__all__ = [
    "POLICIES",
    "Confusion",
    "CrispSample",
    "Entailment",
    "Extents",
    "Interval",
    "Mistakes",
    "Policy",
    "RankReport",
    "Ranks",
    "Shares",
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
    "program_length",
    "rank_by_rules",
    "rescore",
    "smoothed_confidence",
    "union",
]
