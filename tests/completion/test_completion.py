"""Completion: its choices, its predictions, what is saved of it, bad input."""

from collections import Counter
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.completion.bases import FAST, family, large, small_bases

from andre.completion import CompletionConfig, Reliability, as_rule, complete, relearn
from andre.completion.graph import Graph
from andre.completion.scoring import AGGREGATIONS, Aggregator
from andre.completion.weights import initial_weights
from andre.errors import ConfigError, DataError
from andre.facts import FactBase
from andre.learning import Callback
from andre.logic import Atom, Constant, Variable, parse_atom, parse_rule
from andre.runs import load


def test_held_out_facts_rank_first(done):
    report = done.evaluate("test")
    assert report.queries == 2 * 4
    assert report.mrr["pessimistic"] == 1.0


def test_both_sides_list_the_same_facts(done):
    graph, known = done.graph, {}
    for side, (ranks, turned) in enumerate(zip(done.sides("train"), (False, True), strict=True)):
        at = 0
        for relation in range(len(graph.relations)):
            step = graph.inverse(relation) if turned else relation
            single = done.ranks("train")[step]
            for place, fact in enumerate(graph.train[graph.train[:, 0] == relation].tolist()):
                assert ranks.greater[at] == single.greater[place]
                known.setdefault(tuple(fact), []).append((side, at))
                at += 1
        assert at == len(ranks) == len(graph.train)
    assert all(one == (0, at) and two == (1, at) for (one, two) in known.values() for at in [one[1]])


def test_test_facts_are_never_read(done):
    blind = complete(family(test=False), FAST)
    assert done.rules == blind.rules
    assert [choice.mrr for choice in done.choices] == [choice.mrr for choice in blind.choices]


def test_answers_name_rules_that_derive_them(done):
    best = done.rank(parse_atom("parent(c7, X)"), limit=1)[0]
    assert best.atom == parse_atom("parent(c7, c15)")
    assert best.rules[0] == parse_rule("parent(X, Y) :- child(Y, X), X \\= Y.")
    assert done.groundings(best.rules[0], best.atom)[0][0].atom == parse_atom("child(c15, c7)")
    assert 0 <= best.chance <= 1


@pytest.mark.parametrize("smoothing", [0.0, 1.0, 100.0])
def test_the_surest_rule_of_an_answer_gives_its_chance(smoothing):
    done = complete(family(), FAST.model_copy(update={"chained": (False,), "aggregators": ("maximum",)}))
    scorer = replace(done.scorer, smoothing=smoothing)
    changed = replace(done, scorer=scorer)
    for name in ("parent", "grandparent", "likes"):
        for found in changed.rank(parse_atom(f"{name}(c1, X)"), limit=5, rules=1000):
            sure = [rule.evidence[0].n_r / (rule.evidence[0].n_b + smoothing) for rule in found.rules]
            assert sure == sorted(sure, reverse=True)
            assert found.chance == pytest.approx(done.reliability.chance(np.array(sure[:1] or [0.0]))[0])


def test_no_rule_derives_its_head_from_itself(done):
    assert len(done.rules) > 50
    assert not any(rule.head in [literal.atom for literal in rule.body] for rule in done.rules)


def test_known_facts_are_left_out_unless_asked_for(done):
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


@settings(max_examples=20, deadline=None)
@given(small_bases, st.booleans(), st.booleans())
def test_a_rule_of_both_sides_is_listed_once(facts, small, some_given):
    config = CompletionConfig(aggregators=("maximum",), valid_share=0.0, constants=5, support=1)
    extra = [parse_rule(f"{name}(A, {c}) :- {name}(A, b).") for name in "pqr" for c in "ac"]
    done = complete(facts, config if small else large(config), extra if some_given else ())
    rules = [
        as_rule(body, done.graph, step, done.facts)
        for step, features in done.features.items()
        for body in features.bodies
    ]
    assert Counter(done.rules.rules) == Counter(set(rules))


def test_saved_and_loaded(tmp_path):
    done = complete(family(), FAST, [parse_rule("parent(X, Y) :- child(Y, X), \\+ likes(X, Y).")])
    done.save(tmp_path / "run")
    again = load(tmp_path / "run")
    assert again.evaluate("test") == done.evaluate("test")
    assert again.rules == done.rules
    assert (again.facts, again.choices, again.config) == (done.facts, done.choices, done.config)
    assert (tmp_path / "run" / "program.pl").read_text().count(":-") == len(done.rules)


