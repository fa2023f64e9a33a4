"""Tables of knowledge bases: protocols counted right on bases small enough to do by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from andre.census import take_census
from andre.facts import TASKS, FactBase
from andre.logic import parse_atom
from andre.samples import Language
from benchmarks import knowledge
from benchmarks.countries import Map, Source, hide, judge_regions
from benchmarks.knowledge import Heads, _asked, ceiling, judge_heads, judge_rows, remark, time_all
from benchmarks.paper import KNOWLEDGE, RUN_MINUTES, Published
from benchmarks.preset import PaperRuns

_SIDE = Published("family", "grandparent/2", 0.8, 3, None, None)
_PRINTED = Published("family", "grandparent/2", 0.8, 3, 99.0, 90.0, (("NTPλ", 50.0),))


def _family():
    return TASKS["grandparent"].train(0)


def test_rows_reach_their_ceiling():
    found = judge_rows(_SIDE, 0, _family())
    assert found.fewest <= found.held_ceiling + 1e-9
    assert found.fewest >= found.mixed - 1
    assert (
        found.rows
        == take_census(_family(), Language.preset("paper", "grandparent/2"), semantics="rows").n_examples
    )
    assert found.by_paper is None
    assert found.paper_program == ()
    assert len(found.line()) == len(knowledge._ROWS)


def test_lines_of_the_paper_are_learned_by_its_preset():
    found = judge_rows(_PRINTED, 0, _family(), PaperRuns(steps=2))
    assert 0 <= found.by_paper <= found.held_ceiling + 1e-9
    assert len(found.line()) == len(knowledge._ROWS)
    assert found.published_line()[2:-1] == ("50.00", "–", "–", "–", "90.00", "99.00")
    assert len(found.published_line()) == len(knowledge._PUBLISHED)


def test_a_ceiling_by_hand():
    facts = FactBase.from_facts(map(parse_atom, ["p(a,b)", "p(b,c)", "p(c,a)", "q(a,b)", "q(b,c)"]))
    census = take_census(facts, Language.preset("paper", "p/2", variables=2), semantics="rows")
    total = right = 0
    for row, positive, negative in zip(census.cells, census.positives, census.negatives, strict=True):
        assert len(row) == census.space.m
        total, right = total + positive + negative, right + max(positive, negative)
    assert ceiling(census) == pytest.approx(100 * right / total)


def test_heads_are_judged_by_one_step():
    gradient, mixed = judge_heads(_SIDE, 0, _family())
    assert (gradient.kind, mixed.kind) == ("gradient only", "mixed pool")
    assert mixed.held_out == gradient.held_out > 0
    assert mixed.accuracy > 95
    assert len(mixed.line()) == 11


def test_shares_by_hand():
    found = np.array([True, True, False, False])
    wrong = np.array([True, *[False] * 9])
    heads = Heads.of(("d", "p/2", "mixed pool"), found, wrong, (1, 0.5))
    assert heads.accuracy == pytest.approx(100 * 11 / 14)
    assert heads.balanced == pytest.approx(100 * (0.5 + 0.9) / 2)
    assert heads.f1 == pytest.approx(100 * 2 * 2 / (4 + 2 + 1))


def test_negatives_are_pairs_that_no_fact_states():
    codes = np.array([[0, 1], [1, 2], [2, 0], [0, 2]], dtype=np.int32)  # the last two held out and for test
    train, held = np.array([True, True, False, False]), np.array([False, False, True, False])
    asked, others = _asked(codes, train, held)
    assert asked.tolist() == [[2, 0]]
    assert others.tolist() == []  # {0, 1} x {1, 2} less loops and facts


@pytest.mark.parametrize(
    ("paper", "negatives", "said"),
    [
        ((99.0, 100.0), 90.0, "exceed what rows allow"),
        ((90.1, None), 90.0, "share of negatives"),
        ((94.0, 50.0), 90.0, "DFORL's: below always saying no"),
        ((94.0, 94.0), 90.0, ""),
    ],
)
def test_remarks(paper, negatives, said):
    found = remark(Published("umls", "isa/2", 0.95, 3, *paper), negatives, 95.0)
    assert said in found if said else found == ""


def test_the_paper_times_what_it_judges():
    assert set(RUN_MINUTES) <= {line.dataset for line in KNOWLEDGE}


def _world():
    """Two regions of two subregions of four countries in a row each; one country's region is for test."""
    facts = []
    for region in "ab":
        for sub in "12":
            facts.append(f"locatedIn({region}{sub},{region})")
            for number in range(4):
                facts.append(f"locatedIn({region}{sub}{number},{region}{sub})")
                facts.append(f"locatedIn({region}{sub}{number},{region})")
        names = [f"{region}{sub}{number}" for sub in "12" for number in range(4)]
        facts += [f"neighborOf({one},{two})" for one, two in pairwise(names)]
    marks = ["test" if fact == "locatedIn(a12,a)" else "train" for fact in facts]
    return FactBase.from_facts(map(parse_atom, facts), marks=marks)


def test_regions_of_a_small_world():
    found = judge_regions("countries_s1", facts=_world())
    assert (found.first, found.test, found.missed) == (1, 1, ())
    assert found.valid <= found.asked


def test_regions_by_rules_of_preset_paper():
    source = Source(None, 3, steps=2)
    assert str(source) == "preset paper, 3 variables"
    found = judge_regions("countries_s1", source, facts=_world())
    assert (found.pool, found.variables, found.test) == (None, 3, 1)
    assert found.first + len(found.missed) == 1


@pytest.mark.parametrize("task", ["countries_s1", "countries_s2", "countries_s3"])
def test_what_is_hidden_of_a_country(task):
    """The region becomes valid; S2 takes the subregion, S3 the regions of neighbours too."""
    facts = _world()
    country, near, sub, region = (facts.constants.index(name) for name in ("b11", "b12", "b1", "b"))
    hidden = Map.of(hide(task, facts, [country])).located
    relation = hide(task, facts, [country]).relations["locatedIn", 2]
    assert relation.codes[relation.marked("valid")].tolist() == [[country, region]]
    assert relation.count("test") == 1
    assert not hidden[country, region]
    assert hidden[country, sub] == (task == "countries_s1")
    assert hidden[near, region] == (task != "countries_s3")
    assert hidden[near, sub]


def test_drawn_countries_have_neighbours_and_a_region():
    whole = Map.of(_world())
    for seed in range(5):
        drawn = whole.draw(seed)
        assert len(set(drawn)) == len(drawn) == 7  # half of those that may be held out
        assert whole.near[drawn].any(axis=1).all()
        assert whole.located[np.ix_(drawn, whole.regions)].any(axis=1).all()


def test_times_of_all_relations():
    facts = _world()
    found = time_all("small", 1, facts)
    assert found.targets == 2
    assert 0 < found.slowest_seconds <= found.seconds
    assert found.megabytes > 1
    assert len(found.line()) == len(knowledge._TIMES)
    assert found.line()[1] == "mixed pool"
