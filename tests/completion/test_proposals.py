"""Rules that runs propose for the pool."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from tests.completion.bases import FAST, family

from andre.completion import complete
from andre.facts import FactBase
from andre.learning import ProposalConfig, informative_columns, propose, with_inequalities
from andre.logic import check_safe, parse_atom, parse_rule
from andre.samples import Sample


def test_more_head_atoms_than_are_looked_at_leave_the_clear_rules():
    rule = parse_rule("parent(X, Y) :- child(Y, X), X \\= Y.")
    assert rule in propose(family(), ProposalConfig(heads=60))


@pytest.fixture(scope="module")
def proposed():
    return propose(family())


def test_runs_propose_what_defines_a_relation(proposed):
    assert parse_rule("parent(X, Y) :- child(Y, X), X \\= Y.") in proposed
    config = FAST.model_copy(update={"short": False, "constants": 0, "chains": 0})
    report = complete(family(), config, extra=proposed).evaluate("test")
    assert report.mrr["pessimistic"] > 0.9


def test_proposals_read_training_facts_only_and_are_the_same_in_other_processes(proposed):
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        elsewhere = propose(family(test=False), executor=executor)
    assert proposed == elsewhere


def test_proposals_are_safe_apart_and_bounded():
    config = ProposalConfig(literals=2, rules=5)
    for rule in propose(family(), config):
        plain = [literal for literal in rule.body if not literal.is_builtin]
        assert 1 <= len(plain) <= 2
        assert with_inequalities(rule) == rule
        check_safe(rule)


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
