"""Synthetic samples: labelled by their program, noisy by an exact share, the same for a seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andre.errors import DataError
from andre.samples import SYNTHETIC_TASKS, random_task


def holds(program, row: dict[str, float]) -> bool:
    """Read a program as logic, rule by rule and literal by literal."""
    return any(
        all((row[str(lit.atom)] < 0.5) if lit.negated else (row[str(lit.atom)] > 0.5) for lit in rule.body)
        for rule in program
    )


@pytest.mark.parametrize("name", SYNTHETIC_TASKS)
def test_clean_labels_are_what_the_program_says(name: str) -> None:
    task = SYNTHETIC_TASKS[name]
    rows, labels = task.draw(200, seed=3)
    assert [holds(task.program, dict(zip(task.space.names, row, strict=True))) for row in rows] == list(
        labels
    )
    assert 0 < labels.sum() < len(labels)


@settings(max_examples=30)
@given(st.sampled_from(sorted(SYNTHETIC_TASKS)), st.integers(1, 300), st.integers(0, 9), st.integers(0, 10))
def test_noise_flips_the_same_share_of_both_classes(name: str, n_rows: int, seed: int, tenths: int) -> None:
    clean_rows, clean = SYNTHETIC_TASKS[name].draw(n_rows, seed)
    rows, noisy = SYNTHETIC_TASKS[name].draw(n_rows, seed, noise=tenths / 10)
    assert np.array_equal(rows, clean_rows)
    for value in (True, False):
        members = clean == value
        assert (noisy[members] != value).sum() == round(tenths / 10 * members.sum())


def test_a_seed_gives_the_same_rows_and_another_gives_others() -> None:
    task = SYNTHETIC_TASKS["R5"]
    first, again, other = (task.draw(50, seed, noise=0.2) for seed in (7, 7, 8))
    assert np.array_equal(first[0], again[0])
    assert np.array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


def test_programs_of_the_paper() -> None:
    assert str(SYNTHETIC_TASKS["R3"].program) == "h :- b1, \\+ b9.\nh :- b8, \\+ b2.\nh :- b3, b7, \\+ b5."
    assert (
        str(SYNTHETIC_TASKS["R6"].program) == "h :- b9, \\+ b1.\nh :- b2, \\+ b8.\nh :- b5, \\+ b3, \\+ b7."
    )
    assert str(SYNTHETIC_TASKS["four"].program) == "h :- b4, \\+ b2.\nh :- b1, \\+ b3."
    assert len(SYNTHETIC_TASKS["grandparent"].program) == 4
    assert SYNTHETIC_TASKS["grandparent"].space.m == 6


@pytest.mark.parametrize("noise", [-0.1, 1.1, float("nan")])
def test_noise_is_a_share(noise: float) -> None:
    with pytest.raises(DataError, match="share"):
        SYNTHETIC_TASKS["R1"].draw(10, 0, noise)


@settings(max_examples=30)
@given(st.integers(6, 40), st.integers(1, 2), st.integers(0, 99))
def test_random_tasks_have_the_size_asked_for(m: int, n_rules: int, seed: int) -> None:
    task = random_task(m, n_rules, seed)
    assert (task.space.m, len(task.program)) == (m, n_rules)
    assert all(len(rule.body) in (2, 3) for rule in task.program)
    used = [lit.atom for rule in task.program for lit in rule.body]
    assert len(set(used)) == len(used)
    assert random_task(m, n_rules, seed).program == task.program


def test_too_many_rules_for_the_atoms_are_refused() -> None:
    with pytest.raises(DataError, match="take more atoms"):
        random_task(5, 3, seed=0)
