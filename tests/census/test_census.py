"""The census agrees with brute force, exactly, in all its ways of counting."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom
from tests.census.oracle import Brute, comparable
from tests.census.strategies import fact_bases

from andre.census import take_census
from andre.census.cells import TRUE, UNKNOWN, value_of
from andre.census.census import carry_out, ground
from andre.census.draw import draw_cells, draw_marked
from andre.census.plan import Request, plan_census
from andre.errors import AndreError, DataError, MemoryLimitError
from andre.facts import FactBase, Relation, read_facts
from andre.logic import Atom, Constant, parse_atom
from andre.samples import Language

SEMANTICS = ("rows", "exists")
MODES = ("define", "complete")


def agrees(facts: FactBase, language: Language, method: str, **options: Any) -> None:
    expected = Brute(facts, language).take(**options)
    assume(any(not atom.is_builtin for atom in expected.atoms))
    found = comparable(take_census(facts, language, method=method, **options))
    assert found.atoms == expected.atoms
    assert found.groundings == expected.groundings
    assert found.dropped == expected.dropped
    assert found.weights == expected.weights


ways = settings(max_examples=40, deadline=None)
METHODS = ("count", "list")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("semantics", SEMANTICS)
@given(data=st.data())
@ways
def test_three_variables(semantics: str, method: str, data: st.DataObject) -> None:
    facts = data.draw(fact_bases())
    language = Language("p/2", inequality=data.draw(st.booleans()), recursion=data.draw(st.booleans()))
    identity = data.draw(st.sampled_from((None, True, False)))
    mode = data.draw(st.sampled_from(MODES))
    agrees(facts, language, method, semantics=semantics, mode=mode, identity=identity)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("semantics", SEMANTICS)
@given(data=st.data())
@ways
def test_probabilities_marks_and_denied_facts(semantics: str, method: str, data: st.DataObject) -> None:
    facts = data.draw(
        fact_bases(
            chances=data.draw(st.booleans()),
            marks=data.draw(st.booleans()),
            denied=data.draw(st.booleans()),
            world=data.draw(st.sampled_from(("closed", "open"))),
        )
    )
    language = Language("p/2", held_out=data.draw(st.booleans()))
    agrees(facts, language, method, semantics=semantics, mode=data.draw(st.sampled_from(MODES)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("semantics", SEMANTICS)
@given(data=st.data())
@ways
def test_any_number_of_variables_and_head_arity(semantics: str, method: str, data: st.DataObject) -> None:
    arity = data.draw(st.integers(1, 2))
    facts = data.draw(fact_bases(target=arity, max_facts=8))
    language = Language(f"p/{arity}", variables=data.draw(st.integers(arity, 4)))
    identity = data.draw(st.sampled_from((None, True, False)))
    mode = data.draw(st.sampled_from(MODES))
    agrees(facts, language, method, semantics=semantics, mode=mode, identity=identity)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("semantics", SEMANTICS)
@given(data=st.data())
@ways
def test_languages(semantics: str, method: str, data: st.DataObject) -> None:
    facts = data.draw(fact_bases(numbers=data.draw(st.booleans())))
    places = st.sampled_from(
        ("p/2:1", "p/2:2", *(f"{name}/2:2" for name, _ in facts.relations if name in "qr"))
    )
    language = Language(
        "p/2",
        variables=data.draw(st.integers(2, 3)),
        repeated=data.draw(st.booleans()),
        order=data.draw(st.booleans()),
        constants=tuple(data.draw(st.sets(places, max_size=2))),
    )
    agrees(facts, language, method, semantics=semantics, mode=data.draw(st.sampled_from(MODES)))


@pytest.mark.parametrize("semantics", SEMANTICS)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_relations_of_three_arguments(semantics: str, data: st.DataObject) -> None:
    arity = data.draw(st.integers(2, 3))
    facts = data.draw(fact_bases(target=arity, others=(("q", 2), ("w", 3)), chances=True, max_facts=8))
    language = Language(f"p/{arity}", constants=("w/3:2",) if ("w", 3) in facts.relations else ())
    agrees(facts, language, "auto", semantics=semantics)


TOTALS = [
    ("countries_s1", "locatedIn", 3, 266 * 28 * 271, 110642, 1907766, 14),
    ("countries_s2", "locatedIn", 3, 218 * 27 * 271, 98742, 1496364, 22),
    *(
        ("nations", name, 4, 14**4, 0, 14**4, 38403)
        for name in ("blockpositionindex", "embassy", "commonbloc1", "commonbloc2")
    ),
    ("umls", "isa", 3, 133 * 43 * 135, 18793, 753272, 29651),
    ("uw_cse", "advisedby", 3, 91 * 39 * 1209, 0, 4290741, 22),
    ("alzheimers_amine", "great_ne", 3, 26 * 23 * 147, 39131, 48775, 108),
]


@pytest.mark.parametrize(("name", "target", "variables", "groundings", "dropped", "rows", "distinct"), TOTALS)
def test_the_papers_rows_come_out_to_the_row(
    datasets: Path,
    name: str,
    target: str,
    variables: int,
    groundings: int,
    dropped: int,
    rows: int,
    distinct: int,
) -> None:
    facts = read_facts(datasets / f"{name}.nl")
    census = take_census(facts, Language.preset("paper", target, variables=variables), semantics="rows")
    assert (census.groundings, census.dropped, census.n_examples) == (groundings, dropped, rows)
    assert census.distinct == distinct
    assert census.positive + census.negative == rows


def test_ten_to_the_thirteen_groundings_are_counted_exactly(datasets: Path) -> None:
    facts = read_facts(datasets / "wn18rr.nl")
    census = take_census(facts, Language.preset("paper", "_hypernym"), semantics="rows")
    assert census.groundings == 35_152 * 9_660 * 40_943
    assert census.positive + census.negative + census.dropped == census.groundings
    target = facts.relations["_hypernym", 2]
    assert census.positive + census.dropped == target.count("train") * 40_943


@pytest.mark.parametrize(
    ("name", "semantics"),
    [("countries_s1", "rows"), ("alzheimers_amine", "rows"), ("alzheimers_amine", "exists")],
)
def test_counting_and_listing_agree_on_real_facts(datasets: Path, name: str, semantics: str) -> None:
    facts = read_facts(datasets / f"{name}.nl")
    language = Language(next(iter(facts.relations))[0])
    options: dict[str, Any] = {"semantics": semantics, "mode": "complete"}
    counted, listed = (comparable(take_census(facts, language, method=m, **options)) for m in METHODS)
    assert counted == listed


@pytest.mark.parametrize("option", ["big_integers", "duckdb"])
def test_counts_beyond_64_bits_and_by_duckdb_are_the_same(option: str) -> None:
    facts = FactBase.from_facts([parse_atom(f"p(c{i}, c{i * k % 20})") for i in range(20) for k in (1, 3, 7)])
    graph = ground(facts, Language("p/2"), "rows", "define")
    plan = plan_census(graph, 3, Request("rows", method="count"))
    assert not any(getattr(step, option) for step in plan.steps)
    other = replace(plan, steps=tuple(replace(step, **{option: True}) for step in plan.steps))
    narrow, wide = (carry_out(facts, graph, way) for way in (plan, other))
    assert (wide.positives.dtype == object) == (option == "big_integers")
    assert comparable(wide) == comparable(narrow)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.floats(0.05, 0.95), st.integers(0, 9))
@settings(deadline=None)
def test_a_split_takes_its_share_and_no_more_than_there_is(cells: list[int], share: float, seed: int) -> None:
    counts = np.array(cells)
    drawn = draw_cells(counts, share, np.random.default_rng(seed))
    assert drawn.sum() == round(share * sum(cells))
    assert ((drawn >= 0) & (drawn <= counts)).all()


@pytest.mark.parametrize(("marked", "others", "wanted"), [(300, 2 * 10**9, 10**9), (10**13, 10**13, 10**4)])
def test_draws_beyond_numpys_limit_follow_their_law(marked: int, others: int, wanted: int) -> None:
    rng = np.random.default_rng(0)
    drawn = np.array([draw_marked(marked, others, wanted, rng) for _ in range(2000)], dtype=np.float64)
    law = hypergeom(marked + others, marked, wanted)
    assert abs(drawn.mean() - law.mean()) < 5 * law.std() / np.sqrt(len(drawn))
    assert 0.9 < drawn.std() / law.std() < 1.1


def test_both_parts_of_a_split_make_the_whole() -> None:
    facts = FactBase.from_facts([parse_atom(f"p(c{i}, c{i * 7 % 20})") for i in range(20)])
    for semantics in SEMANTICS:
        census = take_census(facts, Language("p/2"), semantics=semantics)  # type: ignore[arg-type]
        one, two = census.split(0.7, seed=1)
        assert np.allclose(one.positives + two.positives, census.positives)
        assert np.allclose(one.negatives + two.negatives, census.negatives)
        assert abs(one.n_examples - 0.7 * census.n_examples) <= 1
        assert one.n_examples + two.n_examples == census.n_examples


def test_rows_are_a_sample() -> None:
    facts = FactBase.from_facts([parse_atom("p(a, b)"), parse_atom("p(b, c)"), parse_atom("q(a, c)")])
    census = take_census(facts, Language("p/2"), semantics="rows")
    sample = census.to_sample()
    assert sample.total == census.n_examples
    assert sample.space == census.space


def test_bags_are_a_sample_of_sets_of_rows() -> None:
    facts = FactBase.from_facts([parse_atom("p(a, b)"), parse_atom("p(b, c)"), parse_atom("q(a, c)")])
    for mode in ("define", "complete"):
        census = take_census(facts, Language("p/2"), mode=mode)  # type: ignore[arg-type]
        sample = census.to_sample()
        assert sample.members is not None
        assert len(sample.members) == sample.n_examples
        assert sample.counted[0].sum() + sample.counted[1].sum() == census.n_examples
        assert (sample.heads is not None) == (mode == "complete")


PAIRS = [parse_atom(text) for text in ("p(a, b)", "p(b, a)", "q(a, b)")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"semantics": "all"}, "choose rows or exists"),
        ({"mode": "guess"}, "choose define or complete"),
        ({"memory_limit": 10, "method": "list"}, "MB allowed: use fewer variables"),
        ({"memory_limit": 10, "method": "count"}, "MB allowed"),
    ],
)
def test_bad_settings_are_refused_in_a_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AndreError, match=message):
        take_census(FactBase.from_facts(PAIRS), Language("p/2", variables=2), **options)


def test_bad_facts_are_refused_in_a_sentence() -> None:
    with pytest.raises(DataError, match="3 variables for 2 constants"):
        take_census(FactBase.from_facts(PAIRS), Language("p/2"))
    full = FactBase.from_facts([parse_atom(f"p({x}, {y})") for x in "ab" for y in "ab"])
    with pytest.raises(DataError, match="no negative examples"):
        take_census(full, Language("p/2", variables=2)).require_both_classes()
    with pytest.raises(DataError, match="true anywhere"):
        take_census(FactBase.from_facts(PAIRS[:1]), Language("p/2", variables=2, inequality=False))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("identity", [True, False])
@given(seed=st.integers(0, 10**6), n_facts=st.integers(3, 60), hubs=st.booleans())
@settings(max_examples=12, deadline=None)
def test_sparse_facts_where_unattached_constants_abound(
    mode: str, identity: bool, seed: int, n_facts: int, hubs: bool
) -> None:
    """Most head atoms are connected by nothing here, and few labels can be used up."""
    rng = np.random.default_rng(seed)
    relations = [Relation("u", np.unique(rng.integers(30, size=(4, 1)), axis=0))]
    for name in "pqr":
        codes = rng.integers(30, size=(n_facts // 3 + 1, 2))
        if hubs:
            codes[:, 1] //= 10
        relations.append(Relation(name, np.unique(codes, axis=0)))
    facts = FactBase.from_relations(range(30), [*relations, Relation("c", np.arange(30)[:, None])])
    options: dict[str, Any] = {"mode": mode, "identity": identity, "semantics": "exists"}
    counted, listed = (comparable(take_census(facts, Language("p/2"), method=m, **options)) for m in METHODS)
    assert counted == listed


@pytest.mark.parametrize("method", METHODS)
@given(data=st.data())
@ways
def test_a_probability_of_zero_says_what_silence_says(method: str, data: st.DataObject) -> None:
    """In a closed world where nothing is denied, over constants that occur anyway."""
    facts = data.draw(fact_bases())
    pair = st.lists(st.sampled_from(facts.constants), min_size=2, max_size=2)
    pairs = [Atom("p", tuple(map(Constant, names))) for names in data.draw(st.lists(pair, min_size=1))]
    new = [atom for atom in dict.fromkeys(pairs) if atom not in facts]
    zero = facts.merge(FactBase.from_facts(new, probabilities=[0.0] * len(new)))
    language, how = Language("p/2"), {"mode": "complete", "method": method}
    try:
        silent = take_census(facts, language, **how)
    except DataError:
        return
    assert comparable(take_census(zero, language, **how)) == comparable(silent)


def test_bags_that_would_outgrow_the_memory_by_far_are_refused_before_it_is_filled() -> None:
    rng = np.random.default_rng(0)
    dense = [Relation(f"r{kind}", rng.integers(2000, size=(7000, 2))) for kind in range(30)]
    facts = FactBase.from_relations(range(2000), dense)
    with pytest.raises(MemoryLimitError, match=r"would take about [0-9,]+ MB of the 64 MB allowed"):
        take_census(facts, Language("r0/2"), mode="complete", memory_limit=1 << 26)


@pytest.mark.parametrize("fraction", [False, True])
def test_large_tables_of_cells_stand_for_the_values_of_small_ones(fraction: bool) -> None:
    rng = np.random.default_rng(0)
    cells = rng.choice(np.array([0, TRUE, UNKNOWN], dtype=np.uint8), size=(1 << 12, 1 << 11))
    cells[0, 0] = 7 if fraction else 0
    found = value_of(cells)
    assert found.dtype == (np.float64 if fraction else np.float16)
    np.testing.assert_array_equal(found[:9], value_of(cells[:9]))
