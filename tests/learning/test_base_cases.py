"""Base cases of recursive rules: what bodies cover, against a plain loop over the goals."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from andre.learning.recursion.base_cases import Bags


@given(st.integers(0, 2**16), st.integers(1, 12), st.integers(0, 40), st.integers(1, 6))
def test_an_example_is_covered_by_one_goal_of_which_all_conditions_are_true(
    seed: int, examples: int, more: int, conditions: int
) -> None:
    rng = np.random.default_rng(seed)
    example = np.sort(np.concatenate([np.arange(examples), rng.integers(examples, size=more)]))
    bags = Bags(example, np.arange(len(example)), np.ones((examples, 2)))
    truth = rng.random((conditions, len(example))) < 0.6
    bodies = rng.integers(conditions, size=(7, 3))
    wanted = [
        [truth[body][:, example == one].all(axis=0).any() for one in range(examples)] for body in bodies
    ]
    assert np.array_equal(bags.covered_by(bodies, truth), wanted)
