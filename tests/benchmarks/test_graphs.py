"""The table of graphs of real size, on a base small enough to see what is right."""

import json

import pytest
from tests.benchmarks.test_ranking import base

from andre.completion import CompletionConfig, complete
from andre.errors import ConfigError, DataError
from andre.inference import covered_heads
from andre.logic import parse_rule
from benchmarks import graphs
from benchmarks.drawn_graphs import draw_graph


def test_the_table_says_how_well_how_long_and_how_much(monkeypatch):
    monkeypatch.setattr(graphs, "load_split", lambda name: base())
    monkeypatch.setattr(graphs, "run_apart", lambda work, *given: work(*given))
    report = graphs.bench_graphs("fb15k-237", workers=1)
    (found,) = report.data["bases"]
    assert found["test"]["mrr"]["realistic"] > 0.9
    assert found["interval"]["mean"] == pytest.approx(found["test"]["mrr"]["realistic"])
    assert found["peak"] > 0
    assert found["processor"] > 0
    ours, asked, others = report.tables
    assert len(ours.rows[0]) == len(ours.columns)
    assert asked.rows[0][1].startswith("after(")
    assert {row[0] for row in others.rows} == {"fb15k-237"}
    with pytest.raises(ConfigError, match="no dataset 'none'"):
        graphs.bench_graphs("none")


def test_what_is_not_measured_now_is_taken_from_an_earlier_report(monkeypatch, tmp_path):
    monkeypatch.setattr(graphs, "load_split", lambda name: base())
    monkeypatch.setattr(graphs, "run_apart", lambda work, *given: work(*given))
    graphs.bench_graphs("family,fb15k-237", workers=1).write(tmp_path)
    path = tmp_path / "benchmarks" / "graphs.json"
    before = json.loads(path.read_text())
    graphs.bench_graphs("wn18rr,family", workers=1, earlier=str(path)).write(tmp_path)
    after = json.loads(path.read_text())
    for key in ("bases", "questions"):
        assert [one["base"] for one in after["data"][key]] == ["fb15k-237", "wn18rr", "family"]
        kept = [
            next(one for one in parts["data"][key] if one["base"] == "fb15k-237") for parts in (before, after)
        ]
        assert kept[0] == kept[1]
    assert [row for table in before["tables"][:2] for row in table["rows"] if row[0] == "fb15k-237"] == [
        row for table in after["tables"][:2] for row in table["rows"] if row[0] == "fb15k-237"
    ]
    assert after["notes"] == ["Taken from an earlier run: fb15k-237."]
    with pytest.raises(DataError, match="there is no report"):
        graphs.bench_graphs("family", earlier=str(tmp_path / "none.json"))
    with pytest.raises(DataError, match="of another seed"):
        graphs.bench_graphs("family", seed=1, earlier=str(path))


def test_planted_rules_derive_most_facts_of_their_relations_and_a_tenth_of_all_are_about_a_hub():
    drawn = draw_graph(40_000, seed=1)
    assert 4_000 <= drawn.hub <= 6_000
    for rule in drawn.rules:
        relation = drawn.facts.relations[rule.head.predicate, 2]
        derived = set(map(tuple, covered_heads(rule, drawn.facts).tolist()))
        share = sum(pair in derived for pair in map(tuple, relation.codes.tolist())) / len(relation.codes)
        assert share == pytest.approx(0.9, abs=0.06), rule
        assert relation.count("valid") >= relation.count("test") > 0
    assert [str(rule) for rule in draw_graph(40_000, seed=1).rules] == [str(rule) for rule in drawn.rules]


def test_a_rule_is_found_among_the_surest_of_its_relation():
    done = complete(base(), CompletionConfig(aggregators=("maximum",)))
    assert graphs._is_found(parse_rule("after(X, Y) :- before(Y, X), X \\= Y."), done)
    assert not graphs._is_found(parse_rule("after(X, Y) :- before(X, Y), X \\= Y."), done)
