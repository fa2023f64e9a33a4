"""The differentiable rule space: operators, network, losses, objective."""

from andre.model.config import Count, LossConfig, NetworkConfig, NonNegative, Positive, Settings, Whole
from andre.model.inputs import Inputs
from andre.model.losses import LOSSES, Loss, Number, cross_entropy, schedule
from andre.model.network import Network, subrule_mask
from andre.model.objective import Objective, Terms, row_weights
from andre.model.operators import Operator, aggregate, conjunctions, disjunctions
from andre.model.pooling import Pooling

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
