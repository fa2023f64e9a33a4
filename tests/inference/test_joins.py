"""Coverage by joins against every assignment of constants to variables."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.errors import LogicError
from andre.facts import FactBase
from andre.inference import covered_heads
from andre.logic import Atom, Constant, Literal, Rule, Variable, parse_atom, parse_rule

CONSTANTS = [Constant(name) for name in "abcd"]
X, Y, Z, W = map(Variable, "XYZW")


def brute_force(rule, facts, identity):
    heads = set()
    for values in product(CONSTANTS, repeat=len(rule.variables)):
        if identity and any(one == two for one, two in combinations(values, 2)):
            continue
        ground = rule.substitute(dict(zip(rule.variables, values, strict=True)))
        if all(holds(literal, ground.head, facts) for literal in ground.body):
            heads.add(ground.head)
    return heads


def holds(literal, head, facts):
    if literal.is_builtin:
        return (literal.atom.args[0] != literal.atom.args[1]) == (literal.atom.predicate == "\\=")
    if literal.negated:
        return literal.atom not in facts
    return literal.atom in facts and literal.atom != head


@st.composite
def cases(draw):
    pairs = st.tuples(st.sampled_from("pqh"), st.sampled_from(CONSTANTS), st.sampled_from(CONSTANTS))
    stated = [Atom(name, (one, two)) for name, one, two in draw(st.lists(pairs, min_size=1, max_size=20))]
    stated += [Atom("u", (one,)) for one in draw(st.lists(st.sampled_from(CONSTANTS), max_size=3))]
    terms = st.sampled_from([X, Y, Z, W, CONSTANTS[0]])
    binary = st.builds(lambda name, one, two: Atom(name, (one, two)), st.sampled_from("pqh"), terms, terms)
    unary = st.builds(lambda one: Atom("u", (one,)), terms)
    positive = draw(st.lists(binary | unary, min_size=1, max_size=3))
    bound = sorted({v for atom in positive for v in atom.variables})
    if not bound:
        positive.append(Atom("p", (X, Y)))
        bound = [X, Y]
    inside = st.sampled_from([*bound, CONSTANTS[1]])
    tests = st.builds(
        lambda name, one, two: Literal(Atom(name, (one, two)), negated=name in "pq"),
        st.sampled_from(["p", "q", "\\="]),
        inside,
        inside,
    )
    body = [*map(Literal, positive), *draw(st.lists(tests, max_size=2))]
    return Rule(Atom("h", (draw(inside), draw(inside))), tuple(body)), FactBase.from_facts(stated)


@settings(max_examples=200, deadline=None)
@given(cases(), st.booleans(), st.sampled_from([1, 3, 1000]))
def test_equal_to_brute_force(case, identity, block):
    rule, facts = case
    found = covered_heads(rule, facts, identity=identity, block=block)
    known = {facts.code(constant.value) for constant in CONSTANTS}
    expected = {
        tuple(-1 if facts.code(arg.value) is None else facts.code(arg.value) for arg in head.args)
        for head in brute_force(rule, facts, identity)
    }
    assert known
    assert set(map(tuple, found.tolist())) == expected
    assert len(found) == len(expected)


def test_a_head_is_no_evidence_for_itself():
    facts = FactBase.from_facts([parse_atom("h(a, b)"), parse_atom("h(b, b)")])
    assert not len(covered_heads(parse_rule("h(X, Y) :- h(X, Y)."), facts))
    found = covered_heads(parse_rule("h(X, Y) :- h(X, Z), h(Z, Y)."), facts)
    assert np.array(facts.constants)[found].tolist() == []


def test_what_cannot_be_counted():
    facts = FactBase.from_facts([parse_atom("p(1, 2)")])
    with pytest.raises(LogicError, match="bound nowhere"):
        covered_heads(parse_rule("h(X, Y) :- p(X, Z)."), facts)
    with pytest.raises(LogicError, match="only"):
        covered_heads(parse_rule("h(X, Y) :- p(X, Y), X < Y."), facts)
