"""Directions of a large base: rows against pairs, counts and scores against brute force, tasks."""

from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.completion.bases import FAST, family, ladders, large, small_bases

from andre.completion import Body, CompletionConfig, Graph, PackedRules, SizeConfig, complete, learn_direction
from andre.completion.bodies import ANY, covered_pairs
from andre.completion.config import CompletionPlan
from andre.completion.constants import constant_bodies, without_hubs
from andre.completion.directions import count_bodies
from andre.completion.features import StoredFeatures, features_of
from andre.completion.pool import as_rule
from andre.completion.proposals import count_walks, estimate
from andre.completion.rows import BodyCover
from andre.completion.scoring import Scorer
from andre.completion.sharing import learn_directions
from andre.facts import FactBase, Relation
from andre.inference import covered_heads
from andre.logic import parse_atom, parse_rule
from andre.runs import DirectionFolder, load


@st.composite
def graphs_and_bodies(draw):
    facts = draw(small_bases)
    graph = Graph.of(facts)
    step, constant = st.integers(0, graph.n_steps - 1), st.integers(0, graph.n - 1)
    some = st.one_of(
        st.lists(step, min_size=1, max_size=4).map(lambda steps: Body("path", tuple(steps))),
        st.tuples(step, step).map(lambda steps: Body("both", tuple(sorted(steps)))),
        st.tuples(step, st.one_of(constant, st.just(ANY)), constant).map(lambda steps: Body("to", steps)),
        st.tuples(step, st.one_of(constant, st.just(ANY)), constant).map(lambda steps: Body("from", steps)),
    )
    bodies = draw(st.lists(some, min_size=1, max_size=8, unique=True))
    return facts, graph, bodies


