"""How test facts rank among all candidates by the rules of a definition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from andre.evaluation.coverage import covered_heads
from andre.evaluation.ranks import RankReport, Ranks, filtered_ranks
from andre.facts import FactBase, Relation
from andre.learning import Definition
from andre.logic import Rule
from andre.report.page import Ranking

__all__ = ["rank_test_facts"]

Pairs = NDArray[np.int64]  #: [P, 2], codes of constants

#: Scores of queries by candidates that are held at once.
_BLOCK = 20_000_000
#: The smoothing of confidences, N_r / (N_b + c).
_SMOOTHING = 5.0


def rank_test_facts(definition: Definition, facts: FactBase) -> Ranking | None:
    """Filtered ranks of a binary target's test facts, both sides; None where there are none.

    A candidate scores the smoothed confidence of its surest rule, in one step
    from the training facts.

    Examples
    --------
    >>> from andre.learning import learn
    >>> codes = np.array([[n, n + 1] for n in range(30)])
    >>> after = Relation("after", codes[:, ::-1], mark=2 * (np.arange(30) % 10 == 0))
    >>> facts = FactBase.from_relations(range(31), [Relation("next", codes), after])
    >>> theory = learn(facts, "after/2", mode="complete", variables=2)
    >>> rank_test_facts(theory["after"], facts).rows["realistic"][0]
    1.0
    """
    relation = facts.relations.get(definition.key)
    if relation is None or relation.arity != 2 or not relation.count("test") or not len(definition.program):
        return None
    n, known = len(facts.constants), facts.select("train")
    covered = [(_confidence(rule), covered_heads(rule, known)) for rule in definition.program]
    parts = [
        _side([(sure, pairs[:, order]) for sure, pairs in covered], relation, order, n)
        for order in ([0, 1], [1, 0])
    ]
    report = RankReport.from_ranks(Ranks.concat(parts))
    columns = ("MRR", *(f"Hits@{k}" for k in next(iter(report.hits.values()))))
    rows: dict[str, tuple[float, ...]] = {
        policy: (mean, *report.hits[policy].values()) for policy, mean in report.mrr.items()
    }
    return Ranking(
        f"{relation.count('test'):,} test facts among all constants, both sides, known facts left out",
        columns,
        rows,
    )


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
