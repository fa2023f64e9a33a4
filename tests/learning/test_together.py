"""Targets that read one another: what they derive together is what the examples say."""

from itertools import pairwise, product

import pytest

from andre.facts import FactBase
from andre.learning import learn
from andre.logic import parse_atom


def numbers(last: int, *, before: bool) -> FactBase:
    """Numbers up to the last one by names that tell nothing, each with its successor or predecessor."""
    names = [f"n{7 * number % 11}" for number in range(last + 1)]
    pairs = pairwise(names)
    steps = (f"before({two}, {one})" if before else f"after({one}, {two})" for one, two in pairs)
    kinds = (f"{('even', 'odd')[place % 2]}({name})" for place, name in enumerate(names))
    return FactBase.from_facts(map(parse_atom, [f"zero({names[0]})", *steps, *kinds]))


@pytest.mark.parametrize(("last", "before"), list(product((9, 10), (False, True))))
@pytest.mark.parametrize("targets", [["even/1", "odd/1"], ["odd/1", "even/1"]])
def test_even_and_odd_are_told_by_one_another(last: int, before: bool, targets: list[str]) -> None:
    """Each is learned as if the other's examples were facts: what comes of it may be a circle."""
    facts = numbers(last, before=before)
    theory = learn(facts, targets, variables=2)
    assert theory.evaluate(facts).overall.accuracy == 1.0
    assert theory.evaluate(numbers(6, before=before)).overall.accuracy == 1.0
    assert all(made.flawless for made in theory)
    reads = {lit.atom.predicate for made in theory for rule in made.program for lit in rule.body}
    assert {"even", "odd"} <= reads


def test_a_circle_that_cannot_be_mended_is_learned_in_order_or_noted() -> None:
    """Two names of the same thing, each told by the other: nothing else tells them."""
    lines = [f"{name}(x{place})" for name in ("left", "right") for place in range(6)]
    others = [f"thing(x{place})" for place in range(12)]
    facts = FactBase.from_facts(map(parse_atom, lines + others))
    theory = learn(facts, ["left/1", "right/1"], variables=1)
    together = theory.evaluate(facts).heads
    for made in theory:
        counts = together[made.key]
        assert made.confusion == counts
        wrong = counts.false_positives + counts.false_negatives
        assert not wrong or not len(made.program) or any("together with" in note for note in made.notes)
