"""Logical operators on truth values: attention, product and geometric mean.

Every operator here is a *sum in disguise*: it maps each value to one or two
terms, adds the terms up, and finishes the sums,

    value = finish(sum_j terms(b_j)).

Where attention is sharp, terms are those of b_j less the extreme value of the
b_j, the *origin*, which `finish` adds again: exponentials do not underflow, and
gradients lose nothing to the difference of two large numbers.

The sums are all that ever touches every value, which is why Boolean and
graded inputs can be counted instead of visited (see `andre.model.conjunction`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

#: Beyond this beta the terms of attention underflow in float32 unless they are shifted.
SHARPEST = 80.0
_TINY = 1e-6


def prob_sum(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    """Probabilistic sum of three values, x + y + z - xy - xz - yz + xyz.

    Examples
    --------
    >>> prob_sum(torch.tensor(0.5), torch.tensor(0.5), torch.tensor(0.0))
    tensor(0.7500)
    """
    return 1 - (1 - x) * (1 - y) * (1 - z)


class Operator(Protocol):
    """A conjunction or disjunction over truth values, as a sum of terms."""

    @property
    def n_terms(self) -> int:
        """How many sums the operator needs."""

    @property
    def needs_origin(self) -> bool:
        """Whether terms must be shifted by an extreme value, or float32 underflows."""

    def origin(self, b: Tensor, dim: int) -> Tensor:
        """The extreme value along `dim` by which the terms are shifted."""

    def terms(self, b: Tensor, origin: Tensor | None = None) -> tuple[Tensor, ...]:
        """What each value, less the origin, adds to the sums."""

    def slopes(self, b: Tensor, origin: Tensor | None = None) -> tuple[Tensor, ...]:
        """The derivatives of the terms."""

    def finish(self, sums: tuple[Tensor, ...], count: float | Tensor, origin: Tensor | None = None) -> Tensor:
        """The operator's value from the sums over `count` values, and the origin of their terms."""


@dataclass(frozen=True)
class _Attention:
    """Average of the values, weighted by exp(sign * beta * value)."""

    beta: float = 20.0

    n_terms = 2
    _sign = 0.0

    @property
    def needs_origin(self) -> bool:
        return self.beta > SHARPEST

    def origin(self, b: Tensor, dim: int) -> Tensor:
        return (b.amax(dim, keepdim=True) if self._sign > 0 else b.amin(dim, keepdim=True)).detach()

    def _weighed(self, b: Tensor, origin: Tensor | None) -> tuple[Tensor, Tensor]:
        """Values less the origin, and their weights."""
        # The largest possible exponent is 0: at the extreme value, or at 0 (min) and 1 (max).
        if origin is None:
            return b, torch.exp((b - max(self._sign, 0.0)) * (self._sign * self.beta))
        b = b - origin
        return b, torch.exp(b * (self._sign * self.beta))

    def terms(self, b: Tensor, origin: Tensor | None = None) -> tuple[Tensor, ...]:
        b, weight = self._weighed(b, origin)
        return weight, weight * b

    def slopes(self, b: Tensor, origin: Tensor | None = None) -> tuple[Tensor, ...]:
        b, weight = self._weighed(b, origin)
        steep = weight * (self._sign * self.beta)
        return steep, torch.addcmul(weight, steep, b)

    def finish(self, sums: tuple[Tensor, ...], count: float | Tensor, origin: Tensor | None = None) -> Tensor:
        value = sums[1] / sums[0]
        return value if origin is None else value + origin


@dataclass(frozen=True)
class SoftminAttention(_Attention):
    """Conjunction by attention to the smallest values (the paper's operator).

    Examples
    --------
    >>> aggregate(SoftminAttention(20), torch.tensor([0.1, 0.9, 1.0]), dim=0)
    tensor(0.1000)
    """

    _sign = -1.0


