"""Completion: its counts against coverage by joins, its choices, its predictions, bad input."""

import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise, permutations
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from andre.errors import CheckpointError, DataError
from andre.evaluation.coverage import covered_heads
from andre.facts import FactBase, Relation
from andre.grounding import Sample
from andre.learning.completion import (
    CompletionConfig,
    ProposalConfig,
    complete,
    load_completion,
    propose,
    relearn,
    save_completion,
)
from andre.learning.completion.bodies import Body
from andre.learning.completion.chains import chain_groundings, long_bodies
from andre.learning.completion.constants import constant_bodies
from andre.learning.completion.given import GivenRules
from andre.learning.completion.graph import Graph
from andre.learning.completion.pool import enumerate_bodies
from andre.learning.completion.proposals import informative_columns
from andre.learning.completion.scorer import is_dense
from andre.learning.completion.scores import best_confidences
from andre.learning.completion.tables import Features
from andre.learning.completion.weights import RankingLoss, fit_weights
from andre.learning.known import apart
from andre.logic import Atom, Constant, Literal, Rule, Variable, check_safe, parse_atom, parse_rule

FAST = CompletionConfig(smoothing=(5.0,), penalties=(10.0,))


def family(n=24, seed=0, test=True):
    """parent is the inverse of child; grandparent follows; likes is noise. Some facts are held out."""
    rng = np.random.default_rng(seed)
    rows, marks = [], []

    def state(name, one, two, mark="train"):
        if mark == "test" and not test:
            return
        rows.append(Atom(name, (Constant(f"c{one}"), Constant(f"c{two}"))))
        marks.append(mark)

    for child in range(1, n):
        parent = (child - 1) // 2
        state("child", child, parent)
        state("parent", parent, child, "test" if child % 5 == 0 else "valid" if child % 5 == 1 else "train")
        if child > 2:
            state("grandparent", (parent - 1) // 2, child, "valid" if child % 7 == 0 else "train")
        state("likes", *rng.integers(0, n, 2))
    return FactBase.from_facts(rows, marks=marks)


small_bases = st.lists(
    st.tuples(st.sampled_from("pqr"), st.sampled_from("abcde"), st.sampled_from("abcde")),
    min_size=4,
    max_size=30,
).map(lambda rows: FactBase.from_facts([Atom(n, (Constant(x), Constant(y))) for n, x, y in rows]))


@settings(max_examples=25, deadline=None)
@given(small_bases, st.booleans())
def test_every_rule_counts_as_its_text_says(facts, small):
    config = CompletionConfig(aggregators=("maximum",), valid_share=0.0, bodies=500, chains=20, support=1)
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setattr("andre.learning.completion.choose.is_small", lambda graph: small)
        done = complete(facts, config)
    n = len(facts.constants)
    for rule in done.rules:
        heads = covered_heads(rule, facts)
        stated = facts.relations[rule.head.predicate, 2].codes
        right = np.isin(heads @ [n, 1], stated @ [n, 1]).sum()
        assert (rule.on("train").n_b, rule.on("train").n_r) == (len(heads), right), rule


@settings(max_examples=25, deadline=None)
@given(small_bases)
def test_whole_and_sparse_matrices_give_the_same_bodies(facts):
    import andre.learning.completion.pool as module

    graph = Graph.of(facts)
    dense = enumerate_bodies(graph, FAST)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_DENSE", 0)
        sparse = enumerate_bodies(graph, FAST)

    def by_body(pool):
        return {
            body: dict(zip(pool.pairs[row.indices].tolist(), row.data.tolist(), strict=True))
            for body, row in zip(pool.bodies, pool.groundings, strict=True)
        }

    assert by_body(dense) == by_body(sparse)


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
    found = chain_groundings(graph, steps).toarray()
    np.fill_diagonal(found, 0)
    assert found.tolist() == ways.tolist()


def ladders(n=12):
    """far joins the ends of four steps over nodes of their own; the last three facts are held out."""
    rows = []
    for i in range(n):
        nodes = [Constant(f"{letter}{i}") for letter in "abcde"]
        rows += [Atom(name, ends) for name, ends in zip("pqrs", pairwise(nodes), strict=True)]
        rows.append(Atom("far", (nodes[0], nodes[-1])))
    held = {rows[5 * i + 4] for i in range(n - 3, n)}
    return FactBase.from_facts(rows, marks=["valid" if row in held else "train" for row in rows])


def test_chains_of_four_are_found_in_large_bases_explained_and_saved(monkeypatch, tmp_path):
    for module in ("choose", "pool"):
        monkeypatch.setattr(f"andre.learning.completion.{module}.is_small", lambda graph: False)
    done = complete(ladders(), FAST.model_copy(update={"chains": 5}))
    rule = parse_rule(
        "far(X, Y) :- p(X, Z), q(Z, W), r(W, V), s(V, Y), X \\= Y, X \\= Z, X \\= W, X \\= V, "
        "Y \\= Z, Y \\= W, Y \\= V, Z \\= W, Z \\= V, W \\= V."
    )
    assert rule in done.rules.rules
    best = done.rank(parse_atom("far(a0, Y)"), limit=1, known=True)[0]
    assert (best.atom, best.rules) == (parse_atom("far(a0, e0)"), (rule,))
    assert len(done.groundings(rule, best.atom)[0]) == 4
    save_completion(done, tmp_path / "run")
    assert load_completion(tmp_path / "run").evaluate("valid") == done.evaluate("valid")


@pytest.mark.parametrize("bound", ["_MOST_WALKS", "_MOST_MEETS"])
def test_chains_of_four_with_too_many_walks_stay_out(monkeypatch, bound):
    monkeypatch.setattr(f"andre.learning.completion.chains.{bound}", 0)
    config = FAST.model_copy(update={"chains": 5})
    assert long_bodies(Graph.of(ladders()), 4, config, (3, 4)) == []


def test_candidates_that_have_an_answer_fall_behind_in_large_bases(monkeypatch):
    # Everyone is near a thing of their own and one of their neighbour's; a thing has one owner.
    monkeypatch.setattr("andre.learning.completion.scorer._DENSE", 0)
    rows, marks = [], []
    for i in range(40):
        rows += [f"near(x{i}, y{i})", f"near(x{i}, y{(i + 1) % 40})", f"owns(x{i}, y{i})"]
        marks += ["train", "train", "valid" if i % 8 == 0 else "train"]
    config = FAST.model_copy(update={"constants": 0, "aggregators": ("maximum", "weights")})
    done = complete(FactBase.from_facts(map(parse_atom, rows), marks=marks), config)
    by = {choice.aggregator: choice.mrr for choice in done.choices}
    assert by["weights"] == 1.0 > by["maximum"]


def test_large_bases_get_more_rules_with_constants(monkeypatch):
    rows = [f"{name}(x{i}, y{i % 9})" for name in "pqrst" for i in range(90)]
    graph = Graph.of(FactBase.from_facts(map(parse_atom, rows)))
    assert len(constant_bodies(graph, 0, CompletionConfig())) == 30
    monkeypatch.setattr("andre.learning.completion.constants.is_small", lambda graph: False)
    assert len(constant_bodies(graph, 0, CompletionConfig())) > 30
    assert len(constant_bodies(graph, 0, CompletionConfig(constants=3))) == 3


def test_bodies_that_do_not_fit_stay_out(monkeypatch):
    monkeypatch.setattr("andre.learning.completion.pool._DENSE", 0)
    with pytest.warns(UserWarning, match="stay out"):
        complete(family(), FAST.model_copy(update={"cells": 1}))


def test_held_out_facts_rank_first():
    report = complete(family(), FAST).evaluate("test")
    assert report.queries == 2 * 4
    assert report.mrr["pessimistic"] == 1.0


def test_test_facts_are_never_read():
    one, two = complete(family(), FAST), complete(family(test=False), FAST)
    assert one.rules == two.rules
    assert [choice.mrr for choice in one.choices] == [choice.mrr for choice in two.choices]


def test_predictions_name_rules_that_derive_them():
    done = complete(family(), FAST)
    best = done.rank(parse_atom("parent(c7, X)"), limit=1)[0]
    assert best.atom == parse_atom("parent(c7, c15)")
    assert best.rules[0] == parse_rule("parent(X, Y) :- child(Y, X), X \\= Y.")
    assert done.groundings(best.rules[0], best.atom)[0][0].atom == parse_atom("child(c15, c7)")
    assert 0 <= best.chance <= 1


def test_known_facts_are_left_out_unless_asked_for():
    done = complete(family(), FAST)
    pattern = parse_atom("child(c3, X)")
    fact = parse_atom("child(c3, c1)")
    assert fact not in [found.atom for found in done.rank(pattern, limit=100)]
    assert fact in [found.atom for found in done.rank(pattern, limit=100, known=True)]


def test_given_rules_join_the_pool():
    extra = [
        parse_rule("parent(X, Y) :- child(Y, X), \\+ likes(X, Y)."),
        parse_rule("none(X) :- child(X, X)."),
    ]
    done = complete(family(), FAST, extra)
    assert extra[0] in done.rules.rules
    assert extra[1] not in done.rules.rules


def test_saved_and_loaded(tmp_path):
    done = complete(family(), FAST, [parse_rule("parent(X, Y) :- child(Y, X), \\+ likes(X, Y).")])
    save_completion(done, tmp_path / "run")
    again = load_completion(tmp_path / "run")
    assert again.evaluate("test") == done.evaluate("test")
    assert again.rules == done.rules
    assert (tmp_path / "run" / "program.pl").read_text().count(":-") == len(done.rules)
    (tmp_path / "run" / "facts.jsonl").write_text("{")
    with pytest.raises(CheckpointError, match="damaged"):
        load_completion(tmp_path / "run")
    with pytest.raises(CheckpointError, match="no saved completion"):
        load_completion(tmp_path)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_the_slope_of_the_loss_is_right(seed):
    rng = np.random.default_rng(seed)
    loss = RankingLoss(
        rng.random((9, 3)).astype(np.float32),
        np.repeat([0, 1, 2], 3),
        rng.random(9) < 0.4,
        np.array([2.0, 0, 1]),
    )
    at = rng.normal(size=3)
    _, slope = loss(at)
    for place in range(3):
        step = np.eye(3)[place] * 1e-3
        assert slope[place] == pytest.approx((loss(at + step)[0] - loss(at - step)[0]) / 2e-3, abs=2e-2)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.5, 20))
