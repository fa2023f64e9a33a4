"""Weights of rules: the loss, its slope, and what they are learned from."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from tests.completion.bases import FAST, small_bases

from andre.completion import Body, Graph, Scorer, SizeConfig, complete
from andre.completion.bodies import covered_pairs
from andre.completion.features import StoredFeatures, features_of
from andre.completion.scoring import FiredRules, best_confidences
from andre.completion.weights import RankingLoss, learn_weights, training_queries
from andre.facts import FactBase, Relation
from andre.logic import parse_atom, parse_rule
from andre.newton import TOLERANCE, fit_weights


@st.composite
def problems(draw):
    """A loss with a few queries, some of them without a true or a false candidate, and penalties."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cells, count = draw(st.integers(1, 40)), draw(st.integers(1, 12))
    inputs = rng.random((cells, count)) * 3 * (rng.random((cells, count)) < draw(st.floats(0.1, 1)))
    query = np.sort(rng.integers(0, 5, cells))
    others = rng.integers(0, 9, 5) * (rng.random(5) < 0.7)
    penalties = draw(st.sampled_from([0.01, 1.0, 30.0])) * rng.choice([1e-3, 0.1, 1], count)
    return RankingLoss(inputs, query, rng.random(cells) < 0.4, others.astype(float)), penalties


@settings(max_examples=50, deadline=None)
@given(problems())
def test_sparse_inputs_have_the_second_derivatives_of_dense_ones(problem) -> None:
    loss, penalties = problem
    full = loss.inputs.copy()
    full[:, 0] = 1 + np.arange(len(full))  # a column that every cell has an entry in
    weights = np.linspace(-1, 1, len(penalties))
    dense = replace(loss, inputs=full).curvature(weights).table()
    sparse = replace(loss, inputs=csr_matrix(full)).curvature(weights).table()
    assert sparse == pytest.approx(dense, rel=1e-9, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(problems(), st.integers(0, 10_000))
def test_slope_and_curvature_of_the_loss_are_right(problem, seed):
    loss, _ = problem
    count = loss.inputs.shape[1]
    at = np.random.default_rng(seed).normal(size=count)
    slope, curvature = loss(at)[1], loss.curvature(at).table()
    for place in range(count):
        step = np.eye(count)[place] * 1e-5
        (above, slope_above), (below, slope_below) = loss(at + step), loss(at - step)
        assert slope[place] == pytest.approx((above - below) / 2e-5, abs=1e-6)
        assert curvature[place] == pytest.approx((slope_above - slope_below) / 2e-5, abs=1e-6)


@settings(max_examples=80, deadline=None)
@given(problems(), st.booleans(), st.sampled_from([None, 0, 10**9]), st.integers(0, 10_000))
def test_weights_are_where_no_slope_is_left(problem, non_negative, pairs, seed):
    """The conditions of Karush, Kuhn and Tucker; the loss is convex, so there is nothing better."""
    loss, penalties = problem
    if pairs is not None:
        loss = replace(loss, inputs=csr_matrix(loss.inputs))
    start = np.random.default_rng(seed).normal(size=len(penalties)) * 3
    weights = fit_weights(loss, penalties, start, non_negative=non_negative, pairs=pairs or 0)
    slope = loss(weights)[1] + 2 * penalties * weights
    if non_negative:
        assert (weights >= 0).all()
        assert (slope >= -TOLERANCE).all()
        slope = slope[weights > TOLERANCE]
    assert np.abs(slope).max(initial=0) <= TOLERANCE


def test_a_fit_ends_where_steps_lead_nowhere():
    true = RankingLoss(np.eye(2), np.zeros(2, dtype=np.int64), np.array([True, False]), np.zeros(1))
    asked = 0

    class Uphill:
        """A loss whose slope points the wrong way: no step is short enough to gain anything."""

        pairs = 0

        def __call__(self, weights):
            nonlocal asked
            asked += 1
            value, slope = true(weights)
            return value, -100 * slope

        def curvature(self, weights):
            return true.curvature(weights)

    start = np.array([0.5, -0.5])
    found = fit_weights(Uphill(), np.full(2, 1e-6), start)
    assert asked < 200
    assert found == pytest.approx(start, abs=1e-3)


@settings(max_examples=40, deadline=None)
@given(problems(), st.booleans(), st.integers(0, 10_000))
def test_weights_do_not_depend_on_the_order_of_sums_nor_on_the_start(problem, non_negative, seed):
    """Other orders of rules and candidates round otherwise, as another BLAS or more threads would."""
    loss, penalties = problem
    rng, count = np.random.default_rng(seed), len(penalties)
    columns = rng.permutation(count)
    rows = np.lexsort((rng.random(len(loss.query)), loss.query))
    turned = RankingLoss(loss.inputs[np.ix_(rows, columns)], loss.query, loss.true[rows], loss.others)
    one = fit_weights(loss, penalties, np.zeros(count), non_negative=non_negative)
    if rng.random() < 0.5:
        turned = replace(turned, inputs=csr_matrix(turned.inputs))
    two = fit_weights(turned, penalties[columns], rng.normal(size=count), non_negative=non_negative)
    # Where the gradient is at most the tolerance, weights are off by so much over the least curvature.
    assert one[columns] == pytest.approx(two, abs=TOLERANCE / penalties.min())


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.5, 20))
def test_weights_are_learned_from_confidences_without_the_fact_itself(seed, smoothing):
    rng = np.random.default_rng(seed)
    n, count = 5, 4
    covered = (rng.random((count, n * n)) < 0.4).astype(np.float32)
    true = rng.random(n * n) < 0.3
    features = StoredFeatures(
        graph=Graph((), n, *np.zeros((3, 0, 3), dtype=np.int64)),
        step=0,
        bodies=(Body("path", (0,)),) * count,
        n_b=covered.sum(axis=1).astype(float),
        n_r=covered[:, true].sum(axis=1).astype(float),
        fires=covered.reshape(count, n, n).any(axis=2).sum(axis=1).astype(float),
        keys=np.arange(n * n),
        groundings=csr_matrix(covered),
        answers=np.zeros(n),
    )
    found = features.cells(np.arange(n), np.arange(n * n))
    cells = found.starts[found.query] * n + found.candidate
    own = (true[cells], features.leave_one_out_confidence(smoothing))
    best = best_confidences(found.groundings, features.confidence(smoothing), count, own)
    for cell, found in zip(cells.tolist(), best, strict=True):
        others = np.arange(n * n) != cell if true[cell] else np.ones(n * n, dtype=bool)
        right, all_ = covered[:, others & true].sum(axis=1), covered[:, others].sum(axis=1)
        expected = np.where(covered[:, cell] > 0, right / (all_ + smoothing), 0)
        assert found == pytest.approx(np.sort(expected)[::-1])


