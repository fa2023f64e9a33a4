"""From weights to bodies, [bodies, m], and back."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from andre.samples import Codes

#: How far the weight of a settled reading is above the others: it has all but e^-20 of the probability.
_SETTLED = 20.0


def entropies(probabilities: Tensor, epsilon: float = 1e-6) -> Tensor:
    """The entropy of every choice, [...]: 0 is certain, ln 3 is undecided.

    Examples
    --------
    >>> entropies(torch.tensor([1.0, 0.0, 0.0])).round(decimals=3).abs()
    tensor(0.)
    """
    return -(probabilities * torch.log(probabilities + epsilon)).sum(-1)


def extract(weights: Tensor, mask: Tensor, certainties: tuple[float, ...]) -> Codes:
    """The subrules of every run at every certainty, [certainties, K, n, m].

    An atom is included or negated where that reading is the likeliest and the
    choice is certain enough; otherwise it is left out.

    Parameters
    ----------
    weights
        The network's weights, [K, n, m, 3].
    mask
        1 where a subrule counts, [K, n].
    certainties
        Most entropy of a choice that counts as certain.

    Examples
    --------
    >>> weights = torch.tensor([[[[9.0, 0, 0], [0, 9.0, 0], [0.1, 0, 0]]]])
    >>> extract(weights, torch.ones(1, 1), (0.4,))
    array([[[[ 1, -1,  0]]]], dtype=int8)
    """
    p = torch.softmax(weights.detach(), dim=-1)  # [K, n, m, 3]
    reading = torch.tensor([1, -1, 0], dtype=torch.int8, device=p.device)[p.argmax(-1)]  # [K, n, m]
    reading = reading * mask[:, :, None].to(torch.int8)
    h = entropies(p)  # [K, n, m]
    codes: Codes = torch.stack([reading * (h <= most) for most in certainties]).cpu().numpy()
    return codes


def likeliest_bodies(weights: Tensor, bodies: Codes, most: int) -> Codes:
    """Of some bodies those that subrules hold likeliest, settled or not, so many of each subrule, [found, m].

    A subrule's weights give every atom a chance to be included, negated and left out,
    and so every body the product of its choices' chances.

    Parameters
    ----------
    weights
        Of subrules, [n, m, 3].
    bodies
        Those to choose from, [bodies, m].
    most
        Bodies of a subrule.

    Examples
    --------
    >>> weights = torch.tensor([[[3.0, 0, 0], [0, 2.0, 0], [0, 0, 9.0]]])
    >>> bodies = np.array([[1, 0, 0], [0, 1, 0], [0, -1, 0], [1, -1, 0], [1, 0, 1]], dtype=np.int8)
    >>> likeliest_bodies(weights, bodies, 2)
    array([[ 1,  0,  0],
           [ 1, -1,  0]], dtype=int8)
    """
    odds = (weights[..., :2] - weights[..., 2:]).detach().cpu().numpy()  # [n, m, 2], in logarithms
    included, negated = ((bodies * sign > 0).astype(np.float32).T for sign in (1, -1))  # [m, bodies] each
    score = odds[..., 0] @ included + odds[..., 1] @ negated  # [n, bodies]
    if not most or most >= len(bodies):
        return bodies if most else bodies[:0]
    return bodies[np.unique(np.argpartition(-score, most - 1, axis=1)[:, :most])]


def settled_weights(codes: Codes) -> Tensor:
    """Weights that have settled on these bodies, [rules, m, 3]: the reverse of `extract`.

    Examples
    --------
    >>> weights = settled_weights(np.array([[1, -1, 0]], dtype=np.int8))
    >>> extract(weights[None], torch.ones(1, 1), (0.4,))
    array([[[[ 1, -1,  0]]]], dtype=int8)
    """
    reading = torch.as_tensor(np.select([codes > 0, codes < 0], [0, 1], 2))  # [rules, m]
    return torch.nn.functional.one_hot(reading, 3).float() * _SETTLED
