"""Learning programs: runs, extraction, selection, refinement."""

from andre.learning.callbacks import Callback
from andre.learning.config import Config, SelectionConfig, TrainingConfig
from andre.learning.guide import Guide
from andre.learning.learner import fit
from andre.learning.plan import Plan
from andre.learning.relational import learn, learnable
from andre.learning.result import Result, RunSummary, Score
from andre.learning.state import Look, State
from andre.learning.storage import load_result, prolog, save_result
from andre.learning.theory import Definition, Theory
from andre.learning.theory_storage import load_theory, save_theory

__all__ = [
    "Callback",
    "Config",
    "Definition",
    "Guide",
    "Look",
    "Plan",
    "Result",
    "RunSummary",
    "Score",
    "SelectionConfig",
    "State",
    "Theory",
    "TrainingConfig",
    "fit",
    "learn",
    "learnable",
    "load_result",
    "load_theory",
    "prolog",
    "save_result",
    "save_theory",
]
