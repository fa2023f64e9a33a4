"""Judging programs: crisp truth, description length, fixpoints, entailment, ranks."""

from andre.evaluation.crisp import CrispSample, covers, literal_truth
from andre.evaluation.description import description_length, program_length
from andre.evaluation.entailment import Confusion, Entailment, Shares, entailment, rescore
from andre.evaluation.ranks import (
    POLICIES,
    RankReport,
    Ranks,
    filtered_ranks,
    lexicographic_keys,
    rank_by_rules,
)

__all__ = [
    "POLICIES",
    "Confusion",
    "CrispSample",
    "Entailment",
    "RankReport",
    "Ranks",
    "Shares",
    "covers",
    "description_length",
    "entailment",
    "filtered_ranks",
    "lexicographic_keys",
    "literal_truth",
    "program_length",
    "rank_by_rules",
    "rescore",
]