def test_thin_relations_and_constants_of_test_only():
    rows = [f"p(a{i}, b{i})" for i in range(8)] + [f"q(b{i}, a{i})" for i in range(8)]
    atoms = list(map(parse_atom, [*rows, "rare(a1, b1)", "p(new, b1)", "only(a1, b2)"]))
    marks = ["train"] * 17 + ["test"] * 2
    done = complete(FactBase.from_facts(atoms, marks=marks), FAST)
    assert done.notes[0].startswith("only, rare have fewer than two training facts")
    assert done.notes_on("test") == ("1 constant has test facts but no training fact: no rule can rank them",)
    assert done.evaluate("test").queries == 4
    assert done.rank(parse_atom("only(a1, Y)")) == []


def test_facts_in_train_and_test_both():
    rows = [parse_atom(f"p(a{i}, b{i})") for i in range(8)]
    facts = FactBase.from_facts([*rows, rows[0]], marks=["train"] * 8 + ["test"])
    assert complete(facts, FAST).notes[0].startswith("1 of the facts stand in more than one")


def test_what_cannot_be_completed(done):
    with pytest.raises(DataError, match="no binary facts"):
        complete(FactBase.from_facts([parse_atom("p(a)")]))
    for text, words in (
        ("nothing(c1, X)", "no binary relation"),
        ("child(c1, c2)", "one argument open"),
        ("child(nobody, X)", "no fact mentions"),
    ):
        with pytest.raises(DataError, match=words):
            done.rank(parse_atom(text))


def test_a_pool_may_hold_given_rules_only():
    rule = parse_rule("parent(X, Y) :- child(Y, X), X \\= Y.")
    config = FAST.model_copy(update={"short": False, "constants": 0, "chains": 0})
    done = complete(family(), config, extra=[rule])
    assert done.rules.rules == (rule,)
    assert done.rank(parse_atom("parent(c7, X)"), limit=1)[0].atom == parse_atom("parent(c7, c15)")


@pytest.mark.parametrize("config", [FAST, large()])
def test_a_loaded_run_counts_the_ways_of_given_rules(config, tmp_path):
    """Two people are siblings by both of their parents: one pair, two groundings."""
    rows = [f"parent({p}{i}, {c}{i})" for i in range(9) for p in "mf" for c in "ab"]
    rows += [f"sibling({one}{i}, {two}{i})" for i in range(9) for one, two in ("ab", "ba")]
    body = "parent(Z, X), parent(Z, Y), \\+ parent(X, Y), X \\= Y, X \\= Z, Y \\= Z"
    rule = parse_rule(f"sibling(X, Y) :- {body}.")
    done = complete(FactBase.from_facts(map(parse_atom, rows)), config, extra=[rule])
    done.save(tmp_path)
    loaded = load(tmp_path)
    most = 0
    for step, features in done.features.items():
        again, everyone = loaded.features[step], np.arange(features.n)
        assert features.bodies == again.bodies
        ways = features.cells(everyone).groundings.toarray()  # [cells, bodies]
        assert np.array_equal(ways, again.cells(everyone).groundings.toarray())
        most = max(
            most, *(ways[:, place].max() for place, body in enumerate(features.bodies) if body == rule), 0
        )
    assert most == 2


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


def test_marked_facts_are_given_back_only_on_request(done):
    assert len(done.graph.valid) > 0
    again = relearn(done)
    assert len(again.graph.valid) == 0
    assert len(again.graph.train) == len(done.graph.train) + len(done.graph.valid)
    assert len(again.graph.test) == len(done.graph.test)
    with pytest.raises(DataError, match="no fact is marked valid"):
        again.evaluate("valid")


def test_a_completion_says_in_a_line_what_it_is():
    config = FAST.model_copy(update={"aggregators": ("maximum",), "chained": (False,)})
    made = repr(complete(family(), config))
    assert made.startswith("Completion(")
    assert made.endswith(" rules for 4 relations, scored by maximum)")


