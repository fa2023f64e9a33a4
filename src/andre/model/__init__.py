"""The differentiable rule space: operators, network, losses, schedule."""

from andre.model.config import LossConfig, NetworkConfig
from andre.model.inputs import Inputs
from andre.model.network import Network, subrule_mask
from andre.model.objective import Objective, Terms, row_weights
from andre.model.pooling import Pooling

__all__ = [
    "Inputs",
    "LossConfig",
    "Network",
    "NetworkConfig",
    "Objective",
    "Pooling",
    "Terms",
    "row_weights",
    "subrule_mask",
]
