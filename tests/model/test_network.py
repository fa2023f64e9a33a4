"""Runs share one tensor program and nothing else: padding and company change no value and no gradient."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from andre.model import Inputs, LossConfig, Network, NetworkConfig, Objective, row_weights, subrule_mask
from andre.samples import RuleSpace, Sample

SPACE = RuleSpace.from_names(["p(X,Y)", "q(Y,Z)", "r(Z)", "s"], "h(X,Z)")
FAMILIES = st.sampled_from(["attention", "product", "geometric"])


def loss(weights: Tensor, mask: Tensor | None, config: NetworkConfig, reduction: str) -> Tensor:
    """The whole objective of every run, [K]."""
    rng = np.random.default_rng(0)
    rows = np.round(rng.random((12, 4)), 1)
    rows[0, 0] = np.nan
    sample = Sample.from_arrays(rows, rng.integers(0, 2, 12), space=SPACE)
    inputs = Inputs.encode(sample.valuations, dtype=torch.float64)
    logits = Network(config)(weights, inputs, mask)
    objective = Objective.of(SPACE, LossConfig(reduction=reduction))
    objective = Objective(objective.config, objective.incidence.double(), objective.n_head)
    every = torch.ones(weights.shape[:2], dtype=torch.float64) if mask is None else mask
    labels = row_weights(sample, objective.config)
    return objective(logits, labels, weights, every.double(), progress=0.7).total


def draw(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@settings(max_examples=40)
@given(
    st.integers(0, 99),
    st.integers(1, 3),
    st.integers(0, 3),
    FAMILIES,
    st.sampled_from([5.0, 20.0, 200.0]),
    st.sampled_from(["sum", "mean"]),
)
def test_padding_has_no_effect(
    seed: int, n: int, padding: int, family: str, beta: float, reduction: str
) -> None:
    config = NetworkConfig(operators=family, beta=beta)
    weights = draw(seed, 1, n, 4, 3).requires_grad_()
    alone = loss(weights, None, config, reduction)
    padded = torch.cat((weights.detach(), draw(seed + 1, 1, padding, 4, 3)), dim=1).requires_grad_()
    mask = subrule_mask(torch.tensor([n]), n + padding)
    value = loss(padded, mask, config, reduction)
    torch.testing.assert_close(value, alone)
    (grad,) = torch.autograd.grad(value.sum(), padded)
    torch.testing.assert_close(grad[:, :n], torch.autograd.grad(alone.sum(), weights)[0])
    assert not grad[:, n:].any()


@settings(max_examples=40)
@given(st.integers(0, 99), st.lists(st.integers(1, 3), min_size=2, max_size=4), FAMILIES)
def test_runs_do_not_interact(seed: int, n_rules: list[int], family: str) -> None:
    config = NetworkConfig(operators=family)
    weights = draw(seed, len(n_rules), 3, 4, 3).requires_grad_()
    mask = subrule_mask(torch.tensor(n_rules), 3)
    together = loss(weights, mask, config, "mean")
    (grads,) = torch.autograd.grad(together.sum(), weights)
    for k in range(len(n_rules)):
        own = weights[k : k + 1].detach().requires_grad_()
        alone = loss(own, mask[k : k + 1], config, "mean")
        torch.testing.assert_close(alone[0], together[k])
        torch.testing.assert_close(torch.autograd.grad(alone.sum(), own)[0][0], grads[k])


@pytest.mark.parametrize("family", ["attention", "product"])
def test_a_settled_network_is_its_program(family: str) -> None:
    """With certain weights and Boolean rows the network says what logic says."""
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 2, (64, 5)).astype(np.float64)
    codes = np.array([[1, -1, 0, 0, 0], [0, 0, 1, 1, -1]])
    weights = torch.zeros(1, 2, 5, 3)
    for i, j in np.ndindex(codes.shape):
        weights[0, i, j, {1: 0, -1: 1, 0: 2}[codes[i, j]]] = 30.0
    wanted = [any(all(r[j] == (c[j] > 0) for j in range(5) if c[j]) for c in codes) for r in rows]
    logits = Network(NetworkConfig(operators=family))(weights, Inputs.encode(rows))
    assert (logits[:, 0] > 0).tolist() == wanted


def test_merged_rows_give_the_same_loss_and_gradient() -> None:
    """One row of weight three is three rows."""
    rng = np.random.default_rng(1)
    rows, labels = rng.integers(0, 2, (40, 4)).astype(np.float64), rng.integers(0, 2, 40)
    sample = Sample.from_arrays(rows, labels)
    assert sample.n_rows < 40
    weights = draw(0, 2, 2, 4, 3).requires_grad_()
    config = LossConfig(reduction="sum", balance=False)
    merged = Network()(weights, Inputs.encode(sample.valuations, dtype=torch.float64))
    single = Network()(weights, Inputs.direct(torch.as_tensor(rows)))
    objective = Objective.of(sample.space, config)
    mask = torch.ones(2, 2, dtype=torch.float64)
    truth = torch.as_tensor(labels, dtype=torch.float64)
    one = objective(merged, row_weights(sample, config), weights, mask, 0.5).total
    other = objective(single, (truth, 1 - truth), weights, mask, 0.5).total
    torch.testing.assert_close(one, other)
    (first,) = torch.autograd.grad(one.sum(), weights)
    torch.testing.assert_close(first, torch.autograd.grad(other.sum(), weights)[0])
