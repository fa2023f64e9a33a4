"""Single rules judged by the head atoms that they derive in one step: their evidence, and ranks by it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from andre.arrays import Ints, is_among
from andre.evaluation.ranks import RankReport, Ranks, filtered_ranks
from andre.facts import FactBase, Key, Relation
from andre.inference import BodyEvaluator, Engine, infer
from andre.logic import Evidence, Program

#: Scores of queries by candidates that are held at once.
_BLOCK = 20_000_000


def smoothed_confidence(n_b: ArrayLike, n_r: ArrayLike, c: float = 5.0) -> NDArray[Any]:
    """The confidence N_r / (N_b + c) of rules: few groundings count as less certain.

    Examples
    --------
    >>> smoothed_confidence(np.array([5.0, 95.0]), np.array([5.0, 95.0]))
    array([0.5 , 0.95])
    """
    return np.asarray(n_r) / np.maximum(np.asarray(n_b) + c, 1e-9)


def rescore(
    program: Program, facts: FactBase, split: str = "train", *, engine: str | Engine = "auto"
) -> Program:
    """Count N_b and N_r of every rule anew.

    A body is read off the facts in one step, those of the rule's own head
    among them, but no grounding counts the very atom it derives as evidence,
    be it stated or denied. Where some atoms of a head are denied, or the world
    is open, only stated and denied ones count. A rule's own probability says
    nothing about its body and is kept as it is.

    Parameters
    ----------
    facts
        The facts to count on; uncertain ones hold above one half.
    split
        What the counts are called; counts of other splits stay. On `train` only training
        facts count, on another split all facts do, whatever their marks.
    engine
        What runs the background rules of the facts.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_program
    >>> facts = FactBase.from_facts(map(parse_atom, ["p(a,b)", "p(b,c)", "p(a,c)", "p(c,d)"]))
    >>> rules = rescore(parse_program("p(X,Y) :- p(X,Z), p(Z,Y)."), facts)
    >>> print(rules.rules[0].on("train"))
    train: N_b=3, N_r=1, N_r/N_b=0.3333
    """
    chosen = facts.select("train") if split == "train" else facts
    known = infer(Program(), chosen, engine=engine).stated
    auxiliary = auxiliary_rules(program, known)
    bodies = BodyEvaluator(_with_rules(known, auxiliary, engine), likely=True, own_denial=False)
    counted = []
    for rule in program:
        if rule in auxiliary.rules:  # it says what its head means, and is never wrong
            counted.append(rule)
            continue
        heads, key = bodies.cover(rule).heads, rule.head.key
        relation = known.relations.get(key)
        if relation is None:
            heads = heads[:0] if known.world == "open" else heads
        elif relation.negative is not None or known.world == "open":
            heads = heads[is_among(heads, relation.codes, bodies.n_codes)]
        right = is_among(heads, bodies.rows(key), bodies.n_codes).sum()
        others = [item for item in rule.evidence if item.split != split]
        counted.append(rule.with_evidence(Evidence(split, float(len(heads)), float(right)), *others))
    return Program(tuple(counted))


def auxiliary_rules(program: Program, facts: FactBase) -> Program:
    """The rules of predicates that no fact has and that rules of others read: what was invented.

    Examples
    --------
    >>> from andre.logic import parse_atom, parse_program
    >>> program = parse_program("h(X) :- inv(X, X). inv(X, Y) :- p(X, Y). inv(X, Y) :- p(X, Z), inv(Z, Y).")
    >>> print(auxiliary_rules(program, FactBase.from_facts([parse_atom("p(a, a)"), parse_atom("h(a)")])))
    inv(X, Y) :- p(X, Y).
    inv(X, Y) :- p(X, Z), inv(Z, Y).
    """
    read = {lit.atom.key for rule in program for lit in rule.body if lit.atom.key != rule.head.key}
    return Program(tuple(r for r in program if r.head.key in read and r.head.key not in facts.relations))


def _with_rules(facts: FactBase, rules: Program, engine: str | Engine = "auto") -> FactBase:
    """The facts with what rules derive from them."""
    return infer(rules, facts, engine=engine).facts if len(rules) else facts


def rank_by_rules(rules: Program, facts: FactBase, key: Key) -> RankReport | None:
    """Filtered ranks of a binary relation's test facts by rules; None where there is no such fact or rule.

    Both arguments are asked for in turn. A candidate scores the smoothed
    confidence of the surest rule that derives it in one step from the training
    facts.

    Parameters
    ----------
    rules
        Of this relation, with evidence on train, and of predicates that were invented for it.

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
    train = facts.select("train")
    bodies = BodyEvaluator(_with_rules(train, auxiliary_rules(rules, facts)))
    rules = Program(tuple(rule for rule in rules if rule.head.key == key))
    counts = [rule.on("train") or Evidence("train", 0, 0) for rule in rules]
    covered = [
        (float(smoothed_confidence(seen.n_b, seen.n_r)), bodies.cover(rule).heads)
        for seen, rule in zip(counts, rules, strict=True)
    ]
    parts = [
        _side([(sure, pairs[:, order]) for sure, pairs in covered], relation, order, len(facts.constants))
        for order in ([0, 1], [1, 0])
    ]
    return RankReport.from_ranks(Ranks.concat(parts))


def _side(covered: list[tuple[float, Ints]], relation: Relation, order: list[int], n: int) -> Ranks:
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
            row, candidate = _starting(starts, found[found[:, 1] < n])
            scores[row, candidate] = np.maximum(scores[row, candidate], sure)
        known = np.zeros((len(starts), n), dtype=np.bool_)
        known[_starting(starts, pairs)] = True
        parts.append(filtered_ranks(scores[query], some[:, 1], known[query]))
    return Ranks.concat(parts)


def _starting(starts: Ints, pairs: Ints) -> tuple[Ints, Ints]:
    """Of the pairs that begin with one of these, in order: the place of that one, and the other end."""
    place = np.searchsorted(starts, pairs[:, 0]).clip(max=len(starts) - 1)
    hit = starts[place] == pairs[:, 0]
    return place[hit], pairs[hit, 1]