@dataclass(frozen=True)
class SoftmaxAttention(_Attention):
    """Disjunction by attention to the largest values (the paper's operator).

    Examples
    --------
    >>> aggregate(SoftmaxAttention(20), torch.tensor([0.0, 0.1, 0.9]), dim=0)
    tensor(0.9000)
    """

    _sign = 1.0


@dataclass(frozen=True)
class ProductTNorm:
    """Conjunction as the product of the values.

    Examples
    --------
    >>> aggregate(ProductTNorm(), torch.tensor([0.5, 0.5]), dim=0)
    tensor(0.2500)
    """

    n_terms = 1
    needs_origin = False
    _dual = False

    def origin(self, b: Tensor, dim: int) -> Tensor:
        """Products need no shift."""
        return b.new_zeros(())

    def terms(self, b: Tensor, origin: Tensor | None = None) -> tuple[Tensor, ...]:
        """The logarithm, whose sum is the product's logarithm."""
        return (torch.log((1 - b if self._dual else b).clamp_min(_TINY)),)

    def slopes(self, b: Tensor, origin: Tensor | None = None) -> tuple[Tensor, ...]:
        """The derivative of the logarithm, 0 where it is cut off."""
        x = 1 - b if self._dual else b
        slope = torch.where(x > _TINY, 1 / x.clamp_min(_TINY), 0)
        return (-slope if self._dual else slope,)

    def finish(self, sums: tuple[Tensor, ...], count: float | Tensor, origin: Tensor | None = None) -> Tensor:
        """The product, or one minus it for the s-norm."""
        product = torch.exp(sums[0])
        return 1 - product if self._dual else product


@dataclass(frozen=True)
class ProductSNorm(ProductTNorm):
    """Disjunction as one minus the product of the complements.

    Examples
    --------
    >>> aggregate(ProductSNorm(), torch.tensor([0.5, 0.5]), dim=0)
    tensor(0.7500)
    """

    _dual = True


@dataclass(frozen=True)
class GeometricMean(ProductTNorm):
    """Conjunction as the geometric mean of the values, regularised away from 0.

    Examples
    --------
    >>> aggregate(GeometricMean(), torch.tensor([0.25, 1.0]), dim=0)
    tensor(0.5000)
    """

    def finish(self, sums: tuple[Tensor, ...], count: float | Tensor, origin: Tensor | None = None) -> Tensor:
        """The product's root, so that more values do not make it smaller."""
        return super().finish((sums[0] / count,), count)


@dataclass(frozen=True)
class GeometricMeanDual(GeometricMean):
    """Disjunction as one minus the geometric mean of the complements.

    Examples
    --------
    >>> aggregate(GeometricMeanDual(), torch.tensor([0.75, 0.0]), dim=0)
    tensor(0.5000)
    """

    _dual = True


def aggregate(operator: Operator, b: Tensor, dim: int, mask: Tensor | None = None) -> Tensor:
    """Apply an operator along one dimension, ignoring masked values.

    Parameters
    ----------
    operator
        The and or the or.
    b
        Truth values, of any shape.
    dim
        The dimension that disappears.
    mask
        1 where a value counts and 0 where it is padding; broadcast to `b`, so `dim` counts from the end.
    """
    if mask is not None:
        b = b * mask  # padding is false, so it never is the extreme value of an or
    origin = operator.origin(b, dim) if operator.needs_origin else None
    terms = operator.terms(b, origin)
    count: int | Tensor = b.shape[dim]
    if mask is not None:
        terms, count = tuple(term * mask for term in terms), mask.sum(dim)
    added = None if origin is None else origin.squeeze(dim)
    return operator.finish(tuple(term.sum(dim) for term in terms), count, added)


def conjunctions(beta: float) -> dict[str, Operator]:
    """The conjunctions by name."""
    return {
        "attention": SoftminAttention(beta),
        "product": ProductTNorm(),
        "geometric": GeometricMean(),
    }


def disjunctions(beta: float) -> dict[str, Operator]:
    """The disjunctions by name."""
    return {
        "attention": SoftmaxAttention(beta),
        "product": ProductSNorm(),
        "geometric": GeometricMeanDual(),
    }