def test_weights_are_learned_from_confidences_without_the_fact_itself(seed, smoothing):
    rng = np.random.default_rng(seed)
    n, count = 5, 4
    covered = (rng.random((count, n * n)) < 0.4).astype(np.float32)
    true = rng.random(n * n) < 0.3
    features = Features(
        step=0,
        n=n,
        bodies=(Body("path", (0,)),) * count,
        n_b=covered.sum(axis=1).astype(float),
        n_r=covered[:, true].sum(axis=1).astype(float),
        keys=np.arange(n * n),
        groundings=csr_matrix(covered),
        answers=np.zeros(n),
    )
    table = features.table(np.arange(n), np.arange(n * n))
    cells = table.starts[table.query] * n + table.candidate
    own = (true[cells], features.confidence_apart(smoothing))
    best = best_confidences(table, features.confidence(smoothing), count, own)
    for cell, found in zip(cells.tolist(), best, strict=True):
        others = np.arange(n * n) != cell if true[cell] else np.ones(n * n, dtype=bool)
        right, all_ = covered[:, others & true].sum(axis=1), covered[:, others].sum(axis=1)
        expected = np.where(covered[:, cell] > 0, right / (all_ + smoothing), 0)
        assert found == pytest.approx(np.sort(expected)[::-1])


