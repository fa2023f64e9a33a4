"""Choosing the program with the fewest errors: rules that cover all mostly positive examples, and no others.

The description length asks whether a rule tells more than it costs. Where the
share of right labels is all that counts, as in the paper's tables of knowledge
bases, every distinct example should get the label that most of its equals
have: no program can do better.
"""

from __future__ import annotations

import numpy as np

from andre.arrays import Bools, Floats
from andre.evaluation import CrispSample
from andre.learning.bodies import literal_bodies
from andre.limits import out_of_time, stage, unhurried
from andre.samples import Codes, Form

#: Literals that a rule may be grown to, where it is not grown around an example.
_LONGEST = 12
#: Examples that a rule is tried to be grown around.
_TRIED = 5


def fewest_errors(
    sample: CrispSample,
    pool: Codes,
    form: Form,
    *,
    grow: bool = True,
    max_rules: int = 1000,
) -> Codes:
    """A program with as few wrong labels as greedy search finds, [rules, m].

    A rule must cover no example that is mostly false. Rules of the pool are
    taken first, the one that mends most errors each time. Then rules are grown
    literal by literal on what is not covered yet, and where that finds no
    more, around single examples that are mostly true.

    Parameters
    ----------
    sample
        The examples to be right on.
    pool
        Rules to take from, [rules, m].
    form
        What bodies must look like.
    grow
        Whether rules that are not in the pool are made.
    max_rules
        How many rules the program may have.

    Examples
    --------
    >>> from andre.samples import Sample
    >>> rows = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
    >>> crisp = CrispSample.of(Sample.from_arrays(rows, [0, 1, 1, 0]))
    >>> nothing = np.zeros((0, 2), dtype=np.int8)
    >>> crisp.accuracy(fewest_errors(crisp, nothing, Form(crisp.space)))
    1.0
    """
    surplus = sample.positives - sample.negatives
    mostly = np.stack((surplus, -surplus)).clip(min=0)  # [2, B]
    with unhurried():
        covers = sample.covers(pool)
    pure = ~(covers & (mostly[1] > 0)).any(axis=1)
    pool, covers = pool[pure], covers[pure]
    rest = np.ones(len(surplus), dtype=np.bool_)
    chosen: list[Codes] = []
    while len(chosen) < max_rules and len(pool):
        if chosen and out_of_time("taking pooled rules"):
            break
        gain = covers @ (mostly[0] * rest)
        best = int(gain.argmax())
        if gain[best] <= 0:
            break
        chosen.append(pool[best])
        rest &= ~covers[best]
    anywhere = True
    with stage("growing rules"):
        while grow and len(chosen) < max_rules:
            weights = mostly * np.stack((rest, np.ones_like(rest)))
            body = _grown(sample, weights, form) if anywhere else None
            if body is None:
                anywhere, body = False, _around(sample, weights, form)
            if body is None:
                break
            chosen.append(body)
            rest &= ~sample.covers(body[None])[0]
    return np.stack(chosen) if chosen else np.zeros((0, sample.space.m), dtype=np.int8)


def _around(sample: CrispSample, weights: Floats, form: Form) -> Codes | None:
    """A body grown around one of the heaviest uncovered positives; None where none can be."""
    gain = weights[0]
    for example in np.argsort(-gain, kind="stable")[:_TRIED]:
        if gain[example] <= 0:
            break
        members = sample.members
        rows = [example] if members is None else members.rows[slice(*members.starts[example : example + 2])]
        for row in rows:
            body = _grown(sample, weights, form, sample.literals[row])
            if body is not None:
                return body
    return None


def _grown(sample: CrispSample, weights: Floats, form: Form, only: Bools | None = None) -> Codes | None:
    """A body grown greedily, literal by literal, until it covers no negative; None where that fails.

    Parameters
    ----------
    weights
        Of examples that are to be covered and not to be covered, [2, B].
    only
        The literals that may be taken, [2m]; a body of such then grows as long as it must.
    """
    m = sample.space.m
    body: Codes = np.zeros(m, dtype=np.int8)
    held = np.ones(len(sample.literals), dtype=np.bool_)
    right, wrong = weights.sum(axis=1)
    for _ in range(min(_LONGEST, m) if only is None else m):
        counts = sample.literal_counts(held, weights)  # [2, 2m]
        counts[:, np.tile(body != 0, 2)] = 0
        if only is not None:
            counts[:, ~only] = 0
        gain = information_gain(counts, right, wrong)
        literal = int(gain.argmax())
        if gain[literal] == -np.inf:
            break
        body += literal_bodies(np.array([[literal]]), m)[0]
        held = held & sample.literals[:, literal]
        right, wrong = counts[:, literal]
        if wrong == 0 and form.admits(body[None])[0]:
            return body
    return None


def information_gain(counts: Floats, right: float, wrong: float) -> Floats:
    """FOIL's gain of each literal: positives still covered times the gain in log precision, [2m].

    Minus infinity where it leaves no positive, or all that there is.
    """
    total = counts.sum(axis=0)
    precision = np.divide(counts[0], total, out=np.zeros_like(total), where=total > 0)
    before = np.log(max(right, 1e-300) / max(right + wrong, 1e-300))
    gain: Floats = counts[0] * (np.log(np.maximum(precision, 1e-300)) - before)
    changes = (counts[0] > 0) & (total < right + wrong)
    return np.where(changes, gain, -np.inf)