@settings(max_examples=25, deadline=None)
@given(small_bases, st.booleans())
def test_no_fact_speaks_for_itself_while_weights_are_learned(facts, dense):
    graph, depth = Graph.of(facts), 3
    bodies = [Body("path", (step,)) for step in range(graph.n_steps)]
    features = features_of(bodies, [covered_pairs(body, graph) for body in bodies], graph, 0)
    scorer, losses = Scorer("weights", 5.0, depth, table=10**9 if dense else 0), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("andre.completion.weights.fit_weights", lambda loss, *_, **__: losses.append(loss))
        learn_weights(graph, features, scorer, FAST)
    stated = set(map(tuple, graph.pairs(0, "train").tolist()))
    covered = {key: features.groundings[:, at].toarray()[:, 0] > 0 for at, key in enumerate(features.keys)}
    expected = []
    for query, x in enumerate(sorted({x for x, _ in stated})):
        for y in range(graph.n):
            own = int((x, y) in stated)
            fires = covered.get(x * graph.n + y, np.zeros(graph.n_steps, dtype=bool))
            if dense or own or fires.any():
                sure = ((features.n_r - own).clip(0) / (features.n_b - own + 5.0))[fires]
                best = sum(
                    1e-3**place * value for place, value in enumerate(np.sort(sure)[: -depth - 1 : -1])
                )
                popularity = features.answers[y] - own if dense or fires.any() else 0
                expected.append((query, own, np.log1p(best / 0.01), np.log1p(popularity)))
    inputs = losses[0].inputs if dense else losses[0].inputs.toarray()
    found = np.column_stack([losses[0].query, losses[0].true, inputs[:, -4:-2]])  # before shares
    for column in (2, 3):
        one, two = (
            np.array(sorted(rows[:, [0, 1, column]].tolist())) for rows in (found, np.array(expected))
        )
        assert one == pytest.approx(two, abs=1e-4)


