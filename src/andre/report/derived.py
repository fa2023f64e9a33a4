"""Derivations as predictions of a report: what a program derives from facts, and by which grounding."""

from __future__ import annotations

from andre.inference.explain import Firing
from andre.logic import Atom
from andre.report.page import Prediction

__all__ = ["derived"]


def derived(atom: Atom, firing: Firing, *, holds: bool | None = None, split: str = "") -> Prediction:
    """An atom that a rule derives, with the constants its variables stand for.

    Parameters
    ----------
    atom
        What is derived.
    firing
        How, as an `Explanation` gives it.
    holds
        Whether it is true, where that is known.
    split
        The facts it was looked up in.

    Examples
    --------
    >>> from andre.facts import FactBase
    >>> from andre.inference import explain
    >>> from andre.logic import parse_program
    >>> facts = FactBase.from_facts([Atom.parse("p(a, b)"), Atom.parse("q(b)")])
    >>> why = explain(parse_program("h(X) :- p(X, Y), q(Y)."), facts, Atom.parse("h(a)"))
    >>> derived(why.atom, why.firings[0], holds=True).terms
    ('a', 'b')
    """
    bound = dict(firing.bindings)
    return Prediction(
        text=str(atom),
        holds=holds,
        probability=firing.probability,
        split=split,
        terms=tuple(str(bound.get(variable, variable)) for variable in firing.rule.variables),
        values=tuple(
            1 - premise.probability if premise.literal.negated else premise.probability
            for premise in firing.premises
        ),
    )
