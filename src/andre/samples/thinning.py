"""Random subsets of the examples within a budget of rows that a few large bags cannot exhaust."""

from __future__ import annotations

import numpy as np

from andre.arrays import Bools, Floats, Ints, csr_starts
from andre.samples.membership import Membership

#: A class keeps so many examples at the least: a bag counts with one row in so many of the class's budget.
_FEWEST = 8
#: A bag counts with no more rows than this share of its class has: what is beyond them must not cost others.
_USUAL = 0.9


def draw_examples(
    positives: Floats, negatives: Floats, sizes: Ints, most: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Some examples of each class, and how many rows each may keep, at most so many in all.

    Parameters
    ----------
    positives, negatives
        The weight of the labels of each example, [B].
    sizes
        How many rows each example has, [B].
    most
        Rows that may be kept; half of them of each class.

    Examples
    --------
    >>> weights, sizes = np.array([1.0, 1, 1, 0, 0, 0]), np.array([1, 900, 2, 2, 1, 1])
    >>> examples, kept = draw_examples(weights, 1 - weights, sizes, 20, np.random.default_rng(0))
    >>> examples.tolist(), kept.tolist()
    ([0, 1, 2, 3, 4, 5], [1, 7, 2, 2, 1, 1])
    """
    classes = [np.flatnonzero(side) for side in _sides(positives, negatives)]
    classes = [own for own in classes if len(own)]
    budget = max(1, most // max(1, len(classes)))
    chosen = [own[_draw(sizes[own], budget, rng)] for own in classes]
    kept = [np.minimum(sizes[own], _level(sizes[own], budget)) for own in chosen]
    examples = np.concatenate([np.zeros(0, dtype=np.int64), *chosen])
    order = np.argsort(examples)
    return examples[order], np.concatenate([np.zeros(0, dtype=np.int64), *kept])[order]


def cut_bags(members: Membership, kept: Ints, rng: np.random.Generator) -> Membership:
    """The same examples with so many of their rows, [B], chosen at random."""
    owners = members.owners
    shuffled = np.lexsort((rng.random(len(owners)), owners))  # bag by bag, in random order within each
    rank = np.arange(len(owners)) - members.starts[owners]
    entries = np.sort(shuffled[rank < kept[owners]])
    return Membership(csr_starts(owners[entries], len(members)), members.rows[entries])


def _sides(positives: Floats, negatives: Floats) -> tuple[Bools, Bools]:
    """The examples of each class, [B] each, such that both labels occur among them if possible.

    Examples are divided by the label with the larger weight, equal weights being positive. If
    one side would be empty, examples with a single label are separated from the others.
    """
    weighed = positives + negatives > 0
    for positive in (positives >= negatives, positives > 0, negatives == 0):
        sides = weighed & positive, weighed & ~positive
        if all(side.any() for side in sides):
            break
    return sides


def _draw(sizes: Ints, budget: int, rng: np.random.Generator) -> Ints:
    """Indices of as many random examples as a budget of rows allows, all choices being equally likely.

    The number does not depend on which are drawn: if drawing stopped at the first large bag,
    examples with large bags would be drawn less often.
    """
    usual = np.quantile(sizes, _USUAL, method="lower")
    counted = np.minimum(sizes, max(1, min(usual, budget // _FEWEST)))
    if counted.sum() <= budget:
        return np.arange(len(sizes))
    mean, spread = counted.mean(), counted.std()
    # With a margin of two standard deviations, so that few bags have to be cut.
    n = int(((np.sqrt(spread**2 + mean * budget) - spread) / mean) ** 2)
    least = min(_FEWEST, budget, len(sizes))
    return rng.permutation(len(sizes))[: max(n, least)]


def _level(sizes: Ints, budget: int) -> int:
    """Water-filling: the largest number such that the sizes, capped at it, add up to at most a budget.

    Examples
    --------
    >>> _level(np.array([1, 2, 50, 90]), 23), _level(np.array([1, 2, 5]), 23)
    (10, 5)
    """
    ordered = np.sort(sizes)
    before = np.cumsum(ordered) - ordered
    levels = (budget - before) // np.arange(len(ordered), 0, -1)  # where all from here on are cut
    cut = np.flatnonzero(ordered > levels)
    return int(levels[cut[0]]) if len(cut) else int(ordered[-1])
