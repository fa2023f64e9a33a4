"""Calibration against the draws it is to undo, and against values that it must leave alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from andre.facts import TASKS, Calibration, FactBase, Relation, probabilistic


def drawn(values: np.ndarray, **columns: np.ndarray) -> FactBase:
    """One relation over a square of constants with these values."""
    n = int(np.sqrt(len(values)))
    codes = np.argwhere(np.ones((n, n), dtype=bool)).astype(np.int32)
    return FactBase.from_relations(range(n), [Relation("p", codes, values[: n * n], **columns)])


@settings(max_examples=20, deadline=None)
@given(
    st.floats(0.1, 0.35),
    st.floats(0.65, 0.9),
    st.floats(0.05, 0.12),
    st.floats(0.05, 0.6),
    st.integers(0, 99),
)
def test_recovers_how_values_were_drawn(
    low: float, high: float, spread: float, share: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    true = rng.random(2500) < share
    value = rng.normal(np.where(true, high, low), spread).clip(0.001, 0.999)
    found = Calibration.of(drawn(value))
    assert found is not None
    assert found.low == pytest.approx(low, abs=0.04)
    assert found.high == pytest.approx(high, abs=0.04)
    assert found.shares["p", 2] == pytest.approx(true.mean(), abs=0.06)
    # The odds are those by which the values were drawn, and no cut makes fewer mistakes than at even odds.
    likely = found.probability(("p", 2), value) > 0.5
    mistakes = min((true != (value > cut)).sum() for cut in np.linspace(0, 1, 201))
    assert (likely != true).sum() <= mistakes * 1.2 + 3


def strays(distance: np.ndarray) -> np.ndarray:
    return 0.95 * stats.norm.pdf(distance, scale=0.08) + 0.05 * (abs(distance) < 1) / 2


#: How far values lie from the mean of their group: draws, and their density.
SCATTER: dict[str, tuple[Callable[..., np.ndarray], Callable[..., np.ndarray]]] = {
    "normal": (lambda rng, n: rng.normal(0, 0.08, n), stats.norm(scale=0.08).pdf),
    "wide": (lambda rng, n: rng.normal(0, 0.15, n), stats.norm(scale=0.15).pdf),
    "heavy tails": (lambda rng, n: 0.08 * rng.standard_t(3, n), stats.t(3, scale=0.08).pdf),
    "strays": (
        lambda rng, n: np.where(rng.random(n) < 0.05, rng.uniform(-1, 1, n), rng.normal(0, 0.08, n)),
        strays,
    ),
}


def loss(chance: np.ndarray, true: np.ndarray) -> float:
    """The mean surprise in nats at which atoms are true."""
    return float(-np.log(np.where(true, chance, 1 - chance).clip(1e-300)).mean())


@pytest.mark.parametrize("n", [100, 2500])
@pytest.mark.parametrize("kind", SCATTER)
def test_is_not_surer_than_it_may_be(kind: str, n: int) -> None:
    """Not far from the odds that the draws themselves have, normal or not."""
    draw, density = SCATTER[kind]
    losses = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        true = rng.random(n) < 0.5
        value = np.where(true, 0.75, 0.25) + draw(rng, n)
        inside = value.clip(0.001, 0.999)
        found = Calibration.of(drawn(inside))
        assert found is not None
        best = density(value - 0.75) / (density(value - 0.75) + density(value - 0.25))
        losses.append((loss(found.probability(("p", 2), inside), true), loss(best, true)))
    ours, best_loss = np.mean(losses, axis=0)
    assert ours < best_loss + 0.1


@given(
    st.floats(0.05, 0.45),
    st.floats(0.55, 0.95),
    st.floats(0.03, 0.2),
    st.floats(0.01, 0.99),
    st.floats(1e-6, 0.3),
)
def test_odds_grow_with_the_value(low: float, high: float, spread: float, share: float, stray: float) -> None:
    made = Calibration(low, high, spread, stray, {("p", 2): share})
    odds = made.log_odds(("p", 2), np.linspace(0, 1, 101))
    assert (np.diff(odds) >= -1e-9).all()


@pytest.mark.parametrize(
    "values",
    [
        np.full(2500, 1.0),  # certain
        np.random.default_rng(0).uniform(0.55, 0.95, 2500),  # all rather true than false
        np.random.default_rng(1).normal(0.5, 0.1, 2500).clip(0, 1),  # one group
        np.random.default_rng(2).choice([0.6, 0.9], 2500),  # two groups, both above one half
        np.random.default_rng(3).normal(np.tile([0.2, 0.9], 8), 0.05).clip(0, 1),  # too few to tell
        np.random.default_rng(4).choice([0.2, 0.9], 2500),  # levels, and no measurements
    ],
)
def test_leaves_alone_what_it_cannot_tell(values: np.ndarray) -> None:
    assert Calibration.of(drawn(values)) is None


def test_certain_facts_stay_certain() -> None:
    facts = probabilistic(TASKS["lessThan"].train())
    found = Calibration.of(facts)
    assert found is not None
    for key, relation in found.apply(facts).relations.items():
        before = facts.relations[key].probability
        assert before is not None
        assert relation.probability is not None
        assert (relation.probability[before == 1] == 1).all()
        assert (np.argsort(before[before < 1]) == np.argsort(relation.probability[before < 1])).all()


def test_held_out_facts_do_not_teach() -> None:
    rng = np.random.default_rng(0)
    value = rng.normal(rng.choice([0.25, 0.75], 2500), 0.1).clip(0.01, 0.99)
    mark = (rng.random(2500) < 0.3) * 2
    changed = np.where(mark == 2, 0.5, value)
    marks = np.asarray(mark, dtype=np.int8)
    assert Calibration.of(drawn(value, mark=marks)) == Calibration.of(drawn(changed, mark=marks))


def test_the_plan_may_leave_it_out() -> None:
    from andre.learning import Plan

    facts = TASKS["lessThan"].train()
    assert Plan.of(facts, "lessThan/2").calibrate
    assert not Plan.of(facts, "lessThan/2", preset="paper").calibrate
    assert not replace(Plan.of(facts, "lessThan/2"), calibrate=False).calibrate
