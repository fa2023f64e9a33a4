"""Completing knowledge bases: rules for every relation, and candidates ranked by them."""

from andre.learning.completion.calibration import Reliability
from andre.learning.completion.completion import Choice, Completion, Prediction
from andre.learning.completion.config import CompletionConfig
from andre.learning.completion.learner import complete, relearn
from andre.learning.completion.proposals import ProposalConfig, propose
from andre.learning.completion.storage import load_completion, save_completion
from andre.learning.completion.validation import with_validation

__all__ = [
    "Choice",
    "Completion",
    "CompletionConfig",
    "Prediction",
    "ProposalConfig",
    "Reliability",
    "complete",
    "load_completion",
    "propose",
    "relearn",
    "save_completion",
    "with_validation",
]