@settings(max_examples=25, deadline=None)
@given(problems(), st.integers(0, 10_000))
def test_sparse_inputs_give_the_same(problem, seed):
    whole, _ = problem
    sparse = replace(whole, inputs=csr_matrix(whole.inputs))
    weights = np.random.default_rng(seed).normal(size=whole.inputs.shape[1])
    assert whole(weights)[0] == pytest.approx(sparse(weights)[0])
    assert whole(weights)[1] == pytest.approx(sparse(weights)[1], abs=1e-9)
    tables = [one.curvature(weights).table() for one in (whole, sparse)]
    assert tables[0] == pytest.approx(tables[1], abs=1e-9)
    vector = np.random.default_rng(seed).normal(size=len(weights))
    for one in (whole, sparse):
        assert one.curvature(weights).times(vector) == pytest.approx(tables[0] @ vector, abs=1e-9)
        assert (one.curvature(weights).bound() >= np.diag(tables[0]) - 1e-9).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_weights_score_what_they_were_learned_from(seed, dense):
    rng = np.random.default_rng(seed)
    groundings = csr_matrix((rng.integers(0, 3, (20, 6)) * (rng.random((20, 6)) < 0.5)).astype(np.float32))
    popularity = rng.integers(0, 5, 20).astype(float)
    fired = FiredRules(groundings, rng.random((20, 4)), popularity, rng.random((20, 2)), dense)
    weights = rng.normal(size=6 + 5)
    assert fired.weighted(weights) == pytest.approx(fired.inputs() @ weights, abs=1e-6)


def test_candidates_that_have_an_answer_fall_behind_in_large_bases():
    # Everyone is near a thing of their own and one of their neighbour's; a thing has one owner.
    rows, marks = [], []
    for i in range(40):
        rows += [f"near(x{i}, y{i})", f"near(x{i}, y{(i + 1) % 40})", f"owns(x{i}, y{i})"]
        marks += ["train", "train", "valid" if i % 8 == 0 else "train"]
    changes = {"constants": 0, "aggregators": ("maximum", "weights"), "sizes": SizeConfig(table=0)}
    config = FAST.model_copy(update=changes)
    done = complete(FactBase.from_facts(map(parse_atom, rows), marks=marks), config)
    by = {choice.aggregator: choice.mrr for choice in done.choices}
    assert by["weights"] == 1.0 > by["maximum"]


def test_a_target_without_rules_takes_no_room_in_a_large_base():
    """Not every candidate of every query gets a cell because no body says anything about it."""
    n = 7_000
    pairs = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    facts = FactBase.from_relations(range(n), [Relation("p", pairs), Relation("q", pairs[::7])])
    config = FAST.model_copy(update={"short": False, "constants": 0, "chains": 0})
    done = complete(facts, config, extra=[parse_rule("q(X, Y) :- p(X, Y), X \\= Y.")])
    assert [len(features.bodies) for features in done.features.values()] == [0, 1, 0, 1]
    assert not any(Scorer("weights", 5.0, 5).is_dense(features) for features in done.features.values())
    assert done.rank(parse_atom("q(1, X)"), limit=1)[0].atom == parse_atom("q(1, 2)")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(0, 90), st.floats(0, 1), st.booleans())
def test_best_confidences_are_the_best_of_the_rules_that_fire(seed, depth, rules, density, is_ordered):
    rng = np.random.default_rng(seed)
    fires = rng.random((30, rules)) < density
    confidence, apart = rng.integers(1, 20, (2, rules)) / 20
    if is_ordered:  # but for the smoothing, columns stand in the order of confidence
        confidence = -np.sort(-confidence)
        apart = confidence * rng.uniform(0.9, 1, rules)
    own = rng.random(30) < 0.3
    groundings = csr_matrix(fires.astype(np.float32))
    for groups in (None, (own, apart)):
        found = best_confidences(groundings, confidence, depth, groups)
        for cell in range(30):
            sure = apart if groups and own[cell] else confidence
            values = np.sort(sure[fires[cell]])[::-1][:depth]
            assert found[cell].tolist() == [*values, *[0.0] * (depth - len(values))]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_the_order_of_a_rows_entries_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    place = rng.permutation(60)[:40]
    groundings = csr_matrix((np.ones(40, dtype=np.float32), place, [0, 40]), shape=(1, 60))
    confidence = rng.random(60)
    found = best_confidences(groundings, confidence, 3)[0]
    assert found.tolist() == np.sort(confidence[place])[:-4:-1].tolist()


def test_weights_are_learned_from_some_queries_where_cells_are_many():
    rows = [f"p(x{i}, y{i})" for i in range(60)] + [f"q(x{i}, y{j})" for i in range(60) for j in range(9)]
    facts = FactBase.from_facts(map(parse_atom, rows))
    changes = {"aggregators": ("weights",), "give_back": False, "chained": (False,)}
    few, many = (
        FAST.model_copy(update={**changes, "sizes": SizeConfig(table=0, cells=cells)})
        for cells in (50, 10**9)
    )
    done = complete(facts, few)
    assert [choice.aggregator for choice in done.choices] == ["weights"]
    whole, some = (
        [len(training_queries(done.graph, found, config, dense=False)) for found in done.features.values()]
        for config in (many, few)
    )
    assert max(whole) > 40
    assert 0 < max(some) < min(20, max(whole))
