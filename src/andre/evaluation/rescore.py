"""Old rules on new facts: what each of them covers there."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from andre.facts import FactBase, Relation
from andre.facts.distinct import row_keys
from andre.inference import Engine, infer
from andre.logic import Atom, Evidence, Literal, Program, Rule, Variable

__all__ = ["rescore"]


def rescore(
    program: Program, facts: FactBase, split: str = "train", *, engine: str | Engine = "auto"
) -> Program:
    """Count N_b and N_r of every rule anew.

    A body is read off the facts in one step, those of the rule's own head
    among them, but no grounding counts the very atom it derives as evidence.
    Where some atoms of a head are denied, only stated and denied ones count.
    A rule's own probability says nothing about its body and is kept as it is.

    Parameters
    ----------
    facts
        The facts to count on, whatever their marks.
    split
        What the counts are called; counts of other splits stay.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_program
    >>> facts = FactBase.from_facts(map(parse_atom, ["p(a,b)", "p(b,c)", "p(a,c)", "p(c,d)"]))
    >>> rules = rescore(parse_program("p(X,Y) :- p(X,Z), p(Z,Y)."), facts)
    >>> print(rules.rules[0].on("train"))
    train: N_b=3, N_r=1, N_r/N_b=0.3333
    """
    heads = [f"{rule.head.predicate} by rule {number}" for number, rule in enumerate(program)]
    parts = [part for rule, name in zip(program, heads, strict=True) for part in _unsupported(rule, name)]
    model = infer(Program(tuple(parts)), facts, engine=engine)
    counted = []
    for rule, name in zip(program, heads, strict=True):
        found = model.derived.relations.get((name, rule.head.arity))
        rows = np.empty((0, rule.head.arity), dtype=np.int32) if found is None else found.codes
        if found is not None and found.probability is not None:
            rows = rows[found.probability > 0.5]
        key = rule.head.predicate, rule.head.arity
        rows = _judged(rows, model.stated.relations.get(key), len(model.stated.constants))
        right = int((model.probabilities(key, rows) > 0.5).sum())
        others = [item for item in rule.evidence if item.split != split]
        counted.append(rule.with_evidence(Evidence(split, float(len(rows)), float(right)), *others))
    return Program(tuple(counted))


def _judged(rows: NDArray[Any], known: Relation | None, n_constants: int) -> NDArray[Any]:
    """The rows that say anything about a rule: all in a closed world, else those that are stated."""
    if known is None or known.negative is None:
        return rows
    keys = row_keys(np.concatenate([known.codes, rows]), n_constants)
    kept: NDArray[Any] = rows[np.isin(keys[len(known) :], keys[: len(known)])]
    return kept


def _unsupported(rule: Rule, name: str) -> list[Rule]:
    """The rule under another head, so that no grounding reads the atom it derives: in parts, if need be."""
    key = (rule.head.predicate, rule.head.arity)
    own = [lit for lit in rule.body if (lit.atom.predicate, lit.atom.arity) == key]
    # An atom differs from the head where one of its arguments does.
    ways = []
    for literal in own:
        both = zip(literal.atom.args, rule.head.args, strict=True)
        ways.append([pair for pair in both if pair[0] != pair[1]])
    head = Atom(name, rule.head.args)
    parts = []
    for way in product(*ways):
        apart = tuple(
            Literal(Atom("\\=", pair))
            for pair in dict.fromkeys(way)
            if any(isinstance(t, Variable) for t in pair)
        )
        parts.append(Rule(head, rule.body + apart))
    return parts
