"""What a rule expects of a query, shared out among candidates; and what is proposed, against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from tests.completion.bases import FAST, large, small_bases

from andre.completion import Body, Graph, SizeConfig, complete
from andre.completion.bodies import _product, covered_pairs
from andre.completion.constants import _held_together
from andre.completion.directions import count_bodies
from andre.completion.features import Cells, features_of
from andre.completion.proposals import shared_steps
from andre.completion.scoring import answer_shares
from andre.facts import FactBase
from andre.logic import parse_atom


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_shares_of_a_query_are_what_its_rules_expect(seed, apart):
    rng = np.random.default_rng(seed)
    cells, bodies, queries = rng.integers(1, 12), rng.integers(1, 5), rng.integers(1, 4)
    ways = rng.integers(0, 3, (cells, bodies)).astype(float)
    query = np.sort(rng.integers(queries, size=cells))
    expected, own = rng.random(bodies), rng.random(bodies)
    is_own = rng.random(cells) < 0.5
    table = Cells(np.arange(queries), query, np.arange(cells), csr_matrix(ways))
    found = answer_shares(table, expected, (is_own, own) if apart else None)
    for cell in range(cells):
        shares = []
        for body in np.flatnonzero(ways[cell]):
            value = own[body] if apart and is_own[cell] else expected[body]
            shares.append(value * ways[cell, body] / ways[query == query[cell], body].sum())
        assert found[cell, 0] == pytest.approx(max(shares, default=0.0))
        wrong = np.prod([1 - min(share, 1 - 1e-6) for share in shares])
        assert found[cell, 1] == pytest.approx(1 - wrong)


@settings(max_examples=60, deadline=None)
@given(small_bases, st.data())
def test_bodies_fire_from_the_starts_that_they_lead_on_from(facts, data):
    graph = Graph.of(facts)
    step = data.draw(st.integers(0, graph.n_steps - 1))
    numbers = st.integers(0, graph.n_steps - 1)
    steps = data.draw(st.lists(st.lists(numbers, min_size=1, max_size=3).map(tuple), min_size=1, unique=True))
    bodies = [Body("path", one) for one in steps]
    has_answer = graph.has_answer(step)
    covered = [covered_pairs(body, graph) for body in bodies]
    expected = {
        body: len({key // graph.n for key in keys.tolist() if has_answer[key // graph.n]})
        for body, (keys, _) in zip(bodies, covered, strict=True)
    }
    rows, _ = count_bodies(graph, step, bodies, {}, FAST.sizes)
    assert dict(zip(rows.bodies, rows.fires.tolist(), strict=True)) == {
        body: count for body, count in expected.items() if count
    }
    held = features_of(bodies, covered, graph, step)
    assert dict(zip(held.bodies, held.fires.tolist(), strict=True)) == expected


def test_a_rule_says_more_where_it_says_it_of_few():
    """By turns one of two rules covers the right answer alone, and the other ten wrong ones."""
    rows, marks = [], []
    for i in range(60):
        narrow, wide = ("p", "q") if i % 2 else ("q", "p")
        rows += [f"h(x{i}, y{i})", f"{narrow}(x{i}, y{i})"]
        rows += [f"{wide}(x{i}, z{i}_{other})" for other in range(10)]
        # Each is right as often where it covers many, so that no weight for all starts tells them apart.
        rows += [f"h(v{i}, u{i}_0)", *(f"{wide}(v{i}, u{i}_{other})" for other in range(10))]
        marks += ["valid" if i % 6 == 0 else "train", *["train"] * 22]
    facts = FactBase.from_facts(map(parse_atom, rows), marks=marks)
    sizes = SizeConfig(small=0, table=0)
    done = complete(facts, large(constants=0, chains=0, aggregators=("maximum", "weights"), sizes=sizes))
    by = {choice.aggregator: choice.mrr for choice in done.choices}
    assert by["weights"] > 0.9 > by["maximum"]


def test_weights_of_shares_do_not_grow_against_those_of_the_best_rules():
    """A rule that is always right tells true from false by its confidence as by its share."""
    rows = [f"h(x{i}, y{i})" for i in range(80)] + [f"p(y{i}, x{i})" for i in range(80)]
    rows += [f"q(x{i}, y{(i * 7 + j) % 80})" for i in range(80) for j in range(5)]
    config = large(constants=0, chains=0, aggregators=("weights",), sizes=SizeConfig(small=0, table=0))
    done = complete(FactBase.from_facts(map(parse_atom, rows)), config)
    assert all(np.abs(weights[-2:]).max() < 10 for weights in done.scorer.weights.values())


@settings(max_examples=60, deadline=None)
@given(small_bases, st.data())
def test_shared_steps_are_those_that_connect_facts_by_likeness(facts, data):
    graph = Graph.of(facts)
    step = data.draw(st.integers(0, graph.n_steps - 1))
    pairs = graph.pairs(step, "train")
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if not len(pairs):
        return
    least = data.draw(st.integers(1, 2))
    expected = []
    for one in range(graph.n_steps):
        keys, _ = covered_pairs(Body("path", (one, graph.inverse(one), step)), graph)
        if sum(int(x * graph.n + y in set(keys.tolist())) for x, y in pairs.tolist()) >= least:
            expected.append(one)
    assert shared_steps(graph, step, pairs, least) == expected


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_what_starts_have_together_is_a_product(seed, least):
    rng = np.random.default_rng(seed)
    target, literals = (rng.random((6, width)) < 0.5 for width in (6, 9))
    found = _held_together(csr_matrix(target.astype(float)), csr_matrix(literals.astype(float)), least)
    both = target.T.astype(int) @ literals  # [6, 9]
    n_b = target.any(axis=1).astype(int) @ literals
    expected = [(c, e, n_b[e], both[c, e]) for c, e in np.argwhere(both >= least)]
    assert list(zip(*(part.tolist() for part in found), strict=True)) == expected


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 400))
def test_listed_terms_make_the_same_product(seed, n):
    rng = np.random.default_rng(seed)
    walks = csr_matrix(rng.integers(0, 2, (3, n)) * (rng.random((3, n)) < 2 / n), dtype=np.float32)
    step = csr_matrix(rng.random((n, n)) < 1 / n, dtype=np.float32)
    assert np.array_equal(_product(walks, step).toarray(), walks.toarray() @ step.toarray())
