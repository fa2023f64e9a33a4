"""Learning programs: bodies are proposed, a program is chosen.

`fit` learns from rows of truth values, `learn_classifier` from tables of any kind and `learn` from
facts. All let runs of gradient descent propose bodies (`descent`, `proposing`; `short_bodies` enumerates
more) and choose a program among them (`choose`). Chapters: `relational` and `recursion` learn from facts,
`tables` from columns of any kind, and `ensemble` gives a few rules with weights, and so probabilities.

What reads the weights of runs needs torch, which is slow to load: it is loaded when it is first used.
"""

from typing import TYPE_CHECKING

from andre.lazy import lazily
from andre.learning.bodies import distinct_bodies, with_shorter
from andre.learning.callbacks import Callback, Finished, Look, ProgressKeeper, State
from andre.learning.choose import (
    Beliefs,
    Candidate,
    Rejected,
    Revised,
    Reviser,
    RulePool,
    fewest_errors,
    neighbours,
    prune,
    rejected_rules,
    select,
)
from andre.learning.config import Config, Floor, Guide, SelectionConfig, TrainingConfig
from andre.learning.ensemble import (
    Fit,
    LabelledTable,
    Labels,
    Objective,
    PathStep,
    Proposals,
    RulePath,
    WeighingConfig,
    WeightedRules,
    learn_weighted_rules,
)
from andre.learning.fitting import fit
from andre.learning.judged_by import background_of, labels_of, listed_labels
from andre.learning.plan import Plan, learnable, with_inequalities
from andre.learning.proposing import ProposalConfig, beyond_short, informative_columns, propose
from andre.learning.relational.targets import learn
from andre.learning.results import Advice, Counts, Definition, Result, RunSummary, Score, TargetStore, Theory
from andre.learning.short_bodies import Screening, best_short_bodies
from andre.learning.tables import (
    ClassifierConfig,
    CrispRules,
    Judged,
    RowExplanation,
    RuleClassifier,
    WeightedRule,
    guess_notes,
    learn_classifier,
    learn_encoding,
)
from andre.learning.weak import Weak

if TYPE_CHECKING:  # the same names again, for type checkers and editors
    from andre.learning.descent.extraction import extract
    from andre.learning.descent.runs import Runs
    from andre.learning.plots import (
        plot_accuracy,
        plot_losses,
        plot_probabilities,
        read_curves,
        readings,
        save_figure,
    )
else:
    _PLOTS = (
        "plot_accuracy",
        "plot_losses",
        "plot_probabilities",
        "read_curves",
        "readings",
        "save_figure",
    )
    __getattr__ = lazily(
        __name__,
        {
            "andre.learning.descent.runs": ("Runs",),
            "andre.learning.descent.extraction": ("extract",),
            "andre.learning.plots": _PLOTS,
        },
    )

__all__ = [
    "Advice",
    "Beliefs",
    "Callback",
    "Candidate",
    "ClassifierConfig",
    "Config",
    "Counts",
    "CrispRules",
    "Definition",
    "Finished",
    "Fit",
    "Floor",
    "Guide",
    "Judged",
    "LabelledTable",
    "Labels",
    "Look",
    "Objective",
    "PathStep",
    "Plan",
    "ProgressKeeper",
    "ProposalConfig",
    "Proposals",
    "Rejected",
    "Result",
    "Revised",
    "Reviser",
    "RowExplanation",
    "RuleClassifier",
    "RulePath",
    "RulePool",
    "RunSummary",
    "Runs",
    "Score",
    "Screening",
    "SelectionConfig",
    "State",
    "TargetStore",
    "Theory",
    "TrainingConfig",
    "Weak",
    "WeighingConfig",
    "WeightedRule",
    "WeightedRules",
    "background_of",
    "best_short_bodies",
    "beyond_short",
    "distinct_bodies",
    "extract",
    "fewest_errors",
    "fit",
    "guess_notes",
    "informative_columns",
    "labels_of",
    "learn",
    "learn_classifier",
    "learn_encoding",
    "learn_weighted_rules",
    "learnable",
    "listed_labels",
    "neighbours",
    "plot_accuracy",
    "plot_losses",
    "plot_probabilities",
    "propose",
    "prune",
    "read_curves",
    "readings",
    "rejected_rules",
    "save_figure",
    "select",
    "with_inequalities",
    "with_shorter",
]
