"""Bodies of completion: counts against coverage by joins, chains against walks one by one."""

from collections import Counter
from dataclasses import replace
from itertools import chain, pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.completion.bases import FAST, family, ladders, large, small_bases

from andre.completion import CompletionConfig, Graph, SizeConfig, complete, proposals
from andre.completion.bodies import Body, Walks
from andre.completion.chains import connecting_chains, long_bodies, steps_of, steps_to
from andre.completion.config import CompletionPlan
from andre.completion.constants import constant_bodies
from andre.completion.features import RuleCover
from andre.completion.proposals import estimate, least_reached, propose_bodies
from andre.facts import FactBase, Relation
from andre.inference import covered_heads
from andre.learning import with_inequalities
from andre.logic import Atom, Constant, Literal, Rule, Variable, parse_atom, parse_rule
from andre.runs import load


@settings(max_examples=25, deadline=None)
@given(small_bases, st.booleans())
def test_every_rule_counts_as_its_text_says(facts, small):
    config = CompletionConfig(aggregators=("maximum",), valid_share=0.0, bodies=500, chains=20, support=1)
    done = complete(facts, config if small else large(config))
    n = len(facts.constants)
    for rule in done.rules:
        heads = covered_heads(rule, facts)
        stated = facts.relations[rule.head.predicate, 2].codes
        right = np.isin(heads @ [n, 1], stated @ [n, 1]).sum()
        # In a large base only starts that have an answer are counted, on the side that is asked from.
        counted = (
            [len(heads)] if small else [np.isin(heads[:, side], stated[:, side]).sum() for side in (0, 1)]
        )
        assert rule.on("train").n_b in counted, rule
        assert rule.on("train").n_r == right, rule


