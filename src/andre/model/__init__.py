"""The differentiable rule space: operators, network, losses, objective.

All but the settings need torch, which is slow to load, and so are imported when they are first used.
"""

from typing import TYPE_CHECKING

from andre.lazy import lazily
from andre.model.config import Count, LossConfig, NetworkConfig, NonNegative, Positive, Settings, Whole

if TYPE_CHECKING:  # the same names again, for type checkers and editors
    from andre.model.inputs import Inputs
    from andre.model.losses import LOSSES, Loss, Number, cross_entropy, schedule
    from andre.model.network import Network, subrule_mask
    from andre.model.objective import Objective, Terms, row_weights
    from andre.model.operators import Operator, aggregate, conjunctions, disjunctions
    from andre.model.pooling import Pooling
else:
    __getattr__ = lazily(
        __name__,
        {
            "andre.model.inputs": ("Inputs",),
            "andre.model.losses": ("LOSSES", "Loss", "Number", "cross_entropy", "schedule"),
            "andre.model.network": ("Network", "subrule_mask"),
            "andre.model.objective": ("Objective", "Terms", "row_weights"),
            "andre.model.operators": ("Operator", "aggregate", "conjunctions", "disjunctions"),
            "andre.model.pooling": ("Pooling",),
        },
    )

__all__ = [
    "LOSSES",
    "Count",
    "Inputs",
    "Loss",
    "LossConfig",
    "Network",
    "NetworkConfig",
    "NonNegative",
    "Number",
    "Objective",
    "Operator",
    "Pooling",
    "Positive",
    "Settings",
    "Terms",
    "Whole",
    "aggregate",
    "conjunctions",
    "cross_entropy",
    "disjunctions",
    "row_weights",
    "schedule",
    "subrule_mask",
]