def test_weights_may_be_bound_to_speak_for_their_head():
    loss = RankingLoss(
        np.eye(2, dtype=np.float32), np.zeros(2, dtype=np.int64), np.array([True, False]), np.zeros(1)
    )
    assert (fit_weights(loss, np.full(2, 0.1), np.zeros(2), non_negative=True) >= 0).all()


def test_thin_relations_and_constants_of_test_only():
    rows = [f"p(a{i}, b{i})" for i in range(8)] + [f"q(b{i}, a{i})" for i in range(8)]
    atoms = list(map(parse_atom, [*rows, "rare(a1, b1)", "p(new, b1)", "only(a1, b2)"]))
    marks = ["train"] * 17 + ["test"] * 2
    with pytest.warns(UserWarning, match="rare, only have fewer than two training facts"):
        done = complete(FactBase.from_facts(atoms, marks=marks), FAST)
    with pytest.warns(UserWarning, match="1 constant has test facts but no training fact"):
        assert done.evaluate("test").queries == 4
    assert done.rank(parse_atom("only(a1, Y)")) == []


def test_facts_in_train_and_test_both():
    rows = [parse_atom(f"p(a{i}, b{i})") for i in range(8)]
    facts = FactBase.from_facts([*rows, rows[0]], marks=["train"] * 8 + ["test"])
    with pytest.warns(UserWarning, match="1 of the facts stand in more than one"):
        complete(facts, FAST)


