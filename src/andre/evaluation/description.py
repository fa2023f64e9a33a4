"""The description length of labels under a program: what selection minimises.

The labels are told by a program and its mistakes: which of the covered
examples are false positives and which of the uncovered ones are false
negatives, each as a subset whose size is told first. A program is told by its
literals, each one of 2m, and the number of its rules.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from andre.evaluation.crisp import CrispSample
from andre.grounding import Codes

__all__ = ["description_length", "program_length", "subset_cost"]

Floats = NDArray[np.float64]


def subset_cost(size: ArrayLike, chosen: ArrayLike) -> Floats:
    """Nats that tell which `chosen` of `size` things are meant; weights need not be whole.

    Examples
    --------
    >>> float(subset_cost(4, 2).round(4)) == round(math.log(6) + math.log(5), 4)
    True
    """
    n = torch.as_tensor(np.asarray(size, dtype=np.float64))
    k = torch.as_tensor(np.asarray(chosen, dtype=np.float64))
    binomial = torch.lgamma(n + 1) - torch.lgamma(k + 1) - torch.lgamma(n - k + 1)
    return (binomial + torch.log(n + 1)).numpy()


def description_length(
    covered: Floats, totals: Floats, n_literals: ArrayLike, n_rules: ArrayLike, m: int
) -> Floats:
    """Nats that tell a program of this size and the labels given the program.

    Parameters
    ----------
    covered
        Weights of the covered positives and negatives, [..., 2].
    totals
        Weights of all positives and negatives, [2].
    n_literals, n_rules
        The program's size, [...].
    m
        The number of candidate atoms.

    Examples
    --------
    >>> exact = description_length(np.array([5.0, 0.0]), np.array([5.0, 5.0]), 1, 1, m=4)
    >>> nothing = description_length(np.array([0.0, 0.0]), np.array([5.0, 5.0]), 0, 0, m=4)
    >>> bool(exact < nothing)
    True
    """
    missed = totals - covered  # uncovered positives and negatives
    mistakes = subset_cost(covered.sum(-1), covered[..., 1]) + subset_cost(missed.sum(-1), missed[..., 0])
    literals, rules = np.asarray(n_literals), np.asarray(n_rules)
    length: Floats = mistakes + literals * math.log(2 * m) + rules * math.log(2)
    return length


def program_length(sample: CrispSample, codes: Codes) -> float:
    """The description length of a sample under one program.

    Examples
    --------
    >>> from andre.grounding import Sample
    >>> crisp = CrispSample.of(Sample.from_arrays([[1, 0], [0, 1]], [1, 0]))
    >>> right, wrong = np.array([[1, 0]], dtype=np.int8), np.array([[1, 1]], dtype=np.int8)
    >>> program_length(crisp, right) < program_length(crisp, wrong)
    True
    """
    covered = sample.counts(sample.predicts(codes)[None])[0]
    size = np.count_nonzero(codes), len(codes)
    return float(description_length(covered, sample.totals, *size, m=sample.space.m))
