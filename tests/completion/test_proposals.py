"""Rules that runs propose for the pool."""

from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import permutations, product
from multiprocessing import get_context

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.completion.bases import FAST, family

from andre.completion import Body, CompletionConfig, as_rule, complete
from andre.facts import FactBase
from andre.learning import ProposalConfig, informative_columns, propose, with_inequalities
from andre.learning.descent.extraction import likeliest_bodies
from andre.logic import check_safe, parse_atom, parse_rule
from andre.samples import Sample

QUICK = ProposalConfig(parts=2, restarts=2, steps=60)


def test_more_head_atoms_than_are_looked_at_leave_the_clear_rules():
    rule = parse_rule("parent(X, Y) :- child(Y, X), X \\= Y.")
    assert rule in propose(family(), QUICK.model_copy(update={"heads": 60}))


@pytest.fixture(scope="module")
def proposed():
    return propose(family(), QUICK)


def test_runs_propose_what_defines_a_relation(proposed):
    assert parse_rule("parent(X, Y) :- child(Y, X), X \\= Y.") in proposed
    config = FAST.model_copy(update={"short": False, "constants": 0, "chains": 0})
    report = complete(family(), config, extra=proposed).evaluate("test")
    assert report.mrr["pessimistic"] > 0.9


def test_proposals_read_training_facts_only_and_are_the_same_in_other_processes(proposed):
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        elsewhere = propose(family(test=False), QUICK, executor)
    assert proposed == elsewhere


def test_proposals_are_safe_apart_and_bounded():
    config = QUICK.model_copy(update={"literals": 2, "rules": 5, "confident": 3})
    found = propose(family(), config)
    assert max(Counter(rule.head.predicate for rule in found if size(rule) > 1).values()) <= 8
    for rule in found:
        plain = [literal for literal in rule.body if not literal.is_builtin]
        assert 1 <= len(plain) <= 2
        assert with_inequalities(rule) == rule
        check_safe(rule)


def size(rule):
    return sum(not literal.is_builtin for literal in rule.body)


def test_what_excludes_the_head_is_proposed_and_ranks_last():
    """Of two colours a pair has one, and which cannot be told but by the other."""
    rng = np.random.default_rng(0)
    pairs = [(one, two) for one in range(12) for two in range(12) if one != two]
    rows = [f"{rng.choice(['red', 'blue'])}(c{one}, c{two})" for one, two in pairs]
    facts = FactBase.from_facts(map(parse_atom, rows))
    against = parse_rule("red(X, Y) :- blue(X, Y), X \\= Y.")
    assert against in propose(facts, QUICK)
    config = CompletionConfig(short=False, constants=0, chains=0, aggregators=("weights",))
    done = complete(facts, config, extra=[against])
    step = done.graph.relations.index("red")
    assert done.scorer.weights[step][0] < 0


def test_chains_are_found_beside_literals_that_tell_all():
    """tail is next turned round, and also two steps of half: runs that see the first alone miss the chain."""
    rows = [f"next(a{i}, a{i + 1})" for i in range(20)] + [f"tail(a{i + 1}, a{i})" for i in range(20)]
    rows += [f"half(a{i + 1}, m{i})" for i in range(20)] + [f"half(m{i}, a{i})" for i in range(20)]
    found = propose(FactBase.from_facts(map(parse_atom, rows)), QUICK)
    assert parse_rule("tail(X, Y) :- next(Y, X), X \\= Y.") in found
    assert parse_rule("tail(X, Y) :- half(X, Z), half(Z, Y), X \\= Y, X \\= Z, Y \\= Z.") in found


def test_a_given_rule_of_one_literal_is_what_enumeration_would_have_found():
    rules = [
        parse_rule(f"{one}(X, Y) :- {two}(Y, X), X \\= Y.") for one, two in permutations(("child", "parent"))
    ]
    enumerated = complete(family(), FAST.model_copy(update={"bodies": 1, "confident": 0, "constants": 0}))
    by_hand = complete(family(), FAST.model_copy(update={"short": False, "constants": 0, "chains": 0}), rules)
    for step, features in by_hand.features.items():
        for body in features.bodies:
            assert isinstance(body, Body)
            assert body in enumerated.features[step].bodies
            assert as_rule(body, by_hand.graph, step, by_hand.facts) in rules


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_the_likeliest_bodies_have_the_highest_chances(seed, most):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(2, 3, 3)).astype(np.float32)
    bodies = np.array([code for code in product((-1, 0, 1), repeat=3) if any(code)], dtype=np.int8)
    chance = np.log(np.exp(weights) / np.exp(weights).sum(axis=2, keepdims=True))  # [2, 3, 3]
    best = set()
    for subrule in chance:
        of = [
            sum(own[{1: 0, -1: 1, 0: 2}[code]] for own, code in zip(subrule, body, strict=True))
            for body in bodies.tolist()
        ]
        best |= {tuple(bodies[place]) for place in np.argsort(-np.array(of))[:most]}
    found = likeliest_bodies(torch.as_tensor(weights), bodies, most)
    assert {tuple(body) for body in found} == best
    assert not len(likeliest_bodies(torch.as_tensor(weights), bodies, 0))


def test_drawn_columns_are_rather_those_that_tell_labels_apart():
    rng = np.random.default_rng(0)
    label = rng.random(200) < 0.5
    sample = Sample.from_arrays(np.column_stack([rng.random((200, 8)) < 0.5, label, ~label]), label)
    drawn = np.array([informative_columns(sample, 2, np.random.default_rng(seed)) for seed in range(200)])
    assert (drawn.sum(axis=1) == 2).all()
    often = drawn.mean(axis=0)
    assert often[8:].min() > 0.5 > often[:8].max() > 0


def test_informative_columns_are_those_that_tell_labels_apart():
    rng = np.random.default_rng(0)
    label = rng.random(200) < 0.5
    noise = rng.random((200, 5)) < 0.5
    sample = Sample.from_arrays(np.column_stack([noise, label, ~label]), label)
    assert np.flatnonzero(informative_columns(sample, 2)).tolist() == [5, 6]
    assert informative_columns(sample, 7).all()


def hub_graph(seed, n=40):
    """Constants that are linked to one hub, whose pairs have many more rows than `rows` below allows."""
    rng = np.random.default_rng(seed)
    facts = {f"likes(x{i}, hub)" for i in range(0, n, 2)} | {f"fans(hub, x{i})" for i in range(0, n, 2)}
    for name in "abcd":
        facts |= {f"{name}(hub, x{i})" for i in range(n) if rng.random() < 0.5}
        facts |= {f"{name}(x{i}, x{j})" for i, j in rng.integers(0, n, (60, 2))}
    return FactBase.from_facts(map(parse_atom, sorted(facts)))


@pytest.mark.parametrize("rows", [2, 20])
def test_a_hub_does_not_keep_runs_from_proposing(rows):
    """Where every bag is larger than the budget, there were no examples, and nothing was proposed."""
    config = ProposalConfig(steps=20, restarts=1, subrules=(2,), rows=rows)
    found = propose(hub_graph(0), config)
    assert {rule.head.predicate for rule in found} >= {"likes", "fans"}
    if rows == 20:
        assert parse_rule("likes(X, Y) :- fans(Y, X), X \\= Y.") in found
