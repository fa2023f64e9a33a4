"""Learning programs: runs, extraction, selection, refinement."""

from andre.learning.callbacks import Callback
from andre.learning.config import Config, SelectionConfig, TrainingConfig
from andre.learning.learner import fit
from andre.learning.result import Result, RunSummary, Score
from andre.learning.state import Look, State
from andre.learning.storage import load_result, prolog, save_result

__all__ = [
    "Callback",
    "Config",
    "Look",
    "Result",
    "RunSummary",
    "Score",
    "SelectionConfig",
    "State",
    "TrainingConfig",
    "fit",
    "load_result",
    "prolog",
    "save_result",
]
