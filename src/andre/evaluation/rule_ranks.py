"""Filtered ranks of test facts by the confidence of the rules that derive them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from andre.evaluation.coverage import covered_heads
from andre.evaluation.ranks import RankReport, Ranks, filtered_ranks
from andre.facts import FactBase, Relation
from andre.facts.base import Key
from andre.logic import Program, Rule

__all__ = ["rank_by_rules"]

Pairs = NDArray[np.int64]  #: [P, 2], codes of constants

#: Scores of queries by candidates that are held at once.
_BLOCK = 20_000_000
#: The smoothing of confidences, N_r / (N_b + c).
_SMOOTHING = 5.0


def rank_by_rules(rules: Program, facts: FactBase, key: Key) -> RankReport | None:
    """Rank the test facts of a binary relation, both sides; None where it has none or there is no rule.

    A candidate scores the smoothed confidence of its surest rule, in one step
    from the training facts.

    Parameters
    ----------
    rules
        Of this relation, with evidence on train.

    Examples
    --------
    >>> from andre.logic import Evidence, parse_rule
    >>> codes = np.array([[n, n + 1] for n in range(30)])
    >>> after = Relation("after", codes[:, ::-1], mark=2 * (np.arange(30) % 10 == 0))
    >>> facts = FactBase.from_relations(range(31), [Relation("next", codes), after])
    >>> rule = parse_rule("after(X, Y) :- next(Y, X).").with_evidence(Evidence("train", 30, 27))
    >>> rank_by_rules(Program((rule,)), facts, ("after", 2)).mrr["realistic"]
    1.0
    """
    relation = facts.relations.get(key)
    if relation is None or relation.arity != 2 or not relation.count("test") or not len(rules):
        return None
    n, known = len(facts.constants), facts.select("train")
    covered = [(_confidence(rule), covered_heads(rule, known)) for rule in rules]
    parts = [
        _side([(sure, pairs[:, order]) for sure, pairs in covered], relation, order, n)
        for order in ([0, 1], [1, 0])
    ]
    return RankReport.from_ranks(Ranks.concat(parts))


def _confidence(rule: Rule) -> float:
    evidence = rule.on("train")
    return 0.0 if evidence is None else evidence.n_r / (evidence.n_b + _SMOOTHING)


def _side(covered: list[tuple[float, Pairs]], relation: Relation, order: list[int], n: int) -> Ranks:
    """Ranks of the test facts where the second of two ordered arguments is asked for."""
    pairs = relation.codes[:, order].astype(np.int64)
    asked = pairs[relation.marked("test")]
    step = max(1, _BLOCK // n)
    parts = []
    for at in range(0, len(asked), step):
        some = asked[at : at + step]
        starts, query = np.unique(some[:, 0], return_inverse=True)
        scores = np.zeros((len(starts), n))
        for sure, found in covered:
            row, candidate = _among(starts, found)
            scores[row, candidate] = np.maximum(scores[row, candidate], sure)
        known = np.zeros((len(starts), n), dtype=np.bool_)
        known[_among(starts, pairs)] = True
        parts.append(filtered_ranks(scores[query], some[:, 1], known[query]))
    return Ranks.concat(parts)


def _among(starts: NDArray[np.int64], pairs: Pairs) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of pairs that begin with one of these, in order, its place and the other end."""
    place = np.searchsorted(starts, pairs[:, 0]).clip(max=len(starts) - 1)
    hit = starts[place] == pairs[:, 0]
    return place[hit], pairs[hit, 1]
