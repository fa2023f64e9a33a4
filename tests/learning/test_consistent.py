"""The shortest program that agrees with all examples, against every program there is."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from andre.evaluation import CrispSample
from andre.learning.choose.consistent import grown_bodies, shortest_consistent
from andre.logic import Atom, Constant
from andre.samples import Codes, Form, Membership, RuleSpace, Sample

PLAIN = RuleSpace.from_names(["b1", "b2", "b3", "b4"])
LINK = Atom.parse("p(X1,X2)")
LINKED = RuleSpace(
    Atom.parse("h(X1)"), (LINK, *map(Atom.parse, ("q(X2)", "r(X2)", "s(X1)", "q(X1)"))), links=(LINK,)
)
SAMPLES = settings(max_examples=80, deadline=None)


@st.composite
def samples(draw: st.DrawFn, space: RuleSpace) -> CrispSample:
    """Examples, each with a few rows of truth values, whose labels are mostly true, mostly false or even."""
    n = draw(st.integers(2, 7))
    bags = [draw(st.integers(1, 3 if space.links else 1)) for _ in range(n)]
    cells = np.array(
        draw(st.lists(st.booleans(), min_size=sum(bags) * space.m, max_size=sum(bags) * space.m))
    )
    table = cells.reshape(sum(bags), space.m).astype(np.float64)
    if space.links:
        table[:, space.link_columns] = 1.0
    positives = np.array([draw(st.sampled_from([2.0, 1.0, 0.5, 0.25, 0.0])) for _ in range(n)])
    members = Membership(np.concatenate([[0], np.cumsum(bags)]).astype(np.int64), np.arange(sum(bags)))
    negatives = (1 - positives).clip(0)
    return CrispSample.of(Sample(space, table, positives, negatives, members=members))


@st.composite
def forms(draw: st.DrawFn, space: RuleSpace) -> Form:
    return Form(
        space,
        safe=draw(st.booleans()),
        singletons=True,
        negation=draw(st.booleans()),
        max_body=draw(st.sampled_from([None, 2, 3])),
    )


def every_body(form: Form) -> Codes:
    bodies = np.array([code for code in product((-1, 0, 1), repeat=form.space.m) if any(code)], dtype=np.int8)
    return bodies[form.admits(bodies)]


def least_cost(sample: CrispSample, form: Form, max_rules: int) -> int | None:
    """Literals and rules of the shortest program that agrees, one rule where one will do."""
    bodies = every_body(form)
    surplus = sample.positives - sample.negatives
    covers = sample.covers(bodies)
    pure = ~covers[:, surplus < 0].any(axis=1)
    covers, sizes = covers[pure][:, surplus > 0], form.space.sizes(bodies[pure])
    shortest: dict[bytes, tuple[int, np.ndarray]] = {}
    for cover, size in zip(covers, sizes.tolist(), strict=True):
        if cover.any() and size < shortest.get(cover.tobytes(), (99, cover))[0]:
            shortest[cover.tobytes()] = size, cover
    costs = [
        (len(some), sum(size + 1 for size, _ in some))
        for n_rules in range(1, max_rules + 1)
        for some in combinations(shortest.values(), n_rules)
        if np.any([cover for _, cover in some], axis=0).all()
    ]
    one = [cost for n_rules, cost in costs if n_rules == 1]
    return min(one or [cost for _, cost in costs], default=None)


@pytest.mark.parametrize("space", [PLAIN, LINKED], ids=["plain", "linked"])
@SAMPLES
@given(st.data())
def test_a_program_that_agrees_is_found_where_there_is_one(space: RuleSpace, data: st.DataObject) -> None:
    sample = data.draw(samples(space))
    form = data.draw(forms(space))
    surplus = sample.positives - sample.negatives
    assume((surplus > 0).any())
    assume((surplus < 0).any())
    none = np.zeros((0, space.m), dtype=np.int8)
    found = shortest_consistent(sample, none, form, max_rules=3, beam=500)
    wanted = least_cost(sample, form, 3)
    assert (found is None) == (wanted is None)
    if found is None or wanted is None:
        return
    assert form.admits(found).all()
    assert len(found) <= 3
    covered = sample.predicts(found)
    assert covered[surplus > 0].all()
    assert not covered[surplus < 0].any()
    cost = int(space.sizes(found).sum()) + len(found)
    assert cost >= wanted
    if not space.links:  # literals of a body are as many as it was grown by
        assert cost == wanted


@SAMPLES
@given(st.data())
def test_known_bodies_are_used(data: st.DataObject) -> None:
    """A narrow search does no worse with the right program given."""
    sample = data.draw(samples(LINKED))
    form = data.draw(forms(LINKED))
    if not (sample.positives > sample.negatives).any():
        return
    none = np.zeros((0, LINKED.m), dtype=np.int8)
    wide = shortest_consistent(sample, none, form, max_rules=3, beam=500)
    if wide is None:
        return
    narrow = shortest_consistent(sample, wide, form, max_rules=3, beam=1)
    assert narrow is not None
    if len(narrow) == len(wide) or len(wide) == 1:
        assert LINKED.sizes(narrow).sum() <= LINKED.sizes(wide).sum()


@SAMPLES
@given(st.data(), st.integers(1, 5))
def test_grown_bodies_are_well_formed_and_so_many_at_the_most(data: st.DataObject, most: int) -> None:
    sample, form = data.draw(samples(LINKED)), data.draw(forms(LINKED))
    bodies = grown_bodies(sample, form, most=most)
    assert len(bodies) <= most
    assert form.admits(bodies).all()
    assert len({body.tobytes() for body in bodies}) == len(bodies)


def test_of_few_grown_bodies_some_cover_what_the_best_one_leaves() -> None:
    """Bodies that say the same as the best one, in more literals, do not drive out all others."""
    rows = np.zeros((40, 8), dtype=np.int8)
    rows[:12, :7] = 1  # the first candidate and six that say no more
    rows[12:15, 7] = 1
    crisp = CrispSample.of(Sample.from_arrays(rows, [1] * 15 + [0] * 25))
    found = grown_bodies(crisp, Form(crisp.space, negation=False), most=6)
    assert crisp.covers(found).any(axis=0)[np.array(crisp.positives) > 0].all()


def test_an_equality_is_no_literal_of_a_rule_as_it_is_written() -> None:
    links = (Atom.parse("has(X, Y)"), Atom.parse("colour(Y, C)"))
    red = Atom("=", (links[1].args[1], Constant("red")))
    space = RuleSpace(Atom.parse("h(X)"), (*links, red), links=links)
    body = np.array([[0, 0, 1]], dtype=np.int8)
    assert len(space.rule(body[0]).unified().body) == 2
    assert [bool(Form(space, max_body=most).admits(body)[0]) for most in (1, 2)] == [False, True]


def test_a_program_that_would_be_too_long_is_not_looked_for() -> None:
    """Each of eight positives has an atom of its own."""
    crisp = CrispSample.of(Sample.from_arrays(np.eye(16), [1] * 8 + [0] * 8))
    form, none = Form(crisp.space, negation=False), np.zeros((0, 16), dtype=np.int8)
    for longest, rules in ((100.0, 8), (1.0, None)):
        found = shortest_consistent(crisp, none, form, max_rules=8, longest=longest)
        assert rules == (None if found is None else len(found))
