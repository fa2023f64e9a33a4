"""Learning programs: propose, choose, refine."""

from andre.learning.callbacks import LOSSES, Callback, Finished, Look, ProgressKeeper, State
from andre.learning.choose.cover import fewest_errors
from andre.learning.choose.refine import neighbours
from andre.learning.choose.rejection import Rejected, RulePool
from andre.learning.choose.select import Candidate, prune, select, with_shorter
from andre.learning.config import Config, Floor, Guide, SelectionConfig, TrainingConfig
from andre.learning.define import background_of, labels_of
from andre.learning.extraction import distinct_bodies, extract
from andre.learning.fit import fit
from andre.learning.learn import learn
from andre.learning.plan import Plan, learnable
from andre.learning.plots import (
    plot_accuracy,
    plot_losses,
    plot_probabilities,
    read_curves,
    readings,
    save_figure,
)
from andre.learning.propose import ProposalConfig, best_short_bodies, propose
from andre.learning.result import Result, RunSummary, Score
from andre.learning.theory import Counts, Definition, TargetStore, Theory
from andre.learning.trainer import Runs

__all__ = [
    "LOSSES",
    "Callback",
    "Candidate",
    "Config",
    "Counts",
    "Definition",
    "Finished",
    "Floor",
    "Guide",
    "Look",
    "Plan",
    "ProgressKeeper",
    "ProposalConfig",
    "Rejected",
    "Result",
    "RulePool",
    "RunSummary",
    "Runs",
    "Score",
    "SelectionConfig",
    "State",
    "TargetStore",
    "Theory",
    "TrainingConfig",
    "background_of",
    "best_short_bodies",
    "distinct_bodies",
    "extract",
    "fewest_errors",
    "fit",
    "labels_of",
    "learn",
    "learnable",
    "neighbours",
    "plot_accuracy",
    "plot_losses",
    "plot_probabilities",
    "propose",
    "prune",
    "read_curves",
    "readings",
    "save_figure",
    "select",
    "with_shorter",
]
