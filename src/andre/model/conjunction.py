"""The conjunction layer: sums over all candidate atoms, computed by matrix products where possible.

An atom's soft valuation in a subrule is the probabilistic sum of its three choices,

    B = 1 - (1 - p1 b+)(1 - p2 b-)(1 - p3),

with b+ the evidence for the atom and b- the evidence against it. A known
valuation b has b+ = b and b- = 1 - b; for an unknown one both are 0, so that it
satisfies neither the atom nor its negation. Written out, B is linear in four
features of the input, [1, b+, b-, b+ b-], so that B for all subrules is a
matrix product of features and coefficients.

There are several ways to compute the operator's sums over atoms, and columns may use
different ones in one model, because partial sums can be added:

- *Boolean* columns take two values (three with unknown). Their terms are
  computed once per value and counted by one dense matrix product.
- *Graded* columns of few levels are the same, with a bag of table rows per
  example instead of the dense product.
- *Direct* columns are visited row by row, in blocks of bounded memory.
- *Fused* columns are visited row by row by CUDA kernels (`andre.model.fused`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from andre.limits import check
from andre.model.operators import Operator

#: The largest number of floats in a block of the direct form, so that it stays in the cache.
BLOCK = 1 << 20


def features(valuations: Tensor) -> Tensor:
    """The four features of a valuation in which B is linear; NaN is unknown.

    Parameters
    ----------
    valuations
        Truth values, [...]; a new last dimension is added.

    Examples
    --------
    >>> features(torch.tensor([1.0, 0.25, float("nan")]))
    tensor([[1.0000, 1.0000, 0.0000, 0.0000],
            [1.0000, 0.2500, 0.7500, 0.1875],
            [1.0000, 0.0000, 0.0000, 0.0000]])
    """
    unknown = torch.isnan(valuations)
    support = torch.where(unknown, 0, valuations)  # b+
    against = torch.where(unknown, 0, 1 - valuations)  # b-
    return torch.stack((torch.ones_like(support), support, against, support * against), dim=-1)


def coefficients(probabilities: Tensor) -> Tensor:
    """The coefficients of the four features, [m, 4, K * n].

    Parameters
    ----------
    probabilities
        Of inclusion, negation and exclusion, [K, n, m, 3].
    """
    p1, p2, p3 = probabilities.flatten(0, 1).permute(2, 1, 0).unbind()  # [m, R] each
    q1, q2 = (1 - p3) * p1, (1 - p3) * p2
    return torch.stack((p3, q1, q2, -q1 * p2), dim=1)  # [m, 4, R]


class Columns(Protocol):
    """Columns of a sample in a form that can sum their terms."""

    @property
    def columns(self) -> Tensor:
        """The indices of their candidate atoms, [c]."""

    @property
    def features(self) -> Tensor:
        """Features of the values that are visited, [c, V, 4]: levels of a table, or rows."""

    @property
    def n_visited(self) -> int:
        """How many values a pass works through for one subrule."""

    def blocks(self, width: int) -> Iterator[slice]:
        """Blocks of values, so that `width` floats per value fit into one."""

    def gather(self, terms: Tensor, block: slice, sums: Tensor) -> None:
        """Add the terms of a block, [c, V', w], to the sums of the rows, [U, w]."""

    def scatter(self, grads: Tensor, block: slice) -> Tensor:
        """The gradients of the terms of a block, [c, V', w], from those of the sums, [U, w]."""


@dataclass(frozen=True, eq=False)
class _Tabulated:
    """Columns of few levels, as a table of the features of each level."""

    columns: Tensor  #: [c]
    features: Tensor  #: [c, L, 4]

    @property
    def n_visited(self) -> int:
        """How many values a pass works through for one subrule."""
        return self.features.shape[:2].numel()

    def blocks(self, width: int) -> Iterator[slice]:
        """One block: the table does not grow with the rows."""
        yield slice(None)


@dataclass(frozen=True, eq=False)
class Dense(_Tabulated):
    """Columns of very few levels, as a one-hot matrix of the level of each row."""

    counts: Tensor  #: [U, c * L]

    def gather(self, terms: Tensor, block: slice, sums: Tensor) -> None:
        """One matrix product."""
        sums.addmm_(self.counts, terms.flatten(0, 1))

    def scatter(self, grads: Tensor, block: slice) -> Tensor:
        """Its transpose."""
        return (self.counts.T @ grads).view(len(self.columns), -1, grads.shape[1])

    def rows(self, index: Tensor | slice) -> Dense:
        """The same columns for some of the rows."""
        return Dense(self.columns, self.features, self.counts[index])

    def visited(self) -> Direct:
        """The same columns row by row."""
        c, L = self.features.shape[:2]
        level = self.counts.view(-1, c, L).argmax(2)  # [U, c]
        column = torch.arange(c, device=level.device)
        return Direct(self.columns, self.features[column, level].transpose(0, 1))


@dataclass(frozen=True, eq=False)
class Bags(_Tabulated):
    """Columns of up to about a thousand levels: every row is a bag of table entries, and vice versa."""

    entries: Tensor  #: [U, c] the table entry, column * L + level, that a row has
    order: Tensor  #: [U * c] rows, grouped by the entry they have
    starts: Tensor  #: [c * L] where an entry's rows begin in `order`

    @classmethod
    def build(cls, columns: Tensor, features: Tensor, levels: Tensor) -> Bags:
        """Prepare both directions from the level of every row and column, [U, c]."""
        c, L = features.shape[:2]
        entries = levels + torch.arange(c, device=levels.device) * L
        flat = entries.flatten()
        order = torch.argsort(flat, stable=True) // c
        counts = torch.bincount(flat, minlength=c * L)
        return cls(columns, features, entries, order, torch.cumsum(counts, 0) - counts)

    def gather(self, terms: Tensor, block: slice, sums: Tensor) -> None:
        """Every row sums the entries it has."""
        sums += embedding_bag(self.entries, terms.flatten(0, 1), mode="sum")

    def scatter(self, grads: Tensor, block: slice) -> Tensor:
        """Every entry sums the gradients of the rows that have it."""
        table = embedding_bag(self.order, grads.contiguous(), self.starts, mode="sum")
        return table.view(len(self.columns), -1, grads.shape[1])

    def rows(self, index: Tensor | slice) -> Bags:
        """The same columns for some of the rows."""
        c, L = self.features.shape[:2]
        levels = self.entries[index] - torch.arange(c, device=self.entries.device) * L
        return Bags.build(self.columns, self.features, levels)

    def visited(self) -> Direct:
        """The same columns row by row."""
        return Direct(self.columns, self.features.flatten(0, 1)[self.entries.T])


@dataclass(frozen=True, eq=False)
class Direct:
    """Columns visited row by row, for few rows and for inputs that need gradients."""

    columns: Tensor  #: [c]
    features: Tensor  #: [c, U, 4]
    block: int = BLOCK  #: floats that are computed at a time

    @property
    def n_visited(self) -> int:
        """How many values a pass works through for one subrule."""
        return self.features.shape[:2].numel()

    def blocks(self, width: int) -> Iterator[slice]:
        """Blocks of rows."""
        rows = self.features.shape[1]
        step = max(1, self.block // max(1, len(self.columns) * width))
        yield from (slice(start, min(start + step, rows)) for start in range(0, rows, step))

    def gather(self, terms: Tensor, block: slice, sums: Tensor) -> None:
        """Sum over the columns."""
        sums[block] += terms.sum(0)

    def scatter(self, grads: Tensor, block: slice) -> Tensor:
        """Every column gets the same gradient."""
        return grads[block].expand(len(self.columns), -1, -1)

    def rows(self, index: Tensor | slice) -> Direct:
        """The same columns for some of the rows."""
        return Direct(self.columns, self.features[:, index], self.block)

    def visited(self) -> Direct:
        """These columns themselves."""
        return self


class _SumTerms(torch.autograd.Function):
    """Sums of an operator's terms over columns; the backward pass computes B again to save memory."""

    @staticmethod
    def forward(
        ctx: Any, values: Tensor, coefs: Tensor, part: Columns, op: Operator, shape: tuple[int, Tensor | None]
    ) -> Tensor:
        rows, origin = shape
        width = op.n_terms * coefs.shape[2]
        sums = coefs.new_zeros(rows, width)  # [U, q * R]
        for block in part.blocks(width):
            check()
            b = torch.bmm(values[:, block], coefs)  # [c, V', R]
            shift = None if origin is None else origin[block]
            part.gather(torch.cat(op.terms(b, shift), dim=2), block, sums)
        ctx.save_for_backward(values, coefs)
        ctx.part, ctx.op, ctx.origin = part, op, origin
        return sums

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        values, coefs = ctx.saved_tensors
        part, op, grads = ctx.part, ctx.op, grad_outputs[0]
        d_coefs = torch.zeros_like(coefs)
        d_values = torch.zeros_like(values) if ctx.needs_input_grad[0] else None
        for block in part.blocks(grads.shape[1]):
            check()
            visited = values[:, block]
            b = torch.bmm(visited, coefs)  # [c, V', R]
            pulled = part.scatter(grads, block).split(coefs.shape[2], dim=2)
            slopes = op.slopes(b, None if ctx.origin is None else ctx.origin[block])
            d_b = pulled[0] * slopes[0]
            for pull, slope in zip(pulled[1:], slopes[1:], strict=True):
                d_b.addcmul_(pull, slope)
            d_coefs.baddbmm_(visited.transpose(1, 2), d_b)
            if d_values is not None:
                d_values[:, block] = torch.bmm(d_b, coefs.transpose(1, 2))
        return d_values, d_coefs, None, None, None


@torch.no_grad()
def extremes(part: Direct, coefs: Tensor, op: Operator) -> Tensor:
    """The extreme value of every row in every subrule, [U, R], by which terms are shifted."""
    blocks = (torch.bmm(part.features[:, block], coefs) for block in part.blocks(coefs.shape[2]))
    return torch.cat([op.origin(b, 0)[0] for b in blocks])


def sum_terms(
    part: Columns, coefs: Tensor, op: Operator, rows: int, origin: Tensor | None = None
) -> tuple[Tensor, ...]:
    """Sum an operator's terms over the columns of one part.

    Parameters
    ----------
    part
        Columns in one of the forms.
    coefs
        Coefficients of these columns, [c, 4, R].
    op
        A conjunction.
    rows
        How many rows there are, U.
    origin
        The shift of the terms of each row, [U, R], if the part is visited row by row.

    Returns
    -------
    One tensor per sum, [U, R].
    """
    sums = _SumTerms.apply(part.features, coefs, part, op, (rows, origin))  # type: ignore[no-untyped-call]
    return tuple(sums.split(coefs.shape[2], dim=1))
