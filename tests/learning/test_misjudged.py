"""The examples that a definition gets wrong are listed as they are counted."""

from random import Random

import pytest

from andre.facts import FactBase
from andre.learning import learn
from andre.logic import Atom

QUICK = {"restarts": 1, "rounds": 1, "steps": 30, "invent": 0, "widen": False}


def noisy(seed: int, *, recursive: bool) -> FactBase:
    """Edges and their closure, or pairs of them, a few of which are left out and a few made up."""
    draw = Random(seed)
    edges = {(one, one + draw.randint(1, 3)) for one in range(24)}
    heads = {(a, d) for a, b in edges for c, d in edges if b == c}
    if recursive:
        heads = set(edges)
        while new := {(a, d) for a, b in heads for c, d in edges if b == c} - heads:
            heads |= new
    listed = sorted(heads)
    gone = set(draw.sample(listed, 3))
    made = {(draw.randrange(24), draw.randrange(24)) for _ in range(4)}
    lines = [f"edge(n{a}, n{b})" for a, b in sorted(edges)]
    lines += [f"goes(n{a}, n{b})" for a, b in sorted(heads - gone | made)]
    return FactBase.from_facts(map(Atom.parse, lines))


@pytest.mark.parametrize("recursive", [False, True])
def test_they_are_what_a_run_of_the_program_says(recursive):
    facts = noisy(1, recursive=recursive)
    theory = learn(facts, "goes/2", **QUICK)
    made = theory["goes"]
    assert len(made.program)
    assert not made.flawless
    derived, stated = set(theory.predict(facts)), set(facts.atoms("goes", 2))
    assert set(made.misjudged.missed) == stated - derived
    assert set(made.misjudged.wrong) == derived - stated
    assert len(made.misjudged.missed) == made.confusion.false_negatives
    assert len(made.misjudged.wrong) == made.confusion.false_positives
    judged = theory.evaluate(facts)
    assert set(judged.misjudged["goes", 2].missed) == set(made.misjudged.missed)


def test_a_definition_without_mistakes_lists_none():
    lines = [f"p(a{n})" for n in range(9)] + [f"h(a{n})" for n in range(9)] + [f"q(b{n})" for n in range(9)]
    lines += ["r(a0)", "r(b0)"]
    made = learn(FactBase.from_facts(map(Atom.parse, lines)), "h/1", variables=1, **QUICK)["h"]
    assert made.flawless
    assert not made.misjudged.missed
    assert not made.misjudged.wrong


def test_evaluation_counts_a_completed_graph_as_learning_did():
    """Of relations that explain one another, too: each is judged by rules that read all the others."""
    draw = Random(0)
    homes = {f"p{n}": draw.choice(["rome", "oslo", "bern"]) for n in range(30)}
    lines = [f"lives({who}, {city})" for who, city in homes.items()]
    lines += [f"works({who}, {city})" for who, city in homes.items() if who[-1] != "3"]
    facts = FactBase.from_facts(map(Atom.parse, lines))
    theory = learn(facts, ["lives/2", "works/2"], mode="complete", **QUICK)
    judged = theory.evaluate(facts)
    for made in theory:
        seen, found = made.confusion, judged.heads[made.key]
        assert found.true_positives > 20
        assert (found.true_positives, found.false_positives) == (seen.true_positives, seen.false_positives)
        assert found.false_negatives == seen.false_negatives
        for kind in ("missed", "wrong"):
            assert set(getattr(judged.misjudged[made.key], kind)) == set(getattr(made.misjudged, kind))
