"""Test facts ranked by a definition, against a plain count."""

from __future__ import annotations

import numpy as np
import pytest

from andre.facts import FactBase, Relation
from andre.inference import covered_heads
from andre.learning import learn
from andre.report.theory import rank_test_facts

QUICK = {"mode": "complete", "variables": 2, "restarts": 2, "rounds": 1}


def base(seed: int) -> FactBase:
    rng = np.random.default_rng(seed)
    first = np.unique(rng.integers(12, size=(40, 2)), axis=0)
    first = first[first[:, 0] != first[:, 1]]
    mark = np.where(rng.random(len(first)) < 0.2, 2, 0)
    other = first[rng.random(len(first)) < 0.9][:, ::-1]
    return FactBase.from_relations(range(12), [Relation("p", first, mark=mark), Relation("q", other)])


@pytest.mark.parametrize("seed", range(4))
def test_ranks_equal_a_plain_count(seed: int) -> None:
    facts = base(seed)
    definition = learn(facts, "p/2", **QUICK).definitions[0]
    found = rank_test_facts(definition, facts)
    if not len(definition.program):
        assert found is None
        return
    score = np.zeros((12, 12))
    for rule in definition.program:
        evidence = rule.on("train")
        assert evidence is not None
        for x, y in covered_heads(rule, facts.select("train")):
            score[x, y] = max(score[x, y], evidence.n_r / (evidence.n_b + 5))
    relation = facts.relations["p", 2]
    stated = {tuple(row) for row in relation.codes.tolist()}
    ranks = []
    for x, y in relation.codes[relation.marked("test")].tolist():
        for rivals in ([(x, c) for c in range(12)], [(c, y) for c in range(12)]):
            others = [score[pair] for pair in rivals if pair not in stated]
            above = sum(other > score[x, y] for other in others)
            ties = sum(other == score[x, y] for other in others)
            ranks.append(1 + above + ties / 2)
    assert found is not None
    assert found.rows["realistic"][0] == pytest.approx(np.mean(1 / np.array(ranks)))


def test_without_test_facts_there_is_nothing_to_rank() -> None:
    facts = base(0).select("train")
    assert rank_test_facts(learn(facts, "p/2", **QUICK).definitions[0], facts) is None