def test_a_setting_that_does_not_exist_is_told():
    with pytest.raises(ConfigError, match="no setting smothing: is smoothing meant"):
        CompletionConfig.read({"smothing": (5,)})
    with pytest.raises(ConfigError, match=r"no setting zzz: choose from aggregators, smoothing"):
        CompletionConfig.read({"zzz": 1})


class Heard(Callback):
    def __init__(self):
        self.stages = []

    def on_stage(self, stage, part, total):
        self.stages.append((stage, part, total))


def test_callbacks_hear_every_stage():
    heard = Heard()
    complete(family(), FAST.model_copy(update={"chained": (False,)}), callbacks=[heard])
    stages = heard.stages
    assert stages[0] == ("short bodies", 1, 1)
    assert [part for stage, part, total in stages if stage == "rules"] == list(range(1, 9))
    assert stages.index(("rules", 8, 8)) < stages.index(("weights", 1, 8))
    assert ("ranks of validation facts by noisy-or", 1, 1) in stages


@pytest.mark.parametrize(
    ("stage", "says", "n_features", "n_choices"),
    [
        (("short bodies", 1, 1), "8 of 8 directions have no rules, 3 of 3 ways of scoring", 0, 1),
        (("rules", 3, 8), "5 of 8 directions have no rules, 3 of 3 ways of scoring are not tried", 3, 1),
        (("weights", 2, 8), "1 of 3 ways of scoring are not tried", 8, 2),
        (("weights", 3, 8), "weights of 6 of 8 directions are not learned", 8, 1),
    ],
)
def test_the_best_so_far_is_returned_when_time_is_up(monkeypatch, stage, says, n_features, n_choices):
    heard = Heard()
    monkeypatch.setattr("andre.limits.now", lambda: 1e9 if stage in heard.stages else 0.0)
    aggregators = ("weights",) if says.startswith("weights") else FAST.aggregators
    changes = {"time_limit": 60.0, "chained": (False,), "aggregators": aggregators}
    config = FAST.model_copy(update=changes)
    cut = complete(family(), config, callbacks=[heard])
    assert (len(cut.features), len(cut.choices)) == (n_features, n_choices)
    assert f"the time limit of 60 s was reached: {says}" in cut.notes[-1]
    assert cut.evaluate("test").queries == 8


def test_a_time_limit_cuts_whatever_comes_after_it():
    """Assumed facts, and facts that were split off, come last."""
    config = FAST.model_copy(update={"time_limit": 1e-9, "chained": (True,), "aggregators": ("weights",)})
    facts = family(test=False).select("train")
    cut = complete(facts, config)
    assert cut.notes[-1] == (
        "the time limit of 1e-09 s was reached: 8 of 8 directions have no rules, "
        "1 of 1 ways of scoring are not tried, no facts are assumed, validation facts are not learned from"
    )
    assert len(cut.graph.valid) > 0 == len(cut.rules)
    assert cut.rank(parse_atom("parent(c7, X)")) == []


def test_without_time_to_learn_weights_the_best_rule_decides(done):
    plain = done.scorer.__class__("maximum", 5.0, 5)
    for features in done.features.values():
        unlearned = done.scorer.__class__(
            "weights", 5.0, 5, 10.0, {features.step: initial_weights(len(features.bodies))}
        )
        starts = np.flatnonzero(done.graph.has_answer(features.step))
        cells = features.cells(starts)
        one, two = (s.scores(features, starts)[cells.query, cells.candidate] for s in (plain, unlearned))
        best = one[:, None] > one + 0.5  # apart by more than popularity
        same = cells.query[:, None] == cells.query
        assert (two[:, None] >= two - 1e-5)[best & same].all()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=60))
def test_chances_are_the_closest_that_never_fall(rows):
    """Against the min-max formula of isotonic regression."""
    confidence, true = np.array([row[0] for row in rows]) / 10, np.array([row[1] for row in rows])
    found = Reliability.of(confidence, true)
    values = np.unique(confidence)
    mass = np.array([(confidence == value).sum() for value in values], dtype=float)
    right = np.array([true[confidence == value].sum() for value in values], dtype=float)
    mass[-1] += 1
    n = len(values)
    wanted = [
        max(min(right[a : b + 1].sum() / mass[a : b + 1].sum() for b in range(k, n)) for a in range(k + 1))
        for k in range(n)
    ]
    assert found.chances == pytest.approx(wanted, abs=1e-12)