@settings(max_examples=40, deadline=None)
@given(small_bases, st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_chains_count_walks_over_distinct_constants(facts, steps):
    graph = Graph.of(facts)
    steps = tuple(step % graph.n_steps for step in steps)
    matrices = [graph.steps[step].toarray() for step in steps]
    ways = np.zeros((graph.n, graph.n))
    for walk in permutations(range(graph.n), len(steps) + 1):
        ways[walk[0], walk[-1]] += np.prod(
            [m[ends] for m, ends in zip(matrices, pairwise(walk), strict=True)]
        )
    found = Walks(graph, np.arange(graph.n)).along(Body("path", steps)).toarray()
    np.fill_diagonal(found, 0)
    assert found.tolist() == ways.tolist()


@settings(max_examples=25, deadline=None)
@given(small_bases)
def test_chains_that_join_the_ends_of_facts_over_distinct_constants_are_all_found(facts):
    graph = Graph.of(facts)
    matrices = [step.toarray() > 0 for step in graph.steps]
    pairs = graph.pairs(0, "train")
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    every = connecting_chains(graph, pairs, (2, 3, 4, 5), 10**9)
    for length, times in every.times.items():
        assert every.facts[length] <= len(pairs)
        expected = Counter()
        for x, y in pairs.tolist():
            between = permutations(set(range(graph.n)) - {x, y}, length - 1)
            ways = ([[m[a, b] for m in matrices] for a, b in pairwise((x, *way, y))] for way in between)
            steps = (product(*(np.flatnonzero(one).tolist() for one in way)) for way in ways)
            expected.update(set(chain.from_iterable(steps)))
        found = Counter({steps_of(code, length, graph): count for code, count in times.items()})
        # Both halves of a walk may pass through one constant: such chains are proposed, too.
        assert expected <= found
        for steps, count in found.items():
            joined = np.linalg.multi_dot([matrices[step].astype(float) for step in steps]) > 0
            assert count <= joined[*pairs.T].sum()


@settings(max_examples=40, deadline=None)
@given(small_bases, st.lists(st.lists(st.integers(0, 1), min_size=4, max_size=5), max_size=6))
def test_long_chains_one_after_another_are_walked_as_each_by_itself(facts, chains):
    graph = Graph.of(facts)
    starts = np.arange(graph.n)
    together = Walks(graph, starts)
    for steps in chains:
        body = Body("path", tuple(step % graph.n_steps for step in steps))
        alone = Walks(graph, starts).along(body)
        assert together.along(body).toarray().tolist() == alone.toarray().tolist()


@settings(max_examples=60, deadline=None)
@given(small_bases, st.integers(1, 12))
def test_steps_to_others_are_the_same_however_many_are_asked_about(facts, most):
    """Of few constants facts are looked up, of many all are listed."""
    graph = Graph.of(facts)
    for start in range(graph.n):
        lead = {
            end: [step for step in range(graph.n_steps) if graph.steps[step][start, end]]
            for end in range(graph.n)
        }
        for ends in (np.arange(graph.n), np.tile(np.arange(graph.n), most), *np.arange(graph.n)[:, None]):
            place, step = steps_to(graph, start, ends)
            expected = [(at, one) for at, end in enumerate(ends.tolist()) for one in lead[end]]
            assert sorted(zip(place.tolist(), step.tolist(), strict=True)) == expected


@settings(max_examples=40, deadline=None)
@given(small_bases, st.sampled_from([0, 3, 100]))
def test_chains_of_two_are_those_that_connect_facts(facts, most):
    graph = Graph.of(facts)
    for x, y in permutations(range(graph.n), 2):
        ways = [
            (one, two)
            for z in set(range(graph.n)) - {x, y}
            for one, two in product(range(graph.n_steps), repeat=2)
            if graph.steps[one][x, z] and graph.steps[two][z, y]
        ]
        found = connecting_chains(graph, np.array([(x, y)]), (2,), most)
        assert {steps_of(code, 2, graph) for code in found.times[2]} == (
            set(ways) if len(ways) <= most else set()
        )
        assert set(found.times[2].values()) <= {1}
        assert found.facts[2] == (len(ways) <= most)


def test_chains_of_four_are_found_in_large_bases_explained_and_saved(tmp_path):
    done = complete(ladders(), large(chains=5))
    rule = parse_rule(
        "far(X, Y) :- p(X, Z), q(Z, W), r(W, V), s(V, Y), X \\= Y, X \\= Z, X \\= W, X \\= V, "
        "Y \\= Z, Y \\= W, Y \\= V, Z \\= W, Z \\= V, W \\= V."
    )
    assert rule in done.rules.rules
    best = done.rank(parse_atom("far(a0, Y)"), limit=1, known=True)[0]
    assert (best.atom, best.rules) == (parse_atom("far(a0, e0)"), (rule,))
    assert len(done.groundings(rule, best.atom)[0]) == 4
    done.save(tmp_path / "run")
    assert load(tmp_path / "run").evaluate("valid") == done.evaluate("valid")


def test_chains_of_five_are_found_where_facts_are_few_explained_and_saved(tmp_path):
    facts = ladders(steps=5)
    done = complete(facts, large(chains=5))
    (best, *_), (held,) = (done.rank(parse_atom(f"far(a{i}, Y)"), limit=1, known=True) for i in (0, 11))
    (rule,) = best.rules
    assert (str(best.atom), str(held.atom)) == ("far(a0, f0)", "far(a11, f11)")
    assert len(rule.body) - 15 == 5
    assert len(done.groundings(rule, best.atom)[0]) == 5
    done.save(tmp_path / "run")
    assert load(tmp_path / "run").evaluate("valid") == done.evaluate("valid")
    # Of as many relations, but many facts of each constant, longer chains say nothing new.
    plan = CompletionPlan.of(replace(done.graph, train=np.tile(done.graph.train, (9, 1))), large())
    assert plan.lengths == (3, 4)


@pytest.mark.parametrize("bound", [{"walks": 0}, {"meetings": 0}])
def test_chains_of_four_with_too_many_walks_stay_out(bound):
    graph = Graph.of(ladders())
    for sizes, is_there in ((SizeConfig(small=0), True), (SizeConfig(small=0, **bound), False)):
        plan = CompletionPlan.of(graph, FAST.model_copy(update={"chains": 5, "sizes": sizes}))
        assert bool(long_bodies(graph, 4, plan)) == is_there


def test_large_bases_get_more_rules_with_constants():
    rows = [f"{name}(x{i}, y{i % 9})" for name in "pqrst" for i in range(90)]
    graph = Graph.of(FactBase.from_facts(map(parse_atom, rows)))
    small, many, three = (
        len(constant_bodies(graph, 0, CompletionPlan.of(graph, config)))
        for config in (CompletionConfig(), large(), large(constants=3))
    )
    assert (small, three) == (30, 3)
    assert many > 30


def test_chains_through_hubs_stay_out_and_that_is_said():
    config = large(sizes=SizeConfig(small=0, walks_per_start=0), aggregators=("maximum",))
    done = complete(family(), config)
    (note,) = done.notes
    assert "chains through hubs" in note
    assert all(
        len(body.steps) == 1
        for found in done.features.values()
        for body in found.bodies
        if body.shape == "path"
    )


@settings(max_examples=40, deadline=None)
@given(small_bases, st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=5), st.randoms())
def test_chains_of_two_lead_to_no_fewer_ends_than_one_neighbour_has(facts, chains, random):
    graph = Graph.of(facts)
    chains = [(one % graph.n_steps, two % graph.n_steps) for one, two in chains]
    starts = np.array(random.sample(range(graph.n), random.randint(1, graph.n)))
    for chain_, least in zip(chains, least_reached(graph, chains, starts), strict=True):
        ends = Walks(graph, starts).along(Body("path", chain_)).tocoo()
        assert least <= np.count_nonzero(starts[ends.row] != ends.col) / len(starts) + 1e-9