def test_what_cannot_be_completed():
    with pytest.raises(DataError, match="no binary facts"):
        complete(FactBase.from_facts([parse_atom("p(a)")]))
    done = complete(family(), FAST)
    for text, words in (
        ("nothing(c1, X)", "no binary relation"),
        ("child(c1, c2)", "one argument open"),
        ("child(nobody, X)", "no fact mentions"),
    ):
        with pytest.raises(DataError, match=words):
            done.rank(parse_atom(text))


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
    rule = apart(Rule(base.head, tuple(dict.fromkeys((*base.body, *literals)))))
    graph = Graph.of(facts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("andre.learning.completion.given.is_small", lambda graph: small)
        given_rules, step = GivenRules([rule], graph, facts), graph.relations.index("p")
    ((_, (keys, values)),) = given_rules.about(step)
    heads = covered_heads(rule, facts)
    assert keys.tolist() == np.sort(heads @ [graph.n, 1]).tolist()
    assert (values >= 1).all()
    ((_, (turned, _)),) = given_rules.about(graph.inverse(step))
    assert turned.tolist() == np.sort(heads @ [1, graph.n]).tolist()


def test_a_pool_may_hold_given_rules_only():
    rule = parse_rule("parent(X, Y) :- child(Y, X), X \\= Y.")
    config = FAST.model_copy(update={"short": False, "constants": 0, "chains": 0})
    done = complete(family(), config, extra=[rule])
    assert done.rules.rules == (rule,)
    assert done.rank(parse_atom("parent(c7, X)"), limit=1)[0].atom == parse_atom("parent(c7, c15)")


def test_a_target_without_rules_takes_no_room_in_a_large_base():
    """Not every candidate of every query gets a cell because no body says anything about it."""
    n = 7_000
    pairs = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    facts = FactBase.from_relations(range(n), [Relation("p", pairs), Relation("q", pairs[::7])])
    config = FAST.model_copy(update={"short": False, "constants": 0, "chains": 0})
    done = complete(facts, config, extra=[parse_rule("q(X, Y) :- p(X, Y), X \\= Y.")])
    assert [len(features.bodies) for features in done.features.values()] == [0, 1, 0, 1]
    assert not any(is_dense(features) for features in done.features.values())
    assert done.rank(parse_atom("q(1, X)"), limit=1)[0].atom == parse_atom("q(1, 2)")


def test_more_head_atoms_than_are_looked_at_leave_the_clear_rules():
    rule = parse_rule("parent(X, Y) :- child(Y, X), X \\= Y.")
    assert rule in propose(family(), ProposalConfig(heads=60))


def test_runs_propose_what_defines_a_relation():
    proposed = propose(family())
    assert parse_rule("parent(X, Y) :- child(Y, X), X \\= Y.") in proposed
    config = FAST.model_copy(update={"short": False, "constants": 0, "chains": 0})
    report = complete(family(), config, extra=proposed).evaluate("test")
    assert report.mrr["pessimistic"] > 0.9


def test_proposals_read_training_facts_only_and_are_the_same_in_other_processes():
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        elsewhere = propose(family(), executor=executor)
    assert propose(family()) == elsewhere == propose(family(test=False))


def test_proposals_are_safe_apart_and_bounded():
    config = ProposalConfig(literals=2, rules=5)
    for rule in propose(family(), config):
        plain = [literal for literal in rule.body if not literal.is_builtin]
        assert 1 <= len(plain) <= 2
        assert apart(rule) == rule
        check_safe(rule)


def test_informative_columns_are_those_that_tell_labels_apart():
    rng = np.random.default_rng(0)
    label = rng.random(200) < 0.5
    noise = rng.random((200, 5)) < 0.5
    sample = Sample.from_arrays(np.column_stack([noise, label, ~label]), label)
    assert np.flatnonzero(informative_columns(sample, 2)).tolist() == [5, 6]
    assert informative_columns(sample, 7).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_sparse_inputs_give_the_same_loss(seed):
    rng = np.random.default_rng(seed)
    inputs = (rng.random((12, 4)) * (rng.random((12, 4)) < 0.4)).astype(np.float32)
    query, true = np.sort(rng.integers(0, 3, 12)), rng.random(12) < 0.4
    weights, others = rng.normal(size=4), rng.integers(0, 9, 3).astype(float)
    whole = RankingLoss(inputs, query, true, others)(weights)
    sparse = RankingLoss(csr_matrix(inputs), query, true, others)(weights)
    assert whole[0] == pytest.approx(sparse[0])
    assert whole[1] == pytest.approx(sparse[1], abs=1e-4)


def test_facts_that_were_split_off_are_given_back():
    facts = family(test=False).select("train")
    kept = complete(facts, FAST.model_copy(update={"give_back": False}))
    done = complete(facts, FAST)
    assert len(kept.graph.valid) > 0 == len(done.graph.valid)
    assert len(done.graph.train) == len(kept.graph.train) + len(kept.graph.valid)
    # What was chosen, and how sure one may be, is said by facts that were not known then.
    assert done.choices == kept.choices
    assert done.scorer.aggregator == kept.scorer.aggregator
    assert done.reliability.bins == kept.reliability.bins
    assert all({evidence.split for evidence in rule.evidence} == {"train"} for rule in done.rules)


def test_marked_facts_are_given_back_only_on_request():
    done = complete(family(), FAST)
    assert len(done.graph.valid) > 0
    again = relearn(done)
    assert len(again.graph.valid) == 0
    assert len(again.graph.train) == len(done.graph.train) + len(done.graph.valid)
    assert len(again.graph.test) == len(done.graph.test)
    with pytest.raises(DataError, match="no fact is marked valid"):
        again.evaluate("valid")


def test_few_relations_leave_room_for_chains():
    """A fact of `far` needs three steps of `near`, and there are too few relations for much else."""
    rows = [f"near(c{i}, c{i + 1})" for i in range(20)] + [f"far(c{i}, c{i + 3})" for i in range(17)]
    done = complete(FactBase.from_facts(map(parse_atom, rows)), FAST)
    found = done.rank(parse_atom("far(c17, Y)"))[0]
    assert str(found.atom) == "far(c17, c20)"
    assert any(len(rule.body) - 6 == 3 for rule in found.rules)
