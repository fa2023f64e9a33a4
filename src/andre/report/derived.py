"""Derivations as predictions of a report: what a program derives from facts, and by which grounding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from andre.inference.explain import Explainer, Firing
from andre.logic import Atom, Rule
from andre.report.page import Prediction, RuleRow

__all__ = ["Judged", "derived", "rows_of"]


@dataclass(frozen=True)
class Judged:
    """An atom to explain, and what is known of it."""

    atom: Atom
    holds: bool | None = None
    split: str = ""


def derived(judged: Judged, firing: Firing) -> Prediction:
    """An atom that a rule derives, with the constants its variables stand for.

    Parameters
    ----------
    judged
        What is derived.
    firing
        How, as an `Explanation` gives it.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.inference import explain
    >>> from andre.logic import parse_program
    >>> facts = FactBase.from_facts([Atom.parse("p(a, b)"), Atom.parse("q(b)")])
    >>> why = explain(parse_program("h(X) :- p(X, Y), q(Y)."), facts, Atom.parse("h(a)"))
    >>> derived(Judged(why.atom, holds=True), why.firings[0]).terms
    ('a', 'b')
    """
    bound = dict(firing.bindings)
    return Prediction(
        text=str(judged.atom),
        holds=judged.holds,
        probability=firing.probability,
        split=judged.split,
        terms=tuple(str(bound.get(variable, variable)) for variable in firing.rule.variables),
        values=tuple(
            1 - premise.probability if premise.literal.negated else premise.probability
            for premise in firing.premises
        ),
    )


def rows_of(
    rules: Sequence[Rule], explainer: Explainer, atoms: Iterable[Judged], most: int = 200
) -> tuple[RuleRow, ...]:
    """A report's line for every rule, with those of the atoms that it derives, false ones first.

    What a rule alone explains is the share of true training atoms that it derives and no other rule does.

    Parameters
    ----------
    rules
        The program's rules, which the explainer knows.
    explainer
        Over the facts that the program reads.
    atoms
        What to explain, such as everything derived, or the test facts.
    most
        Predictions of a rule that are kept; the others are counted.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.logic import parse_program
    >>> facts = FactBase.from_facts([Atom.parse("p(a)"), Atom.parse("p(b)")])
    >>> rules = parse_program("h(X) :- p(X).")
    >>> judged = [Judged(Atom.parse("h(a)"), True), Judged(Atom.parse("h(b)"), False)]
    >>> (row,) = rows_of(rules.rules, Explainer(rules, facts), judged)
    >>> [prediction.text for prediction in row.predictions]
    ['h(b)', 'h(a)']
    """
    found: dict[Rule, list[Prediction]] = {rule: [] for rule in rules}
    only, stated = dict.fromkeys(rules, 0), 0
    for judged in atoms:
        firings = [
            firing
            for firing in explainer.explain(judged.atom, limit=1, depth=1).firings
            if firing.rule in found
        ]
        for firing in firings:
            found[firing.rule].append(derived(judged, firing))
        if judged.holds and judged.split == "train":
            stated += 1
            if len(firings) == 1:
                only[firings[0].rule] += 1
    rows = []
    for rule in rules:
        ranked = sorted(found[rule], key=lambda prediction: prediction.holds is not False)
        alone = only[rule] / stated if stated else None
        left = max(0, len(ranked) - most)
        rows.append(RuleRow(rule, alone, predictions=tuple(ranked[:most]), left_out=left))
    return tuple(rows)