def graph_with_a_hub(constants=6_000, members=1_200, facts=2_000):
    """Everything is `in` the hub, which is `of` some; `any` leads anywhere, `some` to these only."""
    rng = np.random.default_rng(0)
    codes = np.arange(1, constants)
    relations = {
        "in": np.stack([codes, np.zeros_like(codes)], axis=1),
        "of": np.stack([np.zeros(members, dtype=np.int64), codes[:members]], axis=1),
        "any": rng.integers(1, constants, size=(facts, 2)),
        "some": np.stack(
            [rng.integers(1, constants, size=facts), rng.integers(1, members, size=facts)], axis=1
        ),
    }
    distinct = [Relation(name, np.unique(pairs, axis=0)) for name, pairs in relations.items()]
    return Graph.of(FactBase.from_relations(map(str, range(constants)), distinct))


def test_chains_through_a_hub_that_say_what_chance_does_are_not_walked_along(monkeypatch):
    graph, walked = graph_with_a_hub(), list[Body]()
    through = Body("path", (graph.relations.index("in"), graph.relations.index("of")))

    def watched(graph, step, bodies, starts):
        walked.extend(bodies)
        return estimate(graph, step, bodies, starts)

    monkeypatch.setattr(proposals, "estimate", watched)
    plan = CompletionPlan.of(graph, large(sizes=SizeConfig(small=0, listed=0)))
    for name, says in (("any", False), ("some", True)):
        found = propose_bodies(graph, graph.relations.index(name), plan)
        assert (through in walked) == (through in found.bodies) == says


def test_chains_whose_many_walks_end_alike_are_proposed():
    """From each start twelve hundred walks lead to its one answer: there are many walks, and few pairs."""
    starts, middle = 50, 1_200
    out = np.array([(start, starts + place) for start in range(starts) for place in range(middle)])
    on = np.array([(starts + place, starts + middle) for place in range(middle)])
    led = np.array([(start, starts + middle) for start in range(starts)])
    relations = [Relation(name, pairs) for name, pairs in (("out", out), ("on", on), ("led", led))]
    graph = Graph.of(FactBase.from_relations(map(str, range(starts + middle + 1)), relations))
    plan = CompletionPlan.of(graph, large(sizes=SizeConfig(small=0, listed=0)))
    out_, on_, led_ = (graph.relations.index(name) for name in ("out", "on", "led"))
    assert Body("path", (out_, on_)) in propose_bodies(graph, led_, plan).bodies


