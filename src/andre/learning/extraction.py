"""From weights to bodies, [bodies, m], and from bodies to those near them."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from andre.arrays import blocks_of, distinct_rows
from andre.limits import check, limited, stage, time_left
from andre.samples import Codes

#: How far the weight of a settled reading is above the others: it has all but e^-20 of the probability.
_SETTLED = 20.0
#: Codes that are made at a time where there is a time limit.
_BLOCK = 1 << 23


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


def distinct_bodies(subrules: Codes) -> Codes:
    """The bodies that are not empty, each once and in a fixed order, [bodies, m].

    Examples
    --------
    >>> distinct_bodies(np.array([[1, 0], [0, 0], [1, 0]], dtype=np.int8))
    array([[1, 0]], dtype=int8)
    """
    flat = subrules.reshape(-1, subrules.shape[-1])
    flat = flat[flat.any(axis=1)]
    return flat[distinct_rows(flat + 1)[0]]  # bytes from 0 sort as numbers do


def most_general(bodies: Codes) -> Codes:
    """The bodies that no other is a part of, [bodies, m]: a longer one says nothing that its part does not.

    Examples
    --------
    >>> most_general(np.array([[1, 0], [1, -1], [0, 1]], dtype=np.int8))
    array([[1, 0],
           [0, 1]], dtype=int8)
    """
    bodies = bodies[np.argsort(np.count_nonzero(bodies, axis=1), kind="stable")]
    kept = bodies[:0]
    for body in bodies:
        if not ((kept == 0) | (kept == body)).all(axis=1).any():
            kept = np.concatenate([kept, body[None]])
    return kept


def shorter_bodies(bodies: Codes) -> Codes:
    """All bodies that one literal less makes of these, [literals, m].

    Examples
    --------
    >>> shorter_bodies(np.array([[1, -1, 0]], dtype=np.int8))
    array([[ 0, -1,  0],
           [ 1,  0,  0]], dtype=int8)
    """
    body, column = np.nonzero(bodies)
    shorter = bodies[body]
    shorter[np.arange(len(body)), column] = 0
    return shorter


def with_shorter(bodies: Codes) -> Codes:
    """Distinct bodies, and all that have one literal less; where time is short, those of the shortest."""
    bodies = distinct_bodies(bodies)
    if time_left().left == math.inf:
        return distinct_bodies(np.concatenate([bodies, shorter_bodies(bodies)]))
    found = [bodies]
    sizes = np.count_nonzero(bodies, axis=1)
    order = np.argsort(sizes, kind="stable")
    # To merge the blocks in the end takes as long again as to make them.
    with limited(time_left().share(0.4)), stage("pooling rules"):
        for begin, end in blocks_of(sizes[order] * bodies.shape[1], _BLOCK):
            check()
            found.append(distinct_bodies(shorter_bodies(bodies[order[begin:end]])))
    return distinct_bodies(np.concatenate(found))


def literal_bodies(literals: NDArray[np.integer], m: int) -> Codes:
    """Bodies of the given literals, [bodies, m].

    Parameters
    ----------
    literals
        Below m the atoms, from m on their negations, [bodies, literals].

    Examples
    --------
    >>> literal_bodies(np.array([[0, 5], [1, 1]]), m=3)
    array([[ 1,  0, -1],
           [ 0,  1,  0]], dtype=int8)
    """
    codes = np.zeros((len(literals), m), dtype=np.int8)
    np.put_along_axis(codes, literals % m, np.where(literals < m, 1, -1), axis=1)
    return codes
