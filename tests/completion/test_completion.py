"""Completion: its choices, its predictions, what is saved of it, bad input."""

import pytest
from tests.completion.bases import FAST, family

from andre.completion import CompletionConfig, complete, relearn
from andre.errors import ConfigError, DataError
from andre.facts import FactBase
from andre.logic import parse_atom, parse_rule
from andre.runs import load


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


def test_a_pool_may_hold_given_rules_only():
    rule = parse_rule("parent(X, Y) :- child(Y, X), X \\= Y.")
    config = FAST.model_copy(update={"short": False, "constants": 0, "chains": 0})
    done = complete(family(), config, extra=[rule])
    assert done.rules.rules == (rule,)
    assert done.rank(parse_atom("parent(c7, X)"), limit=1)[0].atom == parse_atom("parent(c7, c15)")


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


def test_a_completion_says_in_a_line_what_it_is():
    config = FAST.model_copy(update={"aggregators": ("maximum",), "chained": (False,)})
    assert repr(complete(family(), config)) == "Completion(4 relations, scored by maximum)"


def test_a_setting_that_does_not_exist_is_told():
    with pytest.raises(ConfigError, match="no setting smothing: is smoothing meant"):
        CompletionConfig.read({"smothing": (5,)})
    with pytest.raises(ConfigError, match=r"no setting zzz: choose from aggregators, smoothing"):
        CompletionConfig.read({"zzz": 1})


def test_it_tells_what_it_is_doing():
    heard = []
    complete(family(), FAST.model_copy(update={"chained": (False,)}), tell=heard.append)
    assert heard[0] == "short bodies"
    assert "rules, 8 of 8" in heard
    assert heard.index("rules, 8 of 8") < heard.index("weights, 1 of 8")
    assert "ranks of validation facts by noisy-or" in heard