def test_rules_cover_no_more_pairs_of_a_start_than_there_is_room_for():
    graph = graph_with_a_hub()
    through = Body("path", (graph.relations.index("in"), graph.relations.index("of")))
    for covered, fits in ((1_000, False), (5_000, True)):
        plan = CompletionPlan.of(graph, large(sizes=SizeConfig(small=0, listed=0, covered=covered)))
        found = propose_bodies(graph, graph.relations.index("some"), plan)
        assert (through in found.bodies) == fits
        assert found.left_out >= (not fits)


skeletons = st.sampled_from(
    ["q(X,Y)", "q(Y,X), r(X,Y)", "p(X,Z), q(Z,Y)", "r(Z,X), p(Y,Z)", "q(X,Z), r(Y,X)"]
)
more_literals = st.lists(
    st.tuples(st.sampled_from("qr"), st.permutations("XYZ"), st.booleans()), min_size=0, max_size=3
)


@settings(max_examples=60, deadline=None)
@given(small_bases, skeletons, more_literals, st.booleans())
def test_given_rules_are_counted_as_by_joins(facts, skeleton, more, small):
    facts = facts.merge(FactBase.from_facts(map(parse_atom, ["p(a, b)", "q(b, c)", "r(c, a)"])))
    base = parse_rule(f"p(X,Y) :- {skeleton}.")
    known = set(base.variables)
    literals = [Literal(Atom(name, tuple(map(Variable, args[:2]))), neg) for name, args, neg in more]
    # A negated literal may only have variables that are bound.
    literals = [each for each in literals if not each.negated or known >= set(each.atom.variables)]
    rule = with_inequalities(Rule(base.head, tuple(dict.fromkeys((*base.body, *literals)))))
    graph = Graph.of(facts)
    rules, step = RuleCover(graph, facts, is_small=small), graph.relations.index("p")
    keys, values = rules.pairs(rule, step)
    heads = covered_heads(rule, facts)
    assert keys.tolist() == np.sort(heads @ [graph.n, 1]).tolist()
    assert (values >= 1).all()
    turned, _ = rules.pairs(rule, graph.inverse(step))
    assert turned.tolist() == np.sort(heads @ [1, graph.n]).tolist()


def test_few_relations_leave_room_for_chains():
    """A fact of `far` needs three steps of `near`, and there are too few relations for much else."""
    rows = [f"near(c{i}, c{i + 1})" for i in range(20)] + [f"far(c{i}, c{i + 3})" for i in range(17)]
    done = complete(FactBase.from_facts(map(parse_atom, rows)), FAST)
    found = done.rank(parse_atom("far(c17, Y)"))[0]
    assert str(found.atom) == "far(c17, c20)"
    assert any(len(rule.body) - 6 == 3 for rule in found.rules)


def test_chains_through_a_hub_stay_out_of_large_bases():
    """Everything is a thing, so that two steps lead from anywhere to anywhere: that is too many walks."""
    facts = ladders()
    rows = [
        Atom(name, (Constant(facts.constants[x]), Constant(facts.constants[y])))
        for (name, _), relation in facts.relations.items()
        for x, y in relation.codes.tolist()
    ]
    things = sorted({str(arg) for row in rows for arg in row.args})
    rows += [parse_atom(f"isa({name}, thing)") for name in things]
    config = large(aggregators=("maximum",), sizes=SizeConfig(small=0, walks_per_start=20))
    done = complete(FactBase.from_facts(rows), config)
    graph = done.graph
    step = graph.relations.index("far")
    features = done.features[step]
    pairs = graph.pairs(step, "train")
    rate = len(pairs) / (len(np.unique(pairs[:, 0])) * graph.n)
    long = [
        place for place, body in enumerate(features.bodies) if len(body.steps) > 2 and body.shape == "path"
    ]
    assert long
    assert (features.n_r[long] >= 3 * rate * features.n_b[long]).all()
    hub = graph.relations.index("isa")
    through = long_bodies(graph, step, CompletionPlan.of(graph, config))
    assert any(hub in body.steps for body in through)
    assert not any(hub in features.bodies[place].steps for place in long)
