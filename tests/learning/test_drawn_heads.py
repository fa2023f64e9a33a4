"""Rules from drawn head atoms: what they derive wrongly is looked at, and they are counted on all."""

import numpy as np
import pytest

from andre.arrays import is_among
from andre.evaluation import rescore
from andre.facts import FactBase, Relation
from andre.inference import BodyEvaluator
from andre.learning import learn

QUICK = {"restarts": 1, "rounds": 1, "steps": 20, "variables": 3}


def born_somewhere(seed=0, people=600, places=40):
    """Who was born in a country is mostly its citizen; who died or works there is so now and then.

    Of all pairs of a person and a person or place few are wrongly derived by any rule.
    """
    rng = np.random.default_rng(seed)
    person, n = np.arange(people), people + places
    home = people + rng.integers(places, size=people)

    def pairs(right):
        other = people + rng.integers(places, size=people)
        return np.column_stack([person, np.where(rng.random(people) < right, home, other)])

    relations = [
        Relation("citizen", np.column_stack([person, home])[rng.random(people) < 0.8]),
        Relation("born", pairs(0.9)),
        Relation("died", pairs(0.3)),
        Relation("works", pairs(0.2)),
        Relation("near", np.column_stack([home, home[::-1]])[:100]),
    ]
    return FactBase.from_relations([f"c{code}" for code in range(n)], relations)


def test_rules_are_chosen_and_counted_as_if_none_had_been_drawn():
    facts = born_somewhere()
    drawn, whole = (
        learn(facts, "citizen/2", heads=heads, mode="complete", **QUICK)["citizen"] for heads in (500, None)
    )
    assert [rule.body for rule in drawn.program] == [rule.body for rule in whole.program]
    assert list(drawn.program) == list(rescore(drawn.program, facts))
    assert drawn.confusion == whole.confusion
    assert any("500 head atoms were drawn" in note for note in drawn.notes)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_said_of_a_program_is_true_of_all_head_atoms(seed):
    facts = born_somewhere(seed, people=300, places=10)
    made = learn(facts, "citizen/2", heads=100, mode="complete", seed=seed, **QUICK)["citizen"]
    true = facts.relations["citizen", 2].codes.astype(np.int64)
    bodies = BodyEvaluator(facts)
    derived = np.unique(np.concatenate([bodies.cover(rule).heads for rule in made.program]), axis=0)
    right = int(is_among(derived, true, len(facts.constants)).sum())
    seen = made.confusion
    n = len(facts.constants)
    assert (seen.true_positives, seen.false_positives) == (right, len(derived) - right)
    assert (seen.false_negatives, seen.total) == (len(true) - right, n * (n - 1))
    for rule in made.program:
        assert rule.on("train").n_r > rule.on("train").n_b / 2
