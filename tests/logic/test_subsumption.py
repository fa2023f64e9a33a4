"""Subsumption agrees with trying every substitution."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andre.errors import LogicError
from andre.logic import Atom, Constant, Literal, Rule, Variable, check_safe, parse_rule, subsumes
from andre.logic.compare import subsumption

terms = st.one_of(st.sampled_from([Variable("X"), Variable("Y"), Variable("Z")]), st.just(Constant("a")))
atoms = st.one_of(
    st.builds(Atom, st.just("p"), st.tuples(terms, terms)), st.builds(Atom, st.just("q"), st.tuples(terms))
)
heads = st.builds(Atom, st.just("h"), st.tuples(terms))
rules = st.builds(
    Rule,
    heads,
    st.lists(st.builds(Literal, atoms, st.sampled_from([False, False, True])), max_size=4).map(tuple),
)


def by_force(general: Rule, specific: Rule) -> bool:
    targets = {*specific.head.args, *(arg for literal in specific.body for arg in literal.atom.args)}
    for values in product(targets, repeat=len(general.variables)):
        image = general.substitute(dict(zip(general.variables, values, strict=True)))
        if image.head == specific.head and set(image.body) <= set(specific.body):
            return True
    return False


@given(rules, rules)
def test_subsumption_is_what_force_finds(general: Rule, specific: Rule) -> None:
    assert subsumes(general, specific) == by_force(general, specific)


@given(rules, rules)
def test_the_substitution_is_a_witness(general: Rule, specific: Rule) -> None:
    theta = subsumption(general, specific)
    if theta is not None:
        image = general.substitute(theta)
        assert image.head == specific.head
        assert set(image.body) <= set(specific.body)


@given(rules)
def test_a_rule_subsumes_itself_and_what_is_longer(rule: Rule) -> None:
    assert subsumes(rule, rule)
    assert subsumes(rule, Rule(rule.head, (*rule.body, Literal(Atom("extra")))))


def test_long_bodies_need_no_recursion() -> None:
    chain = ", ".join(f"p(X{n}, X{n + 1})" for n in range(300))
    assert subsumes(parse_rule(f"h(X0) :- {chain}"), parse_rule("h(Y) :- p(Y, Y)"))
    assert not subsumes(parse_rule(f"h(X0) :- {chain}"), parse_rule("h(Y) :- p(Y, Z)"))


@given(rules)
def test_safe_rules_are_those_whose_variables_are_all_bound(rule: Rule) -> None:
    bound = {arg for literal in rule.body if not literal.negated for arg in literal.atom.args}
    free = [variable for variable in rule.variables if variable not in bound]
    if not free:
        check_safe(rule)
    else:
        with pytest.raises(LogicError, match=f"^{', '.join(map(str, free))} (is|are) free"):
            check_safe(rule)


def test_a_comparison_binds_nothing() -> None:
    with pytest.raises(LogicError, match="Y is free"):
        check_safe(parse_rule("h(X) :- p(X), X < Y"))


def test_a_search_that_would_take_for_ever_is_given_up() -> None:
    def clique(size: int, without: int = 0) -> str:
        pairs = [(a, b) for a in range(size) for b in range(size) if a != b]
        return f"h :- {', '.join(f'e(P{a}, P{b})' for a, b in pairs[without:])}."

    assert not subsumes(parse_rule(clique(9)), parse_rule(clique(9, without=1)))
    assert subsumes(parse_rule(clique(3)), parse_rule(clique(9)))
