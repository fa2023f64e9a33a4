"""Assumed facts: where they are made, what builds on them, and that they are no evidence."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from tests.completion.bases import FAST, islands, small_bases
from typer.testing import CliRunner

from andre.cli.app import app
from andre.completion import Graph, Scorer, complete, relearn, with_assumed
from andre.completion.assumed import asked, unanswered
from andre.completion.scoring import rank_facts
from andre.facts import FactBase, write_facts
from andre.inference import covered_heads
from andre.logic import parse_atom
from andre.runs import load

CHAINED = FAST.model_copy(update={"chained": (True,)})


@pytest.fixture(scope="module")
def plain():
    return complete(islands(), FAST.model_copy(update={"chained": (False,)}))


def test_what_is_far_from_all_facts_is_reached(plain, chained):
    step = plain.graph.relations.index("in")
    asked_from = plain.graph.pairs(step, "test")
    middle = [plain.facts.constants[code] in ("a3", "b3") for code in asked_from[:, 0].tolist()]
    assert (chained.ranks("test")[step].of("pessimistic") == 1).all()
    assert (plain.ranks("test")[step].of("pessimistic")[middle] > 1).all()
    assert {choice.chained for choice in chained.choices} == {False, True}


def test_validation_facts_decide_and_the_choice_is_kept(plain):
    done = complete(islands(), FAST)
    assert done.chained  # both ways are tried by default in a small base
    again = relearn(done)
    assert again.chained
    step = again.graph.relations.index("in")
    stated = again.graph.pairs(step, "train")[:, 0]  # validation facts too by now
    assert not np.isin(again.graph.follow(step, again.graph.assumed)[:, 0], stated).any()
    assert not plain.chained


@given(small_bases)
def test_what_is_unanswered(facts):
    graph = Graph.of(facts)
    leads = [{int(x) for x in graph.pairs(step, "train")[:, 0]} for step in range(graph.n_steps)]
    kinds = [[step for step in range(graph.n_steps) if x in leads[step]] for x in range(graph.n)]
    for step, found in unanswered(graph).items():
        others = [[one for one in kind if one != step] for kind in kinds]
        wanted = []
        for x in range(graph.n):
            alike = [y for y in range(graph.n) if others[y] == others[x]]
            if x not in leads[step] and others[x] and 2 * sum(y in leads[step] for y in alike) >= len(alike):
                wanted.append(x)
        assert found.tolist() == wanted


def test_what_is_denied_is_neither_assumed_nor_predicted():
    facts, atom = islands(), parse_atom("in(a0, a)")
    relation = facts.relations["in", 2]
    false = (relation.codes == [facts.code(arg.value) for arg in atom.args]).all(axis=1)
    taught = np.where(false, 0, relation.mark).astype(np.uint8)
    denied = facts.with_relation(replace(relation, mark=taught, negative=false))
    held_out = facts.with_relation(replace(relation, negative=false))  # what test says is not to be known
    quick = CHAINED.model_copy(update={"aggregators": ("maximum",), "chains": 0})
    for base, is_there in ((facts, True), (denied, False), (held_out, True)):
        done = complete(base, quick)
        assert done.is_assumed(atom) == is_there
        assert (atom in [found.atom for found in done.rank(parse_atom("in(a0, Y)"), 999)]) == is_there


def test_assumed_facts_are_no_evidence(chained):
    done = chained
    known = done.facts.select("train")
    counted = 0
    for rule in done.rules:
        heads = {tuple(row) for row in covered_heads(rule, known).tolist()}
        stated = {tuple(row) for row in known.relations[rule.head.predicate, 2].codes.tolist()}
        train = rule.evidence[0]
        assert (train.n_b, train.n_r) == (len(heads), len(heads & stated))
        counted += 1
    assert counted
    assert len(with_assumed(done.facts, done.graph)) == len(known) + len(done.graph.assumed)


def test_a_chained_completion_is_saved_whole(chained, tmp_path):
    done = chained
    done.save(tmp_path)
    again = load(tmp_path)
    assert again.graph.assumed.tolist() == done.graph.assumed.tolist()
    assert again.evaluate("test") == done.evaluate("test")
    query = parse_atom("in(a3, Y)")
    assert again.rank(query) == done.rank(query)
    assert again.rules == done.rules


def test_an_explanation_says_what_was_assumed(tmp_path):
    path = tmp_path / "islands.jsonl"
    write_facts(islands(), path)
    found = CliRunner().invoke(
        app,
        [
            "rank",
            str(path),
            "in(a3, ?)",
            "--limit",
            "1",
            "--set",
            "chained=true",
            "--set",
            "aggregators=maximum",
        ],
        catch_exceptions=False,
    )
    assert found.exit_code == 0
    assert "in(a3, a)" in found.stdout
    assert "(assumed)" in found.stdout


def test_ranks_stand_in_the_order_of_the_facts(plain):
    mixed = np.random.default_rng(0).permutation(plain.graph.test)
    graph, scorer = replace(plain.graph, test=mixed), Scorer("maximum", 5.0, 5)
    whole, parts = (
        rank_facts(graph, plain.features, scorer, "test", block=block) for block in (10**9, 3 * graph.n)
    )
    for step, ranks in whole.items():
        assert ranks.of("realistic").tolist() == parts[step].of("realistic").tolist()
        known = graph.known(step, ("train", "valid", "test"))
        for (start, end), rank in zip(graph.pairs(step, "test"), ranks.of("realistic"), strict=True):
            scores = scorer.scores(plain.features[step], np.array([start]))[0]
            others = np.delete(scores, known[start].indices)
            assert rank == 1 + (others > scores[end]).sum() + (others == scores[end]).sum() / 2


def test_where_everything_is_answered_nothing_is_assumed():
    rows = [f"p(x{i}, y{i})" for i in range(9)] + [f"q(y{i}, x{i})" for i in range(9)]
    done = complete(FactBase.from_facts(map(parse_atom, rows)), CHAINED)
    assert not done.chained
    assert not any(some.any() for some in asked(done.graph).values())
