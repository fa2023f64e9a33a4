"""A part of a sample: no class is lost, no bag uses up the budget, all of a class are equally likely."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from andre.samples import Membership, RuleSpace, Sample


def sample_of(sizes, positives, negatives, *, seed=0, bags=True) -> Sample:
    """Bags of so many rows each; `heads` numbers the examples, so that a part shows whose it has."""
    rng = np.random.default_rng(seed)
    n_rows = max(sizes) * 2 if bags else len(sizes)
    bits = max(1, int(n_rows - 1).bit_length())
    rows = (np.arange(n_rows)[:, None] >> np.arange(bits) & 1).astype(float)
    members = None
    if bags:
        held = [np.sort(rng.permutation(n_rows)[:size]) for size in sizes]
        members = Membership(np.cumsum([0, *sizes]), np.concatenate(held))
    space = RuleSpace.from_names([f"b{bit}" for bit in range(bits)])
    heads = np.arange(1.0, len(sizes) + 1)
    return Sample(space, rows, np.asarray(positives, float), np.asarray(negatives, float), members, heads)


def bags_of(sample: Sample) -> list[frozenset[tuple]]:
    rows = [tuple(row) for row in sample.valuations.tolist()]
    if sample.members is None:
        return [frozenset({row}) for row in rows]
    parts = np.split(sample.members.rows, sample.members.starts[1:-1])
    return [frozenset(rows[place] for place in part) for part in parts]


def with_hubs(seed: int, *, n=100, share=0.05, small=5, large=1200) -> Sample:
    """As many positives as negatives, one in twenty of them with a bag of more than a thousand rows."""
    rng = np.random.default_rng(seed)
    sizes = np.where(rng.permutation(2 * n) < 2 * n * share, large, rng.integers(1, small + 1, 2 * n))
    positive = np.arange(2 * n) < n
    return sample_of(sizes.tolist(), positive, ~positive, seed=seed)


LABELS = st.tuples(st.integers(0, 3), st.integers(0, 3))


@settings(max_examples=150, deadline=None)
@given(
    examples=st.lists(st.tuples(st.sampled_from([1, 1, 2, 3, 4, 40, 150]), LABELS), min_size=1, max_size=60),
    most=st.integers(2, 120),
    seed=st.integers(0, 2**16),
    bags=st.booleans(),
)
def test_a_part_keeps_both_classes_and_the_budget(examples, most, seed, bags) -> None:
    sizes, labels = [size if bags else 1 for size, _ in examples], [pair for _, pair in examples]
    positives, negatives = np.array(labels, dtype=float).T
    assume(positives.any() or negatives.any())
    whole = sample_of(sizes, positives, negatives, seed=seed, bags=bags)
    part = whole.thinned(most, seed)
    if sum(sizes) <= most:
        assert part is whole
        return
    kept = np.ones(part.n_examples, int) if part.members is None else np.diff(part.members.starts)
    assert kept.sum() <= most
    for before, after in ((whole.positives, part.positives), (whole.negatives, part.negatives)):
        assert (before.sum() > 0) == (after.sum() > 0)
    # Each example is one of the whole, with its weights and some of its rows, and none comes twice.
    numbers = part.heads.astype(int) - 1
    assert len(set(numbers.tolist())) == len(numbers)
    assert np.array_equal(part.positives, positives[numbers])
    assert np.array_equal(part.negatives, negatives[numbers])
    before = bags_of(whole)
    for number, bag, count in zip(numbers, bags_of(part), kept, strict=True):
        assert bag <= before[number]
        assert len(bag) == count
    # Of a class only the largest bags are cut, all to the same number of rows.
    weighed = positives + negatives > 0
    if (positives >= negatives)[weighed].any() and (positives < negatives)[weighed].any():
        for own in (positives >= negatives, positives < negatives):
            mine = own[numbers]
            full = np.array(sizes)[numbers[mine]]
            level = kept[mine].max()
            assert np.array_equal(kept[mine], np.minimum(full, level))
            assert mine.sum() >= min(8, most // 2, (own & weighed).sum())
            assert kept[mine].sum() <= most // 2
    assert part.thinned(most, seed) is part


@pytest.mark.parametrize("seed", range(8))
def test_hubs_cost_no_example_of_either_class(seed: int) -> None:
    part = with_hubs(seed).thinned(2000, seed)
    assert (part.positives.sum(), part.negatives.sum()) == (100, 100)
    assert len(part.members.rows) <= 2000
    sizes = np.diff(part.members.starts)
    assert sizes.max() > 100  # what is left goes to the large bags


def test_examples_with_large_bags_are_drawn_as_often_as_others() -> None:
    """So weights stay unbiased within a class, whatever the size of a bag."""
    whole = with_hubs(0, n=60, share=0.1, small=9, large=400)
    hub = np.diff(whole.members.starts) == 400
    times, parts = np.zeros(120), 300
    for seed in range(parts):
        part = whole.thinned(200, seed)
        assert len(part.members.rows) <= 200
        times[part.heads.astype(int) - 1] += 1
    for own in (whole.positives > 0, whole.negatives > 0):
        assert hub[own].any()
        share = times[own].sum() / own.sum() / parts  # the same for every example
        assert 0.1 < share < 0.9
        slack = 5 * np.sqrt(share * (1 - share) / parts)
        assert np.abs(times[own] / parts - share).max() < slack
        few = 5 * np.sqrt(share * (1 - share) / parts / hub[own].sum())
        assert abs(times[own & hub].mean() / parts - share) < few


@pytest.mark.parametrize(
    ("positives", "negatives"),
    [
        ([1] * 300, [1] * 300),  # all half and half
        ([1] * 299 + [2], [0] * 299 + [2]),  # one half and half holds all negatives
        ([0] * 299 + [2], [1] * 299 + [3]),  # one minority holds all positives
        ([0.2] * 300, [0.8] * 300),  # probabilities, all below one half
        ([3] * 299 + [1], [0] * 299 + [0.5]),  # the only negative label is outweighed
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_a_class_that_is_in_few_examples_stays(positives, negatives, seed) -> None:
    for bags in (False, True):
        whole = sample_of([3] * 300, positives, negatives, bags=bags)
        part = whole.thinned(60, seed)
        assert part.require_both_classes().n_examples < 300


def test_half_and_half_examples_are_drawn_like_positive_ones() -> None:
    labels = np.repeat([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], 100, axis=0)
    whole = sample_of([1] * 300, *labels.T, bags=False)
    part = whole.thinned(100, 0)
    both = (part.positives == 1) & (part.negatives == 1)
    assert 10 < both.sum() < 40
    assert (part.positives == 1).sum() == (part.positives == 0).sum() == 50


def test_what_weighs_nothing_is_not_drawn() -> None:
    whole = sample_of([1] * 90, [1, 0, 0] * 30, [0, 1, 0] * 30, bags=False)
    assert (whole.thinned(40, 0).weights > 0).all()
