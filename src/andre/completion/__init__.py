"""Completing knowledge bases: rules for every relation, and answers to queries ranked by them."""

from andre.completion.bodies import Body
from andre.completion.calibration import Reliability, ReliabilityBin
from andre.completion.completion import Choice, Completion, RankedAnswer
from andre.completion.config import CompletionConfig, SizeConfig
from andre.completion.directions import DirectionRules, DirectionStore, learn_direction
from andre.completion.graph import Graph, split_off, validation_as_training, with_assumed, with_validation
from andre.completion.learner import complete, relearn
from andre.completion.packing import PackedRules
from andre.completion.pool import as_rule
from andre.completion.scoring import Scorer

__all__ = [
    "Body",
    "Choice",
    "Completion",
    "CompletionConfig",
    "DirectionRules",
    "DirectionStore",
    "Graph",
    "PackedRules",
    "RankedAnswer",
    "Reliability",
    "ReliabilityBin",
    "Scorer",
    "SizeConfig",
    "as_rule",
    "complete",
    "learn_direction",
    "relearn",
    "split_off",
    "validation_as_training",
    "with_assumed",
    "with_validation",
]