def test_reliability_is_of_candidates_that_training_does_not_state(done):
    graph, c, confidences, truths = done.graph, done.scorer.smoothing, [], []
    for step, features in done.features.items():
        train, valid = (set(map(tuple, graph.pairs(step, mark).tolist())) for mark in ("train", "valid"))
        sure, asked = features.n_r / (features.n_b + c), {x for x, _ in valid}
        for key, fires in zip(features.keys.tolist(), features.groundings.T.toarray() > 0, strict=True):
            pair, best = divmod(key, graph.n), max(sure[fires], default=0)
            if pair[0] in asked and pair not in train and best > 0:
                confidences.append(best)
                truths.append(pair in valid)
    wanted = Reliability.of(np.array(confidences), np.array(truths))
    assert 0 < sum(truths) < len(truths)
    assert done.reliability.confidences == pytest.approx(wanted.confidences)
    assert done.reliability.chances == pytest.approx(wanted.chances)
    assert [found.count for found in done.reliability.bins] == [found.count for found in wanted.bins]


@pytest.mark.parametrize("aggregator", get_args(Aggregator))
def test_a_constant_may_be_asked_from_more_than_once(done, aggregator):
    for step, features in done.features.items():
        scorer = done.scorer.__class__(
            aggregator, 5.0, 5, 10.0, {step: initial_weights(len(features.bodies))}
        )
        starts = np.array([3, 1, 3, 0, 1])
        one_by_one = np.concatenate([scorer.scores(features, starts[[at]]) for at in range(len(starts))])
        together = scorer.scores(features, starts)
        for one, two in zip(one_by_one, together, strict=True):
            assert (np.unique(one, return_inverse=True)[1] == np.unique(two, return_inverse=True)[1]).all()


def test_every_aggregator_has_its_entry():
    assert tuple(AGGREGATIONS) == get_args(Aggregator)


def test_a_probability_of_zero_teaches_nothing():
    facts = family()
    new = [Atom(name, (Constant("a"), Constant("b"))) for name, arity in facts.relations if arity == 2]
    denied = facts.merge(FactBase.from_facts([], negatives=new))
    zero = facts.merge(FactBase.from_facts(new, probabilities=[0.0] * len(new)))
    for part in ("train", "valid", "test", "denied"):
        assert (Graph.of(zero).part(part) == Graph.of(denied).part(part)).all()


def test_candidates_without_a_rule_are_in_the_order_of_their_chances():
    lives = [Atom("livesIn", (Constant(f"person{n}"), Constant(f"city{n % 6}"))) for n in range(60)]
    speaks = [Atom("speaks", (Constant(f"person{n}"), Constant(f"lang{n % 6 // 2}"))) for n in range(60)]
    lies = [Atom("inCountry", (Constant(f"city{n}"), Constant(f"country{n // 2}"))) for n in range(6)]
    official = [Atom("officialLanguage", (Constant(f"country{n}"), Constant(f"lang{n}"))) for n in range(3)]
    done = complete(FactBase.from_facts([*lives, *speaks, *lies, *official]))
    for n in range(6):
        chances = [answer.chance for answer in done.rank(f"speaks(person{n}, ?)", 80)]
        assert chances == sorted(chances, reverse=True)


@pytest.mark.parametrize("aggregator", ["maximum", "noisy-or", "weights"])
def test_answers_are_in_the_order_of_their_chances(aggregator):
    rng = np.random.default_rng(1)
    noise = [Atom(f"r{n % 3}", (Constant(f"c{a}"), Constant(f"c{b}"))) for n, (a, b) in
             enumerate(rng.integers(0, 24, (150, 2)))]  # fmt: skip
    facts = family().merge(FactBase.from_facts(noise))
    done = complete(facts, FAST.model_copy(update={"aggregators": (aggregator,)}))
    for relation in ("parent", "child", "likes", "r0"):
        for n in range(12):
            found = done.rank(Atom(relation, (Constant(f"c{n}"), Variable("Y"))), 20, known=n % 2 == 0)
            chances = [answer.chance for answer in found if answer.atom.args[0] != answer.atom.args[1]]
            assert chances == sorted(chances, reverse=True)
