"""The census of some head atoms: their bags are exact, and their weights stand for all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.census.oracle import Brute, comparable
from tests.census.strategies import fact_bases

from andre.census import Census, sample_census, take_census
from andre.census.bags import Weigher
from andre.census.census import carry_out, ground
from andre.census.draw import DrawnHeads, draw_heads
from andre.census.graph import FactGraph
from andre.census.plan import Draw, Request, plan_census
from andre.errors import AndreError
from andre.facts import FactBase, Relation
from andre.logic import parse_atom
from andre.samples import Language

MODES = ("define", "complete")


@dataclass(frozen=True)
class Drawing:
    """A graph from which head atoms are drawn, however few they are or could be."""

    facts: FactBase
    language: Language
    mode: str = "complete"
    identity: bool = True

    @cached_property
    def known(self) -> FactBase:
        return self.facts.select("train")

    @cached_property
    def graph(self) -> FactGraph:
        return ground(self.known, self.language, "exists", self.mode)  # type: ignore[arg-type]

    @cached_property
    def weigh(self) -> Weigher:
        return Weigher.of(self.known, self.graph, corrupting=self.mode == "complete")

    def heads(self, draw: Draw) -> tuple[DrawnHeads, dict[tuple[int, ...], int]]:
        """What `sample_census` draws, and the same by the codes of the facts."""
        graph, arity = self.graph, self.graph.space.head.arity
        inner = self.language.variables > arity
        drawn = draw_heads(graph, self.weigh, draw, inner=inner, identity=self.identity)
        columns = [graph.codes[drawn.first], graph.codes[drawn.second]][:arity]
        heads = list(zip(*(column.tolist() for column in columns), strict=True))
        return drawn, dict(zip(heads, drawn.times.tolist(), strict=True))

    def census(self, draw: Draw) -> Census:
        request = Request("exists", self.mode, self.identity)  # type: ignore[arg-type]
        plan = plan_census(self.graph, self.language.variables, request)
        return carry_out(self.known, self.graph, replace(plan, draw=draw))


@st.composite
def cases(draw: st.DrawFn) -> tuple[FactBase, Language, dict[str, Any]]:
    arity = draw(st.sampled_from((2, 2, 1)))
    facts = draw(
        fact_bases(
            target=arity,
            chances=draw(st.booleans()),
            marks=draw(st.booleans()),
            denied=draw(st.booleans()),
            world=draw(st.sampled_from(("closed", "open"))),
        )
    )
    language = Language(
        f"p/{arity}", variables=draw(st.integers(arity, arity + 1)), inequality=draw(st.booleans())
    )
    return facts, language, {"mode": draw(st.sampled_from(MODES)), "identity": draw(st.booleans())}


@given(case=cases(), most=st.integers(1, 25), seed=st.integers(0, 99))
@settings(max_examples=150, deadline=None)
def test_bags_of_drawn_heads_are_those_of_brute_force(
    case: tuple[FactBase, Language, dict[str, Any]], most: int, seed: int
) -> None:
    facts, language, options = case
    drawing, draw = Drawing(facts, language, **options), Draw(most, seed)
    drawn, times = drawing.heads(draw)
    assert len(times) == len(drawn) <= most
    assert min(drawn.times) >= 1
    assume(drawn.times.sum() > len(drawn))  # some are left out
    expected = Brute(facts, language).take("exists", times=times, **options)
    assume(any(not atom.is_builtin for atom in expected.atoms))
    census = drawing.census(draw)
    assert census.sampled == len(drawn)
    assert comparable(census) == expected


@given(case=cases())
@settings(max_examples=80, deadline=None)
def test_a_sample_of_all_heads_is_the_census(case: tuple[FactBase, Language, dict[str, Any]]) -> None:
    facts, language, options = case
    try:
        whole = take_census(facts, language, **options)
    except AndreError:
        assume(False)
    assert comparable(
        sample_census(facts, language, Draw(max(8, int(whole.n_examples))), **options)
    ) == comparable(whole)
    drawn = Drawing(facts, language, **options).census(Draw(10**6))  # every head atom is drawn
    assert drawn.sampled == whole.n_examples
    assert comparable(drawn) == comparable(whole)


def sparse(seed: int, n: int = 60) -> FactBase:
    """Most head atoms are connected by nothing, most weigh nothing, and there is a hub."""
    rng = np.random.default_rng(seed)
    relations = [Relation(name, np.unique(rng.integers(n, size=(size, 2)), axis=0)) for name, size in SIZES]
    hub = np.column_stack([np.zeros(8, dtype=np.int64), np.arange(8) + 1])
    return FactBase.from_relations(range(n), [*relations, Relation("hub", hub), all_of(n)])


SIZES = (("p", 9), ("q", 25))


def all_of(n: int) -> Relation:
    return Relation("c", np.arange(n)[:, None])


@given(seed=st.integers(0, 10**6), most=st.integers(8, 400), mode=st.sampled_from(MODES))
@settings(max_examples=40, deadline=None)
def test_every_kind_is_there_and_all_heads_are_stood_for(seed: int, most: int, mode: str) -> None:
    facts = sparse(seed)
    whole = take_census(facts, Language("p/2"), mode=mode, identity=True)  # type: ignore[arg-type]
    part = sample_census(facts, Language("p/2"), Draw(most, seed), mode=mode, identity=True)  # type: ignore[arg-type]
    assert part.sampled == most
    assert (part.n_examples, part.groundings) == (whole.n_examples, whole.groundings)
    assert part.positive == whole.positive
    assert part.negative > 0


@pytest.mark.parametrize("n_also", [0, 60])
def test_every_head_is_as_likely_as_the_others_of_its_kind(n_also: int) -> None:
    drawing = Drawing(sparse(3, n=25), Language("p/2"))
    also = np.random.default_rng(0).integers(25, size=(n_also, 2))
    total = np.zeros((25, 25))
    rounds = 600
    squares = np.zeros((25, 25))
    for seed in range(rounds):
        _, times = drawing.heads(Draw(60, seed, also=also))
        one = np.zeros((25, 25))
        for head, count in times.items():
            one[head] = count
        total += one
        squares += one**2
    mean = total / rounds
    error = np.sqrt((squares / rounds - mean**2) / rounds)
    assert (mean.diagonal() == 0).all()
    np.fill_diagonal(mean, 1)
    assert (np.abs(mean - 1) <= 5 * error + 1e-9).all()


@given(seed=st.integers(0, 10**6), mode=st.sampled_from(MODES))
@settings(max_examples=30, deadline=None)
def test_what_is_asked_for_is_drawn_apart_and_stands_for_itself(seed: int, mode: str) -> None:
    rng = np.random.default_rng(seed)
    drawing = Drawing(sparse(seed), Language("p/2"), mode)
    stated = {tuple(row) for row in drawing.facts.relations["p", 2].codes.tolist()}
    both = np.array([(0, 1 + place) for place in range(8)] + [(1, 2), (2, 1)])  # what the hub connects
    also = np.concatenate([both, rng.integers(60, size=(20, 2)), [[700, 1]]])
    drawn, times = drawing.heads(Draw(200, seed, also=also))
    wanted = {tuple(row) for row in both.tolist() if row[0] != row[1]} - stated
    assert all(times[head] == 1 for head in wanted)
    assert len(drawn) == 200
    assert drawn.times.sum() == drawing.heads(Draw(200, seed))[0].times.sum()


@pytest.mark.parametrize("rare", [10**9, 0])
def test_listing_and_drawing_what_is_apart_are_both_right(rare: int) -> None:
    draw = Draw(40, rare=rare, block=50)
    facts, language = sparse(1, n=20), Language("p/2")
    drawing = Drawing(facts, language)
    drawn, times = drawing.heads(draw)
    assert len(drawn) == 40
    assert comparable(drawing.census(draw)) == Brute(facts, language).take("exists", "complete", times=times)


def test_the_same_seed_draws_the_same() -> None:
    facts, language = sparse(2), Language("p/2")
    one, two, other = (comparable(sample_census(facts, language, Draw(50, seed))) for seed in (1, 1, 2))
    assert one == two != other


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"most": 7}, "draw 8 or more"),
        ({"mode": "guess"}, "choose define or complete"),
        ({"variables": 4}, "use fewer than 4 variables"),
    ],
)
def test_bad_settings_are_refused_in_a_sentence(options: dict[str, Any], message: str) -> None:
    facts = FactBase.from_facts([parse_atom(f"p(c{i}, c{i + 1})") for i in range(9)])
    language = Language("p/2", variables=options.pop("variables", 3))
    with pytest.raises(AndreError, match=message):
        sample_census(facts, language, Draw(options.pop("most", 9)), **options)
