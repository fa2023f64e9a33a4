"""Pooling against attention over the rows of one example after another."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from andre.model import Inputs, Network, NetworkConfig, Pooling, aggregate
from andre.model.operators import SHARPEST, SoftmaxAttention
from andre.samples import Membership

bags = st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1, max_size=6)
betas = st.sampled_from([1.0, 20.0, SHARPEST, SHARPEST + 1, 300.0])


def build(sets: list[set[int]]) -> Membership:
    starts = np.concatenate([[0], np.cumsum([len(rows) for rows in sets])]).astype(np.int64)
    return Membership(starts, np.array([row for rows in sets for row in sorted(rows)], dtype=np.int64))


def one_by_one(values: Tensor, sets: list[set[int]], beta: float) -> Tensor:
    op = SoftmaxAttention(beta)
    return torch.stack([aggregate(op, values[sorted(rows)], dim=0) for rows in sets])


def draw(seed: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.rand(6, 3, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@settings(max_examples=60)
@given(bags, st.integers(0, 99), betas)
def test_values_and_gradients_are_those_of_attention(sets: list[set[int]], seed: int, beta: float) -> None:
    values, weight = draw(seed).requires_grad_(), torch.rand(len(sets), 3, dtype=torch.float64)
    pooled = Pooling.of(build(sets), n_rows=6)(values, SoftmaxAttention(beta))
    wanted = one_by_one(values, sets, beta)
    torch.testing.assert_close(pooled, wanted)
    (grad,) = torch.autograd.grad((pooled * weight).sum(), values)
    torch.testing.assert_close(grad, torch.autograd.grad((wanted * weight).sum(), values)[0])


@settings(max_examples=15)
@given(bags, st.integers(0, 99), betas)
def test_gradients_are_finite_differences(sets: list[set[int]], seed: int, beta: float) -> None:
    pooling = Pooling.of(build(sets), n_rows=6)
    values = draw(seed).requires_grad_()
    # What an example's rows differ by decides how fast attention turns: a small step sees it.
    assert torch.autograd.gradcheck(
        lambda v: pooling(v, SoftmaxAttention(beta)), values, eps=1e-7, atol=1e-4, rtol=1e-4
    )


@pytest.mark.parametrize("beta", [20.0, SHARPEST, SHARPEST + 1, 1000.0])
@pytest.mark.parametrize("level", [0.0, 1e-6, 1.0])
def test_nothing_underflows_in_single_precision(beta: float, level: float) -> None:
    values = torch.full((4, 2), level, requires_grad=True)
    pooling = Pooling.of(build([{0, 1, 2}, {3}]), n_rows=4)
    pooled = pooling(values, SoftmaxAttention(beta))
    torch.testing.assert_close(pooled, torch.full((2, 2), level))
    (grad,) = torch.autograd.grad(pooled.sum(), values)
    torch.testing.assert_close(grad, torch.tensor([[1 / 3] * 2] * 3 + [[1.0] * 2]))


@settings(max_examples=20)
@given(st.integers(0, 99), betas)
def test_examples_of_one_row_each_are_rows(seed: int, beta: float) -> None:
    rng = np.random.default_rng(seed)
    rows = np.round(rng.random((6, 4)), 1)
    order = rng.permutation(6)
    weights = torch.as_tensor(rng.normal(size=(2, 2, 4, 3))).requires_grad_()
    inputs = Inputs.encode(rows, dtype=torch.float64)
    network = Network(NetworkConfig(beta=beta))
    pooling = Pooling.of(build([{int(row)} for row in order]), n_rows=6)
    plain, pooled = network(weights, inputs), network(weights, inputs, pooling=pooling)
    torch.testing.assert_close(pooled, plain[order])
    (one,), (two,) = (torch.autograd.grad(logits.sum(), weights) for logits in (plain, pooled))
    torch.testing.assert_close(one, two)


def test_an_example_is_as_true_as_its_truest_row() -> None:
    """A settled network over bags says what *exists* says."""
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 2, (6, 3)).astype(np.float64)
    sets = [{0, 1}, {2}, {0, 3, 5}, {4, 5}, {1, 2, 3, 4, 5}]
    weights = torch.zeros(1, 1, 3, 3)
    weights[0, 0, 0, 0] = weights[0, 0, 1, 1] = weights[0, 0, 2, 2] = 30.0  # h :- b1, \+ b2.
    logits = Network()(weights, Inputs.encode(rows), pooling=Pooling.of(build(sets), n_rows=6))
    holds = (rows[:, 0] == 1) & (rows[:, 1] == 0)
    assert (logits[:, 0] > 0).tolist() == [any(holds[row] for row in bag) for bag in sets]
