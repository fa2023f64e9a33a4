"""Weighted rules: a few rules with weights, which give probabilities.

`learn_weighted_rules` grows sets of rules from a table of bins (`search` finds
a body, `growth` adds it and refits all weights), validates them, and gives a
`RulePath`: the best `WeightedRules` of each size, and those to take.
"""

from andre.learning.ensemble.config import WeighingConfig
from andre.learning.ensemble.cuts import with_moved_cuts
from andre.learning.ensemble.likelihood import Labels
from andre.learning.ensemble.model import Objective, WeightedRules, costs_of
from andre.learning.ensemble.path import (
    Fit,
    LabelledTable,
    PathStep,
    Proposals,
    RulePath,
    RuleWeighing,
    learn_weighted_rules,
)
from andre.learning.ensemble.search import codes_of

__all__ = [
    "Fit",
    "LabelledTable",
    "Labels",
    "Objective",
    "PathStep",
    "Proposals",
    "RulePath",
    "RuleWeighing",
    "WeighingConfig",
    "WeightedRules",
    "codes_of",
    "costs_of",
    "learn_weighted_rules",
    "with_moved_cuts",
]
