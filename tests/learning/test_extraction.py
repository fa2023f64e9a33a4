"""From weights to bodies: the likeliest reading, where it is certain enough."""

import math

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from andre.learning import distinct_bodies, extract, with_shorter
from andre.learning.bodies import shorter_bodies
from andre.learning.descent.extraction import entropies


def logits(*probabilities: float) -> list[float]:
    return [math.log(p) for p in probabilities]


def test_the_threshold_cuts_by_entropy() -> None:
    # H(.95, .025, .025) = .233; H(.1, .8, .1) = .639; H(.4, .3, .3) = 1.089; ln 3 = 1.0986.
    choices = [(0.95, 0.025, 0.025), (0.1, 0.8, 0.1), (0.4, 0.3, 0.3), (0.02, 0.02, 0.96)]
    weights = torch.tensor([[[logits(*p) for p in choices]]])
    found = extract(weights, torch.ones(1, 1), (0.1, 0.4, 0.8, math.log(3)))
    assert found[:, 0, 0].tolist() == [[0, 0, 0, 0], [1, 0, 0, 0], [1, -1, 0, 0], [1, -1, 1, 0]]


def test_entropy_of_certain_and_undecided_choices() -> None:
    p = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0.0]])
    wanted = torch.tensor([0.0, 0.0, math.log(3), math.log(2)])
    torch.testing.assert_close(entropies(p), wanted, atol=1e-5, rtol=0)


def test_padding_says_nothing() -> None:
    weights = torch.zeros(2, 2, 3, 3)
    weights[..., 0] = 9.0
    found = extract(weights, torch.tensor([[1.0, 0.0], [1.0, 1.0]]), (0.4,))
    assert found[0, :, :, 0].tolist() == [[1, 0], [1, 1]]


@given(hnp.arrays(np.float32, (2, 3, 4, 3), elements=st.floats(-6, 6, width=32)))
def test_more_certainty_never_says_more(weights: np.ndarray) -> None:
    strict, loose = extract(torch.as_tensor(weights), torch.ones(2, 3), (0.4, 0.8))
    assert np.all((strict == 0) | (strict == loose))


@given(hnp.arrays(np.int8, st.tuples(st.integers(0, 8), st.just(3)), elements=st.integers(-1, 1)))
def test_bodies_are_distinct_and_say_something(codes: np.ndarray) -> None:
    found = distinct_bodies(codes)
    assert {tuple(row) for row in found} == {tuple(row) for row in codes if row.any()}
    assert len({tuple(row) for row in found}) == len(found)
    assert np.array_equal(distinct_bodies(codes[::-1]), found)


@given(hnp.arrays(np.int8, st.tuples(st.integers(0, 8), st.just(5)), elements=st.integers(-1, 1)))
def test_shorter_bodies_are_those_that_are_written_out(codes: np.ndarray) -> None:
    wanted = distinct_bodies(np.concatenate((codes, shorter_bodies(codes))))
    assert np.array_equal(with_shorter(codes), wanted)
