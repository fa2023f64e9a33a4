"""Completing knowledge bases: rules for every relation, and candidates ranked by them."""

from andre.completion.assumed import believed
from andre.completion.bodies import Body
from andre.completion.calibration import Reliability, ReliabilityBin
from andre.completion.complete import complete, relearn, taught, with_validation
from andre.completion.completion import Candidate, Choice, Completion
from andre.completion.config import CompletionConfig
from andre.completion.features import LateFeatures
from andre.completion.graph import Graph
from andre.completion.scoring import Scorer

__all__ = [
    "Body",
    "Candidate",
    "Choice",
    "Completion",
    "CompletionConfig",
    "Graph",
    "LateFeatures",
    "Reliability",
    "ReliabilityBin",
    "Scorer",
    "believed",
    "complete",
    "relearn",
    "taught",
    "with_validation",
]
