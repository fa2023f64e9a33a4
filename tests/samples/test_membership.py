"""Membership against sets written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from andre.errors import DataError
from andre.samples import Membership

U = 6
#: The rows of each example, in order as the census lists them.
bags = st.lists(st.sets(st.integers(0, U - 1), min_size=1).map(sorted), min_size=1, max_size=8)


def build(sets: list[list[int]]) -> Membership:
    sizes = [len(rows) for rows in sets]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Membership(starts, np.array([row for rows in sets for row in rows], dtype=np.int64))


def written(members: Membership) -> list[list[int]]:
    return [part.tolist() for part in np.split(members.rows, members.starts[1:-1])]


@given(bags, st.data())
def test_an_example_holds_where_one_of_its_rows_does(sets: list[list[int]], data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([(U,), (1, U), (3, U), (2, 3, U), (0, U)]))
    held = data.draw(hnp.arrays(np.bool_, shape))
    found = build(sets).lift(held)
    flat = held.reshape(-1, U)
    wanted = [[any(line[row] for row in rows) for rows in sets] for line in flat]
    assert found.shape == (*shape[:-1], len(sets))
    assert found.reshape(-1, len(sets)).tolist() == wanted


@pytest.mark.parametrize("share", [0.05, 0.2])  # few rows hold, and many
def test_blocks_make_no_difference(share: float) -> None:
    rng = np.random.default_rng(0)
    sets = [sorted(rng.choice(40, size=rng.integers(1, 9), replace=False).tolist()) for _ in range(30)]
    members, held = build(sets), rng.random((17, 40)) < share
    assert np.array_equal(members.lift(held, block=300), members.lift(held))


@given(bags, hnp.arrays(np.bool_, U))
def test_within_keeps_the_rows_that_stand(sets: list[list[int]], held: np.ndarray) -> None:
    examples, members = build(sets).within(held)
    kept = {place: [row for row in rows if held[row]] for place, rows in enumerate(sets)}
    kept = {place: rows for place, rows in kept.items() if rows}
    assert examples.tolist() == list(kept)
    assert (written(members) if kept else []) == list(kept.values())


@given(bags, st.data())
def test_take_gives_the_rows_of_the_chosen_in_their_order(sets: list[list[int]], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(sets) - 1), min_size=1, max_size=10))
    taken = build(sets).take(np.array(chosen))
    assert written(taken) == [sets[place] for place in chosen]


@settings(max_examples=100)
@given(bags, st.lists(st.integers(0, 2), min_size=U, max_size=U))
def test_merging_rows_merges_the_examples_that_become_equal(sets: list[list[int]], group: list[int]) -> None:
    members, number = build(sets).merged(np.array(group), 3)
    found = written(members)
    wanted = [sorted({group[row] for row in rows}) for rows in sets]
    assert [found[place] for place in number] == wanted
    assert len({tuple(rows) for rows in found}) == len(found) == len({tuple(rows) for rows in wanted})


def test_an_example_needs_a_row() -> None:
    with pytest.raises(DataError, match="an example without rows"):
        Membership(np.array([0, 1, 1]), np.array([0]))


@given(bags, st.booleans())
def test_sets_that_surely_differ_stay_as_they_are(sets: list[list[int]], reverse: bool) -> None:
    members = build([rows[::-1] for rows in sets] if reverse else sets)
    found, number = members.merged(np.arange(U), U)
    kept = written(found)
    assert [kept[place] for place in number] == sets
    assert len(set(map(tuple, kept))) == len(kept) == len({tuple(rows) for rows in sets})
