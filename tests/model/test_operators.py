"""Operators against their plain formulas, their slopes against autograd, and true statements only."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from andre.model import aggregate, conjunctions, disjunctions
from andre.model.operators import (
    SHARPEST,
    GeometricMean,
    GeometricMeanDual,
    ProductSNorm,
    ProductTNorm,
    SoftmaxAttention,
    SoftminAttention,
    prob_sum,
)

BETAS = [1.0, 20.0, SHARPEST, 150.0]


def attention(b: list[float], beta: float) -> float:
    weights = [math.exp(beta * x) for x in b]
    return sum(w * x for w, x in zip(weights, b, strict=True)) / sum(weights)


def product(b: list[float]) -> float:
    return math.prod(b)


FORMULAS = {
    **{
        f"softmin {beta:g}": (SoftminAttention(beta), lambda b, beta=beta: attention(b, -beta))
        for beta in BETAS
    },
    **{
        f"softmax {beta:g}": (SoftmaxAttention(beta), lambda b, beta=beta: attention(b, beta))
        for beta in BETAS
    },
    "t-norm": (ProductTNorm(), product),
    "s-norm": (ProductSNorm(), lambda b: 1 - product([1 - x for x in b])),
    "geometric mean": (GeometricMean(), lambda b: product(b) ** (1 / len(b))),
    "its dual": (GeometricMeanDual(), lambda b: 1 - product([1 - x for x in b]) ** (1 / len(b))),
}

# Away from 0 and 1 the products' regularisation has no effect.
inner = st.lists(st.floats(0.01, 0.99), min_size=1, max_size=6)
values = st.lists(st.floats(0, 1), min_size=1, max_size=6)


def apply(operator, b: list[float], dtype: torch.dtype = torch.float64) -> float:
    return float(aggregate(operator, torch.tensor(b, dtype=dtype), dim=0))


@pytest.mark.parametrize("name", FORMULAS)
@given(b=inner)
def test_every_operator_is_its_formula(name: str, b: list[float]) -> None:
    operator, formula = FORMULAS[name]
    assert apply(operator, b) == pytest.approx(formula(b), abs=1e-9)


@pytest.mark.parametrize("name", FORMULAS)
def test_slopes_are_the_derivatives_of_the_terms(name: str) -> None:
    operator, _ = FORMULAS[name]
    b = torch.linspace(0.02, 0.98, 13, dtype=torch.float64, requires_grad=True)
    for origin in (None, torch.tensor(0.3, dtype=torch.float64)):
        for term, slope in zip(operator.terms(b, origin), operator.slopes(b, origin), strict=True):
            (found,) = torch.autograd.grad(term.sum(), b, retain_graph=True)
            torch.testing.assert_close(slope, found)


@pytest.mark.parametrize("name", FORMULAS)
def test_gradients_of_the_whole(name: str) -> None:
    operator, _ = FORMULAS[name]
    generator = torch.Generator().manual_seed(5)
    b = torch.rand(3, 4, dtype=torch.float64, generator=generator) * 0.9 + 0.05
    assert torch.autograd.gradcheck(lambda x: aggregate(operator, x, dim=1), b.requires_grad_())


@given(values, st.sampled_from(BETAS))
def test_attention_lies_between_the_extremes(b: list[float], beta: float) -> None:
    assert min(b) - 1e-12 <= apply(SoftminAttention(beta), b) <= max(b) + 1e-12
    assert min(b) - 1e-12 <= apply(SoftmaxAttention(beta), b) <= max(b) + 1e-12


@given(values)
def test_products_lie_outside_the_extremes(b: list[float]) -> None:
    """The t-norm is at most the minimum and the s-norm at least the maximum."""
    assert apply(ProductTNorm(), b) <= min(b) + 1.1e-6  # regularised: a 0 counts as 1e-6
    assert apply(ProductSNorm(), b) >= max(b) - 1.1e-6


@given(values)
def test_attention_comes_closer_to_the_extreme_as_it_sharpens(b: list[float]) -> None:
    softmin = [apply(SoftminAttention(beta), b) for beta in (1, 5, 20, 100, 1000)]
    softmax = [apply(SoftmaxAttention(beta), b) for beta in (1, 5, 20, 100, 1000)]
    assert softmin == pytest.approx(sorted(softmin, reverse=True), abs=1e-12)
    assert softmax == pytest.approx(sorted(softmax), abs=1e-12)
    # A gap g weighs e^(-beta g), so that what it adds is at most 1 / (e beta) a value.
    assert softmin[-1] - min(b) <= len(b) / (math.e * 1000)
    assert max(b) - softmax[-1] <= len(b) / (math.e * 1000)


def test_no_operator_wins_everywhere() -> None:
    """With b = (.5, 1) the product is the exact minimum and attention is not; with (.5, .6) it is closer."""
    assert apply(ProductTNorm(), [0.5, 1.0]) == pytest.approx(0.5)
    assert apply(SoftminAttention(20), [0.5, 1.0]) > 0.5
    assert abs(apply(SoftminAttention(20), [0.5, 0.6]) - 0.5) < abs(apply(ProductTNorm(), [0.5, 0.6]) - 0.5)


@given(inner)
def test_the_geometric_mean_does_not_shrink_with_more_values(b: list[float]) -> None:
    assert apply(GeometricMean(), b * 3) == pytest.approx(apply(GeometricMean(), b))


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_prob_sum_is_the_printed_polynomial(xyz: list[float]) -> None:
    x, y, z = xyz
    printed = x + y + z - x * y - x * z - y * z + x * y * z
    assert float(prob_sum(*torch.tensor(xyz, dtype=torch.float64))) == pytest.approx(printed, abs=1e-12)


@pytest.mark.parametrize("family", ["attention", "product", "geometric"])
@pytest.mark.parametrize("beta", BETAS)
def test_masked_values_do_not_count(family: str, beta: float) -> None:
    generator = torch.Generator().manual_seed(1)
    b = torch.rand(5, 4, dtype=torch.float64, generator=generator)
    mask = torch.tensor([1.0, 0.0, 1.0, 0.0])
    operator = disjunctions(beta)[family]
    torch.testing.assert_close(
        aggregate(operator, b, dim=-1, mask=mask), aggregate(operator, b[:, [0, 2]], dim=-1)
    )


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("fill", [0.0, 1.0])
def test_float32_neither_underflows_nor_loses_the_gradient(beta: float, fill: float) -> None:
    """All values at the far end: without a shift every weight would be e^-beta."""
    for operator in (conjunctions(beta)["attention"], disjunctions(beta)["attention"]):
        b = torch.full((7,), fill, requires_grad=True)
        value = aggregate(operator, b, dim=0)
        (grad,) = torch.autograd.grad(value, b)
        assert value.item() == pytest.approx(fill, abs=1e-6)
        torch.testing.assert_close(grad, torch.full((7,), 1 / 7), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("operator", [ProductTNorm(), GeometricMean(), ProductSNorm(), GeometricMeanDual()])
@pytest.mark.parametrize("end", [0.0, 1.0])
def test_products_stay_finite_at_the_ends(operator, end: float) -> None:
    b = torch.tensor([end, 0.5], requires_grad=True)
    value: Tensor = aggregate(operator, b, dim=0)
    (grad,) = torch.autograd.grad(value, b)
    assert torch.isfinite(value)
    assert torch.isfinite(grad).all()