@settings(max_examples=60, deadline=None)
@given(graphs_and_bodies(), st.randoms(use_true_random=False))
def test_rows_are_the_pairs_from_the_starts_that_are_asked_from(drawn, random):
    _, graph, bodies = drawn
    starts = np.array(sorted(random.sample(range(graph.n), random.randint(1, graph.n))))
    found = BodyCover(graph, bodies).entries(starts)
    by_rows = {
        (place, int(starts[key // graph.n]), int(key % graph.n)): ways
        for place, key, ways in zip(found.body.tolist(), found.key.tolist(), found.ways.tolist(), strict=True)
    }
    by_pairs = {
        (place, key // graph.n, key % graph.n): ways
        for place, body in enumerate(bodies)
        for key, ways in zip(*(part.tolist() for part in covered_pairs(body, graph)), strict=True)
        if key // graph.n in starts
    }
    assert len(by_rows) == len(found.key)
    assert by_rows == by_pairs


@settings(max_examples=40, deadline=None)
@given(graphs_and_bodies(), st.integers(0, 5))
def test_bodies_cover_what_their_rules_derive(drawn, step):
    facts, graph, bodies = drawn
    step %= graph.n_steps
    for body in bodies:
        rule = as_rule(body, graph, step, facts)
        if rule.head in [literal.atom for literal in rule.body]:
            continue  # no rule derives its head from itself
        heads = covered_heads(rule, facts)
        heads = heads[heads[:, 0] != heads[:, 1]]
        x, y = heads.T if step < len(graph.relations) else heads.T[::-1]
        assert covered_pairs(body, graph)[0].tolist() == sorted((x * graph.n + y).tolist()), body


@settings(max_examples=40, deadline=None)
@given(graphs_and_bodies(), st.integers(0, 5), st.sampled_from([1, 10, 10**6]))
def test_counts_are_exact_however_many_starts_are_looked_at_at_a_time(drawn, step, block):
    _, graph, bodies = drawn
    step %= graph.n_steps
    counted, _ = count_bodies(graph, step, bodies, {}, SizeConfig(block=block))
    starts = {x for x, _ in graph.pairs(step, "train").tolist()}
    true = set(graph.keys(step, "train").tolist())
    expected = {}
    for body in bodies:
        keys = [key for key in covered_pairs(body, graph)[0].tolist() if key // graph.n in starts]
        if keys:
            expected[body] = (len(keys), len(true.intersection(keys)))
    found = zip(counted.bodies, counted.n_b.tolist(), counted.n_r.tolist(), strict=True)
    assert {body: (n_b, n_r) for body, n_b, n_r in found} == expected
    assert counted.per_start == pytest.approx(sum(n_b for n_b, _ in expected.values()) / max(1, len(starts)))


@settings(max_examples=40, deadline=None)
@given(graphs_and_bodies(), st.integers(0, 5), st.randoms(use_true_random=False))
def test_what_is_held_of_counted_starts_is_what_rows_give(drawn, step, random):
    _, graph, bodies = drawn
    step %= graph.n_steps
    rules, held = count_bodies(graph, step, bodies, {}, SizeConfig(block=3))
    features = rules.features(graph, FAST.sizes)
    answered = np.flatnonzero(graph.has_answer(step)).tolist()
    starts = np.array(sorted(random.sample(answered, random.randint(0, len(answered)))), dtype=np.int64)
    fresh, kept = (one.cells(starts) for one in (features, replace(features, cached=held)))
    assert np.array_equal(fresh.candidate, kept.candidate)
    assert np.array_equal(fresh.query, kept.query)
    assert np.array_equal(fresh.groundings.toarray(), kept.groundings.toarray())
    everyone = np.arange(graph.n)  # others are asked from as well
    assert len(replace(features, cached=held).cells(everyone).query) == len(features.cells(everyone).query)


@settings(max_examples=40, deadline=None)
@given(graphs_and_bodies(), st.integers(0, 5), st.integers(1, 3))
def test_of_many_starts_some_are_drawn_for_bodies_without_constants(drawn, step, most):
    _, graph, bodies = drawn
    step %= graph.n_steps
    counted, _ = count_bodies(graph, step, bodies, {}, SizeConfig(starts=most))
    starts = np.flatnonzero(graph.has_answer(step))
    assert counted.is_drawn == (len(starts) > most)
    exact, _ = count_bodies(graph, step, bodies, {}, FAST.sizes)
    counts = dict(zip(exact.bodies, exact.n_b.tolist(), strict=True))
    scale = len(starts) / max(1, min(most, len(starts)))
    for body, n_b in zip(counted.bodies, counted.n_b.tolist(), strict=True):
        if body.shape in {"to", "from"} or not counted.is_drawn:
            assert n_b == counts[body]
            continue
        covered = covered_pairs(body, graph)[0] // graph.n
        possible = combinations(starts.tolist(), most)
        assert n_b in {round(scale * np.isin(covered, some).sum()) for some in possible}
    constants = {body for body in counts if body.shape in {"to", "from"}}
    assert constants <= set(counted.bodies)  # however few starts they fire for


def test_starts_are_drawn_where_many_walks_end_alike():
    starts, middle = 2_500, 150
    out = np.array([(start, starts + place) for start in range(starts) for place in range(middle)])
    on = np.array([(starts + place, starts + middle) for place in range(middle)])
    led = np.array([(start, starts + middle) for start in range(starts)])
    relations = [Relation(name, pairs) for name, pairs in (("out", out), ("on", on), ("led", led))]
    graph = Graph.of(FactBase.from_relations(map(str, range(starts + middle + 1)), relations))
    step, out_, on_ = (graph.relations.index(name) for name in ("led", "out", "on"))
    bodies = [Body("path", (out_, on_))]
    # One pair of each start is covered, in a hundred and fifty ways of two steps each.
    for walked, is_drawn in ((10_000, True), (10_000_000, False)):
        found, _ = count_bodies(graph, step, bodies, {}, SizeConfig(walked=walked))
        assert found.is_drawn == is_drawn
        assert (found.n_b.tolist(), found.n_r.tolist()) == ([starts], [starts])


@settings(max_examples=40, deadline=None)
@given(graphs_and_bodies(), st.randoms(use_true_random=False))
def test_walks_are_counted_without_walking(drawn, random):
    _, graph, bodies = drawn
    starts = np.array(random.sample(range(graph.n), random.randint(1, graph.n)))
    for body, found in zip(bodies, count_walks(graph, bodies, starts), strict=True):
        walks, at = 0.0, np.bincount(starts, minlength=graph.n).astype(float)
        for step in body.steps if body.shape == "path" else ():
            at = at @ graph.steps[step].toarray()
            walks += at.sum()
        assert found == pytest.approx(walks / len(starts))


@given(small_bases, st.integers(0, 5), st.integers(0, 30))
def test_hubs_are_left_out_of_the_counts_of_constants_first(facts, step, most):
    graph = Graph.of(facts)
    step %= graph.n_steps
    kept = np.diff(without_hubs(graph, step, most).indptr) > 0
    answers = np.diff(graph.steps[step].indptr)
    products = answers * graph.degrees
    assert products[kept].sum() <= most
    cut = ~kept & (answers > 0)
    if cut.any():
        assert products[cut].min() >= products[kept].max(initial=0)
        assert products[kept].sum() + products[cut].min() > most


@settings(max_examples=40, deadline=None)
@given(graphs_and_bodies(), st.integers(0, 5))
def test_estimates_on_all_starts_are_exact_and_name_what_is_covered(drawn, step):
    _, graph, bodies = drawn
    bodies = [body for body in bodies if body.shape in {"path", "both"}]
    step %= graph.n_steps
    starts = np.flatnonzero(graph.has_answer(step))
    found, (exact, _) = (
        estimate(graph, step, bodies, starts),
        count_bodies(graph, step, bodies, {}, FAST.sizes),
    )
    counts = dict(zip(exact.bodies, zip(exact.n_b.tolist(), exact.n_r.tolist(), strict=True), strict=True))
    covers = [
        [(key, ways) for key, ways in zip(*map(np.ndarray.tolist, covered_pairs(body, graph)), strict=True)
         if key // graph.n in starts]
        for body in bodies
    ]  # fmt: skip
    for place, body in enumerate(bodies):
        assert (found.n_b[place], found.n_r[place]) == counts.get(body, (0, 0))
    for one, two in product(range(len(bodies)), repeat=2):
        assert (found.signature[one] == found.signature[two]) == (covers[one] == covers[two])


@settings(max_examples=30, deadline=None)
@given(graphs_and_bodies(), st.sampled_from(["maximum", "noisy-or"]), st.integers(0, 5))
def test_rows_score_as_held_pairs_do(drawn, aggregator, step):
    _, graph, bodies = drawn
    step %= graph.n_steps
    held = features_of(bodies, [covered_pairs(body, graph) for body in bodies], graph, step)
    rows = count_bodies(graph, step, bodies, {}, FAST.sizes)[0].features(graph, FAST.sizes)
    scorer, everyone = Scorer(aggregator, 5.0, 5), np.arange(graph.n)
    one, two = (scorer.scores(features, everyone) for features in (held, rows))
    # Scores of the maximum are places in an order, so the order is what is compared.
    for left, right in zip(one, two, strict=True):
        assert np.array_equal(np.sign(left[:, None] - left), np.sign(right[:, None] - right))


@given(small_bases, st.integers(0, 5))
def test_bodies_with_any_constant_are_found_by_counts(facts, step):
    graph = Graph.of(facts)
    step %= graph.n_steps
    plan = CompletionPlan.of(graph, large(constants=1000))
    chosen = {body.steps for body in constant_bodies(graph, step, plan) if body.steps[1] == ANY}
    assert not any(b == step for b, _, _ in chosen)
    for b, _, c in chosen:
        starts = graph.has_answer(step)
        having = set(np.flatnonzero(np.diff(graph.steps[b].indptr) * starts).tolist())
        leading = set(graph.steps[graph.inverse(step)][c].indices.tolist())
        assert len(having & leading) >= 3
        assert len(having & leading) * starts.sum() > len(having) * len(leading)


@pytest.fixture(scope="module")
def alone():
    return complete(family(), large())


def same(one, two):
    assert one.rules == two.rules
    assert one.choices == two.choices
    assert one.evaluate("test") == two.evaluate("test")
    assert one.reliability.bins == two.reliability.bins


def test_tasks_of_an_executor_come_to_the_same(alone):
    with ThreadPoolExecutor(2) as executor:
        same(alone, complete(family(), large(), executor=executor))


def test_starts_are_drawn_where_bodies_cover_many_pairs(monkeypatch):
    monkeypatch.setattr("andre.completion.counting._FEWEST", 4)
    graph = Graph.of(family())
    step = graph.relations.index("parent")
    bodies = [Body("path", (graph.inverse(graph.relations.index("child")),))]
    exact, _ = count_bodies(graph, step, bodies, {}, FAST.sizes)
    drawn, _ = count_bodies(graph, step, bodies, {}, SizeConfig(counted=6))
    assert drawn.is_drawn
    assert not exact.is_drawn
    assert 0 < abs(drawn.n_b[0] - exact.n_b[0]) < exact.n_b[0]


@pytest.mark.parametrize(("shared", "starts"), [(1, 50_000), (3, 50_000), (2, 5)])
def test_blocks_of_starts_come_to_the_same(shared, starts, alone):
    """One direction is several tasks, of which each is looked at by whoever is free."""
    config = large(sizes=SizeConfig(small=0, shared=shared, starts=starts))
    whole = alone if starts > 5 else complete(family(), config)
    names = []

    class Watching(ThreadPoolExecutor):
        def submit(self, fn, /, *args):
            names.append(args[1].__name__)
            return super().submit(fn, *args)

    with Watching(2) as executor:
        found = complete(family(), config, executor=executor)
    same(whole, found)
    assert {"_propose", "_count", "_weigh", "_rank"} <= set(names)
    assert names.count("_count") > names.count("_propose")
    assert all(
        np.array_equal(whole.scorer.weights[step], weights) for step, weights in found.scorer.weights.items()
    )


def test_blocks_that_time_cuts_leave_a_direction_without_rules():
    config = large(sizes=SizeConfig(small=0, shared=2), time_limit=1e-9)
    with ThreadPoolExecutor(2) as executor:
        done = complete(family(), config, executor=executor)
    assert "8 of 8 directions have no rules" in done.notes[-1]


def test_workers_get_no_test_facts_and_open_a_graph_once(alone, monkeypatch):
    graphs = []

    def watched(graph, *task):
        graphs.append(graph)
        return learn_direction(graph, *task)

    monkeypatch.setattr("andre.completion.sharing.learn_direction", watched)

    class Here(Executor):
        """Does every task at once, opening what it is given as another process would."""

        def submit(self, fn, /, *args):
            future = Future()
            future.set_result(fn(*args))
            return future

    graph = alone.graph
    done = list(learn_directions(graph, [0, 3], large(), {}, Here()))
    assert sorted(made.step for made in done) == [0, 3]
    assert graphs[0] is graphs[1] is not graph
    assert np.array_equal(graphs[0].train, graph.train)
    assert not graphs[0].train.flags.writeable
    assert len(graphs[0].test) == 0 < len(graph.test)


def test_a_stopped_run_goes_on(alone, tmp_path, monkeypatch):
    class StoppedError(Exception):
        pass

    class Stopping(DirectionFolder):
        kept = 0

        def keep(self, rules):
            super().keep(rules)
            self.kept += 1
            if self.kept == 5:
                raise StoppedError

    with pytest.raises(StoppedError):
        complete(family(), large(), store=Stopping(tmp_path))
    learned = []
    monkeypatch.setattr(
        "andre.completion.sharing.learn_direction",
        lambda *task: (learned.append(task[1]), learn_direction(*task))[1],
    )
    folder = DirectionFolder(tmp_path)
    same(alone, complete(family(), large(), store=folder))
    assert len(learned) == 3
    complete(family(), large(penalties=(3.0,)), store=folder)  # other settings: nothing is known
    assert len(learned) == 3 + 8
    folder.close()
    assert not (tmp_path / "directions").exists()


def test_what_is_asked_for_is_learned_first():
    order = []

    class Watching(DirectionFolder):
        def __init__(self):
            pass

        def begin(self, graph, config):
            self.graph = graph

        def known(self, step):
            return None

        def keep(self, rules):
            order.append(self.graph.relations[rules.step % len(self.graph.relations)])

    complete(family(), large(aggregators=("maximum",)), store=Watching(), first=["likes"])
    assert order[:2] == ["likes", "likes"] != order[2:4]
    del order[:]
    complete(family(), large(aggregators=("maximum",)), store=Watching())
    assert set(order[:4]) == {"parent", "grandparent"}  # what validation facts are about
    assert order[-1] in {"likes", "child"}


def test_time_limits_leave_rules_without_weights(monkeypatch):
    monkeypatch.setattr("andre.limits.now", lambda: 0.0)
    graph, config = Graph.of(family()), large(time_limit=60.0)
    step = graph.relations.index("parent")
    whole = learn_direction(graph, step, config, (), 60.0)
    assert whole.weights
    assert not whole.cut
    late = learn_direction(graph, step, config, (), 0.0)
    assert (late.bodies, late.weights, late.tried) == ((), (), ())
    assert set(late.cut) == {"rules", "weights", "scoring", "reliability"}
    monkeypatch.undo()
    done = complete(family(), large(time_limit=1e-9))
    assert "8 of 8 directions have no rules" in done.notes[-1]
    assert done.evaluate("test").queries == 8


def test_a_large_base_is_saved_with_its_counts(alone, tmp_path):
    alone.save(tmp_path / "run")
    again = load(tmp_path / "run")
    same(alone, again)
    query = parse_atom("parent(c7, X)")
    assert again.rank(query) == alone.rank(query)
    assert again.rank(query)[0].atom == parse_atom("parent(c7, c15)")


def test_given_rules_are_ranked_by_in_large_bases(tmp_path):
    rules = [
        parse_rule("parent(X, Y) :- child(Y, X), \\+ likes(X, Y)."),
        parse_rule("parent(X, Y) :- child(Y, X), X \\= Y."),
    ]
    done = complete(family(), large(short=False, constants=0, chains=0), rules)
    assert set(done.rules.rules) == set(rules)
    done.save(tmp_path / "run")
    assert load(tmp_path / "run").evaluate("test") == done.evaluate("test")
    packed = PackedRules.of(done.features[done.graph.relations.index("parent")])
    assert packed.given == (rules[0],)
    assert set(packed.bodies) == set(done.features[done.graph.relations.index("parent")].bodies)


def test_small_bases_hold_pairs():
    done = complete(ladders(), FAST.model_copy(update={"aggregators": ("maximum",), "chains": 0}))
    assert all(isinstance(features, StoredFeatures) for features in done.features.values())


def test_more_is_looked_at_in_sparse_bases_of_few_relations_alone() -> None:
    rows = [f"p(c{i}, c{i + 1})" for i in range(40)]
    sparse = Graph.of(FactBase.from_facts(map(parse_atom, rows)))
    crowd = Graph.of(FactBase.from_facts(parse_atom(f"p(c{i}, c{j})") for i in range(9) for j in range(9)))
    config = large()
    for graph, times in ((sparse, 4), (crowd, 1)):
        plan = CompletionPlan.of(graph, config)
        assert plan.config.queries == times * config.queries
        assert plan.config.sizes.cells == times * config.sizes.cells
    assert CompletionPlan.of(sparse, large(effort=2)).config.queries == 2 * config.queries
    assert CompletionPlan.of(sparse, CompletionConfig()).config.queries == CompletionConfig().queries
