"""Rules on other graphs than they were learned on, and ranks among drawn candidates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.completion.bases import FAST, family, large, small_bases

from andre.completion import Graph, complete
from andre.evaluation import Negatives, all_but_drawn, filtered_ranks
from andre.facts import FactBase
from andre.logic import Atom, Constant, parse_atom, parse_rule
from andre.runs import load


def renamed(facts, also=()):
    """The same facts about other things in another order, and further ones."""
    rows, marks = [], []
    for mark in ("train", "valid", "test"):
        for name, arity in facts.relations:
            for atom in facts.select(mark).atoms(name, arity):
                rows.append(
                    Atom(atom.predicate, tuple(Constant(f"z{99 - int(arg.value[1:])}") for arg in atom.args))
                )
                marks.append(mark)
    rows += also
    return FactBase.from_facts(rows[::-1], marks=(marks + ["train"] * len(also))[::-1])


@pytest.fixture(scope="module", params=["small", "large"])
def done(request):
    """Without rules about constants, which other graphs do not have."""
    config = FAST if request.param == "small" else large()
    config = config.model_copy(update={"constants": 0, "chained": (False,), "aggregators": ("weights",)})
    return complete(family(), config, [parse_rule("parent(X, Y) :- child(Y, X), \\+ likes(X, Y).")])


def test_other_names_are_ranked_alike(done):
    other = done.transferred(renamed(family()))
    assert other.evaluate("test") == done.evaluate("test")
    assert other.evaluate("valid") == done.evaluate("valid")
    assert other.notes == ()
    assert other.rank(parse_atom("parent(z92, X)"))[0].atom == parse_atom("parent(z92, z84)")


def test_rules_keep_their_counts_and_weights_on_any_graph(done):
    other = done.transferred(renamed(family(60, seed=3)))
    assert set(other.rules) == set(done.rules)
    assert np.array_equal(other.chances(done.rules), done.chances(done.rules))
    assert other.evaluate("test").mrr["realistic"] > 0.8  # parent is the inverse of child there, too


def test_a_relation_that_only_one_graph_has_changes_nothing_else(done):
    more = renamed(family(), [parse_atom("aunt(z99, z98)")])
    other = done.transferred(more)
    assert other.evaluate("test").mrr["realistic"] == pytest.approx(done.evaluate("test").mrr["realistic"])
    assert "nothing was learned about aunt" in other.notes[-1]
    fewer = FactBase.from_facts([parse_atom("child(b, a)"), parse_atom("parent(c, d)")])
    assert any("rules read relations that these facts lack" in note for note in done.transferred(fewer).notes)
    assert done.transferred(fewer).rank(parse_atom("parent(a, X)"))[0].atom == parse_atom("parent(a, b)")


def test_what_is_transferred_can_be_saved(done, tmp_path):
    other = done.transferred(renamed(family(60, seed=3)))
    other.save(tmp_path / "run")
    again = load(tmp_path / "run")
    assert again.evaluate("test") == other.evaluate("test")
    assert set(again.rules) == set(other.rules)


def test_constants_are_told_by_their_names():
    config = large(constants=30)
    done = complete(family(), config)
    assert done.transferred(family()).evaluate("test") == done.evaluate("test")
    assert done.transferred(family()).rules == done.rules
    other = done.transferred(renamed(family()))
    assert "rules name constants that these facts lack" in other.notes[0]
    assert not any(arg for rule in other.rules for arg in rule.head.args if isinstance(arg, Constant))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(0, 15))
def test_drawn_candidates_are_wrong_ones(seed, candidates, count):
    rng = np.random.default_rng(seed)
    known, true = rng.random((5, candidates)) < 0.5, rng.integers(candidates, size=5)
    left_out = all_but_drawn(known, true, count, np.random.default_rng(seed))
    stay = ~left_out
    assert stay[np.arange(5), true].all()
    stay[np.arange(5), true] = False
    assert not (stay & known).any()
    wrong = ~known
    wrong[np.arange(5), true] = False
    assert stay.sum(axis=1).tolist() == np.minimum(count, wrong.sum(axis=1)).tolist()


def test_facts_are_ranked_among_candidates_that_are_drawn(done):
    """Brute force: every query by itself, its candidates drawn and compared one by one."""
    graph, negatives = done.graph, Negatives(5, seed=3)
    facts = {mark: {tuple(row) for row in graph.part(mark).tolist()} for mark in ("train", "valid", "test")}
    known = facts["train"] | facts["valid"] | facts["test"]
    count = len(graph.relations)
    for step, ranks in done.ranks("test", negatives).items():
        rng, relation = np.random.default_rng([3, step]), step % count
        pairs = graph.pairs(step, "test").tolist()
        expected = {}
        for at in sorted(range(len(pairs)), key=lambda place: pairs[place][0]):
            start, answer = pairs[at]

            def fact(end, start=start, relation=relation, turned=step >= count):
                return (relation, end, start) if turned else (relation, start, end)

            wrong = [end for end in range(graph.n) if fact(end) not in known]
            drawn = rng.choice(wrong, 5, replace=False).tolist()
            scores = done.scorer.scores(done.features[step], np.array([start]))[0].tolist()
            better = sum(scores[end] > scores[answer] for end in drawn)
            ties = sum(scores[end] == scores[answer] for end in drawn)
            expected[at] = 1 + better + ties / 2
        assert ranks.of("realistic").tolist() == [expected[at] for at in range(len(pairs))]


def test_all_candidates_are_drawn_where_there_are_no_more(done):
    assert done.evaluate("test", Negatives(10**6)) == done.evaluate("test")
    one, two = (done.evaluate("test", Negatives(3, seed)) for seed in (0, 0))
    assert one == two
    assert filtered_ranks(np.array([[1.0, 2.0]]), np.array([0])).mrr == 0.5


@settings(max_examples=40, deadline=None)
@given(small_bases)
def test_the_prior_is_the_noisy_or_of_what_a_constant_takes_part_in(facts):
    graph = Graph.of(facts)
    count = len(graph.relations)
    for step in range(graph.n_steps):
        answers = {int(y) for _, y in graph.pairs(step, "train")}
        for constant, prior in enumerate(graph.prior(step).tolist()):
            wrong = 1.0
            for other in range(graph.n_steps):
                has = {int(x) for x, y in graph.pairs(other, "train") if x != y}
                if other != (step + count) % graph.n_steps and constant in has:
                    wrong *= 1 - len(has & answers) / (len(has) + 2)
            assert prior == pytest.approx(1 - wrong)


def test_where_no_rule_fires_the_kind_of_a_constant_ranks_it():
    rows = [f"born_in(p{at}, c{at % 7})" for at in range(30)]
    rows += [f"capital(l{at}, c{at})" for at in range(9)] + [f"likes(p{at}, m{at})" for at in range(30)]
    done = complete(FactBase.from_facts(map(parse_atom, rows)), FAST)
    there = [*(f"capital(k{at}, d{at})" for at in range(5)), "likes(q0, n0)", "likes(q1, n1)"]
    other = done.transferred(FactBase.from_facts(map(parse_atom, [*there, "born_in(q0, d0)"])))
    found = other.rank(parse_atom("born_in(q1, X)"), limit=5)
    assert {str(answer.atom.args[1]) for answer in found} == {f"d{at}" for at in range(5)}
